// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of regions in as few of the vendor's calls as its rules allow.
#pragma once

#include "submission.hpp"

#include <pi/sdk/region.hpp>

namespace pi::opencl {

/// Offsets count from the beginning of `mem` or of the host memory.
struct BufferEnd {
    cl_mem mem;
    sdk::Rectangle bytes;
};
template <class Byte>
struct HostEnd {
    Byte *pointer;
    sdk::Rectangle bytes;
};

/// The rectangles of a region in the vendor's memory: offset by the beginnings of its ends.
std::pair<sdk::Rectangle, sdk::Rectangle> rectangles(const pi_region &region, uint64_t src_begin,
                                                     uint64_t dst_begin);

/// Rectangles with equal rows. `alone`: the command has no other parts.
void read(Submission &submission, const BufferEnd &src, const HostEnd<std::byte> &dst, bool alone);
void write(Submission &submission, const HostEnd<const std::byte> &src, const BufferEnd &dst,
           bool alone);

/// Copies between buffers. Copies that the vendor refuses within one buffer go through another
/// buffer, which lives as long as this object: until the commands are complete.
class BufferCopies {
public:
    /// The rectangles must not share a byte.
    void copy(Submission &submission, const BufferEnd &src, const BufferEnd &dst);

    /// The intermediate buffer, at most as large as requested. Its next use must be ordered behind
    /// the previous one.
    struct Staging {
        cl_mem mem;
        uint64_t size;
    };
    Staging staging(Queue &queue, uint64_t wanted);

private:
    void within(Submission &submission, const BufferEnd &src, const BufferEnd &dst);
    void staged(Submission &submission, const BufferEnd &src, const BufferEnd &dst);

    std::vector<MemOwner> staging_; ///< the last is in use
    uint64_t staging_size_ = 0;     ///< of the last one
};

/// The same bytes, dense, from offset 0.
inline sdk::Rectangle packed(const sdk::Rectangle &r) {
    return {0, r.row, r.rows, r.slices, r.row, r.row * r.rows};
}

} // namespace pi::opencl
