// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that require a work-group size.
kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fours(global uint *data) {
    local uint copies[256];
    copies[get_local_id(0)] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = copies[3 - get_local_id(0)];
}
