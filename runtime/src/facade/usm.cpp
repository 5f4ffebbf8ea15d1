// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on addresses, without the limits of piEnqueueUsm*.
#include "base/device_query.hpp"
#include "facade/keep_until.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/facade.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace pi::runtime::facade {
namespace {

using Bytes = std::vector<std::byte>;

/// Commands of one queue that run one after the other. The first has the wait list of the caller's
/// command, the last its flags.
class Chain {
public:
    Chain(Command &first, uint64_t flags) : first_(first), flags_(flags) {}
    Chain(const Chain &) = delete;
    Chain &operator=(const Chain &) = delete;
    /// What an incomplete chain uses may be destroyed after it.
    ~Chain() {
        if (event_) {
            piEventWait(event_.get(), PI_TIMEOUT_NEVER);
        }
    }

    template <class Desc, class Function>
    void add(const char *name, Function function, Desc desc, bool last) {
        desc.flags |= last ? flags_ : 0;
        if (!event_) {
            event_ = first_.enqueue(name, function, desc, true);
            return;
        }
        Command next(first_.queue());
        next.wait_for(event_);
        event_ = next.enqueue(name, function, desc, true);
    }
    void copy(const UsmCopy &copy, bool last);
    Event end() { return std::exchange(event_, {}); }

private:
    Command &first_;
    uint64_t flags_;
    Event event_;
};

/// A command that does nothing: behind the command's wait list, and all before it in its queue if
/// that is in order.
Event enqueue_nothing(Command &command, uint64_t flags) {
    auto desc = pi::desc<pi_events_wait_desc>();
    desc.flags = flags;
    return command.enqueue("piEnqueueEventsWait", piEnqueueEventsWait, desc, true);
}

bool is_dense(uint64_t width, uint64_t rows, uint64_t pitch) {
    return rows == 1 || pitch == width;
}

pi_region region_of(const UsmCopy &copy) {
    pi_region region{};
    const bool dense = is_dense(copy.width, copy.rows, copy.src_pitch) &&
                       is_dense(copy.width, copy.rows, copy.dst_pitch);
    region.extent[0] = dense ? copy.width * copy.rows : copy.width;
    region.extent[1] = dense ? 1 : copy.rows;
    region.extent[2] = 1;
    region.src_pitch[0] = dense ? 0 : copy.src_pitch;
    region.dst_pitch[0] = dense ? 0 : copy.dst_pitch;
    return region;
}

pi_usm_copy_desc describe(const UsmCopy &copy, const pi_region &region, uint64_t flags) {
    auto desc = pi::desc<pi_usm_copy_desc>();
    desc.flags = flags;
    desc.src = copy.src;
    desc.dst = copy.dst;
    desc.region_count = 1;
    desc.regions = &region;
    return desc;
}

void Chain::copy(const UsmCopy &copy, bool last) {
    const pi_region region = region_of(copy);
    add("piEnqueueUsmCopy", piEnqueueUsmCopy, describe(copy, region, 0), last);
}

// ----- Who can use an address ----------------------------------------------------------------

/// One end of a command.
struct End {
    std::optional<UsmOwner> owner; ///< empty for memory of the host
    bool own = false;              ///< of the queue's part

