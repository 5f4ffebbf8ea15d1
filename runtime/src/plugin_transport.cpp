// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin_transport.hpp"

#include <exception>

namespace pi::runtime {

Transport::~Transport() = default;

PluginTransport::PluginTransport(std::shared_ptr<const Topology> topology,
                                 std::shared_ptr<Continuations> continuations,
                                 const CostModel &costs)
    : continuations_(std::move(continuations)),
      commands_(std::make_shared<Commands>(std::move(topology), continuations_)), costs_(costs) {}

void PluginTransport::start(const TransferRequest &request, TransferDone done) {
    continuations_->post([this, request, done = std::move(done)] {
        try {
            begin(request, done);
        } catch (const std::exception &error) {
            done(PI_ERROR_OUT_OF_HOST_MEMORY, error.what());
        }
    });
}

void PluginTransport::begin(const TransferRequest &request, TransferDone done) {
    const Topology &topology = commands_->topology();
    const MemoryEnd &source = request.source;
    const MemoryEnd &destination = request.destination;
    if (request.hand_over) {
        hand_over(commands_, request, std::move(done));
        return;
    }
    if (request.route.kind == RouteKind::migrate) {
        const auto preferred =
            topology.description().buffer(source.place, destination.place).preferred_queue;
        const PlaceIndex queue =
            preferred == PI_PREFERRED_QUEUE_SRC ? source.place : destination.place;
        commands_->copy(source, destination, queue, request.ranges, std::move(done));
        return;
    }
    switch (request.route.style) {
    case BounceStyle::read:
        commands_->read(source, {destination.host, 0}, request.ranges, std::move(done));
        return;
    case BounceStyle::write:
        commands_->write(destination, {source.host, 0}, request.ranges, std::move(done));
        return;
    case BounceStyle::map_source:
    case BounceStyle::map_destination:
        bounce_mapped(commands_, request, std::move(done));
        return;
    case BounceStyle::staged:
        bounce_staged(
            commands_, pool_, request,
            staging_chunk(topology.description(), source.place, destination.place, costs_),
            std::move(done));
        return;
    case BounceStyle::none:
        break;
    }
    done(PI_ERROR_INTERNAL,
         std::string("no transfer does the route '") + to_string(request.route.kind) + "'");
}

} // namespace pi::runtime
