// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on buffers against a byte array that does the same.
#include "fixture.hpp"

#include <cstring>

using namespace opencl_test;

namespace {

/// A region whose ends fit into `src_size` and `dst_size` bytes.
pi_region random_region(Random &random, uint64_t src_size, uint64_t dst_size) {
    for (;;) {
        pi_region region{};
        region.extent[0] = random.between(1, 40);
        region.extent[1] = random.below(5);
        region.extent[2] = random.below(4);
        const uint64_t rows = std::max<uint64_t>(1, region.extent[1]);
        const uint64_t slices = std::max<uint64_t>(1, region.extent[2]);
        uint64_t ends[2] = {};
        for (int end = 0; end < 2; ++end) {
            uint64_t *pitch = end ? region.dst_pitch : region.src_pitch;
            pitch[0] = random.coin() ? 0 : region.extent[0] + random.below(9);
            const uint64_t row = pitch[0] ? pitch[0] : region.extent[0];
            pitch[1] = random.coin() ? 0 : row * rows + random.below(30);
            const uint64_t slice = pitch[1] ? pitch[1] : row * rows;
            ends[end] = slice * slices;
        }
        if (ends[0] > src_size || ends[1] > dst_size)
            continue;
        region.src_offset = random.below(src_size - ends[0] + 1);
        region.dst_offset = random.below(dst_size - ends[1] + 1);
        return region;
    }
}

/// A simple implementation of the region's effect.
void apply(const pi_region &r, const uint8_t *src, uint8_t *dst) {
    const uint64_t rows = std::max<uint64_t>(1, r.extent[1]);
    const uint64_t slices = std::max<uint64_t>(1, r.extent[2]);
    const uint64_t src_row = r.src_pitch[0] ? r.src_pitch[0] : r.extent[0];
    const uint64_t dst_row = r.dst_pitch[0] ? r.dst_pitch[0] : r.extent[0];
    const uint64_t src_slice = r.src_pitch[1] ? r.src_pitch[1] : src_row * rows;
    const uint64_t dst_slice = r.dst_pitch[1] ? r.dst_pitch[1] : dst_row * rows;
    for (uint64_t z = 0; z < slices; ++z)
        for (uint64_t y = 0; y < rows; ++y)
            for (uint64_t x = 0; x < r.extent[0]; ++x)
                dst[r.dst_offset + z * dst_slice + y * dst_row + x] =
                    src[r.src_offset + z * src_slice + y * src_row + x];
}

/// Buffers and views of one place, each with its expected bytes.
struct Model {
    struct Object {
        pi_mem mem;
        size_t root;
        uint64_t offset, size;
    };
    Model(Random &random, const Place &place) {
        const uint64_t atom = scope_of(place.device).offset_alignment;
        for (size_t i = 0; i < 3; ++i) {
            const uint64_t size = random.between(2000, 3000);
            roots.push_back(place.buffer(size));
            bytes.push_back(random.bytes(size));
            set_contents(place.queue, roots.back(), bytes.back());
            objects.push_back({roots.back(), i, 0, size});
            const uint64_t offset = random.below(700 / atom + 1) * atom;
            const uint64_t length = random.between(1000, size - offset);
            views.push_back(make_view(roots.back(), offset, length));
            objects.push_back({views.back(), i, offset, length});
        }
    }
    uint8_t *at(const Object &object) { return bytes[object.root].data() + object.offset; }

