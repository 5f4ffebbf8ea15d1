// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complete runs of random programs, from the machine's setup to the last check.
#pragma once

#include "draw.hpp"
#include "machine_file.hpp"

#include <pi/runtime/transfer.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace random_programs {

using WrapTransport =
    std::function<std::shared_ptr<pi::runtime::Transport>(std::shared_ptr<pi::runtime::Transport>)>;

/// Runs one program on one thread of a simulated machine. Like the other functions it throws
/// Failure; `text` lists the steps until then.
void run_alone(Draw &shape, const std::vector<Step> &steps, Trouble trouble,
               const WrapTransport &wrap, std::string &text);

/// Runs programs on several threads at the same time, which also share one storage. Checks their
/// bytes; without trouble also the bytes moved of each thread's own storages.
void run_threads(Draw &shape, const std::vector<Step> &steps, Trouble trouble, std::string &text);

/// Runs some of the steps, on one thread or several, on all devices that a plugin finds. Checks the
/// bytes.
void run_on_driver(const std::string &plugin, Draw &shape, const std::vector<Step> &steps,
                   std::string &text);

} // namespace random_programs
