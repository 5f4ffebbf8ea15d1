// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "linear_world.hpp"

#include "checks.hpp"

#include <algorithm>
#include <cstring>

namespace pi::suite {
namespace {

uint64_t span_of(const uint64_t (&extent)[3], const uint64_t (&pitch)[2]) {
    const uint64_t row = pitch[0] != 0 ? pitch[0] : extent[0];
    const uint64_t slice = pitch[1] != 0 ? pitch[1] : row * extent[1];
    return (extent[2] - 1) * slice + (extent[1] - 1) * row + extent[0];
}

// One of the two ends of a transfer is a thing: a command from it, or to it.
pi_result try_transfer(pi_queue queue, const Thing &thing, bool to_thing, Bytes &host,
                       const Regions &regions, const Waits &waits, pi_event *event) {
    if (const Mem *mem = std::get_if<Mem>(&thing.object))
        return to_thing ? try_enqueue(queue, write_desc(*mem, host, regions), waits, event)
                        : try_enqueue(queue, read_desc(*mem, host, regions), waits, event);
    std::byte *const usm = std::get<Usm>(thing.object).at();
    return try_enqueue(queue,
                       to_thing ? usm_copy_desc(host.data(), usm, regions)
                                : usm_copy_desc(usm, host.data(), regions),
                       waits, event);
}

pi_result try_copy(pi_queue queue, const Thing &src, const Thing &dst, const Regions &regions,
                   const Waits &waits, pi_event *event) {
    if (const Mem *mem = std::get_if<Mem>(&src.object))
        return try_enqueue(queue, copy_desc(*mem, std::get<Mem>(dst.object), regions), waits,
                           event);
    return try_enqueue(
        queue,
        usm_copy_desc(std::get<Usm>(src.object).at(), std::get<Usm>(dst.object).at(), regions),
        waits, event);
}

pi_result try_fill(pi_queue queue, const Thing &thing, uint64_t offset, uint64_t size,
                   const Bytes &pattern, const Waits &waits, pi_event *event) {
    if (const Mem *mem = std::get_if<Mem>(&thing.object)) {
        auto desc = pi::desc<pi_buffer_fill_desc>();
        desc.mem = *mem;
        desc.pattern = pattern.data();
        desc.pattern_size = pattern.size();
        desc.offset = offset;
        desc.size = size;
        return try_enqueue(queue, desc, waits, event);
    }
    return try_enqueue(queue, usm_fill_desc(std::get<Usm>(thing.object).at(offset), pattern, size),
                       waits, event);
}

// An action's command that must be accepted.
template <typename Try>
Event accepted(const std::string &text, Try &&try_command) {
    Event event;
    require_success(try_command(event.out()), text);
    return event;
}

// Moves the bytes of a region between the models of two things that may share one.
void apply_region(const pi_region &region, const std::byte *src, std::byte *dst) {
    for_each_row(region, [&](uint64_t from, uint64_t to, uint64_t size) {
        std::memcpy(dst + to, src + from, size);
    });
}

} // namespace

pi_region draw_region(Draw &draw, uint64_t src_size, uint64_t dst_size) {
    pi_region region{};
    const uint64_t most = std::min(src_size, dst_size);
    uint64_t(&extent)[3] = region.extent;
    extent[0] = draw(1, draw(0, 3) == 1 ? most : std::min<uint64_t>(most, 24));
    extent[1] = draw(1, 5);
    extent[2] = draw(1, 3);
    const uint64_t gaps[] = {draw(0, 9), draw(0, 13), draw(0, 9), draw(0, 13)};
    const auto fits = [&](uint64_t(&pitch)[2], uint64_t row_gap, uint64_t slice_gap,
                          uint64_t size) {
        pitch[0] = row_gap == 0 ? 0 : extent[0] + row_gap;
        const uint64_t row = pitch[0] != 0 ? pitch[0] : extent[0];
        pitch[1] = slice_gap == 0 ? 0 : row * extent[1] + slice_gap;
        return span_of(extent, pitch) <= size;
    };
    while (!fits(region.src_pitch, gaps[0], gaps[1], src_size) ||
           !fits(region.dst_pitch, gaps[2], gaps[3], dst_size))
        --(extent[2] > 1 ? extent[2] : extent[1]);
    region.src_offset = draw(0, src_size - span_of(extent, region.src_pitch));
    region.dst_offset = draw(0, dst_size - span_of(extent, region.dst_pitch));
    return region;
}

Bytes counted_bytes(uint64_t size, uint64_t first) {
    Bytes bytes(size);
    for (uint64_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(first + 7 * i);
    return bytes;
}

void LinearWorld::add_buffer(const std::string &name, const pi_mem_buffer_desc &desc) {
    Thing thing{name, fixture_.make_buffer(fixture_.place(), desc),
                std::make_shared<Bytes>(desc.size), 0, desc.size};
    fixture_.upload(fixture_.make_queue(), std::get<Mem>(thing.object), *thing.model);
    things_.push_back(std::move(thing));
}

void LinearWorld::add_views(Draw &draw, uint64_t count) {
    const std::vector<pi_memory_scope> scopes = fixture_.scopes();
    for (uint64_t i = 0; i < count; ++i) {
        const Thing &parent = draw.one_of(things_);
        const Mem &mem = std::get<Mem>(parent.object);
        const uint64_t unit =
            scopes.at(get_info<uint32_t>(&piMemGetInfo, mem.get(), PI_MEM_INFO_SCOPE))
                .offset_alignment;
        const uint64_t offset = unit * draw(0, (parent.size - 1) / unit);
        const uint64_t size = draw(1, parent.size - offset);
        things_.push_back({join("view [", offset, ", ", offset + size, ") of ", parent.name),
                           fixture_.make_view(mem, offset, size), parent.model,
                           parent.begin + offset, size});
    }
}

Thing &LinearWorld::draw_thing(Draw &draw) {
    std::vector<Thing *> there;
    for (Thing &thing : things_)
        if (!std::holds_alternative<std::monostate>(thing.object))
            there.push_back(&thing);
    return *draw.one_of(there);
}

Action LinearWorld::lay_out(Draw &draw) {
    constexpr Action (LinearWorld::*kinds[])(Draw &) = {&LinearWorld::write, &LinearWorld::read,
                                                        &LinearWorld::copy, &LinearWorld::fill,
                                                        &LinearWorld::touch};
    return (this->*draw.one_of(kinds))(draw);
}

void LinearWorld::require_models(pi_queue queue) {
    for (const Thing &thing : things_) {
        if (std::holds_alternative<std::monostate>(thing.object))
            continue;
        Bytes bytes(thing.size);
        const Regions whole{linear(0, 0, thing.size)};
        fixture_.wait(accepted("the last read", [&](pi_event *event) {
            return try_transfer(queue, thing, false, bytes, whole, {}, event);
        }));
        require_same_bytes(bytes.data(), thing.bytes(), thing.size, thing.name + " at the end");
    }
}

Action LinearWorld::write(Draw &draw) {
    const Thing &thing = draw_thing(draw);
    const pi_region region = draw_region(draw, thing.size, thing.size);
    const uint64_t first = draw(1, 255);
    const auto host = std::make_shared<Bytes>(counted_bytes(thing.size, first));
    const std::string text =
        join("a write to ", thing.name, ", ", text_of(region), ", of bytes from ", first);
    return {text,
            {},
            {thing.model},
            false,
            [=, &thing](pi_queue queue, const Waits &waits) {
                return accepted(text, [&](pi_event *event) {
                    return try_transfer(queue, thing, true, *host, {region}, waits, event);
                });
            },
            [=, &thing] { apply_region(region, host->data(), thing.bytes()); }};
}

Action LinearWorld::read(Draw &draw) {
    const Thing &thing = draw_thing(draw);
    const pi_region region = draw_region(draw, thing.size, thing.size);
    const auto host = std::make_shared<Bytes>(thing.size, std::byte{0xEE});
    const auto expected = std::make_shared<Bytes>(*host);
    const std::string text = join("a read of ", thing.name, ", ", text_of(region));
    return {text,
            {thing.model},
            {},
            false,
            [=, &thing](pi_queue queue, const Waits &waits) {
                return accepted(text, [&](pi_event *event) {
                    return try_transfer(queue, thing, false, *host, {region}, waits, event);
                });
            },
            [=, &thing] { apply_region(region, thing.bytes(), expected->data()); },
            [=] { require_same_bytes(host->data(), expected->data(), host->size(), text); }};
}

Action LinearWorld::copy(Draw &draw) {
    const Thing &src = draw_thing(draw), &dst = draw_thing(draw);
    const pi_region region = draw_region(draw, src.size, dst.size);
    pi_region in_model = region;
    in_model.src_offset += src.begin;
    in_model.dst_offset += dst.begin;
    const bool refused = src.model == dst.model && overlaps(in_model);
    const std::string text = join("a copy from ", src.name, " to ", dst.name, ", ", text_of(region),
                                  refused ? ", which overlaps itself" : "");
    return {text,
            {src.model},
            {dst.model},
            false,
            [=, &src, &dst](pi_queue queue, const Waits &waits) {
                Event event;
                const pi_result result = try_copy(queue, src, dst, {region}, waits, event.out());
                if (refused)
                    require_error(result, PI_ERROR_MEM_COPY_OVERLAP, text);
                else
                    require_success(result, text);
                return event;
            },
            [=, &src, &dst] {
                if (!refused)
                    apply_region(region, src.bytes(), dst.bytes());
            }};
}

Action LinearWorld::fill(Draw &draw) {
    const Thing &thing = draw_thing(draw);
    uint64_t unit = uint64_t{1} << draw(0, 4);
    while (unit > thing.size)
        unit /= 2;
    const uint64_t units = draw(1, thing.size / unit);
    const uint64_t offset = unit * draw(0, thing.size / unit - units), size = unit * units;
    const Bytes pattern = counted_bytes(unit, draw(1, 255));
    const std::string text = join("a fill of ", thing.name, ", ", size, " bytes at ", offset,
                                  ", pattern of ", unit, " from ", int(pattern[0]));
    return {text,
            {},
            {thing.model},
            false,
            [=, &thing](pi_queue queue, const Waits &waits) {
                return accepted(text, [&](pi_event *event) {
                    return try_fill(queue, thing, offset, size, pattern, waits, event);
                });
            },
            [=, &thing] {
                const Bytes bytes = repeated(pattern, size);
                std::copy(bytes.begin(), bytes.end(), thing.bytes() + offset);
            }};
}

Action LinearWorld::touch(Draw &draw) {
    const Thing &thing = draw_thing(draw);
    const Mem *mem = std::get_if<Mem>(&thing.object);
    if (mem == nullptr && !thing.host_visible)
        return read(draw);
    const uint64_t size = draw(1, thing.size), offset = draw(0, thing.size - size);
    const std::byte value{static_cast<uint8_t>(draw(1, 255))};
    const std::string text = join(mem != nullptr ? "a map of " : "the host's use of ", thing.name,
                                  ", ", size, " bytes at ", offset, ", value ", int(value));
    const auto use = [=, &thing](void *pointer) {
        require_same_bytes(pointer, thing.bytes() + offset, size, text);
        static_cast<std::byte *>(pointer)[size - 1] = value;
    };
    return {text,
            {},
            {thing.model},
            true,
            [=, this, &thing](pi_queue queue, const Waits &) {
                if (mem == nullptr) {
                    use(std::get<Usm>(thing.object).at(offset));
                    return Event();
                }
                void *pointer = nullptr;
                fixture_.wait(
                    fixture_.map(queue, *mem, PI_MAP_READ | PI_MAP_WRITE, offset, size, &pointer));
                use(pointer);
                return fixture_.unmap(queue, *mem, pointer);
            },
            [=, &thing] { thing.bytes()[offset + size - 1] = value; }};
}

} // namespace pi::suite
