// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace pi::cuda::simulated {

Driver &driver() {
    static Driver *const all = new Driver;
    return *all;
}

Thread::~Thread() {
    if (pushed == 0)
        return;
    const Lock lock(driver().mutex);
    driver().leaked.push_back(std::to_string(pushed) + " context that a thread has pushed and not "
                                                       "popped");
}

Thread &this_thread() {
    // Exit handlers may call after the thread's state is destroyed: they get another one, which is
    // never destroyed.
    thread_local bool is_over = false;
    thread_local Thread *late = nullptr;
    if (is_over) {
        if (!late)
            late = new Thread;
        return *late;
    }
    struct Owned {
        Thread thread;
        ~Owned() { is_over = true; }
    };
    thread_local Owned owned;
    return owned.thread;
}

void Driver::wait(Lock &lock, const std::vector<Point> &points) {
    changed.wait(lock, [&] {
        return std::all_of(points.begin(), points.end(),
                           [](const Point &point) { return point.reached(); });
    });
}

Device &Driver::device(CUdevice ordinal) {
    need(ordinal >= 0 && static_cast<size_t>(ordinal) < devices.size(), CUDA_ERROR_INVALID_DEVICE);
    return *devices[static_cast<size_t>(ordinal)];
}

namespace {

/// Reads the machine and creates its devices, each with its default pool.
CUresult start(Driver &all) {
    all.config = read_config();
    if (all.config.exit_sleep != 0)
        on_exit(
            [](int, void *sleep) {
                std::this_thread::sleep_for(*static_cast<std::chrono::milliseconds *>(sleep));
            },
            new std::chrono::milliseconds(all.config.exit_sleep));
    try {
        all.machine = drivers::read_machine(all.config.machine);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "simulated CUDA: %s\n", error.what());
        return CUDA_ERROR_SYSTEM_NOT_READY;
    }
    for (const DeviceModel &model : all.machine.devices) {
        auto device = std::make_unique<Device>();
        device->ordinal = static_cast<int>(all.devices.size());
        device->model = model;
        auto pool = std::make_shared<Pool>();
        pool->device = device.get();
        pool->is_default = true;
        all.pools.add(pool);
        device->default_pool = device->current_pool = pool;
        all.devices.push_back(std::move(device));
    }
    return all.devices.empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuInit(unsigned int flags) {
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    Driver &all = driver();
    const Lock lock(all.mutex);
    if (!all.initialised) {
        all.state = start(all);
        all.initialised = true;
    }
    return all.state;
}

CUresult cuDriverGetVersion(int *version) {
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = 13000;
    return CUDA_SUCCESS;
}

} // namespace pi::cuda
