// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform.hpp"
#include "entries.hpp"

#include <pi/sdk/descriptor.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <thread>

namespace pi::opencl {

using namespace sdk;

// ----- Instance ----------------------------------------------------------------------------------

Instance::Instance(const pi_host *host) : Object(host) {}

RetiredQueues::~RetiredQueues() {
    if (!queues_.empty())
        std::this_thread::sleep_until(queues_.back().until);
}

void RetiredQueues::add(QueueOwner queue) noexcept {
    constexpr std::chrono::milliseconds time(50); // commands leave the driver in microseconds
    const Clock::time_point now = Clock::now();
    std::vector<QueueOwner> over; // released without the lock
    try {
        const std::lock_guard lock(mutex_);
        for (; !queues_.empty() && queues_.front().until <= now; queues_.pop_front())
            over.push_back(std::move(queues_.front().queue));
        queues_.push_back({now + time, std::move(queue)});
    } catch (const std::bad_alloc &) { // it is released at once
    }
}

Instance::~Instance() {
    // The last object may be released while a driver thread is still returning from notify().
    while (driver_calls_.load(std::memory_order_acquire))
        std::this_thread::yield();
}

std::vector<pi_platform> Instance::platforms() {
    std::lock_guard lock(mutex_);
    if (platforms_.empty())
        open();
    std::vector<pi_platform> handles;
    for (const Ref<Platform> &platform : platforms_)
        handles.push_back(platform->handle());
    return handles;
}

void Instance::open() {
    if (!api_) {
        const char *path = host()->get_option(host(), "PI_OPENCL_LIBRARY");
        api_ = std::make_unique<Api>(path && *path ? path : "libOpenCL.so.1");
    }
    cl_uint count = 0;
    const cl_int code = api_->clGetPlatformIDs(0, nullptr, &count);
    if (code != CL_SUCCESS || !count)
        fail(PI_ERROR_UNAVAILABLE, api_->library.path(), " has no OpenCL platform (",
             error_text("clGetPlatformIDs", code),
             "); is an ICD installed in /etc/OpenCL/vendors?");
    std::vector<cl_platform_id> ids(count);
    check(api_->clGetPlatformIDs(count, ids.data(), nullptr), "clGetPlatformIDs");

    std::string seen;
    for (cl_platform_id id : ids) {
        try {
            const std::string name =
                query_text(api_->clGetPlatformInfo, "clGetPlatformInfo", id, CL_PLATFORM_NAME);
            seen += (seen.empty() ? "'" : ", '") + name + "'";
            if (wanted(name))
                platforms_.push_back(make<Platform>(*this, *api_, id));
        } catch (...) {
            rethrow_no_memory();
            const Error error = current_error();
            log(PI_LOG_WARNING, "an OpenCL platform is left out: " + error.text());
            seen += " (left out: " + error.text() + ")";
        }
    }
    if (platforms_.empty())
        fail(PI_ERROR_UNAVAILABLE,
             "no OpenCL platform is usable and selected by PI_OPENCL_PLATFORMS; there are ", seen);
}

bool Instance::wanted(const std::string &platform_name) const {
    const char *option = host()->get_option(host(), "PI_OPENCL_PLATFORMS");
    if (!option || !*option)
        return true;
    const auto lower = [](std::string words) {
        std::transform(words.begin(), words.end(), words.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return words;
    };
    const std::string name = lower(platform_name), list = lower(option);
    for (size_t begin = 0; begin <= list.size();) {
        const size_t end = std::min(list.find(',', begin), list.size());
        const std::string part = list.substr(begin, end - begin);
        if (!part.empty() && name.find(part) != std::string::npos)
            return true;
        begin = end + 1;
    }
    return false;
}

/// The atomic pointer orders the callback's two threads, whatever the driver does.
struct Instance::Notice {
    Notice(Instance &of, std::function<void(cl_int)> run)
        : task(std::move(run)),
          completion(of.completions_.prepare([this] { NoticePointer(this)->task(status); })) {}
    const std::function<void(cl_int)> task;
    cl_int status = CL_QUEUED;
    sdk::Workers::Prepared completion; ///< runs the task and destroys the notice
    std::atomic<Instance *> instance{nullptr};
};

void Instance::DeleteNotice::operator()(Notice *notice) const noexcept {
    delete notice;
}

Instance::NoticePointer Instance::make_notice(std::function<void(cl_int)> task) {
    return NoticePointer(new Notice(*this, std::move(task)));
}

void CL_CALLBACK Instance::notify(cl_event, cl_int status, void *user_data) {
    auto *notice = static_cast<Notice *>(user_data);
    Instance &instance = *notice->instance.load(std::memory_order_acquire);
    notice->status = status;
    instance.completions_.post(std::move(notice->completion));
    instance.driver_calls_.fetch_sub(1, std::memory_order_release);
}

void Instance::when_final(const Api &api, cl_event event, NoticePointer notice) noexcept {
    driver_calls_.fetch_add(1, std::memory_order_relaxed);
    // Release: publishes all that this thread has written for the command.
    notice->instance.store(this, std::memory_order_release);
    if (api.clSetEventCallback(event, CL_COMPLETE, notify, notice.get()) == CL_SUCCESS)
        return static_cast<void>(notice.release());
    driver_calls_.fetch_sub(1, std::memory_order_relaxed);
    notice->task(api.clWaitForEvents(1, &event) == CL_SUCCESS ? CL_COMPLETE
                                                              : CL_OUT_OF_HOST_MEMORY);
}

void Instance::watch(const Api &api, cl_event event, NoticePointer notice) noexcept {
    struct Watched {
        EventOwner event;
        NoticePointer notice;
    };
    try {
        const auto watched =
            std::make_shared<Watched>(Watched{EventOwner::retained(api, event), nullptr});
        std::function<bool()> look = [&api, watched] {
            const cl_int status = status_of(api, watched->event.get());
            if (status <= CL_COMPLETE)
                watched->notice->task(status);
            return status <= CL_COMPLETE;
        };
        watched->notice = std::move(notice);
        try {
            watcher_.add(std::move(look));
        } catch (...) {
            notice = std::move(watched->notice);
            throw;
        }
    } catch (...) {
        when_final(api, event, std::move(notice));
    }
}

// ----- Platform ----------------------------------------------------------------------------------

Platform::Platform(Instance &instance, const Api &api, cl_platform_id id)
    : Object(instance.host()), instance_(instance), api_(api), id_(id) {
    const auto ask = [&](cl_platform_info name) {
        return query_text(api_.clGetPlatformInfo, "clGetPlatformInfo", id_, name);
    };
    name_ = ask(CL_PLATFORM_NAME);
    vendor_ = ask(CL_PLATFORM_VENDOR);
    version_ = ask(CL_PLATFORM_VERSION);
    unsigned major = 1, minor = 0;
    if (std::sscanf(version_.c_str(), "OpenCL %u.%u", &major, &minor) == 2)
        api_version_ = 100 * major + minor;

    cl_uint count = 0;
    const cl_int code = api_.clGetDeviceIDs(id_, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && !count))
        return;
    check(code, "clGetDeviceIDs", "platform ", name_);
    std::vector<cl_device_id> ids(count);
    check(api_.clGetDeviceIDs(id_, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr),
          "clGetDeviceIDs", "platform ", name_);
    usm_ = find_usm_driver(*this, ids);
    globals_ = find_globals(*this);
    for (cl_device_id device : ids) {
        try {
            devices_.push_back(make<Device>(*this, device));
        } catch (...) {
            rethrow_no_memory();
            instance_.log(PI_LOG_WARNING, "a device of the OpenCL platform " + name_ +
                                              " is left out: " + current_error().text());
        }
    }
}

Platform::~Platform() = default;

Ref<Device> Platform::find_device(cl_device_id id) {
    for (const Ref<Device> &device : devices_)
        if (device->id() == id)
            return device;
    const auto of =
        query<cl_platform_id>(api_.clGetDeviceInfo, "clGetDeviceInfo", id, CL_DEVICE_PLATFORM);
    if (of != id_)
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the cl_device_id ", id, " is of the OpenCL platform ",
             query_text(api_.clGetPlatformInfo, "clGetPlatformInfo", of, CL_PLATFORM_NAME),
             ", not of ", name_);
    // OpenCL before 1.2 has no sub-devices, nor this query.
    const auto parent = api_version_ < 102
                            ? cl_device_id{}
                            : query<cl_device_id>(api_.clGetDeviceInfo, "clGetDeviceInfo", id,
                                                  CL_DEVICE_PARENT_DEVICE);
    if (!parent)
        fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the cl_device_id ", id, " of ", name_,
             " is not one of the plugin's devices: it was left out as unusable");
    return make<Device>(*this, id, find_device(parent), DeviceOwner::retained(api_, id));
}

