// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of a program; the other is callee.cl.
uint changed(uint value);
kernel void change(global uint *data) {
    data[get_global_id(0)] = changed(data[get_global_id(0)]);
}
