// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/device_query.hpp"
#include "facade/keep_until.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/facade.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

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
        throw Error(PI_ERROR_OUT_OF_HOST_MEMORY,
                    "size is " + std::to_string(size) + " bytes; the host has less memory");
    }
    return {static_cast<std::byte *>(memory), [](std::byte *pointer) { std::free(pointer); }};
}

template <class T>
T mem_info(pi_mem mem, pi_mem_info name) {
    T value{};
    check(piMemGetInfo(mem, name, sizeof value, &value, nullptr), "piMemGetInfo");
    return value;
}

/// The acquired bytes as an object of their own, since a native handle has no offset.
runtime::Mem range_in(const Acquisition &acquisition, uint64_t size) {
    const pi_mem replica = acquisition.mem();
    if (acquisition.offset() == 0 && mem_info<uint64_t>(replica, PI_MEM_INFO_SIZE) == size) {
        return runtime::Mem::share(replica);
    }
    auto desc = pi::desc<pi_mem_partition_desc>();
    desc.offset = acquisition.offset();
    desc.size = size;
    runtime::Mem part;
    check(piMemBufferPartition(replica, &desc, part.out()), "piMemBufferPartition");
    return part;
}

Access access_of_map(uint64_t flags) {
    if ((flags & (PI_MAP_READ | PI_MAP_WRITE | PI_MAP_WRITE_DISCARD)) == 0) {
        throw Error(PI_ERROR_INVALID_VALUE, "a map needs READ, WRITE or WRITE_DISCARD");
    }
    if ((flags & (PI_MAP_READ | PI_MAP_WRITE)) == PI_MAP_READ &&
        (flags & PI_MAP_WRITE_DISCARD) == 0) {
        return Access::read;
    }
    return (flags & (PI_MAP_READ | PI_MAP_WRITE)) != 0 ? Access::read_write : Access::discard_write;
}

/// As piMemBufferCreate does.
void check_host_pointer(const Memory::Descriptor &descriptor) {
    const uint64_t uses = descriptor.flags & (PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR);
    if (uses == (PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR)) {
        throw Error(PI_ERROR_INVALID_VALUE,
                    "a buffer's flags have both COPY_HOST_PTR and USE_HOST_PTR");
    }
    if (uses != 0 && descriptor.host_ptr == nullptr) {
        throw Error(PI_ERROR_INVALID_NULL_POINTER,
                    "a buffer's flags need a host pointer, which is NULL");
    }
}

} // namespace

/// A map that was not undone yet.
struct Memory::Map {
    void *address = nullptr;
    void *slot = nullptr;      // the plugin writes the address here
    Acquisition acquisition{}; // of a storage
    bool ending = false;       // an unmap is being enqueued
};

/// Bytes of a storage whose native handle somebody has.
struct Memory::Hold {
    PlaceIndex place = host_place;
    uint64_t begin = 0, end = 0; // in the storage
    pi_mem replica = nullptr;    // compared only
    runtime::Mem mem{};          // the range in it
    Acquisition acquisition{};   // released once a command uses bytes of the range
    bool arriving = false;       // held_at() waits for the bytes
    bool ended = false;          // a command used the range meanwhile

    bool overlaps(uint64_t from, uint64_t to) const { return from < end && begin < to; }
};

