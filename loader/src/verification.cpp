// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verification.hpp"

#include "error.hpp"
#include "pattern.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace pi::loader {
namespace {

// Host memory that a deep verification needs at a time.
constexpr uint64_t piece_size = 4 << 20;
constexpr uint64_t largest_sample = 256 << 10;
constexpr uint64_t deep_size = 256 << 20;
constexpr uint64_t smallest_deep_size = 1 << 20;

void require(pi_result result) {
    if (result != PI_SUCCESS)
        throw CallFailed{result};
}

template <typename Desc>
Desc make_desc(pi_struct_type type) {
    Desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = type;
    return desc;
}

/// What one copy command moves.
struct Section {
    uint64_t src_offset;
    uint64_t dst_offset;
    uint64_t size;
};

/// Sections of one source and destination, and the size that both need.
struct Layout {
    std::vector<Section> sections;
    uint64_t size = 0;

    /// Behind those that are there: `shift` bytes off a page's begin at either end.
    void add(uint64_t bytes, uint64_t src_shift, uint64_t dst_shift) {
        const uint64_t begin = (size + 4095) / 4096 * 4096;
        sections.push_back({begin + src_shift, begin + dst_shift, bytes});
        size = begin + std::max(src_shift, dst_shift) + bytes;
    }
};

// The sizes around which drivers change how they copy, on and off the pages' begins.
Layout sampled(uint64_t largest) {
    constexpr struct {
        uint64_t size, src_shift, dst_shift;
    } rows[] = {{4095, 0, 1},  {4096, 0, 0},  {4097, 5, 2},          {65535, 3, 1},
                {65536, 0, 0}, {65537, 7, 9}, {largest_sample, 0, 0}};
    Layout layout;
    for (const auto &row : rows) {
        if (row.size <= largest)
            layout.add(row.size, row.src_shift, row.dst_shift);
    }
    layout.size = std::bit_ceil(layout.size);
    return layout;
}

Layout whole(uint64_t size) {
    Layout layout;
    layout.add(size, 0, 0);
    return layout;
}

/// What a memory holds: the pattern of one round and, in the sections that were copied into it, that of another.
struct Contents {
    uint64_t round = 0;
    uint64_t copied_round = 0; ///< 0: no sections
};

/// There is no memory of this size: a smaller sample may do.
struct NoRoom : CallFailed {};

/// Memory of one kind at a place: a memory object or, of USM, an address.
class Memory {
public:
    Memory(const pi_dispatch &plugin, const VerifiedPlace &place, pi_memory_kind kind,
           uint32_t scope, uint64_t size)
        : plugin_(plugin), context_(place.context) {
        pi_result result = PI_SUCCESS;
        if (is_usm(kind)) {
            auto desc = make_desc<pi_usm_desc>(PI_TYPE_USM_DESC);
            desc.kind = kind - PI_MEMORY_KIND_USM_HOST + PI_USM_HOST;
            desc.scope = scope;
            desc.size = size;
            result = plugin.piUsmAlloc(place.context, place.device, &desc, &pointer_);
        } else {
            auto desc = make_desc<pi_mem_buffer_desc>(PI_TYPE_MEM_BUFFER_DESC);
            desc.scope = scope;
            desc.size = size;
            result = plugin.piMemBufferCreate(place.context, place.device, &desc, &mem_);
        }
        if (result != PI_SUCCESS)
            throw NoRoom{{result}};
    }
    /// The host's, imported.
    Memory(const pi_dispatch &plugin, const VerifiedPlace &place, Bytes host)
        : plugin_(plugin), context_(place.context) {
        auto desc = make_desc<pi_mem_import_desc>(PI_TYPE_MEM_IMPORT_DESC);
        desc.size = host.size();
        desc.handle.type = PI_EXTERNAL_HOST_POINTER;
        desc.handle.pointer = host.data();
        desc.handle.size = host.size();
        require(plugin.piMemImport(place.context, place.device, &desc, &mem_));
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory() {
        if (mem_ != nullptr)
            plugin_.piMemRelease(mem_);
        if (pointer_ != nullptr)
            plugin_.piUsmFree(context_, pointer_);
    }

    pi_mem mem() const noexcept { return mem_; }
    unsigned char *pointer() const noexcept { return static_cast<unsigned char *>(pointer_); }

    /// Remembers what is written next.
    void hold(const Contents &contents) noexcept { before = std::exchange(now, contents); }

    Contents now;
    Contents before;
    uint64_t base = 0; ///< where the bytes that are tried begin

private:
    static bool is_usm(pi_memory_kind kind) noexcept {
        return kind >= PI_MEMORY_KIND_USM_HOST && kind <= PI_MEMORY_KIND_USM_SHARED;
    }

    const pi_dispatch &plugin_;
    pi_context context_;
    pi_mem mem_ = nullptr;
    void *pointer_ = nullptr;
};

/// An event that is waited for before anything that its command uses is freed.
class Pending {
public:
    Pending(const pi_dispatch &plugin, pi_event event) noexcept : plugin_(&plugin), event_(event) {}
    Pending(Pending &&other) noexcept
        : plugin_(other.plugin_), event_(std::exchange(other.event_, nullptr)) {}
    Pending &operator=(Pending &&) = delete;
    ~Pending() {
        if (event_ == nullptr)
            return;
        plugin_->piEventWait(event_, PI_TIMEOUT_NEVER);
        plugin_->piEventRelease(event_);
    }
    void wait() const { require(plugin_->piEventWait(event_, PI_TIMEOUT_NEVER)); }

private:
    const pi_dispatch *plugin_;
    pi_event event_;
};

/// An in-order queue of a place.
class Lane {
public:
    Lane(const pi_dispatch &plugin, const VerifiedPlace &place) : plugin_(plugin) {
        require(plugin.piQueueCreate(place.context, place.device, nullptr, &queue_));
    }
    Lane(const Lane &) = delete;
    Lane &operator=(const Lane &) = delete;
    ~Lane() { plugin_.piQueueRelease(queue_); }

