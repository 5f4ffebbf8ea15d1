// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on pointers. They use USM of every context and device of the instance directly, and
// keep none of it alive.
#include "commands.hpp"
#include "entries.hpp"
#include "usm.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace pi::host {

namespace {

/// A hint: the system's answer is ignored.
void prefetch(const void *pointer, uint64_t size) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t begin = reinterpret_cast<uintptr_t>(pointer) / page * page;
    const uint64_t end = reinterpret_cast<uintptr_t>(pointer) + size;
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_WILLNEED);
}

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueUsmCopy(pi_queue queue, const pi_usm_copy_desc *desc,
                                   uint32_t wait_count, const pi_event *wait_list,
                                   pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_USM_COPY_DESC);
        auto regions = sdk::read_usm_regions<Usm>(self.context(), known);
        const Cost cost = cost_of(regions);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     [src = known.src, dst = known.dst, regions = std::move(regions)] {
                         sdk::copy_regions(regions, src, dst);
                     });
    });
}

pi_result PI_CALL piEnqueueUsmFill(pi_queue queue, const pi_usm_fill_desc *desc,
                                   uint32_t wait_count, const pi_event *wait_list,
                                   pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_USM_FILL_DESC);
        auto pattern = sdk::read_usm_pattern<Usm>(self.context(), known);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event},
                     cost_of(known.size),
                     [dst = known.pointer, size = known.size, pattern = std::move(pattern)] {
                         sdk::fill_bytes(dst, size, pattern);
                     });
    });
}

pi_result PI_CALL piEnqueueUsmPrefetch(pi_queue queue, const pi_usm_prefetch_desc *desc,
                                       uint32_t wait_count, const pi_event *wait_list,
                                       pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_USM_PREFETCH_DESC);
        sdk::check_usm_range<Usm>(self.context(), known.pointer, known.size);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, Cost::SMALL,
                     [pointer = known.pointer, size = known.size] { prefetch(pointer, size); });
    });
}

pi_result PI_CALL piEnqueueUsmAdvise(pi_queue queue, const pi_usm_advise_desc *desc,
                                     uint32_t wait_count, const pi_event *wait_list,
                                     pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_USM_ADVISE_DESC);
        sdk::check_advice(known.advice);
        sdk::check_usm_range<Usm>(self.context(), known.pointer, known.size);
        // The memory is already usable everywhere: there is nothing to do.
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, Cost::NONE,
                     [] {});
    });
}

} // namespace entries

} // namespace pi::host
