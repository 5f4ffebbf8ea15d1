// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "executor.hpp"

namespace pi::host {

Executor::ThreadState &Executor::thread_state() {
    static thread_local ThreadState state;
    return state;
}

Executor::EnqueueScope::EnqueueScope(const sdk::Command *command, bool blocking)
    : command_(command), blocking_(blocking), before_(std::exchange(thread_state().scope, this)) {}

Executor::EnqueueScope::~EnqueueScope() {
    thread_state().scope = before_;
}

bool Executor::runs_here(const sdk::Command *command, Cost cost) const {
    if (cost == Cost::NONE)
        return true;
    if (cost == Cost::PLUGIN_THREAD)
        return false;
    const ThreadState &state = thread_state();
    const bool enqueueing = state.scope && state.scope->command_ == command;
    if (enqueueing && state.scope->blocking_)
        return true;
    return cost <= Cost::SMALL && (enqueueing || state.executor == this);
}

} // namespace pi::host
