// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixture of the level_zero plugin's tests on Intel's driver. The driver needs no GPU to
// answer, and does everything that a host does. It records commands but never runs them: none
// completes by itself.
#pragma once

#include "platform_fixture.hpp"

#include <level_zero/ze_api.h>

#include <span>
#include <string>
#include <vector>

namespace level_zero_plugin_test {

using namespace pi_test;

/// Why a test case that needs a GPU is skipped.
inline constexpr const char *not_executed =
    "not executed: there is no GPU, and the driver only records commands";

/// The plugin in its own loader, on Intel's driver, and a context of all devices. If the driver is
/// not installed, the test case is skipped, and there is no machine: `if (!machine) return;`.
class Machine {
public:
    Machine();
    /// Checks that all driver objects are destroyed, and no instance is left.
    ~Machine();
    Machine(const Machine &) = delete;
    explicit operator bool() const { return !devices.empty(); }

    Owned<pi_queue> make_queue(size_t device = 0, uint64_t flags = 0) const;
    Owned<pi_mem> make_buffer(uint64_t size, size_t device = 0, uint32_t scope = 0,
                              uint64_t alignment = 0) const;

    pi_platform platform = nullptr;
    std::vector<pi_device> devices;
    Owned<pi_context> context;

private:
    Warnings warnings_;
    Owned<pi_loader> loader_;
    std::vector<int64_t> before_; ///< number of live objects of each kind
};

/// The driver's handle of an object.
template <class Handle, class Object>
Handle native(pi_result (*get)(Object, pi_native_handle *), std::type_identity_t<Object> object) {
    pi_native_handle handle{};
    OK(get(object, &handle));
    REQUIRE(handle.type == PI_NATIVE_LEVEL_ZERO);
    REQUIRE(handle.count == 1);
    return reinterpret_cast<Handle>(handle.value[0]);
}
inline ze_device_handle_t native(pi_device device) {
    return native<ze_device_handle_t>(&piDeviceGetNativeHandle, device);
}
ze_context_handle_t native(pi_context context);
/// The address of a buffer.
void *native(pi_mem mem, pi_device device);

/// The driver's properties of memory at an address.
struct Known {
    ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
    ze_device_handle_t device = nullptr;
};
Known ask_driver(pi_context context, const void *address);

/// The suite's programs in SPIR-V; empty if there was no compiler for it.
namespace spirv {
std::span<const unsigned char> kernels();
std::span<const unsigned char> broken(); ///< calls nowhere_to_be_found, which is undefined
std::span<const unsigned char> groups();
std::span<const unsigned char> sub_groups();
} // namespace spirv

/// A program, not built, and a built one. NULL if the module is empty: then the test case is
/// skipped.
Owned<pi_program> create_spirv(const Machine &machine, std::span<const unsigned char> module);
Owned<pi_program> build_spirv(const Machine &machine, std::span<const unsigned char> module);
inline Owned<pi_program> build_kernels(const Machine &machine) {
    return build_spirv(machine, spirv::kernels());
}

/// Whether a command completes within a short time; if so, it must have succeeded.
bool has_ended(pi_event event);
/// Completes a command in place of a GPU: signals its event. Its references are dropped.
void end(pi_event event);

} // namespace level_zero_plugin_test
