// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views: the same bytes as their root, at an offset.

#include "checks.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "regions.hpp"
#include "registry.hpp"

#include <algorithm>
#include <cstring>

namespace pi::suite {
namespace {

// A root with random bytes, and the rules of its views.
struct Rooted {
    Fixture &fixture;
    uint64_t alignment; // of offsets
    Bytes model;
    Mem root;
    Queue queue;

    explicit Rooted(Fixture &on, uint64_t atoms = 64)
        : fixture(on), alignment((on.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW"),
                                  std::max<uint64_t>(on.scopes().at(0).offset_alignment, 1))),
          model(on.random_bytes(atoms * alignment + 5)), root(on.make_buffer(on.place(), model)),
          queue(on.make_queue()) {}

    uint64_t random_offset(uint64_t below) {
        return fixture.random(0, (below - 1) / alignment) * alignment;
    }
    Bytes part(uint64_t offset, uint64_t size) const {
        return Bytes(model.begin() + static_cast<std::ptrdiff_t>(offset),
                     model.begin() + static_cast<std::ptrdiff_t>(offset + size));
    }
    void require_root(const std::string &what) {
        fixture.require_contents(queue, root, model, what);
    }
};

void require_view_info(pi_mem view, pi_mem root, uint64_t offset, uint64_t size) {
    require(get_info<pi_mem>(&piMemGetInfo, view, PI_MEM_INFO_PARENT) == root,
            "PI_MEM_INFO_PARENT of a view is not its root");
    require_equal(get_info<uint64_t>(&piMemGetInfo, view, PI_MEM_INFO_OFFSET), offset,
                  "PI_MEM_INFO_OFFSET of a view");
    require_equal(get_info<uint64_t>(&piMemGetInfo, view, PI_MEM_INFO_SIZE), size,
                  "PI_MEM_INFO_SIZE of a view");
}

CONFORMANCE_TEST("memory", "a view and its root see each other's writes") {
    Rooted rooted(fixture);
    for (int round = 0; round < 12; ++round) {
        const uint64_t offset = rooted.random_offset(rooted.model.size());
        const uint64_t size = fixture.random(1, rooted.model.size() - offset);
        const Mem view = fixture.make_view(rooted.root, offset, size);
        const std::string what = join("a view of ", size, " bytes at ", offset);
        require_view_info(view, rooted.root, offset, size);
        fixture.require_contents(rooted.queue, view, rooted.part(offset, size), what);
        // Written through the view, read from the root; no other byte changes.
        const uint64_t length = fixture.random(1, size);
        const uint64_t at = fixture.random(0, size - length);
        const Bytes bytes = fixture.random_bytes(length);
        fixture.upload(rooted.queue, view, bytes, at);
        std::copy(bytes.begin(), bytes.end(),
                  rooted.model.begin() + static_cast<std::ptrdiff_t>(offset + at));
        rooted.require_root("the root of " + what);
        // Written through the root, seen in the view.
        rooted.model = fixture.random_bytes(rooted.model.size());
        fixture.upload(rooted.queue, rooted.root, rooted.model);
        fixture.require_contents(rooted.queue, view, rooted.part(offset, size), what);
    }
}

CONFORMANCE_TEST("memory", "every buffer command works on views") {
    Rooted rooted(fixture);
    const uint64_t half = 32 * rooted.alignment;
    const uint64_t first = rooted.alignment;
    const uint64_t second = half + 3 * rooted.alignment;
    const uint64_t size = 8 * rooted.alignment;
    const Mem a = fixture.make_view(rooted.root, first, size);
    const Mem b = fixture.make_view(rooted.root, second, size);
    const auto at = [&](uint64_t offset) {
        return rooted.model.begin() + static_cast<std::ptrdiff_t>(offset);
    };
    const Bytes pattern = fixture.random_bytes(1);
    fixture.wait(fixture.fill(rooted.queue, a, 1, size - 1, pattern));
    std::fill_n(at(first + 1), size - 1, pattern[0]);
    rooted.require_root("the root after a fill of a view");
    const Regions regions = random_regions(fixture, std::min<uint64_t>(size, 4), size, size);
    fixture.wait(fixture.enqueue(rooted.queue, copy_desc(a, b, regions)));
    Bytes copied(at(second), at(second + size));
    apply(regions, rooted.part(first, size), copied);
    std::copy(copied.begin(), copied.end(), at(second));
    rooted.require_root("the root after a copy between two views");
    void *pointer = nullptr;
    fixture.wait(fixture.map(rooted.queue, b, PI_MAP_READ | PI_MAP_WRITE, 1, size - 1, &pointer));
    require_same_bytes(pointer, copied.data() + 1, size - 1, "a mapped view");
    std::memset(pointer, 0x77, size - 1);
    fixture.wait(fixture.unmap(rooted.queue, b, pointer));
    std::fill_n(at(second + 1), size - 1, std::byte{0x77});
    rooted.require_root("the root after a map of a view");
}

CONFORMANCE_TEST("memory", "a kernel works on a view as on a buffer") {
    Rooted rooted(fixture);
    const Program program = make_program(fixture);
    const Kernel kernel = make_kernel(program, "add");
    const uint64_t step = std::max<uint64_t>(rooted.alignment, 4); // a multiple of both
    const uint64_t words = 4;
    for (uint64_t offset = 0; offset + words * 4 <= rooted.model.size(); offset += 7 * step) {
        const Mem view = fixture.make_view(rooted.root, offset, words * 4);
        Arguments arguments;
        arguments.buffer(view).value(uint32_t{1000});
        fixture.wait(fixture.enqueue(rooted.queue, launch_desc(kernel, arguments, words)));
        std::vector<uint32_t> part = words_of(rooted.part(offset, words * 4));
        for (uint32_t &word : part)
            word += 1000;
        const Bytes bytes = bytes_of(part);
        std::copy(bytes.begin(), bytes.end(),
                  rooted.model.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    rooted.require_root("the root after launches on its views");
}

CONFORMANCE_TEST("memory", "kernels read what is read-only and write what is write-only") {
    const Program program = make_program(fixture);
    const Kernel kernel = make_kernel(program, "combine");
    const Queue queue = fixture.make_queue();
    constexpr uint64_t size = 4096;
    const auto with_access = [&](uint64_t flags, const Bytes &bytes) {
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = bytes.size();
        desc.flags = flags;
        Mem mem = fixture.make_buffer(fixture.place(), desc);
        fixture.upload(queue, mem, bytes);
        return mem;
    };
    const auto view_of = [&](pi_mem mem, uint64_t flags) {
        auto desc = pi::desc<pi_mem_partition_desc>();
        desc.size = size;
        desc.flags = flags;
        Mem view;
        require_success(piMemBufferPartition(mem, &desc, view.out()),
                        "piMemBufferPartition with flags ", flags);
        return view;
    };
    const Bytes a = fixture.random_bytes(size), b = fixture.random_bytes(size);
    std::vector<uint32_t> expected = words_of(a);
    for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = expected[i] * 3 + words_of(b)[i];
    const auto check = [&](pi_mem dst, pi_mem first, pi_mem second, const char *what) {
        Arguments arguments;
        arguments.buffer(dst).buffer(first).buffer(second).value(uint32_t{3});
        fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, size / 4)), what);
        fixture.require_contents(queue, dst, bytes_of(expected), what);
        fixture.require_contents(queue, first, a, "what a kernel has only read");
    };
    const Mem dst = with_access(PI_MEM_WRITE_ONLY, Bytes(size));
    const Mem first = with_access(PI_MEM_READ_ONLY, a), second = with_access(PI_MEM_READ_ONLY, b);
    check(dst, first, second, "a write-only buffer");
    if (!fixture.can(PI_CAPABILITY_VIEW))
        return;
    const Mem both[] = {with_access(0, Bytes(size)), with_access(0, a), with_access(0, b)};
    check(view_of(both[0], PI_MEM_WRITE_ONLY), view_of(both[1], PI_MEM_READ_ONLY),
          view_of(both[2], PI_MEM_READ_ONLY), "a write-only view");
    fixture.require_contents(queue, both[0], bytes_of(expected), "the root of a write-only view");
}

CONFORMANCE_TEST("memory", "a view of a view is a view of the root") {
    Rooted rooted(fixture);
    for (int round = 0; round < 8; ++round) {
        const uint64_t outer = rooted.random_offset(rooted.model.size());
        const uint64_t outer_size = rooted.model.size() - outer;
        const Mem view = fixture.make_view(rooted.root, outer, outer_size);
        const uint64_t inner = rooted.random_offset(outer_size);
        const uint64_t size = fixture.random(1, outer_size - inner);
        Mem both = fixture.make_view(view, inner, size);
        require_view_info(both, rooted.root, outer + inner, size);
        fixture.require_contents(rooted.queue, both, rooted.part(outer + inner, size),
                                 "a view of a view");
    }
}

CONFORMANCE_TEST("memory", "a view of a view outlives both that it was made of") {
    Rooted rooted(fixture);
    const uint64_t offset = 2 * rooted.alignment;
    const uint64_t size = 4 * rooted.alignment;
    Mem view = fixture.make_view(rooted.root, rooted.alignment, 8 * rooted.alignment);
    const Mem both = fixture.make_view(view, rooted.alignment, size);
    view.reset();
    rooted.root.reset();
    // New objects that may get their addresses.
    std::vector<Mem> others;
    for (int i = 0; i < 8; ++i)
        others.push_back(
            fixture.make_buffer(fixture.place(), Bytes(rooted.model.size(), std::byte{0xEE})));
    fixture.require_contents(rooted.queue, both, rooted.part(offset, size),
                             "a view whose root was released");
    const auto root = get_info<pi_mem>(&piMemGetInfo, both.get(), PI_MEM_INFO_PARENT);
    require_equal(get_info<uint64_t>(&piMemGetInfo, root, PI_MEM_INFO_SIZE),
                  uint64_t{rooted.model.size()}, "the size of a released root, borrowed");
}

CONFORMANCE_TEST("memory", "a view answers every info name by its type, and as its root") {
    Rooted rooted(fixture);
    const Mem view = fixture.make_view(rooted.root, rooted.alignment, rooted.alignment);
    check_info(
        "piMemGetInfo of a view",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piMemGetInfo(view, name, size, value, out_size);
        },
        mem_info_names());
    for (const uint32_t name : {PI_MEM_INFO_CONTEXT, PI_MEM_INFO_DEVICE})
        require(get_info<void *>(&piMemGetInfo, view.get(), name) ==
                    get_info<void *>(&piMemGetInfo, rooted.root.get(), name),
                info_named(&piMemGetInfo, name), " of a view is not its root's");
    for (const uint32_t name : {PI_MEM_INFO_SCOPE, PI_MEM_INFO_COHERENCE, PI_MEM_INFO_KIND})
        require_equal(get_info<uint32_t>(&piMemGetInfo, view.get(), name),
                      get_info<uint32_t>(&piMemGetInfo, rooted.root.get(), name),
                      info_named(&piMemGetInfo, name), " of a view");
    uint64_t address = 0;
    uint64_t root_address = 0;
    if (piMemGetInfo(rooted.root, PI_MEM_INFO_DEVICE_ADDRESS, 8, &root_address, nullptr) ==
        PI_SUCCESS) {
        require_success(piMemGetInfo(view, PI_MEM_INFO_DEVICE_ADDRESS, 8, &address, nullptr),
                        "the device address of a view");
        require_equal(address, root_address + rooted.alignment, "the device address of a view");
    }
    void *pointer = nullptr;
    void *root_pointer = nullptr;
    if (piMemGetHostPointer(rooted.root, &root_pointer) == PI_SUCCESS) {
        require_success(piMemGetHostPointer(view, &pointer), "the host pointer of a view");
        require(pointer == static_cast<std::byte *>(root_pointer) + rooted.alignment,
                "the host pointer of a view is not that many bytes behind its root's");
    }
    uint64_t alignment = 0;
    if (piMemGetInfo(view, PI_MEM_INFO_ALIGNMENT, 8, &alignment, nullptr) == PI_SUCCESS)
        require(address % alignment == 0 && reinterpret_cast<uintptr_t>(pointer) % alignment == 0,
                "a view's addresses are no multiples of its PI_MEM_INFO_ALIGNMENT, ", alignment);
}

