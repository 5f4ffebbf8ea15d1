// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"
#include "simulator/lost_pages.hpp"

#include <array>
#include <cstring>

namespace pi::level_zero::simulated {

namespace {

/// One end of a copy of a region.
struct End {
    Reach reach;
    size_t row, slice;
};

size_t bytes_of(const ze_copy_region_t &region, size_t row, size_t slice) {
    return (region.depth - 1) * slice + (region.height - 1) * row + region.width;
}

End end_of(const void *pointer, const ze_copy_region_t &region, size_t row, size_t slice,
           const Device *device) {
    need(row >= region.originX + region.width || region.height * region.depth == 1,
         ZE_RESULT_ERROR_INVALID_SIZE);
    need(region.depth == 1 || slice >= row * region.height, ZE_RESULT_ERROR_INVALID_SIZE);
    const char *const first = static_cast<const char *>(pointer) + region.originZ * slice +
                              region.originY * row + region.originX;
    return {Reach(first, bytes_of(region, row, slice), device), row, slice};
}

bool overlap(const void *a, const void *b, size_t size) {
    const auto *first = static_cast<const char *>(a), *second = static_cast<const char *>(b);
    return first < second + size && second < first + size;
}

/// The filled part is the pattern for the rest.
void fill(char *to, size_t size, const std::string &pattern) {
    size_t done = std::min(size, pattern.size());
    std::memcpy(to, pattern.data(), done);
    for (size_t more = 0; done < size; done += more) {
        more = std::min(done, size - done);
        std::memcpy(to + done, to, more);
    }
}

/// The shape of a copy.
struct Rows {
    size_t width = 0, count = 1, slices = 1;
    std::array<size_t, 2> to_pitch{}, from_pitch{}; ///< of rows and of slices
};

void carry(const Bytes &to, const Bytes &from, const Rows &rows, const Device &by) {
    const auto device_of = [](const Bytes &bytes) {
        return bytes.owner ? bytes.owner->device_index() : std::nullopt;
    };
    const bool loses_pages =
        driver().machine.copy_loses_pages(device_of(from), by.index, device_of(to));
    const char *const memory = to.owner ? to.owner->bytes : to.data;
    for (size_t z = 0; z < rows.slices; ++z)
        for (size_t y = 0; y < rows.count; ++y) {
            char *const out = to.data + z * rows.to_pitch[1] + y * rows.to_pitch[0];
            const char *const in = from.data + z * rows.from_pitch[1] + y * rows.from_pitch[0];
            if (loses_pages)
                drivers::copy_and_lose_pages(out, in, rows.width, size_t(out - memory));
            else
                std::memcpy(out, in, rows.width);
        }
}

ze_result_t append_copy(ze_command_list_handle_t list, void *to, const void *from, size_t size,
                        const Order &order) {
    if (!to || !from)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return append(list, order, [&](List &target, Command &command) {
        need(size == 0 || !overlap(to, from, size), ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
        const Reach destination(to, size, target.device), source(from, size, target.device);
        destination.keep(command);
        source.keep(command);
        command.work = [destination, source, size, by = target.device] {
            carry(destination.take(), source.take(), {.width = size}, *by);
        };
    });
}

} // namespace

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void *to,
                                                     const void *from, size_t size,
                                                     ze_event_handle_t signal, uint32_t count,
                                                     ze_event_handle_t *waits) {
    return append_copy(list, to, from, size, {signal, count, waits});
}

// A list can access memory of all contexts, but the memory must be of the named one.
ze_result_t ZE_APICALL zeCommandListAppendMemoryCopyFromContext(
    ze_command_list_handle_t list, void *to, ze_context_handle_t source_context, const void *from,
    size_t size, ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    const ze_result_t known = call([&](Lock &) {
        const std::shared_ptr<Context> owner = driver().context(source_context);
        const std::shared_ptr<Allocation> memory = find_allocation(from);
        need(!memory || memory->imported || memory->context == owner,
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
    });
    return known ? known : append_copy(list, to, from, size, {signal, count, waits});
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryFill(ze_command_list_handle_t list, void *to,
                                                     const void *pattern, size_t pattern_size,
                                                     size_t size, ze_event_handle_t signal,
                                                     uint32_t count, ze_event_handle_t *waits) {
    if (!to || !pattern)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return append(list, {signal, count, waits}, [&](List &target, Command &command) {
        need(pattern_size > 0 && pattern_size <= most_pattern[target.group],
             ZE_RESULT_ERROR_INVALID_SIZE);
        const Reach destination(to, size, target.device);
        destination.keep(command);
        command.work = [destination, size,
                        bytes = std::string(static_cast<const char *>(pattern), pattern_size)] {
            const Bytes at = destination.take();
            fill(at.data, size, bytes);
        };
    });
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryCopyRegion(
    ze_command_list_handle_t list, void *to, const ze_copy_region_t *to_region, uint32_t to_row,
    uint32_t to_slice, const void *from, const ze_copy_region_t *from_region, uint32_t from_row,
    uint32_t from_slice, ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    if (!to || !from || !to_region || !from_region)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return append(list, {signal, count, waits}, [&](List &target, Command &command) {
        // In two dimensions the depth may be 0.
        ze_copy_region_t r = *to_region, s = *from_region;
        r.depth += r.depth == 0;
        s.depth += s.depth == 0;
        need(r.width && r.height && r.width == s.width && r.height == s.height &&
                 r.depth == s.depth,
             ZE_RESULT_ERROR_INVALID_SIZE);
        const End destination = end_of(to, r, to_row, to_slice, target.device);
        const End source = end_of(from, s, from_row, from_slice, target.device);
        destination.reach.keep(command);
        source.reach.keep(command);
        command.work = [destination, source, r, by = target.device] {
            const Rows rows{.width = r.width,
                            .count = r.height,
                            .slices = r.depth,
                            .to_pitch = {destination.row, destination.slice},
                            .from_pitch = {source.row, source.slice}};
            carry(destination.reach.take(), source.reach.take(), rows, *by);
        };
    });
}

// Hints: the memory must exist; they have no other effect.
ze_result_t ZE_APICALL zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t list,
                                                         const void *pointer, size_t size) {
    if (!pointer)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return append(list, {}, [&](List &target, Command &command) {
        Reach(pointer, size, target.device).keep(command);
    });
}

ze_result_t ZE_APICALL zeCommandListAppendMemAdvise(ze_command_list_handle_t list,
                                                    ze_device_handle_t device, const void *pointer,
                                                    size_t size, ze_memory_advice_t advice) {
    if (!pointer)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (advice > ZE_MEMORY_ADVICE_BIAS_UNCACHED)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    return append(list, {}, [&](List &target, Command &command) {
        driver().device(device);
        Reach(pointer, size, target.device).keep(command);
    });
}
