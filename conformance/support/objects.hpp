// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests of plugins through the public interface share: owners of handles, checks of results
// with their texts, and short descriptors.
#pragma once

#include "owned.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/pi_loader.h>

#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
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

/// A file descriptor of one's own.
struct Descriptor {
    explicit Descriptor(int number) : fd(number) { REQUIRE(fd >= 0); }
    Descriptor(const Descriptor &) = delete;
    ~Descriptor() { close(fd); }
    const int fd;
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
    auto d = pi::desc<pi_buffer_read_desc>();
    d.flags = flags;
    d.mem = mem;
    d.host_ptr = host_ptr;
    d.region_count = 1;
    d.regions = &region;
    return d;
}
inline pi_buffer_write_desc write_desc(pi_mem mem, const void *host_ptr, const pi_region &region,
                                       uint64_t flags = 0) {
    auto d = pi::desc<pi_buffer_write_desc>();
    d.flags = flags;
    d.mem = mem;
    d.host_ptr = host_ptr;
    d.region_count = 1;
    d.regions = &region;
    return d;
}
inline pi_buffer_copy_desc copy_desc(pi_mem src, pi_mem dst, const pi_region &region,
                                     uint64_t flags = 0) {
    auto d = pi::desc<pi_buffer_copy_desc>();
    d.flags = flags;
    d.src = src;
    d.dst = dst;
    d.region_count = 1;
    d.regions = &region;
    return d;
}
inline pi_buffer_fill_desc fill_desc(pi_mem mem, const void *pattern, uint64_t pattern_size,
                                     uint64_t offset, uint64_t size, uint64_t flags = 0) {
    auto d = pi::desc<pi_buffer_fill_desc>();
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
    auto d = pi::desc<pi_buffer_map_desc>();
    d.flags = flags;
    d.mem = mem;
    d.offset = offset;
    d.size = size;
    d.out_pointer = out_pointer;
    return d;
}
inline pi_unmap_desc unmap_desc(pi_mem mem, void *pointer, uint64_t flags = 0) {
    auto d = pi::desc<pi_unmap_desc>();
    d.flags = flags;
    d.mem = mem;
    d.pointer = pointer;
    return d;
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
