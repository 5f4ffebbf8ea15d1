// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "inventory.hpp"

#include <pi/runtime/calibrate.hpp>

#include <optional>
#include <stdexcept>

namespace pi_info {

using pi::runtime::CostTable;
using pi::runtime::Topology;

void save_machine(const std::vector<Device> &devices, const std::string &file,
                  const std::string &costs) {
    // All devices together and each one alone, to include connections to the same device in another
    // context.
    std::vector<std::vector<pi_device>> groups(1);
    for (const Device &device : devices) {
        groups.front().push_back(device.handle);
    }
    for (const Device &device : devices) {
        groups.push_back({device.handle});
    }
    const auto topology = Topology::from_groups(groups);
    std::optional<CostTable> measured;
    if (!costs.empty()) {
        auto loaded = pi::runtime::load_costs(costs, topology->description());
        if (!loaded.costs) {
            throw std::runtime_error(loaded.message);
        }
        measured = std::move(loaded.costs);
    }
    topology->save(file, measured ? &*measured : nullptr);
}

} // namespace pi_info
