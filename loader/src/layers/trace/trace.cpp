// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "error.hpp"
#include "layers/layers.hpp"
#include "layers/trace/command.hpp"
#include "plugin.hpp"

#include <tuple>

namespace pi::loader {
namespace trace {
namespace {

template <typename Desc>
std::shared_ptr<Command> begin_command(Tracer &tracer, const char *function, pi_queue queue,
                                       const Desc *desc, uint32_t wait_count,
                                       const pi_event *wait_list) {
    const std::shared_ptr<Command> command = tracer.begin(function, queue, wait_count, wait_list);
    Desc own;
    if (copy_descriptor(desc, type_of<Desc>, own))
        read_command(tracer, own, *command);
    return command;
}

/// A command is called with an event in any case: its completion is what is shown.
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
        } else {
            result = (tracer.next().*Slot)(handle, rest...);
            if (result == PI_SUCCESS)
                guarded(name, [&] { return see(tracer, rest...); });
        }
        tracer.call(name, begin, result);
        return result;
    }

private:
    // What later commands will be understood by.
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

// One file for all plugins of a loader; nothing is wrapped if it cannot be written.
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
