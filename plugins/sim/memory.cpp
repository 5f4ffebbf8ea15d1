// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.hpp"

#include "entries.hpp"
#include "plugin.hpp"

#include <pi/sdk/external.hpp>

#include <algorithm>
#include <cstring>

namespace pi::sim {

using sdk::fail;
using sdk::InfoWriter;

// ----- Mem ---------------------------------------------------------------------------------------

Site Mem::site() const {
    if (storage().imported_from())
        return *storage().imported_from();
    const bool host =
        borrowed() ? !device_.spec().integrated && !storage().copied() : scope_spec().in_host;
    return host ? host_site : device_.site();
}

std::byte *Mem::host_pointer() const {
    if (!storage().host_data())
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "memory of scope \"", scope_spec().scope.name, "\" of ",
             device_.spec().name, " is not host visible: map it, or read and write it by commands");
    return host_bytes().at(0);
}

pi_coherence Mem::coherence() const {
    return !storage().host_data() || storage().copied() ? PI_COHERENCE_MAP_UNMAP
           : storage().coherent()                       ? PI_COHERENCE_COHERENT
                                                        : PI_COHERENCE_FLUSH_INVALIDATE;
}

uint64_t Mem::alignment() const {
    const uint64_t device = sdk::alignment_of(bytes().at(0), max_alignment);
    return storage().host_data()
               ? std::min(device, sdk::alignment_of(host_bytes().at(0), max_alignment))
               : device;
}

uint64_t Mem::bus_address() const {
    if (!storage().run())
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the memory may be anywhere: only one with "
                                           "PI_MEM_REQUIRE_CONTIGUOUS has a bus address");
    return scope_spec().bus_address + *storage().run() + layout().at(offset_);
}

void Mem::publish(uint64_t offset, uint64_t size) const {
    if (storage().coherent())
        return;
    const std::lock_guard lock(device_.instance().cache_maintenance());
    sdk::copy_bytes(host_bytes(), offset, bytes(), offset, size);
}

/// Copies only stale bytes: the host may be reading the bytes next to them, from an earlier map.
void Mem::refresh(uint64_t offset, uint64_t size) const {
    if (storage().coherent())
        return;
    const std::lock_guard lock(device_.instance().cache_maintenance());
    constexpr uint64_t line = 64;
    const sdk::LogicalBytes device = bytes(), host = host_bytes();
    for (const uint64_t end = offset + size; offset < end;) {
        const uint64_t step = std::min({line, end - offset, device.run(offset), host.run(offset)});
        const std::byte *const from = device.at(offset);
        std::byte *const to = host.at(offset);
        if (std::memcmp(to, from, step) != 0)
            for (uint64_t byte = 0; byte < step; ++byte)
                if (to[byte] != from[byte])
                    to[byte] = from[byte];
        offset += step;
    }
}

void Mem::spoil(uint64_t offset, uint64_t size) const {
    if (!storage().copied())
        return;
    constexpr std::byte garbage{0xDB};
    sdk::fill_bytes(host_bytes(), offset, size, std::span(&garbage, 1));
}

uint64_t Mem::maintenance_time(uint64_t bytes) const {
    if (storage().coherent())
        return 0;
    return duration_of(device_.maintenance_speed(scope_spec()), bytes);
}

// ----- Checks ------------------------------------------------------------------------------------

