// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer.hpp"

#include <algorithm>
#include <array>

namespace pi::level_zero {

using namespace sdk;

namespace {

constexpr uint64_t most_staged = uint64_t{1} << 20;

/// Commands in a list of the place's own, one after another; each is waited for with its event.
class Carrier {
public:
    explicit Carrier(Place &place) : place_(place), list_(place.take_list()) {}
    ~Carrier() {
        try {
            finish(); // nothing may touch the memory any more
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

/// Two blocks of staging, used in turn: one is filled by the source's place while the other is emptied by the
/// destination's.
class Pipeline {
public:
    Pipeline(const End &src, const End &dst)
        : src_(src), dst_(dst), blocks_{Staging(src.place->context(), most_staged),
                                        Staging(src.place->context(), most_staged)},
          in_(*src.place), out_(*dst.place) {}

    /// At most a block, dense in the staging.
    void add(const Rectangle &from, const Rectangle &to) {
        Rectangle dense{0, from.row, from.rows, 1, from.row, from.bytes()};
        const End block{blocks_[next_].begin(), src_.place, true};
        next_ = 1 - next_;
        in_.add([&](Submission &submission) { append_box(submission, src_, from, block, dense); });
        in_.finish();
        out_.add([&](Submission &submission) { append_box(submission, block, dense, dst_, to); });
    }
    void finish() { out_.finish(); }

private:
    const End src_, dst_;
    std::array<Staging, 2> blocks_;
    Carrier in_, out_; ///< end before the staging goes
    size_t next_ = 0;
};

bool reaches(const Place &place, const End &end) {
    if (!end.place)
        return true;
    return end.host ? &end.place->context() == &place.context() : place.reaches(*end.place);
}

/// The source may be of another context: then it need only be in reach of the device.
bool can_copy(const Place &place, const End &src, const End &dst) {
    if (!reaches(place, dst))
        return false;
    if (!src.place || &src.place->context() == &place.context())
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

Place *find_executor(Place &queue, const End &src, const End &dst) {
    for (Place *place : {&queue, dst.place, src.place})
        if (place && can_copy(*place, src, dst))
            return place;
    return nullptr;
}

void transfer(Place *executor, const End &src, const End &dst, const Regions &regions) {
    if (executor) {
        Carrier carrier(*executor);
        carrier.add([&](Submission &submission) { append_regions(submission, src, dst, regions); });
        return carrier.finish();
    }
    Pipeline pipeline(src, dst);
    for (const pi_region &region : regions)
        for_each_part(source(region), destination(region), {most_staged, most_staged},
                      [&](const Rectangle &from, const Rectangle &to) { pipeline.add(from, to); });
    pipeline.finish();
}

} // namespace pi::level_zero
