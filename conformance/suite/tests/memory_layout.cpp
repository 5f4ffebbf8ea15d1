// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// n-D allocations.

#include "checks.hpp"
#include "image.hpp"
#include "link.hpp"
#include "memory.hpp"
#include "regions.hpp"
#include "registry.hpp"

#include <algorithm>
#include <cstring>

namespace pi::suite {
namespace {

// ----- n-D layouts -----

// Checks the pitches of a host view: each element of the logical bytes is at its pitched offset.
void require_pitched(pi_mem mem, const Shape &shape, const Bytes &logical, bool visible) {
    const auto pitches = get_info_list<uint64_t>(&piMemGetInfo, mem, PI_MEM_INFO_PITCHES);
    const std::vector<uint64_t> axes = shape.physical();
    require_equal(pitches.size(), axes.size(), "physical axes in PI_MEM_INFO_PITCHES");
    require_equal(pitches.back(), uint64_t{shape.element_size}, "the innermost pitch");
    for (std::size_t axis = 0; axis + 1 < axes.size(); ++axis)
        require(pitches[axis] >= pitches[axis + 1] * axes[axis + 1], "the pitch of axis ", axis,
                " is ", pitches[axis], ", but axis ", axis + 1, " has ", axes[axis + 1], " times ",
                pitches[axis + 1], " bytes");
    void *pointer = nullptr;
    const pi_result result = piMemGetHostPointer(mem, &pointer);
    require(result == PI_SUCCESS || !visible,
            "an n-D allocation of a host-visible scope: ", last_error());
    if (result != PI_SUCCESS)
        return;
    if (get_info<pi_coherence>(&piMemGetInfo, mem, PI_MEM_INFO_COHERENCE) ==
        PI_COHERENCE_FLUSH_INVALIDATE)
        require_success(piMemInvalidate(mem, 0, logical.size()), "piMemInvalidate");
    const auto *bytes = static_cast<const std::byte *>(pointer);
    for (uint64_t element = 0; element * shape.element_size < logical.size(); ++element) {
        uint64_t rest = element, offset = 0;
        for (std::size_t axis = axes.size(); axis-- > 0; rest /= axes[axis])
            offset += rest % axes[axis] * pitches[axis];
        require_same_bytes(bytes + offset, logical.data() + element * shape.element_size,
                           shape.element_size, join("element ", element, " by the pitches"));
    }
}

CONFORMANCE_TEST("memory",
                 "an n-D allocation has its layout, and commands access its dense bytes") {
    const Queue queue = fixture.make_queue();
    for (const uint32_t scope : scopes_with(fixture, PI_SCOPE_LAYOUT, "PI_SCOPE_LAYOUT")) {
        const bool visible = fixture.can(PI_CAPABILITY_MEM_HOST_ACCESS) &&
                             (fixture.scopes()[scope].flags & PI_SCOPE_HOST_VISIBLE) != 0;
        for (int round = 0; round < 12; ++round) {
            const Shape shape(
                [&](uint64_t low, uint64_t high) { return fixture.random(low, high); });
            const pi_mem_layout_desc layout = shape.desc();
            Bytes bytes = fixture.random_bytes(shape.size());
            pi_mem_buffer_desc desc = buffer_desc(bytes.size());
            desc.scope = scope;
            desc.next = &layout;
            if (round % 2 == 0) {
                desc.flags = PI_MEM_COPY_HOST_PTR;
                desc.host_ptr = bytes.data();
            }
            const uint64_t alignment = round % 3 == 0 ? uint64_t{1} << round : 1;
            desc.alignment = alignment;
            Mem mem;
            const pi_result result =
                piMemBufferCreate(fixture.context(), fixture.device(), &desc, mem.out());
            if (result == PI_ERROR_INVALID_ALIGNMENT && alignment != 1) {
                desc.alignment = 0;
                mem = fixture.make_buffer(fixture.place(), desc);
            } else {
                require_success(result, "an n-D allocation with an alignment of ", alignment);
                require(info_or(&piMemGetInfo, mem.get(), PI_MEM_INFO_DEVICE_ADDRESS, alignment) %
                                alignment ==
                            0,
                        "the device address of an n-D allocation is no multiple of ", alignment);
            }
            if (round % 2 != 0)
                fixture.upload(queue, mem, bytes);
            require_equal(get_info<uint64_t>(&piMemGetInfo, mem.get(), PI_MEM_INFO_SIZE),
                          uint64_t{bytes.size()}, "PI_MEM_INFO_SIZE of an n-D allocation");
            fixture.require_contents(queue, mem, bytes, "the dense bytes of an n-D allocation");
            require_pitched(mem, shape, bytes, visible);
        }
    }
}

CONFORMANCE_TEST("memory",
                 "regions, fills, maps and views of an n-D allocation refer to its dense bytes") {
    const Queue queue = fixture.make_queue();
    for (const uint32_t scope : scopes_with(fixture, PI_SCOPE_LAYOUT, "PI_SCOPE_LAYOUT")) {
        for (int round = 0; round < 12; ++round) {
            const Shape shape(
                [&](uint64_t low, uint64_t high) { return fixture.random(low, high); });
            const pi_mem_layout_desc layout = shape.desc();
            Bytes bytes = fixture.random_bytes(shape.size());
            pi_mem_buffer_desc desc = buffer_desc(bytes.size(), PI_MEM_COPY_HOST_PTR, bytes.data());
            desc.scope = scope;
            desc.next = &layout;
            const Mem mem = fixture.make_buffer(fixture.place(), desc);

            const Bytes plain = fixture.random_bytes(bytes.size());
            const Mem other = fixture.make_buffer(fixture.place(), plain);
            const Regions regions =
                random_regions(fixture, fixture.random(1, std::min<uint64_t>(5, bytes.size())),
                               plain.size(), bytes.size());
            fixture.wait(fixture.enqueue(queue, copy_desc(other, mem, regions)));
            apply(regions, plain, bytes);
            fixture.require_contents(queue, mem, bytes, "an n-D allocation after a copy");

            const uint64_t begin = fixture.random(0, bytes.size() - 1);
            const uint64_t size = fixture.random(1, bytes.size() - begin);
            const Bytes pattern = fixture.random_bytes(1);
            fixture.wait(fixture.fill(queue, mem, begin, size, pattern));
            std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), size, pattern[0]);
            void *pointer = nullptr;
            fixture.wait(
                fixture.map(queue, mem, PI_MAP_READ | PI_MAP_WRITE, begin, size, &pointer));
            require_same_bytes(static_cast<std::byte *>(pointer), bytes.data() + begin, size,
                               "a mapped range of an n-D allocation");
            const Bytes written = fixture.random_bytes(size);
            std::memcpy(pointer, written.data(), size);
            fixture.wait(fixture.unmap(queue, mem, pointer));
            std::copy(written.begin(), written.end(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(begin));
            fixture.require_contents(queue, mem, bytes, "an n-D allocation after an unmap");
            // Mapped for writing alone, what the host does not write stays.
            const Bytes some = fixture.random_bytes(fixture.random(1, size));
            fixture.wait(fixture.map(queue, mem, PI_MAP_WRITE, begin, size, &pointer));
            std::memcpy(pointer, some.data(), some.size());
            fixture.wait(fixture.unmap(queue, mem, pointer));
            std::copy(some.begin(), some.end(), bytes.begin() + static_cast<std::ptrdiff_t>(begin));
            fixture.require_contents(queue, mem, bytes,
                                     "an n-D allocation that was partly written");

            if (!fixture.can(PI_CAPABILITY_VIEW))
                continue;
            const uint64_t unit = fixture.scopes()[scope].offset_alignment;
            const uint64_t at = begin / unit * unit;
            const Mem view = fixture.make_view(mem, at, bytes.size() - at);
            fixture.require_contents(
                queue, view, Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end()),
                "a view of an n-D allocation");
        }
    }
}

