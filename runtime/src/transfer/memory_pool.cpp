// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/memory_pool.hpp"

#include "base/same_device.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

#include <bit>
#include <utility>

namespace pi::runtime {
namespace {

/// A block may be larger than the request by an eighth.
uint64_t largest_that_fits(uint64_t size) {
    return size + size / 8;
}

/// Large blocks have eight sizes per power of two, so that growing requests find earlier blocks.
uint64_t size_class(uint64_t size) {
    constexpr uint64_t smallest = uint64_t{1} << 20, largest = uint64_t{1} << 62;
    if (size < smallest || size > largest) {
        return size;
    }
    const uint64_t step = std::bit_floor(size) / 8;
    return (size + step - 1) / step * step;
}

} // namespace

PooledMemory &PooledMemory::operator=(PooledMemory &&other) noexcept {
    if (this != &other) {
        if (pool_ != nullptr) {
            pool_->recycle(*this, true);
        }
        pool_ = std::move(other.pool_);
        kind_ = std::move(other.kind_);
        size_ = other.size_;
        mem_ = std::move(other.mem_);
    }
    return *this;
}

PooledMemory::~PooledMemory() {
    if (pool_ != nullptr) {
        pool_->recycle(*this, true);
    }
}

void PooledMemory::drop() noexcept {
    if (pool_ != nullptr) {
        std::exchange(pool_, nullptr)->recycle(*this, false);
    }
}

MemoryPool::MemoryPool(std::shared_ptr<const Topology> topology, uint64_t limit)
    : topology_(std::move(topology)), limit_(limit), device_of_(devices_of(*topology_)),
      places_(topology_->size()) {}

bool MemoryPool::is_pooled(const MemoryKind &kind) const {
    return (topology_->info(kind.place).scopes.at(kind.scope).flags & PI_SCOPE_POOLABLE) != 0;
}

uint64_t MemoryPool::block_size(const MemoryKind &kind, uint64_t size) const {
    const pi_memory_scope &scope = topology_->info(kind.place).scopes.at(kind.scope);
    const uint64_t rounded = size_class(size);
    const auto within = [rounded](uint64_t limit) { return limit == 0 || rounded <= limit; };
    const bool keeps = is_pooled(kind) && kind.layout.is_dense() && rounded <= limit_;
    return keeps && within(scope.capacity) && within(scope.max_allocation) ? rounded : size;
}

Mem MemoryPool::find(const MemoryKind &kind, uint64_t size, uint64_t &found_size) {
    PlacePool &pool = places_[kind.place];
    const auto found = pool.blocks.lower_bound({kind, {size, 0}});
    if (found == pool.blocks.end() || found->first.first != kind ||
        found->second.size > largest_that_fits(size)) {
        return {};
    }
    found_size = found->second.size;
    Mem mem = std::move(found->second.mem);
    pool.by_age.erase(found->first.second.second);
    pool.blocks.erase(found);
    pool.statistics.bytes_kept -= found_size;
    --pool.statistics.blocks_kept;
    ++pool.statistics.hits;
    return mem;
}

Mem MemoryPool::create(const MemoryKind &kind, uint64_t size) const {
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.flags = kind.flags;
    desc.size = size;
    desc.alignment = kind.alignment;
    desc.scope = kind.scope;
    pi_mem_layout_desc layout{};
    if (!kind.layout.is_dense()) {
        const std::vector<uint32_t> &separators = kind.layout.axis_separators;
        layout.struct_size = sizeof layout;
        layout.type = PI_TYPE_MEM_LAYOUT_DESC;
        layout.rank = static_cast<uint32_t>(kind.layout.extents.size());
        layout.element_size = kind.layout.element_size;
        layout.extents = kind.layout.extents.data();
        layout.axis_separator_count = static_cast<uint32_t>(separators.size());
        layout.axis_separators = separators.empty() ? nullptr : separators.data();
        desc.next = &layout;
    }
    Mem mem;
    check(piMemBufferCreate(topology_->context(kind.place), topology_->device(kind.place), &desc,
                            mem.out()),
          "piMemBufferCreate");
    return mem;
}

PooledMemory MemoryPool::take(const MemoryKind &kind, uint64_t size) {
    PooledMemory memory;
    memory.kind_ = kind;
    memory.size_ = size;
    const bool pooled = is_pooled(kind);
    {
        const std::lock_guard lock(mutex_);
        memory.mem_ = find(kind, size, memory.size_);
    }
    if (!memory.mem_) {
        memory.size_ = block_size(kind, size);
        try {
            memory.mem_ = create(kind, memory.size_);
        } catch (const Error &error) {
            if (error.code() != PI_ERROR_OUT_OF_DEVICE_MEMORY ||
                (!trim_device(kind.place) && memory.size_ == size)) {
                throw;
            }
            memory.size_ = size;
            memory.mem_ = create(kind, size);
        }
        const std::lock_guard lock(mutex_);
        ++places_[kind.place].statistics.misses;
        places_[kind.place].statistics.unpooled += pooled ? 0 : 1;
    }
    {
        const std::lock_guard lock(mutex_);
        places_[kind.place].statistics.bytes_in_use += memory.size_;
    }
    memory.pool_ = shared_from_this();
    return memory;
}

MemoryPool::Blocks MemoryPool::remove_oldest(PlacePool &pool, uint64_t bytes_to_keep) noexcept {
    Blocks dropped; // nodes are moved, so that this allocates nothing
    while (pool.statistics.bytes_kept > bytes_to_keep) {
        const auto oldest = pool.by_age.begin();
        pool.statistics.bytes_kept -= oldest->second->second.size;
        --pool.statistics.blocks_kept;
        ++pool.statistics.dropped;
        dropped.insert(pool.blocks.extract(oldest->second));
        pool.by_age.erase(oldest);
    }
    return dropped;
}

/// Calls the plugin without the lock. Until that is over no thread may conclude that memory is out.
template <class Dropped>
void MemoryPool::release(PlaceIndex place, Dropped dropped,
                         std::unique_lock<std::mutex> lock) noexcept {
    PlacePool &pool = places_[place];
    ++pool.releases_under_way;
    lock.unlock();
    std::exchange(dropped, {});
    lock.lock();
    --pool.releases_under_way;
    count_freed(place);
    released_.notify_all();
}

bool MemoryPool::trim_device(PlaceIndex place) {
    bool any = false;
    const std::vector<PlaceIndex> places = places_of_device(*topology_, place);
    for (const PlaceIndex other : places) {
        any = statistics(other).bytes_kept != 0 || any;
        trim(other, 0);
    }
    std::unique_lock lock(mutex_);
    for (const PlaceIndex other : places) {
        any = places_[other].releases_under_way != 0 || any;
        released_.wait(lock, [&] { return places_[other].releases_under_way == 0; });
    }
    return any;
}

void MemoryPool::trim(PlaceIndex place, uint64_t bytes_to_keep) {
    std::unique_lock lock(mutex_);
    Blocks dropped = remove_oldest(places_.at(place), bytes_to_keep);
    if (!dropped.empty()) {
        release(place, std::move(dropped), std::move(lock));
    }
}

PoolStatistics MemoryPool::statistics(PlaceIndex place) const {
    const std::lock_guard lock(mutex_);
    return places_.at(place).statistics;
}

void MemoryPool::recycle(PooledMemory &memory, bool keep) noexcept {
    std::unique_lock lock(mutex_);
    PlacePool &pool = places_[memory.kind_.place];
    pool.statistics.bytes_in_use -= memory.size_;
    if (!keep || memory.size_ > limit_ || !is_pooled(memory.kind_) || !insert(pool, memory)) {
        ++pool.statistics.dropped;
        release(memory.kind_.place, std::move(memory.mem_), std::move(lock));
        return;
    }
    count_freed(memory.kind_.place);
    Blocks dropped = remove_oldest(pool, limit_);
    if (!dropped.empty()) {
        release(memory.kind_.place, std::move(dropped), std::move(lock));
    }
}

/// False without memory for the entry.
bool MemoryPool::insert(PlacePool &pool, PooledMemory &memory) noexcept {
    const uint64_t serial = next_++;
    try {
        // Moved where nothing can fail any more: a copy would be a retain, which a plugin may
        // refuse.
        Blocks::iterator &block = pool.by_age[serial];
        block = pool.blocks.try_emplace({memory.kind_, {memory.size_, serial}}).first;
        block->second = {memory.size_, std::move(memory.mem_)};
    } catch (const std::bad_alloc &) {
        pool.by_age.erase(serial);
        return false;
    }
    pool.statistics.bytes_kept += memory.size_;
    ++pool.statistics.blocks_kept;
    return true;
}

} // namespace pi::runtime