    void write(const Memory &memory, uint64_t offset, ConstBytes bytes) const {
        const pi_region region = linear(0, memory.base + offset, bytes.size());
        if (memory.mem() == nullptr)
            return copy_usm(bytes.data(), memory.pointer(), region);
        auto desc = make_desc<pi_buffer_write_desc>(PI_TYPE_BUFFER_WRITE_DESC);
        desc.flags = PI_COMMAND_BLOCKING;
        desc.mem = memory.mem();
        desc.host_ptr = bytes.data();
        desc.region_count = 1;
        desc.regions = &region;
        require(plugin_.piEnqueueMemBufferWrite(queue_, &desc, 0, nullptr, nullptr));
    }

    void read(const Memory &memory, uint64_t offset, Bytes bytes) const {
        const pi_region region = linear(memory.base + offset, 0, bytes.size());
        if (memory.mem() == nullptr)
            return copy_usm(memory.pointer(), bytes.data(), region);
        auto desc = make_desc<pi_buffer_read_desc>(PI_TYPE_BUFFER_READ_DESC);
        desc.flags = PI_COMMAND_BLOCKING;
        desc.mem = memory.mem();
        desc.host_ptr = bytes.data();
        desc.region_count = 1;
        desc.regions = &region;
        require(plugin_.piEnqueueMemBufferRead(queue_, &desc, 0, nullptr, nullptr));
    }

    Pending copy(const Memory &src, const Memory &dst, const Section &section) const {
        const pi_region region =
            linear(src.base + section.src_offset, dst.base + section.dst_offset, section.size);
        pi_event event = nullptr;
        if (src.mem() == nullptr) {
            const auto desc = usm_desc(src.pointer(), dst.pointer(), region);
            require(plugin_.piEnqueueUsmCopy(queue_, &desc, 0, nullptr, &event));
            return {plugin_, event};
        }
        auto desc = make_desc<pi_buffer_copy_desc>(PI_TYPE_BUFFER_COPY_DESC);
        desc.src = src.mem();
        desc.dst = dst.mem();
        desc.region_count = 1;
        desc.regions = &region;
        require(plugin_.piEnqueueMemBufferCopy(queue_, &desc, 0, nullptr, &event));
        return {plugin_, event};
    }

