// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/completion.hpp"

#include <algorithm>
#include <new>

namespace pi::runtime {

std::string text_if_possible(std::string_view text) noexcept {
    try {
        return std::string(text);
    } catch (const std::bad_alloc &) {
        return {};
    }
}

Completion::Clock::time_point deadline_after(std::chrono::nanoseconds timeout) {
    const auto now = Completion::Clock::now();
    const auto longest = std::chrono::hours(24 * 365);
    return now + std::chrono::duration_cast<Completion::Clock::duration>(
                     timeout < longest ? timeout : std::chrono::nanoseconds(longest));
}

Completion::Completion(std::shared_ptr<Continuations> continuations)
    : continuations_(std::move(continuations)) {}

void Completion::complete(pi_result result, std::string text) {
    Continuations::Prepared waiting;
    {
        const std::lock_guard lock(mutex_);
        if (over_) {
            return;
        }
        over_ = true;
        outcome_->result = result; // never changes again
        outcome_->text = std::move(text);
        waiting.swap(waiting_);
    }
    changed_.notify_all();
    continuations_->post(std::move(waiting));
}

Continuations::Prepared Completion::prepare(TransferDone continuation) const {
    return Continuations::prepare([continuation = std::move(continuation),
                                   outcome = std::shared_ptr<const Outcome>(outcome_)] {
        continuation(outcome->result, outcome->text);
    });
}

void Completion::then(Continuations::Prepared continuation) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (!over_) {
            waiting_.splice(waiting_.end(), continuation);
            return;
        }
    }
    continuations_->post(std::move(continuation));
}

bool Completion::is_over() const {
    const std::lock_guard lock(mutex_);
    return over_;
}

pi_result Completion::result() const {
    const std::lock_guard lock(mutex_);
    return outcome_->result;
}

std::string Completion::text() const {
    const std::lock_guard lock(mutex_);
    return outcome_->text;
}

bool Completion::wait_until(Clock::time_point deadline) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [this] { return over_; });
}

void Completion::set_commands(std::vector<Submitted> commands) {
    const std::lock_guard lock(mutex_);
    commands_ = std::move(commands);
}

std::vector<Submitted> Completion::commands() const {
    const std::lock_guard lock(mutex_);
    return commands_;
}

Event Completion::event_of(uint32_t instance) const {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(commands_.begin(), commands_.end(),
                     [instance](const Submitted &each) { return each.instance == instance; });
    return found == commands_.end() ? Event() : found->event;
}

struct PreparedWait::Join {
    std::mutex mutex;
    size_t left;
    pi_result result = PI_SUCCESS;
    std::string text;
    TransferDone done;

    void one_is_over(bool data, pi_result its_result, const std::string &its_text) {
        {
            const std::lock_guard lock(mutex);
            if (data && its_result != PI_SUCCESS && result == PI_SUCCESS) {
                result = PI_ERROR_DEPENDENCY_FAILED;
                text = text_if_possible(its_text);
            }
            if (--left != 0) {
                return;
            }
        }
        done(result, text);
    }
};

PreparedWait::PreparedWait(const std::vector<Dependency> &dependencies, TransferDone done) {
    const auto join = std::make_shared<Join>();
    join->left = dependencies.size();
    join->done = std::move(done);
    all_.reserve(dependencies.size());
    for (const Dependency &dependency : dependencies) {
        all_.push_back({dependency.completion, dependency.completion->prepare(
                                                   [join, data = dependency.data](
                                                       pi_result result, const std::string &text) {
                                                       join->one_is_over(data, result, text);
                                                   })});
    }
}

bool PreparedWait::waits() const {
    return std::any_of(all_.begin(), all_.end(),
                       [](const Each &each) { return !each.completion->is_over(); });
}

void PreparedWait::begin() noexcept {
    for (Each &each : all_) {
        each.completion->then(std::move(each.continuation));
    }
}

void when_all(const std::vector<Dependency> &dependencies,
              const std::shared_ptr<Continuations> &continuations, TransferDone done) {
    if (dependencies.empty()) {
        continuations->post([done = std::move(done)] { done(PI_SUCCESS, {}); });
        return;
    }
    PreparedWait(dependencies, std::move(done)).begin();
}

void InFlight::add() {
    const std::lock_guard lock(mutex_);
    ++count_;
}

void InFlight::remove() {
    // Notified under the lock: a waiter may destroy this as soon as it has the lock.
    const std::lock_guard lock(mutex_);
    --count_;
    if (count_ == 0) {
        none_.notify_all();
    }
}

bool InFlight::wait(Completion::Clock::time_point deadline) const {
    std::unique_lock lock(mutex_);
    return none_.wait_until(lock, deadline, [this] { return count_ == 0; });
}

} // namespace pi::runtime
