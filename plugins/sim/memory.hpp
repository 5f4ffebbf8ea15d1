// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory objects: buffers, views and imported memory; and the maps that the application has not
// unmapped.
#pragma once

#include "connection.hpp"
#include "migration.hpp"
#include "storage.hpp"

#include <pi/sdk/map_table.hpp>

namespace pi::sim {

using sdk::Layout;
using sdk::LogicalBytes;

/// A root, which owns the storage, or a view, which keeps its root alive. The bytes never move.
class Mem : public sdk::Object<Mem, pi_mem> {
public:
    /// A root.
    Mem(Context &context, Device &device, const pi_mem_buffer_desc &desc,
        pi_memory_kind memory_kind, Layout layout, Storage storage)
        : Object(context.host()), context_(context), device_(device), flags_(desc.flags),
          size_(desc.size), scope_(desc.scope), memory_kind_(memory_kind),
          layout_(std::move(layout)), storage_(std::move(storage)),
          writes_(make_write_log(device)) {}
    /// A view of `root`, a root.
    Mem(Mem &root, uint64_t flags, uint64_t offset, uint64_t size)
        : Object(root.host()), context_(root.context_), device_(root.device_), root_(root),
          flags_(flags), offset_(offset), size_(size), scope_(root.scope_),
          memory_kind_(root.memory_kind_),
          storage_(Storage::borrow(root.storage_.data(), 0, Storage::Borrowing::coherent)) {}

    Context &context() const { return *context_; }
    Device &device() const { return device_; }
    Place place() const { return {device_, *context_}; }
    uint64_t flags() const { return flags_; }
    uint64_t size() const { return size_; }
    uint32_t scope() const { return scope_; }
    const ScopeSpec &scope_spec() const { return device_.spec().scopes[scope_]; }
    pi_memory_kind memory_kind() const { return memory_kind_; }
    /// NULL for a root.
    Mem *root() const { return root_.get(); }
    pi_mem parent() const { return root_ ? root_->handle() : nullptr; }
    uint64_t offset() const { return offset_; }
    const Layout &layout() const { return top().layout_; }
    const Storage &storage() const { return top().storage_; }

    /// Whether it is the application's own memory, used in place.
    bool borrowed() const {
        return memory_kind_ == PI_MEMORY_KIND_IMPORTED || flags_ & PI_MEM_USE_HOST_PTR;
    }
    /// The site of its bytes, for transfers.
    Site site() const;
    /// Whether its connections are those of memory in the host's.
    bool in_host() const { return memory_kind_ == PI_MEMORY_KIND_IMPORTED || scope_spec().in_host; }
    /// The bytes as the device sees them.
    LogicalBytes bytes() const { return {storage().data(), offset_, &layout()}; }
    /// The bytes as the host sees them, if it can.
    LogicalBytes host_bytes() const { return {storage().host_data(), offset_, &layout()}; }
    /// PI_ERROR_UNSUPPORTED_FEATURE if the host cannot address it.
    std::byte *host_pointer() const;
    pi_coherence coherence() const;
    uint64_t alignment() const;
    /// PI_MEM_INFO_BUS_ADDRESS; throws if there is none.
    uint64_t bus_address() const;

    /// Copy a range of one side's bytes to the other; without effect on coherent memory.
    void publish(uint64_t offset, uint64_t size) const;
    void refresh(uint64_t offset, uint64_t size) const;
    /// For a map without a read, if the device has a copy of the memory: fills the host's bytes
    /// with garbage. Without effect on other memory.
    void spoil(uint64_t offset, uint64_t size) const;

    /// Nanoseconds for writing back or dropping so many bytes of the host's caches.
    uint64_t maintenance_time(uint64_t bytes) const;

    sdk::MapTable &maps() { return maps_; }
    /// For a root: records writes of commands, if the object migrates to any device; else NULL.
    WriteLog *writes() const { return writes_.get(); }

private:
    const Mem &top() const { return root_ ? *root_ : *this; }

    const sdk::Ref<Context> context_;
    Device &device_;
    const sdk::Ref<Mem> root_;
    const uint64_t flags_;
    const uint64_t offset_ = 0;
    const uint64_t size_;
    const uint32_t scope_;
    const pi_memory_kind memory_kind_;
    const Layout layout_;
    const Storage storage_; ///< of a root
    const std::unique_ptr<WriteLog> writes_;
    sdk::MapTable maps_;
};

/// The buffer of an argument, for a command of `place` that uses it directly; else
/// PI_ERROR_INVALID_MEM_OBJECT.
Mem &checked_mem(const Place &place, pi_mem mem, const sdk::ArgumentName &name = "mem");
/// PI_ERROR_INVALID_MEM_OBJECT unless queues of `place` can copy from src to dst.
void check_copy(const Place &place, const Mem &src, const Mem &dst);
/// PI_ERROR_MISALIGNED_OFFSET unless an offset into the object has the alignment that its scope and
/// the using device require.
void check_offset(const Mem &mem, uint64_t offset, const Device &user,
                  const sdk::ArgumentName &name);

} // namespace pi::sim