    void flush() const { require(plugin_.piQueueFlush(queue_)); }

    /// Calls body(bytes) between a map of these bytes and its unmap.
    template <typename Body>
    void map(const Memory &memory, uint64_t offset, uint64_t size, uint64_t flags,
             Body &&body) const {
        void *pointer = nullptr;
        auto map = make_desc<pi_buffer_map_desc>(PI_TYPE_BUFFER_MAP_DESC);
        map.flags = flags | PI_COMMAND_BLOCKING;
        map.mem = memory.mem();
        map.offset = memory.base + offset;
        map.size = size;
        map.out_pointer = &pointer;
        require(plugin_.piEnqueueMemBufferMap(queue_, &map, 0, nullptr, nullptr));
        body(Bytes(static_cast<unsigned char *>(pointer), size));
        auto unmap = make_desc<pi_unmap_desc>(PI_TYPE_UNMAP_DESC);
        unmap.flags = PI_COMMAND_BLOCKING;
        unmap.mem = memory.mem();
        unmap.pointer = pointer;
        require(plugin_.piEnqueueMemUnmap(queue_, &unmap, 0, nullptr, nullptr));
    }

private:
    static pi_region linear(uint64_t src_offset, uint64_t dst_offset, uint64_t size) {
        pi_region region{};
        region.src_offset = src_offset;
        region.dst_offset = dst_offset;
        region.extent[0] = size;
        return region;
    }
    static pi_usm_copy_desc usm_desc(const void *src, void *dst, const pi_region &region) {
        auto desc = make_desc<pi_usm_copy_desc>(PI_TYPE_USM_COPY_DESC);
        desc.src = src;
        desc.dst = dst;
        desc.region_count = 1;
        desc.regions = &region;
        return desc;
    }
    void copy_usm(const void *src, void *dst, const pi_region &region) const {
        auto desc = usm_desc(src, dst, region);
        desc.flags = PI_COMMAND_BLOCKING;
        require(plugin_.piEnqueueUsmCopy(queue_, &desc, 0, nullptr, nullptr));
    }

    const pi_dispatch &plugin_;
    pi_queue queue_ = nullptr;
};

/// One end: its place, its queue, and what texts call it.
struct End {
    const char *name;
    VerifiedPlace place;
    Lane lane;

    End(const pi_dispatch &plugin, const char *end_name, const VerifiedPlace &end_place)
        : name(end_name), place(end_place), lane(plugin, end_place) {}
};

class Verification {
public:
    Verification(const pi_dispatch &plugin, const VerificationRequest &request, Layout layout)
        : plugin_(plugin), request_(request), layout_(std::move(layout)),
          src_(plugin, "src", request.src), dst_(plugin, "dst", request.dst) {}

    std::string run() {
        Memory source(plugin_, src_.place, request_.how.kind, request_.how.src_scope, layout_.size);
        return between(source);
    }

    /// Imports all of `host`, tries its bytes from `base` on, and puts them back.
    std::string run_imported(Bytes host, uint64_t base) {
        const Bytes tried = host.subspan(base, layout_.size);
        const std::vector<unsigned char> saved(tried.begin(), tried.end());
        const auto put_back = [&](Bytes bytes) {
            std::copy(saved.begin(), saved.end(), bytes.begin());
        };
        // Once more behind the import's end, which may still write over them.
        const auto at_end = [&](const void *) { put_back(tried); };
        const std::unique_ptr<const void, decltype(at_end)> guard(saved.data(), at_end);

        Memory source(plugin_, src_.place, host);
        source.base = base;
        const HostAccess access{plugin_, src_.lane, source, tried, coherence(source)};
        std::string seen = imported(source, access);
        const bool same_place = request_.src.device == request_.dst.device &&
                                request_.src.context == request_.dst.context;
        if (seen.empty() && !same_place)
            seen = between(source);
        access.write(put_back);
        return seen;
    }

private:
    /// How the host reaches memory that was imported from it.
    struct HostAccess {
        const pi_dispatch &plugin;
        const Lane &lane;
        const Memory &memory;
        Bytes bytes;
        pi_coherence coherence;