    std::vector<Mem> roots, views;
    std::vector<std::vector<uint8_t>> bytes;
    std::vector<Object> objects;
};

void random_read(Random &random, const Place &place, Model &model, const Model::Object &object) {
    std::vector<uint8_t> expected = random.bytes(3000), seen = expected;
    std::vector<pi_region> regions;
    // One region, or two whose host ends are disjoint.
    regions.push_back(random_region(random, object.size, 1500));
    if (random.coin()) {
        regions.push_back(random_region(random, object.size, 1500));
        regions.back().dst_offset += 1500;
    }
    for (const pi_region &region : regions)
        apply(region, model.at(object), expected.data());
    Event event = read(place.queue, object.mem, seen.data(), regions, {{}, random.coin()});
    wait(event);
    REQUIRE(seen == expected);
}

void random_write(Random &random, const Place &place, Model &model, const Model::Object &object) {
    const std::vector<uint8_t> host = random.bytes(3000);
    std::vector<pi_region> regions;
    const uint64_t half = object.size / 2;
    regions.push_back(random_region(random, host.size(), half));
    if (random.coin()) {
        regions.push_back(random_region(random, host.size(), half));
        regions.back().dst_offset += half;
    }
    for (const pi_region &region : regions)
        apply(region, host.data(), model.at(object));
    wait(write(place.queue, object.mem, host.data(), regions, {{}, random.coin()}));
}

void random_copy(Random &random, const Place &place, Model &model, const Model::Object &src,
                 const Model::Object &dst) {
    const pi_region region = random_region(random, src.size, dst.size);
    std::vector<uint8_t> before = model.bytes[src.root];
    auto desc = pi::desc<pi_buffer_copy_desc>();
    desc.src = src.mem;
    desc.dst = dst.mem;
    desc.regions = &region;
    desc.region_count = 1;
    Event event;
    const pi_result result = piEnqueueMemBufferCopy(place.queue, &desc, 0, nullptr, event.out());
    // A simple check for overlaps: mark the bytes.
    bool overlaps = false;
    if (src.root == dst.root) {
        std::vector<uint8_t> zeros(model.bytes[src.root].size(), 0), ones(zeros.size(), 1);
        std::vector<uint8_t> written = zeros, taken = zeros;
        apply(region, ones.data(), written.data() + dst.offset);
        pi_region mirrored = region;
        std::swap(mirrored.src_offset, mirrored.dst_offset);
        std::swap(mirrored.src_pitch, mirrored.dst_pitch);
        apply(mirrored, ones.data(), taken.data() + src.offset);
        for (size_t i = 0; i < zeros.size(); ++i)
            overlaps = overlaps || (written[i] && taken[i]);
    }
    if (overlaps)
        return refused(result, PI_ERROR_MEM_COPY_OVERLAP);
    OK(result);
    wait(event);
    apply(region, before.data() + src.offset, model.at(dst));
}

void random_fill(Random &random, const Place &place, Model &model, const Model::Object &object) {
    const uint64_t pattern_size = uint64_t{1} << random.below(8);
    const std::vector<uint8_t> pattern = random.bytes(pattern_size);
    const uint64_t count = random.between(1, object.size / pattern_size);
    const uint64_t first = random.below(object.size / pattern_size - count + 1);
    wait(fill(place.queue, object.mem, pattern.data(), pattern_size, first * pattern_size,
              count * pattern_size));
    for (uint64_t i = 0; i < count * pattern_size; ++i)
        model.at(object)[first * pattern_size + i] = pattern[i % pattern_size];
}

void random_map(Random &random, const Place &place, Model &model, const Model::Object &object) {
    const uint64_t offset = random.below(object.size),
                   size = random.between(1, object.size - offset);
    const uint64_t kinds[] = {PI_MAP_READ, PI_MAP_WRITE, PI_MAP_READ | PI_MAP_WRITE,
                              PI_MAP_WRITE_DISCARD};
    const uint64_t flags = kinds[random.below(4)];
    void *pointer = nullptr;
    wait(map(place.queue, object.mem, flags, offset, size, &pointer));
    REQUIRE(pointer);
    if (flags & PI_MAP_READ)
        REQUIRE(!std::memcmp(pointer, model.at(object) + offset, size));
    if (flags != PI_MAP_READ) {
        const std::vector<uint8_t> bytes = random.bytes(size);
        std::memcpy(pointer, bytes.data(), size);
        std::memcpy(model.at(object) + offset, bytes.data(), size);
    }
    wait(unmap(place.queue, object.mem, pointer));
}

} // namespace

TEST_CASE("random commands on buffers and views have the same effect as on a byte array") {
    Loader loader;
    Random random;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device) << ", seed " << random.seed());
        for (const uint64_t flags : {0, static_cast<int>(PI_QUEUE_OUT_OF_ORDER)}) {
            const Place place(device, flags);
            Model model(random, place);
            for (int round = 0; round < 150; ++round) {
                const auto &object = model.objects[random.below(model.objects.size())];
                switch (random.below(5)) {
                case 0:
                    random_read(random, place, model, object);
                    break;
                case 1:
                    random_write(random, place, model, object);
                    break;
                case 2:
                    random_copy(random, place, model, object,
                                model.objects[random.below(model.objects.size())]);
                    break;
                case 3:
                    random_fill(random, place, model, object);
                    break;
                default:
                    random_map(random, place, model, object);
                }
            }
            for (size_t i = 0; i < model.roots.size(); ++i)
                REQUIRE(contents(place.queue, model.roots[i]) == model.bytes[i]);
        }
    }
}
