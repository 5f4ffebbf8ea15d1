// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on pointers. USM of every context and device of the instance is used as it is; the commands keep none of
// it alive.
#include "commands.hpp"
#include "entries.hpp"
#include "memory.hpp"
#include "plugin.hpp"
#include "usm_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace pi::host {

using sdk::fail;

namespace {

UsmTable &table_of(const Queue &queue) {
    return queue.context().platform().instance().usm();
}

/// Checks a range of an allocation that begins at an address within it.
void check_usm_range(const Queue &queue, const void *pointer, uint64_t size) {
    const UsmRange range = table_of(queue).get(sdk::require(pointer, "pointer"), "pointer");
    sdk::check_range(range.offset_of(pointer), size, range.size, "the USM allocation");
}

/// Host memory has no known end but that of the address space.
void check_host_end(const void *pointer, const sdk::Rectangle &rectangle) {
    check_pointer_range(pointer, rectangle.offset, rectangle.end() - rectangle.offset);
}

std::vector<pi_region> read_usm_regions(const Queue &queue, const pi_usm_copy_desc &desc) {
    const std::optional<UsmRange> src = table_of(queue).find(sdk::require(desc.src, "src"));
    const std::optional<UsmRange> dst = table_of(queue).find(sdk::require(desc.dst, "dst"));
    if (!src && !dst)
        fail(PI_ERROR_INVALID_USM_POINTER, "neither src ", desc.src, " nor dst ", desc.dst,
             " is an address of a live USM allocation; one of them must be");
    const auto left = [](const std::optional<UsmRange> &range, const void *pointer) {
        return range ? std::optional(range->left(pointer)) : std::nullopt;
    };
    auto regions = sdk::read_regions(desc.region_count, desc.regions, left(src, desc.src),
                                     left(dst, desc.dst));
    for (const pi_region &region : regions) {
        check_host_end(desc.src, sdk::source(region));
        check_host_end(desc.dst, sdk::destination(region));
    }
    check_overlap(regions, desc.src, desc.dst);
    return regions;
}

/// A hint, so the system's answer is not looked at.
void prefetch(const void *pointer, uint64_t size) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t begin = reinterpret_cast<uintptr_t>(pointer) / page * page;
    const uint64_t end = reinterpret_cast<uintptr_t>(pointer) + size;
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_WILLNEED);
}

/// An allocation in the table that goes again unless it is kept.
class Reservation {
public:
    Reservation(UsmTable &table, const Context &context, UsmAllocation allocation)
        : table_(table), context_(context), pointer_(table.add(std::move(allocation))) {}
    Reservation(const Reservation &) = delete;
    ~Reservation() {
        if (pointer_)
            table_.free(context_, pointer_);
    }
    void *keep() { return std::exchange(pointer_, nullptr); }

private:
    UsmTable &table_;
    const Context &context_;
    void *pointer_;
};

/// A free between its enqueue and its end: withdrawn if the command never runs.
class FreePromise {
public:
    FreePromise(UsmTable &table, const Context &context, void *pointer)
        : table_(table), pointer_(pointer) {
        table_.promise_free(context, pointer);
    }
    FreePromise(FreePromise &&other) noexcept
        : table_(other.table_), pointer_(std::exchange(other.pointer_, nullptr)) {}
    ~FreePromise() {
        if (pointer_)
            table_.withdraw_free(pointer_);
    }
    void fulfil() { table_.fulfil_free(std::exchange(pointer_, nullptr)); }

private:
    UsmTable &table_;
    void *pointer_;
};

} // namespace

namespace entries {

pi_result PI_CALL enqueue_usm_copy(pi_queue queue, const pi_usm_copy_desc *desc,
                                   uint32_t wait_count, const pi_event *wait_list,
                                   pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_USM_COPY_DESC);
        check_command(known);
        auto regions = read_usm_regions(self, known);
        const Cost cost = cost_of(regions);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     [src = known.src, dst = known.dst, regions = std::move(regions)] {
                         copy_regions(regions, src, dst);
                     });
    });
}

