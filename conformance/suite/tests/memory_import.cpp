// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Application memory that a device uses in place.

#include "checks.hpp"
#include "host_memory.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "regions.hpp"
#include "registry.hpp"

#include <algorithm>
#include <cstring>

namespace pi::suite {
namespace {

// Memory of several units of the device's alignment, imported as a whole.
struct Imported {
    Fixture &fixture;
    uint64_t alignment;
    HostMemory memory;
    Queue queue;
    Mem mem;
    pi_coherence coherence;

    explicit Imported(Fixture &on, uint64_t least = 1)
        : fixture(on), alignment(std::max(need_import(on), least)),
          memory(size_of(alignment), alignment), queue(on.make_queue()),
          mem((memory.assign(on.random_bytes(memory.size())), make_import(on.place(), memory))),
          coherence(get_info<pi_coherence>(&piMemGetInfo, mem.get(), PI_MEM_INFO_COHERENCE)) {}

    // Not of a power of two bytes, and not too few of them.
    static uint64_t size_of(uint64_t alignment) { return (4096 / alignment + 3) * alignment; }

    // The host's turn with the original pointer, by the object's own rule.
    template <typename Use>
    void as_host(uint64_t map_flags, Use &&use) {
        void *mapped = nullptr;
        if (coherence == PI_COHERENCE_MAP_UNMAP) {
            fixture.wait(fixture.map(queue, mem, map_flags, 0, memory.size(), &mapped));
            require(mapped == memory.data(), "a map of imported memory returned ", mapped,
                    ", it was imported from ", static_cast<void *>(memory.data()));
        } else if (coherence == PI_COHERENCE_FLUSH_INVALIDATE) {
            require_success(piMemInvalidate(mem, 0, memory.size()), "piMemInvalidate");
        }
        use(memory.data());
        if (coherence == PI_COHERENCE_FLUSH_INVALIDATE)
            require_success(piMemFlush(mem, 0, memory.size()), "piMemFlush");
        if (mapped != nullptr)
            fixture.wait(fixture.unmap(queue, mem, mapped));
    }
    void require_host(const Bytes &expected, const std::string &what) {
        as_host(PI_MAP_READ, [&](const std::byte *bytes) {
            require_same_bytes(bytes, expected.data(), expected.size(), what);
        });
    }
};

CONFORMANCE_TEST("memory",
                 "the host sees the device's writes to imported memory through its pointer") {
    Imported imported(fixture);
    Bytes model = imported.memory.bytes();
    const uint64_t size = model.size();
    fixture.require_contents(imported.queue, imported.mem, model, "memory that was just imported");
    for (int round = 0; round < 4; ++round) {
        model = fixture.random_bytes(size);
        fixture.upload(imported.queue, imported.mem, model);
        imported.require_host(model, "the application's memory after a write");
        const uint64_t length = fixture.random(1, size);
        const uint64_t offset = fixture.random(0, size - length);
        fixture.wait(
            fixture.fill(imported.queue, imported.mem, offset, length, Bytes(1, std::byte{0x3C})));
        std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(offset), length, std::byte{0x3C});
        imported.require_host(model, "the application's memory after a fill");
        const Bytes source = fixture.random_bytes(length);
        const Mem src = fixture.make_buffer(fixture.place(), source);
        fixture.wait(fixture.copy(imported.queue, src, 0, imported.mem, offset, length));
        std::copy(source.begin(), source.end(),
                  model.begin() + static_cast<std::ptrdiff_t>(offset));
        imported.require_host(model, "the application's memory after a copy");
    }
}

CONFORMANCE_TEST("memory", "commands see the host's writes to imported memory") {
    Imported imported(fixture);
    for (int round = 0; round < 4; ++round) {
        const Bytes model = fixture.random_bytes(imported.memory.size());
        imported.as_host(PI_MAP_WRITE,
                         [&](std::byte *bytes) { std::memcpy(bytes, model.data(), model.size()); });
        fixture.require_contents(imported.queue, imported.mem, model, "the bytes of a read");
        const Mem dst = fixture.make_buffer(model.size());
        fixture.wait(fixture.copy(imported.queue, imported.mem, 0, dst, 0, model.size()));
        fixture.require_contents(imported.queue, dst, model, "the bytes of a copy");
    }
}

CONFORMANCE_TEST("memory", "a kernel works on imported memory in place") {
    Imported imported(fixture, 4); // a kernel's words
    const Program program = make_program(fixture);
    const Kernel kernel = make_kernel(program, "add");
    const uint64_t words = imported.memory.size() / 4;
    Bytes model = imported.memory.bytes();
    Arguments arguments;
    arguments.buffer(imported.mem).value(uint32_t{12345});
    fixture.wait(fixture.enqueue(imported.queue, launch_desc(kernel, arguments, words)));
    std::vector<uint32_t> expected = words_of(model);
    for (uint32_t &word : expected)
        word += 12345;
    imported.require_host(bytes_of(expected), "the application's memory after a launch");
}

CONFORMANCE_TEST("memory",
                 "imported memory reports its kind, its size and the pointer that it was made of") {
    Imported imported(fixture);
    const pi_mem mem = imported.mem;
    check_info(
        "piMemGetInfo of imported memory",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piMemGetInfo(mem, name, size, value, out_size);
        },
        mem_info_names());
    require_equal(get_info<pi_memory_kind>(&piMemGetInfo, mem, PI_MEM_INFO_KIND),
                  pi_memory_kind{PI_MEMORY_KIND_IMPORTED}, "PI_MEM_INFO_KIND");
    require_equal(get_info<uint64_t>(&piMemGetInfo, mem, PI_MEM_INFO_SIZE), imported.memory.size(),
                  "PI_MEM_INFO_SIZE");
    require(get_info<pi_device>(&piMemGetInfo, mem, PI_MEM_INFO_DEVICE) == fixture.device(),
            "imported memory reports another device");
    require(get_info<pi_context>(&piMemGetInfo, mem, PI_MEM_INFO_CONTEXT) == fixture.context(),
            "imported memory reports another context");
    require(get_info<pi_mem>(&piMemGetInfo, mem, PI_MEM_INFO_PARENT) == nullptr,
            "imported memory reports a parent");
    uint64_t alignment = 0;
    if (piMemGetInfo(mem, PI_MEM_INFO_ALIGNMENT, 8, &alignment, nullptr) == PI_SUCCESS)
        require(alignment != 0 &&
                    reinterpret_cast<uintptr_t>(imported.memory.data()) % alignment == 0,
                "PI_MEM_INFO_ALIGNMENT of imported memory is ", alignment,
                ", of which its pointer is no multiple");
    void *pointer = nullptr;
    const pi_result result = piMemGetHostPointer(mem, &pointer);
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        return;
    require_success(result, "piMemGetHostPointer of imported memory");
    require(pointer == imported.memory.data(), "piMemGetHostPointer of imported memory returned ",
            pointer, ", it was imported from ", static_cast<void *>(imported.memory.data()));
    const uint64_t atom = std::max<uint64_t>(fixture.scopes().at(0).offset_alignment, 1);
    if (!fixture.can(PI_CAPABILITY_VIEW) || 2 * atom > imported.memory.size())
        return;
    const Mem view = fixture.make_view(mem, atom, atom);
    require_success(piMemGetHostPointer(view, &pointer), "piMemGetHostPointer of a view");
    require(pointer == imported.memory.data() + atom, "piMemGetHostPointer of a view from byte ",
            atom, " on returned ", pointer, ", its root is at ",
            static_cast<void *>(imported.memory.data()));
}

