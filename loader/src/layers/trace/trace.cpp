// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "error.hpp"
#include "layers/extension.hpp"
#include "layers/json_text.hpp"
#include "layers/layers.hpp"
#include "layers/trace/command.hpp"
#include "plugin.hpp"

#include <pi/pi_trace.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace pi::loader {
namespace trace {
namespace {

template <typename Desc>
std::shared_ptr<Command> begin_command(Tracer &tracer, const char *function, pi_queue queue,
                                       const Desc *desc, uint32_t wait_count,
                                       const pi_event *wait_list) {
    std::shared_ptr<Command> command = tracer.begin(function, queue, wait_count, wait_list);
    Desc own;
    try {
        if (copy_descriptor(desc, type_of<Desc>, own))
            read_command(tracer, own, *command);
    } catch (const std::bad_alloc &) {
        tracer.withdraw(command);
        throw;
    }
    return command;
}

/// Every command gets an event, because its completion is shown.
template <auto Slot, typename Desc>
pi_result traced_command(Tracer &tracer, const char *function, pi_queue queue, const Desc *desc,
                         uint32_t wait_count, const pi_event *wait_list, pi_event *out_event) {
    const pi_dispatch &next = tracer.next();
    const std::shared_ptr<Command> command =
        begin_command(tracer, function, queue, desc, wait_count, wait_list);
    pi_event event = nullptr;
    const pi_result result = (next.*Slot)(queue, desc, wait_count, wait_list, &event);
    if (result != PI_SUCCESS) {
        tracer.withdraw(command);
        return result;
    }
    if (out_event != nullptr)
        *out_event = event;
    try {
        tracer.follow(command, event, out_event != nullptr);
    } catch (const std::bad_alloc &) {
        tracer.withdraw(command);
    }
    if (out_event == nullptr)
        next.piEventRelease(event);
    return PI_SUCCESS;
}

/// The arguments of a span.
class ObjectReader : public JsonReader {
public:
    ObjectReader() : JsonReader(max_depth) {}
    bool start_object(std::size_t size) override {
        object_ = object_ || depth() == 0;
        return JsonReader::start_object(size);
    }
    bool is_object() const noexcept { return object_; }

    static constexpr int max_depth = 64; ///< more than any viewer shows

private:
    bool object_ = false;
};

pi_result write_checked_span(TraceFile &file, const pi_trace_span &span) {
    for (const char *text : {span.group, span.track, span.name, span.category}) {
        if (text == nullptr)
            return fail(PI_ERROR_INVALID_NULL_POINTER,
                        "write_span: group, track, name or category is NULL");
    }
    if (span.end < span.begin)
        return fail(PI_ERROR_INVALID_VALUE,
                    "write_span: end is {} ns; it must not be before begin, {} ns", span.end,
                    span.begin);
    const auto *const other = std::find_if(std::begin(span.reserved), std::end(span.reserved),
                                           [](uint64_t word) { return word != 0; });
    if (other != std::end(span.reserved))
        return fail(PI_ERROR_UNSUPPORTED_FEATURE, "write_span: reserved[{}] is {}, should be 0",
                    other - std::begin(span.reserved), *other);
    std::string_view arguments;
    if (span.arguments != nullptr) {
        arguments = span.arguments;
        ObjectReader reader;
        const bool is_json = reader.read(arguments);
        if (reader.deep())
            return fail(PI_ERROR_INVALID_VALUE,
                        "write_span: arguments is nested more than {} levels deep",
                        int{ObjectReader::max_depth});
        if (!is_json || !reader.is_object())
            return fail(PI_ERROR_INVALID_VALUE,
                        "write_span: arguments is \"{}\", should be a JSON object", span.arguments);
        const std::size_t begin = arguments.find('{') + 1;
        arguments = arguments.substr(begin, arguments.rfind('}') - begin);
    }
    file.span(span.group, span.track, span.name, span.category, span.begin, span.end, arguments);
    return PI_SUCCESS;
}

pi_result PI_CALL write_span(pi_plugin plugin, const pi_trace_span *span) noexcept {
    return guarded("write_span", [&] {
        const auto *tracer =
            plugin != nullptr
                ? static_cast<Tracer *>(TableChain::of(dispatch_of(plugin)).data(trace_layer))
                : nullptr;
        if (tracer == nullptr)
            return fail(
                PI_ERROR_INVALID_PLUGIN,
                "write_span: plugin is {}; a plugin with the layer \"trace\" enabled is needed",
                plugin == nullptr ? "NULL" : "not traced");
        if (span == nullptr)
            return fail(PI_ERROR_INVALID_NULL_POINTER, "write_span: span is NULL");
        return write_checked_span(tracer->file(), *span);
    });
}

constexpr pi_trace_v1 extension = {sizeof(pi_trace_v1), write_span};

template <auto Slot, std::size_t Index, typename Function>
struct Traced;
template <auto Slot, std::size_t Index, typename Handle, typename... Rest>
struct Traced<Slot, Index, pi_result (*)(Handle, Rest...)> {
    static constexpr const char *name = function_rows[Index].name;