namespace {

std::string describe(const Place &place) {
    return place.device.spec().name;
}

bool usable(const Place &place, const Mem &mem) {
    return connect(mem.place(), place, mem.in_host()) == PI_MEMORY_CONNECTION_UNIFIED;
}

void require_usable(const Place &place, const Mem &mem, const sdk::ArgumentName &name) {
    if (!usable(place, mem))
        fail(PI_ERROR_INVALID_MEM_OBJECT, name, " is memory of ", describe(mem.place()),
             &mem.context() == &place.context ? "" : " in another context", ", which ",
             describe(place), " cannot use: their connection is not UNIFIED");
}

const char *requirement_name(uint64_t flag) {
    return flag == PI_MEM_REQUIRE_CONTIGUOUS ? "PI_MEM_REQUIRE_CONTIGUOUS"
                                             : "PI_MEM_REQUIRE_PINNED";
}

void check_requirements(const Device &owner, const pi_mem_buffer_desc &desc) {
    const pi_memory_scope &scope = owner.spec().scopes[desc.scope].scope;
    for (const auto &[flag, needed] :
         {std::pair<uint64_t, uint64_t>{PI_MEM_REQUIRE_CONTIGUOUS, PI_SCOPE_CONTIGUOUS},
          {PI_MEM_REQUIRE_PINNED, PI_SCOPE_PINNED}}) {
        if (!(desc.flags & flag))
            continue;
        if (!(scope.flags & needed))
            fail(PI_ERROR_UNSUPPORTED_FEATURE, requirement_name(flag), ": scope ", desc.scope, " (",
                 scope.name, ") of ", owner.spec().name, " does not have it in its flags");
        if (desc.flags & PI_MEM_USE_HOST_PTR)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, requirement_name(flag),
                 " is for memory of the device: memory that PI_MEM_USE_HOST_PTR uses is not "
                 "changed");
    }
}

uint64_t checked_alignment(const Device &owner, const pi_mem_buffer_desc &desc) {
    const uint64_t asked = desc.alignment;
    if (asked > max_alignment)
        fail(PI_ERROR_INVALID_ALIGNMENT, "alignment is ", asked, "; at most ", max_alignment,
             " bytes can be honoured");
    return std::max(asked, owner.spec().scopes[desc.scope].scope.min_alignment);
}

void check_export(const Device &owner, const pi_mem_buffer_desc &desc) {
    const uint32_t possible = owner.export_types(), wanted = owner.spec().export_handle_types;
    if (desc.export_types & wanted & ~possible)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "export_types has PI_EXTERNAL_DMA_BUF_FD, but there is no /dev/udmabuf to make one "
             "of simulated memory (a kernel with CONFIG_UDMABUF; modprobe udmabuf)");
    if (desc.export_types & ~possible)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "export_types is 0x", std::hex, desc.export_types, "; ",
             owner.spec().name, " exports 0x", possible,
             " (export_handle_types in the machine file)");
    sdk::check_export_requirements(desc);
    if (desc.export_types && sdk::find_chained(desc.next, PI_TYPE_MEM_LAYOUT_DESC))
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "export_types with a pi_mem_layout_desc: an importer does not know its rows");
}

void check_buffer(const Device &owner, const pi_mem_buffer_desc &desc) {
    sdk::check_buffer(desc);
    if (desc.scope >= owner.scope_count())
        fail(PI_ERROR_INVALID_VALUE, "scope is ", desc.scope, "; ", owner.spec().name, " has ",
             owner.scope_count(), ", numbered from 0");
    check_requirements(owner, desc);
    check_export(owner, desc);
}

Layout read_layout(const Device &owner, const pi_mem_buffer_desc &desc) {
    const void *chained = sdk::find_chained(desc.next, PI_TYPE_MEM_LAYOUT_DESC);
    if (!chained)
        return {};
    if (!(owner.spec().scopes[desc.scope].scope.flags & PI_SCOPE_LAYOUT))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "scope ", desc.scope, " of ", owner.spec().name,
             " has no n-D layouts: its flags lack PI_SCOPE_LAYOUT");
    if (desc.flags & PI_MEM_USE_HOST_PTR)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "PI_MEM_USE_HOST_PTR with a pi_mem_layout_desc: the application's memory has no rows "
             "of the plugin's pitch; PI_MEM_COPY_HOST_PTR can be used");
    return {
        sdk::read_desc(static_cast<const pi_mem_layout_desc *>(chained), PI_TYPE_MEM_LAYOUT_DESC),
        desc.size};
}

/// Imported application memory is coherent with the device as the device's own memory is, if the
/// host can see that at all.
Storage::Borrowing borrowing(const Device &device) {
    const uint64_t flags = device.spec().scopes[0].scope.flags;
    return device.spec().host_pointer_copies ? Storage::Borrowing::copied
           : flags & PI_SCOPE_COHERENT || !(flags & PI_SCOPE_HOST_VISIBLE)
               ? Storage::Borrowing::coherent
               : Storage::Borrowing::cached;
}

