// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <cstdlib>

namespace pi::cuda::simulated {

namespace {

std::string variable(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

} // namespace

Config read_config() {
    Config config;
    config.machine = variable("PI_SIMULATED_CUDA_MACHINE");
    if (const std::string seed = variable("PI_SIMULATED_CUDA_REORDER"); !seed.empty())
        config.reorder = std::strtoull(seed.c_str(), nullptr, 10);
    if (const std::string peers = variable("PI_SIMULATED_CUDA_MAX_PEERS"); !peers.empty())
        config.max_peers = static_cast<unsigned>(std::strtoul(peers.c_str(), nullptr, 10));
    if (const std::string count = variable("PI_SIMULATED_CUDA_PAGEABLE"); !count.empty())
        config.pageable = static_cast<int>(std::strtol(count.c_str(), nullptr, 10));
    if (const std::string how = variable("PI_SIMULATED_CUDA_REGISTER"); how == "refused")
        config.registration = Registration::refused;
    else if (how == "none")
        config.registration = Registration::none;
    config.exit_sleep = static_cast<unsigned>(
        std::strtoul(variable("PI_SIMULATED_CUDA_EXIT_SLEEP").c_str(), nullptr, 10));
    config.one_queue = variable("PI_SIMULATED_CUDA_ONE_QUEUE") == "1";
    config.strict = variable("PI_SIMULATED_CUDA_STRICT") == "1";
    return config;
}

} // namespace pi::cuda::simulated
