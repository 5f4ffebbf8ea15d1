// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the bytes of a memory object lie: one after another, or in the rows of an n-D allocation.
#pragma once

#include <pi/pi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pi::host {

/// How the logical dense row-major bytes of a buffer lie in its storage. The axis separators of a description cut the
/// logical axes into groups; each group is one physical axis, the innermost one a row. Every row begins at a multiple
/// of row_alignment bytes from the storage's begin. Flat memory has no rows: logical and physical bytes are the same.
class Layout {
public:
    /// A cache line: rows of different threads share none.
    static constexpr uint64_t row_alignment = 64;

    /// Flat.
    Layout() = default;
    /// What a description asks for. PI_ERROR_INVALID_VALUE for a rank or separators that cannot be, _INVALID_SIZE for
    /// an element or extent of 0, or if the elements are not `size` bytes together.
    Layout(const pi_mem_layout_desc &desc, uint64_t size);

    bool flat() const { return row_ == 0; }
    /// Bytes that storage for this many logical ones needs: whole rows.
    uint64_t physical_size(uint64_t logical) const { return flat() ? logical : at(logical); }
    /// Where a logical byte lies.
    uint64_t at(uint64_t logical) const {
        return flat() ? logical : logical / row_ * pitch_ + logical % row_;
    }
    /// How many bytes, beginning with this one, lie one after another.
    uint64_t run(uint64_t logical) const { return flat() ? UINT64_MAX : row_ - logical % row_; }
    /// Bytes from one index of each physical axis to the next, outermost first; none if no layout was described.
    const std::vector<uint64_t> &pitches() const { return pitches_; }

private:
    uint64_t row_ = 0; ///< logical bytes of a row; 0 = flat
    uint64_t pitch_ = 0;
    std::vector<uint64_t> pitches_;
};

/// Bytes in their logical order, from one of them on. Borrows: the memory and its layout stay somebody else's.
class LogicalBytes {
public:
    /// Plain memory.
    LogicalBytes(
        const void *begin) // NOLINT(google-explicit-constructor): plain memory is the usual case
        : LogicalBytes(static_cast<std::byte *>(const_cast<void *>(begin)), 0, nullptr) {}
    /// `offset` logical bytes into storage that begins at `storage` and is laid out like this; NULL = flat.
    LogicalBytes(std::byte *storage, uint64_t offset, const Layout *layout)
        : storage_(storage), offset_(offset), layout_(layout) {}

    std::byte *at(uint64_t offset) const {
        offset += offset_;
        return storage_ + (layout_ ? layout_->at(offset) : offset);
    }
    uint64_t run(uint64_t offset) const {
        return layout_ ? layout_->run(offset + offset_) : UINT64_MAX;
    }
    /// What stands for the first byte's address when overlaps are looked for: in views of one storage the same logical
    /// byte has the same one. Not for access.
    const void *identity() const { return storage_ + offset_; }

private:
    std::byte *storage_;
    uint64_t offset_;
    const Layout *layout_;
};

/// Copies; the bytes may be the very same ones, but must not overlap otherwise.
void copy_bytes(const LogicalBytes &src, uint64_t from, const LogicalBytes &dst, uint64_t to,
                uint64_t size);

/// Repeats `pattern` over `size` bytes, a multiple of its size.
void fill_bytes(const LogicalBytes &dst, uint64_t offset, uint64_t size,
                std::span<const std::byte> pattern);

} // namespace pi::host
