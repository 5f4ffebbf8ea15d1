// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels.hpp"
#include "tests/usm.hpp"

#include <optional>
#include <tuple>
#include <vector>

namespace pi::suite {

/// A valid descriptor of every command that the device has, with its objects, for tests of all
/// commands.
class Samples {
public:
    explicit Samples(Fixture &fixture);
    ~Samples();
    Samples(const Samples &) = delete;
    Samples &operator=(const Samples &) = delete;

    pi_queue queue() const { return queue_; }

    /// Calls visit(desc) with a valid descriptor of each command. An unmap's pointer is mapped, so
    /// enqueue it at most once; call clean_up() after a map.
    template <typename Visit>
    void for_each(Visit &&visit) {
        visit(read_);
        visit(write_);
        visit(copy_);
        visit(fill_);
        visit(map_);
        visit(unmap_);
        visit(pi::desc<pi_events_wait_desc>());
        visit(pi::desc<pi_barrier_desc>());
        if (fixture_.can(PI_CAPABILITY_TIMESTAMP))
            visit(pi::desc<pi_timestamp_desc>());
        if (fixture_.can(PI_CAPABILITY_HOST_FUNCTION))
            visit(function_);
        if (launch_)
            visit(*launch_);
        if (fixture_.can(PI_CAPABILITY_USM)) {
            visit(usm_copy_);
            visit(usm_fill_);
            visit(usm_prefetch_);
            visit(usm_advise_);
        }
        if (variables_) {
            visit(global_read_);
            visit(global_write_);
        }
        if (fixture_.can(PI_CAPABILITY_IMAGE)) {
            visit(image_read_);
            visit(image_write_);
            visit(image_copy_);
            visit(image_fill_);
        }
    }

    /// After a command of for_each has been enqueued with success: waits for it, and undoes a map.
    template <typename Desc>
    void clean_up(const Desc &, pi_event event) {
        fixture_.wait(event, Description<Desc>::name);
    }
    void clean_up(const pi_buffer_map_desc &desc, pi_event event);

    /// Descriptors whose command cannot succeed twice.
    template <typename Desc>
    static constexpr bool only_once = std::is_same_v<Desc, pi_unmap_desc>;

private:
    void describe_buffers();
    void describe_launch();
    void describe_usm();
    void describe_globals();
    void describe_images();

    Fixture &fixture_;
    Queue queue_;
    Mem a_;
    Mem b_;
    Mem mapped_mem_;
    Bytes host_;
    Bytes color_;
    pi_region region_;
    void *mapped_ = nullptr;
    void *out_pointer_ = nullptr;
    Program program_;
    Kernel kernel_;
    Arguments arguments_;
    std::optional<Usm> usm_;
    Program variables_;
    Mem image_a_;
    Mem image_b_;
    pi_image_region image_region_{};
    pi_image_copy_region image_copy_region_{};

    pi_buffer_read_desc read_ = pi::desc<pi_buffer_read_desc>();
    pi_buffer_write_desc write_ = pi::desc<pi_buffer_write_desc>();
    pi_buffer_copy_desc copy_ = pi::desc<pi_buffer_copy_desc>();
    pi_buffer_fill_desc fill_ = pi::desc<pi_buffer_fill_desc>();
    pi_buffer_map_desc map_ = pi::desc<pi_buffer_map_desc>();
    pi_unmap_desc unmap_ = pi::desc<pi_unmap_desc>();
    pi_host_function_desc function_ = pi::desc<pi_host_function_desc>();
    std::optional<pi_kernel_launch_desc> launch_;
    pi_usm_copy_desc usm_copy_ = pi::desc<pi_usm_copy_desc>();
    pi_usm_fill_desc usm_fill_ = pi::desc<pi_usm_fill_desc>();
    pi_usm_prefetch_desc usm_prefetch_ = pi::desc<pi_usm_prefetch_desc>();
    pi_usm_advise_desc usm_advise_ = pi::desc<pi_usm_advise_desc>();
    pi_device_global_read_desc global_read_ = pi::desc<pi_device_global_read_desc>();
    pi_device_global_write_desc global_write_ = pi::desc<pi_device_global_write_desc>();
    pi_image_read_desc image_read_ = pi::desc<pi_image_read_desc>();
    pi_image_write_desc image_write_ = pi::desc<pi_image_write_desc>();
    pi_image_copy_desc image_copy_ = pi::desc<pi_image_copy_desc>();
    pi_image_fill_desc image_fill_ = pi::desc<pi_image_fill_desc>();
};

} // namespace pi::suite
