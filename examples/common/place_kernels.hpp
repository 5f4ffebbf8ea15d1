// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "places.hpp"

#include <pi/pi_native_kernel.h>
#include <pi/runtime/handle.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace examples {

/// The kernels, built for one place, and a queue for launches.
class PlaceKernels {
public:
    /// All kernels in `names`, from the form entry.kernels. Throws pi::runtime::Error, with the log
    /// of a failed build.
    PlaceKernels(pi_context context, const DeviceEntry &entry, const pi_native_program &names);

    /// Both begin when all of `waits` are complete, and do not block.
    pi::runtime::Event launch(const std::string &kernel,
                              std::span<const pi_kernel_argument> arguments, uint64_t columns,
                              uint64_t rows, std::span<const pi_event> waits) const;
    pi::runtime::Event fill_with_zeros(pi_mem mem, uint64_t offset, uint64_t size,
                                       std::span<const pi_event> waits) const;
    /// In order.
    pi_queue queue() const { return queue_.get(); }
    /// Starts the launched commands.
    void flush() const;

private:
    pi::runtime::Queue queue_;
    pi::runtime::Program program_;
    std::map<std::string, pi::runtime::Kernel> kernels_;
};

/// `value` must live until the launch.
pi_kernel_argument value_argument(const int32_t &value);

/// If its event was not passed to a release because of an exception, waits for the command, which
/// uses the memory.
class Unreleased {
public:
    Unreleased(const pi::runtime::Event &event, std::chrono::nanoseconds patience)
        : event_(event), patience_(patience) {}
    ~Unreleased() {
        if (event_ && !released_) {
            piEventWait(event_.get(), static_cast<uint64_t>(patience_.count()));
        }
    }
    Unreleased(const Unreleased &) = delete;
    Unreleased &operator=(const Unreleased &) = delete;
    void released() { released_ = true; }

private:
    const pi::runtime::Event &event_;
    std::chrono::nanoseconds patience_;
    bool released_ = false;
};

} // namespace examples
