// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pages that are never paged out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace pi::host {

/// Pages that stay in memory while the object lives. mlock's locks belong to the process and do not
/// count, so this class counts them, for all instances of this plugin: a page is unlocked with its
/// last object. An application that locks the same pages shares that one lock. Thread-safe.
class PinnedPages {
public:
    PinnedPages() = default;
    /// For whole pages. If the system refuses, the object is empty.
    PinnedPages(const void *begin, uint64_t size);
    PinnedPages(PinnedPages &&other) noexcept
        : begin_(other.begin_), end_(std::exchange(other.end_, other.begin_)),
          refusal_(std::move(other.refusal_)) {}
    PinnedPages &operator=(PinnedPages other) noexcept {
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
        std::swap(refusal_, other.refusal_);
        return *this;
    }
    ~PinnedPages();

    explicit operator bool() const { return begin_ != end_; }
    /// Why it is empty, and what an administrator can do.
    const std::string &refusal() const { return refusal_; }

private:
    uintptr_t begin_ = 0, end_ = 0;
    std::string refusal_;
};

} // namespace pi::host
