// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PI_MEM_REQUIRE_PINNED and PI_MEM_REQUIRE_CONTIGUOUS, checked against the system's own numbers.
#include "fixture.hpp"
#include "skip.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

using namespace pi_test;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool mlock_works = false;
#else
constexpr bool mlock_works = true;
#endif

/// Bytes that this process has locked.
uint64_t locked_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        unsigned long kilobytes = 0;
        if (std::sscanf(line.c_str(), "VmLck: %lu kB", &kilobytes) == 1)
            return kilobytes * 1024;
    }
    return 0;
}

/// The physical address of a byte; nothing if this process may not see it.
std::optional<uint64_t> physical(uintptr_t address) {
    const int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry = 0;
    const bool read =
        pread(map, &entry, sizeof entry, static_cast<off_t>(address / 4096 * 8)) == sizeof entry;
    close(map);
    const uint64_t number = entry & ((UINT64_C(1) << 55) - 1);
    if (!read || !(entry >> 63) || !number)
        return std::nullopt;
    return number * 4096 + address % 4096;
}

/// Adds 2 MiB huge pages to the system's as long as the object lives: needs root.
class MoreHugePages {
public:
    MoreHugePages() : before_(read()) { write(before_ + 8); }
    ~MoreHugePages() { write(before_); }
    MoreHugePages(const MoreHugePages &) = delete;
    bool any() const { return read() > before_; }

private:
    static constexpr const char *path = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
    static uint64_t read() {
        uint64_t count = 0;
        std::ifstream(path) >> count;
        return count;
    }
    static void write(uint64_t count) { std::ofstream(path) << count; }
    const uint64_t before_;
};

uintptr_t address(pi_mem mem) {
    void *pointer = nullptr;
    OK(piMemGetHostPointer(mem, &pointer));
    return reinterpret_cast<uintptr_t>(pointer);
}

pi_mem_buffer_desc required_desc(uint64_t size, uint64_t requirements, uint64_t alignment = 0) {
    auto d = buffer_desc(size);
    d.flags = requirements;
    d.alignment = alignment;
    return d;
}

/// Takes the right to lock more than RLIMIT_MEMLOCK from this thread only.
void drop_lock_right() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    syscall(SYS_capget, &header, data);
    data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
    syscall(SYS_capset, &header, data);
}

/// A soft limit of locked memory as long as the object lives.
class LockLimit {
public:
    explicit LockLimit(uint64_t bytes) {
        getrlimit(RLIMIT_MEMLOCK, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        set_ = !setrlimit(RLIMIT_MEMLOCK, &limit);
    }
    ~LockLimit() { setrlimit(RLIMIT_MEMLOCK, &before_); }
    LockLimit(const LockLimit &) = delete;
    bool set() const { return set_; }

private:
    rlimit before_{};
    bool set_ = false;
};

/// Writes and reads every byte.
void use(const Host &host, pi_mem mem, uint64_t size) {
    std::vector<std::byte> bytes(size);
    for (uint64_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
    std::memcpy(reinterpret_cast<void *>(address(mem)), bytes.data(), size);
    CHECK(contents(host, mem) == bytes);
}

} // namespace

TEST_CASE("pinned memory is locked from its creation until its last reference is released") {
    if (!mlock_works)
        return pi_test::skip("the sanitizers ignore mlock");
    const Host host;
    const uint64_t before = locked_bytes();
    for (const uint64_t alignment : {UINT64_C(0), UINT64_C(65536)}) {
        const uint64_t size = 1'000'000;
        const auto d = required_desc(size, PI_MEM_REQUIRE_PINNED, alignment);
        Owned<pi_mem> mem = host.make_buffer(d);
        CHECK(locked_bytes() >= before + size);
        CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_FLAGS) == PI_MEM_REQUIRE_PINNED);
        CHECK(address(mem) % std::max<uint64_t>(alignment, 1) == 0);
        use(host, mem, size);
        mem = {};
        CHECK(locked_bytes() == before);
    }
}

TEST_CASE("a lock beyond the process's limit is refused with that limit and how to raise it") {
    if (!mlock_works)
        return pi_test::skip("the sanitizers ignore mlock");
    const Host host;
    const LockLimit limit(65536);
    REQUIRE(limit.set());
    pi_result code = PI_SUCCESS;
    pi_mem mem = nullptr;
    std::string words;
    std::thread([&] {
        drop_lock_right();
        const auto d = required_desc(1 << 20, PI_MEM_REQUIRE_PINNED);
        code = piMemBufferCreate(host.context, host.device, &d, &mem);
        words = last_error();
    }).join();
    CHECK(code == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(mem == nullptr);
    CHECK(words.find("64 KiB") != std::string::npos);
    CHECK(words.find("RLIMIT_MEMLOCK") != std::string::npos);
}

TEST_CASE("requirements are for the plugin's own memory") {
    const Host host;
    alignas(4096) static std::byte bytes[4096];
    for (const uint64_t requirement : {PI_MEM_REQUIRE_PINNED, PI_MEM_REQUIRE_CONTIGUOUS}) {
        auto d = required_desc(4096, requirement | PI_MEM_USE_HOST_PTR);
        d.host_ptr = bytes;
        Owned<pi_mem> mem;
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_USE_HOST_PTR",
                piMemBufferCreate(host.context, host.device, &d, mem.out()));
        d.flags = requirement | PI_MEM_COPY_HOST_PTR;
        mem = host.make_buffer(d);
        CHECK(contents(host, mem) == std::vector<std::byte>(4096));
    }
}

