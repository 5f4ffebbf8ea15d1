// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/plugin_transport.hpp"

#include <exception>

namespace pi::runtime {

Transport::~Transport() = default;

PluginTransport::PluginTransport(std::shared_ptr<Commands> commands,
                                 std::shared_ptr<Continuations> continuations,
                                 std::shared_ptr<StagingPool> staging)
    : continuations_(std::move(continuations)), commands_(std::move(commands)),
      pool_(std::move(staging)) {}

void PluginTransport::start(const TransferRequest &request, TransferDone done) {
    continuations_->post([this, request, done = std::move(done)] { begin(request, done); });
}

void PluginTransport::begin(const TransferRequest &request, const TransferDone &done) {
    try {
        if (commands_->standing_maps().any()) {
            undo_maps(request, done);
        } else {
            carry_out(request, done);
        }
    } catch (const std::exception &error) {
        done(PI_ERROR_OUT_OF_HOST_MEMORY, text_if_possible(error.what()));
    }
}

void PluginTransport::undo_maps(const TransferRequest &request, const TransferDone &done) {
    const auto then = [done](pi_result result, const std::string &text, const auto &next) {
        if (result != PI_SUCCESS) {
            done(result, text);
            return;
        }
        try {
            next();
        } catch (const std::exception &error) {
            done(PI_ERROR_OUT_OF_HOST_MEMORY, text_if_possible(error.what()));
        }
    };
    commands_->undo_maps(
        request.source.mem, request.ranges, false,
        [this, request, done, then](pi_result result, const std::string &text) {
            then(result, text, [&] {
                commands_->undo_maps(
                    request.destination.mem, request.ranges, true,
                    [this, request, done, then](pi_result undone, const std::string &detail) {
                        then(undone, detail, [&] { carry_out(request, done); });
                    });
            });
        });
}

void PluginTransport::carry_out(const TransferRequest &request, TransferDone done) {
    const Route &route = request.route;
    const bool mapped =
        route.style == BounceStyle::map_source || route.style == BounceStyle::map_destination;
    if (request.coherence_sync) {
        sync_coherence(commands_, request, std::move(done));
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

TransferMap::TransferMap(std::shared_ptr<Commands> commands, const MemoryEnd &end,
                         const Range &range, uint64_t flags)
    : commands_(std::move(commands)), flags_(flags) {
    map_.push_back({.place = end.place,
                    .mem = Mem::share(end.mem),
                    .range = range,
                    .writes = (flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD)) != 0});
}

TransferMap::~TransferMap() {
    stand();
}

void TransferMap::stand() noexcept {
    if (std::exchange(is_mapped_, false)) {
        commands_->standing_maps().add(std::move(map_));
    }
}

Commands::After TransferMap::map(TransferDone done, const Commands::After &after) {
    return commands_->map(
        map_.front(), flags_,
        [this, done = std::move(done)](pi_result result, const std::string &text) {
            is_mapped_ = result == PI_SUCCESS;
            done(result, text);
        },
        after);
}

Commands::After TransferMap::unmap(TransferDone done, const Commands::After &after) {
    return commands_->unmap(
        map_.front(),
        [this, done = std::move(done)](pi_result result, const std::string &text) {
            if (result == PI_SUCCESS) {
                is_mapped_ = false;
                done(result, text);
            } else {
                unmap_failed_ = true;
                unmap_again(done);
            }
        },
        after);
}

void TransferMap::unmap_again(const TransferDone &done) {
    const BufferMap &map = map_.front();
    const pi_mem mem = map.mem.get();
    const RangeSet range = map.range;
    const bool writes = map.writes;
    stand();
    try {
        commands_->undo_maps(
            mem, range, true, [done, writes](pi_result result, const std::string &text) {
                const bool delivered = result == PI_SUCCESS || !writes;
                done(delivered ? PI_SUCCESS : result, delivered ? std::string() : text);
            });
    } catch (const std::bad_alloc &error) {
        done(writes ? PI_ERROR_OUT_OF_HOST_MEMORY : PI_SUCCESS, text_if_possible(error.what()));
    }
}

} // namespace pi::runtime
