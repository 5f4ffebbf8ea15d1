// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "layers/validate/answers.hpp"
#include "layers/validate/learn.hpp"
#include "layers/validate/maps.hpp"
#include "layers/validate/parameters.hpp"
#include "plugin.hpp"

#include <memory>
#include <string_view>
#include <utility>

namespace pi::loader {
namespace validate {

void see_info(Validator &validator, std::size_t function, void *owner, uint32_t name, uint64_t size,
              void *value) {
    for (const HandleInfo &row : handle_infos) {
        if (row.function != function || row.name != name)
            continue;
        if (row.kind == 0 && size >= sizeof(uint32_t)) {
            *static_cast<uint32_t *>(value) -= validator.extra_references(owner);
            return;
        }
        auto **handles = static_cast<void **>(value);
        for (uint64_t i = 0; i < size / sizeof(void *); ++i) {
            if (handles[i] == nullptr)
                continue;
            if (row.kind != PI_KIND_USM_POOL)
                validator.lend(owner, handles[i], row.kind);
            else if (validator.released(handles[i]))
                handles[i] = nullptr; // only in quarantine
        }
        return;
    }
}

namespace {

constexpr bool is_exclusive(std::size_t index) {
    return ends_with(index, "ProgramCompile") || ends_with(index, "ProgramBuild") ||
           ends_with(index, "ProgramSetSpecializationConstants");
}
constexpr bool allocates(std::size_t index) {
    return ends_with(index, "UsmAlloc") || ends_with(index, "UsmHostRegister");
}
/// Whether objects in quarantine may be why this create call failed. A lost device is usable again
/// once its contexts are gone, which only a new context shows.
template <typename Made>
constexpr bool quarantine_may_be_why(pi_result result) {
    return result == PI_ERROR_OUT_OF_HOST_MEMORY || result == PI_ERROR_OUT_OF_DEVICE_MEMORY ||
           result == PI_ERROR_OUT_OF_RESOURCES ||
           (std::is_same_v<Made, pi_context> && result == PI_ERROR_DEVICE_LOST);
}

/// A callback of the application, with facts about its event.
struct Callback {
    Validator &validator;
    Object event;
    pi_event_callback function;
    void *user_data;
};

void PI_CALL on_event(pi_event event, pi_result result, void *user_data) {
    const std::unique_ptr<Callback> callback(static_cast<Callback *>(user_data));
    bool pinned = false;
    try {
        callback->validator.pin(callback->event);
        pinned = true;
    } catch (const std::bad_alloc &) {
        // Then its use may be reported without need.
    }
    callback->function(event, result, callback->user_data);
    if (pinned)
        callback->validator.unpin(callback->event);
}

pi_result set_callback(Validator &validator, pi_event event, pi_event_callback function,
                       void *user_data) {
    if (function == nullptr)
        return validator.next().piEventSetCallback(event, function, user_data);
    auto callback =
        std::make_unique<Callback>(Callback{validator, validator.find(event), function, user_data});
    const pi_result result = validator.next().piEventSetCallback(event, on_event, callback.get());
    if (result == PI_SUCCESS)
        static_cast<void>(callback.release());
    return result;
}

/// The wrapper of every function.
template <auto Slot, std::size_t Index, typename Function>
struct Validated;
template <auto Slot, std::size_t Index, typename Handle, typename... Rest>
struct Validated<Slot, Index, pi_result (*)(Handle, Rest...)> {
    static constexpr const char *name = function_rows[Index].name;
    static constexpr bool command = is_command<pi_result (*)(Handle, Rest...)>;
    static constexpr bool makes_one = is_out_handle<Last<Handle, Rest...>>;
    static constexpr bool makes_many = makes_list<Handle, Rest...>;
    using Made = std::remove_pointer_t<Last<Handle, Rest...>>;

