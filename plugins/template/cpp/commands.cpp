// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands.
#include "objects.hpp"

#include <pi/sdk/region.hpp>

namespace plugin {

using sdk::fail;

namespace {

/// The last part of every piEnqueueX: `work()` is called when the command's dependencies are
/// complete. Its captured values live until then; an exception fails the event. Yours: the vendor's
/// asynchronous call, whose callback calls Event::finish.
template <class Work>
void enqueue(Queue &queue, const sdk::EnqueueArguments &arguments, Work work) {
    auto start = [&device = queue.device, work = std::move(work)](sdk::Event &event) mutable {
        event.submitted();
        device.workers.post([&work, running = Ref<sdk::Event>(event)] {
            running->running();
            try {
                work();
            } catch (...) {
                const sdk::Error error = sdk::current_error();
                return running->finish(error.code(), error.text());
            }
            running->finish(PI_SUCCESS);
        });
    };
    sdk::enqueue(queue, arguments, sdk::make_command(std::move(start)));
}

/// A pointer that a map returns: unmaps accept it from the map's enqueue on; removed again if the
/// map never runs.
class Promise {
public:
    Promise(Mem &mem, void *pointer) : mem_(mem), pointer_(pointer) { count(1); }
    Promise(Promise &&other) noexcept
        : mem_(std::move(other.mem_)), pointer_(std::exchange(other.pointer_, nullptr)) {}
    ~Promise() {
        if (pointer_)
            count(-1);
    }
    void *keep() { return std::exchange(pointer_, nullptr); }

private:
    void count(int change) {
        const std::scoped_lock lock(mem_->mutex);
        if (!(mem_->maps[pointer_] += change))
            mem_->maps.erase(pointer_);
    }
    Ref<Mem> mem_;
    void *pointer_;
};

/// A command that only has its place in the order.
template <class Desc>
void enqueue_nothing(Queue &queue, const Desc *desc, pi_struct_type type,
                     sdk::EnqueueArguments arguments) {
    arguments.flags = sdk::read_optional_desc(desc, type).flags;
    arguments.type = type;
    sdk::check_flags(arguments.flags, PI_COMMAND_BLOCKING, "flags");
    enqueue(queue, arguments, [] {});
}

} // namespace

pi_result PI_CALL enqueue_copy(pi_queue queue, const pi_buffer_copy_desc *desc, uint32_t wait_count,
                               const pi_event *wait_list, pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_BUFFER_COPY_DESC);
        sdk::check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &src = sdk::checked<Mem>(self.host(), known.src, "src");
        Mem &dst = sdk::checked<Mem>(self.host(), known.dst, "dst");
        auto regions = sdk::read_regions(known.region_count, known.regions, src.size, dst.size);
        for (const pi_region &region : regions) {
            sdk::Rectangle from = sdk::source(region), to = sdk::destination(region);
            from.offset += reinterpret_cast<uintptr_t>(src.bytes);
            to.offset += reinterpret_cast<uintptr_t>(dst.bytes);
            if (sdk::overlap(from, to))
                fail(PI_ERROR_MEM_COPY_OVERLAP, "a region's source and destination overlap");
        }
        enqueue(self, {known.flags, known.type, wait_count, wait_list, out_event},
                [from = Ref<Mem>(src), to = Ref<Mem>(dst), regions = std::move(regions)] {
                    for (const pi_region &region : regions)
                        sdk::for_each_piece(region, [&](uint64_t a, uint64_t b, uint64_t size) {
                            std::memcpy(to->bytes + b, from->bytes + a, size);
                        });
                });
    });
}

pi_result PI_CALL enqueue_map(pi_queue queue, const pi_buffer_map_desc *desc, uint32_t wait_count,
                              const pi_event *wait_list, pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_BUFFER_MAP_DESC);
        sdk::check_map_flags(known.flags);
        Mem &mem = sdk::checked<Mem>(self.host(), known.mem, "mem");
        sdk::require(known.out_pointer, "out_pointer");
        sdk::check_range(known.offset, known.size, mem.size, "mem");
        enqueue(self, {known.flags, known.type, wait_count, wait_list, out_event},
                [promise = Promise(mem, mem.bytes + known.offset),
                 out_pointer = known.out_pointer]() mutable { *out_pointer = promise.keep(); });
    });
}

pi_result PI_CALL enqueue_unmap(pi_queue queue, const pi_unmap_desc *desc, uint32_t wait_count,
                                const pi_event *wait_list, pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_UNMAP_DESC);
        sdk::check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &mem = sdk::checked<Mem>(self.host(), known.mem, "mem");
        sdk::require(known.pointer, "pointer");
        const auto check = [pointer = known.pointer](Mem &of, bool forget) {
            const std::scoped_lock lock(of.mutex);
            const auto found = of.maps.find(pointer);
            if (found == of.maps.end())
                fail(PI_ERROR_INVALID_VALUE, "pointer is ", pointer, ", which no map of mem gave");
            if (forget && !--found->second)
                of.maps.erase(found);
        };
        check(mem, false);
        enqueue(self, {known.flags, known.type, wait_count, wait_list, out_event},
                [check, of = Ref<Mem>(mem)] { check(*of, true); });
    });
}

pi_result PI_CALL enqueue_events_wait(pi_queue queue, const pi_events_wait_desc *desc,
                                      uint32_t wait_count, const pi_event *wait_list,
                                      pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        enqueue_nothing(
            self, desc, PI_TYPE_EVENTS_WAIT_DESC,
            {0, 0, wait_count, wait_list, out_event, sdk::Sequence::Role::WAIT_FOR_ALL});
    });
}

pi_result PI_CALL enqueue_barrier(pi_queue queue, const pi_barrier_desc *desc, uint32_t wait_count,
                                  const pi_event *wait_list, pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        enqueue_nothing(self, desc, PI_TYPE_BARRIER_DESC,
                        {0, 0, wait_count, wait_list, out_event, sdk::Sequence::Role::BARRIER});
    });
}

} // namespace plugin
