// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/plugin_transport.hpp"

#include <pi/runtime/error.hpp>

#include <optional>

namespace pi::runtime {
namespace {

bool is_apart(const MemoryEnd &end) {
    return end.mem != nullptr && end.coherence != PI_COHERENCE_COHERENT;
}

/// First the writer's bytes come to host memory, then from there to the reader. Range by range,
/// never over the bytes between the ranges, where host memory may be newer. Only the plugin knows
/// whether imported memory that is mapped and unmapped has a copy of its own. A map for writing
/// might put that copy's old bytes over the host's newer ones, so a write command from that same
/// host memory publishes them.
class CoherenceSync : public std::enable_shared_from_this<CoherenceSync> {
public:
    CoherenceSync(std::shared_ptr<Commands> commands, const TransferRequest &request,
                  TransferDone done)
        : commands_(std::move(commands)), request_(request), done_(std::move(done)) {
        add_steps(request_.source);
        add_steps(request_.destination);
    }

    void next() {
        while (position_ < steps_.size() &&
               steps_[position_].end->coherence == PI_COHERENCE_FLUSH_INVALIDATE) {
            const Outcome answer = maintain();
            if (answer.result == PI_ERROR_WOULD_BLOCK) { // inside a callback
                commands_->call_on_thread(
                    [self = shared_from_this()] { return self->maintain(); },
                    [self = shared_from_this()](pi_result result, const std::string &text) {
                        run_step(*self, [&] { self->on_step_done(result, text); });
                    });
                return;
            }
            if (answer.result != PI_SUCCESS) {
                finish(answer.result, answer.text);
                return;
            }
            ++position_;
        }
        if (position_ == steps_.size()) {
            finish(PI_SUCCESS, {});
        } else if (is_source() && steps_[position_].end->coherence == PI_COHERENCE_MAP_UNMAP) {
            map();
        } else {
            copy();
        }
    }

    void finish(pi_result result, const std::string &text) {
        report_last(request_);
        done_(result, text);
    }

private:
    struct Step {
        const MemoryEnd *end;
        RangeSet ranges;
    };

    void add_steps(const MemoryEnd &end) {
        if (!is_apart(end)) {
            return;
        }
        const bool is_source = &end == &request_.source;
        if (end.coherence == PI_COHERENCE_FLUSH_INVALIDATE ||
            (is_source && end.coherence == PI_COHERENCE_MAP_UNMAP)) {
            for (const Range &range : request_.ranges.ranges()) {
                steps_.push_back({&end, range});
            }
        } else {
            steps_.push_back({&end, request_.ranges});
        }
    }

    bool is_source() const { return steps_[position_].end == &request_.source; }

    /// The caches of one end.
    Outcome maintain() const {
        const Step &step = steps_[position_];
        const Range range = step.ranges.hull();
        const pi_result result =
            (is_source() ? piMemInvalidate : piMemFlush)(step.end->mem, range.begin, range.size());
        if (result == PI_SUCCESS) {
            return {};
        }
        return {result, std::string(is_source() ? "piMemInvalidate of " : "piMemFlush of ") +
                            to_string(range) + " at " +
                            commands_->topology().info(step.end->place).name + ": " +
                            result_name(result) + ": " + last_error_text(result)};
    }

    void map() {
        const Step &step = steps_[position_];
        map_.emplace(commands_, *step.end, step.ranges.hull(), PI_MAP_READ);
        request_.after = map_->map(
            [self = shared_from_this()](pi_result result, const std::string &text) {
                run_step(*self, [&] { self->on_mapped(result, text); });
            },
            request_.after);
    }

    void on_mapped(pi_result result, const std::string &text) {
        if (result != PI_SUCCESS) {
            finish(result, text);
            return;
        }
        const Step &step = steps_[position_];
        const bool in_place =
            map_->pointer() == static_cast<std::byte *>(step.end->host) + step.ranges.hull().begin;
        request_.after = map_->unmap(
            [self = shared_from_this(), in_place](pi_result unmapped, const std::string &detail) {
                run_step(*self, [&] { self->on_unmapped(in_place, unmapped, detail); });
            },
            request_.after);
    }

    void on_unmapped(bool in_place, pi_result result, const std::string &text) {
        if (map_->unmap_failed()) {
            request_.after.clear();
        }
        if (result == PI_SUCCESS && !in_place) {
            finish(PI_ERROR_BACKEND,
                   "a map of imported memory is not where the memory is: " +
                       commands_->topology().info(steps_[position_].end->place).name +
                       " did not import it in place");
            return;
        }
        on_step_done(result, text);
    }

    void copy() {
        const Step &step = steps_[position_];
        const Endpoint memory = endpoint_of(*step.end);
        const Endpoint host{host_place, nullptr, step.end->host, 0, false};
        request_.after = commands_->move(
            is_source() ? memory : host, is_source() ? host : memory, step.ranges,
            [self = shared_from_this()](pi_result result, const std::string &text) {
                run_step(*self, [&] { self->on_step_done(result, text); });
            },
            request_.after);
    }

    void on_step_done(pi_result result, const std::string &text) {
        if (result != PI_SUCCESS) {
            finish(result, text);
            return;
        }
        ++position_;
        next();
    }

    const std::shared_ptr<Commands> commands_;
    TransferRequest request_; // after: its own last command, once there is one
    const TransferDone done_;
    std::vector<Step> steps_;
    size_t position_ = 0;
    std::optional<TransferMap> map_; // of the step
};

} // namespace

void sync_coherence(const std::shared_ptr<Commands> &commands, const TransferRequest &request,
                    TransferDone done) {
    std::make_shared<CoherenceSync>(commands, request, std::move(done))->next();
}

} // namespace pi::runtime