pi_result PI_CALL enqueue_usm_fill(pi_queue queue, const pi_usm_fill_desc *desc,
                                   uint32_t wait_count, const pi_event *wait_list,
                                   pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_USM_FILL_DESC);
        check_command(known);
        check_usm_range(self, known.pointer, known.size);
        auto pattern = sdk::read_pattern(known.pattern, known.pattern_size, 0, known.size);
        if (alignment_of(known.pointer) < known.pattern_size)
            fail(PI_ERROR_MISALIGNED_POINTER, "pointer ", known.pointer, " is aligned to ",
                 alignment_of(known.pointer), " bytes; pattern_size asks for ", known.pattern_size);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event},
                     cost_of(known.size),
                     [dst = known.pointer, size = known.size, pattern = std::move(pattern)] {
                         sdk::fill_bytes(dst, size, pattern);
                     });
    });
}

pi_result PI_CALL enqueue_usm_prefetch(pi_queue queue, const pi_usm_prefetch_desc *desc,
                                       uint32_t wait_count, const pi_event *wait_list,
                                       pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_USM_PREFETCH_DESC);
        check_command(known, uint64_t{PI_COMMAND_BLOCKING} | PI_USM_PREFETCH_TO_HOST);
        check_usm_range(self, known.pointer, known.size);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, Cost::SMALL,
                     [pointer = known.pointer, size = known.size] { prefetch(pointer, size); });
    });
}

pi_result PI_CALL enqueue_usm_advise(pi_queue queue, const pi_usm_advise_desc *desc,
                                     uint32_t wait_count, const pi_event *wait_list,
                                     pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_USM_ADVISE_DESC);
        check_command(known);
        if (known.advice < PI_USM_ADVICE_READ_MOSTLY || known.advice > PI_USM_ADVICE_RESET)
            fail(PI_ERROR_INVALID_ENUMERATION, "advice is ", known.advice,
                 ", which is no PI_USM_ADVICE_: these are ", PI_USM_ADVICE_READ_MOSTLY, " to ",
                 PI_USM_ADVICE_RESET);
        check_usm_range(self, known.pointer, known.size);
        // The memory is where it is used already: there is nothing to do.
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, Cost::NONE,
                     [] {});
    });
}

pi_result PI_CALL enqueue_usm_alloc(pi_queue queue, const pi_usm_alloc_desc *desc,
                                    uint32_t wait_count, const pi_event *wait_list,
                                    pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_USM_ALLOC_DESC);
        check_command(known);
        sdk::require(known.out_pointer, "out_pointer");
        UsmPool *pool = usm_pool(self.context(), known.pool);
        // The memory is there from now on; the command only has its place in the order.
        Reservation reserved(table_of(self), self.context(),
                             usm_allocate(self.context(), pool ? pool->device() : self.device(),
                                          pool ? pool->usm_kind() : pi_usm_kind{PI_USM_DEVICE},
                                          known.size, known.alignment, pool));
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, Cost::NONE,
                     [kept = pool ? sdk::Ref<UsmPool>(*pool) : nullptr] {});
        *known.out_pointer = reserved.keep();
    });
}

pi_result PI_CALL enqueue_usm_free(pi_queue queue, const pi_usm_free_desc *desc,
                                   uint32_t wait_count, const pi_event *wait_list,
                                   pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_USM_FREE_DESC);
        check_command(known);
        const sdk::EnqueueArguments arguments{known.flags, known.type, wait_count, wait_list,
                                              out_event};
        if (!known.pointer)
            return self.enqueue(arguments, Cost::NONE, [] {});
        self.enqueue(arguments, Cost::SMALL,
                     [promise = FreePromise(table_of(self), self.context(),
                                            known.pointer)]() mutable { promise.fulfil(); });
    });
}

} // namespace entries

} // namespace pi::host
