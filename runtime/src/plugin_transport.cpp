// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin_transport.hpp"

#include <exception>

namespace pi::runtime {

Transport::~Transport() = default;

PluginTransport::PluginTransport(std::shared_ptr<const Topology> topology,
                                 std::shared_ptr<Continuations> continuations,
                                 std::shared_ptr<MemoryPool> memory, uint64_t staging_limit)
    : continuations_(std::move(continuations)),
      commands_(std::make_shared<Commands>(topology, continuations_)),
      pool_(std::make_shared<StagingPool>(std::move(topology), continuations_, std::move(memory),
                                          staging_limit)) {}

void PluginTransport::start(const TransferRequest &request, TransferDone done) {
    continuations_->post([this, request, done = std::move(done)] {
        try {
            begin(request, done);
        } catch (const std::exception &error) {
            done(PI_ERROR_OUT_OF_HOST_MEMORY, text_if_possible(error.what()));
        }
    });
}

void PluginTransport::begin(const TransferRequest &request, TransferDone done) {
    const Route &route = request.route;
    const bool mapped =
        route.style == BounceStyle::map_source || route.style == BounceStyle::map_destination;
    if (request.hand_over) {
        hand_over(commands_, request, std::move(done));
    } else if (mapped) {
        bounce_mapped(commands_, request, std::move(done));
    } else if (route.hops.size() > 1) {
        run_pipeline(commands_, pool_, request, std::move(done));
    } else if (route.hops.size() == 1) {
        Commands::After command =
            commands_->move(endpoint_of(request.source), endpoint_of(request.destination),
                            request.ranges, done, request.after);
        if (!command.empty() && request.last != nullptr) {
            *request.last = std::move(command);
        }
    } else {
        done(PI_ERROR_INTERNAL,
             std::string("no transfer does the route '") + to_string(route.kind) + "'");
    }
}

} // namespace pi::runtime