CONFORMANCE_TEST("memory", "imported memory has the access flags that it was imported with") {
    Imported imported(fixture);
    pi_mem_import_desc desc = import_desc(imported.memory.data(), imported.memory.size());
    for (const uint64_t flags :
         {uint64_t{0}, uint64_t{PI_MEM_READ_ONLY}, uint64_t{PI_MEM_WRITE_ONLY}}) {
        desc.flags = flags;
        Mem mem;
        require_success(piMemImport(fixture.context(), fixture.device(), &desc, mem.out()),
                        "piMemImport with flags ", flags);
        require_equal(get_info<uint64_t>(&piMemGetInfo, mem.get(), PI_MEM_INFO_FLAGS), flags,
                      "PI_MEM_INFO_FLAGS of imported memory");
    }
    desc.flags = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY;
    require_untouched<pi_mem>(
        "an import for reading only and writing only", {PI_ERROR_INVALID_VALUE},
        [&](pi_mem *out) { return piMemImport(fixture.context(), fixture.device(), &desc, out); });
}

CONFORMANCE_TEST("memory", "an import may begin at an offset, and commands touch no other byte") {
    const uint64_t atom = need_import(fixture);
    const uint64_t part = Imported::size_of(atom);
    HostMemory memory(3 * part, atom);
    Bytes model = fixture.random_bytes(3 * part);
    memory.assign(model);
    const Queue queue = fixture.make_queue();
    // The handle's own offset counts, too.
    for (const auto &[of_handle, of_desc] :
         {std::pair<uint64_t, uint64_t>{0, part}, {part, 0}, {part, part}}) {
        const uint64_t offset = of_handle + of_desc;
        pi_mem_import_desc desc = import_desc(memory.data(), part);
        desc.handle.offset = of_handle;
        desc.offset = of_desc;
        Mem mem;
        require_success(piMemImport(fixture.context(), fixture.device(), &desc, mem.out()),
                        "piMemImport at an offset");
        const auto begin = model.begin() + static_cast<std::ptrdiff_t>(offset);
        const Bytes there(begin, begin + static_cast<std::ptrdiff_t>(part));
        fixture.require_contents(queue, mem, there, "memory imported at an offset");
        const Bytes bytes = fixture.random_bytes(part);
        fixture.upload(queue, mem, bytes);
        std::copy(bytes.begin(), bytes.end(), begin);
        void *pointer = nullptr;
        fixture.wait(fixture.map(queue, mem, PI_MAP_READ, 0, part, &pointer));
        require(pointer == memory.data() + offset,
                "a map of memory imported at an offset returned ", pointer, ", should be ",
                static_cast<void *>(memory.data() + offset));
        fixture.wait(fixture.unmap(queue, mem, pointer));
        require_error(try_enqueue(queue,
                                  [&] {
                                      auto map = pi::desc<pi_buffer_map_desc>();
                                      map.flags = PI_MAP_READ;
                                      map.mem = mem;
                                      map.offset = 1;
                                      map.size = part;
                                      map.out_pointer = &pointer;
                                      return map;
                                  }()),
                      PI_ERROR_INVALID_SIZE, "a map past the end of imported memory");
    }
    // Released, it is the application's again, with all that was written.
    require_same_bytes(memory.data(), model.data(), model.size(),
                       "the application's memory after the import is released");
}

