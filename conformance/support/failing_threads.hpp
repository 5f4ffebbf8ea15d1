// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of a test program and its libraries that cannot be started when the test says so. For one
// source of a program: it replaces pthread_create, but not a sanitizer's, whose threads do not
// fail.
#pragma once

#include <cerrno>
#include <dlfcn.h>
#include <pthread.h>

/// Whether this thread cannot be started: defined by the test. `caller`: the address of the code
/// that starts it.
bool thread_fails(const void *caller);

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PI_SANITIZER_HAS_THREADS
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PI_SANITIZER_HAS_THREADS
#endif
#ifndef PI_SANITIZER_HAS_THREADS
extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*start)(void *), void *argument) {
    static const auto next =
        reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return thread_fails(__builtin_return_address(0)) ? EAGAIN
                                                     : next(thread, attributes, start, argument);
}
#endif