    End(const Queue &queue, const void *address) {
        if (const auto range = queue.context().usm().find(address)) {
            owner = UsmOwner{queue.shared_context(), *range};
        } else {
            owner = Context::find_usm(address);
        }
        own = owner && owner->context == queue.shared_context() && &part() == &queue.part();
    }
    const Part &part() const {
        return owner->range.device == nullptr ? owner->context->parts().front()
                                              : owner->context->part_of(owner->range.device);
    }
    /// Whether any thread may read and write it.
    bool host_accessible() const { return !owner || owner->range.kind != PI_USM_DEVICE; }
};

/// A queue for an end that another part or context owns; the command's own queue for others.
class QueueOf {
public:
    QueueOf(const Queue &queue, const End &end) : queue_(&queue) {
        if (!end.own && !end.host_accessible()) {
            queue_ = &other_.emplace(end.owner->context, end.owner->range.device, uint64_t{0});
        }
    }
    const Queue &operator*() const { return *queue_; }

private:
    std::optional<Queue> other_;
    const Queue *queue_;
};

// ----- Copies --------------------------------------------------------------------------------

void copy_rows(const UsmCopy &copy) {
    auto *const dst = static_cast<std::byte *>(copy.dst);
    const auto *const src = static_cast<const std::byte *>(copy.src);
    const bool backwards = std::less<>()(src, dst);
    for (uint64_t i = 0; i < copy.rows; ++i) {
        const uint64_t row = backwards ? copy.rows - 1 - i : i;
        std::memmove(dst + row * copy.dst_pitch, src + row * copy.src_pitch, copy.width);
    }
}

/// Whether an order of the rows keeps what overlaps: with different pitches there may be none.
bool has_order(const UsmCopy &copy) {
    if (copy.rows == 1 || copy.dst_pitch == copy.src_pitch) {
        return true;
    }
    const auto dst = reinterpret_cast<uintptr_t>(copy.dst);
    const auto src = reinterpret_cast<uintptr_t>(copy.src);
    const uint64_t last = copy.rows - 1;
    return dst + last * copy.dst_pitch + copy.width <= src ||
           src + last * copy.src_pitch + copy.width <= dst;
}

std::shared_ptr<Bytes> bytes_for(const UsmCopy &copy) {
    return std::make_shared<Bytes>(copy.width * copy.rows);
}
UsmCopy to_bytes(UsmCopy copy, Bytes &bytes) {
    copy.dst = bytes.data();
    copy.dst_pitch = copy.width;
    return copy;
}
UsmCopy from_bytes(UsmCopy copy, const Bytes &bytes) {
    copy.src = bytes.data();
    copy.src_pitch = copy.width;
    return copy;
}

Event copy_on_host(Command &command, const UsmCopy &copy, uint64_t flags) {
    if (has_order(copy)) {
        return enqueue_host_function(
            command, [copy] { copy_rows(copy); }, flags);
    }
    const auto bytes = bytes_for(copy);
    return enqueue_host_function(
        command,
        [copy, bytes] {
            copy_rows(to_bytes(copy, *bytes));
            copy_rows(from_bytes(copy, *bytes));
        },
        flags);
}

Event copy_overlapping(Command &command, const UsmCopy &copy, uint64_t flags) {
    const auto bytes = bytes_for(copy);
    Chain chain(command, flags);
    chain.copy(to_bytes(copy, *bytes), false);
    chain.copy(from_bytes(copy, *bytes), true);
    Event event = chain.end();
    keep_until(event, bytes);
    return event;
}

/// Each end by a queue that can use it.
Event copy_staged(Command &command, const UsmCopy &copy, uint64_t flags, const End &src,
                  const End &dst) {
    const Queue &queue = command.queue();
    const auto bytes = bytes_for(copy);
    const QueueOf src_queue(queue, src), dst_queue(queue, dst);
    Event event = enqueue_nothing(command, 0);
    // The commands keep the bytes, whatever fails later.
    Command read(*src_queue);
    read.wait_for(event);
    event = enqueue_usm_copy(read, to_bytes(copy, *bytes), 0, true);
    keep_until(event, bytes);
    Command write(*dst_queue);
    write.wait_for(event);
    event = enqueue_usm_copy(write, from_bytes(copy, *bytes), 0, true);
    keep_until(event, bytes);
    Command last(queue);
    last.wait_for(event);
    return enqueue_nothing(last, flags);
}

} // namespace

Event enqueue_usm_copy(Command &command, const UsmCopy &copy, uint64_t flags, bool wants_event) {
    const Queue &queue = command.queue();
    const End src(queue, copy.src), dst(queue, copy.dst);
    if (!src.owner && !dst.owner) {
        return copy_on_host(command, copy, flags);
    }
    // PI accepts USM of the queue's context, and host addresses.
    if ((src.own || dst.own) && (src.own || src.host_accessible()) &&
        (dst.own || dst.host_accessible())) {
        const pi_region region = region_of(copy);
        const pi_usm_copy_desc desc = describe(copy, region, flags);
        try {
            return command.enqueue("piEnqueueUsmCopy", piEnqueueUsmCopy, desc, wants_event);
        } catch (const Error &error) {
            if (error.code() == PI_ERROR_MEM_COPY_OVERLAP) {
                return copy_overlapping(command, copy, flags);
            }
            // A plugin may refuse USM of another context.
            if (error.code() != PI_ERROR_INVALID_USM_POINTER || (src.own && dst.own)) {
                throw;
            }
        }
    }
    if (src.host_accessible() && dst.host_accessible()) {
        return copy_on_host(command, copy, flags);
    }
    return copy_staged(command, copy, flags, src, dst);
}

