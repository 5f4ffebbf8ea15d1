// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "host_memory.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace pi::suite {

HostMemory::HostMemory(uint64_t size, uint64_t alignment)
    : storage_(size + 4 * alignment), size_(size) {
    // An odd multiple of it is no multiple of twice as much.
    const auto begin = reinterpret_cast<uintptr_t>(storage_.data());
    uint64_t aligned = (begin + alignment - 1) / alignment * alignment;
    if (aligned / alignment % 2 == 0)
        aligned += alignment;
    data_ = storage_.data() + (aligned - begin);
}

void HostMemory::assign(const Bytes &bytes, uint64_t offset) {
    require(offset + bytes.size() <= size_, "the test writes behind its own memory");
    std::memcpy(data_ + offset, bytes.data(), bytes.size());
}

GuardedMemory::GuardedMemory(uint64_t size, Side side) : size_(size) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t inner = (size + page - 1) / page * page;
    mapped_ = inner + 2 * page;
    void *const pages =
        mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(pages != MAP_FAILED, "mmap of ", mapped_, " bytes failed");
    pages_ = static_cast<std::byte *>(pages);
    data_ = pages_ + page + (side == Side::end ? inner - size : 0);
    if (mprotect(pages_ + page, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(pages_, mapped_);
        fail_at({nullptr, 0}, "mprotect failed");
    }
}

GuardedMemory::~GuardedMemory() {
    munmap(pages_, mapped_);
}

void GuardedMemory::assign(const Bytes &bytes) {
    require(bytes.size() <= size_, "the test writes behind its own memory");
    std::memcpy(data_, bytes.data(), bytes.size());
}

std::optional<uint64_t> import_alignment(Fixture &fixture, pi_device device) {
    if (!fixture.can(PI_CAPABILITY_MEM_IMPORT, device))
        return std::nullopt;
    uint32_t imports = 0;
    const pi_result result = piDeviceGetInfo(device, PI_DEVICE_INFO_HOST_POINTER_IMPORT,
                                             sizeof imports, &imports, nullptr);
    if (result != PI_SUCCESS || imports == 0)
        return std::nullopt;
    const auto alignment =
        get_info<uint64_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT);
    require(alignment != 0 && (alignment & (alignment - 1)) == 0,
            "PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT is ", alignment, ", not a power of two");
    return alignment;
}

uint64_t need_import(Fixture &fixture) {
    const std::optional<uint64_t> alignment = import_alignment(fixture, fixture.device());
    if (!alignment)
        skip("the device imports no host pointers");
    return *alignment;
}

pi_mem_import_desc import_desc(void *pointer, uint64_t size) {
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.size = size;
    desc.handle.type = PI_EXTERNAL_HOST_POINTER;
    desc.handle.pointer = pointer;
    return desc;
}

Mem make_import(const Place &place, HostMemory &memory) {
    const pi_mem_import_desc desc = import_desc(memory.data(), memory.size());
    Mem mem;
    require_success(piMemImport(place.context, place.device, &desc, mem.out()), "piMemImport of ",
                    memory.size(), " bytes");
    return mem;
}

} // namespace pi::suite
