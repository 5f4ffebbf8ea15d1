// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// USM: allocations, pools, and commands on addresses.
#pragma once

#include "enqueue.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

/// Of a context, for all kinds and devices; or of one of its devices. A pi_usm_pool is of one kind
/// and device: each is created at the first allocation that needs it.
struct ur_usm_pool_handle_t_ : pi::unified_runtime::Handle {
    struct Limits {
        uint64_t pooled = UINT64_MAX; ///< bytes of an allocation; larger ones do without the pool
        uint64_t threshold = 0;       ///< pi_usm_pool_desc::release_threshold
        uint64_t maximum = 0;         ///< pi_usm_pool_desc::limit
    };
    /// on NULL: for all devices. The context's own pool does not retain it.
    ur_usm_pool_handle_t_(ur_context_handle_t_ &of, ur_device_handle_t_ *on, Limits limits,
                          bool of_context = false);
    ~ur_usm_pool_handle_t_() { context.core->usm().disown(this); }

    ur_context_handle_t_ &context;
    ur_device_handle_t_ *const device;
    const bool is_default;
    bool zeroed = false; ///< Every allocation begins as zeros.

    /// NULL where the allocation goes without one: it is large, or the device has no pools.
    pi_usm_pool pool_for(pi_usm_kind kind, pi_device on, uint64_t size);
    /// The sum of an info (PI_USM_POOL_INFO_) of the pools that exist.
    uint64_t sum(pi_usm_pool_info name);
    Limits limits();
    /// False if a pool exists already.
    bool set_threshold(uint64_t bytes);

private:
    using Pool = pi::runtime::Handle<pi_usm_pool, &piUsmPoolRetain, &piUsmPoolRelease>;

    const pi::unified_runtime::Ref<ur_context_handle_t_> owner_; // empty for a default pool
    std::mutex mutex_;
    Limits limits_;
    std::map<std::pair<pi_usm_kind, pi_device>, Pool> pools_;
};

namespace pi::unified_runtime {

/// The part that allocates the kind; device is NULL for host memory. A Refusal for host and shared
/// memory of a context of several plugin instances: no allocation is accessible to all of them.
const facade::Part &part_for(const ur_context_handle_t_ &context, pi_usm_kind kind,
                             pi_device device);

struct UsmRequest {
    pi_usm_kind kind = 0;
    pi_device device = nullptr; ///< NULL for host memory
    ur_usm_pool_handle_t_ *pool = nullptr;
    uint64_t size = 0;
    uint64_t alignment = 0;
};
/// The PI pool of a request. A pool of another context or device is UR_RESULT_ERROR_INVALID_VALUE.
pi_usm_pool pool_of(const ur_context_handle_t_ &context, const UsmRequest &request);
/// Allocates, and adds the allocation to the context's ranges. Blocks while it becomes zeros.
void *allocate_usm(ur_context_handle_t_ &context, const UsmRequest &request);
/// Adds an allocation of PI to the context's ranges; frees it if that fails.
void add_range(ur_context_handle_t_ &context, const UsmRequest &request, void *pointer);

} // namespace pi::unified_runtime
