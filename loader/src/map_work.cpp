// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "map_work.hpp"

#include "error.hpp"
#include "functions.hpp"
#include "layer.hpp"

#include <memory>

namespace pi::loader {
namespace {

// A reference that is given back through the plugin's own table.
template <typename Handle, pi_result (*pi_dispatch::*Release)(Handle)>
class Owned {
public:
    Owned() = default;
    ~Owned() { reset(); }
    Owned(const Owned &) = delete;
    Owned &operator=(const Owned &) = delete;

    Handle get() const noexcept { return handle_; }
    Handle *out() noexcept { return &handle_; }
    void reset(const pi_dispatch *base = nullptr, Handle handle = nullptr) noexcept {
        if (handle_ != nullptr)
            (base_->*Release)(handle_);
        base_ = base;
        handle_ = handle;
    }
    void set_base(const pi_dispatch *base) noexcept { base_ = base; }
    Handle detach() noexcept { return std::exchange(handle_, nullptr); }

private:
    const pi_dispatch *base_ = nullptr;
    Handle handle_ = nullptr;
};
using OwnedEvent = Owned<pi_event, &pi_dispatch::piEventRelease>;
using OwnedQueue = Owned<pi_queue, &pi_dispatch::piQueueRelease>;
using OwnedMem = Owned<pi_mem, &pi_dispatch::piMemRelease>;

// What lives from the enqueue until the range is unmapped.
//
//   caller's queue:   map(wait list) ......... wait(map, gate) = the command's event
//   a callback:              work
//   a private queue:              unmap ... signals the gate
//
// The wait stands in the caller's queue from the beginning, so an in-order queue stays in order. The
// unmap cannot stand there: its address is not known before the map is complete, and behind the wait
// it would never run.
struct Operation {
    Operation(const pi_dispatch &table, MapWork &&map_work)
        : base(table), work(std::move(map_work)) {
        gate.set_base(&base);
        unmap_queue.set_base(&base);
        map_event.set_base(&base);
        unmap_event.set_base(&base);
    }

    const pi_dispatch &base;
    MapWork work;
    void *mapped = nullptr;
    bool cancelled = false; // the enqueue failed after the map: only unmap
    OwnedMem mem;           // a mapped object must not go before its unmap is enqueued
    OwnedQueue unmap_queue;
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
        finish(operation, result);
        return;
    }
    if (!operation->cancelled)
        operation->work.run(static_cast<unsigned char *>(operation->mapped));

    const ErrorScope scope;
    const pi_unmap_desc unmap{sizeof unmap,         PI_TYPE_UNMAP_DESC, nullptr, 0,
                              operation->mem.get(), operation->mapped};
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
// this is a callback: waiting for the gate, which nobody has signalled, tells.
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
        result = base.piEventCreateHost(context, operation.gate.out());
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
        operation.mem.reset(&base, operation.work.mem);
    return result;
}

// Gives the operation to its callback, which ends it.
pi_result start(std::unique_ptr<Operation> &operation) {
    const pi_result result =
        operation->base.piEventSetCallback(operation->map_event.get(), on_mapped, operation.get());
    // The map may be under way and will write its address: what it writes to stays, for ever if no
    // callback can be had. Waiting for it here could wait for the caller itself.
    Operation *given = operation.release();
    if (result != PI_SUCCESS) {
        const ErrorScope scope;
        given->base.piEventSignalHost(given->gate.get(), result);
    }
    return result;
}

pi_result explain(const char *function, pi_result result) {
    if (result == PI_SUCCESS)
        return result;
    const std::string cause = last_error().code == result ? last_error().message : "";
    return fail(result, "{} (by map and unmap): {}", function, cause);
}

} // namespace

pi_result enqueue_map_work(pi_queue queue, MapWork work, uint32_t wait_count,
                           const pi_event *wait_list, pi_event *out_event) {
    const char *function = work.function;
    const bool blocking = work.blocking;
    const pi_dispatch &base = TableChain::of(dispatch_of(queue)).base();
    auto operation = std::make_unique<Operation>(base, std::move(work));
    if (const pi_result result = prepare(*operation, queue)) {
        const pi_result explained = explain(function, result);
        const ErrorScope scope;
        operation.reset();
        return explained;
    }

    const pi_buffer_map_desc map{sizeof map,
                                 PI_TYPE_BUFFER_MAP_DESC,
                                 nullptr,
                                 operation->work.map_flags,
                                 operation->work.mem,
                                 operation->work.offset,
                                 operation->work.size,
                                 &operation->mapped};
    if (const pi_result result = base.piEnqueueMemBufferMap(queue, &map, wait_count, wait_list,
                                                            operation->map_event.out())) {
        const pi_result explained = explain(function, result);
        const ErrorScope scope;
        operation.reset();
        return explained;
    }

    // The map is in the list for its error's text, the gate for the time.
    OwnedEvent final_event;
    final_event.set_base(&base);
    const pi_event waited[] = {operation->map_event.get(), operation->gate.get()};
    pi_result result = base.piEnqueueEventsWait(queue, nullptr, 2, waited, final_event.out());
    if (result != PI_SUCCESS) {
        const pi_result explained = explain(function, result);
        const ErrorScope scope;
        operation->cancelled = true;
        start(operation);
        return explained;
    }
    result = explain(function, start(operation));
    if (result == PI_SUCCESS) {
        const ErrorScope scope;
        base.piQueueFlush(queue);
    }
    if (result == PI_SUCCESS && blocking)
        result = base.piEventWait(final_event.get(), PI_TIMEOUT_NEVER);
    if (result == PI_SUCCESS && out_event != nullptr) {
        *out_event = final_event.detach();
    } else {
        const ErrorScope scope;
        final_event.reset();
    }
    return result;
}

} // namespace pi::loader
