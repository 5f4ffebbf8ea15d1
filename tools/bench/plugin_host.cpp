// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host plugin compared with memcpy of the same bytes to the same place.
#include "place.hpp"
#include "session.hpp"
#include "sizes.hpp"

#include <pi/runtime/error.hpp>

#include <benchmark/benchmark.h>

#include <cstring>

namespace pi_bench {
namespace {

void *host_pointer(pi_mem mem) {
    void *pointer = nullptr;
    pi::runtime::check(piMemGetHostPointer(mem, &pointer), "piMemGetHostPointer");
    return pointer;
}

void compare_copy(Session &session, const Place &place, const Size &size) {
    const std::string name = std::string("host: copy of ") + size.name;
    if (!session.wants(name)) {
        return;
    }
    const pi::runtime::Mem src = make_buffer(place, size.bytes, 0x5a);
    const pi::runtime::Mem dst = make_buffer(place, size.bytes, 0);
    check_copy(place, src.get(), dst.get(), size.bytes);
    const void *from = host_pointer(src.get());
    void *to = host_pointer(dst.get());
    session.compare(
        name, "memcpy of the same bytes", Unit::microseconds,
        [&](uint64_t count) {
            for (uint64_t i = 0; i < count; ++i) {
                copy(place, src.get(), dst.get(), size.bytes);
            }
        },
        [&](uint64_t count) {
            for (uint64_t i = 0; i < count; ++i) {
                std::memcpy(to, from, size.bytes);
                benchmark::ClobberMemory();
            }
        });
}

} // namespace

void bench_plugin_host(Session &session) {
    session.attempt("host", [&] {
        const pi::Loader loader = pi::Loader::create();
        const Place place(loader.select_devices("host").at(0).get());
        for (const Size &size : copy_sizes) {
            compare_copy(session, place, size);
        }
    });
}

} // namespace pi_bench
