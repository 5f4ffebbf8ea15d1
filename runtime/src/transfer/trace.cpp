// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/trace.hpp"

#include "base/device_query.hpp"

#include <pi/pi_trace.h>

#include <nlohmann/json.hpp>

namespace pi::runtime {
namespace {

/// Appends a member of a JSON object as text: destroying a JSON object may need memory, a number or
/// string does not.
void add_member(std::string &members, const char *name, const nlohmann::json &value) {
    if (!members.empty()) {
        members += ',';
    }
    members += '"';
    members += name;
    members += "\":";
    members += value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

Trace::Trace(std::shared_ptr<const Topology> topology) : topology_(std::move(topology)) {
    // All plugins of a loader write one file: the first that has the layer will do.
    for (PlaceIndex place = 1; place < topology_->size() && trace_ == nullptr; ++place) {
        const pi_plugin plugin = plugin_of(topology_->device(place));
        const void *table = nullptr;
        if (piPluginGetExtension(plugin, PI_TRACE_V1, sizeof *trace_, &table) == PI_SUCCESS) {
            plugin_ = plugin;
            trace_ = static_cast<const pi_trace_v1 *>(table);
        }
    }
}

void Trace::write(const TransferRecord &record) const {
    if (trace_ == nullptr) {
        return;
    }
    std::string route = to_string(record.kind);
    if (record.style != BounceStyle::none) {
        route += std::string(" ") + to_string(record.style);
    }
    std::vector<Hop> hops = record.hops;
    if (hops.empty()) { // a coherence sync: no bytes cross a link
        hops.push_back({record.source, record.destination});
    }
    std::string arguments;
    add_member(arguments, "storage", record.storage);
    add_member(arguments, "acquisition", record.acquisition);
    add_member(arguments, "route", route);
    add_member(arguments, "bytes", record.bytes);
    add_member(arguments, "ranges", to_string(record.ranges));
    add_member(arguments, "pieces", record.pieces);
    add_member(arguments, "hops", record.hops.size());
    add_member(arguments, "predicted_us", 1e6 * record.predicted);
    add_member(arguments, "predicted_delay_us", 1e6 * record.predicted_delay);
    add_member(arguments, "actual_us", static_cast<double>(record.end - record.begin) / 1e3);
    add_member(arguments, "result", result_name(record.result));
    add_member(arguments, "reason", record.reason);
    const std::string name = record.storage.empty() ? route : record.storage + ": " + route;
    for (size_t index = 0; index < hops.size(); ++index) {
        const std::string track =
            topology_->info(hops[index].from).name + " -> " + topology_->info(hops[index].to).name;
        std::string text = arguments;
        add_member(text, "hop", index + 1);
        text.insert(0, 1, '{');
        text += '}';
        pi_trace_span span{};
        span.group = "transfers";
        span.track = track.c_str();
        span.name = name.c_str();
        span.category = "transfer";
        span.arguments = text.c_str();
        span.begin = record.begin;
        span.end = record.end;
        trace_->write_span(plugin_, &span);
    }
}

} // namespace pi::runtime
