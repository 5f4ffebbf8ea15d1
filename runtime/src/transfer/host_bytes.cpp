// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/host_bytes.hpp"

#include "base/device_query.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

namespace pi::runtime {

void HostBytes::Free::operator()(std::byte *bytes) const noexcept {
    std::free(bytes);
}

HostBytes::HostBytes(uint64_t size, uint64_t alignment) {
    alignment = std::max<uint64_t>(alignment, alignof(std::max_align_t));
    if (size > UINT64_MAX - alignment) {
        throw Error(PI_ERROR_INVALID_SIZE, "host memory of " + std::to_string(size) +
                                               " bytes overflows when aligned to " +
                                               std::to_string(alignment));
    }
    size_ = (size + alignment - 1) & ~(alignment - 1);
    bytes_.reset(static_cast<std::byte *>(std::aligned_alloc(alignment, size_)));
    if (bytes_ == nullptr) {
        throw Error(PI_ERROR_OUT_OF_HOST_MEMORY,
                    "host memory: " + std::to_string(size_) + " bytes cannot be allocated");
    }
}

void PinnedBytes::unpin() noexcept {
    std::byte *const pinned = bytes_.data();
    for (const Asked &each : asked_) {
        if (each.has_pinned && piUsmHostUnregister(each.context.get(), pinned) != PI_SUCCESS) {
            bytes_.abandon();
        }
    }
    asked_.clear();
}

PinnedBytes &PinnedBytes::operator=(PinnedBytes &&other) noexcept {
    unpin();
    asked_ = std::move(other.asked_);
    bytes_ = std::move(other.bytes_);
    return *this;
}

void PinnedBytes::pin_for(const Topology &topology, PlaceIndex place) {
    const pi_context context = topology.context(place);
    const auto is_of = [&](const Asked &each) { return each.context.get() == context; };
    if (place == host_place || std::any_of(asked_.begin(), asked_.end(), is_of)) {
        return;
    }
    const auto capabilities =
        device_info<uint64_t>(topology.device(place), PI_DEVICE_INFO_CAPABILITIES, 0);
    asked_.push_back({Context::share(context), false});
    asked_.back().has_pinned =
        (capabilities & PI_CAPABILITY_USM_REGISTER) != 0 &&
        piUsmHostRegister(context, bytes_.data(), bytes_.size(), 0) == PI_SUCCESS;
}

} // namespace pi::runtime