CONFORMANCE_TEST("memory", "memory may be imported again and again, and by two devices") {
    const uint64_t atom = need_import(fixture);
    HostMemory memory(Imported::size_of(atom), atom);
    const Queue queue = fixture.make_queue();
    for (int round = 0; round < 20; ++round) {
        const Bytes bytes = fixture.random_bytes(memory.size());
        memory.assign(bytes);
        const Mem mem = make_import(fixture.place(), memory);
        fixture.require_contents(queue, mem, bytes, "memory that was imported again");
    }
    for (const pi_device device : fixture.devices()) {
        const std::optional<uint64_t> alignment = import_alignment(fixture, device);
        if (!alignment || memory.size() % *alignment != 0 ||
            reinterpret_cast<uintptr_t>(memory.data()) % *alignment != 0)
            continue;
        const Context context = fixture.make_context({device});
        const Place place{device, context};
        const Bytes bytes = memory.bytes();
        const Mem mem = make_import(place, memory);
        fixture.require_contents(fixture.make_queue(place), mem, bytes, "memory on another device");
    }
}

CONFORMANCE_TEST(
    "memory", "a write from imported memory to itself brings what the host wrote outside a map") {
    Imported imported(fixture);
    if (imported.coherence != PI_COHERENCE_MAP_UNMAP)
        skip("imported memory needs no map");
    for (int round = 0; round < 3; ++round) {
        const Bytes bytes = fixture.random_bytes(imported.memory.size());
        imported.memory.assign(bytes);
        const pi_region whole = linear(0, 0, bytes.size());
        auto write = pi::desc<pi_buffer_write_desc>();
        write.mem = imported.mem;
        write.host_ptr = imported.memory.data();
        write.region_count = 1;
        write.regions = &whole;
        fixture.wait(fixture.enqueue(imported.queue, write));
        fixture.require_contents(imported.queue, imported.mem, bytes,
                                 "imported memory that was written to itself");
    }
}

