// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "error.hpp"
#include "layers/layers.hpp"
#include "layers/leak_origin/origins.hpp"
#include "plugin.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

namespace pi::loader {
namespace leak_origin {
namespace {

// Describes what the function was asked to create: handles, and the descriptor's sizes and kinds.
class Details {
public:
    template <typename First, typename... Rest>
    void all(First first, Rest... rest) {
        if constexpr (is_handle<First>) {
            if (first != nullptr)
                add("{} {}", kind_name(HandleTraits<First>::kind), static_cast<void *>(first));
        } else if constexpr (std::is_same_v<First, const char *>) {
            if (first != nullptr)
                add("name \"{}\"", first);
        } else if constexpr (std::is_pointer_v<First>) {
            using Desc = std::remove_const_t<std::remove_pointer_t<First>>;
            if constexpr (type_of<Desc> != PI_TYPE_NONE) {
                Desc own;
                if (copy_descriptor(first, type_of<Desc>, own))
                    members(own);
            }
        }
        if constexpr (sizeof...(Rest) != 0)
            all(rest...);
    }

    std::string text() && { return "of " + std::move(text_); }

private:
    template <typename... Arguments>
    void add(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
        text_ += (text_.empty() ? "" : ", ") +
                 fmt::format(format, std::forward<Arguments>(arguments)...);
    }

    template <typename Desc>
    void members(const Desc &desc) {
        if constexpr (std::is_same_v<Desc, pi_usm_desc>)
            add("kind {}", usm_kind(desc.kind));
        if constexpr (requires { desc.image_type; })
            add("{} x {} x {} pixels, {} layers", desc.width, desc.height, desc.depth,
                desc.array_size);
        if constexpr (requires { desc.size; })
            add("size {}", desc.size);
        if constexpr (requires { desc.mem; })
            add("mem {}", static_cast<void *>(desc.mem));
        if constexpr (requires { desc.kernel; })
            add("kernel {}", static_cast<void *>(desc.kernel));
        if constexpr (requires { desc.flags; }) {
            if (desc.flags != 0)
                add("flags {:#x}", desc.flags);
        }
    }

    static const char *usm_kind(pi_usm_kind kind) {
        constexpr std::array names = {"unknown", "host", "device", "shared"};
        return names[kind < names.size() ? kind : 0];
    }

    std::string text_;
};

/// Records what a call created. Without memory it stays unknown: the call itself has succeeded.
template <typename... Parameters>
void note(Origins &origins, const void *made, Origin origin, void *caller,
          Parameters... parameters) noexcept {
    try {
        Details details;
        details.all(parameters...);
        origin.details = std::move(details).text();
        origins.add(made, std::move(origin), caller);
    } catch (const std::bad_alloc &) {
        // Then its leak has no origin.
    }
}

/// The wrapper of functions that create, retain, release or free.
template <auto Slot, std::size_t Index, typename Function>
struct Remembered;
template <auto Slot, std::size_t Index, typename Handle, typename... Rest>
struct Remembered<Slot, Index, pi_result (*)(Handle, Rest...)> {
    static constexpr bool retains = sizeof...(Rest) == 0 && ends_with(Index, "Retain");
    static constexpr bool releases = sizeof...(Rest) == 0 && ends_with(Index, "Release");
    static constexpr bool makes_one = is_out_handle<Last<Handle, Rest...>> &&
                                      !std::is_same_v<Last<Handle, Rest...>, pi_platform *>;
    static constexpr bool partitions = same_slot<Slot, &pi_dispatch::piDevicePartition>;
    static constexpr bool allocates = same_slot<Slot, &pi_dispatch::piUsmAlloc>;
    static constexpr bool frees = same_slot<Slot, &pi_dispatch::piUsmFree>;
    static constexpr bool enqueues_alloc = same_slot<Slot, &pi_dispatch::piEnqueueUsmAlloc>;
    static constexpr bool enqueues_free = same_slot<Slot, &pi_dispatch::piEnqueueUsmFree>;
    static constexpr bool wraps = retains || releases || makes_one || partitions || allocates ||
                                  frees; // and both commands that create events

