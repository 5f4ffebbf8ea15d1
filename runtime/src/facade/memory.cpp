// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/device_query.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/facade.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace pi::runtime::facade {
namespace {

/// Enough for imports by every driver that is known to us.
constexpr std::size_t page = 4096;

/// Host memory of a storage, so that the address of a map is known before its bytes are ready.
/// Pages that nobody touches cost nothing.
std::shared_ptr<std::byte> host_memory(uint64_t size) {
    const uint64_t bytes = (size + page - 1) / page * page;
    void *memory = bytes >= size ? std::aligned_alloc(page, bytes) : nullptr;
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return {static_cast<std::byte *>(memory), [](std::byte *pointer) { std::free(pointer); }};
}

uint64_t offset_alignment(pi_device device) {
    pi_memory_scope scope{};
    check(piDeviceGetMemoryScopes(device, 1, &scope, nullptr), "piDeviceGetMemoryScopes");
    return std::max<uint64_t>(scope.offset_alignment, 1);
}

template <class T>
T mem_info(pi_mem mem, pi_mem_info name) {
    T value{};
    check(piMemGetInfo(mem, name, sizeof value, &value, nullptr), "piMemGetInfo");
    return value;
}

Access access_of_map(uint64_t flags) {
    if ((flags & (PI_MAP_READ | PI_MAP_WRITE)) == PI_MAP_READ &&
        (flags & PI_MAP_WRITE_DISCARD) == 0) {
        return Access::read;
    }
    return (flags & (PI_MAP_READ | PI_MAP_WRITE)) != 0 ? Access::read_write : Access::discard_write;
}

} // namespace

/// A map that was not undone yet.
struct Memory::Map {
    void *address = nullptr;
    void *slot = nullptr;      // the plugin writes the address here
    Acquisition acquisition{}; // of a storage
    bool ending = false;       // an unmap is being enqueued
};

Memory::~Memory() = default;

std::shared_ptr<Memory> Memory::create(std::shared_ptr<Context> context,
                                       const Descriptor &descriptor) {
    const std::shared_ptr<Memory> memory(new Memory);
    memory->context_ = std::move(context);
    memory->size_ = descriptor.size;
    memory->flags_ = descriptor.flags;
    if (!memory->context_->uses_storages()) {
        memory->device_ = memory->context_->devices().front();
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.flags = descriptor.flags;
        desc.size = descriptor.size;
        desc.host_ptr = descriptor.host_ptr;
        check(piMemBufferCreate(memory->context_->parts().front().context.get(), memory->device_,
                                &desc, memory->mem_.out()),
              "piMemBufferCreate");
        return memory;
    }
    StorageDescriptor desc;
    desc.size = descriptor.size;
    if ((descriptor.flags & PI_MEM_USE_HOST_PTR) != 0) {
        desc.host_memory = descriptor.host_ptr;
    } else if (descriptor.size != 0) {
        const auto bytes = host_memory(descriptor.size);
        desc.host_memory = bytes.get();
        desc.owner = bytes;
        desc.host_memory_valid = (descriptor.flags & PI_MEM_COPY_HOST_PTR) != 0;
        if (desc.host_memory_valid) {
            std::memcpy(bytes.get(), descriptor.host_ptr, descriptor.size);
        }
    }
    memory->host_bytes_ = static_cast<std::byte *>(desc.host_memory);
    memory->storage_.emplace(memory->context_->runtime(), std::move(desc));
    return memory;
}

std::shared_ptr<Memory> Memory::adopt(std::shared_ptr<Context> context, pi_device device,
                                      runtime::Mem mem) {
    const std::shared_ptr<Memory> memory(new Memory);
    memory->context_ = std::move(context);
    memory->device_ = device;
    memory->size_ = mem_info<uint64_t>(mem.get(), PI_MEM_INFO_SIZE);
    memory->flags_ = mem_info<uint64_t>(mem.get(), PI_MEM_INFO_FLAGS);
    memory->mem_ = std::move(mem);
    return memory;
}

