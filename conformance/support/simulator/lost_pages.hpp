// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links that lose pages (`loses_pages` in a machine file): of each two pages the second one.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace pi::drivers {

constexpr std::size_t lost_page_size = 4096;

/// memmove to the byte `offset` of a memory, whose lost pages stay as they were.
void copy_and_lose_pages(char *to, const char *from, std::size_t size, std::size_t offset);

/// While it lives, the lost pages of the memories are other memory, filled with poison. Nobody else may
/// use these meanwhile.
class HiddenPages {
public:
    HiddenPages() = default;
    HiddenPages(const HiddenPages &) = delete;
    ~HiddenPages();
    /// A memory that was added already stays as it is.
    void add(char *memory, std::size_t size);

private:
    std::map<char *, std::vector<char>> saved_;
};

} // namespace pi::drivers
