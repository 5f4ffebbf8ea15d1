// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fixture.hpp"

namespace pi::suite {

/// Another loader with its own instance of the plugin under test, whose objects the fixture's
/// instance refuses. Release its objects first.
class SecondLoader {
public:
    explicit SecondLoader(Fixture &fixture);
    ~SecondLoader();
    SecondLoader(const SecondLoader &) = delete;
    SecondLoader &operator=(const SecondLoader &) = delete;

    /// A device of it, and a context with that.
    const Place &place() const { return place_; }

private:
    pi_loader loader_ = nullptr;
    Context context_;
    Place place_;
};

} // namespace pi::suite
