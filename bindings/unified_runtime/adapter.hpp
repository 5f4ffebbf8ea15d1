// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The adapter, its platforms and devices. There is one adapter a process, which lives until the
// process ends: DPC++ releases it from a static destructor, with queues and contexts left.
#pragma once

#include "config.hpp"
#include "handle.hpp"

#include <pi/pi_loader.h>
#include <pi/runtime/facade.hpp>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace pi::unified_runtime {

/// What urAdapterSetLoggerCallback sets. It exists before the adapter, which may fail.
class Logger {
public:
    void set(ur_logger_callback_t callback, void *user_data, ur_logger_level_t level);
    void set_level(ur_logger_level_t level);
    void operator()(ur_logger_level_t level, const char *text) noexcept;

private:
    std::mutex mutex_;
    ur_logger_callback_t callback_ = nullptr;
    void *user_data_ = nullptr;
    ur_logger_level_t level_ = UR_LOGGER_LEVEL_QUIET;
};
Logger &logger() noexcept;

ur_adapter_handle_t_ &adapter();

} // namespace pi::unified_runtime

/// A platform of PI; with PI_UR_PLATFORM several of them.
struct ur_platform_handle_t_ : pi::unified_runtime::Handle {
    std::vector<pi_platform> platforms;
    std::string name;
    ur_backend_t backend = UR_BACKEND_OPENCL;
    std::vector<ur_device_handle_t> devices; // root devices, which the adapter owns
    std::mutex options_mutex;
    std::set<std::string> options; // that urPlatformGetBackendOption lent
    std::mutex sub_devices_mutex;
    std::set<ur_device_handle_t_ *> sub_devices; // that exist; borrowed
};

struct ur_device_handle_t_ : pi::unified_runtime::Handle {
    ur_device_handle_t_(ur_platform_handle_t_ &on_platform, pi_device of_pi,
                        ur_device_handle_t_ *whole);
    ~ur_device_handle_t_();

    ur_platform_handle_t_ &platform;
    pi_device device;
    pi::runtime::Device owned; // of a sub-device
    pi::unified_runtime::Ref<ur_device_handle_t_> parent;
    ur_device_partition_property_t partition{}; // how a sub-device was made
    pi::runtime::facade::InfoCache infos;

    bool is_root() const noexcept { return !parent; }
};

struct ur_adapter_handle_t_ : pi::unified_runtime::Handle {
    ur_adapter_handle_t_();
    ur_adapter_handle_t_(const ur_adapter_handle_t_ &) = delete;

    const pi::unified_runtime::Config config = pi::unified_runtime::Config::read();
    pi_loader loader = nullptr; // never released: see above
    std::vector<std::unique_ptr<ur_platform_handle_t_>> platforms;
    std::vector<std::unique_ptr<ur_device_handle_t_>> root_devices;

private:
    void add_device(ur_platform_handle_t_ &to, pi_device device);
    void list_platforms();
    void list_one_platform();
};
