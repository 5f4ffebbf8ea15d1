// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a test asks of the library between the plugin and the vendor's loader (planted_loader.cpp).
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

/// Lets the `nth` call of this name from now on fail with the code, and the `more` behind it. 1 is the next one.
extern "C" void pi_planted_fail(const char *name, ze_result_t code, uint64_t nth, uint64_t more);
/// Undoes it, and what else is planted.
extern "C" void pi_planted_clear();
/// How often the function of this name was called.
extern "C" uint64_t pi_planted_calls(const char *name);
/// How many of them failed.
extern "C" uint64_t pi_planted_failures(const char *name);
/// What the immediate list was made with.
extern "C" ze_command_queue_priority_t pi_planted_priority(ze_command_list_handle_t list);
/// From now on memory of devices is aligned as the driver likes, whatever is asked for.
extern "C" void pi_planted_misalign();
/// From now on devices say that they are peers to one of both questions alone.
extern "C" void pi_planted_disagree();
