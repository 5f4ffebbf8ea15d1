// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"
#include "usm_table.hpp"

#include <pi/sdk/object.hpp>

namespace pi::host {

/// A pool's handle. What it has handed out does not depend on it.
class UsmPool : public sdk::Object<UsmPool, pi_usm_pool> {
public:
    UsmPool(Context &context, Device &device, const pi_usm_pool_desc &desc);
    ~UsmPool() { memory_->close(); }

    Context &context() const { return *context_; }
    Device &device() const { return device_; }
    pi_usm_kind usm_kind() const { return usm_kind_; }
    UsmPoolMemory &memory() const { return *memory_; }

private:
    const sdk::Ref<Context> context_;
    Device &device_;
    const pi_usm_kind usm_kind_;
    const std::shared_ptr<UsmPoolMemory> memory_;
};

/// The device of a creation call, which may be NULL for host memory: then the context's first.
/// PI_ERROR_INVALID_ENUMERATION if there is no such kind.
Device &usm_device(const Context &context, pi_device device, pi_usm_kind kind);

/// A new allocation of checked size; `alignment` 0 is the scope's, `demands` are for memory of no
/// pool. Not in the table yet.
UsmAllocation usm_allocate(const Context &context, Device &device, pi_usm_kind kind, uint64_t size,
                           uint64_t alignment, UsmPool *pool, uint64_t demands = 0);

/// The pool behind an argument, NULL for NULL. PI_ERROR_INVALID_USM_POOL unless it is of this context.
UsmPool *usm_pool(const Context &context, pi_usm_pool pool);

} // namespace pi::host
