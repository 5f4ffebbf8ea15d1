// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "timed_machine.hpp"

#include <catch2/catch.hpp>

namespace runtime_test {

TimedMachine::TimedMachine(const std::string &path, uint32_t contexts,
                           const std::optional<CostTable> &costs, uint64_t bounce_limit)
    : machine_(path, contexts), runtime_(machine_.topology(), [&] {
          RuntimeOptions options;
          options.costs = costs;
          options.bounce_limit = bounce_limit;
          return options;
      }()) {}

Storage TimedMachine::storage(uint64_t size, PlaceIndex source, RouteMask routes,
                              StyleMask styles) const {
    StorageDescription description;
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

double TimedMachine::together_seconds(const std::vector<Transfer> &transfers) const {
    Event gate;
    check(piEventCreateHost(machine_.topology()->context(1), gate.out()), "piEventCreateHost");
    return seconds_of([&] {
        std::vector<Acquisition> reads;
        for (const Transfer &transfer : transfers) {
            const Buffer buffer = transfer.storage.buffer();
            buffer.acquire(transfer.source, Access::discard_write).release(gate.get());
            reads.push_back(buffer.acquire(transfer.destination, Access::read));
        }
        check(piEventSignalHost(gate.get(), PI_SUCCESS), "piEventSignalHost");
        for (const Acquisition &read : reads) {
            read.wait(patience);
        }
    });
}

uint64_t TimedMachine::link_bytes(PlaceIndex from, PlaceIndex to) const {
    const auto links = machine_.link_bytes();
    const auto found = links.find({from, to});
    return found == links.end() ? 0 : found->second;
}

} // namespace runtime_test
