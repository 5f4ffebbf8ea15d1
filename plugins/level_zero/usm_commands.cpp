// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on pointers. They keep no memory alive.
#include "commands.hpp"
#include "entries.hpp"
#include "usm.hpp"

namespace pi::level_zero {

using namespace sdk;

namespace {

/// One end of a copy: USM, or else host memory.
struct UsmEnd {
    UsmEnd(const Queue &queue, const void *pointer)
        : at(static_cast<std::byte *>(const_cast<void *>(pointer))),
          range(Usm::table(queue.context()).find(pointer)) {}

    Place *owner() const { return range ? owner_of(*range) : nullptr; }
    /// Shared memory migrates to its user, as far as check_usable() allows.
    End end() const {
        const bool of_device = range && range->kind == PI_USM_DEVICE;
        return {at, of_device ? owner() : nullptr, !of_device};
    }

    std::byte *at;
    std::optional<UsmRange> range;
};

/// A hint: one that the driver refuses is ignored. Only shared memory accepts hints.
template <class Give>
class HintCommand final : public ListCommand {
public:
    HintCommand(const Target &target, bool shared, Give give)
        : ListCommand(target.queue, !shared), shared_(shared), give_(std::move(give)) {}

private:
    void issue(Submission &submission) override {
        if (shared_)
            submission.part("a hint", [&](const Submission::Order &) {
                const ze_result_t code = give_(submission);
                return code == ZE_RESULT_ERROR_DEVICE_LOST ? code : ZE_RESULT_SUCCESS;
            });
    }
    const bool shared_;
    const Give give_;
};

template <class Give>
void enqueue_hint(Queue &queue, const EnqueueArguments &arguments, const void *pointer, Give give) {
    const auto range = Usm::table(queue.context()).get(pointer, "pointer");
    enqueue_list<HintCommand<Give>>(queue, arguments, range.kind == PI_USM_SHARED, std::move(give));
}

ze_result_t advise(const Submission &to, const void *address, uint64_t size, pi_usm_advice advice) {
    const auto say = [&](ze_memory_advice_t what) {
        return to.api().zeCommandListAppendMemAdvise(to.list(), to.place().device().id(), address,
                                                     size, what);
    };
    switch (advice) {
    case PI_USM_ADVICE_READ_MOSTLY:
        return say(ZE_MEMORY_ADVICE_SET_READ_MOSTLY);
    case PI_USM_ADVICE_PREFER_DEVICE:
        return say(ZE_MEMORY_ADVICE_SET_PREFERRED_LOCATION);
    case PI_USM_ADVICE_PREFER_HOST:
        return say(ZE_MEMORY_ADVICE_CLEAR_PREFERRED_LOCATION);
    case PI_USM_ADVICE_ACCESSED_BY_DEVICE:
        return say(ZE_MEMORY_ADVICE_CLEAR_NON_ATOMIC_MOSTLY);
    default:
        say(ZE_MEMORY_ADVICE_CLEAR_READ_MOSTLY);
        return say(ZE_MEMORY_ADVICE_CLEAR_PREFERRED_LOCATION);
    }
}

/// The queue must belong to the device of either end, or be able to use both.
void check_copy(const Queue &queue, const UsmEnd &src, const UsmEnd &dst) {
    const Place *user = &queue.place();
    const auto of_device = [](const UsmEnd &end) {
        return end.range && end.range->kind == PI_USM_DEVICE;
    };
    if (of_device(src) && of_device(dst) && (src.owner() == user || dst.owner() == user))
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
        enqueue_copy(self, {known.flags, known.type, wait_count, wait_list, out_event}, src.end(),
                     dst.end(), {}, std::move(regions));
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
        enqueue_fill(self, {known.flags, known.type, wait_count, wait_list, out_event},
                     static_cast<std::byte *>(known.pointer), nullptr, std::move(pattern),
                     known.size);
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
                     [pointer = known.pointer, size = known.size,
                      to_host = (known.flags & PI_USM_PREFETCH_TO_HOST) !=
                                0](const Submission &to) -> ze_result_t {
                         // The driver cannot prefetch to the host.
                         return to_host ? ZE_RESULT_SUCCESS
                                        : to.api().zeCommandListAppendMemoryPrefetch(to.list(),
                                                                                     pointer, size);
                     });
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
                     [pointer = known.pointer, size = known.size, advice = known.advice](
                         const Submission &to) { return advise(to, pointer, size, advice); });
    });
}

} // namespace entries
} // namespace pi::level_zero
