// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pinned application memory.

#include "host_memory.hpp"
#include "process_memory.hpp"
#include "registry.hpp"
#include "sanitized.hpp"
#include "usm.hpp"

#include <fstream>
#include <optional>
#include <string>

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pi::suite {
namespace {

constexpr uint64_t size = 3 * 4096 + 5;

// Skips the test if the system does not allow to pin so much.
void must_register(Fixture &fixture, void *pointer, uint64_t bytes) {
    const pi_result result = piUsmHostRegister(fixture.context(), pointer, bytes, 0);
    if (result == PI_ERROR_OUT_OF_RESOURCES)
        skip("the system pins no memory: " + last_error_text());
    require_success(result, "piUsmHostRegister of ", bytes, " bytes");
}

void must_unregister(Fixture &fixture, void *pointer) {
    require_success(piUsmHostUnregister(fixture.context(), pointer), "piUsmHostUnregister");
}

void require_not_registered(Fixture &fixture, void *pointer, const char *what) {
    require_error(piUsmHostUnregister(fixture.context(), pointer), PI_ERROR_INVALID_VALUE,
                  "piUsmHostUnregister of ", what);
}

CONFORMANCE_TEST("memory", "pinned application memory is the application's, and commands use it") {
    fixture.need(PI_CAPABILITY_USM_REGISTER, "PI_CAPABILITY_USM_REGISTER");
    HostMemory memory(size, 64);
    const Queue queue = fixture.make_queue();
    const Bytes bytes = fixture.random_bytes(size);
    memory.assign(bytes);
    must_register(fixture, memory.data(), size);
    require_same_bytes(memory.data(), bytes.data(), size, "memory that was pinned");
    const Mem mem = fixture.make_buffer(size);
    const pi_region whole = linear(0, 0, size);
    auto write = pi::desc<pi_buffer_write_desc>();
    write.mem = mem;
    write.host_ptr = memory.data();
    write.region_count = 1;
    write.regions = &whole;
    fixture.wait(fixture.enqueue(queue, write), "a write from pinned memory");
    fixture.require_contents(queue, mem, bytes, "a buffer written from pinned memory");
    if (fixture.can(PI_CAPABILITY_USM)) {
        const Usm usm(fixture, any_usm_kind(fixture), size);
        const Regions regions{whole};
        fixture.wait(fixture.enqueue(queue, usm_copy_desc(memory.data(), usm.at(), regions)));
        require_usm_contents(fixture, queue, usm.at(), bytes, "USM copied from pinned memory");
    }
    must_unregister(fixture, memory.data());
    require_same_bytes(memory.data(), bytes.data(), size, "memory that was pinned");
}

CONFORMANCE_TEST("memory", "memory may be pinned several times, and is unpinned as often") {
    fixture.need(PI_CAPABILITY_USM_REGISTER, "PI_CAPABILITY_USM_REGISTER");
    HostMemory memory(size, 4096);
    std::byte *const begin = memory.data();
    require_not_registered(fixture, begin, "memory that was never pinned");
    must_register(fixture, begin, size);
    must_register(fixture, begin, 10);
    must_register(fixture, begin + 4096, size - 4096); // overlaps
    must_unregister(fixture, begin);
    must_unregister(fixture, begin);
    require_not_registered(fixture, begin, "memory that was unregistered as often as registered");
    require_not_registered(fixture, begin + 1, "an address within pinned memory");
    const Context other = fixture.make_context({fixture.device()});
    require_error(piUsmHostUnregister(other, begin + 4096), PI_ERROR_INVALID_VALUE,
                  "piUsmHostUnregister of what another context has pinned");
    must_unregister(fixture, begin + 4096);
    require_not_registered(fixture, begin + 4096, "memory that was unregistered");
}

// For devices whose memory is the process's: there the system says what is pinned.
void need_visible_pins(Fixture &fixture) {
    fixture.need(PI_CAPABILITY_USM_REGISTER, "PI_CAPABILITY_USM_REGISTER");
    need_process_memory(fixture);
    if (is_sanitized)
        skip("a sanitizer locks no pages");
}

CONFORMANCE_TEST("memory", "the newest registration of a pointer is undone first, page by page") {
    need_visible_pins(fixture);
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    HostMemory memory(4 * page, page);
    const auto require_pinned = [&](uint64_t pages, const char *when) {
        for (uint64_t i = 0; i < 4; ++i)
            require_equal(never_paged_out(reinterpret_cast<uintptr_t>(memory.data()) + i * page),
                          i < pages, join("whether page ", i, " is pinned ", when));
    };
    require_pinned(0, "before any registration");
    must_register(fixture, memory.data(), page);
    require_pinned(1, "by a registration of a page");
    must_register(fixture, memory.data(), 3 * page);
    require_pinned(3, "by one of three pages");
    must_unregister(fixture, memory.data());
    require_pinned(1, "by one of a page, after that of three is undone");
    must_register(fixture, memory.data(), 2 * page - 1);
    must_register(fixture, memory.data(), 1);
    require_pinned(2, "by registrations of which the newest is small");
    must_unregister(fixture, memory.data());
    require_pinned(2, "after the newest, a small one, is undone");
    must_unregister(fixture, memory.data());
    must_unregister(fixture, memory.data());
    require_pinned(0, "after all are undone");
}

// While it lives this thread may pin nothing.
class NoPins {
public:
    NoPins() {
        getrlimit(RLIMIT_MEMLOCK, &limit_);
        rlimit none = limit_;
        none.rlim_cur = 0;
        setrlimit(RLIMIT_MEMLOCK, &none);
        syscall(SYS_capget, &header_, data_);
        const uint32_t effective =
            std::exchange(data_[0].effective, data_[0].effective & ~(uint32_t{1} << CAP_IPC_LOCK));
        syscall(SYS_capset, &header_, data_);
        data_[0].effective = effective;
    }
    NoPins(const NoPins &) = delete;
    NoPins &operator=(const NoPins &) = delete;
    ~NoPins() {
        syscall(SYS_capset, &header_, data_);
        setrlimit(RLIMIT_MEMLOCK, &limit_);
    }

private:
    rlimit limit_{};
    __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data_[2]{};
};

CONFORMANCE_TEST("memory", "a registration fails while the system refuses, and can be repeated") {
    need_visible_pins(fixture);
    HostMemory memory(size, 4096);
    must_register(fixture, memory.data(), size);
    must_unregister(fixture, memory.data());
    {
        const NoPins none;
        require_error(piUsmHostRegister(fixture.context(), memory.data(), size, 0),
                      PI_ERROR_OUT_OF_RESOURCES,
                      "piUsmHostRegister where the system refuses to pin");
        require_not_registered(fixture, memory.data(), "memory that the system refused to pin");
    }
    must_register(fixture, memory.data(), size);
    must_unregister(fixture, memory.data());
}

CONFORMANCE_TEST("memory", "memory that cannot be pinned is refused") {
    fixture.need(PI_CAPABILITY_USM_REGISTER, "PI_CAPABILITY_USM_REGISTER");
    HostMemory memory(size, 4096);
    const pi_context context = fixture.context();
    require_error(piUsmHostRegister(context, nullptr, size, 0), PI_ERROR_INVALID_NULL_POINTER,
                  "piUsmHostRegister of NULL");
    require_error(piUsmHostRegister(context, memory.data(), 0, 0), PI_ERROR_INVALID_SIZE,
                  "piUsmHostRegister of 0 bytes");
    require_error(piUsmHostRegister(context, memory.data(), UINT64_MAX - 5, 0),
                  PI_ERROR_INVALID_SIZE, "piUsmHostRegister past the end of the address space");
    for (unsigned bit = 0; bit < 64; ++bit)
        require_error(piUsmHostRegister(context, memory.data(), size, uint64_t{1} << bit),
                      PI_ERROR_UNSUPPORTED_FEATURE, "piUsmHostRegister with flag bit ", bit);
    require_error(piUsmHostUnregister(context, nullptr), PI_ERROR_INVALID_NULL_POINTER,
                  "piUsmHostUnregister of NULL");
    require_not_registered(fixture, memory.data(), "memory that was refused");
}

CONFORMANCE_TEST("memory", "many threads pin and unpin neighbouring memory") {
    fixture.need(PI_CAPABILITY_USM_REGISTER, "PI_CAPABILITY_USM_REGISTER");
    HostMemory memory(8 * 1000, 4096);
    must_register(fixture, memory.data(), 1);
    must_unregister(fixture, memory.data());
    fixture.run_threads(4, [&](unsigned thread) {
        std::byte *const mine = memory.data() + thread * 1000;
        for (int round = 0; round < 100; ++round) {
            require_success(piUsmHostRegister(fixture.context(), mine, 3000, 0),
                            "piUsmHostRegister");
            require_success(piUsmHostUnregister(fixture.context(), mine), "piUsmHostUnregister");
        }
    });
}

// Of the process, in KiB; nothing if the system does not report it.
std::optional<uint64_t> locked_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind("VmLck:", 0) == 0)
            return std::stoull(line.substr(6));
    return std::nullopt;
}

CONFORMANCE_TEST("memory", "of several pins of one pointer the newest ends first") {
    fixture.need(PI_CAPABILITY_USM_REGISTER, "PI_CAPABILITY_USM_REGISTER");
    HostMemory memory(64 * 4096, 4096);
    const std::optional<uint64_t> none = locked_memory();
    must_register(fixture, memory.data(), 1);
    const std::optional<uint64_t> few = locked_memory();
    if (!none || *few <= *none) {
        must_unregister(fixture, memory.data());
        skip("whether the plugin's memory is pinned is not visible here");
    }
    must_register(fixture, memory.data(), 64 * 4096);
    require(*locked_memory() > *few, "a longer pin of the same pointer pins no more memory");
    must_unregister(fixture, memory.data());
    require_equal(*locked_memory(), *few, "pinned KiB with the older of two pins");
    must_unregister(fixture, memory.data());
    require_equal(*locked_memory(), *none, "pinned KiB without a pin");
}

} // namespace
} // namespace pi::suite