CONFORMANCE_TEST("memory", "a view's flags are its own, or its parent's when it has none") {
    Rooted rooted(fixture);
    const auto flags_of = [](pi_mem mem) {
        return get_info<uint64_t>(&piMemGetInfo, mem, PI_MEM_INFO_FLAGS);
    };
    auto desc = pi::desc<pi_mem_partition_desc>();
    desc.size = rooted.alignment;
    for (const uint64_t flags :
         {uint64_t{0}, uint64_t{PI_MEM_READ_ONLY}, uint64_t{PI_MEM_WRITE_ONLY}}) {
        desc.flags = flags;
        Mem view;
        require_success(piMemBufferPartition(rooted.root, &desc, view.out()),
                        "piMemBufferPartition with flags ", flags);
        require_equal(flags_of(view), flags, "PI_MEM_INFO_FLAGS of a view");
    }
    auto read_only = pi::desc<pi_mem_buffer_desc>();
    read_only.size = 4 * rooted.alignment;
    read_only.flags = PI_MEM_READ_ONLY;
    const Mem parent = fixture.make_buffer(fixture.place(), read_only);
    desc.flags = 0;
    Mem view;
    require_success(piMemBufferPartition(parent, &desc, view.out()), "piMemBufferPartition");
    require_equal(flags_of(view), uint64_t{PI_MEM_READ_ONLY},
                  "PI_MEM_INFO_FLAGS of a view without flags of its own");
    // Other flags are the storage's.
    std::vector<std::byte> memory(4 * rooted.alignment);
    auto in_place = pi::desc<pi_mem_buffer_desc>();
    in_place.size = memory.size();
    in_place.flags = PI_MEM_USE_HOST_PTR;
    in_place.host_ptr = memory.data();
    const Mem of_host = fixture.make_buffer(fixture.place(), in_place);
    desc.flags = PI_MEM_READ_ONLY;
    require_success(piMemBufferPartition(of_host, &desc, view.out()), "piMemBufferPartition");
    require_equal(flags_of(view), uint64_t{PI_MEM_READ_ONLY | PI_MEM_USE_HOST_PTR},
                  "PI_MEM_INFO_FLAGS of a view of host memory");
}

