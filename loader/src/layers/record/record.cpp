// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "layers/json_text.hpp"
#include "layers/layers.hpp"
#include "layers/record/format.hpp"
#include "layers/record/log_file.hpp"
#include "plugin.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include <sys/uio.h>
#include <unistd.h>

namespace pi::loader {
namespace record {
namespace {

std::span<const unsigned char> bytes_at(const void *address, uint64_t size) {
    return {static_cast<const unsigned char *>(address), static_cast<std::size_t>(size)};
}

// Reads from an address that may be invalid: an empty result instead of a fault.
template <typename Element>
std::optional<std::vector<Element>> copied(const Element *address, uint64_t count) {
    std::vector<Element> elements(count);
    const std::size_t size = count * sizeof(Element);
    auto *const into = reinterpret_cast<unsigned char *>(elements.data());
    auto *const out_of = reinterpret_cast<unsigned char *>(const_cast<Element *>(address));
    std::size_t done = 0;
    while (done < size) {
        const iovec to{into + done, size - done};
        const iovec from{out_of + done, size - done};
        const ssize_t got = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
        if (got <= 0)
            return std::nullopt;
        done += static_cast<std::size_t>(got);
    }
    return elements;
}

std::string id(LogFile &file, const void *handle) {
    return handle != nullptr ? json_text(file.find(handle)) : json_text(nullptr);
}

template <typename Handle>
std::string ids(LogFile &file, uint32_t count, const Handle *list) {
    return list != nullptr
               ? json_array(std::span(list, count), [&](Handle handle) { return id(file, handle); })
               : json_text(nullptr);
}

std::string text_or_null(const char *text) {
    return text != nullptr ? json_text(text) : json_text(nullptr);
}

std::string base64(std::span<const unsigned char> bytes) {
    return '"' + encode(bytes) + '"';
}

std::string hex(uint64_t hash) {
    return fmt::format("\"{:016x}\"", hash);
}

/// The archive that writes a descriptor's members into an object.
class Writer {
public:
    Writer(LogFile &file, bool succeeded, std::string &cannot)
        : file_(file), succeeded_(succeeded), cannot_(cannot) {}

    template <typename Desc>
    std::string descriptor(const Desc *desc) {
        Desc own;
        if (desc == nullptr)
            return json_text(nullptr);
        if (!copy_descriptor(desc, type_of<Desc>, own)) {
            cannot("struct_size or type does not match the descriptor");
            return json_text(nullptr);
        }
        if (desc->struct_size > sizeof own) {
            const auto tail = look_at(reinterpret_cast<const unsigned char *>(desc) + sizeof own,
                                      desc->struct_size - sizeof own);
            if (!tail ||
                std::any_of(tail->begin(), tail->end(), [](auto byte) { return byte != 0; }))
                cannot("the descriptor is larger than the log's format");
        }
        JsonObject outer;
        std::swap(object_, outer);
        members(*this, own);
        if constexpr (!std::is_same_v<Desc, pi_mem_buffer_desc>) {
            if (own.next != nullptr)
                cannot("the log's format lacks the chained descriptor");
        }
        std::swap(object_, outer);
        return outer.text();
    }

    void cannot(std::string why) {
        if (cannot_.empty())
            cannot_ = std::move(why);
    }

