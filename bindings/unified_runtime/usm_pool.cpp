// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools. PI 1.0 has neither a way to change a pool nor its high watermarks.
#include "functions.hpp"
#include "info.hpp"
#include "usm.hpp"

#include <pi/describe/descriptor.hpp>

#include <memory>

ur_usm_pool_handle_t_::ur_usm_pool_handle_t_(ur_context_handle_t_ &of, ur_device_handle_t_ *on,
                                             Limits limits, bool of_context)
    : context(of), device(on), is_default(of_context), owner_(of_context ? nullptr : &of),
      limits_(limits) {}

pi_usm_pool ur_usm_pool_handle_t_::pool_for(pi_usm_kind kind, pi_device on, uint64_t size) {
    const facade::Part &part = pi::unified_runtime::part_for(context, kind, on);
    const pi_device asked = on == nullptr ? part.devices.front() : on;
    const auto capabilities = pi::unified_runtime::pi_info<uint64_t, &piDeviceGetInfo>(
        asked, PI_DEVICE_INFO_CAPABILITIES);
    if ((capabilities.value_or(0) & PI_CAPABILITY_USM_POOL) == 0) {
        return nullptr;
    }
    const std::lock_guard lock(mutex_);
    if (size > limits_.pooled) {
        return nullptr;
    }
    Pool &pool = pools_[{kind, on}];
    if (!pool) {
        auto desc = pi::desc<pi_usm_pool_desc>();
        desc.kind = kind;
        desc.release_threshold = limits_.threshold;
        desc.limit = limits_.maximum;
        pi::runtime::check(piUsmPoolCreate(part.context.get(), on, &desc, pool.out()),
                           "piUsmPoolCreate");
    }
    return pool.get();
}

uint64_t ur_usm_pool_handle_t_::sum(pi_usm_pool_info name) {
    const std::lock_guard lock(mutex_);
    uint64_t total = 0;
    for (const auto &[key, pool] : pools_) {
        uint64_t bytes = 0;
        if (pool) {
            pi::runtime::check(piUsmPoolGetInfo(pool.get(), name, sizeof bytes, &bytes, nullptr),
                               "piUsmPoolGetInfo");
        }
        total += bytes;
    }
    return total;
}

ur_usm_pool_handle_t_::Limits ur_usm_pool_handle_t_::limits() {
    const std::lock_guard lock(mutex_);
    return limits_;
}

bool ur_usm_pool_handle_t_::set_threshold(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!pools_.empty()) {
        return false;
    }
    limits_.threshold = bytes;
    return true;
}

