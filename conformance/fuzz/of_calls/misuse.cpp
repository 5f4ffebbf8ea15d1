// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"

#include <algorithm>

namespace pi::fuzz {

/// If memory is short the layer frees what it stored to recognise released handles.
void Program::forget_released(pi_result result) {
    if (result == PI_ERROR_OUT_OF_HOST_MEMORY || result == PI_ERROR_OUT_OF_DEVICE_MEMORY) {
        released_.clear();
    }
}

/// Released handles, for each argument.
void Program::use_released() {
    if (released_.empty()) {
        return;
    }
    const pi_mem dead = released_[below(released_.size())];
    const auto has_its_address = [&](const auto &object) { return object.mem == dead; };
    if (std::any_of(buffers_.begin(), buffers_.end(), has_its_address) ||
        std::any_of(images_.begin(), images_.end(), has_its_address)) {
        return;
    }
    uint64_t size = 0;
    uint8_t byte = 0;
    pi_region region{};
    region.extent[0] = 1;
    auto desc = pi::desc<pi_buffer_write_desc>();
    desc.mem = dead;
    desc.host_ptr = &byte;
    desc.region_count = 1;
    desc.regions = &region;
    auto view = pi::desc<pi_mem_partition_desc>();
    view.size = 1;
    pi_mem made = nullptr;
    must_not(piMemRelease(dead), "a second release");
    must_not(piMemRetain(dead), "to retain what was released");
    must_not(piMemGetInfo(dead, PI_MEM_INFO_SIZE, sizeof size, &size, nullptr),
             "to ask what was released");
    must_not(piEnqueueMemBufferWrite(queues_[0], &desc, 0, nullptr, nullptr),
             "to write what was released");
    must_not(piMemBufferPartition(dead, &view, &made), "a view of what was released");
}

/// Handles of another kind, and NULL.
void Program::confuse() {
    const pi_queue queue = queues_[0];
    const auto as_mem = reinterpret_cast<pi_mem>(queue);
    const auto as_event = reinterpret_cast<pi_event>(queue);
    auto fill = pi::desc<pi_buffer_fill_desc>();
    const uint8_t pattern = 1;
    fill.pattern = &pattern;
    fill.pattern_size = fill.size = 1;
    const uint32_t color[4] = {};
    auto image_fill = pi::desc<pi_image_fill_desc>();
    image_fill.color = color;
    image_fill.extent[0] = 1;
    switch (below(8)) {
    case 0:
        return must_not(piMemRetain(as_mem), "to retain a queue as a mem");
    case 1:
        return must_not(piEventWait(as_event, 0), "to wait for a queue as an event");
    case 2:
        return must_not(piQueueFinish(reinterpret_cast<pi_queue>(place_.context)),
                        "to finish a context as a queue");
    case 3:
        return must_not(piMemRelease(nullptr), "to release NULL");
    case 4:
        return must_not(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr), "to fill NULL");
    case 5:
        fill.mem = as_mem;
        return must_not(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr),
                        "to fill a queue as a mem");
    case 6:
        if (!buffers_.empty()) {
            image_fill.image = buffers_[0].mem;
            must_not(piEnqueueMemImageFill(queue, &image_fill, 0, nullptr, nullptr),
                     "to fill a buffer as an image");
        }
        return;
    default:
        if (!images_.empty()) {
            fill.mem = images_[0].mem;
            must_not(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr),
                     "to fill an image as a buffer");
        }
    }
}

/// Addresses that are not of USM, or not its first.
void Program::misuse_usm() {
    if (usm_.empty()) {
        return;
    }
    const Usm &usm = usm_[below(usm_.size())];
    uint8_t bytes[2] = {};
    pi_region region{};
    region.extent[0] = 1;
    auto copy = pi::desc<pi_usm_copy_desc>();
    copy.src = &bytes[0];
    copy.dst = &bytes[1];
    copy.region_count = 1;
    copy.regions = &region;
    if (piEnqueueUsmCopy(queues_[0], &copy, 0, nullptr, nullptr) != PI_ERROR_INVALID_USM_POINTER) {
        finding("a copy from host to host is taken");
    }
    must_not(piUsmFree(place_.context, &bytes[0]), "to free what is no USM");
    if (usm.size() > 1) {
        must_not(piUsmFree(place_.context, static_cast<uint8_t *>(usm.pointer) + 1),
                 "to free from the middle");
    }
    pi_usm_kind kind = 0;
    must_not(piUsmGetInfo(place_.context, &bytes[0], PI_USM_INFO_KIND, sizeof kind, &kind, nullptr),
             "to ask what is no USM");
}

void Program::retain() {
    if (const Buffer *buffer = any_of(buffers_)) {
        const uint32_t count = below(5);
        for (uint32_t i = 0; i < count; ++i) {
            must(piMemRetain(buffer->mem), "piMemRetain");
        }
        for (uint32_t i = 0; i < count; ++i) {
            must(piMemRelease(buffer->mem), "piMemRelease");
        }
    }
}

/// Any query, into memory of any size.
void Program::ask() {
    const uint32_t name = below(2) == 0 ? below(80) : input_.take<uint32_t>();
    Bytes value(below(64));
    uint64_t size = 0;
    if (const Buffer *buffer = any_of(buffers_)) {
        piMemGetInfo(buffer->mem, name, value.size(), value.data(), &size);
    }
    if (const Image *image = any_of(images_)) {
        piMemGetInfo(image->mem, name, value.size(), value.data(), &size);
    }
    if (const Usm *usm = any_of(usm_)) {
        piUsmGetInfo(place_.context, usm->pointer, name, value.size(), value.data(), &size);
    }
    piQueueGetInfo(queues_[0], name, value.size(), value.data(), &size);
    piDeviceGetInfo(place_.device, name, value.size(), value.data(), &size);
    piContextGetInfo(place_.context, name, value.size(), value.data(), &size);
}

} // namespace pi::fuzz