TEST_CASE("contiguous memory of a page is one locked page, without a fixed address") {
    const Host host;
    for (const uint64_t size : {1, 100, 4096}) {
        for (const uint64_t alignment : {UINT64_C(0), UINT64_C(4096), UINT64_C(2) << 20}) {
            const auto d = required_desc(size, PI_MEM_REQUIRE_CONTIGUOUS, alignment);
            const Owned<pi_mem> mem = host.make_buffer(d);
            CHECK(address(mem) % std::max<uint64_t>(alignment, 64) == 0);
            CHECK(address(mem) / 4096 == (address(mem) + size - 1) / 4096);
            use(host, mem, size);
            uint64_t bus = 0;
            REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "may move",
                    piMemGetInfo(mem, PI_MEM_INFO_BUS_ADDRESS, sizeof bus, &bus, nullptr));
        }
    }
}

TEST_CASE("contiguous memory that no huge page can hold is refused, with what would help") {
    const Host host;
    const auto d = required_desc(UINT64_C(5) << 30, PI_MEM_REQUIRE_CONTIGUOUS);
    Owned<pi_mem> mem;
    const pi_result code = piMemBufferCreate(host.context, host.device, &d, mem.out());
    if (code == PI_SUCCESS)
        return pi_test::skip("this machine has 5 GiB of neighbouring huge pages");
    CHECK(code == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(last_error().find("huge pages of 2 MiB are needed") != std::string::npos);
    CHECK(last_error().find("nr_hugepages") != std::string::npos);
}

TEST_CASE("contiguous memory beyond a page is a contiguous run of huge pages") {
    if (geteuid() != 0)
        return pi_test::skip("needs root, to reserve huge pages");
    const MoreHugePages pages;
    if (!pages.any())
        return pi_test::skip("this system gives no huge pages");
    const Host host;
    for (const uint64_t size : {UINT64_C(4097), UINT64_C(2) << 20, (UINT64_C(3) << 20) + 5}) {
        INFO("size " << size);
        const auto d = required_desc(size, PI_MEM_REQUIRE_CONTIGUOUS, 2 << 20);
        Owned<pi_mem> mem;
        const pi_result code = piMemBufferCreate(host.context, host.device, &d, mem.out());
        if (code != PI_SUCCESS && size > 2 << 20) {
            // Two pages need not be adjacent, and that is visible only with the right to see it.
            CHECK(last_error().find("adjacent") != std::string::npos);
            continue;
        }
        INFO(last_error());
        REQUIRE(code == PI_SUCCESS);
        CHECK(address(mem) % (2 << 20) == 0);
        use(host, mem, size);
        const std::optional<uint64_t> first = physical(address(mem));
        if (!first) {
            uint64_t bus = 0;
            REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "CAP_SYS_ADMIN",
                    piMemGetInfo(mem, PI_MEM_INFO_BUS_ADDRESS, sizeof bus, &bus, nullptr));
            continue;
        }
        uint64_t apart = 0;
        for (uint64_t offset = 0; offset < size; offset += 4096)
            apart += physical(address(mem) + offset) != *first + offset;
        CHECK(apart == 0);
        if (std::error_code error; !std::filesystem::is_empty("/sys/class/iommu", error) && !error)
            continue; // then a bus has its own addresses
        CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_BUS_ADDRESS) == *first);
        auto view_desc = pi::desc<pi_mem_partition_desc>();
        view_desc.offset = 4000;
        view_desc.size = 97;
        Owned<pi_mem> view;
        OK(piMemBufferPartition(mem, &view_desc, view.out()));
        CHECK(info<uint64_t>(piMemGetInfo, view, PI_MEM_INFO_BUS_ADDRESS) == *first + 4000);
    }
}

TEST_CASE("huge pages are freed with their memory, and unused ones before that") {
    if (geteuid() != 0)
        return pi_test::skip("needs root, to reserve huge pages");
    const MoreHugePages pages;
    if (!pages.any())
        return pi_test::skip("this system gives no huge pages");
    const auto free_pages = [] {
        uint64_t count = 0;
        std::ifstream("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") >> count;
        return count;
    };
    const uint64_t before = free_pages();
    const Host host;
    for (const uint64_t size : {UINT64_C(2) << 20, UINT64_C(4) << 20}) {
        const auto d = required_desc(size, PI_MEM_REQUIRE_CONTIGUOUS);
        Owned<pi_mem> mem;
        if (piMemBufferCreate(host.context, host.device, &d, mem.out()) == PI_SUCCESS)
            CHECK(free_pages() == before - size / (2 << 20));
        mem = {};
        CHECK(free_pages() == before);
    }
}
