// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "map_work.hpp"

#include "error.hpp"
#include "functions.hpp"
#include "layer.hpp"
#include "plugin.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace pi::loader {
namespace {

// A reference that is released through the plugin's own table.
template <typename Handle, pi_result (*pi_dispatch::*Release)(Handle)>
class Owned {
public:
    explicit Owned(const pi_dispatch &base, Handle handle = nullptr) noexcept
        : base_(base), handle_(handle) {}
    ~Owned() { reset(); }
    Owned(const Owned &) = delete;
    Owned &operator=(const Owned &) = delete;

    Handle get() const noexcept { return handle_; }
    Handle *out() noexcept { return &handle_; }
    Handle detach() noexcept { return std::exchange(handle_, nullptr); }
    void reset(Handle handle = nullptr) noexcept {
        if (handle_ != nullptr)
            (base_.*Release)(handle_);
        handle_ = handle;
    }

private:
    const pi_dispatch &base_;
    Handle handle_;
};
using OwnedEvent = Owned<pi_event, &pi_dispatch::piEventRelease>;
using OwnedQueue = Owned<pi_queue, &pi_dispatch::piQueueRelease>;
using OwnedMem = Owned<pi_mem, &pi_dispatch::piMemRelease>;

// Lives from the enqueue until the range is unmapped.
//
//   caller's queue:   map(start, wait list) ......... wait(map, gate) = the command's event
//   a callback:                     work
//   a private queue:                      unmap ... signals the gate
//
// The wait is in the caller's queue from the beginning, so an in-order queue stays in order. The
// unmap cannot be there: its address is unknown until the map completes, and behind the wait it
// would never run. `start` is signalled once everything is enqueued, or with an error if that
// fails; then the map does nothing.
struct Operation {
    Operation(const pi_dispatch &table, MapWork &&map_work)
        : base(table), work(std::move(map_work)), mem(base), unmap_queue(base), start(base),
          gate(base), map_event(base), unmap_event(base) {}

