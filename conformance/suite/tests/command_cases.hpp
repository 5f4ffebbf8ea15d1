// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One command of each kind and checks of its effect, for tests of all commands: they delay it, let
// it fail, have it refused, and check what it has done.
#pragma once

#include "fixture.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pi::suite {

/// A command on the fixture's place, to be enqueued once.
class CommandCase {
public:
    explicit CommandCase(std::string name) : name_(std::move(name)) {}
    virtual ~CommandCase() = default;

    const std::string &name() const { return name_; }

    /// As the command's function: flags are PI_COMMAND_, the rest as given.
    virtual pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                              const pi_event *wait_list, pi_event *out_event) = 0;
    /// Changes the command's memory by a command of `other` while the command must wait: if it has
    /// run already, require_done() fails.
    virtual void disturb(pi_queue other) { static_cast<void>(other); }
    /// The command had no effect. Legal while it must wait, and if it never runs.
    virtual void require_undone(pi_queue other) { static_cast<void>(other); }
    /// The command had its whole effect. Legal when its event is complete with success.
    virtual void require_done(pi_queue other) { static_cast<void>(other); }
    /// Releases the command's objects, which it must keep alive: those that it reads, or those that
    /// it changes, too. require_done() is legal if it was only the former.
    virtual void release(bool changed) { static_cast<void>(changed); }
    /// Undoes what prevents releasing everything, as a map, whether the command has run or not.
    virtual void clean_up(pi_queue other) { static_cast<void>(other); }

    /// Enqueues it; the call must succeed.
    Event start(pi_queue queue, const Waits &waits = {}, uint64_t flags = 0);

private:
    std::string name_;
};

using CommandCases = std::vector<std::unique_ptr<CommandCase>>;

/// A read, write, copy, fill, map, unmap, events wait and barrier; a launch, a host function, a
/// timestamp and the commands on USM, images and device globals where the device has them.
CommandCases make_command_cases(Fixture &fixture);

/// Parts of make_command_cases().
void add_usm_command_cases(Fixture &fixture, CommandCases &commands);
void add_image_command_cases(Fixture &fixture, CommandCases &commands);
void add_global_command_cases(Fixture &fixture, CommandCases &commands);

} // namespace pi::suite
