// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory objects: buffers, views, imported memory and images; and the maps that the application has
// not unmapped.
#pragma once

#include "context.hpp"
#include "storage.hpp"

#include <pi/sdk/image_region.hpp>
#include <pi/sdk/map_table.hpp>
#include <pi/sdk/object.hpp>

#include <memory>

namespace pi::host {

using sdk::Layout;
using sdk::LogicalBytes;
using sdk::MapTable;

// Checks that all calls that create memory, buffers or USM, share. They refuse, and name, what
// cannot be honoured.

/// The alignment of new memory for a requested alignment.
uint64_t checked_alignment(uint64_t asked);
void check_scope(uint32_t scope);
/// PI_ERROR_UNSUPPORTED_FEATURE for PI_MEM_REQUIRE_ flags that cannot be met.
void check_requirements(uint64_t flags, uint32_t scope);

/// The part of a memory object that only images have.
using Image = sdk::LinearImage;
using ImagePointer = std::unique_ptr<const Image>;

/// The parts of a memory object besides its bytes.
struct Shape {
    uint32_t scope = scope_global;
    Layout layout; ///< of a root
    ImagePointer image;
};

/// A buffer or an image: a root, which owns the storage, or a view, which keeps its root alive. The
/// bytes never move.
class Mem : public sdk::Object<Mem, pi_mem> {
public:
    /// A root.
    Mem(Context &context, Device &device, uint64_t flags, uint64_t size, uint64_t alignment,
        pi_memory_kind memory_kind, Storage storage, Shape shape = {})
        : Object(context.host()), context_(context), device_(device), flags_(flags), size_(size),
          alignment_(alignment), memory_kind_(memory_kind), shape_(std::move(shape)),
          storage_(std::move(storage)) {}
    /// A view of `root`, a root.
    Mem(Mem &root, uint64_t flags, uint64_t offset, uint64_t size, ImagePointer image = nullptr);

    Context &context() const { return *context_; }
    Device &device() const { return device_; }
    uint64_t flags() const { return flags_; }
    uint64_t size() const { return size_; }
    uint64_t alignment() const { return alignment_; }
    pi_memory_kind memory_kind() const { return memory_kind_; }
    /// NULL for a root.
    Mem *root() const { return root_.get(); }
    pi_mem parent() const { return root_ ? root_->handle() : nullptr; }
    uint64_t offset() const { return offset_; }
    uint32_t scope() const { return shape_.scope; }
    /// NULL for a buffer.
    const Image *image() const { return shape_.image.get(); }
    /// The layout of its root in the storage.
    const Layout &layout() const { return (root_ ? *root_ : *this).shape_.layout; }
    LogicalBytes bytes() const { return {storage().data(), offset_, &layout()}; }
    /// The address of its first byte.
    std::byte *data() const { return bytes().at(0); }
    /// The storage of its root.
    const Storage &storage() const { return root_ ? root_->storage_ : storage_; }
    MapTable &maps() { return maps_; }

private:
    const sdk::Ref<Context> context_;
    Device &device_;
    const sdk::Ref<Mem> root_;
    const uint64_t flags_;
    const uint64_t offset_ = 0;
    const uint64_t size_;
    const uint64_t alignment_;
    const pi_memory_kind memory_kind_;
    const Shape shape_;
    const Storage storage_; ///< of a root
    MapTable maps_;
};

/// The object of an argument; PI_ERROR_INVALID_MEM_OBJECT unless it is a buffer, or an image, as
/// required.
Mem &checked_buffer(const pi_host *host, pi_mem mem, const sdk::ArgumentName &name = "mem");
Mem &checked_image(const pi_host *host, pi_mem mem, const sdk::ArgumentName &name = "image");

} // namespace pi::host
