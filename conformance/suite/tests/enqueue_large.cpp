// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of more than 2^32 bytes: offsets and pitches that 32 bits do not hold. Only a few pages of
// it are touched.

#include "checks.hpp"
#include "memory.hpp"
#include "registry.hpp"
#include "usm.hpp"

#include <cstring>

namespace pi::suite {
namespace {

constexpr uint64_t beyond = uint64_t{1} << 32;
constexpr uint64_t large_size = beyond + 64 * 1024;

// The bytes around 0 and around 2^32, which are one place to a plugin that drops bits.
class Model {
public:
    explicit Model(Fixture &fixture)
        : low_(fixture.random_bytes(16 * 1024)), high_(fixture.random_bytes(80 * 1024)) {}

    void put(uint64_t offset, const Bytes &bytes) {
        std::memcpy(at(offset), bytes.data(), bytes.size());
    }
    Bytes get(uint64_t offset, uint64_t size) {
        const std::byte *begin = at(offset);
        return {begin, begin + size};
    }
    /// visit(offset, bytes) of each part.
    template <typename Visit>
    void for_each(Visit &&visit) const {
        visit(uint64_t{0}, low_);
        visit(high_begin, high_);
    }

private:
    static constexpr uint64_t high_begin = beyond - 16 * 1024;
    std::byte *at(uint64_t offset) {
        return offset < low_.size() ? &low_[offset] : &high_[offset - high_begin];
    }

