// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations of a test program that fail when the test says so. For one source of a program: it
// replaces operator new.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

/// Whether this allocation finds no memory: defined by the test. `caller`: the address of the code
/// that asks for it.
bool allocation_fails(const void *caller);

// Not inlined, where the compiler would take free() for the wrong end of an allocation.
[[gnu::noinline]] void *operator new(std::size_t size) {
    void *const memory =
        allocation_fails(__builtin_return_address(0)) ? nullptr : std::malloc(size ? size : 1);
    if (memory == nullptr)
        throw std::bad_alloc();
    return memory;
}
[[gnu::noinline]] void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
    return std::malloc(size ? size : 1);
}
[[gnu::noinline]] void operator delete(void *memory, const std::nothrow_t &) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void *memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept {
    std::free(memory);
}
