/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A shared object without kernels. */
extern int nothing_here;
int nothing_here;
