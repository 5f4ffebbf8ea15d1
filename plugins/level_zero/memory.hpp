// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory: buffers, views of them, and images.
#pragma once

#include "context.hpp"
#include "image.hpp"
#include "storage.hpp"

#include <pi/sdk/active_map.hpp>

namespace pi::level_zero {

/// The devices' memory scopes, in the order of piDeviceGetMemoryScopes.
enum Scope : uint32_t {
    SCOPE_GLOBAL = 0,
    SCOPE_HOST_PINNED = 1, ///< host memory that all devices of the context use in place
    SCOPE_COUNT = 2,
};
inline constexpr const char *scope_names[SCOPE_COUNT] = {"global", "host.pinned"};

using Map = sdk::ActiveMap<Staging>;

class Mem : public sdk::Object<Mem, pi_mem> {
public:
    /// A root, with its own storage.
    Mem(Context &context, Device &device, Storage storage, const pi_mem_buffer_desc &desc,
        pi_memory_kind memory);
    /// An image, which has no storage.
    Mem(Context &context, Device &device, std::unique_ptr<Image> image, uint64_t flags);
    /// A view of a root.
    Mem(Mem &root, uint64_t flags, uint64_t offset, uint64_t size);

    Context &context() const { return *context_; }
    Device &device() const { return place_.device(); }
    Place &place() const { return place_; }
    Mem &root() { return root_ ? *root_ : *this; }
    pi_mem parent() const { return root_ ? root_->handle() : nullptr; }
    uint64_t offset() const { return offset_; } ///< into the root
    uint64_t size() const { return size_; }
    uint64_t flags() const { return flags_; }
    uint32_t scope() const { return scope_; }
    pi_memory_kind memory_kind() const { return kind_; }
    uint64_t alignment() const;
    /// NULL for a buffer.
    const Image *image() const { return image_.get(); }
    /// Whether it is host memory, which all devices of the context use in place.
    bool in_host() const { return storage().host(); }
    /// The first byte's address on devices; NULL for an image.
    std::byte *address() const { return storage().data() + offset_; }
    /// The host's pointer; NULL for device memory.
    std::byte *host_pointer() const { return in_host() ? storage().host() + offset_ : nullptr; }
    /// Where maps of a buffer with PI_MEM_USE_HOST_PTR are; else NULL.
    std::byte *map_pointer() const;
    const Storage &storage() const { return root_ ? root_->storage_ : storage_; }

    /// The maps that the application has not unmapped yet.
    sdk::ActiveMaps<Map> &maps() { return maps_; }

private:
    const sdk::Ref<Context> context_;
    Place &place_;
    const sdk::Ref<Mem> root_; ///< NULL for a root
    const Storage storage_;    ///< of a root
    const std::unique_ptr<const Image> image_;
    const uint64_t offset_ = 0, size_, flags_;
    const uint32_t scope_;
    const pi_memory_kind kind_;
    std::byte *const host_ptr_; ///< of a root with PI_MEM_USE_HOST_PTR
    sdk::ActiveMaps<Map> maps_;
};

/// The types that piMemImport and piMemExport support, as bits 1 << PI_EXTERNAL_.
uint32_t import_types(const Device &device);
uint32_t export_types(const Device &device);

/// PI_ERROR_OUT_OF_DEVICE_MEMORY if it exceeds the device's largest allocation.
void check_allocation(const Device &device, uint64_t size);
/// PI_ERROR_INVALID_VALUE for a scope that does not exist.
void check_scope(const Device &device, uint32_t scope);
/// Checks a create call's PI_MEM_REQUIRE_ flags; PI_ERROR_UNSUPPORTED_FEATURE for those that the
/// scope cannot fulfil.
void check_requirements(const Device &device, uint64_t flags, uint32_t scope);

/// Whether commands of the place can use the memory in place. An image only on its own place.
bool usable(const Place &user, const Mem &mem);
/// PI_ERROR_INVALID_MEM_OBJECT unless usable().
void require_usable(const Place &user, const Mem &mem, const sdk::ArgumentName &name);
/// A buffer or an image that commands on a queue of this place can use in place; else
/// PI_ERROR_INVALID_MEM_OBJECT.
Mem &checked_buffer(const Place &user, const pi_host *host, pi_mem mem,
                    const sdk::ArgumentName &name);
Mem &checked_image(const Place &user, const pi_host *host, pi_mem mem,
                   const sdk::ArgumentName &name);

} // namespace pi::level_zero
