// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fault.hpp"

#include "error.hpp"
#include "layers/fault/command.hpp"
#include "layers/fault/event.hpp"
#include "layers/layers.hpp"
#include "plugin.hpp"

#include <thread>

namespace pi::loader {
namespace fault {

Faults::Faults(PluginInstance &instance) : next_(instance.chain().next(fault_layer)) {
    const char *specification = instance.configuration().get("PI_FAULT");
    // An invalid specification was refused when the configuration was read.
    if (specification != nullptr)
        parse(specification, faults_);
    for (const Fault &fault : faults_)
        by_function_[fault.function].push_back(&fault);
}

const Fault *Faults::count_call(std::size_t function) noexcept {
    const uint64_t call = counts_[function].fetch_add(1, std::memory_order_relaxed) + 1;
    for (const Fault *fault : by_function_[function]) {
        if (fault->first <= call && call <= fault->last)
            return fault;
    }
    return nullptr;
}

pi_result Faults::fail_call(const Fault &fault) noexcept {
    return fail(fault.result, "{}: failure injected by the layer fault (PI_FAULT: \"{}\")",
                function_rows[fault.function].name, fault.text);
}

void Faults::signal_later(const Fault &fault, pi_event gate) {
    timer_.add(fault.delay, [this, gate] {
        const ErrorScope scope;
        next_.piEventSignalHost(gate, PI_SUCCESS);
        next_.piEventRelease(gate);
    });
}

void Faults::add_event(pi_event event, FaultyEvent faulty) {
    const std::scoped_lock lock(mutex_);
    events_.insert_or_assign(event, std::move(faulty));
    event_count_ = events_.size();
}

bool Faults::find_event(pi_event event, FaultyEvent &out) noexcept {
    if (event_count_.load(std::memory_order_relaxed) == 0)
        return false;
    const std::scoped_lock lock(mutex_);
    const auto found = events_.find(event);
    if (found == events_.end())
        return false;
    try {
        out = found->second;
    } catch (const std::bad_alloc &) {
        return false; // then it is shown as the host event that it is
    }
    return true;
}

void Faults::set_text(pi_event event, std::string text) {
    const std::scoped_lock lock(mutex_);
    const auto found = events_.find(event);
    if (found != events_.end())
        found->second.text = std::move(text);
}

void Faults::retain_event(pi_event event) noexcept {
    if (event_count_.load(std::memory_order_relaxed) == 0)
        return;
    const std::scoped_lock lock(mutex_);
    const auto found = events_.find(event);
    if (found != events_.end())
        ++found->second.references;
}

void Faults::release_event(pi_event event) noexcept {
    if (event_count_.load(std::memory_order_relaxed) == 0)
        return;
    pi_queue queue = nullptr;
    {
        const std::scoped_lock lock(mutex_);
        const auto found = events_.find(event);
        if (found == events_.end() || --found->second.references != 0)
            return;
        queue = found->second.queue;
        events_.erase(found);
        event_count_ = events_.size();
    }
    next_.piQueueRelease(queue);
}

namespace {

/// Counts the call, and applies the specification.
template <auto Slot, std::size_t Index, typename Function>
struct Faulty;
template <auto Slot, std::size_t Index, typename Handle, typename... Rest>
struct Faulty<Slot, Index, pi_result (*)(Handle, Rest...)> {
    static pi_result PI_CALL call(Handle handle, Rest... rest) noexcept {
        Faults &faults = data_of<Faults>(fault_layer, handle);
        const Fault *fault = faults.count_call(Index);
        if (fault != nullptr && fault->action == Action::fail)
            return Faults::fail_call(*fault);
        if constexpr (is_command<pi_result (*)(Handle, Rest...)>) {
            if (fault != nullptr)
                return guarded(function_rows[Index].name, [&] {
                    return faulty_command<Slot>(faults, *fault, handle, rest...);
                });
        } else if (fault != nullptr) {
            std::this_thread::sleep_for(fault->delay);
        }
        return call_on<Slot>(faults, handle, rest...);
    }
};

void *attach(PluginInstance &instance, pi_dispatch &table) {
    auto faults = std::make_unique<Faults>(instance);
    wrap_all<Faulty>(table);
    return faults.release();
}

void close(void *data) noexcept {
    static_cast<Faults *>(data)->hurry();
}

void detach(void *data) noexcept {
    delete static_cast<Faults *>(data);
}

} // namespace
} // namespace fault

constinit const Layer fault_layer = {"fault", fault::attach, fault::detach, fault::close, nullptr};

} // namespace pi::loader
