// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on buffers against a model: a byte array for each buffer, to which the same is done.
#include "fixture.hpp"

#include <algorithm>
#include <random>

using namespace pi_test;

namespace {

class Model {
public:
    explicit Model(uint32_t seed) : random_(seed) {
        for (int i = 0; i < 3; ++i) {
            std::vector<std::byte> bytes = noise(below(5000) + 1);
            roots_.push_back(host_.make_buffer(bytes));
            bytes_.push_back(std::move(bytes));
        }
        // Memory that is not the plugin's own.
        imported_ = noise(3000);
        roots_.push_back(host_.make_import(imported_.data(), imported_.size()));
        bytes_.push_back(imported_);
        queue_ = host_.make_queue(below(2) ? PI_QUEUE_OUT_OF_ORDER : 0);
    }

    void step() {
        switch (below(4)) {
        case 0:
            return write();
        case 1:
            return read();
        case 2:
            return fill();
        default:
            return copy();
        }
    }

    void check_all() {
        for (size_t i = 0; i < roots_.size(); ++i) {
            INFO("buffer " << i);
            REQUIRE(contents(host_, roots_[i]) == bytes_[i]);
        }
    }

private:
    /// A memory object, and its position in the model.
    struct Target {
        Owned<pi_mem> view; ///< empty: the root itself
        size_t root;
        uint64_t offset;
        uint64_t size;
    };

    uint64_t below(uint64_t end) {
        return std::uniform_int_distribution<uint64_t>(0, end - 1)(random_);
    }
    std::vector<std::byte> noise(uint64_t size) {
        std::vector<std::byte> bytes(size);
        for (std::byte &byte : bytes)
            byte = std::byte(below(256));
        return bytes;
    }
    Target target() {
        const size_t root = below(roots_.size());
        const uint64_t size = bytes_[root].size();
        if (below(2))
            return {{}, root, 0, size};
        const uint64_t offset = below(size), part = 1 + below(size - offset);
        Target out{make_view(roots_[root], offset, part), root, offset, part};
        if (below(2)) { // a view of the view
            const uint64_t deeper = below(part), less = 1 + below(part - deeper);
            out = {make_view(out.view, deeper, less), root, offset + deeper, less};
        }
        return out;
    }
    pi_mem mem(const Target &target) const {
        return target.view ? static_cast<pi_mem>(target.view) : roots_[target.root];
    }

    /// Random rectangles that fit both sizes; their destinations are disjoint.
    std::vector<pi_region> regions(uint64_t src_size, uint64_t dst_size) {
        std::vector<pi_region> out;
        const uint64_t count = 1 + below(3);
        const uint64_t share = dst_size / count;
        for (uint64_t i = 0; i < count; ++i) {
            pi_region r{};
            const uint64_t begin = share * i, limit = i + 1 == count ? dst_size - begin : share;
            r.extent[0] = 1 + below(20);
            r.extent[1] = below(5);
            r.extent[2] = below(4);
            const uint64_t rows = std::max<uint64_t>(r.extent[1], 1);
            const uint64_t slices = std::max<uint64_t>(r.extent[2], 1);
            const auto pitches = [&](uint64_t(&pitch)[2]) {
                pitch[0] = below(2) ? 0 : r.extent[0] + below(6);
                const uint64_t slice = (pitch[0] ? pitch[0] : r.extent[0]) * rows;
                pitch[1] = below(2) ? 0 : slice + below(9);
                const uint64_t step = pitch[1] ? pitch[1] : slice;
                return (slices - 1) * step + (rows - 1) * (pitch[0] ? pitch[0] : r.extent[0]) +
                       r.extent[0];
            };
            const uint64_t from = pitches(r.src_pitch), to = pitches(r.dst_pitch);
            if (from > src_size || to > limit)
                continue;
            r.src_offset = below(src_size - from + 1);
            r.dst_offset = begin + below(limit - to + 1);
            out.push_back(r);
        }
        if (out.empty()) {
            const uint64_t size = 1 + below(std::min(src_size, dst_size));
            out.push_back(range(below(src_size - size + 1), below(dst_size - size + 1), size));
        }
        return out;
    }

    /// The definition of regions, byte by byte.
    static void apply(const std::vector<pi_region> &regions, const std::byte *src, std::byte *dst) {
        for (const pi_region &r : regions) {
            const uint64_t rows = std::max<uint64_t>(r.extent[1], 1);
            const uint64_t slices = std::max<uint64_t>(r.extent[2], 1);
            const auto at = [&](const uint64_t(&pitch)[2], uint64_t x, uint64_t y, uint64_t z) {
                const uint64_t row = pitch[0] ? pitch[0] : r.extent[0];
                return z * (pitch[1] ? pitch[1] : row * rows) + y * row + x;
            };
            for (uint64_t z = 0; z < slices; ++z)
                for (uint64_t y = 0; y < rows; ++y)
                    for (uint64_t x = 0; x < r.extent[0]; ++x)
                        dst[r.dst_offset + at(r.dst_pitch, x, y, z)] =
                            src[r.src_offset + at(r.src_pitch, x, y, z)];
        }
    }

    std::byte *model(const Target &target) { return bytes_[target.root].data() + target.offset; }

    /// Half of the commands are blocking; the others are finished by the next check.
    uint64_t flags() { return below(2) ? PI_COMMAND_BLOCKING : 0; }
    void settle() { OK(piQueueFinish(queue_)); }

