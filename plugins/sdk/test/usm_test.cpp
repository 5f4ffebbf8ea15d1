// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools and tables of USM on a backend that counts its bytes and aligns them as requested.
#include <pi/sdk/usm_table.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace pi::sdk;

namespace {

/// A backend's live allocations.
struct Backend {
    uint64_t bytes = 0, count = 0, last = 0, capacity = UINT64_MAX;
};

class Memory {
public:
    Memory(Backend &backend, uint64_t size, uint64_t alignment) : backend_(&backend), size_(size) {
        if (size > backend.capacity - backend.bytes)
            fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, "the backend is full");
        data_ = static_cast<std::byte *>(std::aligned_alloc(alignment, align_up(size, alignment)));
        backend.bytes += size;
        backend.last = size;
        ++backend.count;
    }
    Memory(Memory &&other) noexcept
        : backend_(other.backend_), size_(other.size_), data_(std::exchange(other.data_, nullptr)) {
    }
    ~Memory() {
        if (!data_)
            return;
        backend_->bytes -= size_;
        std::free(data_);
    }
    std::byte *data() const { return data_; }

private:
    Backend *backend_;
    uint64_t size_;
    std::byte *data_ = nullptr;
};

using Pool = UsmPoolMemory<Memory>;

std::shared_ptr<Pool> make_pool(Backend &backend, uint64_t threshold, uint64_t limit = 0,
                                uint64_t max_alignment = 4096) {
    return std::make_shared<Pool>(
        [&backend](uint64_t bytes, uint64_t alignment) {
            return Memory(backend, bytes, alignment);
        },
        UsmPoolLimits{threshold, limit, 64, max_alignment});
}

template <class Body>
pi_result code_of(Body &&body) {
    try {
        body();
        return PI_SUCCESS;
    } catch (const Error &error) {
        CHECK_FALSE(error.text().empty());
        return error.code();
    }
}

const int contexts[2] = {}; // only their addresses matter

UsmAllocation<Memory> allocation(Backend &backend, uint64_t size, const void *context = contexts,
                                 pi_usm_kind kind = PI_USM_DEVICE) {
    return {UsmBlock<Memory>(Memory(backend, size, 64)), size, kind, nullptr, context};
}

} // namespace

TEST_CASE("addresses have their alignment, and ranges end within the address space") {
    CHECK(alignment_of(reinterpret_cast<void *>(0x1000), 64) == 64);
    CHECK(alignment_of(reinterpret_cast<void *>(0x1010), 64) == 16);
    CHECK(alignment_of(reinterpret_cast<void *>(0x1001), 64) == 1);
    CHECK(alignment_of(nullptr, 64) == 64);
    CHECK(align_up(0, 64) == 0);
    CHECK(align_up(1, 64) == 64);
    CHECK(align_up(64, 64) == 64);
    const auto *last = reinterpret_cast<const void *>(UINTPTR_MAX - 10);
    CHECK_NOTHROW(check_pointer_range(last, 4, 6));
    CHECK(code_of([&] { check_pointer_range(last, 4, 7); }) == PI_ERROR_INVALID_SIZE);
    CHECK(code_of([&] { check_pointer_range(last, 11, 0); }) == PI_ERROR_INVALID_SIZE);
}

TEST_CASE("a pool reuses a block that fits, and none that is too large or not aligned enough") {
    Backend backend;
    const auto pool = make_pool(backend, 1 << 20);
    std::byte *first = nullptr;
    {
        const auto block = pool->take(1000, 64);
        first = block.data();
        CHECK(pool->used() == 1000);
        CHECK(pool->reserved() == 1024);
        CHECK(block.home() == pool);
    }
    CHECK(pool->used() == 0);
    CHECK(pool->reserved() == 1024);
    CHECK(backend.bytes == 1024);
    {
        const auto again = pool->take(600, 64);
        CHECK(again.data() == first);
        CHECK(pool->used() == 600);
        CHECK(backend.count == 1);
        const auto another = pool->take(600, 64);
        CHECK(backend.count == 2);
    }
    {
        const auto small = pool->take(100, 64); // most of 640 or 1024 bytes would be unused
        CHECK(backend.count == 3);
        const auto aligned = pool->take(1024, 4096);
        CHECK(alignment_of(aligned.data(), 4096) == 4096);
    }
    pool->close();
    CHECK(backend.bytes == 0);
    CHECK(pool->reserved() == 0);
}