CONFORMANCE_TEST("memory", "an n-D allocation is an end of image copies by its dense bytes") {
    const std::vector<uint32_t> scopes = scopes_with(fixture, PI_SCOPE_LAYOUT, "PI_SCOPE_LAYOUT");
    const pi_mem_image_desc image_desc = flat_image_desc(fixture, 13, 7);
    const Queue queue = fixture.make_queue();
    const CopyRegions whole{image_copy_region({}, {}, {13, 7, 1})};
    const Shape shape(format_of(image_desc).size(), {7, 13}, {1});
    const pi_mem_layout_desc layout = shape.desc();
    for (const uint32_t scope : scopes) {
        Bytes pixels = random_pixels(fixture, image_desc);
        pi_mem_buffer_desc desc = buffer_desc(pixels.size());
        desc.scope = scope;
        desc.next = &layout;
        const Mem mem = fixture.make_buffer(fixture.place(), desc);
        const Mem image = make_image(fixture, image_desc);
        fixture.upload(queue, mem, pixels);
        fixture.wait(fixture.enqueue(queue, image_copy_desc(mem, image, whole)));
        require_pixels(fixture, queue, image, image_desc, pixels, "a copy of an n-D allocation");
        pixels = random_pixels(fixture, image_desc);
        image_upload(fixture, queue, image, image_desc, pixels);
        fixture.wait(fixture.enqueue(queue, image_copy_desc(image, mem, whole)));
        fixture.require_contents(queue, mem, pixels,
                                 "an n-D allocation that an image was copied to");
    }
}