        template <typename Body>
        void write(Body &&body) const {
            if (coherence == PI_COHERENCE_MAP_UNMAP)
                return lane.map(memory, 0, bytes.size(), PI_MAP_WRITE, body);
            body(bytes);
            if (coherence == PI_COHERENCE_FLUSH_INVALIDATE)
                require(plugin.piMemFlush(memory.mem(), memory.base, bytes.size()));
        }
        template <typename Body>
        void read(Body &&body) const {
            if (coherence == PI_COHERENCE_MAP_UNMAP)
                return lane.map(memory, 0, bytes.size(), PI_MAP_READ, body);
            if (coherence == PI_COHERENCE_FLUSH_INVALIDATE)
                require(plugin.piMemInvalidate(memory.mem(), memory.base, bytes.size()));
            body(bytes);
        }
    };

    pi_coherence coherence(const Memory &memory) const {
        pi_coherence answer = PI_COHERENCE_UNKNOWN;
        require(plugin_.piMemGetInfo(memory.mem(), PI_MEM_INFO_COHERENCE, sizeof answer, &answer,
                                     nullptr));
        return answer;
    }

    // Host memory that src uses.
    std::string imported(Memory &source, const HostAccess &host) {
        Memory own(plugin_, src_.place, PI_MEMORY_KIND_BUFFER, 0, layout_.size);
        host.write([&](Bytes bytes) { fill_pattern(bytes, hold_next(source), 0); });
        std::string seen = compare(src_, source, "written by the host, read by src");
        if (!seen.empty())
            return seen;
        fill(src_, own);
        copy(src_, source, own);
        seen = compare(src_, own, "copied by src out of the host's memory");
        if (!seen.empty())
            return seen;
        fill(src_, source);
        const auto host_compares = [&](const char *what) {
            host.read([&](Bytes bytes) { seen = difference(bytes, 0, source, what); });
        };
        host_compares("written by src, read by the host");
        if (!seen.empty())
            return seen;
        fill(src_, own);
        copy(src_, own, source);
        host_compares("copied by src into the host's memory, read by the host");
        return seen;
    }

    std::string between(Memory &source) {
        const pi_memory_kind kind = request_.how.kind != PI_MEMORY_KIND_IMPORTED
                                        ? request_.how.kind
                                        : pi_memory_kind{PI_MEMORY_KIND_BUFFER};
        Memory target(plugin_, dst_.place, kind, request_.how.dst_scope, layout_.size);
        if (request_.connection == PI_MEMORY_CONNECTION_UNIFIED)
            return in_place(source, target);
        std::string seen = migrated(source, target, src_, dst_);
        return seen.empty() ? migrated(source, target, dst_, src_) : seen;
    }

    // Copies on a queue of one end and, of a deep verification, the other way on one of the other meanwhile.
    std::string migrated(Memory &source, Memory &target, const End &by, const End &other) {
        fill(src_, source);
        fill(dst_, target);
        {
            const auto back = traffic(other);
            copy(by, source, target);
        }
        const std::string what =
            fmt::format("copied from src to dst on a queue of {}, read back at ", by.name);
        std::string seen = compare(dst_, target, what + "dst");
        return seen.empty() ? compare(src_, source, what + "src") : seen;
    }

    // Commands of dst use src's memory, and src sees what they wrote.
    std::string in_place(Memory &source, Memory &target) {
        fill(src_, source);
        std::string seen = compare(dst_, source, "written by src, read in place by dst");
        if (!seen.empty())
            return seen;
        fill(dst_, target);
        copy(dst_, source, target);
        seen = compare(dst_, target, "copied by dst out of src's memory");
        if (!seen.empty())
            return seen;
        fill(dst_, source);
        seen = compare(src_, source, "written in place by dst, read by src");
        if (!seen.empty())
            return seen;
        fill(dst_, target);
        copy(dst_, target, source);
        seen = compare(src_, source, "copied by dst into src's memory, read by src");
        if (seen.empty())
            seen = compare(dst_, source, "copied by dst into src's memory, read by dst");
        return seen.empty() && source.mem() != nullptr ? mapped(source) : seen;
    }

