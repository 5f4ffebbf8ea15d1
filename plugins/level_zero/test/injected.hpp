// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tests' interface to the library between the plugin and the vendor's loader
// (injecting_loader.cpp).
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

/// Fails the `nth` call of this name from now on (1 is the next), and the `more` after it, with the
/// code.
extern "C" void pi_injected_fail(const char *name, ze_result_t code, uint64_t nth, uint64_t more);
/// Ends all injected faults.
extern "C" void pi_injected_clear();
/// How often the function of this name was called.
extern "C" uint64_t pi_injected_calls(const char *name);
/// How many of these calls failed.
extern "C" uint64_t pi_injected_failures(const char *name);
/// The priority with which the immediate list was created.
extern "C" ze_command_queue_priority_t pi_injected_priority(ze_command_list_handle_t list);
/// From now on device memory is not aligned as requested.
extern "C" void pi_injected_misalign();
/// From now on only one of the two queries reports devices as peers.
extern "C" void pi_injected_disagree();