Memory::~Memory() {
    try {
        end_holds(0, UINT64_MAX);
    } catch (const std::exception &) {
        // The acquisition's destructor ends the use.
    }
}

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
    check_host_pointer(descriptor);
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
        buffer(offset, size); // checks the range
        const Topology &topology = context_->runtime().topology();
        for (const pi_device device : context_->devices()) {
            const PlaceInfo &place = topology.info(context_->place_of(device));
            const uint64_t alignment = std::max<uint64_t>(place.scopes.at(0).offset_alignment, 1);
            if (offset % alignment != 0) {
                throw Error(PI_ERROR_MISALIGNED_OFFSET,
                            "offset " + std::to_string(offset) +
                                " of a buffer's part: not a multiple of " +
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

void Memory::check_range(uint64_t offset, uint64_t size) const {
    if (offset > size_ || size > size_ - offset) {
        throw Error(PI_ERROR_INVALID_SIZE, "bytes [" + std::to_string(offset) + ", " +
                                               std::to_string(offset) + " + " +
                                               std::to_string(size) + ") are past the end of " +
                                               std::to_string(size_) + " bytes");
    }
}

Buffer Memory::buffer(uint64_t offset, uint64_t size) const {
    check_range(offset, size);
    return storage_->buffer(offset_ + offset, size);
}

void Memory::release_held(const Event &event) const {
    if (storage_) {
        root().end_holds(offset_, offset_ + size_, event.get());
    }
}

void Memory::end_holds(uint64_t begin, uint64_t end, pi_event event) const {
    const std::lock_guard lock(mutex_);
    for (const auto &hold : holds_) {
        if (!hold->overlaps(begin, end)) {
            continue;
        }
        if (hold->arriving) {
            hold->ended = true;
        } else if (hold->acquisition.held()) {
            hold->acquisition.release(event);
        }
    }
}

pi_mem Memory::held_at(pi_device device) {
    if (!storage_) {
        return mem_.get();
    }
    const Memory &owner = root();
    // Commands need mutex_ only, which is free while the acquire waits for them.
    const std::lock_guard one_at_a_time(owner.hold_mutex_);
    const PlaceIndex place = context_->place_of(device);
    const uint64_t end = offset_ + size_;
    const auto find = [&] {
        return std::find_if(owner.holds_.begin(), owner.holds_.end(), [&](const auto &hold) {
            return hold->place == place && hold->begin == offset_ && hold->end == end;
        });
    };
    {
        const std::lock_guard lock(owner.mutex_);
        if (const auto found = find();
            found != owner.holds_.end() && (*found)->acquisition.held()) {
            return (*found)->mem.get();
        }
    }
    Hold *hold = nullptr;
    Acquisition acquisition;
    {
        // A command comes before the acquire, or finds the hold.
        const std::lock_guard order(context_->order_mutex_);
        owner.end_holds(offset_, end);
        acquisition = buffer(0, size_).acquire(place, Access::read_write);
        const std::lock_guard lock(owner.mutex_);
        auto found = find();
        if (found == owner.holds_.end()) {
            found = owner.holds_.insert(found, std::make_unique<Hold>());
            (*found)->place = place;
            (*found)->begin = offset_;
            (*found)->end = end;
        }
        hold = found->get();
        hold->ended = false;
        hold->arriving = true;
    }
    try {
        acquisition.wait();
    } catch (...) {
        const std::lock_guard lock(owner.mutex_);
        hold->arriving = false;
        throw;
    }
    const std::lock_guard lock(owner.mutex_);
    hold->arriving = false;
    if (hold->replica != acquisition.mem()) {
        hold->mem = range_in(acquisition, size_);
        hold->replica = acquisition.mem();
    }
    if (hold->ended) {
        acquisition.release();
    } else {
        hold->acquisition = std::move(acquisition);
    }
    return hold->mem.get();
}

void *Memory::map(Command &command, uint64_t flags, uint64_t offset, uint64_t size,
                  Event &out_event) {
    command.check_reachable(*this);
    const auto map = std::make_shared<Map>();
    if (!storage_) {
        auto desc = pi::desc<pi_buffer_map_desc>();
        desc.flags = flags;
        desc.mem = mem_.get();
        desc.offset = offset;
        desc.size = size;
        desc.out_pointer = &map->slot;
        out_event = command.enqueue("piEnqueueMemBufferMap", piEnqueueMemBufferMap, desc, true);
        if (map->slot == nullptr) {
            // The plugin deferred the command, and writes the address later: nobody else knows it.
            keep_until(out_event, map);
            out_event.wait();
        }
        map->address = map->slot;
    } else {
        const Buffer range = buffer(offset, size); // checks it
        // As for a command's acquires.
        std::unique_lock order(context_->order_mutex_);
        root().end_holds(offset_ + offset, offset_ + offset + size);
        map->acquisition = range.acquire(host_place, access_of_map(flags));
        const Part &part = command.queue().part();
        runtime::Event ready;
        check(piEventCreateHost(part.context.get(), nullptr, ready.out()), "piEventCreateHost");
        map->acquisition.on_ready([ready](pi_result result, const std::string &) {
            piEventSignalHost(ready.get(), result);
        });
        command.wait_for(ready);
        out_event = command.enqueue<pi_events_wait_desc>("piEnqueueEventsWait", piEnqueueEventsWait,
                                                         nullptr, true);
        order.unlock();
        if ((flags & PI_COMMAND_BLOCKING) != 0) {
            out_event.wait();
        }
        map->address = host_bytes_ + offset_ + offset;
    }
    const std::lock_guard lock(mutex_);
    void *address = map->address;
    maps_.push_back(map);
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
