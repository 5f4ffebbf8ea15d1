// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions in the vendor's calls: as few of them as its rules allow.
#pragma once

#include "submission.hpp"

#include <pi/sdk/region.hpp>

namespace pi::opencl {

/// Offsets count from the begin of `mem` or of the host's memory.
struct BufferEnd {
    cl_mem mem;
    sdk::Rectangle bytes;
};
template <class Byte>
struct HostEnd {
    Byte *pointer;
    sdk::Rectangle bytes;
};

/// The rectangles of a region in the vendor's memory: moved by where its ends begin there.
std::pair<sdk::Rectangle, sdk::Rectangle> rectangles(const pi_region &region, uint64_t src_begin,
                                                     uint64_t dst_begin);

/// Rectangles with equal rows. `alone` says that nothing else is of the command.
void read(Submission &submission, const BufferEnd &src, const HostEnd<std::byte> &dst, bool alone);
void write(Submission &submission, const HostEnd<const std::byte> &src, const BufferEnd &dst,
           bool alone);

/// Copies between buffers. What the vendor refuses within one buffer goes through another, which
/// lives as long as this object: until the commands end.
class BufferCopies {
public:
    /// The rectangles share no byte.
    void copy(Submission &submission, const BufferEnd &src, const BufferEnd &dst);

    /// The buffer between, at most as large as is wanted. What uses it next must be ordered behind what did before.
    struct Staging {
        cl_mem mem;
        uint64_t size;
    };
    Staging staging(Queue &queue, uint64_t wanted);

private:
    void within(Submission &submission, const BufferEnd &src, const BufferEnd &dst);
    void staged(Submission &submission, const BufferEnd &src, const BufferEnd &dst);

    std::vector<MemOwner> staging_; ///< the last is in use
    uint64_t staging_size_ = 0;     ///< of that
};

/// As many bytes from offset 0 on, one after another.
inline sdk::Rectangle packed(const sdk::Rectangle &r) {
    return {0, r.row, r.rows, r.slices, r.row, r.row * r.rows};
}

} // namespace pi::opencl
