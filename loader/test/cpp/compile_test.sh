#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compile_test.sh SOURCE_DIR COMPILER: compiles compile.cpp, which uses every name of pi.hpp, with
# strict warnings, as C++17, as C++20 and without exceptions, by COMPILER and by clang++-14 if it is
# installed; and checks that wrong code does not compile.
set -u
tree=$1
here=$tree/loader/test/cpp
options="-Wall -Wextra -Wshadow -Wundef -Wextra-semi -Woverloaded-virtual -Wnon-virtual-dtor
         -pedantic-errors -Werror -I $tree/api/include -I $tree/api/describe/include -I $tree/loader/include"
count=0
failures=0

fail() {
    failures=$((failures + 1))
    echo "$1"
}

for compiler in "$2" clang++-14; do
    if ! command -v "$compiler" > /dev/null; then
        echo "skipped: $compiler is not installed"
        continue
    fi
    for how in "-std=c++17" "-std=c++20" "-std=c++17 -fno-exceptions -fno-rtti"; do
        count=$((count + 1))
        # shellcheck disable=SC2086 # several options
        "$compiler" $how $options -c -o /dev/null "$here/compile.cpp" ||
            fail "$compiler $how: does not compile"
    done
done

# Each line is one error, with words of the compiler's message.
while IFS='|' read -r code words; do
    count=$((count + 1))
    # shellcheck disable=SC2086
    said=$(printf '%s\n[[maybe_unused]] static void f(pi::Queue q, pi::DeviceRef d) { %s }\n' \
        '#include <pi/pi.hpp>' "$code" |
        "$2" -std=c++17 $options -fsyntax-only -x c++ - 2>&1) &&
        fail "compiles, and should not: $code"
    case $said in
    *"$words"*) ;;
    *) fail "$code: message lacks '$words': $said" ;;
    esac
done << 'END'
pi::Queue copy = q;|deleted
d.info<PI_QUEUE_INFO_FLAGS>();|this is not an info name of this noun
q.enqueue(pi::desc<pi_barrier_desc>());|discard
q.enqueue(pi::desc<pi_queue_desc>(), pi::no_event);|Command
pi::nothrow::QueueRef(q).finish();|discard
pi::value_argument(1);|deleted
END
echo "compile_test: $count compilations, $failures wrong"
[ "$failures" = 0 ] && [ "$count" -ge 9 ]
