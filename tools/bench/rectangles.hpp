// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of a rectangle of 2^20 rows of one byte, and of equally many regions: the cost of argument
// checks and driver calls if each byte is a row.
#pragma once

#include "place.hpp"
#include "session.hpp"

namespace pi_bench {

/// The good case in a program without PI: copies the bytes of `region` between two buffers of
/// `size` bytes with one driver call, and waits.
struct GoodCase {
    static constexpr uint64_t size = uint64_t{16} << 20;
    static pi_region region();

    const char *limit; ///< the rows' limit_name
    Batch copy;
};

/// The rows' names begin with `prefix` ("CUDA: ").
void compare_rectangles(Session &session, const Place &place, const std::string &prefix,
                        const GoodCase &good);

/// The same, from a buffer of the place's context to one of `other`'s, on the queue of `place`.
void compare_rectangles_between(Session &session, const Place &place, const Place &other,
                                const std::string &prefix, const GoodCase &good);

} // namespace pi_bench
