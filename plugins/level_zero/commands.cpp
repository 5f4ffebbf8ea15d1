// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads, writes, copies and fills of buffers.
#include "commands.hpp"
#include "entries.hpp"

#include <optional>

namespace pi::level_zero {

using namespace sdk;

End end_of(Mem &mem) {
    return {mem.address(), &mem.place(), mem.in_host(), mem.image()};
}

namespace {

class CopyCommand final : public PlainCommand {
public:
    CopyCommand(const Target &target, const End &src, const End &dst, const EndMems &mems,
                Regions &&regions)
        : PlainCommand(target.queue), src_(src), dst_(dst), regions_(std::move(regions)) {
        if (mems.src)
            src_mem_.emplace(target, *mems.src);
        if (mems.dst)
            dst_mem_.emplace(target, *mems.dst);
    }

private:
    void issue(Submission &submission) override {
        append_regions(submission, src_, dst_, regions_);
    }
    const End src_, dst_;
    std::optional<CommandRef<Mem>> src_mem_, dst_mem_;
    const Regions regions_;
};

/// A copy on a thread of the instance: by another place's list, or through the host.
class TransferCommand final : public Command {
public:
    TransferCommand(Queue &queue, Place *executor, const End &src, const End &dst,
                    const EndMems &mems, Regions &&regions)
        : queue_(queue), place_(queue.place()), executor_(executor), src_(src), dst_(dst),
          regions_(std::move(regions)) {
        if (mems.src)
            src_mem_ = Ref<Mem>(*mems.src);
        if (mems.dst)
            dst_mem_ = Ref<Mem>(*mems.dst);
    }

    void start(Event &event) override {
        place_.require_alive();
        Workers &threads = place_.instance().transfers();
        auto task = threads.prepare([this, event = Ref<Event>(event)] { run_as(*event); });
        event.submitted();
        queue_.behind_list(threads, std::move(task));
    }
    void run() { transfer(executor_, src_, dst_, regions_); }

private:
    void run_as(Event &event) {
        event.running();
        try {
            run();
        } catch (...) {
            const Error error = current_error();
            return event.finish(error.code(), error.text());
        }
        event.finish(PI_SUCCESS);
    }

