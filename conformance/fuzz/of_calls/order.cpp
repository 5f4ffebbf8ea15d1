// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"

#include <algorithm>

namespace pi::fuzz {

Program::Submission Program::begin(std::initializer_list<Use> uses, bool may_block) {
    Submission submission{.queue = below(queues_.size()),
                          .blocks = may_block && below(3) == 0,
                          .fails = false,
                          .uses = uses,
                          .waits = {}};
    if (submission.blocks) {
        open_gates(); // no other code does
    }
    const auto wait = [&](const TokenRef &token, bool needed) {
        if (token == nullptr || token->event == nullptr) {
            return;
        }
        // The queue orders them.
        if (needed && token->queue == submission.queue && submission.queue < in_order_ &&
            below(2) == 0) {
            return;
        }
        submission.waits.push_back(token->event);
        submission.fails |= token->result != PI_SUCCESS;
    };
    for (const Use &use : submission.uses) {
        wait(use.memory->writer, true);
        for (size_t i = 0; use.writes && i < use.memory->readers.size(); ++i) {
            wait(use.memory->readers[i], true);
        }
    }
    for (uint32_t count = below(4); count > 1 && !tokens_.empty(); --count) {
        wait(tokens_[below(tokens_.size())], false);
    }
    return submission;
}

Program::Outcome Program::end(Submission &submission, pi_result result) {
    if (result != PI_SUCCESS) {
        if (submission.event != nullptr) {
            finding("a command that is refused gives an event");
        }
        const bool failed =
            submission.blocks && submission.fails && result == PI_ERROR_DEPENDENCY_FAILED;
        return failed ? Outcome::failed : Outcome::refused;
    }
    TokenRef token;
    if (submission.blocks) {
        if (submission.fails) {
            finding("a command whose event failed succeeds");
        }
    } else {
        token = std::make_shared<Token>(submission.event, submission.queue,
                                        submission.fails ? PI_ERROR_DEPENDENCY_FAILED : PI_SUCCESS);
        running_.push_back(token);
        tokens_.push_back(token);
        if (tokens_.size() > 8) {
            tokens_.erase(tokens_.begin());
        }
    }
    if (submission.fails) {
        return Outcome::failed; // it did nothing, so no command has to wait for it
    }
    for (const Use &use : submission.uses) {
        if (use.writes) {
            use.memory->writer = token;
            use.memory->readers.clear();
        }
    }
    for (const Use &use : submission.uses) {
        if (!use.writes && token != nullptr && use.memory->writer != token) {
            use.memory->readers.push_back(token);
        }
    }
    return Outcome::done;
}

/// A host event, whose result is chosen in advance.
void Program::make_gate() {
    if (gates_.size() >= 4) {
        return;
    }
    static constexpr pi_result endings[] = {PI_SUCCESS, PI_SUCCESS, PI_ERROR_BACKEND,
                                            PI_ERROR_ABANDONED};
    pi_event event = nullptr;
    must(piEventCreateHost(place_.context, nullptr, &event), "piEventCreateHost");
    const pi_result ending = endings[below(std::size(endings))];
    gates_.push_back(
        {std::make_shared<Token>(event, Token::host_queue, ending), ending == PI_ERROR_ABANDONED});
    tokens_.push_back(gates_.back().token);
    if (piEventWait(event, 0) != PI_ERROR_TIMEOUT) {
        finding("a host event that nobody has signalled is no timeout");
    }
}

void Program::open_gates() {
    for (Gate &gate : gates_) {
        Token &token = *gate.token;
        if (gate.abandoned) {
            must(piEventRelease(token.event), "piEventRelease");
            token.event = nullptr;
            continue;
        }
        must(piEventSignalHost(token.event, token.result), "piEventSignalHost");
        if (piEventSignalHost(token.event, PI_SUCCESS) != PI_ERROR_INVALID_OPERATION) {
            finding("a second signal is taken");
        }
        running_.push_back(gate.token);
    }
    gates_.clear();
    std::erase_if(tokens_, [](const TokenRef &token) { return token->event == nullptr; });
}

void Program::settle() {
    open_gates();
    for (const TokenRef &token : running_) {
        const pi_result result = piEventWait(token->event, PI_TIMEOUT_NEVER);
        if (result != token->result) {
            finding("a command ends with ", result, ", not ", token->result, ": ", last_error());
        }
    }
    running_.clear();
    for (const pi_queue queue : queues_) {
        must(piQueueFinish(queue), "piQueueFinish");
    }
    for (const Read &read : reads_) {
        if (read.bytes != read.expected) {
            finding("a read gives other bytes");
        }
    }
    reads_.clear();
    host_bytes_.clear();
}

/// Commands that only wait.
void Program::order_all() {
    Submission submission = begin({});
    Outcome outcome;
    if (below(2) == 0) {
        auto desc = pi::desc<pi_events_wait_desc>();
        outcome = submit(submission, desc, piEnqueueEventsWait);
    } else {
        auto desc = pi::desc<pi_barrier_desc>();
        outcome = submit(submission, desc, piEnqueueBarrier);
    }
    if (outcome == Outcome::refused) {
        finding("a wait for events is refused: ", last_error());
    }
}

void Program::wait_for_some() {
    switch (below(4)) {
    case 0:
        return settle();
    case 1:
        return open_gates();
    case 2:
        return must(piQueueFlush(queues_[below(queues_.size())]), "piQueueFlush");
    default:
        if (!tokens_.empty()) {
            const TokenRef token = tokens_.back();
            tokens_.pop_back();
            const pi_result result = piEventWait(token->event, 0);
            if (result != PI_ERROR_TIMEOUT && result != token->result) {
                finding("an event says ", result, ", not ", token->result);
            }
        }
    }
}

} // namespace pi::fuzz