    static pi_result PI_CALL call(Handle handle, Rest... rest) noexcept {
        auto &validator = data_of<Validator>(validate_layer, handle);
        if constexpr (sizeof...(Rest) == 0 && ends_with(Index, "Retain")) {
            return validator.retain(handle, name, validator.next().*Slot);
        } else if constexpr (sizeof...(Rest) == 0 && ends_with(Index, "Release")) {
            return validator.release(handle, name, validator.next().*Slot);
        } else {
            if (const pi_result result = validator.use(handle, {name}))
                return result;
            Arguments arguments(validator, name, !asks_about_launch<Slot>);
            arguments.all(rest...);
            if (arguments.result() != PI_SUCCESS)
                return arguments.result();
            Check check(validator, name);
            PinnedPlace place;
            Parameters<Slot, Index, Handle, Rest...>::check(check, handle, place, rest...);
            if (check.failed())
                return check.report();
            if constexpr (command)
                return enqueue(validator, place, handle, rest...);
            else if constexpr (same_slot<Slot, &pi_dispatch::piQueueFinish>)
                return finish(validator, handle);
            else if constexpr (same_slot<Slot, &pi_dispatch::piUsmAlloc> ||
                               same_slot<Slot, &pi_dispatch::piUsmFree>)
                return guarded(name, [&] { return usm(validator, handle, rest...); });
            else
                return answer(validator, handle, rest...);
        }
    }

private:
    // The host may hold back a command with a wait list, or one behind a host function.
    template <typename Desc>
    static pi_result enqueue(Validator &validator, PinnedPlace &place, Handle queue,
                             const Desc *desc, uint32_t wait_count, const pi_event *wait_list,
                             pi_event *out_event) noexcept {
        // The result of a map or an unmap decides what is mapped: each gets an event.
        constexpr bool is_map = std::is_same_v<Desc, pi_buffer_map_desc>;
        constexpr bool is_unmap = std::is_same_v<Desc, pi_unmap_desc>;
        Desc own{};
        if constexpr (is_map || is_unmap)
            copy_descriptor(desc, type_of<Desc>, own);
        const bool followed = (is_map || is_unmap) && (own.flags & PI_COMMAND_BLOCKING) == 0;
        pi_event own_event = nullptr;
        pi_event *const event = followed && out_event == nullptr ? &own_event : out_event;
        const auto call = [&] {
            return answer(validator, queue, desc, wait_count, wait_list, event);
        };
        const bool is_held =
            std::is_same_v<Desc, pi_host_function_desc> || may_be_held(validator, place);
        const uint64_t before = place.queue == nullptr ? 0
                                : is_held
                                    ? place.queue->held.fetch_add(1, std::memory_order_relaxed) + 1
                                    : place.queue->held.load(std::memory_order_relaxed);
        pi_result result = PI_SUCCESS;
        if constexpr (std::is_same_v<Desc, pi_usm_free_desc>) {
            copy_descriptor(desc, type_of<Desc>, own);
            result = guarded(name, [&] { return free_usm(validator, own.pointer, call); });
        } else {
            result = call();
        }
        if (result != PI_SUCCESS)
            return result;
        if (place.queue != nullptr && place.queue->in_order && before != 0)
            copy_descriptor(desc, type_of<Desc>, own);
        if (place.queue != nullptr && place.queue->in_order &&
            (own.flags & PI_COMMAND_BLOCKING) != 0)
            settle(*place.queue, before);
        [[maybe_unused]] const Maps::Outcome outcome =
            followed ? Maps::Outcome{*event, event == &own_event} : Maps::Outcome{};
        if_memory([&] {
            if constexpr (is_map) {
                validator.maps().add(place, own, outcome);
            } else if constexpr (is_unmap) {
                validator.maps().remove(own, outcome, wait_count != 0);
            } else if constexpr (std::is_same_v<Desc, pi_usm_alloc_desc>) {
                copy_descriptor(desc, type_of<Desc>, own);
                validator.addresses().add(
                    {reinterpret_cast<uintptr_t>(*own.out_pointer), own.size, place.context});
            }
        });
        return PI_SUCCESS;
    }

    // The call has succeeded: without memory to record it, less is known.
    template <typename Note>
    static void if_memory(Note &&note) noexcept {
        try {
            note();
        } catch (const std::bad_alloc &) { // NOLINT(bugprone-empty-catch)
        }
    }

