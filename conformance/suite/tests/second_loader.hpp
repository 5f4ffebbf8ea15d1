// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fixture.hpp"

namespace pi::suite {

/// Another loader with an instance of its own of the plugin under test: what it makes is foreign to the
/// fixture's. Objects of it must be gone before it is.
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
