// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/device_query.hpp"

#include <pi/pi_race.h>
#include <pi/runtime/topology.hpp>

#include <vector>

namespace pi::runtime {

/// Reports to the loader's layer "race", if that is enabled, which bytes of an argument no kernel
/// accesses.
class RaceLayer {
public:
    explicit RaceLayer(const Topology &topology) : tables_(topology.size()) {
        for (PlaceIndex place = 1; place < topology.size(); ++place) {
            const void *table = nullptr;
            if (piPluginGetExtension(plugin_of(topology.device(place)), PI_RACE_V1,
                                     sizeof(pi_race_v1), &table) == PI_SUCCESS) {
                tables_[place] = static_cast<const pi_race_v1 *>(table);
            }
        }
    }
    void set_lead(PlaceIndex place, const pi_kernel_argument &argument, uint64_t lead) const {
        if (tables_[place] != nullptr && lead != 0) {
            tables_[place]->set_lead(&argument, lead);
        }
    }

private:
    std::vector<const pi_race_v1 *> tables_; // by place
};

} // namespace pi::runtime
