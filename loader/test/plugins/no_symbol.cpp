// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shared object that is not a plugin.

extern "C" __attribute__((visibility("default"))) int unrelated_function() {
    return 7;
}
