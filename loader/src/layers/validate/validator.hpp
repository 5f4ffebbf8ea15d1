// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer that finds misuse of handles and arguments. After the application's last release, the
// layer keeps an object for a while with a reference of its own, so that its memory stays readable
// and later uses of the handle are reported: a quarantine, bounded in objects and bytes.
#pragma once

#include "error.hpp"
#include "functions.hpp"
#include "layers/validate/addresses.hpp"
#include "layers/validate/facts.hpp"
#include "layers/validate/registry.hpp"

#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace pi::loader {
class PluginInstance;
}

namespace pi::loader::validate {

class Maps;

class Validator {
public:
    explicit Validator(PluginInstance &instance);
    ~Validator();
    Validator(const Validator &) = delete;
    Validator &operator=(const Validator &) = delete;

    const pi_dispatch &next() const noexcept { return next_; }
    const pi_dispatch &queries() const noexcept { return queries_; }

    /// PI_SUCCESS if the handle is valid, else the error of its kind. `where` names the argument:
    /// "", "desc->src", or "wait_list" and an index.
    struct Where {
        const char *function;
        const char *argument = "";
        int64_t index = -1;
    };
    template <typename Handle>
    pi_result use(Handle handle, const Where &where, bool *out_direct = nullptr) noexcept {
        const bool usable = registry_.with_object(handle, [&](Object *object) {
            if (object == nullptr || object->kind != HandleTraits<Handle>::kind ||
                !object->usable())
                return false;
            if (out_direct != nullptr && object->direct)
                *out_direct = true;
            return true;
        });
        return usable || may_be_unnoted(handle) ? PI_SUCCESS
                                                : explain(handle, HandleTraits<Handle>::kind,
                                                          HandleTraits<Handle>::error, where);
    }

    template <typename Handle>
    pi_result retain(Handle handle, const char *function,
                     pi_result (*next_retain)(Handle)) noexcept {
        const int state = count_retain(handle, HandleTraits<Handle>::kind);
        if (state < 0 && !may_be_unnoted(handle))
            return explain(handle, HandleTraits<Handle>::kind, HandleTraits<Handle>::error,
                           {function});
        const pi_result result = next_retain(handle);
        if (result != PI_SUCCESS && state > 0)
            uncount_retain(handle);
        return result;
    }
    /// The last release puts the object into quarantine, or releases it.
    template <typename Handle>
    pi_result release(Handle handle, const char *function,
                      pi_result (*next_release)(Handle)) noexcept {
        Object released;
        switch (count_release(handle, HandleTraits<Handle>::kind, released)) {
        case Released::not_the_last: {
            const pi_result result = next_release(handle);
            if (result != PI_SUCCESS)
                uncount_release(handle);
            return result;
        }
        case Released::last:
            return end_of_use(released);
        case Released::wrong:
            if (may_be_unnoted(handle))
                return next_release(handle);
            break;
        }
        return explain(handle, HandleTraits<Handle>::kind, HandleTraits<Handle>::error, {function},
                       true);
    }

    /// The number of a call that creates an object.
    uint64_t count_create_call(std::size_t function) noexcept {
        return create_calls_[function].fetch_add(1, std::memory_order_relaxed) + 1;
    }
    struct Origin {
        std::size_t function;
        uint64_t call;
        bool direct;
    };
    /// Records an object that the application received, with a reference (an immortal one has
    /// none). Without memory to record it, unknown handles are no longer refused.
    void add(void *handle, pi_kind kind, const Origin &origin, bool immortal = false,
             std::shared_ptr<const Facts> facts = nullptr) noexcept;
    /// The facts about an object; nullptr: none.
    template <typename Handle>
    std::shared_ptr<const typename FactsOf<Handle>::type> facts(Handle handle) noexcept {
        return registry_.with_object(handle, [](Object *object) {
            using Type = const typename FactsOf<Handle>::type;
            return object != nullptr && object->kind == HandleTraits<Handle>::kind
                       ? std::static_pointer_cast<Type>(object->facts)
                       : std::shared_ptr<Type>();
        });
    }
    uint64_t make_number() noexcept { return registry_.make_serial(); }
    /// `handle` is borrowed from `owner`, and valid while that lives. If this throws, it is not.
    void lend(void *owner, void *handle, pi_kind kind);
    /// REFERENCE_COUNT minus the application's references.
    uint32_t extra_references(const void *handle) noexcept;
    bool released(const void *handle) noexcept;

    /// A callback's event may be used while that runs, even if it was released.
    Object find(const void *handle) noexcept;
    void pin(const Object &known);
    void unpin(const Object &known) noexcept;

    /// A reference of the layer to an object of the application; its handle is nullptr if there is
    /// none.
    Reference take_reference(pi_event event) noexcept;
    void release_reference(const Reference &object) noexcept;
    /// Takes over the only reference to an event that the application never received.
    Reference take_over(pi_event event) noexcept;

    Addresses &addresses() noexcept { return addresses_; }
    Maps &maps() noexcept { return *maps_; }

    /// Logs the text and sets it for piGetLastError; returns the code.
    pi_result refuse(pi_result code, const std::string &text);

    /// Begins a call that the caller must synchronise; false if the object is already in such a
    /// call.
    bool begin_exclusive(const void *handle) noexcept;
    void end_exclusive(const void *handle) noexcept;

    /// Releases all objects in quarantine; false if there are none.
    bool flush() noexcept;
    /// The same, permanently: objects are released at once from now on.
    void close() noexcept;
    void report() noexcept;

private:
    enum class Released { last, not_the_last, wrong };
    struct Quarantined {
        Reference object;
        uint64_t bytes;
    };
    static constexpr std::size_t max_quarantined = 1024;
    static constexpr uint64_t max_quarantined_bytes = UINT64_C(64) << 20;

    /// 1: counted, 0: not counted (immortal), -1: unknown.
    int count_retain(const void *handle, pi_kind kind) noexcept;
    void uncount_retain(const void *handle) noexcept;
    Released count_release(const void *handle, pi_kind kind, Object &out);
    void uncount_release(const void *handle) noexcept;
    pi_result end_of_use(const Object &object) noexcept;
    uint64_t bytes_of(const Object &object) const noexcept;
    /// A reference of the layer, for the quarantine or for a loan.
    void drop(const Reference &object, uint32_t Object::*count) noexcept {
        end(object, count, true);
    }
    /// Counts one down; `held`: the plugin counts this reference.
    void end(const Reference &reference, uint32_t Object::*count, bool held) noexcept;
    void release_in_plugin(const Reference &object) noexcept;
    bool may_be_unnoted(const void *handle) noexcept;
    [[gnu::cold, gnu::noinline]] pi_result explain(const void *handle, pi_kind kind, pi_result code,
                                                   const Where &where,
                                                   bool releasing = false) noexcept;
    std::string explanation(const void *handle, pi_kind kind, const Where &where, bool releasing);

    const pi_dispatch &next_;
    const pi_dispatch &queries_;
    PluginInstance &instance_;
    Registry registry_;
    std::array<std::atomic<uint64_t>, function_rows.size()> create_calls_{};
    std::mutex quarantine_mutex_;
    std::deque<Quarantined> quarantine_;
    uint64_t quarantine_bytes_ = 0;
    bool closed_ = false;
    std::atomic<bool> lacks_objects_{false};
    Addresses addresses_;
    std::unique_ptr<Maps> maps_;
};

} // namespace pi::loader::validate
