// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptors of buffers, for tests of creation.
#pragma once

#include "checks.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace pi::suite {

inline pi_mem_buffer_desc buffer_desc(uint64_t size, uint64_t flags = 0, void *host_ptr = nullptr) {
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = size;
    desc.flags = flags;
    desc.host_ptr = host_ptr;
    return desc;
}

/// piMemBufferCreate fails with one of these codes and writes nothing.
inline void require_refused(const Place &place, const std::string &what,
                            const pi_mem_buffer_desc &desc,
                            std::initializer_list<pi_result> allowed) {
    require_untouched<pi_mem>("a buffer with " + what, allowed, [&](pi_mem *out) {
        return piMemBufferCreate(place.context, place.device, &desc, out);
    });
}

/// The text of the last error has each of these numbers.
void require_text_names(std::initializer_list<uint64_t> numbers);

/// Skips the test where the device does not allocate that much at once, or where a sanitizer has
/// memory of its own for each byte.
void need_allocation(pi_device device, uint64_t size);

/// The scopes of the device with this flag; skips the test if there is none.
std::vector<uint32_t> scopes_with(Fixture &fixture, uint64_t flag, const char *name);

/// An n-D shape.
struct Shape {
    Shape(uint32_t element, std::vector<uint64_t> axes, std::vector<uint32_t> between)
        : element_size(element), extents(std::move(axes)), separators(std::move(between)) {}
    /// A random one of at most 8 axes and a few thousand bytes, from numbers between a lowest and a
    /// highest one.
    explicit Shape(const std::function<uint64_t(uint64_t low, uint64_t high)> &random);
    uint64_t size() const;
    /// It refers to the shape.
    pi_mem_layout_desc desc() const;
    /// The extents of the physical axes, outermost first.
    std::vector<uint64_t> physical() const;
    /// "2 x 3 | 4 elements of 8 bytes"
    std::string text() const;

    uint32_t element_size;
    std::vector<uint64_t> extents;
    std::vector<uint32_t> separators;
};

} // namespace pi::suite
