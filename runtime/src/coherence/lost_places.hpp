// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/topology.hpp>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace pi::runtime {

/// Which devices are lost. Thread-safe.
class LostPlaces {
public:
    /// `device_of`: for each place the first one of the same device.
    explicit LostPlaces(std::vector<PlaceIndex> device_of)
        : device_of_(std::move(device_of)), lost_(device_of_.size()) {}

    bool is_lost(PlaceIndex place) const { return lost_[place].load(std::memory_order_acquire); }
    /// How often a device was lost: changes with what is_lost returns.
    uint64_t count() const { return count_.load(std::memory_order_acquire); }

    /// The place's device is lost, and with it all places of that device.
    void mark(PlaceIndex place) {
        for (PlaceIndex other = 0; other < device_of_.size(); ++other) {
            if (device_of_[other] == device_of_[place]) {
                lost_[other].store(true, std::memory_order_release);
            }
        }
        count_.fetch_add(1, std::memory_order_acq_rel);
    }

private:
    const std::vector<PlaceIndex> device_of_;
    std::vector<std::atomic<bool>> lost_; // by place
    std::atomic<uint64_t> count_{0};
};

} // namespace pi::runtime
