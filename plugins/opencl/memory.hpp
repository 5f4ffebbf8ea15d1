// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory: buffers, images and views.
#pragma once

#include "context.hpp"

#include <pi/sdk/active_map.hpp>
#include <pi/sdk/image_region.hpp>

#include <mutex>
#include <optional>
#include <vector>

namespace pi::opencl {

/// Makes a mem an image. The position of its pixels is valid for a view only.
using Image = sdk::LinearImage;

/// The devices' memory scopes, in the order of piDeviceGetMemoryScopes.
enum Scope : uint32_t {
    SCOPE_GLOBAL = 0,
    SCOPE_HOST_PINNED =
        1, ///< buffers in host memory that the driver allocates (CL_MEM_ALLOC_HOST_PTR)
    SCOPE_COUNT = 2,
};
inline constexpr const char *scope_names[SCOPE_COUNT] = {"global", "host.pinned"};

/// A map of the application's. A pointer can be mapped more than once.
struct Map {
    void *pointer = nullptr;
};

class Mem : public sdk::Object<Mem, pi_mem> {
public:
    /// The parts of a new root.
    struct Parts {
        MemOwner vendor;
        uint64_t size = 0;
        uint64_t flags = 0;           ///< PI_MEM_, as the application gave them
        uint64_t alignment = 1;       ///< verified
        void *host_pointer = nullptr; ///< the application's memory, if it is the storage
        pi_memory_kind kind = PI_MEMORY_KIND_BUFFER;
        Scope scope = SCOPE_GLOBAL;
        /// For the application's sub-buffer, or a part of another buffer: the vendor's parent
        /// buffer, and the offset into it. `keeps` keeps the parent alive.
        cl_mem whole = nullptr;
        uint64_t whole_offset = 0;
        MemOwner keeps;
        std::optional<Image> image = {};
    };
    /// A root.
    Mem(Context &context, Device &device, Parts parts);
    /// A view of a root. `vendor` is the sub-buffer, or an image of the root or of the part that
    /// `keeps` keeps alive.
    Mem(Mem &root, MemOwner vendor, uint64_t flags, uint64_t offset, uint64_t size,
        std::optional<Image> image = {}, MemOwner keeps = {});
    /// Unmaps what is still mapped.
    ~Mem();

    Context &context() const { return *context_; }
    Device &device() const { return device_; }
    const Api &api() const { return context_->api(); }
    /// The vendor's buffer, sub-buffer or image.
    cl_mem id() const { return vendor_.get(); }
    /// A number that no other object of the instance ever has.
    uint64_t serial() const { return serial_; }
    Mem &root() { return root_ ? *root_ : *this; }
    bool is_view() const { return static_cast<bool>(root_); }
    pi_mem parent() const { return root_ ? root_->handle() : nullptr; }
    uint64_t offset() const { return offset_; } ///< into the root
    /// The vendor's buffer from which the root's sub-buffers are created, and the root's offset
    /// into it.
    cl_mem whole() const { return whole_ ? whole_ : id(); }
    uint64_t whole_offset() const { return whole_offset_; }
    uint64_t size() const { return size_; }
    uint64_t flags() const { return flags_; }
    uint64_t alignment() const;
    pi_memory_kind memory_kind() const { return kind_; }
    Scope scope() const { return root_ ? root_->scope_ : scope_; }
    /// NULL for a buffer.
    const Image *image() const { return image_ ? &*image_ : nullptr; }
    /// The host address of its first byte, or NULL.
    void *host_pointer() const;
    /// Whether they may have bytes in common: two imports of one host pointer share their storage
    /// too.
    bool may_share_storage(const Mem &other) const;
    /// An offset to add to offsets into the root, so that offsets of two mems that share storage
    /// can be compared.
    uint64_t storage_begin() const;

    /// One lock per buffer around the vendor's map and unmap calls, which are not thread-safe in
    /// drivers.
    std::mutex &vendor_map_mutex() { return root().vendor_map_mutex_; }

    sdk::ActiveMaps<Map> &maps() { return maps_; }

private:
    const sdk::Ref<Context> context_;
    Device &device_;
    const sdk::Ref<Mem> root_; ///< NULL for a root
    const MemOwner keeps_;
    const MemOwner vendor_;
    const uint64_t serial_ = context_->instance().next_serial();
    const cl_mem whole_ = nullptr;
    const uint64_t whole_offset_ = 0;
    const uint64_t offset_, size_, flags_, alignment_;
    void *const host_pointer_;
    const pi_memory_kind kind_;
    const Scope scope_ = SCOPE_GLOBAL;
    const std::optional<Image> image_;
    std::mutex vendor_map_mutex_;
    sdk::ActiveMaps<Map> maps_;
};

/// PI_ERROR_INVALID_SIZE or PI_ERROR_OUT_OF_DEVICE_MEMORY unless one allocation may have this size.
void check_allocation(const Device &device, uint64_t size);

/// The scope of this index; PI_ERROR_INVALID_VALUE if there is none.
Scope checked_scope(const Device &device, uint32_t scope);
/// The same for objects (`what`: "images") that only scope 0 supports: PI_ERROR_UNSUPPORTED_FEATURE
/// for another scope.
void check_global_scope(const Device &device, uint32_t scope, const char *what);
/// PI_ERROR_UNSUPPORTED_FEATURE for the PI_MEM_REQUIRE_ flags: no scope can fulfil them.
void check_requirements(const Device &device, uint64_t flags);
/// CL_MEM_ for PI_MEM_READ_ONLY and _WRITE_ONLY.
cl_mem_flags access_flags(uint64_t flags);
/// The largest alignment that is derived from an address.
inline constexpr uint64_t page_size = 4096;

/// A vendor sub-buffer; PI_ERROR_MISALIGNED_OFFSET with both numbers. `flags`: PI_MEM_READ_ONLY,
/// _WRITE_ONLY.
MemOwner create_sub_buffer(Mem &root, uint64_t flags, uint64_t offset, uint64_t size);
/// The same for any buffer of the vendor's.
MemOwner create_sub_buffer(const Context &context, const Device &device, cl_mem whole,
                           uint64_t flags, const cl_buffer_region &region);

/// Memory of the context; PI_ERROR_INVALID_MEM_OBJECT naming both contexts otherwise.
Mem &checked_mem(const Context &context, pi_mem mem, const sdk::ArgumentName &name);
/// The same for a buffer.
Mem &checked_buffer(const Context &context, pi_mem mem, const sdk::ArgumentName &name);

/// Enqueues a map without waiting. Locks the buffer's vendor_map_mutex().
void *map_vendor(Mem &mem, cl_command_queue queue, cl_map_flags flags, uint64_t offset,
                 uint64_t size, cl_uint wait_count, const cl_event *waits, cl_event *out_event,
                 cl_int *out_code);
/// Enqueues an unmap without waiting.
cl_int unmap_vendor(Mem &mem, cl_command_queue queue, void *pointer, cl_uint wait_count,
                    const cl_event *waits, cl_event *out_event);

} // namespace pi::opencl
