// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "enumerators.hpp"
#include "error.hpp"
#include "layers/extension.hpp"
#include "layers/layers.hpp"
#include "layers/race/races.hpp"
#include "plugin.hpp"

#include <pi/pi_race.h>

#include <memory>
#include <tuple>

namespace pi::loader {
namespace race {
namespace {

using Accesses = std::vector<Access>;

// The rows of a rectangle's source, or of its destination.
Ranges rows_of(const pi_region *regions, uint32_t count, bool dst) {
    Ranges ranges;
    for (uint32_t i = 0; regions != nullptr && i < count; ++i) {
        const pi_region &region = regions[i];
        const uint64_t *const pitch = dst ? region.dst_pitch : region.src_pitch;
        ranges.add_rows(dst ? region.dst_offset : region.src_offset, region.extent, pitch[0],
                        pitch[1]);
    }
    ranges.sort();
    return ranges;
}

void add_pixels(Ranges &ranges, const Grid &grid, const uint64_t origin[3],
                const uint64_t extent[3], uint32_t mip_level) {
    ranges.add_rows(grid.pixel(origin, mip_level), extent, grid.row(), grid.slice());
}

void use_pixels(Races &races, pi_mem image, const pi_image_region *regions, uint32_t count, Use use,
                Accesses &out) {
    const Grid grid = races.grid_of(image);
    Ranges ranges;
    for (uint32_t i = 0; regions != nullptr && i < count; ++i)
        add_pixels(ranges, grid, regions[i].origin, regions[i].extent, regions[i].mip_level);
    ranges.sort();
    races.use_mem(out, image, use, std::move(ranges));
}

// The bytes of pixels in linear memory.
void add_bytes(Ranges &ranges, uint64_t offset, const uint64_t extent[3], uint32_t pixel,
               uint64_t row_pitch, uint64_t slice_pitch) {
    const uint64_t bytes[3] = {extent[0] * pixel, extent[1], extent[2]};
    ranges.add_rows(offset, bytes, row_pitch, slice_pitch);
}

void use_host_of_image(Races &races, pi_mem image, const void *host_ptr,
                       const pi_image_region *regions, uint32_t count, Use use, Accesses &out) {
    const uint32_t pixel = races.pixel_of(image);
    Ranges ranges;
    for (uint32_t i = 0; regions != nullptr && i < count; ++i)
        add_bytes(ranges, regions[i].offset, regions[i].extent, pixel, regions[i].row_pitch,
                  regions[i].slice_pitch);
    ranges.sort();
    races.use_pointer(out, host_ptr, use, std::move(ranges));
}

/// Descriptors without an overload below use no memory that the layer watches.
template <typename Desc>
void read_accesses(Races &, const Desc &, Accesses &) {}

void read_accesses(Races &races, const pi_buffer_read_desc &desc, Accesses &out) {
    races.use_mem(out, desc.mem, Use::reads, rows_of(desc.regions, desc.region_count, false));
    races.use_pointer(out, desc.host_ptr, Use::writes,
                      rows_of(desc.regions, desc.region_count, true));
}
void read_accesses(Races &races, const pi_buffer_write_desc &desc, Accesses &out) {
    races.use_mem(out, desc.mem, Use::writes, rows_of(desc.regions, desc.region_count, true));
    races.use_pointer(out, desc.host_ptr, Use::reads,
                      rows_of(desc.regions, desc.region_count, false));
}
void read_accesses(Races &races, const pi_buffer_copy_desc &desc, Accesses &out) {
    races.use_mem(out, desc.src, Use::reads, rows_of(desc.regions, desc.region_count, false));
    races.use_mem(out, desc.dst, Use::writes, rows_of(desc.regions, desc.region_count, true));
}
void read_accesses(Races &races, const pi_buffer_fill_desc &desc, Accesses &out) {
    Ranges ranges;
    ranges.add(desc.offset, desc.size);
    races.use_mem(out, desc.mem, Use::writes, std::move(ranges));
}
void read_accesses(Races &races, const pi_buffer_map_desc &desc, Accesses &out) {
    races.map(out, desc);
}
void read_accesses(Races &races, const pi_unmap_desc &desc, Accesses &out) {
    races.unmap(out, desc.mem);
}
void read_accesses(Races &races, const pi_image_read_desc &desc, Accesses &out) {
    use_pixels(races, desc.image, desc.regions, desc.region_count, Use::reads, out);
    use_host_of_image(races, desc.image, desc.host_ptr, desc.regions, desc.region_count,
                      Use::writes, out);
}
void read_accesses(Races &races, const pi_image_write_desc &desc, Accesses &out) {
    use_pixels(races, desc.image, desc.regions, desc.region_count, Use::writes, out);
    use_host_of_image(races, desc.image, desc.host_ptr, desc.regions, desc.region_count, Use::reads,
                      out);
}
// One end may be a buffer, whose rows have the bytes of the other end's pixels.
void read_accesses(Races &races, const pi_image_copy_desc &desc, Accesses &out) {
    const uint32_t src_pixel = races.pixel_of(desc.src);
    const uint32_t dst_pixel = races.pixel_of(desc.dst);
    const Grid src_grid = races.grid_of(desc.src);
    const Grid dst_grid = races.grid_of(desc.dst);
    Ranges src;
    Ranges dst;
    for (uint32_t i = 0; desc.regions != nullptr && i < desc.region_count; ++i) {
        const pi_image_copy_region &region = desc.regions[i];
        const auto add = [&](Ranges &ranges, uint32_t pixel, const Grid &grid,
                             const uint64_t origin[3], uint32_t mip_level) {
            if (pixel != 0)
                add_pixels(ranges, grid, origin, region.extent, mip_level);
            else
                add_bytes(ranges, region.buffer_offset, region.extent,
                          std::max(src_pixel, dst_pixel), region.buffer_row_pitch,
                          region.buffer_slice_pitch);
        };
        add(src, src_pixel, src_grid, region.src_origin, region.src_mip_level);
        add(dst, dst_pixel, dst_grid, region.dst_origin, region.dst_mip_level);
    }
    src.sort();
    dst.sort();
    races.use_mem(out, desc.src, Use::reads, std::move(src));
    races.use_mem(out, desc.dst, Use::writes, std::move(dst));
}
void read_accesses(Races &races, const pi_image_fill_desc &desc, Accesses &out) {
    Ranges ranges;
    add_pixels(ranges, races.grid_of(desc.image), desc.origin, desc.extent, 0);
    races.use_mem(out, desc.image, Use::writes, std::move(ranges));
}
void read_accesses(Races &races, const pi_usm_copy_desc &desc, Accesses &out) {
    races.use_pointer(out, desc.src, Use::reads, rows_of(desc.regions, desc.region_count, false));
    races.use_pointer(out, desc.dst, Use::writes, rows_of(desc.regions, desc.region_count, true));
}
void read_accesses(Races &races, const pi_usm_fill_desc &desc, Accesses &out) {
    Ranges ranges;
    ranges.add(0, desc.size);
    races.use_pointer(out, desc.pointer, Use::writes, std::move(ranges));
}
void read_accesses(Races &races, const pi_usm_alloc_desc &desc, Accesses &out) {
    if (desc.out_pointer == nullptr)
        return;
    races.add_usm(*desc.out_pointer, desc.size);
    Ranges ranges;
    ranges.add(0, desc.size);
    races.use_pointer(out, *desc.out_pointer, Use::writes, std::move(ranges));
}
template <typename Desc>
void read_variable(Races &races, const Desc &desc, Use variable, Use host, Accesses &out) {
    Ranges bytes;
    bytes.add(desc.offset, desc.size);
    races.use_variable(out, desc.program, desc.name, variable, std::move(bytes));
    Ranges linear;
    linear.add(0, desc.size);
    races.use_pointer(out, desc.host_ptr, host, std::move(linear));
}
void read_accesses(Races &races, const pi_device_global_read_desc &desc, Accesses &out) {
    read_variable(races, desc, Use::reads, Use::writes, out);
}
void read_accesses(Races &races, const pi_device_global_write_desc &desc, Accesses &out) {
    read_variable(races, desc, Use::writes, Use::reads, out);
}
void read_accesses(Races &races, const pi_kernel_launch_desc &desc, Accesses &out) {
    for (uint32_t i = 0; desc.arguments != nullptr && i < desc.argument_count; ++i)
        races.use_argument(out, desc.arguments[i]);
}

/// A callback of the application, and what has ended when it runs.
struct Callback {
    Races &races;
    Past past;
    pi_event_callback function;
    void *user_data;
};

void PI_CALL on_event(pi_event event, pi_result result, void *user_data) {
    const std::unique_ptr<Callback> callback(static_cast<Callback *>(user_data));
    callback->races.end(callback->past);
    callback->function(event, result, callback->user_data);
}

pi_result set_callback(Races &races, pi_event event, pi_event_callback function, void *user_data) {
    if (function == nullptr)
        return races.next().piEventSetCallback(event, function, user_data);
    auto callback = std::make_unique<Callback>(
        Callback{races, races.past_of_event(event), function, user_data});
    const pi_result result = races.next().piEventSetCallback(event, on_event, callback.get());
    if (result == PI_SUCCESS)
        static_cast<void>(callback.release());
    return result;
}

void PI_CALL on_host_function(void *user_data) {
    const std::unique_ptr<HostFunction> call =
        static_cast<HostFunction *>(user_data)->races.take(user_data);
    call->races.end(call->past);
    call->function(call->user_data);
}

pi_result PI_CALL set_lead(const pi_kernel_argument *argument, uint64_t lead) noexcept {
    return guarded("set_lead", [&]() -> pi_result {
        if (argument == nullptr)
            return fail(PI_ERROR_INVALID_NULL_POINTER, "set_lead: argument is NULL");
        if (argument->kind != PI_ARGUMENT_BUFFER || argument->size <= lead)
            return fail(PI_ERROR_INVALID_VALUE,
                        "set_lead: argument has kind {} and {} bytes, lead is {}; a "
                        "PI_ARGUMENT_BUFFER (2) of more bytes than lead is needed",
                        name_argument_kind(argument->kind), argument->size, lead);
        Races *const races =
            argument->mem != nullptr
                ? static_cast<Races *>(TableChain::of(dispatch_of(argument->mem)).data(race_layer))
                : nullptr;
        if (races == nullptr || !races->set_lead(*argument, lead))
            return fail(
                PI_ERROR_INVALID_MEM_OBJECT,
                "set_lead: argument->mem is {}; a memory object created while the layer \"race\" "
                "was enabled is needed",
                argument->mem == nullptr ? "NULL" : "not watched");
        return PI_SUCCESS;
    });
}

constexpr pi_race_v1 extension = {sizeof(pi_race_v1), set_lead};

// Whether a blocking command that failed may have been enqueued: errors of arguments and of the
// calling context refuse it before.
bool may_have_run(pi_result failure) noexcept {
    return failure < PI_ERROR_UNSUPPORTED_FEATURE && failure != PI_ERROR_WOULD_BLOCK;
}

template <auto Slot, typename Desc>
pi_result watched_command(Races &races, std::size_t function, void *caller, pi_queue queue,
                          const Desc *desc, uint32_t wait_count, const pi_event *wait_list,
                          pi_event *out_event) {
    constexpr bool barrier = same_slot<Slot, &pi_dispatch::piEnqueueBarrier>;
    Desc own{};
    const bool read = copy_descriptor(desc, type_of<Desc>, own);
    Races::Enqueued enqueued{.function = function,
                             .queue = queue,
                             .waits = races.waits_of(wait_count, wait_list),
                             .barrier = barrier,
                             .waits_for_all =
                                 barrier || same_slot<Slot, &pi_dispatch::piEnqueueEventsWait>,
                             .blocked = read && (own.flags & PI_COMMAND_BLOCKING) != 0};
    const Desc *passed = desc;
    [[maybe_unused]] void *stored = nullptr;
    [[maybe_unused]] std::vector<unsigned char> copy;
    if constexpr (std::is_same_v<Desc, pi_host_function_desc>) {
        // Uses the whole descriptor of a newer caller: the plugin decides whether it accepts it. A
        // shorter descriptor has no room for the data.
        if (read && own.function != nullptr && desc->struct_size >= sizeof own &&
            desc->struct_size <= 4096) {
            const auto *const bytes = reinterpret_cast<const unsigned char *>(desc);
            copy.assign(bytes, bytes + desc->struct_size);
            stored = races.store({races, races.past_before(enqueued), own.function, own.user_data});
            own.function = on_host_function;
            own.user_data = stored;
            own.struct_size = desc->struct_size;
            std::memcpy(copy.data(), &own, std::min<std::size_t>(sizeof own, copy.size()));
            passed = reinterpret_cast<const Desc *>(copy.data());
        }
    }
    [[maybe_unused]] Races::FreedUsm freed;
    if constexpr (std::is_same_v<Desc, pi_usm_free_desc>) {
        if (read)
            freed = races.free_usm(own.pointer);
    }
    const pi_result result = (races.next().*Slot)(queue, passed, wait_count, wait_list, out_event);
    if (result != PI_SUCCESS) {
        races.take(stored); // unless it has run
        races.put_back_usm(std::move(freed));
        // A command that failed at its end was ordered behind these all the same.
        if (enqueued.blocked && may_have_run(result))
            races.watch([&] { races.end(races.past_before(enqueued)); });
        return result;
    }
    // It runs, and its event belongs to the application.
    races.watch([&] {
        if (read)
            read_accesses(races, own, enqueued.accesses);
        Races::use_freed(enqueued.accesses, freed);
        enqueued.event = out_event != nullptr ? *out_event : nullptr;
        races.add(std::move(enqueued), take_stack(caller));
    });
    return PI_SUCCESS;
}

/// The wrapper of commands, of functions that create memory, queues and events, and of host waits.
template <auto Slot, std::size_t Index, typename Function>
struct Watched;
template <auto Slot, std::size_t Index, typename Handle, typename... Rest>
struct Watched<Slot, Index, pi_result (*)(Handle, Rest...)> {
    template <auto... Slots>
    static constexpr bool is = (same_slot<Slot, Slots> || ...);
    static constexpr bool command = is_command<pi_result (*)(Handle, Rest...)>;
    static constexpr bool counts =
        is<&pi_dispatch::piQueueRetain, &pi_dispatch::piMemRetain, &pi_dispatch::piEventRetain,
           &pi_dispatch::piQueueRelease, &pi_dispatch::piMemRelease, &pi_dispatch::piEventRelease,
           &pi_dispatch::piProgramRetain, &pi_dispatch::piProgramRelease>;
    static constexpr bool makes =
        is<&pi_dispatch::piQueueCreate, &pi_dispatch::piQueueCreateWithNativeHandle,
           &pi_dispatch::piMemBufferCreate, &pi_dispatch::piMemImageCreate,
           &pi_dispatch::piMemBufferPartition, &pi_dispatch::piMemImageViewCreate,
           &pi_dispatch::piMemImport, &pi_dispatch::piUsmAlloc, &pi_dispatch::piEventCreateHost,
           &pi_dispatch::piEventCreateWithNativeHandle, &pi_dispatch::piProgramCreate,
           &pi_dispatch::piProgramLink, &pi_dispatch::piProgramCreateWithNativeHandle>;
    static constexpr bool waits =
        is<&pi_dispatch::piEventWait, &pi_dispatch::piEventGetInfo,
           &pi_dispatch::piEventGetProfilingInfo, &pi_dispatch::piEventSignalHost>;
    static constexpr bool wraps =
        command || counts || makes || waits ||
        is<&pi_dispatch::piQueueFinish, &pi_dispatch::piUsmFree, &pi_dispatch::piEventSetCallback,
           &pi_dispatch::piPluginGetExtension>;

