// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fixture.hpp"

namespace pi::suite {

/// Another loader, of the plugin under test alone, that has not called it yet.
Owner<pi_loader> make_loader(Fixture &fixture, const std::vector<pi_loader_option> &options = {});

/// Another loader with its own instance of the plugin under test, whose objects the fixture's
/// instance refuses. Release its objects first.
class SecondLoader {
public:
    explicit SecondLoader(Fixture &fixture);

    /// A device of it, and a context with that.
    const Place &place() const { return place_; }
    /// Releases the loader now, and returns the result.
    pi_result release();

private:
    Owner<pi_loader> loader_;
    Context context_; // destroyed before its loader
    Place place_;
};

} // namespace pi::suite
