// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <minisycl/range.hpp>

#include <pi/pi_native_kernel.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace minisycl {

/// Code in a form that some devices accept; borrowed.
struct form {
    pi_program_format format = 0;
    const void *code = nullptr;
    std::size_t size = 0;
};

/// A kernel by name, in forms for devices that run no C++ functions; a device uses the first form
/// that it accepts.
struct kernel {
    std::string name;
    std::vector<form> forms;
};

/// A device accepts none of a kernel's forms: like sycl::errc::kernel_not_supported.
struct kernel_not_supported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// "OpenCL C"
inline const char *to_string(pi_program_format format) {
    static const char *const names[] = {"?",     "OpenCL C",        "SPIR-V", "CUDA C++", "PTX",
                                        "cubin", "a device binary", "C++",    "a library"};
    return format < std::size(names) ? names[format] : names[0];
}

namespace detail {

/// An accessor in a kernel: its pointer is at offset `at` of the kernel's bytes, and becomes the
/// address of the launch's buffer `slot` plus `lead` bytes.
struct binding {
    static constexpr uint64_t end = UINT64_MAX;
    uint64_t at = end; ///< end: the list ends here
    uint64_t slot = 0;
    uint64_t lead = 0;
};

/// A kernel as a native function. Its arguments are the kernel's bytes, its bindings, and the
/// buffers.
template <int Dimensions, class Kernel>
void PI_CALL run_native(const pi_native_group *group, void *const *arguments) {
    alignas(Kernel) std::byte bytes[sizeof(Kernel)];
    std::memcpy(bytes, arguments[0], sizeof bytes);
    if constexpr (sizeof(Kernel) >= sizeof(void *)) { // otherwise it has no accessors
        const auto *next = static_cast<const std::byte *>(arguments[1]);
        for (binding one;; next += sizeof one) {
            std::memcpy(&one, next, sizeof one);
            if (one.at == binding::end) {
                break;
            }
            const void *elements =
                static_cast<const std::byte *>(arguments[2 + one.slot]) + one.lead;
            std::memcpy(bytes + one.at, &elements, sizeof elements);
        }
    }
    const Kernel &kernel = *std::launder(reinterpret_cast<const Kernel *>(bytes));

    for (uint64_t z = group->begin[2]; z < group->end[2]; ++z) {
        for (uint64_t y = group->begin[1]; y < group->end[1]; ++y) {
            for (uint64_t x = group->begin[0]; x < group->end[0]; ++x) {
                const uint64_t item[] = {x, y, z}; // the fastest dimension first
                id<Dimensions> ordered;
                for (int dimension = 0; dimension < Dimensions; ++dimension) {
                    ordered.index[dimension] = item[Dimensions - 1 - dimension];
                }
                kernel(ordered);
            }
        }
    }
}

} // namespace detail
} // namespace minisycl