// ----- Fills ---------------------------------------------------------------------------------

namespace {

constexpr uint64_t max_pattern = 128;       // of PI
constexpr uint64_t written_block = 1 << 16; // bytes from the host, which copies then double

/// The size of a pattern that PI accepts at this address and is the same when repeated; 0 if there
/// is none.
uint64_t accepted_pattern(const UsmFill &fill) {
    const auto *const bytes = static_cast<const std::byte *>(fill.pattern);
    const auto address = reinterpret_cast<uintptr_t>(fill.pointer);
    for (uint64_t size = 1; size <= std::min(max_pattern, fill.pattern_size); size *= 2) {
        if (fill.pattern_size % size == 0 && address % size == 0 && fill.width % size == 0 &&
            std::memcmp(bytes, bytes + size, fill.pattern_size - size) == 0) {
            return size;
        }
    }
    return 0;
}

pi_usm_fill_desc describe(const UsmFill &fill, uint64_t pattern_size, uint64_t flags) {
    auto desc = pi::desc<pi_usm_fill_desc>();
    desc.flags = flags;
    desc.pointer = fill.pointer;
    desc.pattern = fill.pattern;
    desc.pattern_size = pattern_size;
    desc.size = fill.width;
    return desc;
}

/// `size` bytes of the repeated pattern.
Bytes repeated(const UsmFill &fill, uint64_t size) {
    Bytes bytes(size);
    for (uint64_t at = 0; at < size; at += fill.pattern_size) {
        std::memcpy(bytes.data() + at, fill.pattern, std::min(fill.pattern_size, size - at));
    }
    return bytes;
}

Event fill_on_host(Command &command, const UsmFill &fill, uint64_t flags) {
    const auto *const bytes = static_cast<const std::byte *>(fill.pattern);
    return enqueue_host_function(
        command,
        [fill, pattern = Bytes(bytes, bytes + fill.pattern_size)] {
            uint64_t from = 0;
            for (uint64_t row = 0; row < fill.rows; ++row) {
                auto *const to = static_cast<std::byte *>(fill.pointer) + row * fill.pitch;
                for (uint64_t i = 0; i < fill.width; ++i) {
                    to[i] = pattern[from];
                    from = from + 1 == pattern.size() ? 0 : from + 1;
                }
            }
        },
        flags);
}

/// A block from the host, then copies of what is there already. The rows of a dense fill are its
/// bytes.
Event fill_by_copies(Command &command, UsmFill fill, uint64_t flags) {
    uint64_t block = fill.pattern_size / std::gcd(fill.pattern_size, fill.width);
    if (is_dense(fill.width, fill.rows, fill.pitch)) {
        block = fill.pattern_size * std::max<uint64_t>(written_block / fill.pattern_size, 1);
        fill.rows *= fill.width;
        fill.width = fill.pitch = 1;
    }
    uint64_t done = std::min(block, fill.rows);
    const auto bytes = std::make_shared<Bytes>(repeated(fill, done * fill.width));
    const auto *const begin = static_cast<const std::byte *>(fill.pointer);
    Chain chain(command, flags);
    const uint64_t pattern = fill.rows > 1 ? accepted_pattern(fill) : 0;
    if (block == 1 && pattern != 0) {
        chain.add("piEnqueueUsmFill", piEnqueueUsmFill, describe(fill, pattern, 0), false);
    } else {
        chain.copy({fill.pointer, bytes->data(), fill.width, done, fill.pitch, fill.width},
                   done == fill.rows);
    }
    while (done < fill.rows) {
        const uint64_t rows = std::min(done, fill.rows - done);
        auto *const to = static_cast<std::byte *>(fill.pointer) + done * fill.pitch;
        chain.copy({to, begin, fill.width, rows, fill.pitch, fill.pitch}, done + rows == fill.rows);
        done += rows;
    }
    Event event = chain.end();
    keep_until(event, bytes);
    return event;
}

void check_fill(const UsmFill &fill, const End &end) {
    const uint64_t last_row = (fill.rows - 1) * (fill.rows == 1 ? 0 : fill.pitch);
    const auto address = reinterpret_cast<uintptr_t>(fill.pointer);
    if (end.owner &&
        last_row + fill.width > end.owner->range.size - (address - end.owner->range.base)) {
        throw Error(PI_ERROR_INVALID_SIZE,
                    "the fill ends " + std::to_string(last_row + fill.width) +
                        " bytes after its pointer, past the end of the allocation of " +
                        std::to_string(end.owner->range.size) + " bytes");
    }
}

} // namespace

