// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage/transfer_run.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <exception>
#include <new>

namespace pi::runtime {

TransferRun::TransferRun(std::shared_ptr<BufferState> buffer, OperationId operation,
                         ViewId destination, PlannedPart part, std::vector<Dependency> dependencies,
                         uint64_t acquisition, uint64_t bytes_copy_in_copy_out)
    : buffer_(std::move(buffer)), operation_(operation), destination_(destination),
      part_(std::move(part)), dependencies_(std::move(dependencies)), acquisition_(acquisition),
      bytes_copy_in_copy_out_(bytes_copy_in_copy_out) {}

template <class Step>
void TransferRun::step(Step run) noexcept {
    try {
        run();
    } catch (const std::exception &error) {
        end(PI_ERROR_OUT_OF_HOST_MEMORY, text_if_possible(error.what()), {});
    }
}

void TransferRun::end(pi_result result, const std::string &text, std::vector<Submitted> commands) {
    if (!over_.exchange(true)) {
        storage().finish_operation(operation_, result, text, std::move(commands));
    }
}

void TransferRun::start() noexcept {
    step([this] {
        when_all(dependencies_, storage().runtime()->continuations,
                 [self = shared_from_this()](pi_result result, const std::string &text) {
                     self->step([&] { self->on_ready(result, text); });
                 });
    });
}

void TransferRun::on_ready(pi_result result, const std::string &text) {
    if (result != PI_SUCCESS) {
        failure_text_ = text; // what it waited for failed; another source may have the bytes
    }
    try_next();
}

void TransferRun::try_next() {
    while (next_ < part_.sources.size()) {
        const Source &source = part_.sources[next_++];
        if (!storage().may_copy_from(operation_, source.view)) {
            continue;
        }
        // The answer is posted: it may come on any thread, and before start() returns.
        TransferDone done = [self = shared_from_this()](pi_result result, const std::string &text) {
            self->step([&] {
                self->storage().runtime()->continuations->post(
                    [self, result, text, time = steady_time()] {
                        self->step([&] { self->on_done(result, text, time); });
                    });
            });
        };
        begin_ = steady_time();
        try {
            TransferRequest request = storage().request(source, destination_, part_.ranges);
            request.coherence_sync = part_.coherence_sync;
            request.after = commands_before();
            last_ = request.after; // a transfer without commands passes these on
            request.last = &last_;
            RuntimeState &runtime = *storage().runtime();
            runtime.traffic.enter(load_of(runtime.costs, source.candidate, part_.ranges.bytes()),
                                  under_way_);
            storage().runtime()->transport->start(request, done);
        } catch (const Error &error) {
            done(error.code(), error.what());
        } catch (const std::exception &error) {
            done(PI_ERROR_OUT_OF_HOST_MEMORY, error.what());
        }
        return;
    }
    end(failure_, to_string(part_.ranges) + " could not be brought: " + failure_text_, {});
}

/// The commands of its dependencies that succeeded: none can be submitted behind a failed command.
std::vector<Submitted> TransferRun::commands_before() const {
    std::vector<Submitted> result;
    for (const Dependency &dependency : dependencies_) {
        if (dependency.completion->result() != PI_SUCCESS) {
            continue;
        }
        for (Submitted &command : dependency.completion->commands()) {
            const auto same = [&](const Submitted &other) {
                return other.event.get() == command.event.get();
            };
            if (std::none_of(result.begin(), result.end(), same)) {
                result.push_back(std::move(command));
            }
        }
    }
    return result;
}

void TransferRun::on_done(pi_result result, const std::string &text, uint64_t time) {
    under_way_.leave();
    try {
        record(result, text, time);
        count(result, part_.sources[next_ - 1].candidate);
    } catch (const std::bad_alloc &) {
        // Only the log and the counters miss it.
    }
    if (result == PI_SUCCESS) {
        end(PI_SUCCESS, {}, std::move(last_));
        return;
    }
    const Route &route = part_.sources[next_ - 1].candidate.route;
    failure_ = result;
    failure_text_ += (failure_text_.empty() ? "" : "; ") + std::string(to_string(route.kind)) +
                     (route.style == BounceStyle::none ? "" : " ") + to_string(route.style) + ": " +
                     text;
    if (result == PI_ERROR_OUT_OF_DEVICE_MEMORY && make_room(route)) {
        --next_; // the same source again
    } else {
        asked_ = 0;
    }
    if (result != PI_ERROR_DEVICE_LOST) {
        try_next();
        return;
    }
    std::vector<PlaceIndex> places{route.source, route.destination};
    for (const Hop &hop : route.hops) {
        places.push_back(hop.to);
    }
    storage().runtime()->loss_probe.suspect(
        std::move(places), [self = shared_from_this()] { self->step([&] { self->try_next(); }); });
}

/// Makes room at the next place that can: first at the places on the way, for staging, then at the
/// ends. Each place is tried once.
bool TransferRun::make_room(const Route &route) {
    std::vector<PlaceIndex> places;
    for (size_t hop = 0; hop + 1 < route.hops.size(); ++hop) {
        places.push_back(route.hops[hop].to);
    }
    const size_t on_the_way = places.size();
    places.insert(places.end(), {route.destination, route.source});
    while (asked_ < places.size()) {
        const size_t next = asked_++;
        if (storage().make_room_without_waiting(places[next], next < on_the_way)) {
            return true;
        }
    }
    return false;
}

void TransferRun::record(pi_result result, const std::string &text, uint64_t time) {
    const Candidate &candidate = part_.sources[next_ - 1].candidate;
    TransferRecord record;
    record.acquisition = acquisition_;
    record.storage = storage().description().name;
    record.source = candidate.route.source;
    record.destination = candidate.route.destination;
    record.ranges = part_.ranges;
    record.kind = candidate.route.kind;
    record.style = candidate.route.style;
    record.result = result;
    record.reason = result == PI_SUCCESS ? candidate.reason : text;
    record.bytes = result == PI_SUCCESS && !part_.coherence_sync ? part_.ranges.bytes() : 0;
    record.hops = candidate.route.hops;
    if (const uint64_t chunk = candidate.route.chunk; chunk != 0) {
        record.pieces = (part_.ranges.bytes() + chunk - 1) / chunk;
    }
    record.predicted = candidate.seconds;
    record.predicted_delay = candidate.delay;
    record.begin = begin_;
    record.end = time;
    record.bytes_copy_in_copy_out = bytes_copy_in_copy_out_;
    bytes_copy_in_copy_out_ = 0; // only in the acquire's first record
    storage().runtime()->trace.write(record);
    if (part_.on_the_way && result == PI_SUCCESS) {
        return; // the second copy's line is for both
    }
    if (part_.whole && next_ == 1 && result == PI_SUCCESS) {
        record.source = part_.whole->route.source;
        record.kind = part_.whole->route.kind;
        record.style = part_.whole->route.style;
        record.hops = part_.whole->route.hops;
        record.pieces = 1; // of those that the log joins
        record.reason = part_.whole->reason;
        record.predicted = part_.whole->seconds;
        record.predicted_delay = part_.whole->delay;
    }
    storage().runtime()->log.add(std::move(record), part_.is_piece);
}

void TransferRun::count(pi_result result, const Candidate &candidate) {
    const uint64_t bytes = part_.ranges.bytes();
    const auto kind = static_cast<size_t>(candidate.route.kind);
    for (SharedCounters *counters :
         {&buffer_->counters, &storage().counters(), &storage().runtime()->counters.here()}) {
        counters->update([&](Counters &sum) {
            if (result != PI_SUCCESS) {
                ++sum.failed_attempts;
                return;
            }
            ++sum.transfers[kind];
            if (part_.coherence_sync) {
                ++sum.coherence_syncs;
                return;
            }
            if (!part_.on_the_way) {
                sum.bytes_delivered += bytes;
                sum.bytes[kind] += bytes;
            }
            for (const Hop &hop : candidate.route.hops) {
                sum.link_bytes[{hop.from, hop.to}] += bytes;
            }
        });
    }
}

} // namespace pi::runtime