    template <typename Word>
    void number(const char *name, Word word) {
        object_.add(name, json_text(word));
    }
    template <typename Word, std::size_t Size>
    void numbers(const char *name, const Word (&words)[Size]) {
        object_.add(name, words_text(words));
    }
    void reserved(const char *name, uint64_t word) { unusual(object_, name, word); }
    void stray(const char *name, const void *address) {
        if (address != nullptr)
            object_.add(name, json_text(true));
    }
    template <typename Word>
    void list(const char *name, uint32_t count, const Word *words, uint32_t most) {
        elements(
            name, count, words, [](Word word) { return json_text(word); }, most);
    }
    void handle(const char *name, const void *handle) { object_.add(name, id(file_, handle)); }
    template <typename Handle>
    void handles(const char *name, uint32_t count, const Handle *list) {
        elements(name, count, list, [&](Handle handle) { return id(file_, handle); });
    }
    void text(const char *name, const char *text) { object_.add(name, text_or_null(text)); }
    void data(const char *name, const void *address, uint64_t size) {
        object_.add(name, address != nullptr ? bytes(address, size) : json_text(nullptr));
    }
    void regions(uint32_t count, const pi_region *regions) {
        elements("regions", count, regions, [](const pi_region &region) {
            JsonObject out;
            out.add("src_offset", json_text(region.src_offset))
                .add("dst_offset", json_text(region.dst_offset))
                .add("extent", words_text(region.extent))
                .add("src_pitch", words_text(region.src_pitch))
                .add("dst_pitch", words_text(region.dst_pitch));
            unusual(out, "reserved", region.reserved);
            return out.text();
        });
    }
    void source(const pi_buffer_write_desc &desc) {
        if (!succeeded_) {
            object_.add("host_ptr",
                        desc.host_ptr != nullptr ? json_text(true) : json_text(nullptr));
            return;
        }
        std::basic_string<unsigned char> bytes;
        rows(desc, true, [&](const unsigned char *row, uint64_t size) { bytes.append(row, size); });
        object_.add("host_ptr", base64(bytes));
    }
    void target(const pi_buffer_read_desc &desc) {
        object_.add("host_ptr", json_text(desc.host_ptr != nullptr));
        if (!succeeded_ || (desc.flags & PI_COMMAND_BLOCKING) == 0)
            return;
        uint64_t hash = hash_bytes({});
        rows(desc, false, [&](const unsigned char *row, uint64_t size) {
            hash = hash_bytes({row, static_cast<std::size_t>(size)}, hash);
        });
        hash_ = hash;
    }
    void arguments(uint32_t count, const pi_kernel_argument *arguments) {
        elements("arguments", count, arguments,
                 [&](const pi_kernel_argument &argument) { return this->argument(argument); });
    }
    void layout(const void *next) {
        const auto *const header = static_cast<const pi_struct_header *>(next);
        if (header == nullptr)
            return;
        if (header->type != PI_TYPE_MEM_LAYOUT_DESC || header->next != nullptr)
            return cannot("the log's format lacks the chained descriptor");
        object_.add("next", descriptor(static_cast<const pi_mem_layout_desc *>(next)));
    }
    void place(const pi_buffer_map_desc &desc) {
        object_.add("out_pointer", json_text(desc.out_pointer != nullptr));
        if (succeeded_)
            map_ = file_.add_map(
                desc.mem, {0, desc.flags, desc.size,
                           (desc.flags & PI_COMMAND_BLOCKING) != 0 ? *desc.out_pointer : nullptr});
    }
    void mapped(const pi_unmap_desc &) {} // the data is written beside the arguments

    std::optional<uint64_t> hash() const { return hash_; }
    std::optional<uint64_t> map() const { return map_; }

private:
    // A word that is 0 in a valid call.
    static void unusual(JsonObject &object, const char *name, uint64_t word) {
        if (word != 0)
            object.add(name, json_text(word));
    }
    template <typename Word, std::size_t Size>
    static std::string words_text(const Word (&words)[Size]) {
        return json_array(words, [](Word word) { return json_text(word); });
    }
    // If the call failed, the array may be shorter; nothing reads more elements than the maximum.
    template <typename Element>
    std::optional<std::vector<Element>> look_at(const Element *array, uint64_t count,
                                                uint64_t most = 1 << 16) {
        if (succeeded_)
            return std::vector<Element>(array, array + count);
        return count <= most ? copied(array, count) : std::nullopt;
    }
    template <typename Element, typename Write>
    void elements(const char *name, uint32_t count, const Element *array, Write &&write,
                  uint32_t most = 1 << 16) {
        if (array == nullptr) {
            object_.add(name, count != 0 ? json_text(count) : json_text(nullptr));
            return;
        }
        const auto seen = look_at(array, count, most);
        if (!seen.has_value())
            cannot(
                fmt::format("the refused call gives {} {}, which are not readable", count, name));
        object_.add(name, seen.has_value() ? json_array(*seen, write) : json_text(nullptr));
    }
    // If the call failed, the bytes may not exist.
    std::string bytes(const void *address, uint64_t size) const {
        return succeeded_ ? base64(bytes_at(address, size)) : json_text(true);
    }
    template <typename Desc, typename Visit>
    void rows(const Desc &desc, bool host_is_source, Visit &&visit) {
        for (uint32_t i = 0; i < desc.region_count; ++i)
            for_each_row(
                desc.regions[i], host_is_source, UINT64_MAX, [&](uint64_t offset, uint64_t size) {
                    visit(static_cast<const unsigned char *>(desc.host_ptr) + offset, size);
                });
    }
    std::string argument(const pi_kernel_argument &argument) {
        JsonObject out;
        out.add("kind", json_text(argument.kind));
        unusual(out, "reserved", argument.reserved);
        if (argument.image_sampler != nullptr)
            cannot("an argument has a sampler");
        switch (argument.kind) {
        case PI_ARGUMENT_VALUE:
            unusual(out, "offset", argument.offset);
            out.add("size", json_text(argument.size));
            out.add("value", argument.value != nullptr ? bytes(argument.value, argument.size)
                                                       : json_text(nullptr));
            break;
        case PI_ARGUMENT_BUFFER:
            out.add("mem", id(file_, argument.mem));
            out.add("offset", json_text(argument.offset));
            out.add("size", json_text(argument.size));
            break;
        case PI_ARGUMENT_LOCAL:
            unusual(out, "offset", argument.offset);
            out.add("size", json_text(argument.size));
            break;
        case PI_ARGUMENT_POINTER:
            cannot("an argument is an address");
            break;
        default:
            cannot("an argument is an image or a sampler");
        }
        return out.text();
    }