Event enqueue_usm_fill(Command &command, const UsmFill &fill, uint64_t flags, bool wants_event) {
    if (fill.width == 0 || fill.rows == 0 || fill.pattern_size == 0 ||
        fill.width * fill.rows % fill.pattern_size != 0) {
        throw Error(PI_ERROR_INVALID_SIZE, std::to_string(fill.rows) + " rows of " +
                                               std::to_string(fill.width) +
                                               " bytes: not a multiple of the pattern's " +
                                               std::to_string(fill.pattern_size) + " bytes");
    }
    if (fill.rows > 1 && fill.pitch == fill.width) {
        UsmFill dense = fill;
        dense.width *= dense.rows;
        dense.rows = 1;
        return enqueue_usm_fill(command, dense, flags, wants_event);
    }
    const Queue &queue = command.queue();
    const End end(queue, fill.pointer);
    check_fill(fill, end);
    if (!end.own && end.host_accessible()) {
        return fill_on_host(command, fill, flags);
    }
    if (!end.own) {
        const QueueOf owner(queue, end);
        Command there(*owner), last(queue);
        there.wait_for(enqueue_nothing(command, 0));
        last.wait_for(enqueue_usm_fill(there, fill, 0, true));
        return enqueue_nothing(last, flags);
    }
    const uint64_t pattern = accepted_pattern(fill);
    if (fill.rows == 1 && pattern != 0) {
        return command.enqueue("piEnqueueUsmFill", piEnqueueUsmFill, describe(fill, pattern, flags),
                               wants_event);
    }
    return end.owner->range.kind == PI_USM_HOST ? fill_on_host(command, fill, flags)
                                                : fill_by_copies(command, fill, flags);
}

// ----- Host functions ------------------------------------------------------------------------

namespace {

using Function = std::function<void()>;

bool has_host_functions(const Queue &queue) {
    const auto capabilities = device_info<uint64_t>(queue.device(), PI_DEVICE_INFO_CAPABILITIES, 0);
    return (capabilities & PI_CAPABILITY_HOST_FUNCTION) != 0;
}

struct Continuation {
    Function function;
    runtime::Event done;
};
void PI_CALL run_continuation(pi_event, pi_result result, void *data) {
    const std::unique_ptr<Continuation> self(static_cast<Continuation *>(data));
    if (result == PI_SUCCESS) {
        self->function();
    }
    piEventSignalHost(self->done.get(), result == PI_SUCCESS ? result : PI_ERROR_DEPENDENCY_FAILED);
}

/// Between two commands that do nothing: the first one's callback lets the second begin.
Event run_by_callback(Command &command, Function function, uint64_t flags) {
    const Queue &queue = command.queue();
    auto next = std::make_unique<Continuation>();
    next->function = std::move(function);
    check(piEventCreateHost(queue.part().context.get(), nullptr, next->done.out()),
          "piEventCreateHost");
    const runtime::Event done = next->done;
    const Event ready = enqueue_nothing(command, 0);
    check(piQueueFlush(queue.get()), "piQueueFlush");
    check(piEventSetCallback(ready.get(), &run_continuation, next.get()), "piEventSetCallback");
    static_cast<void>(next.release());
    Command last(queue);
    last.wait_for(done);
    return enqueue_nothing(last, flags);
}

} // namespace

Event enqueue_host_function(Command &command, Function function, uint64_t flags) {
    if (!has_host_functions(command.queue())) {
        return run_by_callback(command, std::move(function), flags);
    }
    const auto kept = std::make_shared<Function>(std::move(function));
    auto desc = pi::desc<pi_host_function_desc>();
    desc.flags = flags;
    desc.function = [](void *data) { (*static_cast<Function *>(data))(); };
    desc.user_data = kept.get();
    Event event = command.enqueue("piEnqueueHostFunction", piEnqueueHostFunction, desc, true);
    keep_until(event, kept);
    return event;
}

} // namespace pi::runtime::facade
