// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs from the machine that they run on to the last check.
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

/// One program, on one thread of a simulated machine. This and the others throw Failure; `text` is
/// what was done until then.
void run_alone(Draw &shape, const std::vector<Step> &steps, Trouble trouble,
               const WrapTransport &wrap, std::string &text);

/// Programs beside each other, on one storage too. Their bytes are checked, and without trouble
/// what moved of a thread's own storages.
void run_threads(Draw &shape, const std::vector<Step> &steps, Trouble trouble, std::string &text);

/// Some of the steps, on one thread or several, on all devices that a plugin finds: the bytes are
/// checked.
void run_on_driver(const std::string &plugin, Draw &shape, const std::vector<Step> &steps,
                   std::string &text);

} // namespace random_programs
