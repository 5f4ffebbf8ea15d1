// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "timed_machine.hpp"

#include <catch2/catch.hpp>

#include <cmath>

namespace runtime_test {

void check_within_5_percent(double seconds, double predicted) {
    INFO("took " << seconds * 1e6 << " us, predicted " << predicted * 1e6 << " us");
    CHECK(std::abs(seconds - predicted) <= 0.05 * predicted);
}

/// Delays the first command of each transfer until an event.
class TimedMachine::Gated final : public Transport {
public:
    explicit Gated(std::shared_ptr<Transport> inner) : inner_(std::move(inner)) {}
    /// Call it only while no transfer is in flight.
    void set_gate(Submitted gate) { gate_ = std::move(gate); }
    void start(const TransferRequest &request, TransferDone done) override {
        TransferRequest gated = request;
        gated.after.push_back(gate_);
        inner_->start(gated, std::move(done));
    }

private:
    const std::shared_ptr<Transport> inner_;
    Submitted gate_;
};

TimedMachine::TimedMachine(const std::string &path, uint32_t contexts,
                           const std::optional<CostTable> &costs, uint64_t bounce_limit)
    : machine_(path, contexts), runtime_(machine_.topology(), [&] {
          RuntimeOptions options;
          options.costs = costs;
          options.bounce_limit = bounce_limit;
          options.wrap_transport = [this](std::shared_ptr<Transport> inner) {
              return gated_ = std::make_shared<Gated>(std::move(inner));
          };
          return options;
      }()) {}

Storage TimedMachine::storage(uint64_t size, PlaceIndex source, RouteMask routes,
                              StyleMask styles) const {
    StorageDescriptor description;
    description.size = size;
    description.routes = routes;
    description.styles = styles;
    Storage storage(runtime_, description);
    storage.buffer().acquire(source, Access::discard_write).release();
    REQUIRE(runtime_.finish(patience));
    return storage;
}

Storage TimedMachine::staged(uint64_t size, PlaceIndex source) const {
    return storage(size, source, mask_of(RouteKind::host_bounce), mask_of(BounceStyle::staged));
}

Candidate TimedMachine::chosen(const Storage &storage, PlaceIndex destination) {
    const Explanation explanation = storage.buffer().explain(destination);
    INFO(explanation.text);
    REQUIRE(explanation.parts.size() == 1);
    REQUIRE(explanation.parts[0].candidates.at(0).possible);
    return explanation.parts[0].candidates[0];
}

double TimedMachine::seconds_of(const std::function<void()> &work) const {
    machine_.reset_links();
    const uint64_t begin = machine_.pass_time();
    work();
    REQUIRE(runtime_.finish(patience));
    return static_cast<double>(machine_.pass_time() - begin) * 1e-9;
}

double TimedMachine::read_seconds(const Storage &storage, PlaceIndex destination) const {
    return seconds_of([&] { storage.buffer().acquire(destination, Access::read).wait(patience); });
}

std::vector<TimedMachine::Ended>
TimedMachine::read_together(const std::vector<Transfer> &transfers) const {
    Event gate;
    check(piEventCreateHost(machine_.topology()->context(1), nullptr, gate.out()),
          "piEventCreateHost");
    gated_->set_gate({gate, topology().place(1).instance});
    const uint64_t begin = machine_.pass_time();
    machine_.reset_links();
    std::vector<Ended> result;
    std::vector<Acquisition> uses;
    std::vector<Queue> queues;
    std::vector<Event> arrivals;
    for (const auto &[storage, destination] : transfers) {
        result.push_back({chosen(storage, destination), 0});
        const Buffer buffer = storage.buffer();
        if (destination == host_place) { // the host has no clock: the source may write afterwards
            buffer.prefetch(destination);
            uses.push_back(
                buffer.acquire(result.back().predicted.route.source, Access::discard_write));
        } else {
            uses.push_back(buffer.acquire(destination, Access::read));
        }
        queues.push_back(machine_.make_queue(uses.back().place()));
        arrivals.push_back(machine_.arrive(uses.back(), queues.back().get()));
    }
    check(piEventSignalHost(gate.get(), PI_SUCCESS), "piEventSignalHost");
    for (const Event &arrival : arrivals) {
        REQUIRE(runtime_test::wait(arrival) == PI_SUCCESS);
    }
    uses.clear();
    REQUIRE(runtime_.finish(patience));
    gated_->set_gate({});
    for (size_t index = 0; index < arrivals.size(); ++index) {
        result[index].seconds =
            static_cast<double>(machine_.end_of(arrivals[index]) - begin) * 1e-9;
    }
    return result;
}

uint64_t TimedMachine::link_bytes(PlaceIndex from, PlaceIndex to) const {
    const auto links = machine_.link_bytes();
    const auto found = links.find({from, to});
    return found == links.end() ? 0 : found->second;
}

} // namespace runtime_test
