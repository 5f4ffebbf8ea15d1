// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory and a queue of one place, and the commands that a verification enqueues there.
#pragma once

#include "pattern.hpp"
#include "verification.hpp"

#include <pi/describe/descriptor.hpp>

#include <utility>

namespace pi::loader {

/// Throws CallFailed.
inline void require(pi_result result) {
    if (result != PI_SUCCESS)
        throw CallFailed{result};
}

/// The bytes of one copy command.
struct Section {
    uint64_t src_offset;
    uint64_t dst_offset;
    uint64_t size;
};

/// The contents of a memory: the pattern of one round and, in sections that were copied into it,
/// that of another.
struct Contents {
    uint64_t round = 0;
    uint64_t copied_round = 0; ///< 0: no sections
};

/// Out of memory for this size: a smaller sample may succeed.
struct NoRoom : CallFailed {};

/// Memory of one kind at a place: a memory object or, for USM, an address.
class Memory {
public:
    Memory(const pi_dispatch &plugin, const VerifiedPlace &place, pi_memory_kind kind,
           uint32_t scope, uint64_t size);
    /// Host memory, imported.
    Memory(const pi_dispatch &plugin, const VerifiedPlace &place, Bytes host);
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory();

    pi_mem mem() const noexcept { return mem_; }
    unsigned char *pointer() const noexcept { return static_cast<unsigned char *>(pointer_); }

    /// Records the contents that are written next.
    void hold(const Contents &contents) noexcept { before = std::exchange(now, contents); }

    Contents now;
    Contents before;
    uint64_t base = 0; ///< where the tested bytes begin

private:
    const pi_dispatch &plugin_;
    pi_context context_;
    pi_mem mem_ = nullptr;
    void *pointer_ = nullptr;
};

/// An event that is waited for before anything that its command uses is freed.
class Pending {
public:
    Pending(const pi_dispatch &plugin, pi_event event) noexcept : plugin_(&plugin), event_(event) {}
    Pending(Pending &&other) noexcept
        : plugin_(other.plugin_), event_(std::exchange(other.event_, nullptr)) {}
    Pending &operator=(Pending &&) = delete;
    ~Pending();
    void wait() const { require(plugin_->piEventWait(event_, PI_TIMEOUT_NEVER)); }

private:
    const pi_dispatch *plugin_;
    pi_event event_;
};

/// An in-order queue of a place.
class Lane {
public:
    Lane(const pi_dispatch &plugin, const VerifiedPlace &place);
    Lane(const Lane &) = delete;
    Lane &operator=(const Lane &) = delete;
    ~Lane() { plugin_.piQueueRelease(queue_); }

    void write(const Memory &memory, uint64_t offset, ConstBytes bytes) const;
    void read(const Memory &memory, uint64_t offset, Bytes bytes) const;
    Pending copy(const Memory &src, const Memory &dst, const Section &section) const;
    /// Launches a kernel with two addresses and one work-item for each word.
    Pending launch(pi_kernel kernel, const Memory &src, const Memory &dst, uint64_t words) const;
    void flush() const { require(plugin_.piQueueFlush(queue_)); }

    /// Calls body(bytes) between a map of these bytes and its unmap.
    template <typename Body>
    void map(const Memory &memory, uint64_t offset, uint64_t size, uint64_t flags,
             Body &&body) const {
        const Bytes bytes(static_cast<unsigned char *>(map(memory, offset, size, flags)), size);
        body(bytes);
        unmap(memory, bytes.data());
    }

private:
    void *map(const Memory &memory, uint64_t offset, uint64_t size, uint64_t flags) const;
    void unmap(const Memory &memory, void *pointer) const;
    void copy_usm(const void *src, void *dst, const pi_region &region) const;

    const pi_dispatch &plugin_;
    pi_queue queue_ = nullptr;
};

/// One end: its place, its queue, and its name in texts.
struct End {
    const char *name;
    VerifiedPlace place;
    Lane lane;

    End(const pi_dispatch &plugin, const char *end_name, const VerifiedPlace &end_place)
        : name(end_name), place(end_place), lane(plugin, end_place) {}
};

} // namespace pi::loader
