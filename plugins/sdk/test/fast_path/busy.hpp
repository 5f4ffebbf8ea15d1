// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device that is busy until the test ends its kernel, and memory whose last use is visible. The
// plugin's fast_path_machine.hpp provides machines, programs and launches.
#pragma once

#include "fast_path_machine.hpp"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>

namespace fast_path_test {

/// A word that a kernel waits for. The destructor sets it at the latest.
class Word {
public:
    explicit Word(const Machine &machine) : context_(machine.context) {
        auto d = pi::desc<pi_usm_desc>();
        d.kind = PI_USM_HOST;
        d.size = 64;
        OK(piUsmAlloc(context_, machine.devices[first], &d, &pointer_));
        std::memset(pointer_, 0, 64);
    }
    Word(const Word &) = delete;
    ~Word() {
        set();
        piUsmFree(context_, pointer_);
    }
    void set() const { __atomic_store_n(static_cast<uint32_t *>(pointer_), 1, __ATOMIC_SEQ_CST); }
    bool is_set() const {
        return __atomic_load_n(static_cast<const uint32_t *>(pointer_), __ATOMIC_SEQ_CST);
    }
    void *pointer() const { return pointer_; }

private:
    const pi_context context_;
    void *pointer_ = nullptr;
};

inline pi_kernel_argument pointer_argument(void *pointer) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_POINTER;
    argument.pointer = pointer;
    return argument;
}

/// A device whose queue a kernel keeps busy until it is released.
struct Busy {
    Busy() { hold(go); }
    ~Busy() {
        go.set();
        piQueueFinish(queue);
    }

    void hold(const Word &until) const {
        launch(queue, "hold", {pointer_argument(until.pointer())}, 1);
    }
    /// For a call that blocks until then.
    std::jthread let_go_later() const {
        return std::jthread([this] {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            go.set();
        });
    }
    /// With its own kernel, which is released at once.
    void launch(pi_queue in, const char *name, const std::vector<pi_kernel_argument> &arguments,
                uint64_t items) const {
        const Owned<pi_kernel> kernel = make_kernel(program, name);
        const auto d = launch_desc(kernel, arguments, items);
        OK(piEnqueueKernelLaunch(in, &d, 0, nullptr, nullptr));
    }
    void count(pi_queue in, pi_mem mem, uint32_t from) const {
        launch(in, "count_up", {buffer_argument(mem), value_argument(from)}, words);
    }

    /// large enough not to be copied as a small transfer
    static constexpr size_t words = 32 * 1024, size = words * sizeof(uint32_t);
    const Machine machine{{first, second}};
    const Owned<pi_program> program =
        machine.program(std::string(count_up) + "function hold pointer\n");
    const Word go{machine};
    const Owned<pi_queue> queue = machine.queue();
};

inline std::vector<uint32_t> counted(uint32_t from) {
    std::vector<uint32_t> values(Busy::words);
    for (uint32_t &value : values)
        value = from++;
    return values;
}

inline uint32_t references(pi_mem mem) {
    return info<uint32_t>(piMemGetInfo, mem, PI_MEM_INFO_REFERENCE_COUNT);
}

inline bool comes_true(const std::function<bool()> &condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::yield();
    }
    return true;
}

/// The application's memory, as a buffer in place.
struct Imported {
    explicit Imported(const Machine &machine)
        : bytes(static_cast<uint32_t *>(std::aligned_alloc(4096, Busy::size)), &std::free) {
        auto d = pi::desc<pi_mem_import_desc>();
        d.handle.type = PI_EXTERNAL_HOST_POINTER;
        d.handle.pointer = bytes.get();
        d.size = Busy::size;
        OK(piMemImport(machine.context, machine.devices[first], &d, mem.out()));
    }
    std::unique_ptr<uint32_t, decltype(&std::free)> bytes;
    Owned<pi_mem> mem;
};

} // namespace fast_path_test
