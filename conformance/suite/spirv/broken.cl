// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module that is well formed and cannot be built: nobody has the function that it calls.
uint nowhere_to_be_found(uint value);
kernel void broken(global uint *data) {
    data[get_global_id(0)] = nowhere_to_be_found(data[get_global_id(0)]);
}