    Queue &queue_; ///< the event keeps it alive
    Place &place_;
    Place *const executor_;
    const End src_, dst_;
    Ref<Mem> src_mem_, dst_mem_;
    const Regions regions_;
};

class FillCommand final : public PlainCommand {
public:
    FillCommand(const Target &target, std::byte *address, Mem *mem, std::vector<std::byte> pattern,
                uint64_t size)
        : PlainCommand(target.queue), address_(address), pattern_(std::move(pattern)), size_(size) {
        if (mem)
            mem_.emplace(target, *mem);
    }

private:
    void issue(Submission &submission) override {
        append_fill(submission, address_, size_, pattern_);
    }
    std::byte *const address_;
    std::optional<CommandRef<Mem>> mem_;
    const std::vector<std::byte> pattern_;
    const uint64_t size_;
};

/// A fill with a pattern longer than the driver supports.
class StripFillCommand final : public ListCommand {
public:
    StripFillCommand(const Target &target, std::byte *address, Mem *mem,
                     const std::vector<std::byte> &pattern, uint64_t size)
        : ListCommand(target.queue), address_(address), strip_(make_strip(size, pattern)),
          size_(size) {
        if (mem)
            mem_.emplace(target, *mem);
    }

private:
    void issue(Submission &submission) override {
        append_fill_from(strip_, submission, address_, size_);
    }
    std::byte *const address_;
    std::optional<CommandRef<Mem>> mem_;
    const std::vector<std::byte> strip_;
    const uint64_t size_;
};

} // namespace

void enqueue_fill(Queue &queue, const EnqueueArguments &arguments, std::byte *address, Mem *mem,
                  std::vector<std::byte> pattern, uint64_t size) {
    if (pattern.size() <= queue.device().engines().max_pattern)
        enqueue_list<FillCommand>(queue, arguments, address, mem, std::move(pattern), size);
    else
        enqueue_list<StripFillCommand>(queue, arguments, address, mem, pattern, size);
}

void enqueue_copy(Queue &queue, const EnqueueArguments &arguments, const End &src, const End &dst,
                  const EndMems &mems, Regions &&regions) {
    queue.place().require_alive();
    Place *const executor = find_executor(queue.place(), src, dst, regions);
    if (executor == &queue.place())
        return enqueue_list<CopyCommand>(queue, arguments, src, dst, mems, std::move(regions));
    auto command =
        std::make_unique<TransferCommand>(queue, executor, src, dst, mems, std::move(regions));
    if (runs_within_call(queue, arguments))
        if (const TurnWithinCall turn(queue); turn)
            return run_within_call(queue, arguments, [&](Event *event) {
                if (event)
                    event->running();
                queue.wait_for_list();
                command->run();
            });
    enqueue(queue, arguments, std::move(command));
}

void check_copy(const Queue &queue, const Mem &src, const Mem &dst) {
    const Place &user = queue.place();
    const auto same_driver = [&](const Mem &mem) {
        return mem.device().platform().id() == user.device().platform().id();
    };
    if ((&src.place() == &user || &dst.place() == &user) && same_driver(src) && same_driver(dst))
        return;
    require_usable(user, src, "src");
    require_usable(user, dst, "dst");
}

namespace entries {

pi_result PI_CALL piEnqueueMemBufferRead(pi_queue queue, const pi_buffer_read_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_READ_DESC);
        Mem &mem = checked_buffer(self.place(), self.host(), known.mem, "mem");
        require(known.host_ptr, "host_ptr");
        enqueue_list<CopyCommand>(
            self, {known.flags, known.type, wait_count, wait_list, out_event}, end_of(mem),
            End{static_cast<std::byte *>(known.host_ptr)}, EndMems{&mem, nullptr},
            read_regions(known.region_count, known.regions, mem.size(), std::nullopt));
    });
}

pi_result PI_CALL piEnqueueMemBufferWrite(pi_queue queue, const pi_buffer_write_desc *desc,
                                          uint32_t wait_count, const pi_event *wait_list,
                                          pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_WRITE_DESC);
        Mem &mem = checked_buffer(self.place(), self.host(), known.mem, "mem");
        require(known.host_ptr, "host_ptr");
        enqueue_list<CopyCommand>(
            self, {known.flags, known.type, wait_count, wait_list, out_event},
            End{static_cast<std::byte *>(const_cast<void *>(known.host_ptr))}, end_of(mem),
            EndMems{nullptr, &mem},
            read_regions(known.region_count, known.regions, std::nullopt, mem.size()));
    });
}

pi_result PI_CALL piEnqueueMemBufferCopy(pi_queue queue, const pi_buffer_copy_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_COPY_DESC);
        Mem &src = checked<Mem>(self.host(), known.src, "src");
        Mem &dst = checked<Mem>(self.host(), known.dst, "dst");
        require_buffer(src, "src");
        require_buffer(dst, "dst");
        check_copy(self, src, dst);
        auto regions = read_regions(known.region_count, known.regions, src.size(), dst.size());
        // Comparing addresses suffices: no two devices share a range, nor do a device and the host.
        check_overlap({regions.data(), regions.size()}, src.address(), dst.address());
        enqueue_copy(self, {known.flags, known.type, wait_count, wait_list, out_event}, end_of(src),
                     end_of(dst), {&src, &dst}, std::move(regions));
    });
}

pi_result PI_CALL piEnqueueMemBufferFill(pi_queue queue, const pi_buffer_fill_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_FILL_DESC);
        Mem &mem = checked_buffer(self.place(), self.host(), known.mem, "mem");
        auto pattern = read_pattern(known.pattern, known.pattern_size, known.offset, known.size);
        check_range(known.offset, known.size, mem.size(), "mem");
        enqueue_fill(self, {known.flags, known.type, wait_count, wait_list, out_event},
                     mem.address() + known.offset, &mem, std::move(pattern), known.size);
    });
}

} // namespace entries
} // namespace pi::level_zero
