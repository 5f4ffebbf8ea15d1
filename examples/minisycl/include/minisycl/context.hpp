// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/describe/descriptor.hpp>
#include <pi/pi_loader.h>
#include <pi/runtime/runtime.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace minisycl {

/// Errors of PI and its runtime: code() and what().
using exception = pi::runtime::Error;

namespace detail {

struct release_loader {
    void operator()(pi_loader loader) const { piLoaderRelease(loader); }
};

} // namespace detail

/// The devices of a program, of any plugins, and the runtime that moves bytes between them. Objects
/// that use a context are destroyed before it. A SYCL runtime has an implicit one.
class context {
public:
    /// The devices of a selector ("opencl:0:0,host"); empty: of PI_DEVICE_SELECTOR, or all.
    explicit context(const std::string &selector = {}, pi::runtime::RuntimeOptions options = {})
        : loader_(open_loader()), runtime_(topology(selector), std::move(options)) {}
    /// Waits for work in flight.
    ~context() {
        if (!runtime_.finish(std::chrono::hours(1))) {
            std::fputs("minisycl: commands are still in flight\n", stderr);
        }
        for (const std::exception_ptr &error : errors_) {
            try {
                std::rethrow_exception(error);
            } catch (const std::exception &failure) {
                std::fprintf(stderr, "minisycl: error not thrown: %s\n", failure.what());
            }
        }
    }
    context(const context &) = delete;
    context &operator=(const context &) = delete;

    std::size_t size() const { return names_.size(); }
    /// "opencl:0:0"
    const std::string &name(std::size_t device) const { return names_.at(device); }
    /// A device's place in the runtime.
    static pi::runtime::PlaceIndex place(std::size_t device) {
        return static_cast<pi::runtime::PlaceIndex>(device + 1);
    }
    pi::runtime::Runtime &runtime() { return runtime_; }

    /// Reports an error that a destructor cannot throw; on any thread.
    void report(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        errors_.push_back(std::move(error));
    }
    /// Throws the first reported error, and clears all.
    void throw_asynchronous() {
        std::vector<std::exception_ptr> errors;
        {
            const std::lock_guard lock(mutex_);
            errors.swap(errors_);
        }
        if (!errors.empty()) {
            std::rethrow_exception(errors.front());
        }
    }

private:
    using loader = std::unique_ptr<std::remove_pointer_t<pi_loader>, detail::release_loader>;

    static loader open_loader() {
        pi_loader raw = nullptr;
        pi::runtime::check(piLoaderCreate(nullptr, &raw), "piLoaderCreate");
        return loader(raw);
    }

    std::shared_ptr<const pi::runtime::Topology> topology(const std::string &selector) {
        const char *text = selector.empty() ? nullptr : selector.c_str();
        uint32_t count = 0;
        pi::runtime::check(piLoaderSelectDevices(loader_.get(), text, 0, nullptr, &count),
                           "piLoaderSelectDevices");
        std::vector<pi_device> devices(count);
        pi::runtime::check(
            piLoaderSelectDevices(loader_.get(), text, count, devices.data(), &count),
            "piLoaderSelectDevices");
        devices.resize(count);
        for (const pi_device device : devices) {
            char name[256] = "";
            pi::runtime::check(
                piLoaderGetDeviceSelector(loader_.get(), device, sizeof name, name, nullptr),
                "piLoaderGetDeviceSelector");
            names_.emplace_back(name);
        }
        return pi::runtime::Topology::from_devices(devices, names_);
    }

    loader loader_; // released last
    std::vector<std::string> names_;
    pi::runtime::Runtime runtime_;
    std::mutex mutex_;
    std::vector<std::exception_ptr> errors_;
};

} // namespace minisycl
