/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Strict C hides clocks, threads and their signal masks. The headers that need them include this
 * header first, so they must be included before the C library's.
 */
#ifndef PI_SDK_PI_SDK_POSIX_H
#define PI_SDK_PI_SDK_POSIX_H

#if !defined(_POSIX_C_SOURCE) && !defined(__cplusplus)
#define _POSIX_C_SOURCE 200809L
#endif

#include <signal.h>
#include <time.h>

#if !defined(CLOCK_MONOTONIC) || !defined(SIG_BLOCK)
#error "include this header before the C library's, or compile with -D_POSIX_C_SOURCE=200809L"
#endif

#endif
