// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One object of each kind, for tests that hold for all kinds alike.
#pragma once

#include "fixture.hpp"
#include "kernels.hpp"
#include "partition.hpp"

namespace pi::suite {

/// Releases the reference, which must succeed; nothing where there is none.
template <typename Handle>
void release(Owner<Handle> &owner) {
    if (owner.get() != nullptr)
        require_success(Counted<Handle>::release(owner.take()), "releasing a ",
                        Counted<Handle>::name);
}

/// One object of each kind in a place, as far as its device supports the kind.
struct Everything {
    Everything(Fixture &fixture, const Place &place);
    /// Each must let itself be released.
    void release();

    Devices parts;
    Queue queue;
    Mem mem, view, image;
    Sampler sampler;
    Owner<pi_usm_pool> pool;
    Program program;
    Kernel kernel;
};

} // namespace pi::suite
