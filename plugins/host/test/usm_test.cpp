// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// USM of the host plugin: pools that reuse blocks, locked pages. The conformance suite and its
// cases test what all plugins share.
#include "fixture.hpp"

#include "growing_pool.hpp"
#include "skip.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>

using namespace pi_test;

namespace {

pi_usm_desc usm_desc(pi_usm_kind kind, uint64_t size) {
    auto d = pi::desc<pi_usm_desc>();
    d.kind = kind;
    d.size = size;
    return d;
}

void *allocate(const Host &host, const pi_usm_desc &d) {
    void *pointer = nullptr;
    OK(piUsmAlloc(host.context, host.device, &d, &pointer));
    return pointer;
}

Owned<pi_usm_pool> make_pool(const Host &host) {
    auto d = pi::desc<pi_usm_pool_desc>();
    d.kind = PI_USM_DEVICE;
    Owned<pi_usm_pool> pool;
    OK(piUsmPoolCreate(host.context, host.device, &d, pool.out()));
    return pool;
}

pi_usm_desc from_pool(pi_usm_pool pool, uint64_t size, uint64_t alignment = 0) {
    pi_usm_desc d = usm_desc(PI_USM_DEVICE, size);
    d.pool = pool;
    d.alignment = alignment;
    return d;
}

uint64_t reserved(pi_usm_pool pool) {
    return info<uint64_t>(piUsmPoolGetInfo, pool, PI_USM_POOL_INFO_RESERVED);
}

pi_usm_pool pool_of(const Host &host, const void *pointer) {
    pi_usm_pool pool = nullptr;
    OK(piUsmGetInfo(host.context, pointer, PI_USM_INFO_POOL, sizeof pool, &pool, nullptr));
    return pool;
}

} // namespace

TEST_CASE("USM may be pinned where the system allows it, but not in a pool") {
    const Host host;
    pi_usm_desc d = usm_desc(PI_USM_HOST, 4096);
    d.flags = PI_MEM_REQUIRE_PINNED;
    void *pointer = nullptr;
    const pi_result result = piUsmAlloc(host.context, host.device, &d, &pointer);
    if (result == PI_SUCCESS)
        OK(piUsmFree(host.context, pointer));
    else
        CHECK(result == PI_ERROR_UNSUPPORTED_FEATURE);
    const Owned<pi_usm_pool> pool = make_pool(host);
    d = from_pool(pool, 64);
    d.flags = PI_MEM_REQUIRE_PINNED;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "pools have ordinary memory",
            piUsmAlloc(host.context, host.device, &d, &pointer));
    d.flags = 1 << 20;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "unknown bits",
            piUsmAlloc(host.context, host.device, &d, &pointer));
}

