// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin_transport.hpp"

#include <pi/runtime/error.hpp>

namespace pi::runtime {
namespace {

bool is_apart(const MemoryEnd &end) {
    return end.mem != nullptr && end.coherence != PI_COHERENCE_COHERENT;
}

/// Range by range: so that the writer's bytes reach host memory, its end is invalidated there, or mapped
/// for reading; then so that the reader looks there again, its end is flushed, or mapped for writing. Never
/// over what lies between the ranges: a flush, or an unmap for writing, might put old bytes back there.
class HandOver : public std::enable_shared_from_this<HandOver> {
public:
    HandOver(std::shared_ptr<Commands> commands, const TransferRequest &request, TransferDone done)
        : commands_(std::move(commands)), request_(request), done_(std::move(done)) {
        for (const Range &range : request_.ranges.ranges()) {
            if (is_apart(request_.source)) {
                steps_.push_back({&request_.source, range, PI_MAP_READ});
            }
            if (is_apart(request_.destination)) {
                steps_.push_back({&request_.destination, range, PI_MAP_WRITE});
            }
        }
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
            return;
        }
        const Step &step = steps_[position_];
        pointer_ = nullptr;
        request_.after = commands_->map(
            *step.end, step.range, step.flags, &pointer_,
            [self = shared_from_this()](pi_result result, const std::string &text) {
                run_step(*self, [&] { self->on_mapped(result, text); });
            },
            request_.after);
    }

    void finish(pi_result result, const std::string &text) {
        tell_last(request_);
        done_(result, text);
    }

private:
    struct Step {
        const MemoryEnd *end;
        Range range;
        uint64_t flags;
    };

    /// The caches of one end.
    Outcome maintain() const {
        const Step &step = steps_[position_];
        const bool is_source = step.end == &request_.source;
        const pi_result result = (is_source ? piMemInvalidate : piMemFlush)(
            step.end->mem, step.range.begin, step.range.size());
        if (result == PI_SUCCESS) {
            return {};
        }
        return {result, std::string(is_source ? "piMemInvalidate of " : "piMemFlush of ") +
                            to_string(step.range) + " at " +
                            commands_->topology().info(step.end->place).name + ": " +
                            result_name(result) + ": " + last_error_text(result)};
    }

    void on_mapped(pi_result result, const std::string &text) {
        if (result != PI_SUCCESS) {
            finish(result, text);
            return;
        }
        const Step &step = steps_[position_];
        const bool in_place =
            pointer_ == static_cast<std::byte *>(step.end->host) + step.range.begin;
        request_.after = commands_->unmap(
            *step.end, pointer_,
            [self = shared_from_this(), in_place](pi_result unmapped, const std::string &detail) {
                run_step(*self, [&] { self->on_unmapped(in_place, unmapped, detail); });
            },
            request_.after);
    }

    void on_unmapped(bool in_place, pi_result result, const std::string &text) {
        if (result == PI_SUCCESS && !in_place) {
            finish(PI_ERROR_BACKEND,
                   "a map of imported memory is not where the memory is: " +
                       commands_->topology().info(steps_[position_].end->place).name +
                       " did not import it in place");
            return;
        }
        on_step_done(result, text);
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
    void *pointer_ = nullptr;
};

} // namespace

void hand_over(const std::shared_ptr<Commands> &commands, const TransferRequest &request,
               TransferDone done) {
    std::make_shared<HandOver>(commands, request, std::move(done))->next();
}

} // namespace pi::runtime