/// A range of a memory object, extended to whole units of flush_atom from its root's start.
struct Atoms {
    Atoms(const Mem &mem, uint64_t offset, uint64_t size) : root(mem.root() ? *mem.root() : mem) {
        sdk::check_range(offset, size, mem.size(), "mem");
        static_cast<void>(mem.host_pointer()); // without one there is nothing to flush
        if (mem.storage().copied())
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "the coherence of mem is PI_COHERENCE_MAP_UNMAP; "
                                               "the host touches it between map and unmap");
        const uint64_t atom = root.scope_spec().scope.flush_atom;
        begin = (mem.offset() + offset) / atom * atom;
        const uint64_t last = sdk::align_up(mem.offset() + offset + size, atom);
        length = std::min(last, root.size()) - begin;
    }
    const Mem &root;
    uint64_t begin, length;
};

} // namespace

Mem &checked_mem(const Place &place, pi_mem mem, const sdk::ArgumentName &name) {
    Mem &found = sdk::checked<Mem>(place.context.host(), mem, name);
    require_usable(place, found, name);
    return found;
}

void check_copy(const Place &place, const Mem &src, const Mem &dst) {
    const bool moves =
        connect(src.place(), dst.place(), src.in_host()) != PI_MEMORY_CONNECTION_NONE;
    // An end outside the queue's place need not be UNIFIED with it if the other end is in that
    // place and the copy's connection is not NONE.
    if (!(moves && dst.place() == place))
        require_usable(place, src, "src");
    if (!(moves && src.place() == place))
        require_usable(place, dst, "dst");
}

void check_offset(const Mem &mem, uint64_t offset, const Device &user,
                  const sdk::ArgumentName &name) {
    const uint64_t whole = mem.offset() + offset;
    uint64_t alignment = mem.scope_spec().scope.offset_alignment;
    if (&user != &mem.device())
        alignment = std::max(alignment, user.spec().scopes[0].scope.offset_alignment);
    if (whole % alignment)
        fail(PI_ERROR_MISALIGNED_OFFSET, name, " begins ", whole,
             " bytes into its root; a multiple of ", alignment, " is needed on ", user.spec().name);
}

namespace entries {

pi_result PI_CALL piMemBufferCreate(pi_context context, pi_device device,
                                    const pi_mem_buffer_desc *desc, pi_mem *out_mem) {
    return sdk::call<Context>(context, [&](Context &self) {
        Device &owner = self.device(device);
        const pi_mem_buffer_desc known =
            sdk::read_desc(desc, PI_TYPE_MEM_BUFFER_DESC, PI_TYPE_MEM_LAYOUT_DESC);
        sdk::require(out_mem, "out_mem");
        check_buffer(owner, known);
        const uint64_t alignment = checked_alignment(owner, known);
        Layout layout = read_layout(owner, known);
        owner.require_alive();
        const uint64_t bytes = layout.physical_size(known.size);
        Storage storage =
            known.flags & PI_MEM_USE_HOST_PTR
                ? Storage::borrow(known.host_ptr, known.size, borrowing(owner))
                : Storage::allocate(owner, known.scope, bytes, alignment,
                                    known.flags & PI_MEM_REQUIRE_CONTIGUOUS, known.export_types);
        auto mem = sdk::make<Mem>(self, owner, known, pi_memory_kind{PI_MEMORY_KIND_BUFFER},
                                  std::move(layout), std::move(storage));
        if (known.flags & PI_MEM_COPY_HOST_PTR) {
            sdk::copy_bytes(known.host_ptr, 0, mem->bytes(), 0, known.size);
            mem->refresh(0, known.size);
        }
        *out_mem = mem.give();
    });
}

pi_result PI_CALL piMemBufferPartition(pi_mem mem, const pi_mem_partition_desc *desc,
                                       pi_mem *out_mem) {
    return sdk::call<Mem>(mem, [&](Mem &self) {
        const pi_mem_partition_desc known = sdk::read_desc(desc, PI_TYPE_MEM_PARTITION_DESC);
        sdk::require(out_mem, "out_mem");
        sdk::check_partition(known, self.size(), self.flags());
        check_offset(self, known.offset, self.device(), "offset");
        self.device().require_alive();
        const uint64_t flags = sdk::view_flags(known.flags, self.flags());
        Mem &root = self.root() ? *self.root() : self;
        *out_mem = sdk::make<Mem>(root, flags, self.offset() + known.offset, known.size).give();
    });
}

namespace {

void check_import_type(const Device &owner, pi_external_type type) {
    if (!(owner.import_types() & sdk::external_bit(type)))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "handle.type is ", type, "; ", owner.spec().name,
             " imports the types 0x", std::hex, owner.import_types(),
             " (host_pointer_import and external_handle_types in the machine file)");
}

Storage borrow_pointer(const Device &owner, const pi_mem_import_desc &desc) {
    std::byte *begin = sdk::import_pointer(desc);
    const uint64_t alignment = owner.spec().host_pointer_alignment;
    const uint64_t has = sdk::alignment_of(begin, alignment);
    if (has < alignment || desc.size % alignment)
        fail(PI_ERROR_MISALIGNED_POINTER, "pointer and offset give ",
             static_cast<const void *>(begin), ", aligned to ", has, " bytes, and size is ",
             desc.size, "; ", owner.spec().name, " imports multiples of ", alignment);
    return Storage::borrow(begin, desc.size, borrowing(owner));
}

} // namespace

