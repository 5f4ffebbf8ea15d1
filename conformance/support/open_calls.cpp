// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "open_calls.hpp"

#include "next_function.hpp"

#include <pi/pi_loader.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>

#include <unistd.h>

namespace pi_test {

std::atomic<const char *> stalled_function{nullptr};

namespace {

int64_t nanoseconds_now() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

struct Slot {
    std::atomic<int> thread{0}; // 0: free
    std::atomic<const char *> function{nullptr};
    std::atomic<int64_t> begin{0};
};

// Calls beyond these are not noted.
std::array<Slot, 512> slots;

class Noted {
public:
    explicit Noted(const char *function) noexcept {
        static thread_local const int thread = gettid();
        const auto first = static_cast<std::size_t>(thread);
        for (std::size_t i = 0; i < slots.size(); ++i) {
            Slot &slot = slots[(first + i) % slots.size()];
            int free = 0;
            if (!slot.thread.compare_exchange_strong(free, thread))
                continue;
            slot.begin = nanoseconds_now();
            slot.function = function;
            slot_ = &slot;
            return;
        }
    }
    ~Noted() {
        if (slot_ == nullptr)
            return;
        slot_->function = nullptr;
        slot_->thread = 0;
    }
    Noted(const Noted &) = delete;
    Noted &operator=(const Noted &) = delete;

private:
    Slot *slot_ = nullptr;
};

template <typename Function>
struct Call;
template <typename... Parameters>
struct Call<pi_result(Parameters...)> {
    using Function = pi_result(Parameters...);

    // `next` is the caller's, which has one for each function.
    static pi_result of(const char *name, std::atomic<Function *> &next, Parameters... parameters) {
        Function *const function = next_function(name, next);
        const Noted noted(name);
        return function(parameters...);
    }
};

} // namespace

OpenCall longest_open_call() noexcept {
    const Slot *longest = nullptr;
    for (const Slot &slot : slots)
        if (slot.function != nullptr && (longest == nullptr || slot.begin < longest->begin))
            longest = &slot;
    if (longest == nullptr)
        return {};
    const Slot *innermost = longest;
    for (const Slot &slot : slots)
        if (slot.function != nullptr && slot.thread == longest->thread &&
            slot.begin > innermost->begin)
            innermost = &slot;
    OpenCall call{innermost->function,
                  static_cast<double>(nanoseconds_now() - innermost->begin) / 1e9};
    if (call.function == nullptr) // it has returned meanwhile
        return {};
    const char *stalled = stalled_function;
    if (stalled != nullptr && std::strncmp(call.function, "piLoader", 8) == 0)
        call.function = stalled;
    return call;
}

} // namespace pi_test

#define PI_DEFINITION_BODY(name, ...)                                                              \
    static constinit std::atomic<decltype(&::name)> next{nullptr};                                 \
    return pi_test::Call<decltype(::name)>::of(#name, next, __VA_ARGS__);
#include "../../loader/src/definitions.def"

PI_DEFINE_4(piPluginsGet)
PI_DEFINE_5(piGetMemoryConnection)
PI_DEFINE_6(piGetMemoryConnectionInfo)
PI_DEFINE_2(piLoaderCreate)
PI_DEFINE_1(piLoaderRelease)
PI_DEFINE_4(piLoaderGetReports)
PI_DEFINE_5(piLoaderSelectDevices)
PI_DEFINE_5(piLoaderGetDeviceSelector)
PI_DEFINE_6(piVerifyMemoryConnection)
