// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's operator new and pthread_create and, unless a sanitizer has it, malloc and the
// like.
#include "interposed.hpp"

#include "failing_allocations.hpp"
#include "failing_threads.hpp"

namespace shortage {

pi_test::Shortage memory;
pi_test::Shortage threads;
pi_test::OwnCode own_code;

} // namespace shortage

bool allocation_fails(const void *caller) {
    return shortage::memory.active() && shortage::own_code.calls(caller) &&
           shortage::memory.takes_one();
}

bool thread_fails(const void *caller) {
    return shortage::threads.active() && shortage::own_code.calls(caller) &&
           shortage::threads.takes_one();
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PI_SANITIZER_HAS_MALLOC
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PI_SANITIZER_HAS_MALLOC
#endif
#if defined(__GLIBC__) && !defined(PI_SANITIZER_HAS_MALLOC)
namespace {

/// For direct calls of own code: the C++ library has memory for exceptions.
bool fails(const void *caller) {
    return shortage::memory.active() && shortage::own_code.has(caller) &&
           shortage::memory.takes_one();
}

} // namespace

extern "C" {

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
    return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
    return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}

} // extern "C"
#endif