CONFORMANCE_TEST("memory", "a view has its parent's access, or less") {
    constexpr uint64_t both = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY;
    const Rooted rooted(fixture);
    const auto refused = [&](const std::string &what, pi_mem mem, uint64_t flags,
                             pi_result error = PI_ERROR_INVALID_VALUE) {
        auto desc = pi::desc<pi_mem_partition_desc>();
        desc.flags = flags;
        desc.size = rooted.alignment;
        require_untouched<pi_mem>("a view of " + what, {error}, [&](pi_mem *out) {
            return piMemBufferPartition(mem, &desc, out);
        });
    };
    for (const uint64_t access : {uint64_t{PI_MEM_READ_ONLY}, uint64_t{PI_MEM_WRITE_ONLY}}) {
        const uint64_t other = both & ~access;
        const char *const name = access == PI_MEM_READ_ONLY ? "read" : "written";
        auto root_desc = pi::desc<pi_mem_buffer_desc>();
        root_desc.size = 4 * rooted.alignment;
        root_desc.flags = access;
        const Mem root = fixture.make_buffer(fixture.place(), root_desc);
        refused(join("the other access, of a buffer that is only ", name), root, other);
        auto desc = pi::desc<pi_mem_partition_desc>();
        desc.flags = access;
        desc.size = 2 * rooted.alignment;
        Mem same, narrowed;
        require_success(piMemBufferPartition(root, &desc, same.out()), "a view of the same access");
        // The parent counts, not the root, which has both.
        require_success(piMemBufferPartition(rooted.root, &desc, narrowed.out()),
                        "a view of less access");
        refused(join("the other access, of a view that is only ", name), narrowed, other);
        require_equal(get_info<uint64_t>(&piMemGetInfo, fixture.make_view(narrowed, 0, 1).get(),
                                         PI_MEM_INFO_FLAGS),
                      access, "PI_MEM_INFO_FLAGS of a view of a view");
    }
    refused("both accesses alone", rooted.root, both);
    refused("a flag that is no access", rooted.root, PI_MEM_COPY_HOST_PTR,
            PI_ERROR_UNSUPPORTED_FEATURE);
}

