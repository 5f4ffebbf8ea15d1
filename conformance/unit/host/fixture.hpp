// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of the host plugin stand on: a loader that holds nothing but it, owners of handles,
// and checks of results with their texts. Everything goes through the public interface.
#pragma once

#include "config.hpp"

#include <pi/pi_loader.h>

#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pi_test {

/// No wait of a test is longer: a hang is a failure.
inline constexpr uint64_t patience = UINT64_C(20'000'000'000);

inline std::string last_error() {
    const char *text = "";
    piGetLastError(nullptr, &text);
    return text;
}

/// The call succeeds.
#define OK(...)                                                                                    \
    do {                                                                                           \
        const pi_result ok_result_ = (__VA_ARGS__);                                                \
        INFO(#__VA_ARGS__ ": " << (ok_result_ ? pi_test::last_error() : ""));                      \
        REQUIRE(ok_result_ == PI_SUCCESS);                                                         \
    } while (false)

/// The call fails with `code`, and its text has `words` in it.
#define REFUSED(code, words, ...)                                                                  \
    do {                                                                                           \
        const pi_result refused_result_ = (__VA_ARGS__);                                           \
        INFO(#__VA_ARGS__);                                                                        \
        REQUIRE(refused_result_ == (code));                                                        \
        REQUIRE_THAT(pi_test::last_error(), Catch::Contains(words));                               \
    } while (false)

/// A descriptor with size and type set.
template <class Desc>
Desc desc(pi_struct_type type) {
    Desc out{};
    out.struct_size = sizeof out;
    out.type = type;
    return out;
}

template <class Handle>
struct Release;
#define PI_TEST_RELEASE(handle, function)                                                          \
    template <>                                                                                    \
    struct Release<handle> {                                                                       \
        static void of(handle object) { function(object); }                                        \
    };
PI_TEST_RELEASE(pi_loader, piLoaderRelease)
PI_TEST_RELEASE(pi_context, piContextRelease)
PI_TEST_RELEASE(pi_queue, piQueueRelease)
PI_TEST_RELEASE(pi_mem, piMemRelease)
PI_TEST_RELEASE(pi_event, piEventRelease)
PI_TEST_RELEASE(pi_program, piProgramRelease)
PI_TEST_RELEASE(pi_kernel, piKernelRelease)
#undef PI_TEST_RELEASE

/// One reference to an object.
template <class Handle>
class Owned {
public:
    Owned() = default;
    explicit Owned(Handle handle) : handle_(handle) {}
    Owned(Owned &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Owned &operator=(Owned &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Owned() { reset(); }
    operator Handle() const { return handle_; }
    /// Where a creation writes to. Releases what was held.
    Handle *out() {
        reset();
        return &handle_;
    }
    void reset() {
        if (handle_)
            Release<Handle>::of(std::exchange(handle_, nullptr));
    }

private:
    Handle handle_ = nullptr;
};

inline Owned<pi_loader> make_loader(std::vector<pi_loader_option> options = {},
                                    pi_log_callback log = nullptr, void *log_user_data = nullptr) {
    // A call that never returns (a finish, a blocking command) ends the program, and fails.
    alarm(120);
    const char *plugins[] = {PI_TEST_HOST_PLUGIN};
    if (const char *threads = host_threads(); threads && options.empty())
        options.push_back({"PI_HOST_THREADS", threads});
    auto d = desc<pi_loader_desc>(PI_TYPE_LOADER_DESC);
    d.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    d.plugins = plugins;
    d.plugin_count = 1;
    d.options = options.data();
    d.option_count = static_cast<uint32_t>(options.size());
    d.log = log;
    d.log_user_data = log_user_data;
    d.teardown_timeout = 20'000;
    Owned<pi_loader> loader;
    OK(piLoaderCreate(&d, loader.out()));
    return loader;
}

/// A loader with the host plugin and a context of all its devices.
struct Host {
    Owned<pi_loader> loader;
    pi_plugin plugin = nullptr;
    pi_platform platform = nullptr;
    std::vector<pi_device> devices;
    pi_device device = nullptr; ///< the first
    Owned<pi_context> context;

    Host() : Host(make_loader()) {}
    explicit Host(Owned<pi_loader> made) : loader(std::move(made)) {
        uint32_t count = 0;
        OK(piPluginsGet(loader, 1, &plugin, &count));
        REQUIRE(count == 1);
        OK(piPlatformsGet(plugin, 1, &platform, &count));
        REQUIRE(count == 1);
        OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 0, nullptr, &count));
        REQUIRE(count >= 1);
        devices.resize(count);
        OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, count, devices.data(), &count));
        device = devices.front();
        context = make_context(devices);
    }

    Owned<pi_context> make_context(const std::vector<pi_device> &of) const {
        auto d = desc<pi_context_desc>(PI_TYPE_CONTEXT_DESC);
        d.device_count = static_cast<uint32_t>(of.size());
        d.devices = of.data();
        Owned<pi_context> made;
        OK(piContextCreate(platform, &d, made.out()));
        return made;
    }

    Owned<pi_queue> make_queue(uint64_t flags = 0) const {
        auto d = desc<pi_queue_desc>(PI_TYPE_QUEUE_DESC);
        d.flags = flags;
        Owned<pi_queue> queue;
        OK(piQueueCreate(context, device, &d, queue.out()));
        return queue;
    }

    static pi_mem_buffer_desc buffer_desc(uint64_t size) {
        auto d = desc<pi_mem_buffer_desc>(PI_TYPE_MEM_BUFFER_DESC);
        d.size = size;
        return d;
    }
    Owned<pi_mem> make_buffer(const pi_mem_buffer_desc &d) const {
        Owned<pi_mem> mem;
        OK(piMemBufferCreate(context, device, &d, mem.out()));
        return mem;
    }
    Owned<pi_mem> make_buffer(uint64_t size) const { return make_buffer(buffer_desc(size)); }
    /// A buffer that begins as a copy of `bytes`.
    Owned<pi_mem> make_buffer(const std::vector<std::byte> &bytes) const {
        auto d = buffer_desc(bytes.size());
        d.flags = PI_MEM_COPY_HOST_PTR;
        d.host_ptr = const_cast<std::byte *>(bytes.data());
        return make_buffer(d);
    }
    Owned<pi_mem> make_import(void *pointer, uint64_t size) const {
        auto d = desc<pi_mem_import_desc>(PI_TYPE_MEM_IMPORT_DESC);
        d.size = size;
        d.handle.type = PI_EXTERNAL_HOST_POINTER;
        d.handle.pointer = pointer;
        Owned<pi_mem> mem;
        OK(piMemImport(context, device, &d, mem.out()));
        return mem;
    }
    static Owned<pi_mem> make_view(pi_mem parent, uint64_t offset, uint64_t size) {
        auto d = desc<pi_mem_partition_desc>(PI_TYPE_MEM_PARTITION_DESC);
        d.offset = offset;
        d.size = size;
        Owned<pi_mem> view;
        OK(piMemBufferPartition(parent, &d, view.out()));
        return view;
    }
    Owned<pi_event> make_host_event() const {
        Owned<pi_event> event;
        OK(piEventCreateHost(context, event.out()));
        return event;
    }
};

/// The descriptors of commands on whole ranges.
inline pi_region range(uint64_t src_offset, uint64_t dst_offset, uint64_t size) {
    pi_region region{};
    region.src_offset = src_offset;
    region.dst_offset = dst_offset;
    region.extent[0] = size;
    return region;
}
inline pi_buffer_read_desc read_desc(pi_mem mem, void *host_ptr, const pi_region &region,
                                     uint64_t flags = 0) {
    auto d = desc<pi_buffer_read_desc>(PI_TYPE_BUFFER_READ_DESC);
    d.flags = flags;
    d.mem = mem;
    d.host_ptr = host_ptr;
    d.region_count = 1;
    d.regions = &region;
    return d;
}
inline pi_buffer_write_desc write_desc(pi_mem mem, const void *host_ptr, const pi_region &region,
                                       uint64_t flags = 0) {
    auto d = desc<pi_buffer_write_desc>(PI_TYPE_BUFFER_WRITE_DESC);
    d.flags = flags;
    d.mem = mem;
    d.host_ptr = host_ptr;
    d.region_count = 1;
    d.regions = &region;
    return d;
}
inline pi_buffer_copy_desc copy_desc(pi_mem src, pi_mem dst, const pi_region &region,
                                     uint64_t flags = 0) {
    auto d = desc<pi_buffer_copy_desc>(PI_TYPE_BUFFER_COPY_DESC);
    d.flags = flags;
    d.src = src;
    d.dst = dst;
    d.region_count = 1;
    d.regions = &region;
    return d;
}
inline pi_buffer_fill_desc fill_desc(pi_mem mem, const void *pattern, uint64_t pattern_size,
                                     uint64_t offset, uint64_t size, uint64_t flags = 0) {
    auto d = desc<pi_buffer_fill_desc>(PI_TYPE_BUFFER_FILL_DESC);
    d.flags = flags;
    d.mem = mem;
    d.pattern = pattern;
    d.pattern_size = pattern_size;
    d.offset = offset;
    d.size = size;
    return d;
}
inline pi_buffer_map_desc map_desc(pi_mem mem, uint64_t offset, uint64_t size, void **out_pointer,
                                   uint64_t flags = PI_MAP_READ | PI_MAP_WRITE) {
    auto d = desc<pi_buffer_map_desc>(PI_TYPE_BUFFER_MAP_DESC);
    d.flags = flags;
    d.mem = mem;
    d.offset = offset;
    d.size = size;
    d.out_pointer = out_pointer;
    return d;
}
inline pi_unmap_desc unmap_desc(pi_mem mem, void *pointer, uint64_t flags = 0) {
    auto d = desc<pi_unmap_desc>(PI_TYPE_UNMAP_DESC);
    d.flags = flags;
    d.mem = mem;
    d.pointer = pointer;
    return d;
}

/// The bytes of a buffer, read by a command of their own.
inline std::vector<std::byte> contents(const Host &host, pi_mem mem) {
    uint64_t size = 0;
    OK(piMemGetInfo(mem, PI_MEM_INFO_SIZE, sizeof size, &size, nullptr));
    std::vector<std::byte> bytes(size);
    const Owned<pi_queue> queue = host.make_queue();
    const pi_region region = range(0, 0, size);
    const auto d = read_desc(mem, bytes.data(), region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferRead(queue, &d, 0, nullptr, nullptr));
    return bytes;
}

/// An information of a fixed size.
template <class Handle>
using InfoFunction = pi_result (*)(Handle, uint32_t, uint64_t, void *, uint64_t *);
template <class T, class Handle>
T info(InfoFunction<Handle> function, std::type_identity_t<Handle> handle, uint32_t name) {
    T value{};
    uint64_t size = 0;
    OK(function(handle, name, sizeof value, &value, &size));
    REQUIRE(size == sizeof value);
    return value;
}
/// An information that is a string.
template <class Handle>
std::string info_text(InfoFunction<Handle> function, std::type_identity_t<Handle> handle,
                      uint32_t name) {
    uint64_t size = 0;
    OK(function(handle, name, 0, nullptr, &size));
    REQUIRE(size >= 1);
    std::vector<char> value(size);
    OK(function(handle, name, size, value.data(), nullptr));
    REQUIRE(value.back() == 0);
    return value.data();
}

inline pi_event_status status(pi_event event) {
    return info<pi_event_status>(piEventGetInfo, event, PI_EVENT_INFO_STATUS);
}

} // namespace pi_test
