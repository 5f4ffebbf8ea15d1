// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Command buffers: commands that are recorded once, and enqueued one by one on the queue of each
// enqueue.
#pragma once

#include "launch.hpp"
#include "memory.hpp"
#include "program.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::unified_runtime {

/// Where a recorded command is enqueued.
struct Target {
    ur_queue_handle_t queue;
    WaitList waits;
    ur_event_handle_t *out_event;
};
using Run = std::function<ur_result_t(const Target &)>;

/// The arguments of a recorded launch: values are copied, objects retained.
class RecordedArguments {
public:
    /// Also instead of an earlier one.
    void set(const ur_exp_kernel_arg_properties_t &argument);
    /// Drops those from `count` on.
    void truncate(size_t count);
    size_t size() const noexcept { return list_.size(); }
    ArgumentList list() const noexcept {
        return {list_.data(), static_cast<uint32_t>(list_.size())};
    }

private:
    struct Owner {
        std::vector<std::byte> value;
        Ref<ur_mem_handle_t_> mem;
        Ref<ur_sampler_handle_t_> sampler;
    };
    std::vector<ur_exp_kernel_arg_properties_t> list_; // by index
    std::vector<Owner> owners_;
};

struct RecordedLaunch {
    using Size3 = size_t[3];

    Ref<ur_kernel_handle_t_> kernel;
    std::vector<Ref<ur_kernel_handle_t_>> alternatives; // kernels of later updates
    RecordedArguments arguments;
    uint32_t dimensions = 0;
    Size3 offset{}, global{}, local{};
    bool has_local = false;

    WorkSizes sizes() const noexcept {
        return {dimensions, offset, global, has_local ? local : nullptr};
    }
    ur_result_t run(const Target &target) const;
    void update(const ur_exp_command_buffer_update_kernel_launch_desc_t &desc);

private:
    void update_kernel(ur_kernel_handle_t kernel);
    void update_sizes(const ur_exp_command_buffer_update_kernel_launch_desc_t &desc);
    void update_argument(const ur_exp_kernel_arg_properties_t &argument);
};

} // namespace pi::unified_runtime

/// A recorded command. The command buffer owns it.
struct ur_exp_command_buffer_command_handle_t_ : pi::unified_runtime::Handle {
    ur_exp_command_buffer_handle_t buffer = nullptr;
    std::vector<ur_exp_command_buffer_sync_point_t> after; // places of earlier commands
    pi::unified_runtime::Run run;                          // other commands than launches
    std::unique_ptr<pi::unified_runtime::RecordedLaunch> launch;
};

struct ur_exp_command_buffer_handle_t_ : pi::unified_runtime::Handle {
    ur_exp_command_buffer_handle_t_(ur_context_handle_t in, ur_device_handle_t on,
                                    const ur_exp_command_buffer_desc_t &desc);
    /// Waits for the newest enqueue.
    ~ur_exp_command_buffer_handle_t_();

    const pi::unified_runtime::Ref<ur_context_handle_t_> context;
    const pi::unified_runtime::Ref<ur_device_handle_t_> device;
    ur_exp_command_buffer_desc_t descriptor{};

    std::mutex mutex; // of all that follows
    bool finalized = false;
    std::vector<std::unique_ptr<ur_exp_command_buffer_command_handle_t_>> commands;
    pi::unified_runtime::Ref<ur_event_handle_t_> newest; // the next enqueue is ordered behind it
};
