// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on pointers. They keep no memory alive.
#include "copy.hpp"
#include "entries.hpp"
#include "pageable.hpp"
#include "usm.hpp"

namespace pi::cuda {

using namespace sdk;

namespace {

/// One end of a copy: USM, or else host memory.
struct UsmEnd {
    UsmEnd(const Queue &queue, const void *pointer)
        : at(static_cast<std::byte *>(const_cast<void *>(pointer))),
          range(Usm::table(queue.context()).find(pointer)) {}

    Primary *owner() const { return range ? owner_of(*range) : nullptr; }
    CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(at); }
    End end() const { return {address(), owner(), owner() ? nullptr : at}; }

    std::byte *at;
    std::optional<UsmRange> range;
};

class UsmCopyCommand final : public PlainCommand {
public:
    UsmCopyCommand(const Target &target, const End &src, const End &dst, Regions &&regions)
        : PlainCommand(target.queue), src_(src), dst_(dst), regions_(std::move(regions)) {}

private:
    void issue(Submission &submission) override { copy_regions(submission, src_, dst_, regions_); }
    const End src_, dst_;
    const Regions regions_;
};

class UsmFillCommand final : public PlainCommand {
public:
    UsmFillCommand(const Target &target, void *pointer, std::vector<std::byte> pattern,
                   uint64_t size)
        : PlainCommand(target.queue), address_(reinterpret_cast<CUdeviceptr>(pointer)),
          pattern_(std::move(pattern)), size_(size) {}

private:
    void issue(Submission &submission) override {
        fill(submission, address_, {0, size_, 1, 1, size_, size_}, pattern_);
    }

    const CUdeviceptr address_;
    const std::vector<std::byte> pattern_;
    const uint64_t size_;
};

/// A hint: one that the driver refuses is ignored. Only managed memory accepts hints.
template <class Give>
class HintCommand final : public StreamCommand {
public:
    HintCommand(const Target &target, bool managed, Give give)
        : StreamCommand(target.queue, !managed), managed_(managed), give_(std::move(give)) {}

private:
    void issue(Submission &submission) override {
        if (!managed_)
            return;
        const CUresult code = give_(submission);
        submission.primary().note(code);
        if (code == CUDA_SUCCESS)
            submission.add(code, "a hint");
    }
    const bool managed_;
    const Give give_;
};

template <class Give>
void enqueue_hint(Queue &queue, const EnqueueArguments &arguments, const void *pointer, Give give) {
    const auto range = Usm::table(queue.context()).get(pointer, "pointer");
    enqueue_stream<HintCommand<Give>>(queue, arguments, range.kind == PI_USM_SHARED,
                                      std::move(give));
}

CUresult prefetch(const Submission &to, CUdeviceptr address, uint64_t size, bool to_host) {
    const Api &cu = to.api();
    const CUdevice device = to.primary().device().id();
    if (cu.cuMemPrefetchAsync_v2)
        return cu.cuMemPrefetchAsync_v2(address, size,
                                        to_host
                                            ? CUmemLocation{CU_MEM_LOCATION_TYPE_HOST, 0}
                                            : CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, device},
                                        0, to.stream());
    return cu.cuMemPrefetchAsync
               ? cu.cuMemPrefetchAsync(address, size, to_host ? PI_CUDA_DEVICE_CPU : device,
                                       to.stream())
               : CUDA_ERROR_NOT_SUPPORTED;
}

/// The driver applies advice immediately, not in stream order.
CUresult advise(const Submission &to, CUdeviceptr address, uint64_t size, CUmem_advise advice,
                bool host) {
    const Api &cu = to.api();
    const CUdevice device = to.primary().device().id();
    if (cu.cuMemAdvise_v2)
        return cu.cuMemAdvise_v2(address, size, advice,
                                 host ? CUmemLocation{CU_MEM_LOCATION_TYPE_HOST, 0}
                                      : CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, device});
    return cu.cuMemAdvise
               ? cu.cuMemAdvise(address, size, advice, host ? PI_CUDA_DEVICE_CPU : device)
               : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult advise(const Submission &to, CUdeviceptr address, uint64_t size, pi_usm_advice advice) {
    const auto say = [&](CUmem_advise what, bool host = false) {
        return advise(to, address, size, what, host);
    };
    switch (advice) {
    case PI_USM_ADVICE_READ_MOSTLY:
        return say(CU_MEM_ADVISE_SET_READ_MOSTLY);
    case PI_USM_ADVICE_PREFER_DEVICE:
        return say(CU_MEM_ADVISE_SET_PREFERRED_LOCATION);
    case PI_USM_ADVICE_PREFER_HOST:
        return say(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, true);
    case PI_USM_ADVICE_ACCESSED_BY_DEVICE:
        return say(CU_MEM_ADVISE_SET_ACCESSED_BY);
    default:
        say(CU_MEM_ADVISE_UNSET_READ_MOSTLY);
        say(CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION);
        return say(CU_MEM_ADVISE_UNSET_ACCESSED_BY);
    }
}