    static void settle(const QueueFacts &queue, uint64_t held) noexcept {
        uint64_t settled = queue.settled.load(std::memory_order_relaxed);
        while (settled < held && !queue.settled.compare_exchange_weak(settled, held)) {
        }
    }

    static pi_result finish(Validator &validator, Handle queue) noexcept {
        const auto facts = validator.facts(queue);
        const uint64_t held = facts != nullptr ? facts->held.load(std::memory_order_relaxed) : 0;
        const pi_result result = answer(validator, queue);
        if (result == PI_SUCCESS && facts != nullptr)
            settle(*facts, held);
        return result;
    }

    static pi_result usm(Validator &validator, Handle context, Rest... rest) {
        if constexpr (same_slot<Slot, &pi_dispatch::piUsmFree>) {
            return free_usm(validator, rest...,
                            [&] { return answer(validator, context, rest...); });
        } else {
            const pi_result result = answer(validator, context, rest...);
            const std::tuple<Rest...> parameters(rest...);
            pi_usm_desc own{};
            if (result == PI_SUCCESS &&
                copy_descriptor(std::get<1>(parameters), PI_TYPE_USM_DESC, own))
                if_memory([&] {
                    validator.addresses().add(
                        {reinterpret_cast<uintptr_t>(*std::get<2>(parameters)), own.size, context});
                });
            return result;
        }
    }

    // Forgotten before the call, after which the address may be another allocation's.
    template <typename Free>
    static pi_result free_usm(Validator &validator, const void *pointer, Free free) {
        Addresses::Taken freed = validator.addresses().take(pointer);
        const pi_result result = free();
        if (result != PI_SUCCESS)
            validator.addresses().put_back(std::move(freed));
        return result;
    }

    static pi_result answer(Validator &validator, Handle handle, Rest... rest) noexcept {
        const auto next = validator.next().*Slot;
        if constexpr (same_slot<Slot, &pi_dispatch::piEventSetCallback>) {
            return guarded(name, [&] { return set_callback(validator, handle, rest...); });
        } else if constexpr (makes_one || makes_many) {
            return guarded(name, [&] { return creation(validator, handle, rest...); });
        } else if constexpr (has_handle_infos(Index)) {
            return guarded(name, [&] { return info(validator, handle, rest...); });
        } else if constexpr (is_exclusive(Index)) {
            if (!validator.begin_exclusive(handle))
                return fail(PI_ERROR_INVALID_OPERATION,
                            "{}: program {} is in use by such a call of another thread; the caller "
                            "must synchronise these calls",
                            name, static_cast<void *>(handle));
            const pi_result result = next(handle, rest...);
            validator.end_exclusive(handle);
            return result;
        } else {
            const pi_result result = next(handle, rest...);
            if constexpr (allocates(Index)) {
                if (quarantine_may_be_why<void *>(result) && validator.flush())
                    return next(handle, rest...);
            }
            return result;
        }
    }

    static bool is_direct(Validator &validator, Handle handle, Rest... rest) noexcept {
        bool direct = false;
        validator.use(handle, {name}, &direct);
        if (direct || command)
            return direct;
        Arguments arguments(validator, name, true);
        arguments.all(rest...);
        return arguments.direct() || made_of_borrowed(rest...);
    }

    static pi_result creation(Validator &validator, Handle handle, Rest... rest) {
        const uint64_t call = validator.count_create_call(Index);
        const bool direct = is_direct(validator, handle, rest...);
        const auto try_it = [&] { return make(validator, handle, {Index, call, direct}, rest...); };
        const auto try_twice = [&](auto &&nothing_is_done) {
            const pi_result result = try_it();
            return quarantine_may_be_why<Made>(result) && nothing_is_done() && validator.flush()
                       ? try_it()
                       : result;
        };
        if constexpr (same_slot<Slot, &pi_dispatch::piEnqueueUsmAlloc>) {
            pi_usm_alloc_desc own{};
            copy_descriptor(std::get<0>(std::tuple(rest...)), PI_TYPE_USM_ALLOC_DESC, own);
            // A blocking one may have been enqueued and failed itself: then the address is written.
            void *const before = std::exchange(*own.out_pointer, nullptr);
            const pi_result result = try_twice([&] { return *own.out_pointer == nullptr; });
            if (*own.out_pointer == nullptr)
                *own.out_pointer = before;
            return result;
        } else if constexpr (command) {
            return try_it();
        } else {
            return try_twice([] { return true; });
        }
    }

