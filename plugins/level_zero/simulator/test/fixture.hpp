// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pi_level_zero_test {

/// The last driver that the loader has found: entries of the build test each driver in turn.
ze_driver_handle_t driver();
std::vector<ze_driver_handle_t> drivers();
/// Its devices: left, right, lone.
const std::vector<ze_device_handle_t> &devices();

/// The leaks of all simulated drivers of the process, one per line.
std::string leaks();

class Context {
public:
    Context();
    Context(const Context &) = delete;
    ~Context();
    operator ze_context_handle_t() const { return handle; }
    ze_context_handle_t handle = nullptr;
};

enum class Kind { device, host, shared };

/// Device, shared or host memory.
class Memory {
public:
    Memory(const Context &context, size_t size, Kind kind = Kind::device, unsigned device = 0,
           size_t alignment = 0);
    Memory(const Memory &) = delete;
    ~Memory();
    /// Frees it early.
    ze_result_t free();
    template <class T>
    T *as() const {
        return static_cast<T *>(address);
    }
    void *address = nullptr;

private:
    const Context &context_;
};

/// Events with timestamps, visible to the host.
class Events {
public:
    explicit Events(const Context &context, std::uint32_t count = 8,
                    ze_event_pool_flags_t flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                                  ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    Events(const Events &) = delete;
    ~Events();
    ze_event_handle_t operator[](size_t index) const { return events_[index]; }
    ze_event_pool_handle_t pool = nullptr;

private:
    std::vector<ze_event_handle_t> events_;
};

/// An immediate list.
class List {
public:
    explicit List(const Context &context, unsigned device = 0, std::uint32_t group = 0,
                  ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    List(const List &) = delete;
    ~List();
    operator ze_command_list_handle_t() const { return handle; }
    /// Waits for everything that was appended.
    void finish() const;
    void barrier() const;
    ze_command_list_handle_t handle = nullptr;

private:
    Events done_;
};

/// The bytes of any memory, after all work of the list.
std::vector<std::uint8_t> read(const List &list, const void *address, size_t size);

/// An image of the library of kernels.c: "function ..." and other lines.
std::string image(const std::string &lines);

/// A module and its kernels.
class Module {
public:
    Module(const Context &context, const std::string &lines, unsigned device = 0);
    Module(const Module &) = delete;
    ~Module();
    ze_kernel_handle_t kernel(const char *name);
    ze_module_handle_t handle = nullptr;

private:
    std::vector<ze_kernel_handle_t> kernels_;
};

/// Builds the module and returns the log.
ze_result_t build(const Context &context, ze_module_format_t format, const std::string &bytes,
                  ze_module_handle_t *out, std::string *log = nullptr,
                  const ze_module_constants_t *constants = nullptr, unsigned device = 0);

/// Launches `groups` groups of one item, and waits.
void run(const List &list, ze_kernel_handle_t kernel, std::uint32_t groups = 1);

} // namespace pi_level_zero_test