TEST_CASE("a pool keeps up to its threshold, and frees what was kept longest first") {
    Backend backend;
    const auto pool = make_pool(backend, 2048);
    {
        auto a = std::make_unique<UsmBlock<Memory>>(pool->take(1024, 64));
        auto b = std::make_unique<UsmBlock<Memory>>(pool->take(960, 64));
        auto c = std::make_unique<UsmBlock<Memory>>(pool->take(896, 64));
        auto large = std::make_unique<UsmBlock<Memory>>(pool->take(4096, 64));
        std::byte *const of_b = b->data();
        a.reset();
        b.reset();
        large.reset(); // larger than everything that is kept
        CHECK(pool->reserved() == 1024 + 960 + 896);
        c.reset();
        CHECK(pool->reserved() == 960 + 896);
        CHECK(backend.bytes == 960 + 896);
        CHECK(pool->take(950, 64).data() == of_b);
    }
    const auto last = pool->take(64, 64);
    pool->close();
    CHECK(backend.bytes == 64);
    CHECK(pool->used() == 64);
}

TEST_CASE("a pool allocates up to its limit, and frees blocks before the backend runs out") {
    Backend backend;
    const auto pool = make_pool(backend, 1 << 20, 1000);
    {
        const auto most = pool->take(900, 64);
        CHECK(code_of([&] { pool->take(101, 64); }) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
        CHECK(code_of([&] { pool->take(UINT64_MAX, 64); }) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
        const auto rest = pool->take(100, 64);
        CHECK(pool->used() == 1000);
    }
    backend.capacity = 1300;
    const auto block = pool->take(320, 64); // neither 960 nor 128 bytes fit, and both are freed
    CHECK(backend.bytes == 320);
    CHECK(pool->reserved() == 320);
    backend.capacity = backend.bytes;
    CHECK(code_of([&] { pool->take(320, 64); }) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(pool->used() == 320);
}

TEST_CASE("a table finds the allocation around an address") {
    Backend backend;
    UsmTable<Memory> table;
    auto *const begin = static_cast<std::byte *>(table.add(allocation(backend, 100)));
    for (const uint64_t offset : {0, 1, 99}) {
        const auto range = table.find(begin + offset);
        REQUIRE(range);
        CHECK(range->base == begin);
        CHECK(range->offset_of(begin + offset) == offset);
        CHECK(range->left(begin + offset) == 100 - offset);
        CHECK_FALSE(range->pool);
    }
    CHECK_FALSE(table.find(begin - 1));
    CHECK_FALSE(table.find(begin + 100));
    CHECK(code_of([&] { table.get(begin + 100, "src"); }) == PI_ERROR_INVALID_USM_POINTER);
    table.drop(contexts);
    CHECK_FALSE(table.find(begin));
    CHECK(backend.bytes == 0);
}

TEST_CASE(
    "an allocation is freed by its start, in its context, and not while a command is going to") {
    Backend backend;
    UsmTable<Memory> table;
    auto *const begin = static_cast<std::byte *>(table.add(allocation(backend, 100)));
    constexpr pi_result invalid = PI_ERROR_INVALID_USM_POINTER;
    CHECK(code_of([&] { table.free(contexts, begin + 1); }) == invalid);
    CHECK(code_of([&] { table.free(contexts + 1, begin); }) == invalid);
    CHECK(code_of([&] { table.promise_free(contexts + 1, begin); }) == invalid);
    table.promise_free(contexts, begin);
    CHECK(table.find(begin));
    CHECK(code_of([&] { table.free(contexts, begin); }) == invalid);
    CHECK(code_of([&] { table.promise_free(contexts, begin); }) == invalid);
    table.withdraw_free(begin);
    table.promise_free(contexts, begin);
    table.fulfil_free(begin);
    CHECK_FALSE(table.find(begin));
    CHECK(backend.bytes == 0);
    CHECK(code_of([&] { table.free(contexts, begin); }) == invalid);
}

TEST_CASE("a table lists the addresses of a context's kinds, and none of them is freed meanwhile") {
    Backend backend;
    UsmTable<Memory> table;
    void *const host = table.add(allocation(backend, 8, contexts, PI_USM_HOST));
    void *const device = table.add(allocation(backend, 8, contexts, PI_USM_DEVICE));
    table.add(allocation(backend, 8, contexts + 1, PI_USM_HOST));
    const auto listed = [&](uint32_t kinds) {
        std::vector<void *> found;
        table.with_addresses(contexts, [&](const auto &list) { found = list(kinds); });
        return found;
    };
    CHECK(listed(0).empty());
    CHECK(listed(1u << PI_USM_SHARED).empty());
    CHECK(listed(1u << PI_USM_HOST) == std::vector{host});
    CHECK(listed(1u << PI_USM_DEVICE) == std::vector{device});
    CHECK(listed(1u << PI_USM_HOST | 1u << PI_USM_DEVICE).size() == 2);
    std::thread freeing;
    table.with_addresses(contexts, [&](const auto &) {
        freeing = std::thread([&] { table.free(contexts, host); });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        CHECK(backend.bytes == 24);
    });
    freeing.join();
    CHECK(backend.bytes == 16);
    table.drop(contexts);
    table.drop(contexts + 1);
}

TEST_CASE("growing requests leave few blocks, at most an eighth of which is unused") {
    Backend backend;
    const auto pool = make_pool(backend, uint64_t{8} << 30);
    constexpr uint64_t step = 64 << 10;
    for (uint64_t count = 1; count <= 512; ++count) {
        const auto block = pool->take(count * step, 64);
        CHECK(backend.last <= count * step + count * step / 8);
    }
    CHECK(backend.count <= 16 + 8 * 5); // to 16 steps, and eight sizes up to 32, 64, ... 512
    CHECK(pool->reserved() == backend.bytes);
    CHECK(pool->used() == 0);
    CHECK(backend.bytes <= uint64_t{512} << 20);
}

TEST_CASE("freed blocks between kept ones are reused, and all are freed before memory runs out") {
    constexpr size_t holes = 65536;
    Backend backend;
    UsmPools<Memory> pools;
    const int memory = 0;
    const auto pool = make_pool(backend, uint64_t{1} << 30, 0, 64);
    pools.add(&memory, pool);
    std::vector<UsmBlock<Memory>> kept, freed;
    const auto take = [&](size_t index) { return pool->take(64 * (1 + index % 8), 64); };
    for (size_t index = 0; index < holes; ++index) {
        kept.push_back(take(index));
        freed.push_back(take(index));
    }
    CHECK(backend.count == 2 * holes);
    const uint64_t all = backend.bytes;
    for (int round = 0; round < 2; ++round) {
        CHECK(pool->reserved() == all);
        freed.clear();
        CHECK(pool->used() == all / 2);
        CHECK(pool->reserved() == all);
        for (size_t index = holes; round == 0 && index-- > 0;)
            freed.push_back(take(index));
    }
    CHECK(backend.count == 2 * holes);
    backend.capacity = all;
    SECTION("of the pool") {
        const auto large = pool->take(all / 2, 64);
        CHECK(backend.count == 2 * holes + 1);
        CHECK(pool->reserved() == all);
    }
    SECTION("outside of pools") {
        const Memory large = pools.with_room(&memory, [&] { return Memory(backend, all / 2, 64); });
        CHECK(pool->reserved() == all / 2);
        CHECK(pool->used() == all / 2);
    }
}

TEST_CASE("a size that pools round up does not refuse smaller requests") {
    Backend backend;
    backend.capacity = 1100 << 10;
    const auto pool = make_pool(backend, 1 << 30);
    const auto block = pool->take(1090 << 10, 64); // 1152 KiB do not fit
    CHECK(backend.bytes == 1090 << 10);
    const auto small = make_pool(backend, 1090 << 10);
    backend.capacity = UINT64_MAX;
    std::byte *first = nullptr;
    {
        const auto kept = small->take(1090 << 10, 64); // 1152 KiB would not be kept
        first = kept.data();
    }
    CHECK(small->take(1090 << 10, 64).data() == first);
}

TEST_CASE("pools of one memory free their kept blocks before an allocation fails") {
    Backend backend;
    backend.capacity = 4096;
    UsmPools<Memory> pools;
    const int memory = 0, other_memory = 0;
    const auto a = make_pool(backend, 1 << 20), b = make_pool(backend, 1 << 20),
               other = make_pool(backend, 1 << 20);
    pools.add(&memory, a);
    pools.add(&memory, b);
    pools.add(&other_memory, other);
    for (const auto &pool : {a, b, other})
        pool->take(1024, 64);
    CHECK(backend.bytes == 3072);
    const auto allocate = [&](uint64_t size) {
        return pools.with_room(&memory, [&] { return Memory(backend, size, 64); });
    };
    {
        const Memory all = allocate(3072);
        CHECK(a->reserved() == 0);
        CHECK(b->reserved() == 0);
        CHECK(other->reserved() == 1024);
        CHECK(code_of([&] { allocate(64); }) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    const auto other_failure = [&] {
        pools.with_room(&memory, []() -> Memory { fail(PI_ERROR_BACKEND, "broken"); });
    };
    a->take(1024, 64);
    CHECK(code_of(other_failure) == PI_ERROR_BACKEND);
    CHECK(a->reserved() == 1024);
}
