// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rectangle_copy.hpp"

#include <algorithm>

namespace pi::opencl {

using namespace sdk;

namespace {

using Triple = std::array<size_t, 3>;

/// One end of a rectangle in the vendor's terms.
struct VendorEnd {
    Triple origin{};
    size_t row_pitch = 0, slice_pitch = 0;
};

VendorEnd vendor_end(const Rectangle &r) {
    if (r.slices == 1)
        return {
            {r.offset % r.row_pitch, r.offset / r.row_pitch, 0}, r.row_pitch, r.row_pitch * r.rows};
    const uint64_t in_slice = r.offset % r.slice_pitch;
    return {{in_slice % r.row_pitch, in_slice / r.row_pitch, r.offset / r.slice_pitch},
            r.row_pitch,
            r.slice_pitch};
}

/// A host end: the offset is added to the pointer.
VendorEnd host_end(Rectangle r) {
    r.offset = 0;
    return vendor_end(r);
}

/// Splits a copy into calls that the vendor has: linear(src, dst, bytes) and box(src, dst), whose
/// slices are whole rows.
template <class Linear, class Box>
void split(const Rectangle &src, const Rectangle &dst, Linear &&linear, Box &&box) {
    if (src.dense() && dst.dense())
        return linear(src.offset, dst.offset, src.bytes());
    const Rectangle from = src.flat(), to = dst.flat();
    if (from.slices_are_rows() && to.slices_are_rows())
        return box(from, to);
    for_each_grid(from, to, UINT64_MAX,
                  [&](const Rectangle &in, const Rectangle &out) { box(in.flat(), out.flat()); });
}

} // namespace

std::pair<Rectangle, Rectangle> rectangles(const pi_region &region, uint64_t src_begin,
                                           uint64_t dst_begin) {
    if (is_row(region)) { // most regions are
        const uint64_t bytes = region.extent[0];
        return {{src_begin + region.src_offset, bytes, 1, 1, bytes, bytes},
                {dst_begin + region.dst_offset, bytes, 1, 1, bytes, bytes}};
    }
    Rectangle from = source(region), to = destination(region);
    from.offset += src_begin;
    to.offset += dst_begin;
    return {from, to};
}

void read(Submission &submission, const BufferEnd &src, const HostEnd<std::byte> &dst, bool alone) {
    const Api &cl = submission.queue().api();
    split(
        src.bytes, dst.bytes,
        [&](size_t from, size_t to, size_t bytes) {
            submission.add_transfer(alone, "clEnqueueReadBuffer", cl.clEnqueueReadBuffer, src.mem,
                                    from, bytes, dst.pointer + to);
        },
        [&](const Rectangle &from, const Rectangle &to) {
            const VendorEnd in = vendor_end(from), out = host_end(to);
            const Triple extent{from.row, from.rows, from.slices};
            submission.add_transfer(alone, "clEnqueueReadBufferRect", cl.clEnqueueReadBufferRect,
                                    src.mem, in.origin.data(), out.origin.data(), extent.data(),
                                    in.row_pitch, in.slice_pitch, out.row_pitch, out.slice_pitch,
                                    dst.pointer + to.offset);
        });
}

void write(Submission &submission, const HostEnd<const std::byte> &src, const BufferEnd &dst,
           bool alone) {
    const Api &cl = submission.queue().api();
    split(
        src.bytes, dst.bytes,
        [&](size_t from, size_t to, size_t bytes) {
            submission.add_transfer(alone, "clEnqueueWriteBuffer", cl.clEnqueueWriteBuffer, dst.mem,
                                    to, bytes, src.pointer + from);
        },
        [&](const Rectangle &from, const Rectangle &to) {
            const VendorEnd in = host_end(from), out = vendor_end(to);
            const Triple extent{from.row, from.rows, from.slices};
            submission.add_transfer(alone, "clEnqueueWriteBufferRect", cl.clEnqueueWriteBufferRect,
                                    dst.mem, out.origin.data(), in.origin.data(), extent.data(),
                                    out.row_pitch, out.slice_pitch, in.row_pitch, in.slice_pitch,
                                    src.pointer + from.offset);
        });
}

namespace {

/// Calls clEnqueueCopyBufferRect and returns its code.
cl_int copy_box(Submission &submission, cl_mem src, const Rectangle &from, cl_mem dst,
                const Rectangle &to) {
    const VendorEnd in = vendor_end(from), out = vendor_end(to);
    const Triple extent{from.row, from.rows, from.slices};
    return submission.try_add(submission.queue().api().clEnqueueCopyBufferRect, src, dst,
                              in.origin.data(), out.origin.data(), extent.data(), in.row_pitch,
                              in.slice_pitch, out.row_pitch, out.slice_pitch);
}

void copy_boxes(Submission &submission, cl_mem src, const Rectangle &from, cl_mem dst,
                const Rectangle &to) {
    split(
        from, to,
        [&](size_t in, size_t out, size_t bytes) {
            submission.add("clEnqueueCopyBuffer", submission.queue().api().clEnqueueCopyBuffer, src,
                           dst, in, out, bytes);
        },
        [&](const Rectangle &in, const Rectangle &out) {
            check(copy_box(submission, src, in, dst, out), "clEnqueueCopyBufferRect", "on ",
                  submission.queue().device().name());
        });
}

} // namespace

void BufferCopies::copy(Submission &submission, const BufferEnd &src, const BufferEnd &dst) {
    if (src.mem == dst.mem && !(src.bytes.dense() && dst.bytes.dense()))
        return within(submission, src, dst);
    copy_boxes(submission, src.mem, src.bytes, dst.mem, dst.bytes);
}

// Within one buffer the vendor requires equal pitches, and its check for overlaps is stricter than
// PI's.
void BufferCopies::within(Submission &submission, const BufferEnd &src, const BufferEnd &dst) {
    const Rectangle from = src.bytes.flat(), to = dst.bytes.flat();
    if (from.row_pitch == to.row_pitch && from.slice_pitch == to.slice_pitch &&
        from.slices_are_rows()) {
        const cl_int code = copy_box(submission, src.mem, from, dst.mem, to);
        if (code == CL_SUCCESS)
            return;
        if (code != CL_MEM_COPY_OVERLAP)
            check(code, "clEnqueueCopyBufferRect", "on ", submission.queue().device().name());
    }
    staged(submission, src, dst);
}

BufferCopies::Staging BufferCopies::staging(Queue &queue, uint64_t wanted) {
    constexpr uint64_t most = 8 << 20; // a multiple of every pattern and of every pixel size
    const uint64_t size = std::min(wanted, most);
    if (staging_.empty() || staging_size_ < size) {
        const Context &context = queue.context();
        staging_size_ = std::min(std::max(size, 2 * staging_size_), most);
        cl_int code = CL_SUCCESS;
        staging_.emplace_back(context.api(),
                              context.api().clCreateBuffer(context.id(), CL_MEM_READ_WRITE,
                                                           staging_size_, nullptr, &code));
        check(code, "clCreateBuffer", staging_size_, " bytes for rows of a buffer of ",
              queue.device().name());
    }
    return {staging_.back().get(), size};
}

void BufferCopies::staged(Submission &submission, const BufferEnd &src, const BufferEnd &dst) {
    const Staging between = staging(submission.queue(), src.bytes.bytes());
    for_each_part(src.bytes, dst.bytes, {between.size, between.size, true, true},
                  [&](const Rectangle &from, const Rectangle &to) {
                      submission.order(); // after the previous part
                      copy_boxes(submission, src.mem, from, between.mem, packed(from));
                      submission.order();
                      copy_boxes(submission, between.mem, packed(from), dst.mem, to);
                  });
}

} // namespace pi::opencl
