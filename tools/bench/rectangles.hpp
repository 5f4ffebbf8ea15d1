// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of a rectangle of 2^20 rows of one byte, and of as many regions: what our checks and our calls of the driver cost
// where each byte is a row of its own.
#pragma once

#include "place.hpp"
#include "session.hpp"

namespace pi_bench {

/// The good case as a program without PI does it: the bytes of `region` between two buffers of `size` bytes, by one call of
/// the driver, and wait.
struct GoodCase {
    static constexpr uint64_t size = uint64_t{16} << 20;
    static pi_region region();

    const char *limit; ///< the rows' limit_name
    Batch copy;
};

/// The rows' names begin with `prefix` ("CUDA: ").
void compare_rectangles(Session &session, const Place &place, const std::string &prefix,
                        const GoodCase &good);

/// As the above, from a buffer of the place's context to one of `other`'s, by the queue of `place`.
void compare_rectangles_between(Session &session, const Place &place, const Place &other,
                                const std::string &prefix, const GoodCase &good);

} // namespace pi_bench
