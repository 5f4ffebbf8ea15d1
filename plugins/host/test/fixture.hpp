// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixture of the host plugin's tests: a loader with this plugin only. Tests use the public
// interface.
#pragma once

#include "config.hpp"
#include "platform_fixture.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pi_test {

inline Owned<pi_loader> make_loader(std::vector<pi_loader_option> options = {}) {
    if (const char *threads = host_threads(); threads && options.empty())
        options.push_back({"PI_HOST_THREADS", threads});
    return load_one_plugin(PI_TEST_HOST_PLUGIN, options);
}

/// A loader with the host plugin and a context of all its devices.
struct Host : PlatformFixture {
    Host() : Host(make_loader()) {}
    explicit Host(Owned<pi_loader> made) : PlatformFixture(std::move(made)) {}

    Owned<pi_queue> make_queue(uint64_t flags = 0) const { return queue(0, flags); }
    Owned<pi_mem> make_buffer(const pi_mem_buffer_desc &d) const { return buffer(0, d); }
    Owned<pi_mem> make_buffer(uint64_t size) const { return buffer(0, size); }
    /// A buffer with a copy of `bytes`.
    Owned<pi_mem> make_buffer(const std::vector<std::byte> &bytes) const {
        return pi_test::make_buffer(context, device, bytes);
    }
    Owned<pi_mem> make_import(void *pointer, uint64_t size) const {
        auto d = pi::desc<pi_mem_import_desc>();
        d.size = size;
        d.handle.type = PI_EXTERNAL_HOST_POINTER;
        d.handle.pointer = pointer;
        Owned<pi_mem> mem;
        OK(piMemImport(context, device, &d, mem.out()));
        return mem;
    }
    Owned<pi_event> make_host_event() const { return pi_test::make_host_event(context); }

    const pi_device device = devices.front();
};

/// The bytes of a buffer, by a read command.
inline std::vector<std::byte> contents(const Host &host, pi_mem mem) {
    return read_items<std::byte>(host.make_queue(), mem,
                                 info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_SIZE));
}

} // namespace pi_test