pi_result PI_CALL piMemImport(pi_context context, pi_device device, const pi_mem_import_desc *desc,
                              pi_mem *out_mem) {
    return sdk::call<Context>(context, [&](Context &self) {
        Device &owner = self.device(device);
        const pi_mem_import_desc known = sdk::read_import(desc);
        sdk::require(out_mem, "out_mem");
        check_import_type(owner, known.handle.type);
        owner.require_alive();
        const bool file = known.handle.type != PI_EXTERNAL_HOST_POINTER;
        Storage storage = file ? Storage::import(owner, known) : borrow_pointer(owner, known);
        pi_mem_buffer_desc as_buffer{};
        as_buffer.flags = known.flags;
        as_buffer.size = known.size;
        *out_mem =
            sdk::make<Mem>(self, owner, as_buffer,
                           pi_memory_kind{file ? PI_MEMORY_KIND_BUFFER : PI_MEMORY_KIND_IMPORTED},
                           Layout(), std::move(storage))
                .give();
    });
}

pi_result PI_CALL piMemGetInfo(pi_mem mem, pi_mem_info name, uint64_t size, void *value,
                               uint64_t *out_size) {
    static constexpr sdk::InfoRow<Mem> rows[] = {
        {PI_MEM_INFO_COHERENCE, [](Mem &m, const InfoWriter &write) { write(m.coherence()); }},
        {PI_MEM_INFO_DEVICE_ADDRESS,
         [](Mem &m, const InfoWriter &write) {
             write(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(m.bytes().at(0))));
         }},
        {PI_MEM_INFO_BUS_ADDRESS, [](Mem &m, const InfoWriter &write) { write(m.bus_address()); }},
        {PI_MEM_INFO_PITCHES, [](Mem &m, const InfoWriter &write) { write(m.layout().pitches()); }},
    };
    return sdk::call<Mem>(mem, [&](Mem &self) {
        sdk::answer_info<Mem>(self, sdk::mem_rows<Mem>, rows, name, size, value, out_size);
    });
}

pi_result PI_CALL piMemGetHostPointer(pi_mem mem, void **out_pointer) {
    return sdk::call<Mem>(mem, [&](Mem &self) {
        sdk::require(out_pointer, "out_pointer");
        *out_pointer = self.host_pointer();
    });
}

pi_result PI_CALL piMemFlush(pi_mem mem, uint64_t offset, uint64_t size) {
    return sdk::call<Mem>(mem, [&](Mem &self) {
        const Atoms atoms(self, offset, size);
        self.device().require_alive();
        atoms.root.publish(atoms.begin, atoms.length);
        self.device().instance().timeline().spend(self.maintenance_time(atoms.length));
    });
}

pi_result PI_CALL piMemInvalidate(pi_mem mem, uint64_t offset, uint64_t size) {
    return sdk::call<Mem>(mem, [&](Mem &self) {
        const Atoms atoms(self, offset, size);
        self.device().require_alive();
        atoms.root.refresh(atoms.begin, atoms.length);
        self.device().instance().timeline().spend(self.maintenance_time(atoms.length));
    });
}

} // namespace entries

} // namespace pi::sim
