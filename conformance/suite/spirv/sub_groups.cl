// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that requires sub-groups of 16.
kernel __attribute__((intel_reqd_sub_group_size(16))) void sixteens(global uint *data) {
    data[get_global_id(0)] += 1;
}