namespace pi::unified_runtime {
namespace {

using Limits = ur_usm_pool_handle_t_::Limits;

/// The limits in a pool's descriptor; NULL: none.
const ur_usm_pool_limits_desc_t *check_desc(const ur_usm_pool_desc_t *desc) {
    needed(desc);
    if ((desc->flags & UR_USM_POOL_FLAGS_MASK) != 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "a pool's flags have unknown bits");
    }
    for (const void *next = desc->pNext; next != nullptr;) {
        const auto *base = static_cast<const ur_base_desc_t *>(next);
        if (base->stype == UR_STRUCTURE_TYPE_USM_POOL_LIMITS_DESC) {
            return static_cast<const ur_usm_pool_limits_desc_t *>(next);
        }
        next = base->pNext;
    }
    return nullptr;
}

ur_usm_pool_handle_t make_pool(ur_context_handle_t_ &context, ur_device_handle_t device,
                               const Limits &limits, const ur_usm_pool_desc_t &desc) {
    auto pool = std::make_unique<ur_usm_pool_handle_t_>(context, device, limits);
    pool->zeroed = (desc.flags & UR_USM_POOL_FLAG_ZERO_INITIALIZE_BLOCK) != 0;
    return pool.release();
}

/// The pools that belong to contexts, and are released with them.
struct DefaultPools {
    using Key = std::pair<ur_context_handle_t_ *, ur_device_handle_t_ *>;
    std::mutex mutex;
    std::map<Key, std::unique_ptr<ur_usm_pool_handle_t_>> pools;
};
DefaultPools &default_pools() {
    // Never destroyed: contexts may be released after static objects.
    static DefaultPools *const pools = new DefaultPools;
    return *pools;
}

void drop_default_pools(void *context) {
    const std::lock_guard lock(default_pools().mutex);
    std::erase_if(default_pools().pools,
                  [context](const auto &each) { return each.first.first == context; });
}

ur_usm_pool_handle_t default_pool(ur_context_handle_t_ &context, ur_device_handle_t_ &device) {
    const std::lock_guard lock(default_pools().mutex);
    auto &pool = default_pools().pools[{&context, &device}];
    if (pool == nullptr) {
        const std::lock_guard deleters(context.deleters_mutex);
        context.deleters.emplace_back(&drop_default_pools, &context);
        pool = std::make_unique<ur_usm_pool_handle_t_>(context, &device, Limits{}, true);
    }
    return pool.get();
}

ur_usm_pool_handle_t_ &check_pool(ur_context_handle_t context, ur_device_handle_t device,
                                  ur_usm_pool_handle_t pool) {
    deref(context).check_device(&deref(device));
    if (&deref(pool).context != context) {
        throw Refusal(UR_RESULT_ERROR_INVALID_VALUE, "the pool is of another context");
    }
    return *pool;
}

bool is_info(ur_usm_pool_info_t name) {
    return name <= UR_USM_POOL_INFO_CONTEXT || (name >= UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP &&
                                                name <= UR_USM_POOL_INFO_USED_HIGH_EXP);
}
void check_info(ur_usm_pool_info_t name) {
    if (!is_info(name)) {
        throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION,
                      std::to_string(name) + " is not an info of pools");
    }
}

void answer_info(ur_usm_pool_handle_t_ &pool, ur_usm_pool_info_t name, const InfoAnswer &answer) {
    switch (name) {
    case UR_USM_POOL_INFO_REFERENCE_COUNT:
        return answer(pool.references.load());
    case UR_USM_POOL_INFO_CONTEXT:
        return answer(&pool.context);
    case UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP:
        return answer(static_cast<size_t>(pool.limits().threshold));
    case UR_USM_POOL_INFO_MAXIMUM_SIZE_EXP:
        return answer(static_cast<size_t>(pool.limits().maximum));
    case UR_USM_POOL_INFO_RESERVED_CURRENT_EXP:
        return answer(static_cast<size_t>(pool.sum(PI_USM_POOL_INFO_RESERVED)));
    case UR_USM_POOL_INFO_USED_CURRENT_EXP:
        return answer(static_cast<size_t>(pool.sum(PI_USM_POOL_INFO_USED)));
    default:
        unknown_info(name);
    }
}

ur_result_t get_info(ur_usm_pool_handle_t pool, ur_usm_pool_info_t name, size_t size, void *value,
                     size_t *out_size) {
    return boundary([&] {
        deref(pool);
        check_info(name);
        answer_info(*pool, name, InfoAnswer(size, value, out_size));
    });
}

ur_result_t get_default_pool(ur_context_handle_t context, ur_device_handle_t device,
                             ur_usm_pool_handle_t *out_pool) {
    return boundary([&] {
        deref(context).check_device(&deref(device));
        *needed(out_pool) = default_pool(*context, *device);
    });
}

} // namespace

ur_result_t UR_APICALL urUSMPoolCreate(ur_context_handle_t context, ur_usm_pool_desc_t *desc,
                                       ur_usm_pool_handle_t *out_pool) {
    return boundary([&] {
        deref(context);
        needed(out_pool);
        Limits limits;
        if (const auto *given = check_desc(desc); given != nullptr && given->maxPoolableSize != 0) {
            limits.pooled = given->maxPoolableSize;
        }
        *out_pool = make_pool(*context, nullptr, limits, *desc);
    });
}

