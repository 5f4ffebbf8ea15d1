// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Built-in functions of OpenCL C that PI's kernels use and clang's back end for PTX lacks. Pointers
// to local memory are offsets into a work-group's shared memory, as the plugin cuda passes them.
#define PER_DIMENSION(name, sreg)                                                                  \
    size_t __attribute__((overloadable)) name(uint dimension) {                                    \
        return dimension == 0   ? __nvvm_read_ptx_sreg_##sreg##_x()                                \
               : dimension == 1 ? __nvvm_read_ptx_sreg_##sreg##_y()                                \
               : dimension == 2 ? __nvvm_read_ptx_sreg_##sreg##_z()                                \
                                : 0;                                                               \
    }
PER_DIMENSION(get_local_id, tid)
PER_DIMENSION(get_local_size, ntid)
PER_DIMENSION(get_group_id, ctaid)
PER_DIMENSION(get_num_groups, nctaid)

size_t __attribute__((overloadable)) get_global_size(uint dimension) {
    return get_num_groups(dimension) * get_local_size(dimension);
}
size_t __attribute__((overloadable)) get_global_id(uint dimension) {
    return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension);
}
void __attribute__((overloadable)) barrier(cl_mem_fence_flags flags) { __nvvm_bar_sync(0); }
uint __attribute__((overloadable)) atomic_inc(volatile __global uint *address) {
    uint before;
    __asm__ volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(address) : "memory");
    return before;
}
