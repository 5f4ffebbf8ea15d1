// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory exported as a file descriptor or another handle, and imported again: one storage, without
// a copy.

#include "checks.hpp"
#include "link.hpp"
#include "regions.hpp"
#include "registry.hpp"
#include "sanitized.hpp"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace pi::suite {
namespace {

constexpr pi_external_type fd_types[] = {PI_EXTERNAL_OPAQUE_FD, PI_EXTERNAL_DMA_BUF_FD};

uint32_t handle_types(pi_device device, pi_device_info name) {
    uint32_t types = 0;
    piDeviceGetInfo(device, name, sizeof types, &types, nullptr);
    return types;
}

/// A descriptor that is closed once.
class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    ~Descriptor() {
        if (fd_ >= 0)
            close(fd_);
    }
    int get() const { return fd_; }

private:
    int fd_;
};

Mem make_exportable(Fixture &fixture, const Place &place, const Bytes &bytes, pi_external_type type,
                    uint32_t scope = 0) {
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = bytes.size();
    desc.scope = scope;
    desc.export_types = 1u << type;
    Mem mem = fixture.make_buffer(place, desc);
    fixture.upload(fixture.make_queue(place), mem, bytes);
    return mem;
}

Mem make_exportable(Fixture &fixture, const Bytes &bytes, pi_external_type type) {
    return make_exportable(fixture, fixture.place(), bytes, type);
}

pi_external_handle export_mem(pi_mem mem, pi_external_type type) {
    auto desc = pi::desc<pi_mem_export_desc>();
    desc.external_type = type;
    pi_external_handle handle{};
    require_success(piMemExport(mem, &desc, &handle), "piMemExport");
    require_equal(handle.type, type, "the type of an exported handle");
    const bool is_fd =
        std::find(std::begin(fd_types), std::end(fd_types), type) != std::end(fd_types);
    require(handle.fd >= 0 || !is_fd, "an exported descriptor is ", handle.fd);
    return handle;
}

/// The same, without a descriptor to close.
pi_external_handle export_whole(pi_mem mem, pi_external_type type) {
    pi_external_handle handle = export_mem(mem, type);
    const Descriptor closed(handle.fd);
    handle.fd = -1;
    return handle;
}

pi_mem_import_desc import_desc(const pi_external_handle &handle) {
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.size = handle.size;
    desc.handle = handle;
    return desc;
}

Mem import_mem(const Place &place, const pi_mem_import_desc &desc) {
    Mem mem;
    require_success(piMemImport(place.context, place.device, &desc, mem.out()), "piMemImport");
    return mem;
}

/// Calls body(type) for each type of descriptor that the device exports and imports; skips if there
/// is none.
template <typename Body>
void for_each_type(Fixture &fixture, Body &&body) {
    fixture.need(PI_CAPABILITY_MEM_EXPORT, "memory export");
    const uint32_t types = handle_types(fixture.device(), PI_DEVICE_INFO_EXPORT_HANDLE_TYPES) &
                           handle_types(fixture.device(), PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES);
    bool any = false;
    for (const pi_external_type type : fd_types) {
        if ((types & (1u << type)) == 0)
            continue;
        any = true;
        body(type);
    }
    if (!any)
        skip("the device exports and imports no file descriptors");
}

