// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "usm_pool.hpp"

#include "entries.hpp"
#include "memory.hpp"

#include <pi/sdk/descriptor.hpp>

namespace pi::host {

using sdk::fail;
using sdk::InfoWriter;

namespace {

/// What a pool keeps for reuse when nothing else is asked for, bytes.
constexpr uint64_t default_threshold = 64 * 1024 * 1024;

} // namespace

UsmPool::UsmPool(Context &context, Device &device, const pi_usm_pool_desc &desc)
    : Object(context.host()), context_(context), device_(device), usm_kind_(desc.kind),
      memory_(std::make_shared<UsmPoolMemory>(
          device, desc.release_threshold ? desc.release_threshold : default_threshold,
          desc.limit)) {
    memory_->open(handle());
}

UsmPool *usm_pool(const Context &context, pi_usm_pool pool) {
    if (!pool)
        return nullptr;
    UsmPool &found = sdk::checked<UsmPool>(context.host(), pool, "pool");
    if (&found.context() != &context)
        fail(PI_ERROR_INVALID_USM_POOL, "pool is of another context");
    return &found;
}

namespace entries {

pi_result PI_CALL usm_pool_create(pi_context context, pi_device device,
                                  const pi_usm_pool_desc *desc, pi_usm_pool *out_pool) {
    return sdk::call<Context>(context, [&](Context &self) {
        const pi_usm_pool_desc known = sdk::read_desc(desc, PI_TYPE_USM_POOL_DESC);
        sdk::require(out_pool, "out_pool");
        sdk::check_flags(known.flags, 0, "flags");
        Device &owner = usm_device(self, device, known.kind);
        check_scope(known.scope);
        *out_pool = sdk::make<UsmPool>(self, owner, known).give();
    });
}

pi_result PI_CALL usm_pool_get_info(pi_usm_pool pool, pi_usm_pool_info name, uint64_t size,
                                    void *value, uint64_t *out_size) {
    static constexpr sdk::InfoRow<UsmPool> rows[] = {
        {PI_USM_POOL_INFO_CONTEXT,
         [](UsmPool &p, const InfoWriter &write) { write(p.context().handle()); }},
        {PI_USM_POOL_INFO_RESERVED,
         [](UsmPool &p, const InfoWriter &write) { write(p.memory().reserved()); }},
        {PI_USM_POOL_INFO_USED,
         [](UsmPool &p, const InfoWriter &write) { write(p.memory().used()); }},
        {PI_USM_POOL_INFO_REFERENCE_COUNT,
         [](UsmPool &p, const InfoWriter &write) { write(p.reference_count()); }},
    };
    return sdk::call<UsmPool>(
        pool, [&](UsmPool &self) { sdk::answer_info(self, rows, name, size, value, out_size); });
}

} // namespace entries

} // namespace pi::host