// ----- What cannot be imported -----

void require_refused(Fixture &fixture, const std::string &what, const pi_mem_import_desc &desc,
                     std::initializer_list<pi_result> allowed) {
    require_untouched<pi_mem>("piMemImport of " + what, allowed, [&](pi_mem *out) {
        return piMemImport(fixture.context(), fixture.device(), &desc, out);
    });
}

CONFORMANCE_TEST("memory",
                 "copies between two imports of one host pointer are refused where they overlap") {
    const uint64_t atom = need_import(fixture);
    HostMemory memory(Imported::size_of(atom), atom);
    const uint64_t half = memory.size() / 2;
    Bytes model = fixture.random_bytes(memory.size());
    memory.assign(model);
    const Mem src = make_import(fixture.place(), memory),
              dst = make_import(fixture.place(), memory);
    if (get_info<pi_coherence>(&piMemGetInfo, src.get(), PI_MEM_INFO_COHERENCE) !=
        PI_COHERENCE_COHERENT)
        skip("an import is not coherent with the host: two imports do not share bytes at once");
    const Queue queue = fixture.make_queue();
    for (const pi_region &region :
         {linear(0, 0, half), linear(0, half - 1, half), linear(half - 1, 0, half)}) {
        const Regions regions{region};
        require_untouched<pi_event>("a copy between two imports, " + text_of(region),
                                    {PI_ERROR_MEM_COPY_OVERLAP}, [&](pi_event *out) {
                                        return try_enqueue(queue, copy_desc(src, dst, regions), {},
                                                           out);
                                    });
    }
    fixture.wait(fixture.copy(queue, src, 0, dst, half, half), "a copy between two imports");
    apply({linear(0, half, half)}, Bytes(model), model);
    fixture.require_contents(queue, src, model, "what both imports share");
}

CONFORMANCE_TEST("memory", "an import that cannot be in place is refused with a reason") {
    const uint64_t atom = need_import(fixture);
    const uint64_t size = Imported::size_of(atom);
    HostMemory memory(size, atom);
    const pi_mem_import_desc good = import_desc(memory.data(), size);
    pi_mem_import_desc desc = good;
    desc.handle.pointer = nullptr;
    require_refused(fixture, "NULL", desc, {PI_ERROR_INVALID_NULL_POINTER});
    desc = good;
    desc.size = 0;
    require_refused(fixture, "0 bytes", desc, {PI_ERROR_INVALID_SIZE});
    desc = good;
    desc.size = UINT64_MAX / atom * atom;
    require_refused(
        fixture, "more bytes than there are", desc,
        {PI_ERROR_INVALID_SIZE, PI_ERROR_OUT_OF_DEVICE_MEMORY, PI_ERROR_OUT_OF_HOST_MEMORY});
    // Past the end of the address space, and back to its begin.
    desc = good;
    desc.offset = UINT64_MAX - size + 1;
    desc.size = 2 * size;
    require_refused(fixture, "an offset that wraps", desc, {PI_ERROR_INVALID_SIZE});
    desc = good;
    desc.offset = size;
    desc.handle.offset = UINT64_MAX - size + 1;
    require_refused(fixture, "offsets that wrap together", desc, {PI_ERROR_INVALID_SIZE});
    desc = good;
    desc.handle.pointer = reinterpret_cast<void *>(UINTPTR_MAX - size + 1);
    desc.size = 2 * size;
    require_refused(fixture, "memory behind the last address", desc, {PI_ERROR_INVALID_SIZE});
    desc = good;
    desc.handle.type = 99;
    require_refused(fixture, "the type 99", desc, {PI_ERROR_INVALID_ENUMERATION});
    desc = good;
    desc.handle.flags = 1;
    require_refused(fixture, "a handle with a flag", desc, {PI_ERROR_UNSUPPORTED_FEATURE});
    if (atom == 1)
        return;
    desc = good;
    desc.handle.pointer = memory.data() + 1;
    desc.size = size - atom;
    require_refused(fixture, "a misaligned pointer", desc, {PI_ERROR_MISALIGNED_POINTER});
    require_text_names({atom});
    desc = good;
    desc.size = size - 1;
    require_refused(fixture, "a size that is no multiple of the alignment", desc,
                    {PI_ERROR_MISALIGNED_POINTER, PI_ERROR_INVALID_SIZE});
    require_text_names({atom});
}

