// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Application memory that is pinned.

#include "host_memory.hpp"
#include "registry.hpp"
#include "usm.hpp"

namespace pi::suite {
namespace {

constexpr uint64_t size = 3 * 4096 + 5;

// Skips the test where the system lets nobody pin so much.
void must_register(Bench &bench, void *pointer, uint64_t bytes) {
    const pi_result result = piUsmHostRegister(bench.context(), pointer, bytes, 0);
    if (result == PI_ERROR_OUT_OF_RESOURCES)
        skip("the system pins no memory: " + last_error_text());
    require_success(result, "piUsmHostRegister of ", bytes, " bytes");
}

void must_unregister(Bench &bench, void *pointer) {
    require_success(piUsmHostUnregister(bench.context(), pointer), "piUsmHostUnregister");
}

void require_not_registered(Bench &bench, void *pointer, const char *what) {
    require_error(piUsmHostUnregister(bench.context(), pointer), PI_ERROR_INVALID_VALUE,
                  "piUsmHostUnregister of ", what);
}

CONFORMANCE_TEST("memory", "pinned application memory is the application's, and commands use it") {
    bench.need(PI_CAPABILITY_USM_REGISTER, "PI_CAPABILITY_USM_REGISTER");
    HostMemory memory(size, 64);
    const Queue queue = bench.make_queue();
    const Bytes bytes = bench.random_bytes(size);
    memory.assign(bytes);
    must_register(bench, memory.data(), size);
    require_same_bytes(memory.data(), bytes.data(), size, "memory that was pinned");
    const Mem mem = bench.make_buffer(size);
    const pi_region whole = linear(0, 0, size);
    pi_buffer_write_desc write = describe<pi_buffer_write_desc>();
    write.mem = mem;
    write.host_ptr = memory.data();
    write.region_count = 1;
    write.regions = &whole;
    bench.wait(bench.enqueue(queue, write), "a write from pinned memory");
    bench.require_contents(queue, mem, bytes, "a buffer written from pinned memory");
    if (bench.can(PI_CAPABILITY_USM)) {
        const Usm usm(bench, any_usm_kind(bench), size);
        const Regions regions{whole};
        bench.wait(bench.enqueue(queue, usm_copy_desc(memory.data(), usm.at(), regions)));
        require_usm_contents(bench, queue, usm.at(), bytes, "USM copied from pinned memory");
    }
    must_unregister(bench, memory.data());
    require_same_bytes(memory.data(), bytes.data(), size, "memory that was pinned");
}

CONFORMANCE_TEST("memory", "memory may be pinned again and again, and is let go of as often") {
    bench.need(PI_CAPABILITY_USM_REGISTER, "PI_CAPABILITY_USM_REGISTER");
    HostMemory memory(size, 4096);
    std::byte *const begin = memory.data();
    require_not_registered(bench, begin, "memory that was never pinned");
    must_register(bench, begin, size);
    must_register(bench, begin, 10);
    must_register(bench, begin + 4096, size - 4096); // overlaps
    must_unregister(bench, begin);
    must_unregister(bench, begin);
    require_not_registered(bench, begin, "memory that was let go of as often as pinned");
    require_not_registered(bench, begin + 1, "an address within pinned memory");
    const Context other = bench.make_context({bench.device()});
    require_error(piUsmHostUnregister(other, begin + 4096), PI_ERROR_INVALID_VALUE,
                  "piUsmHostUnregister of what another context has pinned");
    must_unregister(bench, begin + 4096);
    require_not_registered(bench, begin + 4096, "memory that was let go of");
}

CONFORMANCE_TEST("memory", "what cannot be pinned is refused") {
    bench.need(PI_CAPABILITY_USM_REGISTER, "PI_CAPABILITY_USM_REGISTER");
    HostMemory memory(size, 4096);
    const pi_context context = bench.context();
    require_error(piUsmHostRegister(context, nullptr, size, 0), PI_ERROR_INVALID_NULL_POINTER,
                  "piUsmHostRegister of NULL");
    require_error(piUsmHostRegister(context, memory.data(), 0, 0), PI_ERROR_INVALID_SIZE,
                  "piUsmHostRegister of 0 bytes");
    require_error(piUsmHostRegister(context, memory.data(), UINT64_MAX - 5, 0),
                  PI_ERROR_INVALID_SIZE, "piUsmHostRegister past the end of the address space");
    require_error(piUsmHostRegister(context, memory.data(), size, 1), PI_ERROR_UNSUPPORTED_FEATURE,
                  "piUsmHostRegister with flags 1");
    require_error(piUsmHostUnregister(context, nullptr), PI_ERROR_INVALID_NULL_POINTER,
                  "piUsmHostUnregister of NULL");
    require_not_registered(bench, memory.data(), "memory that was refused");
}

CONFORMANCE_TEST("memory", "many threads pin and let go of neighbouring memory") {
    bench.need(PI_CAPABILITY_USM_REGISTER, "PI_CAPABILITY_USM_REGISTER");
    HostMemory memory(8 * 1000, 4096);
    must_register(bench, memory.data(), 1);
    must_unregister(bench, memory.data());
    bench.run_threads(4, [&](unsigned thread) {
        std::byte *const mine = memory.data() + thread * 1000;
        for (int round = 0; round < 100; ++round) {
            require_success(piUsmHostRegister(bench.context(), mine, 3000, 0), "piUsmHostRegister");
            require_success(piUsmHostUnregister(bench.context(), mine), "piUsmHostUnregister");
        }
    });
}

} // namespace
} // namespace pi::suite