CONFORMANCE_TEST_PAIRS("connection",
                       "n-D allocations are copied between places by their dense bytes") {
    bool any = false;
    for (const Link &link : all_links(fixture)) {
        const uint64_t flags = fixture.scopes(link.src.device).at(link.src_scope).flags;
        if (link.kind != PI_MEMORY_KIND_BUFFER || (flags & PI_SCOPE_LAYOUT) == 0 ||
            link.connection == PI_MEMORY_CONNECTION_NONE)
            continue;
        any = true;
        const Shape shape([&](uint64_t low, uint64_t high) { return fixture.random(low, high); });
        const pi_mem_layout_desc layout = shape.desc();
        Bytes bytes = fixture.random_bytes(shape.size());
        pi_mem_buffer_desc desc = buffer_desc(bytes.size(), PI_MEM_COPY_HOST_PTR, bytes.data());
        desc.scope = link.src_scope;
        desc.next = &layout;
        const Mem rows = fixture.make_buffer(link.src, desc);
        const Mem own = make_destination(link, fixture, Bytes(bytes.size()));
        const Queue queue = fixture.make_queue(link.dst);
        const std::string what = link.name() + ", " + shape.text();
        fixture.wait(fixture.copy(queue, rows, 0, own, 0, bytes.size()), what);
        fixture.require_contents(queue, own, bytes, what);
        if (link.connection != PI_MEMORY_CONNECTION_UNIFIED)
            continue;
        bytes = fixture.random_bytes(bytes.size());
        fixture.upload(queue, own, bytes);
        fixture.wait(fixture.copy(queue, own, 0, rows, 0, bytes.size()), what);
        fixture.require_contents(fixture.make_queue(link.src), rows, bytes, what);
    }
    if (!any)
        skip("no n-D allocation of src has a connection to dst");
}

CONFORMANCE_TEST(
    "memory",
    "a layout obeys the rules of descriptors, and is found behind structs that may be ignored") {
    constexpr uint32_t longer = 24;
    const uint64_t extents[] = {5, 7};
    const uint32_t separator = 1;
    const pi_struct_header unknown{sizeof unknown, 0x7FFF0000u, nullptr};
    for (const uint32_t scope : scopes_with(fixture, PI_SCOPE_LAYOUT, "PI_SCOPE_LAYOUT")) {
        // As a newer caller has it: with more behind it.
        struct {
            pi_mem_layout_desc layout = pi::desc<pi_mem_layout_desc>();
            std::byte tail[longer] = {};
        } chained;
        pi_mem_layout_desc &layout = chained.layout;
        layout.rank = 2;
        layout.element_size = 4;
        layout.extents = extents;
        layout.axis_separators = nowhere<const uint32_t>();
        const pi_struct_header ignorable{sizeof ignorable, unknown.type | PI_TYPE_MAY_IGNORE_BIT,
                                         &layout};
        pi_mem_buffer_desc desc = buffer_desc(5 * 7 * 4);
        desc.scope = scope;
        const auto require_axes = [&](const void *next, std::size_t axes, const char *what) {
            desc.next = next;
            const Mem mem = fixture.make_buffer(fixture.place(), desc);
            require_equal(
                get_info_list<uint64_t>(&piMemGetInfo, mem.get(), PI_MEM_INFO_PITCHES).size(), axes,
                join("physical axes of ", what));
        };
        require_axes(&layout, 1, "a layout with separators at an address, and a count of 0");
        layout.struct_size = offsetof(pi_mem_layout_desc, axis_separator_count);
        require_axes(&layout, 1, "a layout without its last zeros");
        layout.struct_size = sizeof layout;
        layout.axis_separator_count = 1;
        layout.axis_separators = &separator;
        require_axes(&ignorable, 2, "a layout behind what may be ignored");
        layout.struct_size = sizeof layout + longer;
        require_axes(&layout, 2, "a longer layout whose tail is zero");
        chained.tail[longer - 1] = std::byte{1};
        require_refused(fixture.place(), "a longer layout whose last byte is not zero", desc,
                        {PI_ERROR_UNSUPPORTED_FEATURE});
        layout.struct_size = sizeof layout;
        layout.next = &unknown;
        require_refused(fixture.place(), "a layout that chains an unknown desc", desc,
                        {PI_ERROR_UNSUPPORTED_FEATURE});
    }
}

