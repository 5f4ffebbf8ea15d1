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
    SCOPE_HOST_PINNED =
        1, ///< memory of the host that the driver has pinned and all devices use in place
    SCOPE_COUNT = 2,
};
inline constexpr const char *scope_names[SCOPE_COUNT] = {"global", "host.pinned"};

using Map = sdk::ActiveMap<Staging>;

class Mem : public sdk::Object<Mem, pi_mem> {
public:
    /// A root.
    Mem(Context &context, Device &device, Storage storage, const pi_mem_buffer_desc &desc,
        pi_memory_kind kind, sdk::Layout layout = {});
    /// An image, which has no storage.
    Mem(Context &context, Device &device, std::unique_ptr<Image> image, uint64_t flags);
    /// A view of a root; as an image, if there is one.
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
    /// The same if it is an array, whose pixels have no addresses; NULL also for a view.
    Image *array() const { return image_ && image_->id() ? image_.get() : nullptr; }
    /// In memory of the host, which all devices use in place; if it is pageable, those that read such.
    bool in_host() const { return storage().host(); }
    /// The application's memory, which nobody has pinned: it is moved by the host, not by commands of the driver.
    bool pageable() const { return storage().pageable(); }
    /// Of a pool or a mapping that the application has made: for its own device alone, but for copies between contexts.
    bool granted_apart() const { return storage().granted_apart(); }
    /// How the bytes of the root lie.
    const sdk::Layout &layout() const { return root_ ? root_->layout_ : layout_; }
    /// And these, behind the first one.
    sdk::LogicalRange range() const { return {offset_, &layout()}; }
    /// A byte's address for the device; 0 of an array.
    CUdeviceptr address(uint64_t offset = 0) const {
        return storage().address() + layout().at(offset_ + offset);
    }
    /// The same for the first byte of views that share it, and of no other memory: to compare, not to use.
    CUdeviceptr identity() const { return storage().address() + offset_; }
    /// And for the host; NULL if it has none.
    std::byte *host_pointer() const { return in_host() ? storage().host() + offset_ : nullptr; }
    /// The types that the memory was made to be exported as, 1 << PI_EXTERNAL_.
    uint32_t export_types() const { return root_ ? root_->export_types_ : export_types_; }
    /// What the driver exports as a file; 0 if the memory was not made for it.
    CUmemGenericAllocationHandle physical() const { return storage().physical(); }
    /// Of a buffer with PI_MEM_USE_HOST_PTR: where its maps are; else NULL.
    std::byte *map_pointer() const;

    /// Those that the application holds.
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

/// 1 << PI_EXTERNAL_ of what piMemImport takes, and what piMemExport gives.
uint32_t import_types(const Device &device);
uint32_t export_types(const Device &device);
/// Those of them that are imported in the same process, too.
uint32_t export_types_within(const Device &device);

/// PI_ERROR_INVALID_VALUE for a scope that there is not.
void check_scope(const Device &device, uint32_t scope);
/// What a creation's PI_MEM_REQUIRE_ flags demand; PI_ERROR_UNSUPPORTED_FEATURE of what the scope does not hold.
void check_requirements(const Device &device, uint64_t flags, uint32_t scope);

/// Whether commands of the context take the memory as it is. Images are for their own device alone.
bool usable(Primary &user, const Mem &mem);
/// Whose memory it is, and why commands of the context cannot use it: for a text.
std::string why_not_usable(const Primary &user, const Mem &mem);
/// PI_ERROR_INVALID_MEM_OBJECT unless it is usable.
void require_usable(Primary &user, const Mem &mem, const sdk::ArgumentName &name);
/// A buffer or an image that commands on a queue of this primary context take as it is, or PI_ERROR_INVALID_MEM_OBJECT.
Mem &checked_buffer(Primary &user, const pi_host *host, pi_mem mem, const sdk::ArgumentName &name);
Mem &checked_image(Primary &user, const pi_host *host, pi_mem mem, const sdk::ArgumentName &name);

} // namespace pi::cuda
