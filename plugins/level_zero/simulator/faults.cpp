// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "faults.hpp"
#include "driver.hpp"

#include <algorithm>

namespace pi::level_zero::simulated {

ze_result_t configured_fault(const char *function) {
    Driver &all = driver();
    // Set once, before the first call.
    if (all.config.faults.empty())
        return ZE_RESULT_SUCCESS;
    const Lock lock(all.mutex);
    const unsigned call = ++all.calls[function];
    const auto fault =
        std::find_if(all.config.faults.begin(), all.config.faults.end(), [&](const Fault &one) {
            return one.function == function && one.call == call;
        });
    if (fault == all.config.faults.end())
        return ZE_RESULT_SUCCESS;
    const auto code = static_cast<ze_result_t>(fault->code);
    // A lost device stays lost.
    for (const auto &[key, device] : all.devices)
        device->lost = device->lost || code == ZE_RESULT_ERROR_DEVICE_LOST;
    all.changed.notify_all();
    return code;
}

} // namespace pi::level_zero::simulated
