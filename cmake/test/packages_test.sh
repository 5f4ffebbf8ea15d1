#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# packages_test.sh BUILD_DIR: this build's Debian packages have their files and dependencies, and
# scripts/package builds all of these files; unpacked into an empty folder, their programs find
# their libraries and plugins. scripts/test-packages installs them in a clean Debian.
set -euo pipefail
build_dir=$1

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# scripts/package builds only the target pi_installed, which must build all installed files.
if [[ -e $build_dir/build.ninja ]]; then
    find "$build_dir" -name cmake_install.cmake -exec grep -oh "\"$build_dir/[^\"]*\"" {} + |
        tr -d '"' | sed "s|^$build_dir/||" | sort -u >named.txt
    # Except CMake's inputs and outputs, and links.
    ninja -C "$build_dir" -t targets all | grep -Ev ': (phony|RERUN_CMAKE|CMAKE_SYMLINK_LIBRARY)$' |
        sed 's/: [^:]*$//' |
        sort -u >can_be_made.txt
    ninja -C "$build_dir" -t graph pi_installed | sed -n 's/.*\[label="\([^"]*\)".*/\1/p' |
        sort -u >is_made.txt
    comm -12 named.txt can_be_made.txt | tee installed.txt | comm -23 - is_made.txt >forgotten.txt
    [[ ! -s forgotten.txt ]] ||
        fail "pi_installed does not build installed files: $(tr '\n' ' ' <forgotten.txt)"
    grep -qx bin/pi-info installed.txt || fail "the list of installed files cannot be read"
fi

cpack --config "$build_dir/CPackConfig.cmake" -B "$folder/packages" >cpack.txt 2>&1 ||
    { cat cpack.txt && fail "cpack"; }
! grep -i warning cpack.txt || fail "cpack warns"

# package NAME: its file.
package() { echo packages/"$1"_*.deb; }
# has NAME PATTERN: the package has a file of that path.
has() { dpkg-deb -c "$(package "$1")" | grep -E -- " \./usr/$2( |$)" >/dev/null ||
    fail "$1 has no $2"; }
# needs NAME TEXT: it depends on that.
needs() { dpkg-deb -f "$(package "$1")" Depends | grep -F -- "$2" >/dev/null ||
    fail "$1 does not depend on $2"; }

has libpi1 'lib/.*libpi_loader\.so\.1'
has libpi1 'lib/.*libpi_runtime\.so\.1\.0'
has libpi-dev 'lib/.*libpi_loader\.so'
has libpi-dev include/pi/pi.h
has libpi-dev include/pi/sdk/plugin.hpp
has libpi-dev 'lib/.*pkgconfig/pi-loader.pc'
has libpi-dev bin/pi-new-plugin
has libpi-dev share/doc/libpi-dev/docs/plugin-authors.md
has libpi-dev share/doc/libpi-dev/api/MAPPING.md
has libpi-dev share/doc/libpi-dev/docs/conformance.yml
has libpi-dev share/doc/libpi-dev/examples/first_program/main.cpp
needs libpi-dev "libpi1 (="
for program in pi-info pi-bench pi-conformance pi-run; do
    has pi-tools "bin/$program"
    has pi-tools "share/man/man1/$program\.1"
    has pi-tools "share/bash-completion/completions/$program"
done
has pi-tools bin/pi-replay
needs pi-tools "libpi1 (="
dpkg-deb -I "$(package libpi1)" shlibs | grep "^libpi_loader 1 libpi1 " >/dev/null ||
    fail "libpi1 has no shlibs"
# Programs that link the runtime, whose ABI holds within a minor version, do not get the next one.
dpkg-deb -I "$(package libpi1)" shlibs |
    grep "^libpi_runtime 1\.0 libpi1 (>= 1\.0), libpi1 (<< 1\.1~)$" >/dev/null ||
    fail "libpi1's shlibs promise the runtime for longer than its minor version"
for plugin in "$build_dir"/lib/libpi_plugin_*.so; do
    name=$(basename "$plugin" .so)
    name=${name#libpi_plugin_}
    has "pi-plugins-${name//_/-}" "lib/.*/libpi_plugin_$name\.so"
    has "pi-plugins-${name//_/-}" "share/pi/plugins.d/$name.json"
    needs "pi-plugins-${name//_/-}" "libpi1 (="
done
[[ ! -e $build_dir/lib/libpi_plugin_opencl.so ]] ||
    dpkg-deb -f "$(package pi-plugins-opencl)" Recommends | grep -q "ocl-icd-libopencl1" ||
    fail "pi-plugins-opencl does not recommend OpenCL's loader"
# No file is in two packages.
for file in packages/*.deb; do
    dpkg-deb -c "$file" | grep -v '^d' | awk '{print $6}'
done | sort | uniq -d | tee twice.txt
[[ ! -s twice.txt ]] || fail "these files are in two packages"

mkdir root
for file in packages/*.deb; do
    dpkg-deb -x "$file" root
done
unset PI_PLUGINS PI_PLUGIN_PATH PI_DEVICE_SELECTOR PI_LAYERS
root/usr/bin/pi-info --plugins | grep "^ *host .* loaded .*$folder/root" ||
    fail "pi-info does not load the plugin host"