ur_result_t UR_APICALL urUSMPoolGetInfo(ur_usm_pool_handle_t pool, ur_usm_pool_info_t name,
                                        size_t size, void *value, size_t *out_size) {
    return get_info(pool, name, size, value, out_size);
}

ur_result_t UR_APICALL urUSMPoolGetInfoExp(ur_usm_pool_handle_t pool, ur_usm_pool_info_t name,
                                           void *value, size_t *out_size) {
    return get_info(pool, name, value == nullptr ? 0 : SIZE_MAX, value, out_size);
}

ur_result_t UR_APICALL urUSMPoolCreateExp(ur_context_handle_t context, ur_device_handle_t device,
                                          ur_usm_pool_desc_t *desc,
                                          ur_usm_pool_handle_t *out_pool) {
    return boundary([&] {
        deref(context).check_device(&deref(device));
        needed(out_pool);
        Limits limits;
        // Here UR's two limits are those of the whole pool.
        if (const auto *given = check_desc(desc)) {
            limits.maximum = given->maxPoolableSize;
            limits.threshold = given->minDriverAllocSize;
        }
        *out_pool = make_pool(*context, device, limits, *desc);
    });
}

ur_result_t UR_APICALL urUSMPoolDestroyExp(ur_context_handle_t context, ur_device_handle_t device,
                                           ur_usm_pool_handle_t pool) {
    return boundary([&] {
        if (check_pool(context, device, pool).is_default) {
            throw Refusal(UR_RESULT_ERROR_INVALID_VALUE, "a default pool belongs to its context");
        }
        release(pool);
    });
}

ur_result_t UR_APICALL urUSMPoolGetDefaultDevicePoolExp(ur_context_handle_t context,
                                                        ur_device_handle_t device,
                                                        ur_usm_pool_handle_t *out_pool) {
    return get_default_pool(context, device, out_pool);
}

/// The current pool is always the default pool.
ur_result_t UR_APICALL urUSMPoolGetDevicePoolExp(ur_context_handle_t context,
                                                 ur_device_handle_t device,
                                                 ur_usm_pool_handle_t *out_pool) {
    return get_default_pool(context, device, out_pool);
}

ur_result_t UR_APICALL urUSMPoolSetDevicePoolExp(ur_context_handle_t context,
                                                 ur_device_handle_t device,
                                                 ur_usm_pool_handle_t pool) {
    return boundary([&] {
        if (check_pool(context, device, pool).is_default && pool->device == device) {
            return;
        }
        throw Refusal(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "a device's current pool is its default pool");
    });
}

ur_result_t UR_APICALL urUSMPoolSetInfoExp(ur_usm_pool_handle_t pool, ur_usm_pool_info_t name,
                                           void *value, size_t size) {
    return boundary([&] {
        deref(pool);
        check_info(name);
        needed(value);
        if (name != UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP) {
            unknown_info(name);
        }
        size_t bytes = 0;
        if (size < sizeof bytes) {
            throw Refusal(UR_RESULT_ERROR_INVALID_SIZE,
                          "a release threshold has " + std::to_string(sizeof bytes) + " bytes");
        }
        std::memcpy(&bytes, value, sizeof bytes);
        if (!pool->set_threshold(bytes)) {
            throw Refusal(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the release threshold of a pool that is in use");
        }
    });
}

ur_result_t UR_APICALL urUSMPoolTrimToExp(ur_context_handle_t context, ur_device_handle_t device,
                                          ur_usm_pool_handle_t pool, size_t bytes_to_keep) {
    return boundary([&] {
        if (check_pool(context, device, pool).sum(PI_USM_POOL_INFO_RESERVED) > bytes_to_keep) {
            throw Refusal(UR_RESULT_ERROR_UNSUPPORTED_FEATURE, "a pool of PI cannot be trimmed");
        }
    });
}

} // namespace pi::unified_runtime
