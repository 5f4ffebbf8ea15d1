#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# new_plugin_test.sh SOURCE_DIR BUILD_DIR C_COMPILER [SANITIZERS]: scripts/new-plugin makes a plugin
# that builds and passes its test; it refuses what it cannot make, and leaves nothing behind.
set -euo pipefail
source_dir=$1 build_dir=$2 compiler=$3 sanitizers=${4-}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
new_plugin=$source_dir/scripts/new-plugin

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# refused WORDS ARGUMENTS...: it fails, says why, and makes nothing.
refused() {
    local words=$1 text before after
    shift
    before=$(ls -A)
    if text=$("$new_plugin" "$@" 2>&1); then
        fail "new-plugin $* succeeded"
    fi
    [[ $text == *"$words"* ]] || fail "new-plugin $* says: $text"
    after=$(ls -A)
    [[ $before == "$after" ]] || fail "new-plugin $* left: $after"
}
refused "usage"
refused "usage" --own-memory
refused "usage" --other-memory gpu9
refused "only a-z, 0-9 and _" My-GPU
refused "only a-z, 0-9 and _" ../outside
refused "only a-z, 0-9 and _" "two words"
refused "taken" template
refused "is no folder" gpu9 missing/folder
mkdir taken
refused "taken exists" gpu9 taken

options=()
if [[ -n $sanitizers ]]; then
    options+=("-DCMAKE_C_FLAGS=-fsanitize=$sanitizers" "-DCMAKE_CXX_FLAGS=-fsanitize=$sanitizers")
    if "$compiler" --version | grep -q clang; then
        # The loader is C++: its part of the run-time is not in a C program by itself.
        options+=("-DCMAKE_EXE_LINKER_FLAGS=-fsanitize-link-c++-runtime -lstdc++")
    fi
fi

# works FOLDER NAME ARGUMENTS...: the plugin of that name is made in the folder, builds without a
# warning, exports only piPluginMain, and passes its test.
works() {
    local folder=$1 name=$2 written exports
    shift 2
    "$new_plugin" "$@" "$name" "$folder"
    pushd "$folder" >/dev/null
    if grep -rn "template" --include='*.[ch]' --include='*.[ch]pp' . |
        grep -v "made of PI's template\|template <"; then
        fail "the word template is left"
    fi
    if grep -rn "@" README.md CMakeLists.txt "$name.expect"; then
        fail "a mark is left"
    fi
    for written in $(sed -n 's/^| `\([^`]*\)`.*/\1/p' README.md); do
        [[ -f $written ]] || fail "README.md speaks of $written, which is not there"
    done
    cmake -S . -B build "-DCMAKE_PREFIX_PATH=$build_dir" \
        "-DCMAKE_C_COMPILER=$compiler" -DPI_CONFORMANCE=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
        "${options[@]}"
    cmake --build build
    exports=$(nm -D --defined-only --format=posix "build/libpi_plugin_$name.so" | cut -d ' ' -f 1)
    [[ $exports == piPluginMain ]] || fail "$name exports ${exports//$'\n'/, }"
    ctest --test-dir build --output-on-failure
    ./build/smoke "$PWD/build/libpi_plugin_$name.so" | grep -x "device: $name device"
    popd >/dev/null
}

# unbuilt WORDS ARGUMENTS...: CMake refuses the plugin gpu with these arguments, and says why.
unbuilt() {
    local words=$1 text
    shift
    if text=$(cmake -S gpu -B unbuilt "$@" 2>&1); then
        fail "cmake $* succeeded"
    fi
    [[ $text == *"$words"* ]] || fail "cmake $* says: $text"
    rm -rf unbuilt
}
"$new_plugin" gpu
unbuilt "CMAKE_PREFIX_PATH" "-DCMAKE_C_COMPILER=$compiler" -Dpi_DIR=/nowhere

# A plugin's name may begin with a digit, and a path may have a space.
mkdir "some folder"
works "some folder/plugin" 9_gpu
works remote remote --own-memory
works plus plus --cpp
