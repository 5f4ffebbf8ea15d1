// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A well-formed module that cannot be built: it calls an undefined function.
uint nowhere_to_be_found(uint value);
kernel void broken(global uint *data) {
    data[get_global_id(0)] = nowhere_to_be_found(data[get_global_id(0)]);
}
