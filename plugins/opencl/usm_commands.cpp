// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on pointers. They keep no memory alive.
#include "entries.hpp"
#include "rectangle_copy.hpp"
#include "usm.hpp"

namespace pi::opencl {

using namespace sdk;

namespace {

/// One end of a copy: an allocation, or host memory.
struct UsmEnd {
    std::byte *pointer;
    std::byte *base = nullptr; ///< the allocation's beginning; NULL for host memory
    uint64_t size = 0;         ///< of the allocation

    uint64_t begin() const { return static_cast<uint64_t>(pointer - base); }
};

UsmEnd find_end(const Context &context, const void *pointer) {
    UsmEnd end{static_cast<std::byte *>(const_cast<void *>(pointer))};
    if (const auto range = Usm::table(context).find(pointer)) {
        end.base = range->base;
        end.size = range->size;
    }
    return end;
}

/// The vendor has no rectangle copies of pointers: buffers are created around the allocations, or
/// each row is a copy.
class UsmCopyCommand final : public VendorCommand {
public:
    UsmCopyCommand(Queue &queue, const void *src, void *dst, Regions &&regions)
        : VendorCommand(queue), src_(find_end(queue.context(), src)),
          dst_(find_end(queue.context(), dst)), regions_(std::move(regions)) {}

private:
    void issue(Submission &submission) override {
        for (const pi_region &region : regions_) {
            const auto [from, to] = rectangles(region, 0, 0);
            if ((from.dense() && to.dense()) || !driver().has_buffers(queue().device()))
                for_each_piece(region, [&](uint64_t in, uint64_t out, size_t bytes) {
                    submission.add(driver().copy.name, driver().copy.call, cl_bool{CL_FALSE},
                                   dst_.pointer + out, src_.pointer + in, bytes);
                });
            else
                rectangle(submission, region);
        }
    }

    const UsmDriver &driver() const { return *queue().device().platform().usm(); }

    void rectangle(Submission &submission, const pi_region &region) {
        auto [from, to] =
            rectangles(region, src_.base ? src_.begin() : 0, dst_.base ? dst_.begin() : 0);
        if (!src_.base)
            write(submission, {src_.pointer, from}, {buffer(dst_buffer_, dst_), to}, false);
        else if (!dst_.base)
            read(submission, {buffer(src_buffer_, src_), from}, {dst_.pointer, to}, false);
        else if (src_.base == dst_.base)
            copies_.copy(submission, {buffer(src_buffer_, src_), from},
                         {buffer(src_buffer_, src_), to});
        else
            copies_.copy(submission, {buffer(src_buffer_, src_), from},
                         {buffer(dst_buffer_, dst_), to});
    }

    cl_mem buffer(MemOwner &owner, const UsmEnd &end) {
        if (!owner) {
            const Api &cl = queue().api();
            cl_int code = CL_SUCCESS;
            owner = {cl, cl.clCreateBuffer(queue().context().id(),
                                           CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, end.size,
                                           end.base, &code)};
            check(code, "clCreateBuffer", "around ", end.size, " bytes of USM");
        }
        return owner.get();
    }

    const UsmEnd src_, dst_;
    const Regions regions_;
    MemOwner src_buffer_, dst_buffer_;
    BufferCopies copies_;
};

class UsmFillCommand final : public VendorCommand {
public:
    UsmFillCommand(Queue &queue, void *pointer, std::vector<std::byte> pattern, uint64_t size)
        : VendorCommand(queue), pointer_(pointer), pattern_(std::move(pattern)), size_(size) {}

private:
    void issue(Submission &submission) override {
        const auto &fill = queue().device().platform().usm()->fill;
        submission.add(fill.name, fill.call, pointer_, pattern_.data(), pattern_.size(), size_);
    }

    void *const pointer_;
    const std::vector<std::byte> pattern_;
    const size_t size_;
};

class UsmPrefetchCommand final : public VendorCommand {
public:
    UsmPrefetchCommand(Queue &queue, const void *pointer, uint64_t size, bool to_host)
        : VendorCommand(queue), pointer_(pointer), size_(size),
          flags_(to_host ? CL_MIGRATE_MEM_OBJECT_HOST : 0) {}

private:
    void issue(Submission &submission) override {
        queue().device().platform().usm()->prefetch(submission, pointer_, size_, flags_);
    }

    const void *const pointer_;
    const size_t size_;
    const cl_mem_migration_flags flags_;
};

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueUsmCopy(pi_queue queue, const pi_usm_copy_desc *desc,
                                   uint32_t wait_count, const pi_event *wait_list,
                                   pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        Usm::require(self);
        const auto known = read_desc(desc, PI_TYPE_USM_COPY_DESC);
        auto regions = read_usm_regions<Usm>(self.context(), known);
        enqueue_vendor<UsmCopyCommand>(self,
                                       {known.flags, known.type, wait_count, wait_list, out_event},
                                       known.src, known.dst, std::move(regions));
    });
}

pi_result PI_CALL piEnqueueUsmFill(pi_queue queue, const pi_usm_fill_desc *desc,
                                   uint32_t wait_count, const pi_event *wait_list,
                                   pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        Usm::require(self);
        const auto known = read_desc(desc, PI_TYPE_USM_FILL_DESC);
        auto pattern = read_usm_pattern<Usm>(self.context(), known);
        enqueue_vendor<UsmFillCommand>(self,
                                       {known.flags, known.type, wait_count, wait_list, out_event},
                                       known.pointer, std::move(pattern), known.size);
    });
}

pi_result PI_CALL piEnqueueUsmPrefetch(pi_queue queue, const pi_usm_prefetch_desc *desc,
                                       uint32_t wait_count, const pi_event *wait_list,
                                       pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        Usm::require(self);
        const auto known = read_desc(desc, PI_TYPE_USM_PREFETCH_DESC);
        check_usm_range<Usm>(self.context(), known.pointer, known.size);
        enqueue_vendor<UsmPrefetchCommand>(
            self, {known.flags, known.type, wait_count, wait_list, out_event}, known.pointer,
            known.size, (known.flags & PI_USM_PREFETCH_TO_HOST) != 0);
    });
}

pi_result PI_CALL piEnqueueUsmAdvise(pi_queue queue, const pi_usm_advise_desc *desc,
                                     uint32_t wait_count, const pi_event *wait_list,
                                     pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        Usm::require(self);
        const auto known = read_desc(desc, PI_TYPE_USM_ADVISE_DESC);
        check_advice(known.advice);
        check_usm_range<Usm>(self.context(), known.pointer, known.size);
        // No driver defines any advice.
        Usm::enqueue(self, {known.flags, known.type, wait_count, wait_list, out_event}, [] {});
    });
}

} // namespace entries
} // namespace pi::opencl
