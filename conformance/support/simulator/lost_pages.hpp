// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links that lose pages (`loses_pages` in a machine file): every second page.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace pi::drivers {

constexpr std::size_t lost_page_size = 4096;

/// memmove to byte `offset` of a memory; its lost pages keep their old contents.
void copy_and_lose_pages(char *to, const char *from, std::size_t size, std::size_t offset);

/// While this lives, the lost pages of the memories are replaced by other memory full of poison. No
/// other thread may use the memories meanwhile.
class HiddenPages {
public:
    HiddenPages() = default;
    HiddenPages(const HiddenPages &) = delete;
    ~HiddenPages();
    /// No effect on a memory that was added already.
    void add(char *memory, std::size_t size);

private:
    std::map<char *, std::vector<char>> saved_;
};

} // namespace pi::drivers
