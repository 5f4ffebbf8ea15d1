// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "migrate.hpp"

#include <pi/sdk/region.hpp>

#include <algorithm>

namespace pi::opencl {

using namespace sdk;

namespace {

/// One end of the copy: its mapped range.
struct End {
    Ref<Mem> mem;
    uint64_t begin = UINT64_MAX, end = 0;
    void *pointer = nullptr;              ///< mapped
    EventOwner event;                     ///< of the newest map or unmap
    Instance::NoticePointer notices[2]{}; ///< of the map, of the unmap

    void cover(const Rectangle &r) {
        begin = std::min(begin, r.offset);
        end = std::max(end, r.end());
    }
    Device &device() const { return mem->device(); }

    void map(cl_map_flags flags) {
        const cl_command_queue queue =
            mem->context().private_queue(device(), Context::Purpose::MAP);
        const auto lock = device().submission_lock();
        cl_event vendor = nullptr;
        cl_int code = CL_SUCCESS;
        void *address =
            map_vendor(*mem, queue, flags, begin, end - begin, 0, nullptr, &vendor, &code);
        check(code, "clEnqueueMapBuffer", end - begin, " bytes on ", device().name());
        pointer = address;
        event = {mem->api(), vendor};
        mem->api().clFlush(queue);
    }
    void unmap() {
        const cl_command_queue queue =
            mem->context().private_queue(device(), Context::Purpose::UNMAP);
        const auto lock = device().submission_lock();
        cl_event vendor = nullptr;
        check(unmap_vendor(*mem, queue, pointer, 0, nullptr, &vendor), "clEnqueueUnmapMemObject",
              "on ", device().name());
        pointer = nullptr;
        event = {mem->api(), vendor};
        mem->api().clFlush(queue);
    }
};

/// Lives until finish(), as long as the event keeps it. Each step passes it to the next and must
/// not touch it afterwards.
class Migration final : public Command {
public:
    Migration(Mem &src, Mem &dst, Regions &&regions)
        : src_{Ref<Mem>(src)}, dst_{Ref<Mem>(dst)}, regions_(std::move(regions)) {
        bool whole = regions_.size() == 1;
        for (const pi_region &region : regions_) {
            src_.cover(source(region));
            dst_.cover(destination(region));
            whole = whole && destination(region).dense();
        }
        // Not discarded if there are gaps: the bytes between the rows must survive.
        dst_flags_ = whole ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_WRITE;
    }

    void start(Event &event) override {
        event_ = Ref<Event>(event);
        // Nothing can be undone after the first map: allocate everything before.
        try {
            prepare(src_);
            prepare(dst_);
            copy_ = instance().busy().prepare([this, keep = event_] { copy(); });
            src_.map(CL_MAP_READ);
        } catch (...) {
            event_ = nullptr;
            throw;
        }
        try {
            dst_.map(dst_flags_);
        } catch (...) {
            note(current_error());
            event.submitted();
            pending_ = 1;
            return after(src_, MAPPED);
        }
        event.submitted();
        pending_ = 2;
        after_both(MAPPED);
    }

private:
    enum Step { MAPPED, UNMAPPED };

    Instance &instance() const { return src_.mem->context().instance(); }

    void prepare(End &end) {
        for (const Step step : {MAPPED, UNMAPPED})
            end.notices[step] = instance().make_notice(
                [this, keep = event_, step](cl_int status) { vendor_done(step, status); });
        end.mem->context().private_queue(end.device(), Context::Purpose::UNMAP);
    }
    /// A vendor event is complete: the last one of those awaited starts the step.
    void vendor_done(Step step, cl_int status) {
        if (status < 0)
            note(Error(to_result(status), message("a map for a copy between contexts failed: ",
                                                  error_name(status), " (", status, ")")));
        if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            step == MAPPED ? mapped() : unmapped();
    }
    /// Starts the step when this end's newest vendor event and all other awaited ones are complete.
    void after(End &end, Step step) {
        const Ref<Event> keep = event_;
        const EventOwner vendor = std::move(end.event);
        const Api &api = end.mem->api();
        Instance::NoticePointer notice = std::move(end.notices[step]);
        if (end.device().quirk(QUIRK_RUNS_IN_CALLS))
            if (const cl_int status = status_of(api, vendor.get()); status <= CL_COMPLETE)
                return vendor_done(step, status);
        instance().when_final(api, vendor.get(), std::move(notice));
    }
    /// Starts the step when both are complete. *this cannot be destroyed before the second call has
    /// registered.
    void after_both(Step step) {
        after(src_, step);
        after(dst_, step);
    }

    void mapped() {
        if (failed_)
            return unmap();
        instance().busy().post(std::move(copy_));
    }

    void copy() {
        event_->running();
        for (const pi_region &region : regions_) {
            pi_region within = region;
            within.src_offset -= src_.begin;
            within.dst_offset -= dst_.begin;
            copy_regions({&within, 1}, src_.pointer, dst_.pointer);
        }
        event_->ended();
        unmap();
    }

    void unmap() {
        int count = 0;
        for (End *end : {&src_, &dst_}) {
            if (!end->pointer)
                continue;
            try {
                end->unmap();
                ++count;
            } catch (...) {
                note(current_error());
            }
        }
        pending_ = count;
        if (count == 0)
            return unmapped();
        if (count == 2)
            return after_both(UNMAPPED);
        after(src_.event ? src_ : dst_, UNMAPPED);
    }

    void unmapped() {
        const Ref<Event> event = std::move(event_);
        const Error error = std::move(error_);
        event->finish(error.code(), error.text());
    }

    void note(Error error) {
        std::lock_guard lock(mutex_);
        if (!failed_.exchange(true))
            error_ = std::move(error);
    }

    End src_, dst_;
    const Regions regions_;
    cl_map_flags dst_flags_;
    Workers::Prepared copy_;
    Ref<Event> event_; ///< from start to finish
    std::atomic<int> pending_{0};
    std::mutex mutex_;
    std::atomic<bool> failed_{false};
    Error error_{PI_SUCCESS, ""};
};

} // namespace

void check_migration(const Queue &queue, const Mem &src, const Mem &dst) {
    if (&src.context().platform() != &dst.context().platform())
        fail(PI_ERROR_INVALID_MEM_OBJECT, "src is of ", src.context().description(), ", dst of ",
             dst.context().description(),
             ": the connection of two platforms is NONE; copy through the host");
    if (&queue.context() != &src.context() && &queue.context() != &dst.context())
        fail(PI_ERROR_INVALID_MEM_OBJECT, "src is of ", src.context().description(), ", dst of ",
             dst.context().description(), "; the queue, of ", queue.context().description(),
             ", must belong to either end");
}

std::unique_ptr<Command> make_migration(Mem &src, Mem &dst, Regions &&regions) {
    return std::make_unique<Migration>(src, dst, std::move(regions));
}

} // namespace pi::opencl