CONFORMANCE_TEST("memory", "types of memory that the device does not import are unsupported") {
    fixture.need(PI_CAPABILITY_MEM_IMPORT, "PI_CAPABILITY_MEM_IMPORT");
    uint32_t imports = 0;
    piDeviceGetInfo(fixture.device(), PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES, sizeof imports,
                    &imports, nullptr);
    HostMemory memory(4096, 4096);
    for (uint32_t type = PI_EXTERNAL_HOST_POINTER; type <= PI_EXTERNAL_ZE_IPC; ++type) {
        if ((imports & (1u << type)) != 0)
            continue;
        pi_mem_import_desc desc = import_desc(memory.data(), 4096);
        desc.handle.type = type;
        require_refused(fixture, join("the type ", type), desc, {PI_ERROR_UNSUPPORTED_FEATURE});
    }
    if (import_alignment(fixture, fixture.device()))
        require((imports & (1u << PI_EXTERNAL_HOST_POINTER)) != 0,
                "the device imports host pointers, but PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES is ",
                imports);
}

CONFORMANCE_TEST("memory", "an import's descriptor obeys the rules of descriptors") {
    const uint64_t atom = need_import(fixture);
    HostMemory memory(Imported::size_of(atom), atom);
    const pi_mem_import_desc valid = import_desc(memory.data(), memory.size());
    check_descriptor("piMemImport", valid, offsetof(pi_mem_import_desc, flags),
                     [&](const pi_mem_import_desc *desc) {
                         return try_create<pi_mem>([&](pi_mem *out) {
                             return piMemImport(fixture.context(), fixture.device(), desc, out);
                         });
                     });
    require_error(piMemImport(fixture.context(), fixture.device(), &valid, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piMemImport with out_mem NULL");
    std::vector<pi_device> outside = fixture.devices();
    outside[0] = nullptr;
    for (const pi_device device : outside)
        require_untouched<pi_mem>(
            "piMemImport for a device outside of the context", {PI_ERROR_INVALID_DEVICE},
            [&](pi_mem *out) { return piMemImport(fixture.context(), device, &valid, out); });
}

CONFORMANCE_TEST("memory", "a view reports the kind of memory of its root") {
    fixture.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW");
    Imported imported(fixture);
    const Mem buffer = fixture.make_buffer(imported.memory.size());
    for (const pi_mem root : {imported.mem.get(), buffer.get()}) {
        const Mem view = fixture.make_view(root, 0, imported.alignment);
        const Mem inner = fixture.make_view(view, 0, 1);
        const auto kind = get_info<pi_memory_kind>(&piMemGetInfo, root, PI_MEM_INFO_KIND);
        for (const pi_mem one : {view.get(), inner.get()})
            require_equal(get_info<pi_memory_kind>(&piMemGetInfo, one, PI_MEM_INFO_KIND), kind,
                          "PI_MEM_INFO_KIND of a view");
    }
}

} // namespace
} // namespace pi::suite