    static pi_result PI_CALL call(Handle handle, Rest... rest) noexcept {
        void *const caller = __builtin_return_address(0);
        auto &origins = data_of<Origins>(leak_origin_layer, handle);
        const auto next = origins.next().*Slot;
        if constexpr (retains) {
            const pi_result result = next(handle);
            if (result == PI_SUCCESS)
                origins.retain(handle);
            return result;
        } else if constexpr (releases) {
            return release(origins, handle);
        } else if constexpr (frees) {
            return freed(origins, std::get<0>(std::tuple(rest...)),
                         [&] { return next(handle, rest...); });
        } else {
            const uint64_t number = origins.count_call(Index);
            if constexpr (partitions)
                return partition(origins, number, caller, handle, rest...);
            const pi_result result = make(origins, number, caller, handle, rest...);
            if (result != PI_SUCCESS)
                return result;
            if constexpr (allocates) {
                const auto out = std::get<sizeof...(Rest) - 1>(std::tuple(rest...));
                note(origins, *out, {"USM memory", Index, number, {}, handle}, caller, handle,
                     rest...);
            } else if constexpr (makes_one) {
                see(origins, number, caller, handle, rest...);
            }
            return result;
        }
    }

private:
    static pi_result release(Origins &origins, Handle handle) noexcept {
        Origins::Taken taken = origins.release(handle);
        const bool last = !taken.empty();
        const pi_result result = (origins.next().*Slot)(handle);
        if (result != PI_SUCCESS)
            origins.put_back(handle, std::move(taken));
        else if constexpr (std::is_same_v<Handle, pi_context>) {
            if (last)
                origins.forget_memory_of(handle);
        }
        return result;
    }

    template <typename Call>
    static pi_result freed(Origins &origins, const void *pointer, Call &&free) noexcept {
        Origins::Taken taken = origins.release(pointer);
        const pi_result result = free();
        if (result != PI_SUCCESS && !taken.empty())
            origins.put_back(pointer, std::move(taken));
        return result;
    }

    static pi_result make(Origins &origins, uint64_t number, void *caller, Handle handle,
                          Rest... rest) noexcept {
        const auto next = origins.next().*Slot;
        const auto forward = [&] { return next(handle, rest...); };
        if constexpr (enqueues_free) {
            pi_usm_free_desc own;
            const bool read =
                copy_descriptor(std::get<0>(std::tuple(rest...)), PI_TYPE_USM_FREE_DESC, own);
            return freed(origins, read ? own.pointer : nullptr, forward);
        } else if constexpr (enqueues_alloc) {
            pi_usm_alloc_desc own;
            if (!copy_descriptor(std::get<0>(std::tuple(rest...)), PI_TYPE_USM_ALLOC_DESC, own) ||
                own.out_pointer == nullptr)
                return forward();
            // A layer behind this one may succeed without the plugin; then nothing is written.
            void *const before = std::exchange(*own.out_pointer, nullptr);
            const pi_result result = forward();
            if (*own.out_pointer == nullptr)
                *own.out_pointer = before;
            else if (result == PI_SUCCESS)
                note(origins, *own.out_pointer,
                     {"USM memory", Index, number, {}, context_of(handle)}, caller, handle,
                     rest...);
            return result;
        } else {
            return forward();
        }
    }

    static pi_context context_of(pi_queue queue) noexcept {
        const ErrorScope scope;
        pi_context context = nullptr;
        queries_of(queue).piQueueGetInfo(queue, PI_QUEUE_INFO_CONTEXT, sizeof context, &context,
                                         nullptr);
        return context;
    }

    static void see(Origins &origins, uint64_t number, void *caller, Handle handle,
                    Rest... rest) noexcept {
        using Made = std::remove_pointer_t<Last<Handle, Rest...>>;
        const auto *const out = std::get<sizeof...(Rest) - 1>(std::tuple(rest...));
        if (out == nullptr || *out == nullptr)
            return;
        if constexpr (std::is_same_v<Made, pi_device>) {
            if (is_root_device(*out))
                return;
        }
        note(origins, *out, {kind_name(HandleTraits<Made>::kind), Index, number, {}}, caller,
             handle, rest...);
    }

    static pi_result partition(Origins &origins, uint64_t number, void *caller, pi_device device,
                               const pi_device_partition_desc *desc, uint32_t capacity,
                               pi_device *out_devices, uint32_t *out_count) noexcept {
        uint32_t count = 0;
        const pi_result result = origins.next().piDevicePartition(
            device, desc, capacity, out_devices,
            out_count != nullptr || out_devices == nullptr ? out_count : &count);
        if (out_count != nullptr)
            count = *out_count;
        for (uint32_t i = 0;
             result == PI_SUCCESS && out_devices != nullptr && i < count && i < capacity; ++i)
            note(origins, out_devices[i], {kind_name(PI_KIND_DEVICE), Index, number, {}}, caller,
                 device);
        return result;
    }
};

void *attach(PluginInstance &instance, pi_dispatch &table) {
    auto origins = std::make_unique<Origins>(instance);
    wrap_all<Remembered>(table);
    return origins.release();
}

void detach(void *data) noexcept {
    delete static_cast<Origins *>(data);
}

void report(void *data) noexcept {
    static_cast<const Origins *>(data)->report();
}

} // namespace
} // namespace leak_origin

constinit const Layer leak_origin_layer = {"leak-origin", leak_origin::attach, leak_origin::detach,
                                           nullptr, leak_origin::report};

} // namespace pi::loader
