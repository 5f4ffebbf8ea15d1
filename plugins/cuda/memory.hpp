// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory: buffers, views of them, and images.
#pragma once

#include "context.hpp"
#include "image.hpp"
#include "storage.hpp"

#include <pi/sdk/active_map.hpp>
#include <pi/sdk/layout.hpp>

namespace pi::cuda {

/// The devices' memory scopes, in the order of piDeviceGetMemoryScopes.
enum Scope : uint32_t {
    SCOPE_GLOBAL = 0,
    SCOPE_HOST_PINNED = 1, ///< host memory that the driver has pinned and all devices use in place
    SCOPE_COUNT = 2,
};
inline constexpr const char *scope_names[SCOPE_COUNT] = {"global", "host.pinned"};

using Map = sdk::ActiveMap<Staging>;

class Mem : public sdk::Object<Mem, pi_mem> {
public:
    /// A root, with its own storage.
    Mem(Context &context, Device &device, Storage storage, const pi_mem_buffer_desc &desc,
        pi_memory_kind memory, sdk::Layout layout = {});
    /// An image, which has no storage.
    Mem(Context &context, Device &device, std::unique_ptr<Image> image, uint64_t flags);
    /// A view of a root; `image` if the view is an image.
    Mem(Mem &root, uint64_t flags, uint64_t offset, uint64_t size,
        std::unique_ptr<Image> image = nullptr);

    Context &context() const { return *context_; }
    Device &device() const { return device_; }
    Primary &primary() const { return primary_; }
    Mem &root() { return root_ ? *root_ : *this; }
    pi_mem parent() const { return root_ ? root_->handle() : nullptr; }
    uint64_t offset() const { return offset_; } ///< into the root
    uint64_t size() const { return size_; }
    uint64_t flags() const { return flags_; }
    uint32_t scope() const { return scope_; }
    pi_memory_kind memory_kind() const { return kind_; }
    uint64_t alignment() const;
    /// NULL for a buffer.
    Image *image() const { return image_.get(); }
    /// The image if it is an array, whose pixels have no addresses; NULL for a view.
    Image *array() const { return image_ && image_->id() ? image_.get() : nullptr; }
    /// Whether it is host memory. All devices use it in place; if it is pageable, only those that
    /// read pageable memory.
    bool in_host() const { return storage().host(); }
    /// Whether it is unpinned memory of the application: the host copies it, not the driver.
    bool pageable() const { return storage().pageable(); }
    /// Whether it belongs to a pool or virtual memory of the application: only its own device uses
    /// it, apart from copies between contexts.
    bool granted_apart() const { return storage().granted_apart(); }
    /// The layout of the root's bytes.
    const sdk::Layout &layout() const { return root_ ? root_->layout_ : layout_; }
    /// The bytes from this object's first one on.
    sdk::LogicalRange range() const { return {offset_, &layout()}; }
    /// A byte's address on the device; 0 for an array.
    CUdeviceptr address(uint64_t offset = 0) const {
        return storage().address() + layout().at(offset_ + offset);
    }
    /// Equal only for objects whose first byte is the same byte of the same memory. For comparison
    /// only, not for use.
    CUdeviceptr identity() const { return storage().address() + offset_; }
    /// The host's pointer; NULL for device memory.
    std::byte *host_pointer() const { return in_host() ? storage().host() + offset_ : nullptr; }
    /// The export types that the memory was created for, as bits 1 << PI_EXTERNAL_.
    uint32_t export_types() const { return root_ ? root_->export_types_ : export_types_; }
    /// The handle that the driver exports as a file descriptor; 0 if not created for that.
    CUmemGenericAllocationHandle physical() const { return storage().physical(); }
    /// Where maps of a buffer with PI_MEM_USE_HOST_PTR are; else NULL.
    std::byte *map_pointer() const;

    /// The maps that the application has not unmapped yet.
    sdk::ActiveMaps<Map> &maps() { return maps_; }

private:
    const Storage &storage() const { return root_ ? root_->storage_ : storage_; }

    const sdk::Ref<Context> context_;
    Device &device_;
    Primary &primary_;
    const sdk::Ref<Mem> root_; ///< NULL for a root
    const Storage storage_;    ///< of a root
    const sdk::Layout layout_; ///< of a root
    const std::unique_ptr<Image> image_;
    const uint64_t offset_ = 0, size_, flags_;
    const uint32_t scope_;
    const pi_memory_kind kind_;
    const uint32_t export_types_ = 0; ///< of a root
    std::byte *const host_ptr_;       ///< of a root with PI_MEM_USE_HOST_PTR
    sdk::ActiveMaps<Map> maps_;
};

/// The types that piMemImport and piMemExport support, as bits 1 << PI_EXTERNAL_.
uint32_t import_types(const Device &device);
uint32_t export_types(const Device &device);
/// The export types that can be imported in the same process as well.
uint32_t export_types_within(const Device &device);

/// PI_ERROR_INVALID_VALUE for a scope that does not exist.
void check_scope(const Device &device, uint32_t scope);
/// Checks a create call's PI_MEM_REQUIRE_ flags; PI_ERROR_UNSUPPORTED_FEATURE for those that the
/// scope cannot fulfil.
void check_requirements(const Device &device, uint64_t flags, uint32_t scope);

/// Whether commands of the context can use the memory in place. Only an image's own device can use
/// it.
bool usable(Primary &user, const Mem &mem);
/// The memory's device, and why commands of the context cannot use it: part of a message.
std::string why_not_usable(const Primary &user, const Mem &mem);
/// PI_ERROR_INVALID_MEM_OBJECT unless usable().
void require_usable(Primary &user, const Mem &mem, const sdk::ArgumentName &name);
/// A buffer or an image that commands on a queue of this primary context can use in place; else
/// PI_ERROR_INVALID_MEM_OBJECT.
Mem &checked_buffer(Primary &user, const pi_host *host, pi_mem mem, const sdk::ArgumentName &name);
Mem &checked_image(Primary &user, const pi_host *host, pi_mem mem, const sdk::ArgumentName &name);

} // namespace pi::cuda