    Bytes low_, high_;
};

// Two rows, or two slices, that are 2^32 bytes apart at the end of `pitch`.
std::vector<pi_region> far_apart(uint64_t (pi_region::*pitch)[2], uint64_t pi_region::*offset,
                                 uint64_t row) {
    std::vector<pi_region> regions;
    for (const std::size_t axis : {1, 2}) {
        pi_region region = linear(0, 0, row);
        region.*offset = 512 * axis;
        region.extent[1] = 1;
        region.extent[axis] = 2;
        (region.*pitch)[axis - 1] = beyond;
        regions.push_back(region);
    }
    return regions;
}

CONFORMANCE_TEST("enqueue", "commands on buffers reach each byte from 2^32 on") {
    need_allocation(fixture.device(), large_size);
    const Queue queue = fixture.make_queue();
    Mem mem;
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = large_size;
    const pi_result made = piMemBufferCreate(fixture.context(), fixture.device(), &desc, mem.out());
    if (made == PI_ERROR_OUT_OF_DEVICE_MEMORY || made == PI_ERROR_OUT_OF_HOST_MEMORY)
        skip("there is no memory for so large a buffer");
    require_success(made, "piMemBufferCreate of ", large_size, " bytes");
    Model model(fixture);
    model.for_each(
        [&](uint64_t offset, const Bytes &bytes) { fixture.upload(queue, mem, bytes, offset); });
    const auto require_model = [&](const std::string &what) {
        model.for_each([&](uint64_t offset, const Bytes &bytes) {
            const Bytes actual = fixture.download(queue, mem, bytes.size(), offset);
            require_same_bytes(actual.data(), bytes.data(), bytes.size(),
                               join("the bytes from ", offset, " on after ", what));
        });
    };
    require_model("writes");
    for (const uint64_t offset : {beyond - 1024, beyond, beyond + 4096}) {
        const Bytes pattern = fixture.random_bytes(16);
        fixture.wait(fixture.fill(queue, mem, offset, 2048, pattern));
        model.put(offset, repeated(pattern, 2048));
        require_model(join("a fill from ", offset, " on"));
        const Bytes bytes = fixture.random_bytes(999);
        fixture.wait(fixture.write(queue, mem, offset - 100, bytes));
        model.put(offset - 100, bytes);
        fixture.wait(fixture.copy(queue, mem, offset - 50, mem, 300, 777));
        model.put(300, model.get(offset - 50, 777));
        fixture.wait(fixture.copy(queue, mem, 5000, mem, offset + 3000, 777));
        model.put(offset + 3000, model.get(5000, 777));
        require_model(join("a write and copies about ", offset));
        void *pointer = nullptr;
        fixture.wait(
            fixture.map(queue, mem, PI_MAP_READ | PI_MAP_WRITE, offset - 7, 500, &pointer));
        require_same_bytes(pointer, model.get(offset - 7, 500).data(), 500, "what is mapped");
        const Bytes mapped = fixture.random_bytes(500);
        std::memcpy(pointer, mapped.data(), 500);
        fixture.wait(fixture.unmap(queue, mem, pointer));
        model.put(offset - 7, mapped);
        require_model(join("a map from ", offset - 7, " on"));
    }
    constexpr uint64_t row = 100;
    for (const pi_region &region : far_apart(&pi_region::dst_pitch, &pi_region::dst_offset, row)) {
        const Bytes bytes = fixture.random_bytes(2 * row);
        fixture.wait(fixture.enqueue(queue, write_desc(mem, bytes, {region})));
        for (const uint64_t i : {0, 1})
            model.put(region.dst_offset + i * beyond, {&bytes[i * row], &bytes[i * row] + row});
        require_model("a write of two rows that are 2^32 bytes apart");
    }
    for (const pi_region &region : far_apart(&pi_region::src_pitch, &pi_region::src_offset, row)) {
        Bytes into(2 * row);
        fixture.wait(fixture.enqueue(queue, read_desc(mem, into, {region})));
        for (const uint64_t i : {0, 1})
            require_same_bytes(&into[i * row],
                               model.get(region.src_offset + i * beyond, row).data(), row,
                               "a row that is read, 2^32 bytes behind another");
    }
    if (fixture.can(PI_CAPABILITY_VIEW)) {
        const Mem view = fixture.make_view(mem, beyond, 4096);
        const Bytes bytes = fixture.random_bytes(600);
        fixture.upload(queue, view, bytes, 10);
        model.put(beyond + 10, bytes);
        require_model("a write through a view from 2^32 on");
    }
}

CONFORMANCE_TEST("enqueue", "commands on USM reach each byte from 2^32 on") {
    need_usm(fixture);
    need_allocation(fixture.device(), large_size);
    const Queue queue = fixture.make_queue();
    for (const pi_usm_kind kind : need_usm(fixture)) {
        const pi_usm_desc desc = usm_desc(kind, large_size);
        void *pointer = nullptr;
        const pi_result made = piUsmAlloc(fixture.context(), fixture.device(), &desc, &pointer);
        if (made == PI_ERROR_OUT_OF_DEVICE_MEMORY || made == PI_ERROR_OUT_OF_HOST_MEMORY)
            skip("there is no memory for so large an allocation");
        require_success(made, "piUsmAlloc of ", large_size, " bytes");
        const Usm usm(fixture.context(), pointer, large_size);
        require(usm_info<void *>(fixture.context(), usm.at(beyond + 7), PI_USM_INFO_BASE) ==
                    pointer,
                "PI_USM_INFO_BASE of a byte behind 2^32 others is another address");
        require_equal(usm_info<uint64_t>(fixture.context(), pointer, PI_USM_INFO_SIZE), large_size,
                      "PI_USM_INFO_SIZE");
        Model model(fixture);
        model.for_each([&](uint64_t offset, const Bytes &bytes) {
            usm_upload(fixture, queue, usm.at(offset), bytes);
        });
        const auto require_model = [&](const std::string &what) {
            model.for_each([&](uint64_t offset, const Bytes &bytes) {
                require_usm_contents(fixture, queue, usm.at(offset), bytes,
                                     join("the bytes from ", offset, " on after ", what));
            });
        };
        require_model("copies");
        const Bytes pattern = fixture.random_bytes(16);
        fixture.wait(fixture.enqueue(queue, usm_fill_desc(usm.at(beyond - 1024), pattern, 2048)));
        model.put(beyond - 1024, repeated(pattern, 2048));
        const Regions there{linear(5000, beyond + 3000, 777)}, back{linear(beyond - 50, 300, 777)};
        fixture.wait(fixture.enqueue(queue, usm_copy_desc(pointer, pointer, there)));
        model.put(beyond + 3000, model.get(5000, 777));
        fixture.wait(fixture.enqueue(queue, usm_copy_desc(pointer, pointer, back)));
        model.put(300, model.get(beyond - 50, 777));
        require_model("a fill and copies");
        for (const pi_region &region :
             far_apart(&pi_region::dst_pitch, &pi_region::dst_offset, 100)) {
            const Bytes bytes = fixture.random_bytes(200);
            const Regions one{region};
            fixture.wait(fixture.enqueue(queue, usm_copy_desc(bytes.data(), pointer, one)));
            for (const uint64_t i : {0, 1})
                model.put(region.dst_offset + i * beyond, {&bytes[i * 100], &bytes[i * 100] + 100});
            require_model("a copy of two rows that are 2^32 bytes apart");
        }
    }
}

} // namespace
} // namespace pi::suite
