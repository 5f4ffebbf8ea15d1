// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "layers/record/format.hpp"
#include "layers/record/log_file.hpp"
#include "layers/record/text_archive.hpp"
#include "plugin.hpp"

#include <memory>
#include <tuple>
#include <vector>

namespace pi::loader {
namespace record {
namespace {

std::string hex(uint64_t hash) {
    return fmt::format("\"{:016x}\"", hash);
}

/// For one plugin instance.
struct Recorder {
    std::shared_ptr<LogFile> file;
    const pi_dispatch &next;
};

/// Recorded before the call, which may change or free it.
struct Before {
    std::vector<std::string> arguments; ///< JSON: "" for a descriptor
    uint64_t began = 0;                 ///< the number of lines then
    std::optional<Map> map;
    std::string data; ///< JSON
    std::optional<uint64_t> hash;
    std::optional<UsmPlace> freed;
    std::string cannot; ///< why the call cannot be run again, or ""
};

template <auto Slot, std::size_t Index, typename Function>
struct Recorded;
template <auto Slot, std::size_t Index, typename Handle, typename... Rest>
struct Recorded<Slot, Index, pi_result (*)(Handle, Rest...)> {
    static constexpr const char *name = function_rows[Index].name;
    using Parameters = std::tuple<Handle, Rest...>;
    template <std::size_t I>
    using Parameter = std::tuple_element_t<I, Parameters>;
    static constexpr std::size_t last = sizeof...(Rest);
    // The last release of an event that was not signalled fails its waiters, and that of a queue
    // flushes.
    static constexpr bool wakes = same_slot<Slot, &pi_dispatch::piEventSignalHost> ||
                                  same_slot<Slot, &pi_dispatch::piEventRelease> ||
                                  same_slot<Slot, &pi_dispatch::piQueueFlush> ||
                                  same_slot<Slot, &pi_dispatch::piQueueRelease>;
    static constexpr bool maps = same_slot<Slot, &pi_dispatch::piEnqueueMemBufferMap>;
    static constexpr bool unmaps = same_slot<Slot, &pi_dispatch::piEnqueueMemUnmap>;
    static constexpr bool partitions = same_slot<Slot, &pi_dispatch::piDevicePartition>;
    static constexpr bool creates_image = same_slot<Slot, &pi_dispatch::piMemImageCreate> ||
                                          same_slot<Slot, &pi_dispatch::piMemImageViewCreate>;
    static constexpr bool launches = same_slot<Slot, &pi_dispatch::piEnqueueKernelLaunch>;
    static constexpr bool allocates = same_slot<Slot, &pi_dispatch::piUsmAlloc>;
    static constexpr bool enqueues_allocation = same_slot<Slot, &pi_dispatch::piEnqueueUsmAlloc>;
    static constexpr bool makes_pool = same_slot<Slot, &pi_dispatch::piUsmPoolCreate>;
    static constexpr bool frees = same_slot<Slot, &pi_dispatch::piUsmFree>;
    static constexpr bool enqueues_free = same_slot<Slot, &pi_dispatch::piEnqueueUsmFree>;

    static pi_result PI_CALL call(Handle handle, Rest... rest) noexcept {
        auto &recorder = data_of<Recorder>(record_layer, handle);
        LogFile &file = *recorder.file;
        Before before;
        Parameters parameters(handle, rest...);
        [[maybe_unused]] uint32_t made_count = 0;
        if constexpr (partitions) {
            // Otherwise nothing would say how many sub-devices there are.
            if (std::get<last>(parameters) == nullptr && std::get<last - 1>(parameters) != nullptr)
                std::get<last>(parameters) = &made_count;
        }
        bool complete = attempt([&] {
            look(file, before, parameters);
            if constexpr (wakes)
                before.began = file.write(line(file, before, PI_SUCCESS, parameters));
        });
        const pi_result result = std::apply(recorder.next.*Slot, parameters);
        complete = complete && attempt([&] {
                       if constexpr (!wakes)
                           file.write(line(file, before, result, parameters));
                       else if (result != PI_SUCCESS)
                           file.write(JsonObject()
                                          .add("of", json_text(before.began))
                                          .add("result", json_text(result))
                                          .text());
                   });
        if (!complete)
            file.lose(name);
        return result;
    }

private:
    template <typename Part>
    static bool attempt(Part &&part) noexcept {
        try {
            part();
            return true;
        } catch (const std::exception &) {
            return false;
        }
    }

