// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "memory.hpp"

#include "sanitized.hpp"

#include <algorithm>

namespace pi::suite {

void require_text_names(std::initializer_list<uint64_t> numbers) {
    const std::string text = last_error_text();
    for (const uint64_t number : numbers)
        require(text.find(std::to_string(number)) != std::string::npos, "the text \"", text,
                "\" does not name ", number);
}

void need_allocation(pi_device device, uint64_t size) {
    if (is_sanitized)
        skip("a sanitizer has memory of its own for each byte");
    const auto most =
        info_or(&piDeviceGetInfo, device, PI_DEVICE_INFO_MAX_ALLOCATION_SIZE, uint64_t{0});
    if (most < size)
        skip(join("the device's largest allocation is ", most, " bytes"));
}

std::vector<uint32_t> scopes_with(Fixture &fixture, uint64_t flag, const char *name) {
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    std::vector<uint32_t> found;
    for (uint32_t scope = 0; scope < scopes.size(); ++scope)
        if ((scopes[scope].flags & flag) != 0)
            found.push_back(scope);
    if (found.empty())
        skip(join("no scope of the device has ", name));
    return found;
}

Shape::Shape(const std::function<uint64_t(uint64_t, uint64_t)> &random)
    : element_size(static_cast<uint32_t>(random(1, 9))) {
    const auto rank = static_cast<uint32_t>(random(1, 8));
    for (uint32_t axis = 0; axis < rank; ++axis)
        extents.push_back(random(1, rank <= 3 ? 13 : 3));
    for (uint32_t axis = 1; axis < rank; ++axis)
        if (random(0, 2) == 1)
            separators.push_back(axis);
}

uint64_t Shape::size() const {
    uint64_t bytes = element_size;
    for (const uint64_t extent : extents)
        bytes *= extent;
    return bytes;
}

pi_mem_layout_desc Shape::desc() const {
    auto layout = pi::desc<pi_mem_layout_desc>();
    layout.rank = static_cast<uint32_t>(extents.size());
    layout.element_size = element_size;
    layout.extents = extents.data();
    layout.axis_separator_count = static_cast<uint32_t>(separators.size());
    layout.axis_separators = separators.empty() ? nullptr : separators.data();
    return layout;
}

std::vector<uint64_t> Shape::physical() const {
    std::vector<uint64_t> axes(separators.size() + 1, 1);
    for (uint32_t axis = 0, group = 0; axis < extents.size(); ++axis) {
        if (group < separators.size() && separators[group] == axis)
            ++group;
        axes[group] *= extents[axis];
    }
    return axes;
}

std::string Shape::text() const {
    std::string text;
    for (uint32_t axis = 0; axis < extents.size(); ++axis) {
        if (axis != 0)
            text += std::count(separators.begin(), separators.end(), axis) != 0 ? " | " : " x ";
        text += std::to_string(extents[axis]);
    }
    return join(text, " elements of ", element_size, " bytes");
}

} // namespace pi::suite
