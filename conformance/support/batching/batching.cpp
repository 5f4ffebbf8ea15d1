// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plugin that delays its commands as long as pi.h allows: it wraps the plugin PI_BATCHED_PLUGIN.
// Commands begin at a flush, a finish or a blocking command of their queue, at the queue's release,
// or when a thread waits for a dependent event. A wait without one of these hangs. Test equipment,
// never installed.
//
// All commands of a queue wait for a host event, its gate, until then.

#include <pi/pi_plugin.h>

#include <dlfcn.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

const pi_dispatch *original = nullptr; ///< the functions of the real plugin

/// Commands of a queue that begin together.
struct Batch {
    pi_event gate = nullptr; ///< a reference; NULL: they have begun
    /// Batches that these commands wait for and that must begin with them.
    std::vector<std::shared_ptr<Batch>> before;
};

/// One for the process, for every loader.
class Batches {
public:
    static Batches &get() {
        static auto *batches = new Batches; // used by threads to the very end
        return *batches;
    }

    /// The batch of a new command of the queue, and a reference to its gate.
    std::pair<std::shared_ptr<Batch>, pi_event> join(pi_queue queue) {
        const std::scoped_lock lock(mutex_);
        std::shared_ptr<Batch> &last = last_[queue];
        if (!last || !last->gate) {
            auto made = std::make_shared<Batch>();
            pi_context context = nullptr;
            if (original->piQueueGetInfo(queue, PI_QUEUE_INFO_CONTEXT, sizeof context, &context,
                                         nullptr) != PI_SUCCESS ||
                original->piEventCreateHost(context, nullptr, &made->gate) != PI_SUCCESS)
                return {};
            if (last && !last->before.empty())
                made->before.push_back(last);
            last = std::move(made);
        }
        original->piEventRetain(last->gate);
        return {last, last->gate};
    }
    /// A command of the batch waits for these, and has this event.
    void remember(const std::shared_ptr<Batch> &batch, uint32_t wait_count,
                  const pi_event *wait_list, const pi_event *event) {
        const std::scoped_lock lock(mutex_);
        for (uint32_t i = 0; i < wait_count; ++i) {
            const auto other = batch_of_.find(wait_list[i]);
            if (other != batch_of_.end() && other->second && other->second != batch)
                batch->before.push_back(other->second);
        }
        if (event)
            batch_of_[*event] = batch;
    }

    void begin(pi_queue queue) {
        std::vector<pi_event> gates;
        {
            const std::scoped_lock lock(mutex_);
            const auto last = last_.find(queue);
            if (last != last_.end())
                open(last->second, gates);
        }
        signal(gates);
    }
    /// References of the application; releasing the last one begins the queue's commands.
    void retain(pi_queue queue) {
        const std::scoped_lock lock(mutex_);
        ++references_[queue];
    }
    void release(pi_queue queue) {
        std::vector<pi_event> gates;
        {
            const std::scoped_lock lock(mutex_);
            const auto references = references_.find(queue);
            if (references == references_.end() || --references->second != 0)
                return;
            references_.erase(references);
            const auto last = last_.find(queue);
            if (last != last_.end()) {
                open(last->second, gates);
                last_.erase(last);
            }
        }
        signal(gates);
    }
    void begin_all_of(pi_event event) {
        std::vector<pi_event> gates;
        {
            const std::scoped_lock lock(mutex_);
            const auto batch = batch_of_.find(event);
            if (batch != batch_of_.end())
                open_with_all_before(batch->second, gates);
        }
        signal(gates);
    }

private:
    static void open(const std::shared_ptr<Batch> &batch, std::vector<pi_event> &gates) {
        if (batch && batch->gate)
            gates.push_back(std::exchange(batch->gate, nullptr));
    }
    static void open_with_all_before(std::shared_ptr<Batch> first, std::vector<pi_event> &gates) {
        std::vector<std::shared_ptr<Batch>> left{std::move(first)};
        while (!left.empty()) {
            const std::shared_ptr<Batch> batch = std::move(left.back());
            left.pop_back();
            if (!batch)
                continue;
            open(batch, gates);
            for (auto &before : std::exchange(batch->before, {}))
                left.push_back(std::move(before));
        }
    }
    /// Without a lock: callbacks may run in here.
    static void signal(const std::vector<pi_event> &gates) {
        for (const pi_event gate : gates) {
            original->piEventSignalHost(gate, PI_SUCCESS);
            original->piEventRelease(gate);
        }
    }

