// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "regions.hpp"

#include <algorithm>
#include <cstring>

namespace pi::suite {
namespace {

// Pitches of one end, and its size in bytes.
struct End {
    uint64_t pitch[2];
    uint64_t footprint;
};

End random_end(Fixture &fixture, const uint64_t (&extent)[3]) {
    const uint64_t rows = std::max<uint64_t>(extent[1], 1);
    const uint64_t slices = std::max<uint64_t>(extent[2], 1);
    End end{};
    if (fixture.random(0, 2) != 0)
        end.pitch[0] = extent[0] + fixture.random(0, 9);
    const uint64_t row = end.pitch[0] != 0 ? end.pitch[0] : extent[0];
    if (fixture.random(0, 2) != 0)
        end.pitch[1] = row * rows + fixture.random(0, 13);
    const uint64_t slice = end.pitch[1] != 0 ? end.pitch[1] : row * rows;
    end.footprint = (slices - 1) * slice + (rows - 1) * row + extent[0];
    return end;
}

bool try_region(Fixture &fixture, Room src, Room dst, pi_region &out) {
    out = {};
    const uint64_t most = std::min(src.size, dst.size);
    out.extent[0] =
        fixture.random(1, fixture.random(0, 3) == 0 ? most : std::min<uint64_t>(most, 24));
    out.extent[1] = fixture.random(0, 5);
    out.extent[2] = fixture.random(0, 3);
    const End from = random_end(fixture, out.extent);
    const End to = random_end(fixture, out.extent);
    if (from.footprint > src.size || to.footprint > dst.size)
        return false;
    std::copy_n(from.pitch, 2, out.src_pitch);
    std::copy_n(to.pitch, 2, out.dst_pitch);
    out.src_offset = src.begin + fixture.random(0, src.size - from.footprint);
    out.dst_offset = dst.begin + fixture.random(0, dst.size - to.footprint);
    return true;
}

} // namespace

pi_region random_region(Fixture &fixture, Room src, Room dst) {
    pi_region region{};
    for (int attempt = 0; attempt < 20; ++attempt) {
        if (try_region(fixture, src, dst, region))
            return region;
    }
    // Too little room for rectangles.
    const uint64_t size = fixture.random(1, std::min(src.size, dst.size));
    return linear(src.begin + fixture.random(0, src.size - size),
                  dst.begin + fixture.random(0, dst.size - size), size);
}

Regions random_regions(Fixture &fixture, uint64_t count, uint64_t src_size, uint64_t dst_size) {
    const uint64_t part = dst_size / count;
    Regions regions;
    for (uint64_t i = 0; i < count; ++i) {
        // The last one has all remaining bytes, so that the buffer's last byte is tested.
        const Room dst{i * part, i + 1 == count ? dst_size - i * part : part};
        regions.push_back(random_region(fixture, {0, src_size}, dst));
    }
    std::shuffle(regions.begin(), regions.end(), fixture.random());
    return regions;
}

void apply(const Regions &regions, const Bytes &src, Bytes &dst) {
    for (const pi_region &region : regions)
        for_each_row(region, [&](uint64_t from, uint64_t to, uint64_t size) {
            std::memcpy(dst.data() + to, src.data() + from, size);
        });
}

bool overlaps(const pi_region &region) {
    bool found = false;
    for_each_row(region, [&](uint64_t from, uint64_t, uint64_t size) {
        for_each_row(region, [&](uint64_t, uint64_t to, uint64_t) {
            found = found || (from < to + size && to < from + size);
        });
    });
    return found;
}

std::string text_of(const pi_region &region) {
    return join("region {src ", region.src_offset, ", dst ", region.dst_offset, ", extent {",
                region.extent[0], ", ", region.extent[1], ", ", region.extent[2], "}, src_pitch {",
                region.src_pitch[0], ", ", region.src_pitch[1], "}, dst_pitch {",
                region.dst_pitch[0], ", ", region.dst_pitch[1], "}}");
}

pi_buffer_read_desc read_desc(pi_mem mem, Bytes &into, const Regions &regions) {
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.mem = mem;
    desc.host_ptr = into.data();
    desc.region_count = static_cast<uint32_t>(regions.size());
    desc.regions = regions.data();
    return desc;
}

pi_buffer_write_desc write_desc(pi_mem mem, const Bytes &from, const Regions &regions) {
    auto desc = pi::desc<pi_buffer_write_desc>();
    desc.mem = mem;
    desc.host_ptr = from.data();
    desc.region_count = static_cast<uint32_t>(regions.size());
    desc.regions = regions.data();
    return desc;
}

pi_buffer_copy_desc copy_desc(pi_mem src, pi_mem dst, const Regions &regions) {
    auto desc = pi::desc<pi_buffer_copy_desc>();
    desc.src = src;
    desc.dst = dst;
    desc.region_count = static_cast<uint32_t>(regions.size());
    desc.regions = regions.data();
    return desc;
}

const char *name_of(Transfer transfer) {
    switch (transfer) {
    case Transfer::read:
        return "a read";
    case Transfer::write:
        return "a write";
    case Transfer::copy:
        break;
    }
    return "a copy";
}

Transferred::Transferred(Fixture &fixture, const Place &place, Transfer transfer, const Bytes &src,
                         const Bytes &dst)
    : fixture_(fixture), transfer_(transfer), host_src_(src), host_dst_(dst) {
    if (transfer != Transfer::write)
        src_ = fixture.make_buffer(place, src);
    if (transfer != Transfer::read)
        dst_ = fixture.make_buffer(place, dst);
}

pi_result Transferred::enqueue(pi_queue queue, const Regions &regions, const Waits &waits,
                               pi_event *event) {
    switch (transfer_) {
    case Transfer::read:
        return try_enqueue(queue, read_desc(src_, host_dst_, regions), waits, event);
    case Transfer::write:
        return try_enqueue(queue, write_desc(dst_, host_src_, regions), waits, event);
    case Transfer::copy:
        break;
    }
    return try_enqueue(queue, copy_desc(src_, dst_, regions), waits, event);
}

void Transferred::require_contents(pi_queue queue, const Bytes &src, const Bytes &dst,
                                   const std::string &what) {
    const Bytes src_is =
        transfer_ == Transfer::write ? host_src_ : fixture_.download(queue, src_, src.size());
    const Bytes dst_is =
        transfer_ == Transfer::read ? host_dst_ : fixture_.download(queue, dst_, dst.size());
    require_same_bytes(src_is.data(), src.data(), src.size(), what + ", the source");
    require_same_bytes(dst_is.data(), dst.data(), dst.size(), what + ", the destination");
}

} // namespace pi::suite