    // Only after the call it is known whether these exist as far as they say. What is freed is
    // another allocation then.
    template <std::size_t I>
    static constexpr bool deferred =
        !enqueues_free &&
        describe::described<std::remove_const_t<std::remove_pointer_t<Parameter<I>>>>;

    // Visits the parameters whose descriptors are `structs`, or all others.
    template <bool structs>
    static void write(TextWriter<LogFile> &writer, Before &before, Parameters &parameters) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (
                [&] {
                    if constexpr (deferred<I> == structs) {
                        describe::parameter<Slot, I>(writer, parameters);
                        before.arguments[I] = writer.take();
                    }
                }(),
                ...);
        }
        (std::make_index_sequence<last + 1>());
    }

    // Other calls may begin and return in the meantime.
    static bool blocks(const Parameters &parameters) {
        if constexpr (is_command<pi_result (*)(Handle, Rest...)>) {
            std::remove_const_t<std::remove_pointer_t<Parameter<1>>> own;
            return copy_descriptor(std::get<1>(parameters), type_of<decltype(own)>, own) &&
                   (own.flags & PI_COMMAND_BLOCKING) != 0;
        } else {
            return same_slot<Slot, &pi_dispatch::piEventWait> ||
                   same_slot<Slot, &pi_dispatch::piQueueFinish>;
        }
    }

    static void look(LogFile &file, Before &before, Parameters &parameters) {
        before.began = file.line_count();
        before.arguments.resize(last + 1);
        TextWriter writer(file, true, before.cannot);
        write<false>(writer, before, parameters);
        if constexpr (frees)
            before.freed = file.find_usm(std::get<1>(parameters));
        if constexpr (enqueues_free) {
            pi_usm_free_desc desc;
            if (copy_descriptor(std::get<1>(parameters), PI_TYPE_USM_FREE_DESC, desc))
                before.freed = file.find_usm(desc.pointer);
        }
        if constexpr (unmaps) {
            pi_unmap_desc desc;
            if (!copy_descriptor(std::get<1>(parameters), PI_TYPE_UNMAP_DESC, desc))
                return;
            before.map = file.find_map(desc.mem, desc.pointer);
            if (!before.map.has_value())
                return;
            std::optional<std::vector<unsigned char>> copy;
            if (before.map->pointer == nullptr) {
                copy = copied(static_cast<const unsigned char *>(desc.pointer), before.map->size);
                if (!copy.has_value()) {
                    before.map.reset();
                    return;
                }
            }
            const auto bytes = copy.has_value() ? std::span<const unsigned char>(*copy)
                                                : bytes_at(desc.pointer, before.map->size);
            if ((before.map->flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD)) != 0)
                before.data = base64(bytes);
            else
                before.hash = hash_bytes(bytes);
        }
    }

    static std::string line(LogFile &file, Before &before, pi_result result,
                            Parameters &parameters) {
        std::string cannot = why_never(Index) != nullptr ? why_never(Index) : before.cannot;
        // A query need not read all of a descriptor.
        TextWriter writer(file, result == PI_SUCCESS && !is_query(Index), cannot);
        write<true>(writer, before, parameters);
        if (result == PI_SUCCESS)
            refuse_addresses(writer, parameters);
        JsonObject out;
        out.add("thread", json_text(file.thread()))
            .add("function", json_text(name))
            .add("arguments",
                 json_array(before.arguments, [](const std::string &argument) { return argument; }))
            .add("result", json_text(result));
        if (result == PI_SUCCESS)
            outputs(file, out, parameters);
        if constexpr (unmaps) {
            if (before.map.has_value() && result == PI_SUCCESS)
                file.remove_map(std::get<1>(parameters)->mem, *before.map);
            if (before.map.has_value())
                out.add("map", json_text(before.map->id));
            if (!before.map.has_value())
                cannot = "the map that it ends is unknown";
            else if (before.hash.has_value())
                out.add("hash", hex(*before.hash));
            else
                out.add("data", before.data);
        }
        if (blocks(parameters))
            out.add("began", json_text(before.began));
        if constexpr (maps) {
            if (result == PI_SUCCESS)
                out.add("map", json_text(add_map(file, *std::get<1>(parameters))));
        }
        if (writer.hash().has_value())
            out.add("hash", hex(*writer.hash()));
        if (result == PI_SUCCESS)
            note_memory(file, out, before, parameters);
        if (!cannot.empty() && !is_query(Index))
            out.add("cannot", json_text(cannot));
        return out.text();
    }

