// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "process_memory.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>

namespace pi::suite {

void need_process_memory(Fixture &fixture) {
    if ((get_info<pi_device_type>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_TYPE) &
         PI_DEVICE_TYPE_CPU) == 0 ||
        get_info<uint32_t>(&piPlatformGetInfo, fixture.platform(), PI_PLATFORM_INFO_BACKEND) ==
            PI_BACKEND_SIMULATED)
        skip("the device's memory is not the process's");
}

std::string flags_of_mapping(uintptr_t address) {
    std::ifstream smaps("/proc/self/smaps");
    bool here = false;
    for (std::string line; std::getline(smaps, line);) {
        uintptr_t begin = 0, end = 0;
        if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2)
            here = begin <= address && address < end;
        else if (here && line.starts_with("VmFlags:"))
            return line;
    }
    return {};
}

bool never_paged_out(uintptr_t address) {
    const std::string flags = flags_of_mapping(address);
    if (flags.empty())
        skip("the system does not show the flags of mappings");
    // Locked (lo), a reserved huge page (ht), or of a device (io, pf).
    return std::ranges::any_of(
        std::initializer_list<const char *>{" lo", " ht", " io", " pf"},
        [&](const char *flag) { return flags.find(flag) != std::string::npos; });
}

} // namespace pi::suite
