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
/// The text, or none where there is no memory for it: then the result alone has to do.
std::string text_if_possible(std::string_view text) noexcept;

/// The runtime's own event: over once, with a result and a text. It joins events of different plugins.
class Completion {
public:
    using Clock = std::chrono::steady_clock;

    explicit Completion(std::shared_ptr<Continuations> continuations);

    /// Once. What was given to then() is posted; needs no memory.
    void complete(pi_result result, std::string text);
    /// Runs the continuation when this is over, always as posted work.
    void then(TransferDone continuation) { then(prepare(std::move(continuation))); }
    /// The same in two steps, of which the second needs no memory.
    Continuations::Prepared prepare(TransferDone continuation) const;
    void then(Continuations::Prepared continuation) noexcept;

    bool is_over() const;
    /// PI_SUCCESS while it is not over.
    pi_result result() const;
    std::string text() const;
    bool wait_until(Clock::time_point deadline) const;

    /// Commands of plugins that become final just before this, for waiters of the same instances.
    void set_commands(std::vector<Submitted> commands);
    std::vector<Submitted> commands() const;
    /// Empty when there is none of that instance.
    Event event_of(uint32_t instance) const;

private:
    const std::shared_ptr<Continuations> continuations_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool over_ = false;
    const std::shared_ptr<Outcome> outcome_ = std::make_shared<Outcome>(); // what waits has it, too
    Continuations::Prepared waiting_;
    std::vector<Submitted> commands_;
};

/// Something that must be over, and whether its failure is the waiter's.
struct Dependency {
    std::shared_ptr<Completion> completion;
    bool data = true;
};

/// Calls `done` as posted work once all are over: with the first failure among the data
/// dependencies, as PI_ERROR_DEPENDENCY_FAILED with the root's text, or with success. After an
/// exception it is never called.
void when_all(const std::vector<Dependency> &dependencies,
              const std::shared_ptr<Continuations> &continuations, TransferDone done);

/// The same in two steps, of which the second needs no memory. Of some dependencies, at least one.
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

/// How many things are in flight; who waits for none.
class InFlight {
public:
    void add();
    void remove();
    /// False when the time is over first.
    bool wait(Completion::Clock::time_point deadline) const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable none_;
    uint64_t count_ = 0;
};

/// now + timeout without overflow.
Completion::Clock::time_point deadline_after(std::chrono::nanoseconds timeout);

} // namespace pi::runtime
