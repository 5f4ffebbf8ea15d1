// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/commands.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>
#include <pi/thread.hpp>

#include <chrono>
#include <exception>
#include <new>
#include <thread>

namespace pi::runtime {
namespace {

std::string event_text(pi_event event, pi_result result) {
    std::string text = result_name(result);
    uint64_t size = 0;
    if (piEventGetInfo(event, PI_EVENT_INFO_ERROR_TEXT, 0, nullptr, &size) == PI_SUCCESS &&
        size > 1) {
        std::string detail(size, '\0');
        if (piEventGetInfo(event, PI_EVENT_INFO_ERROR_TEXT, size, detail.data(), nullptr) ==
            PI_SUCCESS) {
            text += ": ";
            text.append(detail, 0, detail.find('\0'));
        }
    }
    return text;
}

/// The data of a plugin's callback, allocated in advance since a callback cannot report that memory
/// is out. It keeps the event alive until the callback.
struct Notice {
    Notice(std::shared_ptr<Continuations> where, TransferDone done)
        : continuations(std::move(where)),
          work(Continuations::prepare([done = std::move(done), outcome = outcome] {
              done(outcome->result, outcome->text);
          })) {}

    Event event;
    const std::shared_ptr<Continuations> continuations;
    const std::shared_ptr<Outcome> outcome = std::make_shared<Outcome>();
    Continuations::Prepared work;
};

void PI_CALL on_final(pi_event event, pi_result result, void *user_data) noexcept {
    std::unique_ptr<Notice> notice(static_cast<Notice *>(user_data));
    notice->outcome->result = result;
    if (result != PI_SUCCESS) {
        try {
            notice->outcome->text = event_text(event, result);
        } catch (const std::exception &) {
            // The result alone has to do.
        }
    }
    const auto continuations = notice->continuations;
    Continuations::Prepared work = std::move(notice->work);
    notice.reset(); // the posted work may end the last wait: no handle may outlive it
    continuations->post(std::move(work));
}

/// Offsets of the ranges at one end.
class Offsets {
public:
    explicit Offsets(const Endpoint &end) : end_(end) {}
    uint64_t next(const Range &range) {
        const uint64_t offset = end_.packed ? packed_ : range.begin - end_.begin;
        packed_ += range.size();
        return offset;
    }

private:
    const Endpoint &end_;
    uint64_t packed_ = 0;
};

std::vector<pi_region> regions_of(const RangeSet &ranges, const Endpoint &from,
                                  const Endpoint &to) {
    const auto region = [](uint64_t src, uint64_t dst, uint64_t size) {
        pi_region result{};
        result.src_offset = src;
        result.dst_offset = dst;
        result.extent[0] = size;
        return result;
    };
    if (from.packed && to.packed) {
        return {region(0, 0, ranges.bytes())};
    }
    std::vector<pi_region> regions;
    regions.reserve(ranges.ranges().size());
    Offsets src(from);
    Offsets dst(to);
    for (const Range &range : ranges.ranges()) {
        regions.push_back(region(src.next(range), dst.next(range), range.size()));
    }
    return regions;
}

} // namespace

Submitted another(const Submitted &command) noexcept {
    try {
        return command;
    } catch (const Error &) {
        return {};
    }
}

namespace {

/// Takes the event over if the plugin accepts a callback; else it stays the caller's. Allocates
/// nothing here.
pi_result call_when_complete(Event &event, std::unique_ptr<Notice> notice) {
    const pi_event raw = event.get();
    notice->event = std::move(event);
    const pi_result result = piEventSetCallback(raw, &on_final, notice.get());
    if (result == PI_SUCCESS) {
        static_cast<void>(notice.release()); // owned by the callback, which may have run already
    } else {
        event = std::move(notice->event);
    }
    return result;
}

void answer_from_thread(std::function<Outcome()> call, std::shared_ptr<Continuations> continuations,
                        TransferDone done) {
    thread_without_signals([call = std::move(call),
                            notice = std::make_unique<Notice>(std::move(continuations),
                                                              std::move(done))]() mutable {
        try {
            *notice->outcome = call();
        } catch (const std::exception &) {
            notice->outcome->result = PI_ERROR_OUT_OF_HOST_MEMORY;
        }
        call = nullptr; // as above
        notice->continuations->post(std::move(notice->work));
    }).detach();
}

/// For an event that accepts no callback. Its command is running all the same, and its memory must
/// not be used again before it is over: a thread waits for it. Takes the event over, unless it
/// throws.
void when_complete_by_thread(Event &event, std::shared_ptr<Continuations> continuations,
                             TransferDone done) {
    const auto kept = std::make_shared<Event>(std::move(event));
    try {
        const auto wait = [kept] {
            const pi_result result = piEventWait(kept->get(), PI_TIMEOUT_NEVER);
            Outcome outcome{result,
                            result == PI_SUCCESS ? std::string() : event_text(kept->get(), result)};
            kept->reset(); // other copies may live a moment longer
            return outcome;
        };
        answer_from_thread(wait, std::move(continuations), std::move(done));
    } catch (...) {
        event = std::move(*kept);
        throw;
    }
}

} // namespace

void when_complete(Event event, const std::shared_ptr<Continuations> &continuations,
                   TransferDone done) {
    // Without a flush the command may never begin; a wait flushes, too.
    pi_queue queue = nullptr;
    const bool is_flushed = piEventGetInfo(event.get(), PI_EVENT_INFO_QUEUE, sizeof queue, &queue,
                                           nullptr) == PI_SUCCESS &&
                            (queue == nullptr || piQueueFlush(queue) == PI_SUCCESS);
    if (!is_flushed ||
        call_when_complete(event, std::make_unique<Notice>(continuations, done)) != PI_SUCCESS) {
        when_complete_by_thread(event, continuations, std::move(done));
    }
}

pi_result wait_until_complete(pi_event event) noexcept {
    pi_result result = piEventWait(event, PI_TIMEOUT_NEVER);
    if (result != PI_ERROR_WOULD_BLOCK) {
        return result;
    }
    while ((result = piEventWait(event, 0)) == PI_ERROR_TIMEOUT) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return result;
}

Commands::Commands(std::shared_ptr<const Topology> topology,
                   std::shared_ptr<Continuations> continuations)
    : topology_(std::move(topology)), continuations_(std::move(continuations)),
      standing_maps_(std::make_shared<StandingMaps>(continuations_)) {}

Queue Commands::queue_of(const Target &target) {
    const std::lock_guard lock(mutex_);
    Queue &queue = queues_[{target.link.from, target.link.to}];
    if (!queue) {
        check(piQueueCreate(topology_->context(target.place), topology_->device(target.place),
                            nullptr, queue.out()),
              "piQueueCreate");
    }
    return queue;
}

std::vector<pi_event> Commands::wait_list(const Target &target) const {
    std::vector<pi_event> events;
    for (const Submitted &before : target.after) {
        if (before.event && before.instance == topology_->info(target.place).instance) {
            events.push_back(before.event.get());
        }
    }
    return events;
}

void Commands::call_on_thread(std::function<Outcome()> call, TransferDone done) const {
    answer_from_thread(std::move(call), continuations_, std::move(done));
}

template <class Enqueue>
Commands::After Commands::submit(const Target &target, const TransferDone &done, const char *name,
                                 Enqueue enqueue) {
    try {
        const Queue queue = queue_of(target);
        const std::vector<pi_event> waits = wait_list(target);
        auto notice = std::make_unique<Notice>(continuations_, done);
        After submitted(1); // allocated before the command, which could not be lost
        Event event;
        check(enqueue(queue.get(), static_cast<uint32_t>(waits.size()),
                      waits.empty() ? nullptr : waits.data(), event.out()),
              name);
        const bool is_flushed = piQueueFlush(queue.get()) == PI_SUCCESS; // as in when_complete
        Submitted own{std::move(event), topology_->info(target.place).instance};
        try {
            submitted.front() = another(own);
            if (!is_flushed || call_when_complete(own.event, std::move(notice)) != PI_SUCCESS) {
                when_complete_by_thread(own.event, continuations_, done);
            }
            return submitted;
        } catch (...) {
            // The command is running: its memory must not be freed before it ends.
            wait_until_complete(own.event.get());
            throw;
        }
    } catch (const Error &error) {
        done(error.code(), text_if_possible(error.what()));
    } catch (const std::exception &error) {
        done(PI_ERROR_OUT_OF_HOST_MEMORY, text_if_possible(error.what()));
    }
    return {};
}

Commands::After Commands::move(const Endpoint &from, const Endpoint &to, const RangeSet &ranges,
                               const TransferDone &done, const After &after) {
    std::vector<pi_region> regions;
    try {
        regions = regions_of(ranges, from, to);
    } catch (const std::bad_alloc &error) {
        done(PI_ERROR_OUT_OF_HOST_MEMORY, error.what());
        return {};
    }
    const auto submit_regions = [&](auto desc, const char *name, auto enqueue, PlaceIndex place) {
        desc.region_count = static_cast<uint32_t>(regions.size());
        desc.regions = regions.data();
        return submit(
            {place, {from.place, to.place}, after}, done, name,
            [&](pi_queue queue, uint32_t wait_count, const pi_event *wait_list, pi_event *event) {
                return enqueue(queue, &desc, wait_count, wait_list, event);
            });
    };
    if (from.mem == nullptr) {
        auto desc = pi::desc<pi_buffer_write_desc>();
        desc.mem = to.mem;
        desc.host_ptr = from.host;
        return submit_regions(desc, "piEnqueueMemBufferWrite", &piEnqueueMemBufferWrite, to.place);
    }
    if (to.mem == nullptr) {
        auto desc = pi::desc<pi_buffer_read_desc>();
        desc.mem = from.mem;
        desc.host_ptr = to.host;
        return submit_regions(desc, "piEnqueueMemBufferRead", &piEnqueueMemBufferRead, from.place);
    }
    auto desc = pi::desc<pi_buffer_copy_desc>();
    desc.src = from.mem;
    desc.dst = to.mem;
    const auto preferred = topology_->description().buffer(from.place, to.place).preferred_queue;
    return submit_regions(desc, "piEnqueueMemBufferCopy", &piEnqueueMemBufferCopy,
                          preferred == PI_PREFERRED_QUEUE_SRC ? from.place : to.place);
}

Commands::After Commands::map(BufferMap &map, uint64_t flags, const TransferDone &done,
                              const After &after) {
    auto desc = pi::desc<pi_buffer_map_desc>();
    desc.flags = flags;
    desc.mem = map.mem.get();
    desc.offset = map.range.begin;
    desc.size = map.range.size();
    desc.out_pointer = &map.pointer;
    return submit(
        {map.place, {map.place, map.place}, after}, done, "piEnqueueMemBufferMap",
        [&](pi_queue queue, uint32_t wait_count, const pi_event *wait_list, pi_event *event) {
            return piEnqueueMemBufferMap(queue, &desc, wait_count, wait_list, event);
        });
}

Commands::After Commands::unmap(const BufferMap &map, const TransferDone &done,
                                const After &after) {
    auto desc = pi::desc<pi_unmap_desc>();
    desc.mem = map.mem.get();
    desc.pointer = map.pointer;
    return submit(
        {map.place, {map.place, map.place}, after}, done, "piEnqueueMemUnmap",
        [&](pi_queue queue, uint32_t wait_count, const pi_event *wait_list, pi_event *event) {
            return piEnqueueMemUnmap(queue, &desc, wait_count, wait_list, event);
        });
}

void Commands::undo_maps(pi_mem mem, const RangeSet &ranges, bool writes,
                         const TransferDone &done) {
    if (!standing_maps_->any()) {
        done(PI_SUCCESS, {});
        return;
    }
    standing_maps_->undo(
        mem, ranges, writes,
        [self = shared_from_this()](const BufferMap &map, const TransferDone &unmapped) {
            self->unmap(map, unmapped);
        },
        done);
}

} // namespace pi::runtime