CONFORMANCE_TEST("memory",
                 "an invalid layout is refused, and so is one in a scope without layouts") {
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    const uint64_t extents[] = {5, 7}, deep[] = {5, 7, 1}, empty[] = {5, 0},
                   huge[] = {uint64_t{1} << 40, uint64_t{1} << 40};
    const uint32_t separators[] = {1, 1}, falling[] = {2, 1};
    const uint32_t past_end[] = {2}, zero[] = {0};
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        auto layout = pi::desc<pi_mem_layout_desc>();
        layout.rank = 2;
        layout.element_size = 4;
        layout.extents = extents;
        pi_mem_buffer_desc desc = buffer_desc(5 * 7 * 4);
        desc.scope = scope;
        desc.next = &layout;
        if ((scopes[scope].flags & PI_SCOPE_LAYOUT) == 0) {
            require_refused(fixture.place(), "a layout in a scope without PI_SCOPE_LAYOUT", desc,
                            {PI_ERROR_UNSUPPORTED_FEATURE});
            continue;
        }
        const pi_mem_layout_desc good = layout;
        const auto refused = [&](const char *what, pi_result allowed) {
            require_refused(fixture.place(), what, desc, {allowed});
            layout = good;
        };
        layout.rank = 0;
        refused("rank 0", PI_ERROR_INVALID_VALUE);
        layout.rank = 9;
        refused("rank 9", PI_ERROR_INVALID_VALUE);
        layout.extents = nullptr;
        refused("extents NULL", PI_ERROR_INVALID_NULL_POINTER);
        layout.element_size = 0;
        refused("element_size 0", PI_ERROR_INVALID_SIZE);
        layout.extents = empty;
        refused("an extent of 0", PI_ERROR_INVALID_SIZE);
        layout.extents = huge;
        refused("extents that overflow", PI_ERROR_INVALID_SIZE);
        layout.rank = 1;
        refused("extents that hold less than size", PI_ERROR_INVALID_SIZE);
        layout.axis_separator_count = 1;
        refused("axis_separators NULL", PI_ERROR_INVALID_NULL_POINTER);
        layout.axis_separator_count = 2;
        layout.axis_separators = separators;
        refused("as many separators as axes", PI_ERROR_INVALID_VALUE);
        for (const uint32_t *unordered : {separators, falling}) {
            layout.rank = 3;
            layout.extents = deep;
            layout.axis_separator_count = 2;
            layout.axis_separators = unordered;
            refused("separators that do not increase", PI_ERROR_INVALID_VALUE);
        }
        layout.axis_separator_count = 1;
        layout.axis_separators = past_end;
        refused("a separator behind the last axis", PI_ERROR_INVALID_VALUE);
        layout.axis_separator_count = 1;
        layout.axis_separators = zero;
        refused("a separator before the first axis", PI_ERROR_INVALID_VALUE);
        layout.reserved = 1;
        refused("a reserved word", PI_ERROR_UNSUPPORTED_FEATURE);
        fixture.make_buffer(fixture.place(), desc); // what was refused is all that was wrong
    }
}

} // namespace
} // namespace pi::suite
