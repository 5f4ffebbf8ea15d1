// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs and kernels.
#pragma once

#include "enqueue.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

struct ur_program_handle_t_ : pi::unified_runtime::Handle {
    using Binary = std::vector<uint8_t>;

    /// Registers the program, so that native kernels find it.
    ur_program_handle_t_(ur_context_handle_t in, std::shared_ptr<facade::Program> of_pi);
    ~ur_program_handle_t_();

    /// Devices that calls without a list mean: empty where the core chooses them.
    std::vector<pi_device> named_devices() const;

    const pi::unified_runtime::Ref<ur_context_handle_t_> context;
    const std::shared_ptr<facade::Program> core;
    std::vector<ur_device_handle_t> devices; ///< all of the context, or those with a binary
    Binary il;                               ///< as given
    std::mutex mutex;                        ///< of builds, which UR does not serialize
    std::vector<Binary> binaries;            ///< as given, one for each of `devices`
};

struct ur_kernel_handle_t_ : pi::unified_runtime::Handle {
    ur_kernel_handle_t_(ur_program_handle_t of, std::shared_ptr<facade::Kernel> of_pi);

    /// The PI_LAUNCH_INDIRECT_ flags of a launch on this device.
    uint64_t indirect_on(pi_device device) const noexcept;

    const pi::unified_runtime::Ref<ur_program_handle_t_> program;
    const std::shared_ptr<facade::Kernel> core;
    const std::optional<uint32_t> argument_count; ///< empty if the plugin does not report it
    std::atomic<uint64_t> indirect{0};            ///< PI_LAUNCH_INDIRECT_ flags that are wanted

private:
    std::vector<pi_device> usm_devices_; // a launch elsewhere must not have those flags
};

namespace pi::unified_runtime {

/// The programs of the context that live.
std::vector<Ref<ur_program_handle_t_>> programs_of(ur_context_handle_t context);

/// Calls the function; its PI errors of the first kind become UR's of the second.
template <class Function>
decltype(auto) with_codes(std::initializer_list<std::pair<pi_result, ur_result_t>> codes,
                          Function &&function) {
    try {
        return function();
    } catch (const runtime::Error &error) {
        for (const auto &[from, to] : codes) {
            if (error.code() == from) {
                throw Refusal(to, error.what());
            }
        }
        throw;
    }
}

} // namespace pi::unified_runtime
