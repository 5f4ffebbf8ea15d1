// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "registration.hpp"
#include "primary.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/bytes.hpp>

#include <algorithm>
#include <unistd.h>

namespace pi::cuda {

using namespace sdk;

std::shared_ptr<void> Registrations::pin(Primary &primary, std::byte *begin, uint64_t size) {
    std::byte *const range = add(primary, begin, size);
    return {range, [this](void *pointer) { remove(static_cast<std::byte *>(pointer)); }};
}

Registrations::Ranges::iterator Registrations::around(std::byte *address) {
    const auto next = ranges_.upper_bound(address);
    if (next == ranges_.begin())
        return ranges_.end();
    const auto before = std::prev(next);
    return static_cast<uint64_t>(address - before->first) < before->second.size ? before
                                                                                : ranges_.end();
}

std::byte *Registrations::add(Primary &primary, std::byte *begin, uint64_t size) {
    std::lock_guard lock(mutex_);
    if (const auto found = around(begin); found != ranges_.end()) {
        if (size <= found->second.size - static_cast<uint64_t>(begin - found->first)) {
            ++found->second.count;
            return found->first;
        }
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the range from ", static_cast<void *>(begin),
             " begins within another one that is pinned, of ", found->second.size, " bytes from ",
             static_cast<void *>(found->first), ", and ends behind it: CUDA pins no byte twice");
    }
    const auto next = ranges_.upper_bound(begin);
    if (next != ranges_.end() && static_cast<uint64_t>(next->first - begin) < size)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the range of ", size, " bytes from ",
             static_cast<void *>(begin), " overlaps another one that is pinned, which begins at ",
             static_cast<void *>(next->first), ": CUDA pins no byte twice");
    pin_new(primary, begin, size);
    return begin;
}

void Registrations::pin_new(Primary &primary, std::byte *begin, uint64_t size) {
    const auto entry = ranges_.emplace(begin, Range{size, 1, primary.shared_from_this()}).first;
    try {
        const Current current(primary);
        const CUresult code = primary.api().cuMemHostRegister_v2(
            begin, size, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
        if (code == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
            fail(
                PI_ERROR_UNSUPPORTED_FEATURE,
                "cuMemHostRegister_v2: CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: the application, "
                "or another plugin, has pinned some of the ",
                size, " bytes from ", static_cast<void *>(begin));
        if (code == CUDA_ERROR_OUT_OF_MEMORY)
            fail(PI_ERROR_OUT_OF_RESOURCES,
                 "cuMemHostRegister_v2: CUDA_ERROR_OUT_OF_MEMORY: ", Bytes(size),
                 " cannot be pinned");
        primary.check(code, "cuMemHostRegister_v2", size, " bytes from ",
                      static_cast<void *>(begin));
    } catch (...) {
        ranges_.erase(entry);
        throw;
    }
}

/// Ranges that are pinned together.
class Registrations::Pieces {
public:
    explicit Pieces(Registrations &registrations) : registrations_(registrations) {}
    Pieces(const Pieces &) = delete;
    ~Pieces() {
        for (std::byte *begin : begins_)
            registrations_.remove(begin);
    }
    /// Takes a part in the range that take() answers.
    template <class Take>
    void add(Take &&take) {
        begins_.push_back(nullptr);
        try {
            begins_.back() = take();
        } catch (...) {
            begins_.pop_back();
            throw;
        }
    }

private:
    Registrations &registrations_;
    std::vector<std::byte *> begins_;
};

std::shared_ptr<void> Registrations::pin_pages(Primary &primary, std::byte *begin, uint64_t size) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    std::byte *const end = begin + size;
    begin -= reinterpret_cast<uintptr_t>(begin) % page;
    const auto pieces = std::make_shared<Pieces>(*this); // on failure it goes after the lock
    std::lock_guard lock(mutex_);
    while (begin < end)
        pieces->add([&] {
            std::byte *const here = begin;
            if (const auto found = around(here); found != ranges_.end()) {
                ++found->second.count;
                begin = found->first + found->second.size;
                return found->first;
            }
            const auto next = ranges_.upper_bound(here);
            uint64_t gap = align_up(static_cast<uint64_t>(end - here), page);
            if (next != ranges_.end())
                gap = std::min(gap, static_cast<uint64_t>(next->first - here));
            pin_new(primary, here, gap);
            begin = here + gap;
            return here;
        });
    return pieces;
}

void Registrations::remove(std::byte *begin) noexcept {
    std::shared_ptr<Primary> primary; // goes after the lock
    std::lock_guard lock(mutex_);
    const auto entry = ranges_.find(begin);
    if (--entry->second.count)
        return;
    primary = std::move(entry->second.primary);
    ranges_.erase(entry);
    try {
        const Current current(*primary);
        primary->note(primary->api().cuMemHostUnregister(begin));
    } catch (...) {
        // The context is lost, and with it what was pinned.
    }
}

} // namespace pi::cuda