std::shared_ptr<Memory> Memory::view(uint64_t offset, uint64_t size, uint64_t flags) const {
    const std::shared_ptr<Memory> memory(new Memory);
    memory->context_ = context_;
    memory->flags_ = flags != 0 ? flags : flags_;
    memory->size_ = size;
    if (storage_) {
        storage_->buffer(offset_ + offset, size); // checks the range
        for (const pi_device device : context_->devices()) {
            const uint64_t alignment = offset_alignment(device);
            if (offset % alignment != 0) {
                throw Error(PI_ERROR_MISALIGNED_OFFSET,
                            "offset " + std::to_string(offset) +
                                " of a buffer's part: not a "
                                "multiple of " +
                                std::to_string(alignment) + ", as " +
                                device_text(device, PI_DEVICE_INFO_NAME) + " needs it");
            }
        }
        memory->storage_ = storage_;
        memory->host_bytes_ = host_bytes_;
    } else {
        auto desc = pi::desc<pi_mem_partition_desc>();
        desc.flags = flags;
        desc.offset = offset;
        desc.size = size;
        check(piMemBufferPartition(mem_.get(), &desc, memory->mem_.out()), "piMemBufferPartition");
        memory->device_ = device_;
    }
    memory->offset_ = offset_ + offset;
    memory->root_ = root_ != nullptr ? root_ : shared_from_this();
    return memory;
}

Buffer Memory::buffer(uint64_t offset, uint64_t size) const {
    return storage_->buffer(offset_ + offset, size);
}

pi_mem Memory::held_at(pi_device device) {
    if (!storage_) {
        return mem_.get();
    }
    const std::lock_guard lock(mutex_);
    const PlaceIndex place = context_->place_of(device);
    if (!held_.held() || held_.place() != place) {
        held_ = {};
        held_ = buffer(0, size_).acquire(place, Access::read_write);
        held_.wait();
    }
    return held_.mem();
}

void *Memory::map(Command &command, uint64_t flags, uint64_t offset, uint64_t size,
                  Event &out_event) {
    command.check_reachable(*this);
    auto map = std::make_unique<Map>();
    if (!storage_) {
        auto desc = pi::desc<pi_buffer_map_desc>();
        desc.flags = flags;
        desc.mem = mem_.get();
        desc.offset = offset;
        desc.size = size;
        desc.out_pointer = &map->slot;
        out_event = command.enqueue("piEnqueueMemBufferMap", piEnqueueMemBufferMap, desc, true);
        if (map->slot == nullptr) {
            // The plugin deferred the command: nobody else knows the address.
            out_event.wait();
        }
        map->address = map->slot;
    } else {
        map->acquisition = buffer(offset, size).acquire(host_place, access_of_map(flags));
        const Part &part = command.queue().part();
        runtime::Event ready;
        check(piEventCreateHost(part.context.get(), nullptr, ready.out()), "piEventCreateHost");
        map->acquisition.on_ready([ready](pi_result result, const std::string &) {
            piEventSignalHost(ready.get(), result);
        });
        command.wait_for(ready);
        auto desc = pi::desc<pi_events_wait_desc>();
        desc.flags = flags & PI_COMMAND_BLOCKING;
        out_event = command.enqueue("piEnqueueEventsWait", piEnqueueEventsWait, desc, true);
        map->address = host_bytes_ + offset_ + offset;
    }
    const std::lock_guard lock(mutex_);
    void *address = map->address;
    maps_.push_back(std::move(map));
    return address;
}

void Memory::unmap(Command &command, void *address, Event &out_event) {
    Map *map = nullptr;
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(maps_.rbegin(), maps_.rend(), [address](const auto &each) {
            return each->address == address && !each->ending;
        });
        if (found == maps_.rend()) {
            throw Error(PI_ERROR_INVALID_VALUE, "unmap: no map of this memory has the address");
        }
        map = found->get();
        map->ending = true;
    }
    try {
        if (!storage_) {
            auto desc = pi::desc<pi_unmap_desc>();
            desc.mem = mem_.get();
            desc.pointer = address;
            out_event = command.enqueue("piEnqueueMemUnmap", piEnqueueMemUnmap, desc, true);
        } else {
            out_event = command.enqueue<pi_events_wait_desc>("piEnqueueEventsWait",
                                                             piEnqueueEventsWait, nullptr, true);
            map->acquisition.release(out_event.get());
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        map->ending = false;
        throw;
    }
    const std::lock_guard lock(mutex_);
    std::erase_if(maps_, [map](const auto &each) { return each.get() == map; });
}

} // namespace pi::runtime::facade
