// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of all bytes at a program's end.
#include "actor.hpp"

#include <cstring>

namespace random_programs {
namespace {

/// Enough to exhaust the machine's faults: at most two of them, each at most three times.
constexpr int attempts = 12;

std::vector<uint8_t> read_at_host(const Storage &storage, const Range &range) {
    Acquisition use = storage.buffer().acquire(host_place, Access::read, range.begin, range.size());
    use.wait(patience);
    std::vector<uint8_t> bytes(range.size());
    std::memcpy(bytes.data(), use.pointer(), bytes.size());
    use.release();
    return bytes;
}

} // namespace

/// Retries a read that met a fault.
void Actor::check_part(Area &area, const Range &range) {
    for (int attempt = 1;; ++attempt) {
        try {
            const std::string wrong =
                area.contents.compare(range, read_at_host(area.storage, range));
            if (!wrong.empty()) {
                throw Failure{area.name + " at the end: " + wrong};
            }
            return;
        } catch (const Error &error) {
            if (area.storage.lost().overlaps(range)) {
                return; // more bytes are lost than before: check_whole starts again
            }
            if (!may_fail(error.code()) || attempt == attempts) {
                throw Failure{area.name + " cannot be read at the end: " + error.what()};
            }
        }
    }
}

void Actor::check_whole(Area &area) {
    // A read may find that a device is lost.
    RangeSet lost;
    do {
        lost = area.storage.lost();
        const RangeSet there = subtract(RangeSet(area.range), lost);
        for (const Range &range : there.ranges()) {
            check_part(area, range);
        }
    } while (area.storage.lost() != lost);
    lost = intersect(lost, RangeSet(area.range));
    const std::string wrong = area.contents.check_lost(lost, setting_.file.safe_places());
    if (!wrong.empty()) {
        throw Failure{area.name + ": " + wrong};
    }
    for (const Range &range : lost.ranges()) {
        pi_result result = PI_SUCCESS;
        try {
            read_at_host(area.storage, range);
        } catch (const Error &error) {
            result = error.code();
        }
        if (result != PI_ERROR_DEVICE_LOST) {
            throw Failure{area.name + ": " + to_string(range) + " is lost, and reading it is " +
                          result_name(result)};
        }
    }
}

void Actor::check_all() {
    settle();
    for (const std::shared_ptr<Area> &area : areas_) {
        if (setting_.trouble == Trouble::none) {
            note({area, host_place, Access::read, area->range}, Access::read);
        }
        check_whole(*area);
    }
}

} // namespace random_programs