    // Maps of dst on src's memory.
    std::string mapped(Memory &source) {
        const uint64_t size = std::min(layout_.size, piece_size);
        std::string seen;
        dst_.lane.map(source, 0, size, PI_MAP_READ, [&](Bytes bytes) {
            seen = difference(bytes, 0, source, "read by dst in a map of src's memory");
        });
        if (!seen.empty())
            return seen;
        dst_.lane.map(source, 0, size, PI_MAP_WRITE,
                      [&](Bytes bytes) { fill_pattern(bytes, hold_next(source), 0); });
        piece_.resize(size);
        render(source.before, 0, piece_);
        src_.lane.read(source, 0, piece_);
        return difference(piece_, 0, source, "written by dst in a map of src's memory");
    }

    /// Copies from dst to src while it lives.
    struct Traffic {
        Memory from;
        Memory to;
        Pending copy;

        Traffic(const Verification &self, const End &by)
            : from(self.plugin_, self.dst_.place, self.request_.how.kind,
                   self.request_.how.dst_scope, self.layout_.size),
              to(self.plugin_, self.src_.place, self.request_.how.kind, self.request_.how.src_scope,
                 self.layout_.size),
              copy(by.lane.copy(from, to, {0, 0, self.layout_.size})) {
            by.lane.flush();
        }
    };
    std::unique_ptr<const Traffic> traffic(const End &by) const {
        pi_memory_connection back = PI_MEMORY_CONNECTION_NONE;
        if (layout_.size >= smallest_deep_size && request_.how.kind != PI_MEMORY_KIND_IMPORTED)
            require(plugin_.piGetMemoryConnection(dst_.place.device, dst_.place.context,
                                                  src_.place.device, src_.place.context, &back));
        if (back != PI_MEMORY_CONNECTION_MIGRATABLE)
            return nullptr;
        return std::make_unique<const Traffic>(*this, by);
    }

    template <typename Body>
    void for_pieces(Body &&body) {
        for (uint64_t begin = 0; begin < layout_.size; begin += piece_size) {
            piece_.resize(std::min(piece_size, layout_.size - begin));
            body(begin);
        }
    }

    /// The round that is written into all of this memory next.
    uint64_t hold_next(Memory &memory) {
        memory.hold({++round_, 0});
        return round_;
    }

    void fill(const End &by, Memory &memory) {
        const uint64_t round = hold_next(memory);
        for_pieces([&](uint64_t begin) {
            fill_pattern(piece_, round, begin);
            by.lane.write(memory, begin, piece_);
        });
    }

    void copy(const End &by, const Memory &from, Memory &to) {
        std::vector<Pending> pending;
        pending.reserve(layout_.sections.size());
        for (const Section &section : layout_.sections)
            pending.push_back(by.lane.copy(from, to, section));
        for (const Pending &event : pending)
            event.wait();
        to.hold({to.now.round, from.now.round});
    }

    /// "" if the memory holds what it should, as read at one end.
    std::string compare(const End &by, const Memory &memory, std::string_view what) {
        std::string seen;
        for_pieces([&](uint64_t begin) {
            if (!seen.empty())
                return;
            // What a read leaves out must not be right by chance.
            render(memory.before, begin, piece_);
            by.lane.read(memory, begin, piece_);
            seen = difference(piece_, begin, memory, what);
        });
        return seen;
    }

    // Calls body(section, where it begins in the piece, its bytes there).
    template <typename Body>
    void for_sections(uint64_t begin, std::size_t size, Body &&body) const {
        for (const Section &section : layout_.sections) {
            const uint64_t first = std::max(begin, section.dst_offset);
            const uint64_t last = std::min(begin + size, section.dst_offset + section.size);
            if (first < last)
                body(section, first - begin, last - first);
        }
    }

    void render(const Contents &contents, uint64_t begin, std::vector<unsigned char> &out) const {
        fill_pattern(out, contents.round, begin);
        if (contents.copied_round == 0)
            return;
        for_sections(begin, out.size(), [&](const Section &section, uint64_t at, uint64_t size) {
            fill_pattern(Bytes(out).subspan(at, size), contents.copied_round,
                         section.src_offset + (begin + at - section.dst_offset));
        });
    }