    const pi_dispatch &base;
    MapWork work;
    void *mapped = nullptr;
    OwnedMem mem; // a mapped object must live until its unmap is enqueued
    OwnedQueue unmap_queue;
    OwnedEvent start;
    OwnedEvent gate;
    OwnedEvent map_event;
    OwnedEvent unmap_event;
};

void finish(Operation *operation, pi_result result) noexcept {
    const std::unique_ptr<Operation> last(operation);
    const ErrorScope scope;
    operation->base.piEventSignalHost(operation->gate.get(),
                                      result > 0 ? PI_ERROR_INTERNAL : result);
}

void PI_CALL on_unmapped(pi_event, pi_result result, void *user_data) {
    finish(static_cast<Operation *>(user_data), result);
}

void PI_CALL on_mapped(pi_event, pi_result result, void *user_data) {
    auto *operation = static_cast<Operation *>(user_data);
    const pi_dispatch &base = operation->base;
    if (result != PI_SUCCESS) {
        // The map's own event passes the error and its text on to the command's event.
        finish(operation, PI_SUCCESS);
        return;
    }
    operation->work.run(static_cast<unsigned char *>(operation->mapped));

    const ErrorScope scope;
    auto unmap = pi_unmap_desc{sizeof(pi_unmap_desc), PI_TYPE_UNMAP_DESC};
    unmap.mem = operation->mem.get();
    unmap.pointer = operation->mapped;
    const pi_queue queue = operation->unmap_queue.get();
    result = base.piEnqueueMemUnmap(queue, &unmap, 0, nullptr, operation->unmap_event.out());
    if (result != PI_SUCCESS) {
        finish(operation, result);
        return;
    }
    // Flushed first: the callback may run at once and end the operation.
    base.piQueueFlush(queue);
    result = base.piEventSetCallback(operation->unmap_event.get(), on_unmapped, operation);
    if (result != PI_SUCCESS)
        finish(operation, result);
}

// A blocking command must be refused before anything is enqueued, and only the plugin knows whether
// this is a callback. A wait for the gate, which is not signalled yet, shows it.
pi_result check_may_block(const Operation &operation) {
    const ErrorScope scope;
    return operation.base.piEventWait(operation.gate.get(), 1) == PI_ERROR_WOULD_BLOCK
               ? PI_ERROR_WOULD_BLOCK
               : PI_SUCCESS;
}

pi_result prepare(Operation &operation, pi_queue queue) {
    const pi_dispatch &base = operation.base;
    pi_context context = nullptr;
    pi_device device = nullptr;
    pi_result result =
        base.piQueueGetInfo(queue, PI_QUEUE_INFO_CONTEXT, sizeof context, &context, nullptr);
    if (result == PI_SUCCESS)
        result = base.piQueueGetInfo(queue, PI_QUEUE_INFO_DEVICE, sizeof device, &device, nullptr);
    if (result == PI_SUCCESS)
        result = base.piEventCreateHost(context, nullptr, operation.start.out());
    if (result == PI_SUCCESS)
        result = base.piEventCreateHost(context, nullptr, operation.gate.out());
    if (result == PI_SUCCESS && operation.work.blocking) {
        result = check_may_block(operation);
        if (result != PI_SUCCESS)
            return fail_text(result, "a blocking command inside a callback");
    }
    if (result == PI_SUCCESS)
        result = base.piQueueCreate(context, device, nullptr, operation.unmap_queue.out());
    if (result == PI_SUCCESS)
        result = base.piMemRetain(operation.work.mem);
    if (result == PI_SUCCESS)
        operation.mem.reset(operation.work.mem);
    return result;
}

pi_result explain(const char *function, pi_result result) {
    if (result == PI_SUCCESS)
        return result;
    const std::string cause = last_error().code == result ? last_error().message : "";
    return fail(result, "{} (done by map and unmap): {}", function, cause);
}

// Enqueues the map and the command's end, and passes the operation to its callback.
pi_result submit(std::unique_ptr<Operation> &operation, pi_queue queue, uint32_t wait_count,
                 const pi_event *wait_list, OwnedEvent &final_event) {
    const pi_dispatch &base = operation->base;
    std::vector<pi_event> map_waits(wait_list, wait_list + wait_count);
    map_waits.push_back(operation->start.get());
    auto map = pi_buffer_map_desc{sizeof(pi_buffer_map_desc), PI_TYPE_BUFFER_MAP_DESC};
    map.flags = operation->work.map_flags;
    map.mem = operation->work.mem;
    map.offset = operation->work.offset;
    map.size = operation->work.size;
    map.out_pointer = &operation->mapped;
    // Another thread's operation between the two commands would begin before this one's work ends.
    std::unique_lock lock(TableChain::of(dispatch_of(queue)).instance->map_work_mutex());
    pi_result result =
        base.piEnqueueMemBufferMap(queue, &map, static_cast<uint32_t>(map_waits.size()),
                                   map_waits.data(), operation->map_event.out());
    if (result != PI_SUCCESS)
        return result;

    // The wait for the map brings its error and text, the wait for the gate the time.
    const pi_event end_waits[] = {operation->map_event.get(), operation->gate.get()};
    result = base.piEnqueueEventsWait(queue, nullptr, 2, end_waits, final_event.out());
    lock.unlock();
    if (result == PI_SUCCESS)
        result = base.piEventSetCallback(operation->map_event.get(), on_mapped, operation.get());
    if (result != PI_SUCCESS) {
        // With `start` failed, the map never writes its address, and its waiters continue.
        const ErrorScope scope;
        base.piEventSignalHost(operation->start.get(), result);
        base.piEventSignalHost(operation->gate.get(), PI_SUCCESS);
        return result;
    }
    // From here on the callback ends the operation, perhaps before the signal returns.
    OwnedEvent start(base, operation->start.detach());
    static_cast<void>(operation.release());
    const ErrorScope scope;
    base.piEventSignalHost(start.get(), PI_SUCCESS);
    base.piQueueFlush(queue);
    return PI_SUCCESS;
}

} // namespace

pi_result enqueue_map_work(pi_queue queue, MapWork work, uint32_t wait_count,
                           const pi_event *wait_list, pi_event *out_event) {
    const char *function = work.function;
    const bool blocking = work.blocking;
    if (wait_count != 0 && wait_list == nullptr)
        return fail(PI_ERROR_INVALID_WAIT_LIST, "{}: wait_list is NULL, but wait_count is {}",
                    function, wait_count);
    const pi_dispatch &base = TableChain::of(dispatch_of(queue)).base();
    auto operation = std::make_unique<Operation>(base, std::move(work));
    OwnedEvent final_event(base);
    pi_result result = prepare(*operation, queue);
    if (result == PI_SUCCESS)
        result = submit(operation, queue, wait_count, wait_list, final_event);
    result = explain(function, result);
    if (result == PI_SUCCESS && blocking)
        result = base.piEventWait(final_event.get(), PI_TIMEOUT_NEVER);
    if (result == PI_SUCCESS && out_event != nullptr)
        *out_event = final_event.detach();

    // Releasing the parts must not overwrite the error.
    const ErrorScope scope;
    operation.reset();
    final_event.reset();
    return result;
}

} // namespace pi::loader
