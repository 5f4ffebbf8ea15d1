// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage/layout_check.hpp"

#include <pi/runtime/error.hpp>

#include <string>

namespace pi::runtime {
namespace {

constexpr size_t largest_rank = 8;

[[noreturn]] void refuse(pi_result code, const std::string &text) {
    throw Error(code, "Storage: layout." + text);
}

std::string element(const char *array, size_t index, uint64_t value) {
    return array + ("[" + std::to_string(index)) + "] is " + std::to_string(value);
}

void check_separators(const MemoryLayout &layout) {
    const std::vector<uint32_t> &separators = layout.axis_separators;
    for (size_t index = 0; index < separators.size(); ++index) {
        const uint32_t least = index == 0 ? 1 : separators[index - 1] + 1;
        if (separators[index] < least || separators[index] >= layout.extents.size()) {
            refuse(PI_ERROR_INVALID_VALUE,
                   element("axis_separators", index, separators[index]) + ", between " +
                       std::to_string(layout.extents.size()) +
                       " axes; they are increasing, from 1 to the number of axes less 1");
        }
    }
}

} // namespace

void check_layout(const MemoryLayout &layout, uint64_t size) {
    if (layout.is_dense()) {
        return;
    }
    if (layout.extents.empty() || layout.extents.size() > largest_rank) {
        refuse(PI_ERROR_INVALID_VALUE, "extents are " + std::to_string(layout.extents.size()) +
                                           "; 1 to " + std::to_string(largest_rank) +
                                           " are possible");
    }
    check_separators(layout);
    if (layout.element_size == 0) {
        refuse(PI_ERROR_INVALID_SIZE, "element_size is 0 bytes; at least 1 is needed");
    }
    uint64_t bytes = layout.element_size;
    for (size_t axis = 0; axis < layout.extents.size(); ++axis) {
        const uint64_t extent = layout.extents[axis];
        if (extent == 0) {
            refuse(PI_ERROR_INVALID_SIZE,
                   element("extents", axis, extent) + "; at least 1 is needed");
        }
        if (bytes > UINT64_MAX / extent) {
            refuse(PI_ERROR_INVALID_SIZE,
                   element("extents", axis, extent) + ": the bytes cannot be counted in 64 bits");
        }
        bytes *= extent;
    }
    if (bytes != size) {
        refuse(PI_ERROR_INVALID_SIZE,
               "extents hold " + std::to_string(bytes) + " bytes; size is " + std::to_string(size));
    }
}

} // namespace pi::runtime
