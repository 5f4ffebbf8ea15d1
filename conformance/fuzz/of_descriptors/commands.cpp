// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands, except launches.
#include "row.hpp"

namespace pi::fuzz {
namespace {

constexpr uint64_t most_bytes =
    8192; // of what a number of a descriptor that is not refused may count

void *map(const Fixture &at) {
    void *pointer = nullptr;
    auto desc = pi::desc<pi_buffer_map_desc>();
    desc.flags = PI_COMMAND_BLOCKING | PI_MAP_READ;
    desc.mem = at.buffer;
    desc.size = 16;
    desc.out_pointer = &pointer;
    must(piEnqueueMemBufferMap(at.queue, &desc, 0, nullptr, nullptr), "a map");
    return pointer;
}
void unmap(const Fixture &at, void *pointer) {
    auto desc = pi::desc<pi_unmap_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = at.buffer;
    desc.pointer = pointer;
    must(piEnqueueMemUnmap(at.queue, &desc, 0, nullptr, nullptr), "an unmap");
}

void add_buffers(std::vector<Row> &rows) {
    rows.push_back(command("piEnqueueMemBufferRead", piEnqueueMemBufferRead,
                           PI_TYPE_BUFFER_READ_DESC, {},
                           [](Trial &trial, pi_buffer_read_desc &desc) {
                               desc.mem = trial.at.buffer;
                               desc.host_ptr = trial.keep<uint8_t>(64);
                               desc.region_count = 1;
                               desc.regions = trial.region(64);
                           }));
    rows.push_back(command("piEnqueueMemBufferWrite", piEnqueueMemBufferWrite,
                           PI_TYPE_BUFFER_WRITE_DESC, {},
                           [](Trial &trial, pi_buffer_write_desc &desc) {
                               desc.mem = trial.at.buffer;
                               desc.host_ptr = trial.keep<uint8_t>(64);
                               desc.region_count = 1;
                               desc.regions = trial.region(64);
                           }));
    rows.push_back(command("piEnqueueMemBufferCopy", piEnqueueMemBufferCopy,
                           PI_TYPE_BUFFER_COPY_DESC, {},
                           [](Trial &trial, pi_buffer_copy_desc &desc) {
                               desc.src = trial.at.buffer;
                               desc.dst = trial.at.other;
                               desc.region_count = 1;
                               desc.regions = trial.region(64);
                           }));
    rows.push_back(command("piEnqueueMemBufferFill", piEnqueueMemBufferFill,
                           PI_TYPE_BUFFER_FILL_DESC, {},
                           [](Trial &trial, pi_buffer_fill_desc &desc) {
                               desc.mem = trial.at.buffer;
                               desc.pattern = trial.keep<uint8_t>(128);
                               desc.pattern_size = 4;
                               desc.size = 64;
                           }));
    rows.push_back(row<pi_buffer_map_desc>(
        "piEnqueueMemBufferMap", PI_TYPE_BUFFER_MAP_DESC,
        {.known_flags = PI_COMMAND_BLOCKING | PI_MAP_READ | PI_MAP_WRITE | PI_MAP_WRITE_DISCARD,
         .outputs_optional = true},
        [](Trial &trial, pi_buffer_map_desc &desc) {
            desc.flags = PI_MAP_READ;
            desc.mem = trial.at.buffer;
            desc.size = 64;
            desc.out_pointer = trial.keep<void *>(1);
            trial.written = desc.out_pointer;
        },
        [](Trial &trial, const pi_buffer_map_desc *desc) {
            const pi_result result = trial.command(piEnqueueMemBufferMap, desc);
            if (result == PI_SUCCESS) {
                unmap(trial.at, *trial.written);
            } else if (*trial.written != nullptr) {
                finding("a map that fails gives a pointer");
            }
            return result;
        }));
    rows.push_back(row<pi_unmap_desc>(
        "piEnqueueMemUnmap", PI_TYPE_UNMAP_DESC,
        {.known_flags = PI_COMMAND_BLOCKING, .outputs_optional = true},
        [](Trial &trial, pi_unmap_desc &desc) {
            desc.mem = trial.at.buffer;
            desc.pointer = map(trial.at);
            trial.written = trial.keep<void *>(1);
            *trial.written = desc.pointer;
        },
        [](Trial &trial, const pi_unmap_desc *desc) {
            const pi_result result = trial.command(piEnqueueMemUnmap, desc);
            if (result != PI_SUCCESS) {
                unmap(trial.at, *trial.written);
            }
            return result;
        }));
}

template <class Desc>
void fill_image_transfer(Trial &trial, Desc &desc) {
    desc.image = trial.at.image;
    desc.host_ptr = trial.keep<uint8_t>(256);
    auto *const region = trial.element<pi_image_region>();
    region->extent[0] = region->extent[1] = 8;
    desc.region_count = 1;
    desc.regions = region;
}

void add_images(std::vector<Row> &rows) {
    rows.push_back(command("piEnqueueMemImageRead", piEnqueueMemImageRead, PI_TYPE_IMAGE_READ_DESC,
                           {}, fill_image_transfer<pi_image_read_desc>));
    rows.push_back(command("piEnqueueMemImageWrite", piEnqueueMemImageWrite,
                           PI_TYPE_IMAGE_WRITE_DESC, {}, fill_image_transfer<pi_image_write_desc>));
    rows.push_back(command("piEnqueueMemImageCopy", piEnqueueMemImageCopy, PI_TYPE_IMAGE_COPY_DESC,
                           {}, [](Trial &trial, pi_image_copy_desc &desc) {
                               desc.src = trial.at.image;
                               desc.dst = trial.at.other_image;
                               auto *const region = trial.element<pi_image_copy_region>();
                               region->extent[0] = region->extent[1] = 8;
                               desc.region_count = 1;
                               desc.regions = region;
                           }));
    rows.push_back(command("piEnqueueMemImageFill", piEnqueueMemImageFill, PI_TYPE_IMAGE_FILL_DESC,
                           {}, [](Trial &trial, pi_image_fill_desc &desc) {
                               desc.image = trial.at.image;
                               desc.color = trial.keep<uint8_t>(16);
                               desc.extent[0] = desc.extent[1] = 8;
                           }));
}

void add_usm(std::vector<Row> &rows) {
    rows.push_back(command("piEnqueueUsmCopy", piEnqueueUsmCopy, PI_TYPE_USM_COPY_DESC, {},
                           [](Trial &trial, pi_usm_copy_desc &desc) {
                               desc.src = trial.keep<uint8_t>(64);
                               desc.dst = trial.at.usm;
                               desc.region_count = 1;
                               desc.regions = trial.region(64);
                           }));
    rows.push_back(command("piEnqueueUsmFill", piEnqueueUsmFill, PI_TYPE_USM_FILL_DESC, {},
                           [](Trial &trial, pi_usm_fill_desc &desc) {
                               desc.pointer = trial.at.usm;
                               desc.pattern = trial.keep<uint8_t>(128);
                               desc.pattern_size = 4;
                               desc.size = 64;
                           }));
    rows.push_back(command("piEnqueueUsmPrefetch", piEnqueueUsmPrefetch, PI_TYPE_USM_PREFETCH_DESC,
                           {.known_flags = PI_USM_PREFETCH_TO_HOST},
                           [](Trial &trial, pi_usm_prefetch_desc &desc) {
                               desc.pointer = trial.at.usm;
                               desc.size = 64;
                           }));
    rows.push_back(command("piEnqueueUsmAdvise", piEnqueueUsmAdvise, PI_TYPE_USM_ADVISE_DESC, {},
                           [](Trial &trial, pi_usm_advise_desc &desc) {
                               desc.pointer = trial.at.usm;
                               desc.size = 64;
                               desc.advice = PI_USM_ADVICE_RESET;
                           }));
    rows.push_back(row<pi_usm_alloc_desc>(
        "piEnqueueUsmAlloc", PI_TYPE_USM_ALLOC_DESC,
        {.known_flags = PI_COMMAND_BLOCKING, .outputs_optional = true},
        [](Trial &trial, pi_usm_alloc_desc &desc) {
            desc.pool = trial.at.pool;
            desc.size = 64;
            desc.out_pointer = trial.keep<void *>(1);
            trial.written = desc.out_pointer;
        },
        [](Trial &trial, const pi_usm_alloc_desc *desc) {
            const pi_result result = trial.command(piEnqueueUsmAlloc, desc);
            if (result == PI_SUCCESS) {
                must(piUsmFree(trial.at.place.context, *trial.written), "piUsmFree");
            } else if (*trial.written != nullptr) {
                finding("an allocation that fails gives a pointer");
            }
            return result;
        }));
    rows.push_back(row<pi_usm_free_desc>(
        "piEnqueueUsmFree", PI_TYPE_USM_FREE_DESC,
        {.known_flags = PI_COMMAND_BLOCKING, .outputs_optional = true},
        [](Trial &trial, pi_usm_free_desc &desc) {
            auto usm = pi::desc<pi_usm_desc>();
            usm.kind = PI_USM_DEVICE;
            usm.size = 64;
            const Place &place = trial.at.place;
            if (trial.at.usm != nullptr) {
                must(piUsmAlloc(place.context, place.device, &usm, &desc.pointer), "piUsmAlloc");
            }
            trial.written = trial.keep<void *>(1);
            *trial.written = desc.pointer;
        },
        [](Trial &trial, const pi_usm_free_desc *desc) {
            const pi_result result = trial.command(piEnqueueUsmFree, desc);
            // A descriptor that is cut off has no pointer, and then nothing is freed.
            const bool freed = result == PI_SUCCESS && desc->struct_size >= sizeof *desc;
            if (!freed && trial.at.usm != nullptr) {
                must(piUsmFree(trial.at.place.context, *trial.written), "piUsmFree");
            }
            return result;
        }));
}

template <class Desc>
void fill_nothing(Trial &, Desc &) {}

void add_others(std::vector<Row> &rows) {
    rows.push_back(
        command("piEnqueueHostFunction", piEnqueueHostFunction, PI_TYPE_HOST_FUNCTION_DESC, {},
                [](Trial &, pi_host_function_desc &desc) { desc.function = [](void *) {}; }));
    rows.push_back(command("piEnqueueEventsWait", piEnqueueEventsWait, PI_TYPE_EVENTS_WAIT_DESC,
                           {.optional = true}, fill_nothing<pi_events_wait_desc>));
    rows.push_back(command("piEnqueueBarrier", piEnqueueBarrier, PI_TYPE_BARRIER_DESC,
                           {.optional = true}, fill_nothing<pi_barrier_desc>));
    rows.push_back(command("piEnqueueTimestamp", piEnqueueTimestamp, PI_TYPE_TIMESTAMP_DESC, {},
                           fill_nothing<pi_timestamp_desc>));
    rows.push_back(command("piEnqueueDeviceGlobalRead", piEnqueueDeviceGlobalRead,
                           PI_TYPE_DEVICE_GLOBAL_READ_DESC, {},
                           [](Trial &trial, pi_device_global_read_desc &desc) {
                               desc.program = trial.at.program;
                               desc.name = "nothing";
                               desc.host_ptr = trial.keep<uint8_t>(most_bytes);
                               desc.size = 4;
                           }));
    rows.push_back(command("piEnqueueDeviceGlobalWrite", piEnqueueDeviceGlobalWrite,
                           PI_TYPE_DEVICE_GLOBAL_WRITE_DESC, {},
                           [](Trial &trial, pi_device_global_write_desc &desc) {
                               desc.program = trial.at.program;
                               desc.name = "nothing";
                               desc.host_ptr = trial.keep<uint8_t>(most_bytes);
                               desc.size = 4;
                           }));
}

} // namespace

std::vector<Row> command_rows() {
    std::vector<Row> rows;
    add_buffers(rows);
    add_images(rows);
    add_usm(rows);
    add_others(rows);
    return rows;
}

} // namespace pi::fuzz