    std::mutex mutex_;
    std::unordered_map<pi_queue, std::shared_ptr<Batch>> last_;
    std::unordered_map<pi_queue, uint32_t> references_;
    std::unordered_map<pi_event, std::shared_ptr<Batch>> batch_of_;
};

template <class Desc>
bool is_blocking(const Desc *desc) {
    return desc && desc->struct_size >= offsetof(Desc, flags) + sizeof desc->flags &&
           (desc->flags & PI_COMMAND_BLOCKING);
}

/// Commands that wait for all earlier ones need no gate.
template <auto Slot>
constexpr bool waits_for_all = false;
template <>
constexpr bool waits_for_all<&pi_dispatch::piEnqueueEventsWait> = true;
template <>
constexpr bool waits_for_all<&pi_dispatch::piEnqueueBarrier> = true;

template <auto Slot, class Function>
struct Batched;
template <auto Slot, class... Arguments>
struct Batched<Slot, pi_result(PI_CALL *)(Arguments...)> {
    static void inject(pi_dispatch &) {}
};
template <auto Slot, class Desc>
struct Batched<Slot, pi_result(PI_CALL *)(pi_queue, const Desc *, uint32_t, const pi_event *,
                                          pi_event *)> {
    static pi_result PI_CALL call(pi_queue queue, const Desc *desc, uint32_t wait_count,
                                  const pi_event *wait_list, pi_event *out_event) {
        const auto real = original->*Slot;
        if (is_blocking(desc)) {
            Batches::get().begin(queue);
            return real(queue, desc, wait_count, wait_list, out_event);
        }
        const auto [batch, gate] = Batches::get().join(queue);
        if (!batch || (wait_count && !wait_list))
            return release(gate, real(queue, desc, wait_count, wait_list, out_event));
        std::vector<pi_event> all(wait_list, wait_list + wait_count);
        if (!waits_for_all<Slot> || wait_count)
            all.push_back(gate);
        const pi_result result =
            real(queue, desc, static_cast<uint32_t>(all.size()), all.data(), out_event);
        if (result == PI_SUCCESS)
            Batches::get().remember(batch, wait_count, wait_list, out_event);
        return release(gate, result);
    }
    static void inject(pi_dispatch &table) {
        if (table.*Slot)
            table.*Slot = &call;
    }

private:
    static pi_result release(pi_event gate, pi_result result) {
        if (gate)
            original->piEventRelease(gate);
        return result;
    }
};

pi_result PI_CALL flush(pi_queue queue) {
    Batches::get().begin(queue);
    return original->piQueueFlush(queue);
}
pi_result PI_CALL finish(pi_queue queue) {
    Batches::get().begin(queue);
    return original->piQueueFinish(queue);
}
pi_result PI_CALL create(pi_context context, pi_device device, const pi_queue_desc *desc,
                         pi_queue *out_queue) {
    const pi_result result = original->piQueueCreate(context, device, desc, out_queue);
    if (result == PI_SUCCESS)
        Batches::get().retain(*out_queue);
    return result;
}
pi_result PI_CALL retain(pi_queue queue) {
    const pi_result result = original->piQueueRetain(queue);
    if (result == PI_SUCCESS)
        Batches::get().retain(queue);
    return result;
}
pi_result PI_CALL release(pi_queue queue) {
    Batches::get().release(queue);
    return original->piQueueRelease(queue);
}
pi_result PI_CALL wait(pi_event event, uint64_t timeout) {
    if (timeout != 0)
        Batches::get().begin_all_of(event);
    return original->piEventWait(event, timeout);
}

} // namespace

pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    static pi_dispatch table; // one for the process, as the plugin's own
    void *library = dlopen(PI_BATCHED_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    const auto real =
        library ? reinterpret_cast<pi_plugin_main>(dlsym(library, "piPluginMain")) : nullptr;
    if (!real) {
        host->set_error(host, PI_ERROR_INTERNAL, dlerror());
        return PI_ERROR_INTERNAL;
    }
    const pi_result result = real(host, out_desc);
    if (result != PI_SUCCESS)
        return result;
    original = out_desc->functions;
    table = *out_desc->functions;
#define PI_FUNCTION(name, group, needs, since)                                                     \
    Batched<&pi_dispatch::name, decltype(pi_dispatch::name)>::inject(table);
#include <pi/pi_functions.def>
    table.piQueueFlush = &flush;
    table.piQueueFinish = &finish;
    table.piQueueCreate = &create;
    table.piQueueRetain = &retain;
    table.piQueueRelease = &release;
    table.piEventWait = &wait;
    out_desc->functions = &table;
    return PI_SUCCESS;
}