TEST_CASE("a pool reuses a freed block if it fits") {
    const Host host;
    const Owned<pi_usm_pool> pool = make_pool(host);
    void *first = allocate(host, from_pool(pool, 10'000, 4096));
    CHECK(pool_of(host, first) == pool);
    const uint64_t taken = reserved(pool);
    CHECK(taken >= 10'000);
    OK(piUsmFree(host.context, first));
    CHECK(reserved(pool) == taken);
    void *again = allocate(host, from_pool(pool, 9'000));
    CHECK(again == first);
    void *small = allocate(host, from_pool(pool, 64));
    CHECK(reserved(pool) == taken + 64);
    OK(piUsmFree(host.context, again));
    // One byte must not get a block of 10,000.
    void *tiny = allocate(host, from_pool(pool, 1));
    CHECK(tiny != first);
    OK(piUsmFree(host.context, small));
    OK(piUsmFree(host.context, tiny));
    CHECK(info<uint64_t>(piUsmPoolGetInfo, pool, PI_USM_POOL_INFO_USED) == 0);
}

TEST_CASE("no later free overtakes a large copy of USM") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    constexpr uint64_t size = 8 << 20;
    std::vector<std::byte> into(size);
    for (int round = 0; round < 5; ++round) {
        void *pointer = allocate(host, usm_desc(PI_USM_DEVICE, size));
        std::memset(pointer, round + 1, size);
        auto copy = pi::desc<pi_usm_copy_desc>();
        const pi_region whole = range(0, 0, size);
        copy.src = pointer;
        copy.dst = into.data();
        copy.region_count = 1;
        copy.regions = &whole;
        OK(piEnqueueUsmCopy(queue, &copy, 0, nullptr, nullptr));
        auto free = pi::desc<pi_usm_free_desc>();
        free.flags = PI_COMMAND_BLOCKING;
        free.pointer = pointer;
        OK(piEnqueueUsmFree(queue, &free, 0, nullptr, nullptr));
        CHECK(into.front() == std::byte(round + 1));
        CHECK(into.back() == std::byte(round + 1));
    }
}

// ----- Pinned application memory -----------------------------------------------------------------

namespace {

/// Bytes that this process has locked; nothing if the system does not report it, or a sanitizer
/// ignores mlock.
std::optional<uint64_t> locked_bytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return std::nullopt;
#else
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "VmLck:") {
            uint64_t kilobytes = 0;
            status >> kilobytes;
            return kilobytes * 1024;
        }
    return std::nullopt;
#endif
}

constexpr uint64_t page = 4096;

struct Pages {
    Pages() : bytes(static_cast<std::byte *>(std::aligned_alloc(page, 8 * page)), std::free) {
        std::memset(bytes.get(), 1, 8 * page);
    }
    std::unique_ptr<std::byte, decltype(&std::free)> bytes;
};

} // namespace

TEST_CASE("pages are locked by the first registration and unlocked with the last") {
    const Host host;
    const Pages pages;
    std::byte *const begin = pages.bytes.get();
    const auto before = locked_bytes();
    if (!before)
        return skip("locked memory cannot be seen");
    if (piUsmHostRegister(host.context, begin, 3 * page, 0) != PI_SUCCESS)
        return skip("the system does not allow locking memory: " + last_error());
    const auto locked = [&] { return (*locked_bytes() - *before) / page; };
    CHECK(locked() == 3);
    OK(piUsmHostRegister(host.context, begin + page + 1, 2 * page, 0)); // pages 1 to 3
    CHECK(locked() == 4);
    OK(piUsmHostRegister(host.context, begin + 6 * page, 1, 0));
    CHECK(locked() == 5);
    OK(piUsmHostRegister(host.context, begin, 8 * page, 0)); // all, a second time by this pointer
    CHECK(locked() == 8);
    OK(piUsmHostUnregister(host.context, begin));
    CHECK(locked() == 5);
    OK(piUsmHostUnregister(host.context, begin));
    CHECK(locked() == 4);
    OK(piUsmHostUnregister(host.context, begin + 6 * page));
    CHECK(locked() == 3);
    OK(piUsmHostUnregister(host.context, begin + page + 1));
    CHECK(locked() == 0);
    {
        const Owned<pi_context> other = make_context(host.devices);
        OK(piUsmHostRegister(other, begin, 2 * page, 0));
        OK(piUsmHostRegister(host.context, begin + page, page, 0));
        CHECK(locked() == 2);
    }
    CHECK(locked() == 1); // the context has dropped its registration
    OK(piUsmHostUnregister(host.context, begin + page));
    CHECK(locked() == 0);
}

TEST_CASE("pages that another loader registered, or a buffer pinned, stay locked for them") {
    const Host host, other;
    const Pages pages;
    const auto before = locked_bytes();
    if (!before)
        return skip("locked memory cannot be seen");
    if (piUsmHostRegister(host.context, pages.bytes.get(), 4 * page, 0) != PI_SUCCESS)
        return skip("the system does not allow locking memory: " + last_error());
    const auto locked = [&] { return (*locked_bytes() - *before) / page; };
    OK(piUsmHostRegister(other.context, pages.bytes.get() + 2 * page, 4 * page, 0));
    CHECK(locked() == 6);
    OK(piUsmHostUnregister(host.context, pages.bytes.get()));
    CHECK(locked() == 4);
    OK(piUsmHostUnregister(other.context, pages.bytes.get() + 2 * page));
    CHECK(locked() == 0);

    for (const uint64_t requirement : {PI_MEM_REQUIRE_PINNED, PI_MEM_REQUIRE_CONTIGUOUS}) {
        auto d = buffer_desc(page);
        d.flags = requirement;
        Owned<pi_mem> mem = host.make_buffer(d);
        CHECK(locked() == 1);
        void *pointer = nullptr;
        OK(piMemGetHostPointer(mem, &pointer));
        OK(piUsmHostRegister(other.context, pointer, page, 0));
        OK(piUsmHostUnregister(other.context, pointer));
        CHECK(locked() == 1);
        mem.reset();
        CHECK(locked() == 0);
    }
}

TEST_CASE("a registration that the system refuses leaves nothing behind") {
    const Host host;
    const auto before = locked_bytes();
    if (!before)
        return skip("locked memory cannot be seen");
    // The first page exists, the one behind it does not.
    void *pages =
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    munmap(static_cast<std::byte *>(pages) + page, page);
    if (piUsmHostRegister(host.context, pages, page, 0) != PI_SUCCESS)
        return skip("the system does not allow locking memory: " + last_error());
    REFUSED(PI_ERROR_OUT_OF_RESOURCES, "must be mapped",
            piUsmHostRegister(host.context, pages, 2 * page, 0));
    CHECK(*locked_bytes() - *before == page);
    OK(piUsmHostUnregister(host.context, pages));
    CHECK(*locked_bytes() == *before);
    REFUSED(PI_ERROR_INVALID_VALUE, "not registered", piUsmHostUnregister(host.context, pages));
    munmap(pages, page);
}

TEST_CASE("growing requests leave few blocks in a pool") {
    const Host host;
    const GrowingPool pool(host.context, host.device);
    CHECK(pool.reserved() > 0);
    CHECK(pool.reserved() <= GrowingPool::most);
}