void require_no_view(pi_mem mem, const std::string &what, uint64_t offset, uint64_t size,
                     std::initializer_list<pi_result> allowed) {
    auto desc = pi::desc<pi_mem_partition_desc>();
    desc.offset = offset;
    desc.size = size;
    require_untouched<pi_mem>("a view of " + what, allowed,
                              [&](pi_mem *out) { return piMemBufferPartition(mem, &desc, out); });
}

CONFORMANCE_TEST("memory", "a view that is not within its parent is refused") {
    const Rooted rooted(fixture);
    const uint64_t atom = rooted.alignment;
    const uint64_t whole = rooted.model.size();
    const std::initializer_list<pi_result> size{PI_ERROR_INVALID_SIZE};
    require_no_view(rooted.root, "0 bytes", 0, 0, size);
    require_no_view(rooted.root, "one byte too many", 0, whole + 1, size);
    require_no_view(rooted.root, "one byte past the end", atom, whole - atom + 1, size);
    require_no_view(rooted.root, "bytes behind the end", 64 * atom + 64 * atom, 1, size);
    require_no_view(rooted.root, "a size that overflows", atom, UINT64_MAX - atom + 1, size);
    require_no_view(rooted.root, "an offset that overflows", UINT64_MAX - atom + 1, 2 * atom, size);
    const Mem view = fixture.make_view(rooted.root, atom, 4 * atom);
    require_no_view(view, "bytes past its parent's end, but not its root's", atom, 4 * atom, size);
    require_error(piMemBufferPartition(rooted.root, nullptr, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piMemBufferPartition with desc NULL");
}

CONFORMANCE_TEST("memory",
                 "a misaligned offset is refused, and the text has the offset and the alignment") {
    fixture.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW");
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    bool any = false;
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        const uint64_t unit = scopes[scope].offset_alignment;
        if (unit == 1)
            continue;
        any = true;
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = 8 * unit;
        desc.scope = scope;
        const Mem root = fixture.make_buffer(fixture.place(), desc);
        const Mem view = fixture.make_view(root, 2 * unit, 4 * unit);
        for (const uint64_t offset : {uint64_t{1}, unit - 1, unit + 1, unit / 2}) {
            require_no_view(root, join("bytes at ", offset), offset, 4,
                            {PI_ERROR_MISALIGNED_OFFSET});
            require_text_names({offset, unit});
            require_no_view(view, join("bytes of a view, at ", offset), offset, 4,
                            {PI_ERROR_MISALIGNED_OFFSET});
            require_text_names({unit});
        }
    }
    if (!any)
        skip("views may begin at any byte");
}

CONFORMANCE_TEST("memory",
                 "a command is refused past the end of its view, although the root is longer") {
    Rooted rooted(fixture);
    const uint64_t size = 4 * rooted.alignment;
    const Mem view = fixture.make_view(rooted.root, rooted.alignment, size);
    const Mem other = fixture.make_buffer(2 * size);
    Bytes host(2 * size);
    const Regions beyond{linear(1, 0, size)};
    const Regions beyond_dst{linear(0, 1, size)};
    const auto refused = [&](const auto &desc) {
        require_untouched<pi_event>(
            join(Description<std::decay_t<decltype(desc)>>::name, " past a view's end"),
            {PI_ERROR_INVALID_SIZE},
            [&](pi_event *out) { return try_enqueue(rooted.queue, desc, {}, out); });
    };
    refused(read_desc(view, host, beyond));
    refused(write_desc(view, host, beyond_dst));
    refused(copy_desc(view, other, beyond));
    refused(copy_desc(other, view, beyond_dst));
    auto fill = pi::desc<pi_buffer_fill_desc>();
    fill.mem = view;
    fill.pattern = host.data();
    fill.pattern_size = 1;
    fill.offset = 1;
    fill.size = size;
    refused(fill);
    void *pointer = nullptr;
    auto map = pi::desc<pi_buffer_map_desc>();
    map.flags = PI_MAP_READ;
    map.mem = view;
    map.offset = 1;
    map.size = size;
    map.out_pointer = &pointer;
    refused(map);
    require_success(piQueueFinish(rooted.queue), "piQueueFinish");
    rooted.require_root("the root after refused commands");
}

CONFORMANCE_TEST("memory", "copies between views of one root are refused where they overlap") {
    Rooted rooted(fixture);
    const uint64_t atom = rooted.alignment;
    const Mem low = fixture.make_view(rooted.root, 0, 8 * atom);
    const Mem high = fixture.make_view(rooted.root, 4 * atom, 8 * atom);
    const auto overlap = [&](pi_mem src, pi_mem dst, const pi_region &region) {
        const Regions regions{region};
        require_untouched<pi_event>(
            "a copy between views that overlap", {PI_ERROR_MEM_COPY_OVERLAP}, [&](pi_event *out) {
                return try_enqueue(rooted.queue, copy_desc(src, dst, regions), {}, out);
            });
    };
    overlap(low, high, linear(0, 0, 4 * atom + 1));
    overlap(high, low, linear(0, 0, 4 * atom + 1));
    overlap(low, high, linear(4 * atom, 0, 1));
    overlap(low, rooted.root, linear(3, 3, 1));
    overlap(rooted.root, high, linear(5 * atom, atom, 1));
    rooted.require_root("the root after refused copies");
    fixture.wait(fixture.copy(rooted.queue, low, 0, high, 0, 4 * atom));
    apply({linear(0, 4 * atom, 4 * atom)}, Bytes(rooted.model), rooted.model);
    rooted.require_root("the root after a copy between halves of its views");
}

} // namespace
} // namespace pi::suite
