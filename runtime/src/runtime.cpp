// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/same_device.hpp"
#include "planning/verified_pairs.hpp"
#include "runtime_state.hpp"
#include "transfer/plugin_transport.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace pi::runtime {

namespace {

std::shared_ptr<const Topology> checked(std::shared_ptr<const Topology> topology) {
    if (topology == nullptr) {
        throw Error(PI_ERROR_INVALID_NULL_POINTER, "Runtime: the topology is NULL");
    }
    return topology;
}

void require_here(const RuntimeState &state) {
    state.origin.require_here("Runtime");
}

} // namespace

RuntimeState::RuntimeState(std::shared_ptr<const Topology> all_places,
                           RuntimeOptions runtime_options)
    : topology(checked(std::move(all_places))), options(std::move(runtime_options)),
      costs(options.costs ? *options.costs : CostTable::estimate(topology->description())),
      log(options.log_capacity), trace(topology), race(*topology),
      traffic(LinkChannels(topology->description(), devices_of(*topology))),
      memory(std::make_shared<MemoryPool>(topology, options.pool_limit)),
      commands(std::make_shared<Commands>(topology, continuations)),
      staging(
          std::make_shared<StagingPool>(topology, continuations, memory, options.staging_limit)),
      residents(topology->description(), devices_of(*topology)), lost(devices_of(*topology)),
      loss_probe(topology, continuations, lost) {
    if (costs.places() != topology->size()) {
        throw Error(PI_ERROR_INVALID_VALUE,
                    "Runtime: the costs are of " + std::to_string(costs.places()) +
                        " places, the topology has " + std::to_string(topology->size()));
    }
    if (options.staging_limit == 0) {
        throw Error(PI_ERROR_INVALID_VALUE, "Runtime: staging_limit is 0");
    }
    transport = std::make_shared<PluginTransport>(commands, continuations, staging);
    if (options.wrap_transport) {
        transport = options.wrap_transport(transport);
    }
    if (transport == nullptr) {
        throw Error(PI_ERROR_INVALID_NULL_POINTER, "Runtime: wrap_transport returned NULL");
    }
}

bool RuntimeState::verify(const std::vector<MemoryPair> &pairs) const {
    return std::all_of(pairs.begin(), pairs.end(), [this](const MemoryPair &pair) {
        return topology->verified_pairs_->verify(pair);
    });
}

std::string device_places(const Topology &topology) {
    return topology.size() == 1 ? "the topology has no devices"
                                : "devices are places 1 to " + std::to_string(topology.size() - 1);
}

bool RuntimeState::may_wait() const {
    if (continuations->running_here()) {
        return false;
    }
    uint32_t asked = 0; // places of one instance are consecutive
    for (PlaceIndex place = 1; place < topology->size(); ++place) {
        if (std::exchange(asked, topology->info(place).instance) ==
            topology->info(place).instance) {
            continue;
        }
        // Only the plugin knows: a wait for an event that is never signalled returns WOULD_BLOCK in
        // a callback. If the event cannot be created, this thread may not wait either.
        Event event;
        if (piEventCreateHost(topology->context(place), nullptr, event.out()) != PI_SUCCESS ||
            piEventWait(event.get(), 1) == PI_ERROR_WOULD_BLOCK) {
            return false;
        }
    }
    return true;
}

Runtime::Runtime(std::shared_ptr<const Topology> topology, RuntimeOptions options)
    : state_(make_shared_here<RuntimeState>(std::move(topology), std::move(options))) {}

Runtime::~Runtime() = default;
Runtime::Runtime(Runtime &&) noexcept = default;
Runtime &Runtime::operator=(Runtime &&) noexcept = default;

const Topology &Runtime::topology() const noexcept {
    return *state_->topology;
}
Counters Runtime::counters() const {
    require_here(*state_);
    Counters sum;
    state_->counters.for_each([&sum](const SharedCounters &part) { part.add_to(sum); });
    return sum;
}
std::vector<TransferRecord> Runtime::log() const {
    require_here(*state_);
    return state_->log.read();
}
void Runtime::clear_log() {
    require_here(*state_);
    state_->log.clear();
}
bool Runtime::finish(std::chrono::nanoseconds timeout) const {
    require_here(*state_);
    const auto deadline = deadline_after(timeout);
    return state_->in_flight->wait(deadline) && state_->continuations->wait_until_idle(deadline);
}

void Runtime::verify_connections() const {
    state_->topology->verified_pairs_->verify_all();
}

void Runtime::trim(uint64_t bytes_to_keep) const {
    require_here(*state_);
    for (PlaceIndex place = 1; place < state_->topology->size(); ++place) {
        state_->memory->trim(place, bytes_to_keep);
    }
}
PoolStatistics Runtime::pool_statistics(PlaceIndex place) const {
    require_here(*state_);
    if (place == host_place || place >= state_->topology->size()) {
        throw Error(PI_ERROR_INVALID_VALUE, "no pool at place " + std::to_string(place) + ": " +
                                                device_places(*state_->topology));
    }
    return state_->memory->statistics(place);
}

namespace {

using Row = std::array<std::string, 7>;

Row row_of(const TransferRecord &record, const TopologyDescription &topology) {
    std::string route = to_string(record.kind);
    if (record.style != BounceStyle::none) {
        route += std::string(" (") + to_string(record.style) + ")";
    }
    std::string reason = record.reason;
    if (record.result != PI_SUCCESS) {
        reason = std::string("FAILED: ") + reason;
    }
    return {record.storage,
            topology.place(record.source).name + " -> " + topology.place(record.destination).name,
            to_string(record.ranges),
            route,
            std::to_string(record.bytes),
            std::to_string(record.bytes_copy_in_copy_out),
            reason};
}

} // namespace

std::string to_string(const std::vector<TransferRecord> &log, const TopologyDescription &topology) {
    std::vector<Row> rows{
        {"storage", "from -> to", "bytes of it", "route", "moved", "copy-in/copy-out", "why"}};
    for (const TransferRecord &record : log) {
        rows.push_back(row_of(record, topology));
    }
    std::array<size_t, std::tuple_size_v<Row>> widths{};
    for (const Row &row : rows) {
        for (size_t column = 0; column < row.size(); ++column) {
            widths[column] = std::max(widths[column], row[column].size());
        }
    }
    std::string text;
    for (const Row &row : rows) {
        for (size_t column = 0; column < row.size(); ++column) {
            std::string cell = row[column];
            if (column + 1 < row.size()) {
                cell.resize(widths[column] + 2, ' ');
            }
            text += cell;
        }
        text += '\n';
    }
    return text;
}

} // namespace pi::runtime
