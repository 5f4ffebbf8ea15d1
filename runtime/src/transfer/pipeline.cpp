// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planning/path.hpp"
#include "planning/portions.hpp"
#include "transfer/plugin_transport.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace pi::runtime {
namespace {

/// Portions go from station to station: the source, slots_a_place at each place on the way, the
/// destination. A portion leaves a station when there is a free slot at the next one; its own slot
/// is free once it has arrived there. One portion at a time crosses each link, so they arrive in
/// order.
class Pipeline : public std::enable_shared_from_this<Pipeline> {
public:
    Pipeline(std::shared_ptr<Commands> commands, const TransferRequest &request, TransferDone done)
        : commands_(std::move(commands)), request_(request), done_(std::move(done)),
          unsent_(portions(request.ranges, std::max<uint64_t>(1, request.route.chunk))),
          links_(request.route.hops.size()) {
        missing_ = unsent_.size();
    }

    void start(StagingPool &pool) {
        std::vector<StagingPool::Need> needs;
        const size_t slots = std::min<size_t>(slots_a_place, missing_);
        uint64_t largest = 0;
        for (const RangeSet &portion : unsent_) {
            largest = std::max(largest, portion.bytes());
        }
        for (size_t hop = 0; hop + 1 < links_.size(); ++hop) {
            const Hop &in = request_.route.hops[hop], &out = request_.route.hops[hop + 1];
            needs.insert(needs.end(), slots, {in.to, largest, in.from, out.to});
        }
        pool.take(std::move(needs),
                  [self = shared_from_this(), slots](std::vector<StagingPool::Lease> leases,
                                                     pi_result result, const std::string &text) {
                      if (result != PI_SUCCESS) {
                          self->finish(result, text);
                          return;
                      }
                      run_step(*self, [&] { self->on_granted(std::move(leases), slots); });
                  });
    }

    /// Sends nothing more, and ends when the commands under way have ended. The first reason
    /// counts.
    void finish(pi_result result, const std::string &text) {
        note(result, text);
        end_if_over();
    }

private:
    /// A portion in a slot, ready to go on.
    struct Staged {
        RangeSet ranges;
        size_t slot;
        Commands::After arrival{}; // the command that wrote it
    };
    struct Link {
        bool busy = false;
        Commands::After command{}; // while it is busy
        std::vector<size_t> free;  // slots at its end; unused for the last link
        std::deque<Staged> ready;  // portions that have crossed it
    };

    void note(pi_result result, const std::string &text) {
        if (result != PI_SUCCESS && result_ == PI_SUCCESS) {
            result_ = result;
            text_ = text_if_possible(text);
        }
    }

    bool is_last(size_t link) const { return link + 1 == links_.size(); }

    void on_granted(std::vector<StagingPool::Lease> leases, size_t slots) {
        slots_ = std::move(leases);
        departures_.resize(slots_.size());
        size_t next = 0;
        for (size_t link = 0; !is_last(link); ++link) {
            for (size_t slot = 0; slot < slots; ++slot) {
                links_[link].free.push_back(next++);
            }
        }
        pump();
    }

    Endpoint slot_at(PlaceIndex place, size_t slot) const {
        return {place, slots_[slot].mem(), slots_[slot].host(), 0, true};
    }

    /// Starts all that can go on. Last links first: they make room for the ones before.
    void pump() {
        for (size_t link = links_.size(); link-- > 0 && result_ == PI_SUCCESS;) {
            send(link);
        }
        end_if_over();
    }

    void end_if_over() {
        const bool over = missing_ == 0 || result_ != PI_SUCCESS;
        if (over && in_flight_ == 0 && !finished_) {
            finished_ = true;
            request_.after = std::move(last_);
            report_last(request_);
            links_.clear(); // before done: no handle may outlive the wait for this transfer
            departures_.clear();
            slots_.clear();
            done_(result_, text_);
        }
    }

    void send(size_t index) {
        Link &link = links_[index];
        const bool waiting = index == 0 ? !unsent_.empty() : !links_[index - 1].ready.empty();
        if (link.busy || !waiting || (!is_last(index) && link.free.empty())) {
            return;
        }
        const Hop &hop = request_.route.hops[index];
        Staged portion{{}, 0, {}};
        Endpoint from = endpoint_of(request_.source);
        if (index == 0) {
            portion.ranges = std::move(unsent_.front());
            unsent_.pop_front();
        } else {
            portion = std::move(links_[index - 1].ready.front());
            links_[index - 1].ready.pop_front();
            from = slot_at(hop.from, portion.slot);
        }
        const size_t left = portion.slot;
        // The command that wrote the portion, and the last one in the slot that it goes to.
        Commands::After after =
            index == 0 ? std::exchange(request_.after, {}) : std::move(portion.arrival);
        Endpoint to = endpoint_of(request_.destination);
        if (!is_last(index)) {
            portion.slot = link.free.back();
            link.free.pop_back();
            to = slot_at(hop.to, portion.slot);
            after.push_back(std::move(departures_[portion.slot]));
        }
        const RangeSet ranges = portion.ranges;
        const TransferDone arrived = [self = shared_from_this(), index, left,
                                      portion = std::move(portion)](pi_result result,
                                                                    const std::string &text) {
            --self->in_flight_;
            run_step(*self, [&] { self->on_arrived(index, left, portion, result, text); });
        };
        link.busy = true;
        ++in_flight_;
        Commands::After command = commands_->move(from, to, ranges, arrived, after);
        if (!command.empty()) { // else it could not be submitted, and this may be over
            link.command = std::move(command);
        }
    }

    void on_arrived(size_t index, size_t left, Staged portion, pi_result result,
                    const std::string &text) {
        portion.arrival = std::move(links_[index].command);
        links_[index].busy = false;
        note(result, text);
        if (index > 0) {
            links_[index - 1].free.push_back(left);
            departures_[left] =
                portion.arrival.empty() ? Submitted() : another(portion.arrival.front());
        }
        if (is_last(index)) {
            --missing_;
            last_ = std::move(portion.arrival);
        } else {
            links_[index].ready.push_back(std::move(portion));
        }
        pump();
    }

    const std::shared_ptr<Commands> commands_;
    TransferRequest request_;
    const TransferDone done_;
    std::deque<RangeSet> unsent_;
    std::vector<Link> links_; // by hop
    std::vector<StagingPool::Lease> slots_;
    std::vector<Submitted> departures_; // by slot: the command that read its last portion
    Commands::After last_;              // command of those that are over
    size_t missing_ = 0;                // portions that are not at the destination
    size_t in_flight_ = 0;
    bool finished_ = false;
    pi_result result_ = PI_SUCCESS;
    std::string text_;
};

} // namespace

void run_pipeline(const std::shared_ptr<Commands> &commands,
                  const std::shared_ptr<StagingPool> &pool, const TransferRequest &request,
                  TransferDone done) {
    std::make_shared<Pipeline>(commands, request, std::move(done))->start(*pool);
}

} // namespace pi::runtime
