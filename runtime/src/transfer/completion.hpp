// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "transfer/continuations.hpp"

#include <pi/runtime/handle.hpp>
#include <pi/runtime/transfer.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace pi::runtime {

/// How something ended, and why if it failed.
struct Outcome {
    pi_result result = PI_SUCCESS;
    std::string text{};
};
/// The text, or an empty one without memory: then the result alone must do.
std::string text_if_possible(std::string_view text) noexcept;

/// The runtime's own event: it completes once, with a result and a text. It joins events of
/// different plugins.
class Completion {
public:
    using Clock = std::chrono::steady_clock;

    explicit Completion(std::shared_ptr<Continuations> continuations);

    /// Once. Posts the continuations of then(); needs no memory.
    void complete(pi_result result, std::string text);
    /// Runs the continuation when this is over, always as posted work.
    void then(TransferDone continuation) { then(prepare(std::move(continuation))); }
    /// The same in two steps; the second one allocates nothing.
    Continuations::Prepared prepare(TransferDone continuation) const;
    void then(Continuations::Prepared continuation) noexcept;

    bool is_over() const;
    /// PI_SUCCESS while it is not over.
    pi_result result() const;
    std::string text() const;
    bool wait_until(Clock::time_point deadline) const;

    /// Commands of plugins that complete just before this, for waiters of the same plugin
    /// instances.
    void set_commands(std::vector<Submitted> commands);
    std::vector<Submitted> commands() const;
    /// Empty if there is none of that instance.
    Event event_of(uint32_t instance) const;

private:
    const std::shared_ptr<Continuations> continuations_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool over_ = false;
    const std::shared_ptr<Outcome> outcome_ =
        std::make_shared<Outcome>(); // shared with the continuations
    Continuations::Prepared waiting_;
    std::vector<Submitted> commands_;
};

/// A completion to wait for, and whether the waiter fails if it fails.
struct Dependency {
    std::shared_ptr<Completion> completion;
    bool data = true;
};

/// Calls `done` as posted work once all are over: with the first failure among the data
/// dependencies, as PI_ERROR_DEPENDENCY_FAILED with its text, or with success. After an exception
/// it is never called.
void when_all(const std::vector<Dependency> &dependencies,
              const std::shared_ptr<Continuations> &continuations, TransferDone done);

/// The same in two steps; the second one allocates nothing. It needs at least one dependency.
class PreparedWait {
public:
    PreparedWait(const std::vector<Dependency> &dependencies, TransferDone done);
    /// Whether one is not over yet.
    bool waits() const;
    /// Once.
    void begin() noexcept;

private:
    struct Join;
    struct Each {
        std::shared_ptr<Completion> completion;
        Continuations::Prepared continuation;
    };
    std::vector<Each> all_;
};

/// Counts things in flight, and waits until there are none.
class InFlight {
public:
    void add();
    void remove();
    /// False if the deadline passes first.
    bool wait(Completion::Clock::time_point deadline) const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable none_;
    uint64_t count_ = 0;
};

/// now + timeout without overflow.
Completion::Clock::time_point deadline_after(std::chrono::nanoseconds timeout);

} // namespace pi::runtime