    static pi_result PI_CALL call(Handle handle, Rest... rest) noexcept {
        void *const caller = __builtin_return_address(0);
        auto &races = data_of<Races>(race_layer, handle);
        return guarded(function_rows[Index].name, [&] {
            const auto next = races.next().*Slot;
            if constexpr (command) {
                return watched_command<Slot>(races, Index, caller, handle, rest...);
            } else if constexpr (is<&pi_dispatch::piEventSetCallback>) {
                return set_callback(races, handle, rest...);
            } else if constexpr (is<&pi_dispatch::piPluginGetExtension>) {
                return get_extension(races.next(), extension, PI_RACE_V1, handle, rest...);
            } else if constexpr (is<&pi_dispatch::piQueueFinish>) {
                const Past past = races.past_of_queue(handle);
                const pi_result result = next(handle);
                if (result == PI_SUCCESS)
                    races.end(past);
                return result;
            } else if constexpr (counts && ends_with(Index, "Release")) {
                auto taken = races.release(handle);
                const pi_result result = next(handle);
                if (result != PI_SUCCESS)
                    races.put_back(handle, std::move(taken));
                else if constexpr (std::is_same_v<Handle, pi_event>)
                    races.watch([&] { races.abandon(taken); });
                return result;
            } else if constexpr (is<&pi_dispatch::piUsmFree>) {
                Races::FreedUsm freed = races.free_usm(std::get<0>(std::tuple(rest...)));
                const pi_result result = next(handle, rest...);
                if (result != PI_SUCCESS)
                    races.put_back_usm(std::move(freed));
                return result;
            } else {
                const pi_result result = next(handle, rest...);
                if constexpr (is<&pi_dispatch::piEventWait>) {
                    races.end_waited(handle, result);
                } else if (result == PI_SUCCESS) {
                    // The created object belongs to the application.
                    races.watch([&] { see(races, handle, rest...); });
                }
                return result;
            }
        });
    }

private:
    static void see(Races &races, Handle handle, Rest... rest) {
        const std::tuple<Rest...> parameters(rest...);
        if constexpr (counts) {
            races.retain(handle);
        } else if constexpr (is<&pi_dispatch::piEventSignalHost>) {
            races.signal(handle, rest...);
        } else if constexpr (is<&pi_dispatch::piEventGetProfilingInfo>) {
            races.end_event(handle); // does something only for events that have ended
        } else if constexpr (is<&pi_dispatch::piEventGetInfo>) {
            const auto *const status =
                static_cast<const pi_event_status *>(std::get<2>(parameters));
            if (std::get<0>(parameters) == PI_EVENT_INFO_STATUS && status != nullptr &&
                *status == PI_EVENT_COMPLETE)
                races.end_event(handle);
        } else if constexpr (makes) {
            const auto out = std::get<sizeof...(Rest) - 1>(parameters);
            if (out != nullptr && *out != nullptr)
                made(races, handle, parameters, *out);
        }
    }

