// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <pi/sdk/error.hpp>

namespace pi::sim {

Config read_config(const pi_host *host) {
    const char *machine = host->get_option(host, "PI_SIM_MACHINE");
    if (!machine)
        sdk::fail(PI_ERROR_UNAVAILABLE,
                  "no machine to simulate is named: PI_SIM_MACHINE is the path of its file, as of "
                  "those in <prefix>/share/pi/machines");
    return {.machine = machine};
}

} // namespace pi::sim
