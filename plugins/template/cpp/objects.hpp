// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The objects: one class for each kind of handle.
#pragma once

#include <pi/pi_plugin.h>
#include <pi/sdk/enqueue.hpp>
#include <pi/sdk/worker.hpp>

#include <cstdint>
#include <cstring>
#include <map>
#include <new>

namespace plugin {

namespace sdk = pi::sdk;
using sdk::Ref;

/// Yours: your device's kinds of memory.
inline constexpr pi_memory_scope scope = {.name = "global",
                                          .flags = PI_SCOPE_COHERENT | PI_SCOPE_POOLABLE |
                                                   PI_SCOPE_MAPS_IN_PLACE,
                                          .capacity = 0,
                                          .max_allocation = 0,
                                          .min_alignment = 64,
                                          .offset_alignment = 1,
                                          .flush_atom = 1,
                                          .reserved = {}};

inline constexpr uint64_t max_alignment = 1 << 21;

class Platform : public sdk::Object<Platform, pi_platform> {
public:
    Platform(const pi_host *host, pi_plugin owner) : Object(host), plugin(owner) {}
    const pi_plugin plugin;
};

/// A root device lives as long as the instance, so it is not counted.
class Device : public sdk::Object<Device, pi_device> {
public:
    explicit Device(Platform &owner) : Object(owner.host(), false), platform(owner) {}
    Platform &platform;
    sdk::Workers workers; ///< Yours: the vendor's queues
};

/// The instance, one for each loader. All state is in it, none in static variables.
class Instance : public sdk::Object<Instance, pi_plugin> {
public:
    explicit Instance(const pi_host *host)
        : Object(host), platform(host, handle()), device(platform) {}
    Platform platform;
    Device device;
};

class Context : public sdk::Object<Context, pi_context> {
public:
    Context(Platform &owner, std::vector<Device *> members)
        : Object(owner.host()), platform(owner), devices(std::move(members)) {}
    /// PI_ERROR_INVALID_DEVICE unless it is one of the context's.
    Device &device(pi_device handle) const {
        Device &found = sdk::checked<Device>(host(), handle);
        if (std::find(devices.begin(), devices.end(), &found) == devices.end())
            sdk::fail(PI_ERROR_INVALID_DEVICE, "device is not one of the context's ",
                      devices.size());
        return found;
    }
    Platform &platform;
    const std::vector<Device *> devices;
};

class Mem : public sdk::Object<Mem, pi_mem> {
public:
    Mem(Context &owner, Device &place, const pi_mem_buffer_desc &desc)
        : Object(owner.host()), context(owner), device(place), flags(desc.flags), size(desc.size),
          alignment(alignment_of(desc)) {
        if (flags & PI_MEM_USE_HOST_PTR) {
            bytes = static_cast<std::byte *>(desc.host_ptr);
            return;
        }
        if (size > PTRDIFF_MAX - alignment) // operator new would round up past the end
            sdk::fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, "size is ", size,
                      " bytes, more than the address space has");
        own.reset(
            static_cast<std::byte *>(
                ::operator new (size, std::align_val_t{alignment}, std::nothrow)),
            [align = alignment](std::byte *p) { ::operator delete (p, std::align_val_t{align}); });
        if (!own)
            sdk::fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, "operator new failed: ", size,
                      " bytes requested");
        bytes = own.get();
        if (flags & PI_MEM_COPY_HOST_PTR)
            std::memcpy(bytes, desc.host_ptr, size);
    }
    static uint64_t alignment_of(const pi_mem_buffer_desc &desc) {
        const auto address = reinterpret_cast<uintptr_t>(desc.host_ptr);
        return desc.flags & PI_MEM_USE_HOST_PTR
                   ? address & -address
                   : std::max<uint64_t>(desc.alignment, scope.min_alignment);
    }

    const Ref<Context> context;
    Device &device;
    const uint64_t flags, size, alignment;
    std::byte *bytes = nullptr; ///< Yours: the driver's allocation
    std::mutex mutex;
    std::map<void *, int> maps; ///< guarded by mutex: how often each pointer is mapped, or will be
private:
    std::shared_ptr<std::byte> own;
};

class Queue : public sdk::Object<Queue, pi_queue> {
public:
    Queue(Context &owner, Device &place, uint64_t given)
        : Object(owner.host()), context(owner), device(place), flags(given),
          order(!(given & PI_QUEUE_OUT_OF_ORDER)) {}
    sdk::Sequence &sequence() { return order; }
    Ref<sdk::Event> make_event(pi_struct_type type) {
        return sdk::make<sdk::Event>(host(), sdk::AnyRef(context), sdk::AnyRef(Ref<Queue>(*this)),
                                     &order, type, (flags & PI_QUEUE_PROFILING) != 0);
    }
    const Ref<Context> context;
    Device &device;
    const uint64_t flags;

private:
    sdk::Sequence order;
};

// Entries, defined in commands.cpp.
pi_result PI_CALL enqueue_copy(pi_queue queue, const pi_buffer_copy_desc *desc, uint32_t wait_count,
                               const pi_event *wait_list, pi_event *out_event);
pi_result PI_CALL enqueue_map(pi_queue queue, const pi_buffer_map_desc *desc, uint32_t wait_count,
                              const pi_event *wait_list, pi_event *out_event);
pi_result PI_CALL enqueue_unmap(pi_queue queue, const pi_unmap_desc *desc, uint32_t wait_count,
                                const pi_event *wait_list, pi_event *out_event);
pi_result PI_CALL enqueue_events_wait(pi_queue queue, const pi_events_wait_desc *desc,
                                      uint32_t wait_count, const pi_event *wait_list,
                                      pi_event *out_event);
pi_result PI_CALL enqueue_barrier(pi_queue queue, const pi_barrier_desc *desc, uint32_t wait_count,
                                  const pi_event *wait_list, pi_event *out_event);

} // namespace plugin
