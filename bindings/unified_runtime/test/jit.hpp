// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs of jit_test.cpp share: devices, kernels, comparisons, and counts of bytes.
#pragma once

#include "config.hpp"
#include "skip.hpp"

#include <catch2/catch.hpp>
#include <sycl/accessor_image.hpp>
#include <sycl/image.hpp>
#include <sycl/sycl.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace jit {

namespace syclex = sycl::ext::oneapi::experimental;

inline std::string text_of(const std::string &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

using Executable = sycl::kernel_bundle<sycl::bundle_state::executable>;

template <class Properties = syclex::empty_properties_t>
Executable build(const sycl::context &context, const std::string &source,
                 Properties properties = {}) {
    auto bundle =
        syclex::create_kernel_bundle_from_source(context, syclex::source_language::sycl, source);
    return syclex::build(bundle, properties);
}

/// Those of the first platform, or two halves of its first device.
inline std::vector<sycl::device> all_devices() {
    std::vector<sycl::device> devices = sycl::platform::get_platforms().at(0).get_devices();
    const sycl::device first = devices.front();
    const auto units = first.get_info<sycl::info::device::max_compute_units>();
    if (uses_sub_devices() && units >= 2) {
        using sycl::info::partition_property;
        devices = first.create_sub_devices<partition_property::partition_equally>(units / 2);
        devices.resize(2, first);
    }
    return devices;
}

/// All devices in one context, with the kernels of jit_kernels.sycl.
struct Machine {
    /// Of the errors of commands that ran, for wait_and_throw().
    static void throw_first(const sycl::exception_list &errors) {
        for (const std::exception_ptr &error : errors) {
            std::rethrow_exception(error);
        }
    }
    /// The queue of a device; counts on at the first after the last.
    sycl::queue &queue(size_t at) { return queues[at % queues.size()]; }
    sycl::kernel kernel(const std::string &name) { return kernels.ext_oneapi_get_kernel(name); }

    std::vector<sycl::device> devices = all_devices();
    sycl::context context{devices};
    std::vector<sycl::queue> queues = [this] {
        std::vector<sycl::queue> all;
        for (const sycl::device &device : devices) {
            all.emplace_back(context, device, throw_first);
        }
        return all;
    }();
    Executable kernels = build(context, text_of(PI_TEST_JIT_KERNELS),
                               syclex::properties{syclex::registered_names{
                                   std::vector<std::string>{"scale_by<3>", "scale_by<5>"}}});
};

/// The one that all tests share: builds take long.
inline Machine &machine() {
    static Machine &the_machine = *new Machine; // drivers end before static objects
    return the_machine;
}

/// The first difference, as text; "" if there is none.
template <class T>
std::string difference(const std::vector<T> &is, const std::vector<T> &expected) {
    if (is.size() != expected.size()) {
        return std::to_string(is.size()) + " elements, not " + std::to_string(expected.size());
    }
    const auto [a, b] = std::mismatch(is.begin(), is.end(), expected.begin());
    return a == is.end() ? ""
                         : "element " + std::to_string(a - is.begin()) + " is " +
                               std::to_string(*a) + ", not " + std::to_string(*b);
}

template <class T, int dimensions>
std::vector<T> read(sycl::buffer<T, dimensions> &buffer) {
    const sycl::host_accessor access(buffer, sycl::read_only);
    return {access.begin(), access.end()};
}

inline std::vector<int> counting(size_t size, int first = 1) {
    std::vector<int> values(size);
    std::iota(values.begin(), values.end(), first);
    return values;
}

/// What a sycl::exception says; "" if the function throws none.
template <class Function>
std::string error_of(Function &&function) {
    try {
        function();
    } catch (const sycl::exception &error) {
        return error.what();
    }
    return "";
}

// ----- Moved bytes ------------------------------------------------------------------------------

/// The bytes of a buffer that must move if the host and every device have memory of their own.
/// What a command may write and does not, keeps its value, so a use for writing needs the old
/// bytes, too: Unified Runtime's access flags cannot discard them.
class Copies {
public:
    /// Elements that the host has already, or nobody.
    Copies(size_t count, size_t element, bool at_host)
        : element_(element), valid_(machine().devices.size() + 1, std::vector<bool>(count, false)) {
        valid_.front().assign(count, at_host);
    }
    void on_host(bool writes) { use(0, 0, valid_.front().size(), writes); }
    void on_device(size_t at, bool writes, size_t begin = 0, size_t end = SIZE_MAX) {
        use(1 + at % (valid_.size() - 1), begin, std::min(end, valid_.front().size()), writes);
    }
    uint64_t bytes() const { return moved_ * element_; }

private:
    void use(size_t place, size_t begin, size_t end, bool writes) {
        for (size_t i = begin; i < end; ++i) {
            const bool anywhere = std::any_of(valid_.begin(), valid_.end(),
                                              [i](const auto &valid) { return valid[i]; });
            moved_ += anywhere && !valid_[place][i] ? 1 : 0;
            for (auto &valid : valid_) {
                valid[i] = valid[i] && !writes;
            }
            valid_[place][i] = anywhere || writes;
        }
    }

    size_t element_;
    std::vector<std::vector<bool>> valid_; // for each place; the host is the first
    uint64_t moved_ = 0;
};

/// The bytes that PI moved since the program began; nothing if the layer "trace" is not enabled.
inline std::optional<uint64_t> moved_bytes() {
    const char *const path = trace_file();
    if (path == nullptr) {
        return std::nullopt;
    }
    uint64_t sum = 0;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        // A transfer through the host has a second line for its second link.
        const std::string bytes = "\"bytes\":";
        const size_t at = line.find(bytes);
        if (line.find("\"cat\":\"transfer\"") != std::string::npos && at != std::string::npos &&
            line.find("\"hop\":1}") != std::string::npos) {
            sum += std::stoull(line.substr(at + bytes.size()));
        }
    }
    return sum;
}

/// Where the layer "trace" is enabled, reports the bytes that PI has moved since the program began
/// beside those of all Copies given so far. The former are never more, so run only test cases that
/// do so then, and on devices that copy.
inline void check_moves(std::initializer_list<const Copies *> buffers) {
    static uint64_t needed = 0;
    for (const Copies *buffer : buffers) {
        needed += buffer->bytes();
    }
    if (const auto moved = moved_bytes()) {
        std::cout << Catch::getResultCapture().getCurrentTestName() << ": " << *moved
                  << " bytes moved so far, " << needed << " needed\n";
        CHECK(*moved <= needed);
        CHECK((*moved > 0 || machine().devices.size() < 2));
    }
}

} // namespace jit