    void write() {
        const Target t = target();
        const std::vector<std::byte> src = noise(1 + below(4000));
        const auto rs = regions(src.size(), t.size);
        auto d = write_desc(mem(t), src.data(), rs[0], flags());
        d.regions = rs.data();
        d.region_count = static_cast<uint32_t>(rs.size());
        OK(piEnqueueMemBufferWrite(queue_, &d, 0, nullptr, nullptr));
        settle();
        apply(rs, src.data(), model(t));
    }

    void read() {
        const Target t = target();
        std::vector<std::byte> dst = noise(1 + below(4000));
        std::vector<std::byte> expected = dst;
        const auto rs = regions(t.size, dst.size());
        auto d = read_desc(mem(t), dst.data(), rs[0], flags());
        d.regions = rs.data();
        d.region_count = static_cast<uint32_t>(rs.size());
        OK(piEnqueueMemBufferRead(queue_, &d, 0, nullptr, nullptr));
        settle();
        apply(rs, model(t), expected.data());
        REQUIRE(dst == expected);
    }

    void fill() {
        const Target t = target();
        uint64_t size = UINT64_C(1) << below(8);
        while (size > t.size)
            size /= 2;
        const std::vector<std::byte> pattern = noise(size);
        const uint64_t units = t.size / size, first = below(units),
                       count = 1 + below(units - first);
        const auto d = fill_desc(mem(t), pattern.data(), size, first * size, count * size, flags());
        OK(piEnqueueMemBufferFill(queue_, &d, 0, nullptr, nullptr));
        settle();
        for (uint64_t i = 0; i < count * size; ++i)
            model(t)[first * size + i] = pattern[i % size];
    }

    void copy() {
        const Target from = target(), to = target();
        const auto rs = regions(from.size, to.size);
        auto d = copy_desc(mem(from), mem(to), rs[0], flags());
        d.regions = rs.data();
        d.region_count = static_cast<uint32_t>(rs.size());
        const pi_result result = piEnqueueMemBufferCopy(queue_, &d, 0, nullptr, nullptr);
        if (from.root == to.root && result == PI_ERROR_MEM_COPY_OVERLAP)
            return; // another test covers the refusal
        if (from.root == to.root && rs.size() > 1 && result == PI_SUCCESS) {
            // One region's source may be another's destination, in any order: take the actual
            // result.
            settle();
            const std::vector<std::byte> now = contents(host_, roots_[to.root]);
            bytes_[to.root] = now;
            return;
        }
        OK(result);
        settle();
        const std::vector<std::byte> src(model(from), model(from) + from.size);
        apply(rs, src.data(), model(to));
    }

    std::mt19937 random_;
    const Host host_;
    std::vector<std::byte> imported_;
    std::vector<Owned<pi_mem>> roots_;
    std::vector<std::vector<std::byte>> bytes_;
    Owned<pi_queue> queue_;
};

} // namespace

TEST_CASE("random reads, writes, fills and copies have the effect that they have on a byte array") {
    const uint32_t seed = Catch::rngSeed();
    for (uint32_t round = 0; round < 4; ++round) {
        INFO("seed " << seed + round);
        Model model(seed + round);
        for (int i = 0; i < 150; ++i)
            model.step();
        model.check_all();
    }
}

TEST_CASE("large buffers are copied whole") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    constexpr uint64_t size = (UINT64_C(8) << 20) + 13;
    std::vector<std::byte> bytes(size);
    std::mt19937 random(1);
    for (uint64_t i = 0; i + 4 <= size; i += 4) {
        const uint32_t word = random();
        std::memcpy(&bytes[i], &word, 4);
    }
    const Owned<pi_mem> a = host.make_buffer(size), b = host.make_buffer(size);
    const pi_region whole = range(0, 0, size);
    const auto write = write_desc(a, bytes.data(), whole);
    OK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, nullptr));
    const auto copy = copy_desc(a, b, whole);
    OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
    std::vector<std::byte> back(size);
    const auto read = read_desc(b, back.data(), whole, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferRead(queue, &read, 0, nullptr, nullptr));
    CHECK(back == bytes);
}

TEST_CASE("a write from the buffer's own bytes is harmless") {
    const Host host;
    std::vector<std::byte> bytes(100'000, std::byte{9});
    const Owned<pi_mem> mem = host.make_import(bytes.data(), bytes.size());
    const pi_region whole = range(0, 0, bytes.size());
    const auto write = write_desc(mem, bytes.data(), whole, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferWrite(host.make_queue(), &write, 0, nullptr, nullptr));
    CHECK(std::count(bytes.begin(), bytes.end(), std::byte{9}) == 100'000);
}

TEST_CASE("patterns and regions are copied during the call") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> a = host.make_buffer(64), b = host.make_buffer(64);
    const Owned<pi_event> gate = host.make_host_event();
    const pi_event wait = gate;
    uint32_t pattern = 0x01020304;
    pi_region region = range(0, 0, 64);
    const auto fill = fill_desc(a, &pattern, 4, 0, 64);
    OK(piEnqueueMemBufferFill(queue, &fill, 1, &wait, nullptr));
    const auto copy = copy_desc(a, b, region);
    OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
    pattern = 0;
    region = {};
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piQueueFinish(queue));
    const std::vector<std::byte> bytes = contents(host, b);
    uint32_t word = 0;
    std::memcpy(&word, &bytes[60], 4);
    CHECK(word == 0x01020304);
}