    static pi_result make(Validator &validator, Handle handle, const Validator::Origin &origin,
                          Rest... rest) {
        const auto next = validator.next().*Slot;
        std::tuple<Rest...> parameters(rest...);
        if constexpr (makes_one) {
            const pi_result result = next(handle, rest...);
            auto *out = std::get<sizeof...(Rest) - 1>(parameters);
            if (result == PI_SUCCESS && out != nullptr) {
                Known known;
                if_memory([&] { known = learn(validator, handle, parameters); });
                see(validator, origin, *out, std::move(known));
                if constexpr (same_slot<Slot, &pi_dispatch::piContextCreate>)
                    if_memory([&] { keep_devices(validator, *out, std::get<0>(parameters)); });
            }
            return result;
        } else {
            constexpr std::size_t last = sizeof...(Rest) - 1;
            auto *out = std::get<last - 1>(parameters);
            auto *&out_count = std::get<last>(parameters);
            uint32_t count = 0;
            if (out != nullptr && out_count == nullptr)
                out_count = &count;
            const pi_result result = std::apply(
                [&](auto... arguments) { return next(handle, arguments...); }, parameters);
            if (result == PI_SUCCESS && out != nullptr) {
                const uint32_t got = std::min(std::get<last - 2>(parameters), *out_count);
                for (uint32_t i = 0; i < got; ++i)
                    see(validator, origin, out[i]);
            }
            return result;
        }
    }

    // A context keeps its devices alive, which may be named while it lives.
    static void keep_devices(Validator &validator, pi_context context,
                             const pi_context_desc *desc) {
        pi_context_desc own;
        if (!copy_descriptor(desc, PI_TYPE_CONTEXT_DESC, own))
            return;
        for (uint32_t i = 0; i < own.device_count; ++i)
            validator.lend(context, own.devices[i], PI_KIND_DEVICE);
    }

    template <typename Made>
    static void see(Validator &validator, const Validator::Origin &origin, Made made,
                    Known &&facts = nullptr) {
        if (made == nullptr)
            return;
        bool immortal = false;
        if constexpr (std::is_same_v<Made, pi_platform>) {
            immortal = true;
        } else if constexpr (std::is_same_v<Made, pi_device>) {
            immortal = is_root_device(made);
        }
        validator.add(made, HandleTraits<Made>::kind, origin, immortal, std::move(facts));
    }

    static pi_result info(Validator &validator, Handle handle, Rest... rest) {
        const auto next = validator.next().*Slot;
        std::tuple<Rest...> parameters(rest...);
        constexpr std::size_t last = sizeof...(Rest) - 1;
        void *const value = std::get<last - 1>(parameters);
        auto *&out_size = std::get<last>(parameters);
        uint64_t size = 0;
        if (value != nullptr && out_size == nullptr)
            out_size = &size;
        const pi_result result =
            std::apply([&](auto... arguments) { return next(handle, arguments...); }, parameters);
        if (result == PI_SUCCESS && value != nullptr)
            see_info(validator, Index, handle, std::get<last - 3>(parameters), *out_size, value);
        return result;
    }
};

void *attach(PluginInstance &instance, pi_dispatch &table) {
    auto validator = std::make_unique<Validator>(instance);
    wrap_all<Validated>(table);
    return validator.release();
}

void detach(void *data) noexcept {
    delete static_cast<Validator *>(data);
}

void close(void *data) noexcept {
    static_cast<Validator *>(data)->close();
}

void report(void *data) noexcept {
    static_cast<Validator *>(data)->report();
}

} // namespace
} // namespace validate

constinit const Layer validate_layer = {"validate", validate::attach, validate::detach,
                                        validate::close, validate::report};

} // namespace pi::loader
