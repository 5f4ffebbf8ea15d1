#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# install_test.sh SOURCE_DIR BUILD_DIR C_COMPILER CXX_COMPILER: an installation works after it was
# moved, for projects that find it by find_package or pkg-config, and for a plugin created by
# pi-new-plugin.
set -euo pipefail
source_dir=$1 build_dir=$2 c_compiler=$3 cxx_compiler=$4

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# Installed, and moved to another folder, with a space in its name.
cmake --install "$build_dir" --prefix "$folder/first" >/dev/null
mkdir "moved here"
mv first "moved here/pi"
pi="$folder/moved here/pi"
for trace in "$build_dir" "$source_dir" "$folder/first"; do
    if grep -rIl -- "$trace" "$pi"; then
        fail "these files name $trace"
    fi
done
while IFS= read -r file; do
    path=$( (readelf -d "$file" 2>/dev/null || true) | sed -n 's/.*R\(UN\)\?PATH.*\[\(.*\)\]/\2/p')
    for entry in ${path//:/ }; do
        [[ $entry == '$ORIGIN'* ]] || fail "$file looks for libraries in $entry"
    done
done < <(find "$pi/bin" "$pi/lib"* -type f)
[[ -z $(find "$pi" -name '*simulated*.so' -o -name '*template.so') ]] ||
    fail "test equipment is installed"

# The guides link only to installed files.
dangling=$(find "$pi/share/doc" -name '*.md' | while IFS= read -r page; do
    { grep -oP '\]\(\K[^)#\s:]+(?=[)#])' "$page" || true; } | while IFS= read -r link; do
        [[ -e $(dirname "$page")/$link ]] || echo "${page#"$pi/"}: $link"
    done
done)
[[ -z $dangling ]] || fail "links that lead nowhere:"$'\n'"$dangling"
# Installed files that they name exist.
places=$(grep -rohP --include='*.md' '`\K(include|share)/[^` ]+(?=`)' "$pi/share/doc" | sort -u)
[[ $places == *include/pi/pi.h* && $places == *share/pi/new-plugin/template/template.c* ]] ||
    fail "the guides do not name the headers and templates"
missing=$(while IFS= read -r place; do [[ -e $pi/$place ]] || echo "$place"; done <<<"$places")
[[ -z $missing ]] || fail "the guides name missing files:"$'\n'"$missing"

# The environment of the test's programs names nothing of the tree.
unset PI_PLUGINS PI_PLUGIN_PATH PI_DEVICE_SELECTOR PI_LAYERS
"$pi/bin/pi-info" --plugins | tee plugins.txt
for plugin in cuda host level_zero opencl sim; do
    [[ ! -e $build_dir/lib/libpi_plugin_$plugin.so ]] ||
        grep -qF "$pi/" <(grep "^ *$plugin " plugins.txt) ||
        fail "the plugin $plugin is not found by its manifest"
done
grep -q "^ *host .* loaded " plugins.txt || fail "the plugin host is not loaded"
"$pi/bin/pi-conformance" --plugin host --area platform --area program | tail -n 1
PI_SIM_MACHINE=$pi/share/pi/machines/apu.json "$pi/bin/pi-info" --plugins |
    grep "^ *sim .* loaded " >/dev/null ||
    fail "the plugin sim does not load with a machine that is installed"

# By CMake.
cmake -S "$source_dir/cmake/test/consumer" -B consumer -G Ninja "-DCMAKE_PREFIX_PATH=$pi" \
    "-DCMAKE_C_COMPILER=$c_compiler" "-DCMAKE_CXX_COMPILER=$cxx_compiler" \
    "-DFIRST_PROGRAM=$source_dir/examples/first_program/main.cpp" "-DPI_INCLUDE_DIR=$pi/include"
cmake --build consumer
./consumer/in_c | tee devices.txt
grep -q "^device: " devices.txt || fail "a program in C finds no device"
PI_DEVICE_SELECTOR=host ./consumer/in_cpp | tee moved.txt
grep -q "host" moved.txt || fail "the first program does not print the host"

# A runtime on PI, copied out of the tree.
cp -r "$source_dir/examples/minisycl" "$folder/minisycl"
cmake -S minisycl -B minisycl_build -G Ninja "-DCMAKE_PREFIX_PATH=$pi" \
    "-DCMAKE_CXX_COMPILER=$cxx_compiler" >/dev/null
cmake --build minisycl_build
./minisycl_build/minisycl --devices host --size 64 | tee classics.txt
for classic in vector_add stencil matrix_product reduction; do
    grep -q "^$classic" classics.txt || fail "minisycl does not print $classic"
done

# By pkg-config.
mkdir by_pkg_config
export PKG_CONFIG_PATH=$pi/lib/pkgconfig
[[ -d $PKG_CONFIG_PATH ]] || PKG_CONFIG_PATH=$(echo "$pi"/lib/*/pkgconfig)
[[ $(pkg-config --modversion pi-runtime) == 1.* ]] || fail "pkg-config has another version"
# xargs reads the quotes that pkg-config puts around a space.
pkg-config --cflags --libs pi-loader |
    xargs "$c_compiler" -std=c11 "$source_dir/cmake/test/consumer/main.c" -o by_pkg_config/in_c
pkg-config --cflags --libs pi-runtime |
    xargs "$cxx_compiler" -std=c++20 "$pi/share/doc/libpi-dev/examples/first_program/main.cpp" \
    -o by_pkg_config/in_cpp \
        "-Wl,-rpath,$(dirname "$PKG_CONFIG_PATH")"
pkg-config --cflags pi-plugin-sdk |
    xargs "$c_compiler" -std=c11 -fsyntax-only "$source_dir/plugins/template/template.c"
libraries=$(dirname "$PKG_CONFIG_PATH")
LD_LIBRARY_PATH=$libraries ./by_pkg_config/in_c | diff - devices.txt
PI_DEVICE_SELECTOR=host ./by_pkg_config/in_cpp >/dev/null # knows by itself where they are

# A new plugin, installed in a prefix.
"$pi/bin/pi-new-plugin" acme | tee printed.txt
grep -qF "CMAKE_PREFIX_PATH=" printed.txt || fail "pi-new-plugin does not print PI's folder"
if "$pi/bin/pi-new-plugin" host other 2>taken.txt; then
    fail "pi-new-plugin accepts the name of an installed plugin"
fi
grep -q taken taken.txt
while read -r command; do
    eval "$command" # as pi-new-plugin prints
done < <(sed -n 's/^  //p' printed.txt |
    sed "s|^cmake -S|cmake -DCMAKE_C_COMPILER='$c_compiler' -S|")
cmake --install acme/build >/dev/null # to where PI is
"$pi/bin/pi-info" --plugins | grep "^ *acme .* loaded " || fail "the installed plugin is not found"
