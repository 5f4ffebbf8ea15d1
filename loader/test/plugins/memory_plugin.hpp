// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Failures that a test can inject into the memory test plugin, and its state, as an extension.
#pragma once

#include <pi/pi.h>

inline constexpr const char *memory_plugin_extension = "pi_test_memory_v1";

/// Each count is the number of next calls (or commands) of that kind that fail.
struct memory_plugin_table {
    uint64_t struct_size;
    void (*fail_map_commands)(pi_plugin plugin, uint32_t count);
    void (*fail_unmap_calls)(pi_plugin plugin, uint32_t count);
    void (*fail_events_wait_calls)(pi_plugin plugin, uint32_t count);
    void (*fail_callbacks)(pi_plugin plugin, uint32_t count);
    void (*fail_queue_creations)(pi_plugin plugin, uint32_t count);
    uint64_t (*mapped_ranges)(pi_plugin plugin);
    uint64_t (*map_calls)(pi_plugin plugin);
};
