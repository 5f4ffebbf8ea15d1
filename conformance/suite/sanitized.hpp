// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the suite was built with a sanitizer.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PI_SUITE_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PI_SUITE_SANITIZED true
#endif
#endif
#ifndef PI_SUITE_SANITIZED
#define PI_SUITE_SANITIZED false
#endif

namespace pi::suite {

inline constexpr bool is_sanitized = PI_SUITE_SANITIZED;

} // namespace pi::suite

#undef PI_SUITE_SANITIZED