CONFORMANCE_TEST("memory", "exported and imported memory is one storage, in both directions") {
    for_each_type(fixture, [&](pi_external_type type) {
        Bytes bytes = fixture.random_bytes(fixture.random(1, 20000));
        const Queue queue = fixture.make_queue();
        const Mem mem = make_exportable(fixture, bytes, type);
        const pi_external_handle handle = export_mem(mem, type);
        const Descriptor descriptor(handle.fd);
        const off_t position = lseek(handle.fd, 0, SEEK_CUR); // -1 of one that has none
        const Context context = fixture.make_context({fixture.device()});
        const Place place{fixture.device(), context};
        const Queue other = fixture.make_queue(place);
        const Mem imported = import_mem(place, import_desc(handle));
        require_equal(lseek(handle.fd, 0, SEEK_CUR), position,
                      "the offset of a descriptor that was imported");
        require_equal(get_info<uint64_t>(&piMemGetInfo, imported.get(), PI_MEM_INFO_SIZE),
                      uint64_t{bytes.size()}, "the size of imported memory");
        fixture.require_contents(other, imported, bytes, "imported memory");
        for (const bool forth : {true, false}) {
            const uint64_t size = fixture.random(1, bytes.size());
            const uint64_t offset = fixture.random(0, bytes.size() - size);
            const Bytes fresh = fixture.random_bytes(size);
            std::copy(fresh.begin(), fresh.end(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(offset));
            fixture.upload(forth ? queue : other, forth ? mem : imported, fresh, offset);
            fixture.require_contents(forth ? other : queue, forth ? imported : mem, bytes,
                                     forth ? "imported memory after a write to the exported"
                                           : "exported memory after a write to the imported");
        }
    });
}

CONFORMANCE_TEST("memory", "memory of a descriptor has its import's access, and is a buffer") {
    for_each_type(fixture, [&](pi_external_type type) {
        const Mem mem = make_exportable(fixture, Bytes(4096), type);
        const pi_external_handle handle = export_mem(mem, type);
        const Descriptor descriptor(handle.fd);
        pi_mem_import_desc desc = import_desc(handle);
        for (const uint64_t flags :
             {uint64_t{0}, uint64_t{PI_MEM_READ_ONLY}, uint64_t{PI_MEM_WRITE_ONLY}}) {
            desc.flags = flags;
            const Mem imported = import_mem(fixture.place(), desc);
            require_equal(get_info<uint64_t>(&piMemGetInfo, imported.get(), PI_MEM_INFO_FLAGS),
                          flags, "PI_MEM_INFO_FLAGS of imported memory");
            // PI_MEMORY_KIND_IMPORTED is of host pointers.
            require_equal(get_info<pi_memory_kind>(&piMemGetInfo, imported.get(), PI_MEM_INFO_KIND),
                          pi_memory_kind{PI_MEMORY_KIND_BUFFER},
                          "PI_MEM_INFO_KIND of imported memory");
        }
    });
}

CONFORMANCE_TEST("memory", "a buffer for export as two types is one storage by either") {
    fixture.need(PI_CAPABILITY_MEM_EXPORT, "memory export");
    const uint32_t types = handle_types(fixture.device(), PI_DEVICE_INFO_EXPORT_HANDLE_TYPES) &
                           handle_types(fixture.device(), PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES);
    for (const pi_external_type type : fd_types)
        if ((types & (1u << type)) == 0)
            skip("the device exports and imports fewer than two types of descriptors");
    Bytes bytes = fixture.random_bytes(5000);
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = bytes.size();
    for (const pi_external_type type : fd_types)
        desc.export_types |= 1u << type;
    const Mem mem = fixture.make_buffer(fixture.place(), desc);
    const Queue queue = fixture.make_queue();
    for (const pi_external_type type : fd_types) {
        const pi_external_handle handle = export_mem(mem, type);
        const Descriptor descriptor(handle.fd);
        const Mem imported = import_mem(fixture.place(), import_desc(handle));
        bytes = fixture.random_bytes(bytes.size());
        fixture.upload(queue, imported, bytes);
        fixture.require_contents(queue, mem, bytes, join("a buffer exported as type ", type));
    }
}

CONFORMANCE_TEST("memory", "imported memory outlives what it was exported from") {
    for_each_type(fixture, [&](pi_external_type type) {
        const Bytes bytes = fixture.random_bytes(5000);
        Mem imported;
        {
            const Mem mem = make_exportable(fixture, bytes, type);
            const pi_external_handle handle = export_mem(mem, type);
            const Descriptor descriptor(handle.fd);
            imported = import_mem(fixture.place(), import_desc(handle));
        }
        fixture.require_contents(fixture.make_queue(), imported, bytes,
                                 "memory whose exporter is gone");
    });
}

CONFORMANCE_TEST("memory",
                 "an exported view has its offset, and each export returns a new file descriptor") {
    fixture.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW");
    const uint64_t unit = std::max<uint64_t>(fixture.scopes().at(0).offset_alignment, 4096);
    for_each_type(fixture, [&](pi_external_type type) {
        const Bytes bytes = fixture.random_bytes(3 * unit);
        const Mem mem = make_exportable(fixture, bytes, type);
        const Mem view = fixture.make_view(mem, unit, unit);
        const pi_external_handle handle = export_mem(view, type);
        const Descriptor first(handle.fd);
        const pi_external_handle again = export_mem(view, type);
        const Descriptor second(again.fd);
        require(first.get() != second.get(), "two exports returned one descriptor");
        require_equal(handle.size, unit, "the size of an exported view");
        require_equal(handle.allocation_size, export_whole(mem, type).allocation_size,
                      "the allocation of an exported view, and that of its root");
        struct stat file {};
        if (fstat(handle.fd, &file) == 0 && file.st_size != 0)
            require(handle.allocation_size <= static_cast<uint64_t>(file.st_size),
                    "the allocation of an exported view is ", handle.allocation_size,
                    ", more than its file's ", file.st_size, " bytes");
        require(handle.allocation_size == 0 ||
                    handle.allocation_size >= handle.offset + handle.size,
                "an export of ", handle.size, " bytes from ", handle.offset,
                " on reports an allocation of ", handle.allocation_size);
        const Mem imported = import_mem(fixture.place(), import_desc(handle));
        const Bytes part(bytes.begin() + static_cast<std::ptrdiff_t>(unit),
                         bytes.begin() + static_cast<std::ptrdiff_t>(2 * unit));
        fixture.require_contents(fixture.make_queue(), imported, part, "an imported view");
        const pi_external_handle whole = export_mem(mem, type);
        const Descriptor third(whole.fd);
        require_equal(handle.offset - whole.offset, unit, "the offset of a view");
        // An import's own offset counts from there, where one is to be had.
        pi_mem_import_desc desc = import_desc(handle);
        desc.offset = 1024;
        desc.size = 512;
        Mem inner;
        const pi_result result =
            piMemImport(fixture.context(), fixture.device(), &desc, inner.out());
        if (result == PI_SUCCESS)
            fixture.require_contents(fixture.make_queue(), inner,
                                     Bytes(part.begin() + 1024, part.begin() + 1536),
                                     "a part of an imported view");
        else
            require_error(result,
                          {PI_ERROR_MISALIGNED_OFFSET, PI_ERROR_MISALIGNED_POINTER,
                           PI_ERROR_INVALID_ALIGNMENT, PI_ERROR_UNSUPPORTED_FEATURE},
                          "an import of 512 bytes from byte 1024 of a view on");
    });
}

CONFORMANCE_TEST("memory", "many threads may be the first to export a buffer") {
    for_each_type(fixture, [&](pi_external_type type) {
        const Bytes bytes = fixture.random_bytes(5000);
        const Queue queue = fixture.make_queue();
        const Mem mem = make_exportable(fixture, bytes, type);
        std::atomic<unsigned> arrived{0};
        constexpr unsigned threads = 8;
        fixture.run_threads(threads, [&](unsigned) {
            for (++arrived; arrived < threads;)
                std::this_thread::yield();
            const pi_external_handle handle = export_mem(mem, type);
            const Descriptor descriptor(handle.fd);
            const Mem imported = import_mem(fixture.place(), import_desc(handle));
            fixture.require_contents(queue, imported, bytes, "what one of many threads exported");
        });
    });
}

CONFORMANCE_TEST("memory", "only buffers created for export can be exported") {
    for_each_type(fixture, [&](pi_external_type type) {
        const Mem mem = fixture.make_buffer(4096);
        auto desc = pi::desc<pi_mem_export_desc>();
        desc.external_type = type;
        require_untouched<pi_external_handle>(
            "the export of a buffer without export_types",
            {PI_ERROR_INVALID_OPERATION, PI_ERROR_INVALID_VALUE, PI_ERROR_UNSUPPORTED_FEATURE},
            [&](pi_external_handle *out) { return piMemExport(mem, &desc, out); });
        const Mem good = make_exportable(fixture, Bytes(4096), type);
        for (const uint32_t bad : {0u, uint32_t{PI_EXTERNAL_ZE_IPC} + 1}) {
            desc.external_type = bad;
            require_untouched<pi_external_handle>(
                join("an export of type ", bad), {PI_ERROR_INVALID_ENUMERATION},
                [&](pi_external_handle *out) { return piMemExport(good, &desc, out); });
        }
        desc.external_type = type;
        require_error(piMemExport(good, &desc, nullptr), PI_ERROR_INVALID_NULL_POINTER,
                      "piMemExport with out_handle NULL");
        check_descriptor("piMemExport", desc, 0, [&](const pi_mem_export_desc *given) {
            pi_external_handle handle{};
            handle.fd = -1;
            const pi_result result = piMemExport(good, given, &handle);
            const Descriptor closed(handle.fd);
            return result;
        });
    });
}

CONFORMANCE_TEST("memory", "a file descriptor that cannot hold the memory is refused") {
    for_each_type(fixture, [&](pi_external_type type) {
        const Mem mem = make_exportable(fixture, Bytes(4096), type);
        const pi_external_handle handle = export_mem(mem, type);
        const Descriptor descriptor(handle.fd);
        const auto refused = [&](const char *what, const pi_mem_import_desc &desc,
                                 std::initializer_list<pi_result> allowed) {
            require_untouched<pi_mem>(join("an import of ", what), allowed, [&](pi_mem *out) {
                return piMemImport(fixture.context(), fixture.device(), &desc, out);
            });
        };
        pi_mem_import_desc desc = import_desc(handle);
        desc.size = 0;
        refused("0 bytes", desc, {PI_ERROR_INVALID_SIZE});
        desc.size = uint64_t{1} << 40;
        refused("more than the descriptor has", desc, {PI_ERROR_INVALID_SIZE});
        if (handle.allocation_size != 0) { // it may be larger than the object
            desc = import_desc(handle);
            desc.offset = handle.allocation_size - handle.offset;
            refused("a range behind the descriptor's end", desc, {PI_ERROR_INVALID_SIZE});
        }
        desc = import_desc(handle);
        desc.offset = UINT64_MAX - 100;
        refused("an offset past its end", desc, {PI_ERROR_INVALID_SIZE});
        desc.handle.offset = 200;
        refused("offsets that are more than there are addresses", desc, {PI_ERROR_INVALID_SIZE});
        desc = import_desc(handle);
        for (uint64_t &word : desc.handle.reserved) {
            word = 1;
            refused("a handle with a reserved word of 1", desc, {PI_ERROR_UNSUPPORTED_FEATURE});
            word = 0;
        }
        desc = import_desc(handle);
        desc.handle.flags = 1;
        refused("a handle with a flag", desc, {PI_ERROR_UNSUPPORTED_FEATURE});
        desc = import_desc(handle);
        desc.handle.fd = -1;
        refused("the descriptor -1", desc, {PI_ERROR_INVALID_VALUE});
        const Descriptor plain(open("/dev/null", O_RDWR | O_CLOEXEC));
        desc.handle.fd = plain.get();
        refused("/dev/null", desc, {PI_ERROR_INVALID_VALUE, PI_ERROR_INVALID_SIZE});
        desc = import_desc(handle);
        desc.own = 1;
        refused("a descriptor that it should own", desc, {PI_ERROR_INVALID_VALUE});
    });
}

std::size_t open_descriptors() {
    const std::filesystem::directory_iterator descriptors("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(descriptors), end(descriptors)));
}

CONFORMANCE_TEST("memory",
                 "exporting and importing again and again leaves no file descriptor behind") {
    for_each_type(fixture, [&](pi_external_type type) {
        // So much that a layer that defers releases, as validate does, defers few.
        const Bytes bytes = fixture.random_bytes(4u << 20);
        const auto pass_on = [&] {
            const Mem mem = make_exportable(fixture, bytes, type);
            const pi_external_handle handle = export_mem(mem, type);
            const Descriptor descriptor(handle.fd);
            const Mem imported = import_mem(fixture.place(), import_desc(handle));
            fixture.require_contents(fixture.make_queue(), imported, bytes, "imported memory");
        };
        // The first pass opens descriptors that a driver keeps.
        pass_on();
        const std::size_t before = open_descriptors();
        constexpr std::size_t rounds = 40;
        for (std::size_t round = 0; round < rounds; ++round)
            pass_on();
        const std::size_t after = open_descriptors();
        require(after < before + rounds, "there were ", before, " open descriptors, and ", after,
                " after ", rounds, " exports and imports, all of them released");
    });
}

/// While it lives the process can open no further descriptor; those that it has stay open.
class NoDescriptorLeft {
public:
    NoDescriptorLeft() {
        getrlimit(RLIMIT_NOFILE, &before_);
        const Descriptor first_free(open("/dev/null", O_RDONLY | O_CLOEXEC));
        require(first_free.get() >= 0, "/dev/null cannot be opened");
        const rlimit none{static_cast<rlim_t>(first_free.get()), before_.rlim_max};
        setrlimit(RLIMIT_NOFILE, &none);
    }
    NoDescriptorLeft(const NoDescriptorLeft &) = delete;
    NoDescriptorLeft &operator=(const NoDescriptorLeft &) = delete;
    ~NoDescriptorLeft() { setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

CONFORMANCE_TEST(
    "memory",
    "an export fails while the process has no file descriptor left, and can be repeated") {
    if (is_sanitized)
        skip("a sanitizer opens descriptors itself, to look at memory");
    for_each_type(fixture, [&](pi_external_type type) {
        const Bytes bytes = fixture.random_bytes(5000);
        const Mem mem = make_exportable(fixture, bytes, type);
        auto desc = pi::desc<pi_mem_export_desc>();
        desc.external_type = type;
        {
            const NoDescriptorLeft none;
            require_untouched<pi_external_handle>(
                "an export without a descriptor left", {PI_ERROR_OUT_OF_RESOURCES},
                [&](pi_external_handle *out) { return piMemExport(mem, &desc, out); });
        }
        const pi_external_handle handle = export_mem(mem, type);
        const Descriptor descriptor(handle.fd);
        const Mem imported = import_mem(fixture.place(), import_desc(handle));
        fixture.require_contents(fixture.make_queue(), imported, bytes, "what was exported then");
    });
}

CONFORMANCE_TEST("memory",
                 "exportable memory that needs a file descriptor is refused while there is none, "
                 "and can be created then") {
    if (is_sanitized)
        skip("a sanitizer opens descriptors itself, to look at memory");
    for_each_type(fixture, [&](pi_external_type type) {
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = 5000;
        desc.export_types = 1u << type;
        const Place place = fixture.place();
        const auto create = [&](pi_mem *out) {
            return piMemBufferCreate(place.context, place.device, &desc, out);
        };
        {
            // A plugin may take a descriptor only when the memory is exported.
            const NoDescriptorLeft none;
            Mem early;
            if (create(early.out()) != PI_SUCCESS)
                require_untouched<pi_mem>("exportable memory without a descriptor left",
                                          {PI_ERROR_OUT_OF_RESOURCES}, create);
        }
        const Mem mem = make_exportable(fixture, fixture.random_bytes(5000), type);
        const Descriptor descriptor(export_mem(mem, type).fd);
    });
}

CONFORMANCE_TEST("memory",
                 "an import that needs a file descriptor fails while there is none, and can be "
                 "repeated") {
    if (is_sanitized)
        skip("a sanitizer opens descriptors itself, to look at memory");
    for_each_type(fixture, [&](pi_external_type type) {
        const Bytes bytes = fixture.random_bytes(5000);
        const Mem mem = make_exportable(fixture, bytes, type);
        const pi_external_handle handle = export_mem(mem, type);
        const Descriptor descriptor(handle.fd);
        const Place place = fixture.place();
        const pi_mem_import_desc desc = import_desc(handle);
        const auto import = [&](pi_mem *out) {
            return piMemImport(place.context, place.device, &desc, out);
        };
        // A plugin that maps the memory needs no descriptor of its own.
        Mem early;
        pi_result result = PI_SUCCESS;
        {
            const NoDescriptorLeft none;
            result = import(early.out());
            if (result != PI_SUCCESS)
                require_untouched<pi_mem>("an import without a descriptor left",
                                          {PI_ERROR_OUT_OF_RESOURCES}, import);
        }
        const Queue queue = fixture.make_queue();
        if (result == PI_SUCCESS)
            fixture.require_contents(queue, early, bytes, "what was imported without a descriptor");
        const Mem imported = import_mem(place, desc);
        fixture.require_contents(queue, imported, bytes, "what was imported then");
    });
}

CONFORMANCE_TEST("memory",
                 "a copy between an export and its import that overlap stays in its destination") {
    for_each_type(fixture, [&](pi_external_type type) {
        constexpr uint64_t half = 4096, shift = 512;
        const Bytes bytes = fixture.random_bytes(3 * half);
        const Mem mem = make_exportable(fixture, bytes, type);
        const pi_external_handle handle = export_mem(mem, type);
        const Descriptor descriptor(handle.fd);
        const Mem imported = import_mem(fixture.place(), import_desc(handle));
        const Queue queue = fixture.make_queue();
        const Regions regions{linear(half - shift, half, half)};
        Event event;
        const pi_result result =
            try_enqueue(queue, copy_desc(mem, imported, regions), {}, event.out());
        if (result == PI_SUCCESS)
            fixture.wait(event, "a copy between an export and its import");
        else // a plugin may know that they are one storage
            require_error(result, PI_ERROR_MEM_COPY_OVERLAP, "a copy within one storage");
        const Bytes after = fixture.download(queue, mem, bytes.size());
        require_same_bytes(after.data(), bytes.data(), half, "what precedes the destination");
        require_same_bytes(after.data() + 2 * half, bytes.data() + 2 * half, half,
                           "what follows the destination");
        if (result != PI_SUCCESS)
            require_same_bytes(after.data() + half, bytes.data() + half, half,
                               "the destination of a refused copy");
        fixture.require_contents(queue, imported, after, "what both share");
    });
}

/// Buffers in a scope of src, exported as each type of the connection: dst imports them, and both
/// see one storage.
void check_shared(Fixture &fixture, uint32_t scope, uint32_t types) {
    const Queue src = fixture.make_queue(fixture.src()), dst = fixture.make_queue(fixture.dst());
    for (pi_external_type type = PI_EXTERNAL_HOST_POINTER; type <= PI_EXTERNAL_ZE_IPC; ++type) {
        if ((types & (1u << type)) == 0)
            continue;
        const Bytes bytes = fixture.random_bytes(6000), fresh = fixture.random_bytes(6000);
        const Mem mem = make_exportable(fixture, fixture.src(), bytes, type, scope);
        const pi_external_handle handle = export_mem(mem, type);
        const Descriptor descriptor(handle.fd);
        const Mem imported = import_mem(fixture.dst(), import_desc(handle));
        const std::string what = join("a buffer in scope ", scope, " as the type ", type);
        fixture.require_contents(dst, imported, bytes, what + ", which dst imports");
        fixture.upload(dst, imported, fresh);
        fixture.require_contents(src, mem, fresh,
                                 what + ", which src exported, after a write of dst");
    }
}

CONFORMANCE_TEST_PAIRS(
    "connection",
    "memory exported by src and imported by dst is one storage, for each handle type of both") {
    const uint32_t exports = handle_types(fixture.src().device, PI_DEVICE_INFO_EXPORT_HANDLE_TYPES);
    const uint32_t imports =
        handle_types(fixture.dst().device, PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES);
    uint32_t all = 0;
    auto query = pi::desc<pi_memory_connection_query>();
    for (query.kind = PI_MEMORY_KIND_BUFFER; query.kind <= PI_MEMORY_KIND_IMPORTED; ++query.kind) {
        const auto scopes = static_cast<uint32_t>(fixture.scopes(fixture.src().device).size());
        for (query.src_scope = 0; query.src_scope < scopes; ++query.src_scope) {
            pi_memory_connection_info info{};
            const pi_result asked = try_connection_info(fixture.src(), fixture.dst(), &query, info);
            if (asked == PI_ERROR_UNSUPPORTED_FEATURE)
                continue; // tested elsewhere
            require_success(asked, "piGetMemoryConnectionInfo");
            const uint32_t shared = info.external_handle_types;
            require((shared & ~(exports & imports)) == 0, "of the kind ", query.kind, " in scope ",
                    query.src_scope, " the ends share the types ", shared, ", but src exports ",
                    exports, " and dst imports ", imports);
            require(!shared || query.kind == PI_MEMORY_KIND_BUFFER, "of the kind ", query.kind,
                    " the ends share the types ", shared, ", but only buffers are exported");
            check_shared(fixture, query.src_scope, shared);
            all |= shared;
        }
    }
    if (fixture.relation() == Relation::one_place)
        for (const pi_external_type type : fd_types)
            require((exports & imports & ~all & (1u << type)) == 0,
                    "a place exports and imports type ", type,
                    ", but its connection with itself has the types ", all);
    if (!all)
        skip("the ends share no type of handles");
}

CONFORMANCE_TEST("memory", "a buffer for export begins with the bytes that host_ptr has") {
    for_each_type(fixture, [&](pi_external_type type) {
        Bytes bytes = fixture.random_bytes(9000);
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.flags = PI_MEM_COPY_HOST_PTR;
        desc.host_ptr = bytes.data();
        desc.size = bytes.size();
        desc.export_types = 1u << type;
        const Mem mem = fixture.make_buffer(fixture.place(), desc);
        fixture.require_contents(fixture.make_queue(), mem, bytes,
                                 "a buffer for export made with PI_MEM_COPY_HOST_PTR");
    });
}

} // namespace
} // namespace pi::suite