    template <typename Parameters, typename Made>
    static void made(Races &races, Handle handle, const Parameters &parameters, Made made) {
        if constexpr (std::is_same_v<Made, pi_queue>) {
            races.add_queue(made);
        } else if constexpr (std::is_same_v<Made, pi_program>) {
            races.add_program(made);
        } else if constexpr (is<&pi_dispatch::piEventCreateHost>) {
            races.add_host_event(made);
        } else if constexpr (std::is_same_v<Made, pi_event>) {
            races.forget_event(made);
        } else {
            const auto *const desc = std::get<sizeof...(Rest) - 2>(parameters);
            using Desc = std::remove_cvref_t<decltype(*desc)>;
            Desc own;
            if constexpr (is<&pi_dispatch::piMemBufferPartition>) {
                if (desc->struct_size >= sizeof own)
                    races.add_view(handle, made, *desc);
            } else if (copy_descriptor(desc, type_of<Desc>, own)) {
                if constexpr (is<&pi_dispatch::piUsmAlloc>)
                    races.add_usm(made, own.size);
                else if constexpr (std::is_same_v<Desc, pi_mem_image_desc>)
                    races.add_image(made, own);
                else
                    races.add_memory(made, own.size, own.flags);
            }
        }
    }
};

void *attach(PluginInstance &instance, pi_dispatch &table) {
    auto races = std::make_unique<Races>(instance);
    wrap_all<Watched>(table);
    return races.release();
}

void detach(void *data) noexcept {
    delete static_cast<Races *>(data);
}

} // namespace
} // namespace race

constinit const Layer race_layer = {"race", race::attach, race::detach};

} // namespace pi::loader
