// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check of one call: that of its arguments (pi/describe/checks), and what no plugin can know.
#pragma once

#include "layers/validate/validator.hpp"

#include <pi/describe/checks/check.hpp>

namespace pi::loader::validate {

using checks::Hex;
using checks::Name;

/// Facts from a call's first arguments.
struct Place {
    pi_context context = nullptr; ///< nullptr: none, or unknown
    pi_device device = nullptr;
    const QueueFacts *queue = nullptr;   ///< for commands; nullptr: unknown
    const void *queue_handle = nullptr;  ///< for commands
    bool view = false;                   ///< the call creates a view
    const MemoryFacts *memory = nullptr; ///< for views: the viewed memory; nullptr: unknown
    uint32_t wait_count = 0;
    const pi_event *wait_list = nullptr;
};

/// A vendor's values are left to the plugin.
class Check : public checks::Check {
public:
    Check(Validator &validator, const char *function) noexcept
        : checks::Check(checks::VendorValues::ACCEPTED), validator_(validator),
          function_(function) {}

    Validator &validator() const noexcept { return validator_; }

    /// Logs the refusal and sets it for piGetLastError; returns its code.
    [[gnu::cold, gnu::noinline]] pi_result report() noexcept {
        return guarded(function_, [&] {
            return validator_.refuse(code(), fmt::format("{}: {}", function_, text()));
        });
    }

private:
    Validator &validator_;
    const char *function_;
};

/// PI_ERROR_INVALID_DEVICE unless the device is one of the context's, as far as these are known.
void check_member(Check &check, pi_context context, pi_device device, const Name &name) noexcept;

/// The checks of each descriptor's members. `Place`: facts from the call's first arguments.
void check_members(Check &check, const Place &place, const pi_native_desc &desc);
void check_members(Check &check, const Place &place, const pi_device_partition_desc &desc);
void check_members(Check &check, const Place &place, const pi_context_desc &desc);
void check_members(Check &check, const Place &place, const pi_memory_connection_query &desc);
void check_members(Check &check, const Place &place, const pi_queue_desc &desc);
void check_members(Check &check, const Place &place, const pi_mem_buffer_desc &desc);
void check_members(Check &check, const Place &place, const pi_mem_image_desc &desc);
void check_members(Check &check, const Place &place, const pi_mem_partition_desc &desc);
void check_members(Check &check, const Place &place, const pi_mem_import_desc &desc);
void check_members(Check &check, const Place &place, const pi_mem_export_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_pool_desc &desc);
void check_members(Check &check, const Place &place, const pi_program_desc &desc);
void check_members(Check &check, const Place &place, const pi_program_build_desc &desc);
void check_members(Check &check, const Place &place, const pi_program_link_desc &desc);
void check_members(Check &check, const Place &place, const pi_sampler_desc &desc);
void check_members(Check &check, const Place &place, const pi_kernel_desc &desc);
void check_members(Check &check, const Place &place, const pi_host_event_desc &desc);

void check_members(Check &check, const Place &place, const pi_buffer_read_desc &desc);
void check_members(Check &check, const Place &place, const pi_buffer_write_desc &desc);
void check_members(Check &check, const Place &place, const pi_buffer_copy_desc &desc);
void check_members(Check &check, const Place &place, const pi_buffer_fill_desc &desc);
void check_members(Check &check, const Place &place, const pi_buffer_map_desc &desc);
void check_members(Check &check, const Place &place, const pi_unmap_desc &desc);
void check_members(Check &check, const Place &place, const pi_image_read_desc &desc);
void check_members(Check &check, const Place &place, const pi_image_write_desc &desc);
void check_members(Check &check, const Place &place, const pi_image_copy_desc &desc);
void check_members(Check &check, const Place &place, const pi_image_fill_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_copy_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_fill_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_prefetch_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_advise_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_alloc_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_free_desc &desc);
void check_members(Check &check, const Place &place, const pi_kernel_launch_desc &desc);
void check_members(Check &check, const Place &place, const pi_host_function_desc &desc);
void check_members(Check &check, const Place &place, const pi_events_wait_desc &desc);
void check_members(Check &check, const Place &place, const pi_barrier_desc &desc);
void check_members(Check &check, const Place &place, const pi_timestamp_desc &desc);
void check_members(Check &check, const Place &place, const pi_device_global_read_desc &desc);
void check_members(Check &check, const Place &place, const pi_device_global_write_desc &desc);

} // namespace pi::loader::validate
