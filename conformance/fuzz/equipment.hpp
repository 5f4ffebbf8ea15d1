// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For targets that call plugins: loaders of the plugins host and sim, a device and a context of
// each, and checks of calls.
#pragma once

#include "input.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/pi_loader.h>

#include <cstddef>
#include <vector>

namespace pi::fuzz {

using Bytes = std::vector<uint8_t>;

/// The text of the thread's last failed call.
const char *last_error();

void must(pi_result result, const char *what);
void must_not(pi_result result, const char *what);

struct Place {
    pi_plugin plugin = nullptr;
    pi_platform platform = nullptr;
    pi_device device = nullptr;
    pi_context context = nullptr;
    uint64_t capabilities = 0; ///< PI_CAPABILITY_, of the device
};

/// The first devices of host and sim, in one loader. A leak at its end is a finding.
class Equipment {
public:
    /// With or without the layer validate.
    explicit Equipment(bool validate);
    ~Equipment();
    Equipment(const Equipment &) = delete;

    const std::vector<Place> &places() const { return places_; }

private:
    pi_loader loader_ = nullptr;
    std::vector<Place> places_;
    bool closing_ = false;
};

} // namespace pi::fuzz
