// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer.hpp"

#include <algorithm>
#include <array>

namespace pi::level_zero {

using namespace sdk;

namespace {

constexpr uint64_t most_staged = uint64_t{1} << 20;

/// Runs commands in a pooled list of the place, one after another, and waits for each.
class Carrier {
public:
    explicit Carrier(Place &place) : place_(place), list_(place.take_list()) {}
    ~Carrier() {
        try {
            finish(); // nothing may access the memory afterwards
        } catch (...) {
            // The device is lost.
        }
        place_.give_list(list_);
    }
    Carrier(const Carrier &) = delete;

    template <class Append>
    void add(Append &&append) {
        finish();
        auto done = std::make_shared<PooledEvent>(place_.context(), false);
        Submission submission(place_, list_, {}, nullptr, done->id());
        try {
            append(submission);
        } catch (...) {
            if (submission.taken()) {
                submission.close();
                busy_ = std::move(done);
            }
            throw;
        }
        submission.close();
        busy_ = std::move(done);
    }
    void finish() {
        if (const SharedEvent done = std::exchange(busy_, nullptr))
            place_.check(place_.api().zeEventHostSynchronize(done->id(), UINT64_MAX),
                         "zeEventHostSynchronize", "on ", place_.device().name());
    }

private:
    Place &place_;
    const ze_command_list_handle_t list_;
    SharedEvent busy_;
};

/// A block that both ends' places can use: pinned memory of the source's context, or plain host
/// memory for rows and pixels of another context, from which the driver copies only ranges.
class Block {
public:
    Block(const End &src, const End &dst, bool ranges)
        : place_(ranges || &src.place->context() == &dst.place->context() ? src.place : nullptr) {
        if (place_)
            staging_ = Staging(place_->context(), most_staged);
        else
            plain_.resize(most_staged);
    }
    End end() { return {place_ ? staging_.begin() : plain_.data(), place_, place_ != nullptr}; }

private:
    Place *const place_;
    Staging staging_;
    std::vector<std::byte> plain_;
};

/// Two blocks of staging, used in turn: the source's place fills one while the destination's place
/// empties the other.
class Pipeline {
public:
    /// `ranges`: all parts are ranges at the destination.
    Pipeline(const End &src, const End &dst, bool ranges)
        : src_(src), dst_(dst), blocks_{Block(src, dst, ranges), Block(src, dst, ranges)},
          in_(*src.place), out_(*dst.place) {}

    /// Adds a part of at most one block; it is dense in the staging.
    void add(const Rectangle &from, const Rectangle &to) {
        Rectangle dense{0, from.row, from.rows, from.slices, from.row, from.row * from.rows};
        const End block = blocks_[next_].end();
        next_ = 1 - next_;
        in_.add([&](Submission &submission) { append_box(submission, src_, from, block, dense); });
        in_.finish();
        out_.add([&](Submission &submission) { append_box(submission, block, dense, dst_, to); });
    }
    void finish() { out_.finish(); }

private:
    const End src_, dst_;
    std::array<Block, 2> blocks_;
    Carrier in_, out_; ///< destroyed before the staging
    size_t next_ = 0;
};

/// Splits a region into parts of at most one block. Pixels are split by rows of a slice.
template <class Visit>
void for_each_staged(const pi_region &region, bool linear, Visit &&visit) {
    const PartLimits limits{most_staged, most_staged, linear, linear};
    const Rectangle from = source(region), to = destination(region);
    if (linear)
        for_each_part(from.flat(), to.flat(), limits, visit);
    else
        for_each_part(from, to, limits, visit);
}

/// Whether single copies of ranges would take longer than two copies per block.
bool takes_many_calls(const Regions &regions) {
    constexpr uint64_t calls_a_block = 32;
    uint64_t calls = 0, blocks = 0;
    for (const pi_region &region : regions) {
        const Rectangle from = source(region), to = destination(region);
        calls += from.dense() && to.dense() ? 1 : from.rows * from.slices;
        for_each_staged(region, true, [&](const Rectangle &, const Rectangle &) { ++blocks; });
    }
    return calls / calls_a_block > blocks;
}

bool reaches(const Place &place, const End &end) {
    if (!end.place)
        return true;
    if (end.image)
        return end.place == &place;
    return end.host ? &end.place->context() == &place.context() : place.reaches(*end.place);
}

/// A source of another context need only be accessible to the device, but its pixels cannot be
/// copied.
bool can_copy(const Place &place, const End &src, const End &dst) {
    if (!reaches(place, dst))
        return false;
    if (!src.place || src.image || dst.image || &src.place->context() == &place.context())
        return reaches(place, src);
    return src.host || place.device().access(src.place->device()).granted();
}

} // namespace

void upload(Place &place, const void *host, std::byte *device, uint64_t size) {
    Carrier carrier(place);
    const Rectangle bytes{0, size, 1, 1, size, size};
    carrier.add([&](Submission &submission) {
        append_box(submission, {static_cast<std::byte *>(const_cast<void *>(host))}, bytes,
                   {device, &place}, bytes);
    });
    carrier.finish();
}

Place *find_executor(Place &queue, const End &src, const End &dst, const Regions &regions) {
    for (Place *place : {&queue, dst.place, src.place})
        if (place && can_copy(*place, src, dst)) {
            const bool between =
                src.place && dst.place && &src.place->context() != &place->context();
            return between && takes_many_calls(regions) ? nullptr : place;
        }
    return nullptr;
}

void transfer(Place *executor, const End &src, const End &dst, const Regions &regions) {
    if (executor) {
        Carrier carrier(*executor);
        carrier.add([&](Submission &submission) { append_regions(submission, src, dst, regions); });
        return carrier.finish();
    }
    const bool linear = !src.image && !dst.image;
    const bool ranges =
        linear && std::all_of(regions.begin(), regions.end(),
                              [](const pi_region &region) { return destination(region).dense(); });
    Pipeline pipeline(src, dst, ranges);
    for (const pi_region &region : regions)
        for_each_staged(region, linear, [&](const Rectangle &from, const Rectangle &to) {
            pipeline.add(from, to);
        });
    pipeline.finish();
}

} // namespace pi::level_zero