    LogFile &file_;
    const bool succeeded_;
    std::string &cannot_;
    JsonObject object_;
    std::optional<uint64_t> hash_;
    std::optional<uint64_t> map_;
};

/// For one plugin instance.
struct Recorder {
    std::shared_ptr<LogFile> file;
    const pi_dispatch &next;
};

/// Recorded before the call, which may change or free it.
struct Before {
    std::vector<std::string> arguments; ///< JSON: null for a descriptor
    uint64_t began = 0;                 ///< the number of lines then
    std::optional<Map> map;
    std::string data; ///< JSON
    std::optional<uint64_t> hash;
};

template <auto Slot, std::size_t Index, typename Function>
struct Recorded;
template <auto Slot, std::size_t Index, typename Handle, typename... Rest>
struct Recorded<Slot, Index, pi_result (*)(Handle, Rest...)> {
    static constexpr const char *name = function_rows[Index].name;
    static constexpr bool unmaps = same_slot<Slot, &pi_dispatch::piEnqueueMemUnmap>;
    // The last release of an event that was not signalled fails its waiters, and that of a queue
    // flushes.
    static constexpr bool wakes = same_slot<Slot, &pi_dispatch::piEventSignalHost> ||
                                  same_slot<Slot, &pi_dispatch::piEventRelease> ||
                                  same_slot<Slot, &pi_dispatch::piQueueFlush> ||
                                  same_slot<Slot, &pi_dispatch::piQueueRelease>;