/// The queue must belong to the device of either end, or be able to use both.
void check_copy(const Queue &queue, const UsmEnd &src, const UsmEnd &dst) {
    const Primary *user = &queue.primary();
    if (src.range && dst.range && (src.owner() == user || dst.owner() == user))
        return;
    if (src.range)
        check_usable(queue, *src.range, src.at, "src");
    if (dst.range)
        check_usable(queue, *dst.range, dst.at, "dst");
}

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueUsmCopy(pi_queue queue, const pi_usm_copy_desc *desc,
                                   uint32_t wait_count, const pi_event *wait_list,
                                   pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_USM_COPY_DESC);
        auto regions = read_usm_regions<Usm>(self.context(), known);
        const UsmEnd src(self, known.src), dst(self, known.dst);
        check_copy(self, src, dst);
        const EnqueueArguments arguments{known.flags, known.type, wait_count, wait_list, out_event};
        const Direction direction = dst.range ? Direction::TO_DEVICE : Direction::TO_HOST;
        const UsmEnd &here = dst.range ? dst : src, &there = dst.range ? src : dst;
        if (there.range || is_pinned(self.api(), there.at, host_extent(direction, regions)))
            enqueue_stream<UsmCopyCommand>(self, arguments, src.end(), dst.end(),
                                           std::move(regions));
        else
            enqueue_pageable(self, arguments, self.primary(), direction, here.address(), there.at,
                             std::move(regions));
    });
}

pi_result PI_CALL piEnqueueUsmFill(pi_queue queue, const pi_usm_fill_desc *desc,
                                   uint32_t wait_count, const pi_event *wait_list,
                                   pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_USM_FILL_DESC);
        auto pattern = read_usm_pattern<Usm>(self.context(), known);
        check_usable(self, Usm::table(self.context()).get(known.pointer, "pointer"), known.pointer,
                     "pointer");
        enqueue_stream<UsmFillCommand>(self,
                                       {known.flags, known.type, wait_count, wait_list, out_event},
                                       known.pointer, std::move(pattern), known.size);
    });
}

pi_result PI_CALL piEnqueueUsmPrefetch(pi_queue queue, const pi_usm_prefetch_desc *desc,
                                       uint32_t wait_count, const pi_event *wait_list,
                                       pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_USM_PREFETCH_DESC);
        check_usm_range<Usm>(self.context(), known.pointer, known.size);
        enqueue_hint(self, {known.flags, known.type, wait_count, wait_list, out_event},
                     known.pointer,
                     [address = reinterpret_cast<CUdeviceptr>(known.pointer), size = known.size,
                      to_host = (known.flags & PI_USM_PREFETCH_TO_HOST) != 0](
                         const Submission &to) { return prefetch(to, address, size, to_host); });
    });
}

pi_result PI_CALL piEnqueueUsmAdvise(pi_queue queue, const pi_usm_advise_desc *desc,
                                     uint32_t wait_count, const pi_event *wait_list,
                                     pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_USM_ADVISE_DESC);
        check_advice(known.advice);
        check_usm_range<Usm>(self.context(), known.pointer, known.size);
        enqueue_hint(self, {known.flags, known.type, wait_count, wait_list, out_event},
                     known.pointer,
                     [address = reinterpret_cast<CUdeviceptr>(known.pointer), size = known.size,
                      advice = known.advice](const Submission &to) {
                         return advise(to, address, size, advice);
                     });
    });
}

} // namespace entries
} // namespace pi::cuda
