// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Application memory to import, and queries about importing.
#pragma once

#include "fixture.hpp"

#include <optional>

namespace pi::suite {

/// A block at a multiple of `alignment`, and not of twice that. It must outlive its imports.
class HostMemory {
public:
    HostMemory(uint64_t size, uint64_t alignment);
    HostMemory(const HostMemory &) = delete;
    HostMemory &operator=(const HostMemory &) = delete;

    std::byte *data() { return data_; }
    uint64_t size() const { return size_; }
    void assign(const Bytes &bytes, uint64_t offset = 0);
    Bytes bytes() const { return Bytes(data_, data_ + size_); }

private:
    Bytes storage_;
    std::byte *data_;
    uint64_t size_;
};

/// A block between two pages that cannot be accessed; it begins or ends next to one of them.
class GuardedMemory {
public:
    enum class Side { begin, end };
    GuardedMemory(uint64_t size, Side side);
    GuardedMemory(const GuardedMemory &) = delete;
    GuardedMemory &operator=(const GuardedMemory &) = delete;
    ~GuardedMemory();

    std::byte *data() { return data_; }
    uint64_t size() const { return size_; }
    void assign(const Bytes &bytes);
    Bytes bytes() const { return Bytes(data_, data_ + size_); }

private:
    std::byte *pages_;
    uint64_t mapped_;
    std::byte *data_;
    uint64_t size_;
};

/// The alignment of pointers and sizes that the device imports in place, or nothing.
std::optional<uint64_t> import_alignment(Fixture &fixture, pi_device device);
/// The same; skips the test where nothing is imported.
uint64_t need_import(Fixture &fixture);

pi_mem_import_desc import_desc(void *pointer, uint64_t size);
Mem make_import(const Place &place, HostMemory &memory);

} // namespace pi::suite