    static pi_result PI_CALL call(Handle handle, Rest... rest) noexcept {
        auto &recorder = data_of<Recorder>(record_layer, handle);
        LogFile &file = *recorder.file;
        Before before;
        bool complete = attempt([&] {
            look(file, before, handle, rest...);
            if constexpr (wakes)
                before.began = file.write(line(file, before, PI_SUCCESS, rest...));
        });
        const pi_result result = (recorder.next.*Slot)(handle, rest...);
        complete = complete && attempt([&] {
                       if constexpr (!wakes)
                           file.write(line(file, before, result, rest...));
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

    // Other calls may begin and return in the meantime.
    static bool blocks(Rest... rest) {
        if constexpr (is_command<pi_result (*)(Handle, Rest...)>)
            return [](const auto *desc, auto...) {
                std::remove_const_t<std::remove_pointer_t<decltype(desc)>> own;
                return copy_descriptor(desc, type_of<decltype(own)>, own) &&
                       (own.flags & PI_COMMAND_BLOCKING) != 0;
            }(rest...);
        else
            return same_slot<Slot, &pi_dispatch::piEventWait> ||
                   same_slot<Slot, &pi_dispatch::piQueueFinish>;
    }

    static void look(LogFile &file, Before &before, Handle handle, Rest... rest) {
        before.began = file.line_count();
        before.arguments.push_back(id(file, handle));
        const std::tuple<Rest...> parameters(rest...);
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (before.arguments.push_back(argument<I>(file, parameters)), ...);
        }
        (std::index_sequence_for<Rest...>());
        if constexpr (unmaps) {
            pi_unmap_desc desc;
            if (!copy_descriptor(std::get<0>(std::tuple(rest...)), PI_TYPE_UNMAP_DESC, desc))
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

    static std::string line(LogFile &file, Before &before, pi_result result, Rest... rest) {
        std::string cannot = why_never(Index) != nullptr ? why_never(Index) : "";
        Writer writer(file, result == PI_SUCCESS, cannot);
        const std::tuple<Rest...> parameters(rest...);
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (describe<I>(writer, before.arguments[I + 1], parameters), ...);
        }
        (std::index_sequence_for<Rest...>());
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
                file.remove_map(std::get<0>(parameters)->mem, *before.map);
            if (before.map.has_value())
                out.add("map", json_text(before.map->id));
            if (!before.map.has_value())
                cannot = "the map that it ends is unknown";
            else if (before.hash.has_value())
                out.add("hash", hex(*before.hash));
            else
                out.add("data", before.data);
        }
        if (blocks(rest...))
            out.add("began", json_text(before.began));
        if (writer.map().has_value())
            out.add("map", json_text(*writer.map()));
        if (writer.hash().has_value())
            out.add("hash", hex(*writer.hash()));
        if (!cannot.empty())
            out.add("cannot", json_text(cannot));
        return out.text();
    }

    template <std::size_t I>
    static std::string argument(LogFile &file, const std::tuple<Rest...> &parameters) {
        using Type = std::tuple_element_t<I, std::tuple<Rest...>>;
        const Type value = std::get<I>(parameters);
        if constexpr (is_handle<Type>)
            return id(file, value);
        else if constexpr (std::is_integral_v<Type>)
            return json_text(value);
        else if constexpr (std::is_same_v<Type, const char *>)
            return text_or_null(value);
        else if constexpr (std::is_same_v<Type, const pi_event *>)
            return ids(file, std::get<I - 1>(parameters), value);
        else if constexpr (is_out_handle<Type>)
            return json_text(value != nullptr);
        else
            return json_text(nullptr);
    }

    template <std::size_t I>
    static void describe(Writer &writer, std::string &out, const std::tuple<Rest...> &parameters) {
        using Type = std::tuple_element_t<I, std::tuple<Rest...>>;
        if constexpr (std::is_pointer_v<Type>) {
            using Desc = std::remove_const_t<std::remove_pointer_t<Type>>;
            if constexpr (described<Desc> && why_never(Index) == nullptr && !is_query(Index))
                out = writer.descriptor(std::get<I>(parameters));
        }
    }

    // The returned handles: one at the end, or a list before its count.
    static void outputs(LogFile &file, JsonObject &out, const std::tuple<Rest...> &parameters) {
        if constexpr (sizeof...(Rest) != 0) {
            constexpr std::size_t last = sizeof...(Rest) - 1;
            const auto end = std::get<last>(parameters);
            if constexpr (is_out_handle<std::remove_const_t<decltype(end)>>) {
                if (end == nullptr || *end == nullptr)
                    return;
                // Devices and platforms are found again, other objects are new.
                using Made = std::remove_pointer_t<std::remove_const_t<decltype(end)>>;
                constexpr bool found =
                    std::is_same_v<Made, pi_platform> || std::is_same_v<Made, pi_device>;
                const uint64_t made[] = {found ? file.find(*end) : file.make(*end)};
                out.add("made", json_array(made, [](uint64_t id) { return json_text(id); }));
            } else if constexpr (sizeof...(Rest) >= 3) {
                const auto list = std::get<last - 1>(parameters);
                if constexpr (is_out_handle<std::remove_const_t<decltype(list)>> &&
                              std::is_same_v<std::remove_const_t<decltype(end)>, uint32_t *>) {
                    if (list == nullptr || end == nullptr)
                        return;
                    out.add("made",
                            ids(file, std::min(*end, std::get<last - 2>(parameters)), list));
                }
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
