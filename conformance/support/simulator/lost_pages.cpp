// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lost_pages.hpp"

#include "mmap_region.hpp"

#include <algorithm>
#include <cstring>

namespace pi::drivers {

namespace {

bool is_lost(std::size_t offset) {
    return offset / lost_page_size % 2 != 0;
}

template <class Visit>
void for_each_lost_page(std::size_t size, const Visit &visit) {
    for (std::size_t begin = lost_page_size; begin < size; begin += 2 * lost_page_size)
        visit(begin, std::min(lost_page_size, size - begin));
}

} // namespace

void copy_and_lose_pages(char *to, const char *from, std::size_t size, std::size_t offset) {
    while (size) {
        const std::size_t step = std::min(size, lost_page_size - offset % lost_page_size);
        if (!is_lost(offset))
            std::memmove(to, from, step);
        to += step;
        from += step;
        offset += step;
        size -= step;
    }
}

void HiddenPages::add(char *memory, std::size_t size) {
    if (!saved_.try_emplace(memory, memory, memory + size).second)
        return;
    for_each_lost_page(size, [memory](std::size_t begin, std::size_t step) {
        std::memset(memory + begin, poison, step);
    });
}

HiddenPages::~HiddenPages() {
    for (const auto &one : saved_)
        for_each_lost_page(one.second.size(), [&one](std::size_t begin, std::size_t step) {
            std::memcpy(one.first + begin, one.second.data() + begin, step);
        });
}

} // namespace pi::drivers
