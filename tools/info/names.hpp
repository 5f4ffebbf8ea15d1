// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names for the specification's numbers: one table each, the same for people and for programs.
// "unknown" stands for a number that is newer than this program.
#pragma once

#include <pi/pi_loader.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pi_info {

std::string status_name(pi_plugin_status status);
std::string kind_name(pi_device_type type);
std::string backend_name(uint32_t backend);
std::string connection_name(pi_memory_connection connection);
std::string verified_name(pi_verified verified);
std::string coherence_name(pi_coherence coherence);
std::string residency_name(pi_residency residency);
std::string concurrent_writers_name(pi_concurrent_writers writers);
std::string copy_path_name(pi_copy_path path);
std::string preferred_queue_name(pi_preferred_queue queue);
std::string link_name(pi_link_kind link);

/// The names of the bits that are set; "bit 27" for a bit without a name.
std::vector<std::string> capability_names(uint64_t capabilities);
std::vector<std::string> scope_flag_names(uint64_t flags);
std::vector<std::string> offset_mode_names(uint64_t modes);
std::vector<std::string> program_format_names(uint64_t formats);

} // namespace pi_info