    static pi_result PI_CALL call(Handle handle, Rest... rest) noexcept {
        auto &tracer = data_of<Tracer>(trace_layer, handle);
        const uint64_t begin = now();
        pi_result result;
        if constexpr (is_command<pi_result (*)(Handle, Rest...)>) {
            result =
                guarded(name, [&] { return traced_command<Slot>(tracer, name, handle, rest...); });
        } else if constexpr (same_slot<Slot, &pi_dispatch::piPluginGetExtension>) {
            result = get_extension(tracer.next(), extension, PI_TRACE_V1, handle, rest...);
        } else {
            result = (tracer.next().*Slot)(handle, rest...);
            if (result == PI_SUCCESS)
                guarded(name, [&] { return see(tracer, rest...); });
        }
        tracer.call(name, begin, result);
        return result;
    }

private:
    // Facts that later commands refer to.
    static pi_result see(Tracer &tracer, Rest... rest) {
        if constexpr (same_slot<Slot, &pi_dispatch::piQueueCreate> ||
                      same_slot<Slot, &pi_dispatch::piQueueCreateWithNativeHandle>) {
            [&](auto, auto, pi_queue *out) { tracer.add_queue(*out); }(rest...);
        } else if constexpr (same_slot<Slot, &pi_dispatch::piEventCreateHost> ||
                             same_slot<Slot, &pi_dispatch::piEventCreateWithNativeHandle>) {
            tracer.add_event(*std::get<sizeof...(Rest) - 1>(std::tuple(rest...)));
        } else if constexpr (same_slot<Slot, &pi_dispatch::piMemImageCreate>) {
            [&](auto, const pi_mem_image_desc *desc, pi_mem *out) {
                tracer.add_image(*out, desc);
            }(rest...);
        } else if constexpr (same_slot<Slot, &pi_dispatch::piMemImageViewCreate>) {
            [&](const pi_mem_image_desc *desc, pi_mem *out) {
                tracer.add_image(*out, desc);
            }(rest...);
        }
        return PI_SUCCESS;
    }
};

// One file for all plugins of a loader; wraps nothing if it cannot be written.
void *attach(PluginInstance &instance, pi_dispatch &table) {
    const auto file = std::static_pointer_cast<TraceFile>(instance.shared(trace_layer, [&] {
        const char *path = instance.configuration().get("PI_TRACE_FILE");
        return std::make_shared<TraceFile>(path != nullptr ? path : "pi_trace_%p.json",
                                           instance.log());
    }));
    if (!file->is_open())
        return nullptr;
    auto tracer = std::make_unique<Tracer>(instance, file);
    wrap_all<Traced>(table);
    return tracer.release();
}

void detach(void *data) noexcept {
    delete static_cast<Tracer *>(data);
}

} // namespace
} // namespace trace

constinit const Layer trace_layer = {"trace", trace::attach, trace::detach};

} // namespace pi::loader
