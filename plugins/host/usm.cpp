// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// USM that is allocated and freed at once, and what an address tells. The kinds differ in what they tell only: host and
// devices address one memory.
#include "entries.hpp"
#include "memory.hpp"
#include "plugin.hpp"
#include "usm_pool.hpp"

#include <pi/sdk/descriptor.hpp>

namespace pi::host {

using sdk::fail;
using sdk::InfoWriter;

namespace {

UsmTable &table_of(const Context &context) {
    return context.platform().instance().usm();
}

/// What a pool is asked for must be what it is made of.
void check_pool(const UsmPool &pool, const pi_usm_desc &desc, pi_device device) {
    if (pool.usm_kind() != desc.kind)
        fail(PI_ERROR_INVALID_USM_POOL, "pool has memory of kind ", pool.usm_kind(),
             ", but kind is ", desc.kind);
    if (device && pool.device().handle() != device)
        fail(PI_ERROR_INVALID_USM_POOL, "pool is of another device (NUMA node ",
             pool.device().node().number, ") than device");
    if (desc.flags)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "flags is 0x", std::hex, desc.flags,
             ": pools have ordinary memory; without pool the demand may be met");
}

struct InfoRow {
    pi_usm_info name;
    void (*answer)(const UsmRange &range, const InfoWriter &write);
};
constexpr InfoRow info_rows[] = {
    {PI_USM_INFO_KIND, [](const UsmRange &r, const InfoWriter &write) { write(r.kind); }},
    {PI_USM_INFO_BASE,
     [](const UsmRange &r, const InfoWriter &write) { write(static_cast<void *>(r.base)); }},
    {PI_USM_INFO_SIZE, [](const UsmRange &r, const InfoWriter &write) { write(r.size); }},
    {PI_USM_INFO_DEVICE,
     [](const UsmRange &r, const InfoWriter &write) {
         write(r.device ? r.device->handle() : pi_device{nullptr});
     }},
    {PI_USM_INFO_POOL,
     [](const UsmRange &r, const InfoWriter &write) {
         write(r.pool ? r.pool->handle() : pi_usm_pool{nullptr});
     }},
};

} // namespace

Device &usm_device(const Context &context, pi_device device, pi_usm_kind kind) {
    if (kind < PI_USM_HOST || kind > PI_USM_SHARED)
        fail(PI_ERROR_INVALID_ENUMERATION, "kind is ", kind,
             ", which is no PI_USM_ kind: these are ", PI_USM_HOST, " to ", PI_USM_SHARED);
    if (device)
        return context.device(device);
    if (kind != PI_USM_HOST)
        fail(PI_ERROR_INVALID_DEVICE, "device is NULL, but kind is ", kind,
             ": only memory of kind PI_USM_HOST (", PI_USM_HOST, ") has no device");
    return *context.devices().front();
}

UsmAllocation usm_allocate(const Context &context, Device &device, pi_usm_kind kind, uint64_t size,
                           uint64_t alignment, UsmPool *pool, uint64_t demands) {
    if (!size)
        fail(PI_ERROR_INVALID_SIZE, "size is 0 bytes; at least 1 is needed");
    alignment = checked_alignment(alignment);
    UsmBlock block =
        pool ? pool->memory().take(size, alignment) : UsmBlock(device, size, alignment, demands);
    return {.block = std::move(block),
            .size = size,
            .kind = kind,
            .device = kind == PI_USM_HOST ? nullptr : &device,
            .context = &context};
}

namespace entries {

pi_result PI_CALL usm_alloc(pi_context context, pi_device device, const pi_usm_desc *desc,
                            void **out_pointer) {
    return sdk::call<Context>(context, [&](Context &self) {
        const pi_usm_desc known = sdk::read_desc(desc, PI_TYPE_USM_DESC);
        sdk::require(out_pointer, "out_pointer");
        sdk::check_flags(known.flags, PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED, "flags");
        Device &owner = usm_device(self, device, known.kind);
        check_scope(known.scope);
        UsmPool *pool = usm_pool(self, known.pool);
        if (pool)
            check_pool(*pool, known, device);
        *out_pointer = table_of(self).add(
            usm_allocate(self, owner, known.kind, known.size, known.alignment, pool, known.flags));
    });
}

pi_result PI_CALL usm_free(pi_context context, void *pointer) {
    return sdk::call<Context>(context, [&](Context &self) {
        if (pointer)
            table_of(self).free(self, pointer);
    });
}

pi_result PI_CALL usm_get_info(pi_context context, const void *pointer, pi_usm_info name,
                               uint64_t size, void *value, uint64_t *out_size) {
    return sdk::call<Context>(context, [&](Context &self) {
        const UsmRange range = table_of(self).get(sdk::require(pointer, "pointer"), "pointer");
        if (range.context != &self)
            fail(PI_ERROR_INVALID_USM_POINTER, "pointer ", pointer, " is USM of another context");
        for (const InfoRow &row : info_rows)
            if (row.name == name)
                return row.answer(range, InfoWriter(size, value, out_size));
        fail(PI_ERROR_INVALID_ENUMERATION, "name ", name, " is no information of USM");
    });
}

} // namespace entries

} // namespace pi::host