    std::string difference(ConstBytes actual, uint64_t begin, const Memory &memory,
                           std::string_view what) {
        expected_.resize(actual.size());
        render(memory.now, begin, expected_);
        if (std::memcmp(actual.data(), expected_.data(), actual.size()) == 0)
            return "";
        old_.resize(actual.size());
        render(memory.before, begin, old_);
        std::string seen;
        const auto describe = [&](uint64_t at, uint64_t size) {
            const std::string text = describe_difference(
                ConstBytes(expected_).subspan(at, size), actual.subspan(at, size),
                ConstBytes(old_).subspan(at, size), memory.base + begin + at);
            if (!text.empty())
                seen = fmt::format("of {} {}: {}", size_text(size), text, what);
        };
        // The largest says most, and is the last.
        if (memory.now.copied_round != 0)
            for_sections(begin, actual.size(),
                         [&](const Section &, uint64_t at, uint64_t size) { describe(at, size); });
        if (seen.empty())
            describe(0, actual.size());
        return seen;
    }

    const pi_dispatch &plugin_;
    const VerificationRequest &request_;
    Layout layout_;
    End src_;
    End dst_;
    uint64_t round_ = 0;
    std::vector<unsigned char> piece_;
    std::vector<unsigned char> expected_;
    std::vector<unsigned char> old_;
};

// Calls run(layout) with copies of at most that size, again with less where there is no memory for it.
template <typename Run>
std::string with_room(bool deep, uint64_t largest_copy, Run &&run) {
    std::vector<Layout> layouts;
    for (uint64_t size = deep_size; deep && size >= smallest_deep_size; size /= 2)
        layouts.push_back(whole(size));
    for (const uint64_t largest : {largest_sample, uint64_t{65537}, uint64_t{4097}}) {
        if (largest <= largest_copy)
            layouts.push_back(sampled(largest));
    }
    for (std::size_t i = 0;; ++i) {
        try {
            return run(layouts[i]);
        } catch (const NoRoom &) {
            if (i + 1 == layouts.size())
                throw;
        }
    }
}

std::string verify_import(const pi_dispatch &plugin, const VerificationRequest &request) {
    std::vector<unsigned char> own;
    Bytes host(static_cast<unsigned char *>(request.how.host_ptr), request.how.size);
    if (request.how.host_ptr == nullptr) {
        uint64_t alignment = 0;
        if (plugin.piDeviceGetInfo(request.src.device, PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT,
                                   sizeof alignment, &alignment, nullptr) != PI_SUCCESS)
            alignment = 1;
        alignment = std::clamp<uint64_t>(alignment, 4096, 2 << 20);
        const uint64_t wanted = sampled(largest_sample).size;
        const uint64_t size = (wanted + alignment - 1) / alignment * alignment;
        own.resize(size + alignment);
        const auto address = reinterpret_cast<uintptr_t>(own.data());
        host = Bytes(own).subspan((alignment - address % alignment) % alignment, size);
    }
    // The import has the memory's real size; what is tried of it is at its begin, and a few pages at its end.
    const auto run = [&](const Layout &part, uint64_t base) {
        return Verification(plugin, request, part).run_imported(host, base);
    };
    std::string seen = with_room(false, 65537, [&](const Layout &part) {
        return run(host.size() < part.size ? whole(host.size()) : part, 0);
    });
    const Layout end = sampled(4097);
    return seen.empty() && host.size() > end.size ? run(end, host.size() - end.size) : seen;
}

} // namespace

std::string verify(const pi_dispatch &plugin, const VerificationRequest &request) {
    if (request.how.kind == PI_MEMORY_KIND_IMPORTED)
        return verify_import(plugin, request);
    return with_room(
        (request.how.flags & PI_VERIFY_DEEP) != 0, largest_sample,
        [&](const Layout &layout) { return Verification(plugin, request, layout).run(); });
}

} // namespace pi::loader