// ----- entry points ------------------------------------------------------------------------------

namespace entries {

pi_result PI_CALL piPlatformsGet(pi_plugin plugin, uint32_t capacity, pi_platform *out_platforms,
                                 uint32_t *out_count) {
    return call<Instance>(plugin, [&](Instance &self) {
        const std::vector<pi_platform> platforms = self.platforms();
        write_list<pi_platform>(platforms, capacity, out_platforms, out_count);
    });
}

pi_result PI_CALL piPlatformGetInfo(pi_platform platform, pi_platform_info name, uint64_t size,
                                    void *value, uint64_t *out_size) {
    static constexpr InfoRow<Platform> rows[] = {
        {PI_PLATFORM_INFO_NAME, [](Platform &p, const InfoWriter &write) { write(p.name()); }},
        {PI_PLATFORM_INFO_VENDOR, [](Platform &p, const InfoWriter &write) { write(p.vendor()); }},
        {PI_PLATFORM_INFO_VERSION,
         [](Platform &p, const InfoWriter &write) { write(p.version()); }},
        {PI_PLATFORM_INFO_PLUGIN,
         [](Platform &p, const InfoWriter &write) { write(p.instance().handle()); }},
        {PI_PLATFORM_INFO_BACKEND,
         [](Platform &, const InfoWriter &write) { write(uint32_t{PI_BACKEND_OPENCL}); }},
    };
    return call<Platform>(
        platform, [&](Platform &self) { answer_info(self, rows, name, size, value, out_size); });
}

pi_result PI_CALL piPlatformGetBackendOption(pi_platform platform, const char *frontend_option,
                                             uint64_t size, char *value, uint64_t *out_size) {
    return call<Platform>(platform, [&](Platform &self) {
        const std::string_view option = require(frontend_option, "frontend_option");
        const auto takes_debug_option = [](const Ref<Device> &device) {
            return device->quirk(QUIRK_DEBUG_OPTION);
        };
        // Without it, a driver refuses to build with the option.
        const auto can_round_correctly = [&](const Ref<Device> &device) {
            return (device->get<cl_device_fp_config>(CL_DEVICE_SINGLE_FP_CONFIG) &
                    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
        };
        const InfoWriter write(size, value, out_size);
        // OpenCL compilers optimise by default and have no levels.
        if (option == "-O0")
            write("-cl-opt-disable");
        else if (option == "-g" &&
                 std::all_of(self.devices().begin(), self.devices().end(), takes_debug_option))
            write("-g");
        else if ((option == "-foffload-fp32-prec-div" || option == "-foffload-fp32-prec-sqrt") &&
                 std::all_of(self.devices().begin(), self.devices().end(), can_round_correctly))
            write("-cl-fp32-correctly-rounded-divide-sqrt");
        else
            write("");
    });
}

pi_result PI_CALL piDevicesGet(pi_platform platform, pi_device_type types, uint32_t capacity,
                               pi_device *out_devices, uint32_t *out_count) {
    return call<Platform>(platform, [&](Platform &self) {
        std::vector<pi_device> devices;
        for (const Ref<Device> &device : self.devices())
            if (pi_sdk_asks_for(types, device->type()))
                devices.push_back(device->handle());
        write_list<pi_device>(devices, capacity, out_devices, out_count);
    });
}

} // namespace entries
} // namespace pi::opencl
