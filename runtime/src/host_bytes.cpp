// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "host_bytes.hpp"

#include "device_query.hpp"

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
                    "host memory: " + std::to_string(size_) + " bytes asked, none given");
    }
}

PinnedBytes::Registration::Registration(Context context, const HostBytes &bytes,
                                        bool can_pin) noexcept
    : context_(std::move(context)) {
    if (can_pin && piUsmHostRegister(context_.get(), bytes.data(), bytes.size(), 0) == PI_SUCCESS) {
        pinned_ = bytes.data();
    }
}

PinnedBytes::Registration::~Registration() {
    if (context_ && pinned_ != nullptr) {
        piUsmHostUnregister(context_.get(), pinned_);
    }
}

PinnedBytes &PinnedBytes::operator=(PinnedBytes &&other) noexcept {
    registrations_ =
        std::move(other.registrations_); // what was pinned is let go before it is freed
    bytes_ = std::move(other.bytes_);
    return *this;
}

void PinnedBytes::pin_for(const Topology &topology, PlaceIndex place) {
    const pi_context context = topology.context(place);
    const auto asked = [&](const Registration &each) { return each.is_of(context); };
    if (place == host_place || std::any_of(registrations_.begin(), registrations_.end(), asked)) {
        return;
    }
    const auto capabilities =
        device_info<uint64_t>(topology.device(place), PI_DEVICE_INFO_CAPABILITIES, 0);
    registrations_.reserve(registrations_.size() + 1);
    registrations_.emplace_back(Context::share(context), bytes_,
                                (capabilities & PI_CAPABILITY_USM_REGISTER) != 0);
}

} // namespace pi::runtime