    // Memory that the host reads and writes, or that a kernel finds by an address in memory.
    static void refuse_addresses(TextWriter<LogFile> &writer, const Parameters &parameters) {
        if constexpr (allocates || makes_pool) {
            if (std::get<2>(parameters)->kind != PI_USM_DEVICE)
                writer.cannot(by_address);
        } else if constexpr (launches) {
            if ((std::get<1>(parameters)->flags &
                 (PI_LAUNCH_INDIRECT_USM_HOST | PI_LAUNCH_INDIRECT_USM_DEVICE |
                  PI_LAUNCH_INDIRECT_USM_SHARED)) != 0)
                writer.cannot("the kernel follows addresses in memory, which a log cannot record");
        }
    }

    static void note_memory(LogFile &file, JsonObject &out, const Before &before,
                            const Parameters &parameters) {
        if constexpr (creates_image) {
            const pi_mem_image_desc &desc = *std::get<last - 1>(parameters);
            file.add_image(*std::get<last>(parameters),
                           describe::pixel_bytes(desc.channel_order, desc.channel_type));
        }
        const auto add = [&](const void *base, uint64_t size) {
            out.add("usm", json_text(file.add_usm(base, size)));
        };
        if constexpr (allocates)
            add(*std::get<last>(parameters), std::get<2>(parameters)->size);
        if constexpr (enqueues_allocation)
            add(*std::get<1>(parameters)->out_pointer, std::get<1>(parameters)->size);
        if constexpr (frees || enqueues_free) {
            if (before.freed)
                file.remove_usm(before.freed->id);
        }
    }

    static uint64_t add_map(LogFile &file, const pi_buffer_map_desc &desc) {
        return file.add_map(
            desc.mem, {0, desc.flags, desc.size,
                       (desc.flags & PI_COMMAND_BLOCKING) != 0 ? *desc.out_pointer : nullptr});
    }

    // The returned handles: one at the end, or a list before its count. Devices and platforms are
    // found again, except sub-devices; other objects are new.
    static void outputs(LogFile &file, JsonObject &out, const Parameters &parameters) {
        const auto add = [&]<typename Made>(const Made *made, uint32_t count) {
            constexpr bool is_new =
                same_slot<Slot, &pi_dispatch::piDevicePartition> ||
                (!std::is_same_v<Made, pi_platform> && !std::is_same_v<Made, pi_device>);
            out.add("made", json_array(std::span(made, count), [&](Made handle) {
                        return handle == nullptr ? json_text(nullptr)
                               : is_new          ? json_text(file.make(handle))
                                                 : json_text(file.find(handle));
                    }));
        };
        const auto end = std::get<last>(parameters);
        if constexpr (is_out_handle<Parameter<last>>) {
            if (end != nullptr && *end != nullptr)
                add(end, 1);
        } else if constexpr (last >= 3 && std::is_same_v<Parameter<last>, uint32_t *>) {
            if constexpr (is_out_handle<Parameter<last - 1>>) {
                const auto list = std::get<last - 1>(parameters);
                if (list != nullptr && end != nullptr)
                    add(list, std::min(*end, std::get<last - 2>(parameters)));
            }
        }
    }
};

// One log for all plugins of a loader; wraps nothing if it cannot be written.
void *attach(PluginInstance &instance, pi_dispatch &table) {
    auto file = std::static_pointer_cast<LogFile>(instance.shared(record_layer, [&] {
        const char *path = instance.configuration().get("PI_RECORD_FILE");
        return std::make_shared<LogFile>(path != nullptr ? path : "pi_record_%p.jsonl",
                                         instance.log());
    }));
    if (!file->is_open())
        return nullptr;
    file->write(JsonObject()
                    .add("plugin", json_text(instance.name()))
                    .add("file", json_text(instance.path()))
                    .text());
    auto recorder =
        std::make_unique<Recorder>(Recorder{std::move(file), instance.chain().next(record_layer)});
    wrap_all<Recorded>(table);
    return recorder.release();
}

void detach(void *data) noexcept {
    delete static_cast<Recorder *>(data);
}

void report(void *data) noexcept {
    static_cast<Recorder *>(data)->file->report();
}

} // namespace
} // namespace record

constinit const Layer record_layer = {"record", record::attach, record::detach, nullptr,
                                      record::report};

} // namespace pi::loader
