// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer that records where each object was created. It counts the application's references and
// keeps a call stack while an object lives; other layers ask it for the place of a leak.
#pragma once

#include "functions.hpp"
#include "layer.hpp"
#include "layers/stack.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>

namespace pi::loader::leak_origin {

/// The origin of a living object or USM allocation.
struct Origin {
    const char *what;     ///< the name of its kind
    std::size_t creator;  ///< the row of the function that created it
    uint64_t call;        ///< the number of that function's call
    std::string details;  ///< its arguments: "of context 0x55.., size 4096"
    pi_context context{}; ///< for USM memory: the context, with which it ends
    Stack stack{};
    int64_t thread = 0;
    uint64_t serial = 0;
    uint32_t references = 1;
};

/// One per plugin instance. Thread-safe; never calls the plugin.
class Origins {
public:
    explicit Origins(PluginInstance &instance);

    const pi_dispatch &next() const noexcept { return next_; }

    /// The number of a call that creates something.
    uint64_t count_call(std::size_t function) noexcept {
        return calls_[function].fetch_add(1, std::memory_order_relaxed) + 1;
    }
    /// Records an object that this thread created in a call that returns to `caller`. If the plugin
    /// returned an object again, it has one more reference.
    void add(const void *handle, Origin origin, void *caller);
    void retain(const void *handle) noexcept;
    /// Drops a reference. The last one removes the origin and returns it: if the release fails, the
    /// caller puts it back. It is removed before the object is released, because its address may be
    /// reused at once.
    using Taken = std::unordered_map<const void *, Origin>::node_type;
    Taken release(const void *handle) noexcept;
    void put_back(const void *handle, Taken taken) noexcept;
    /// The context was released, and its USM allocations with it.
    void forget_memory_of(pi_context context) noexcept;

    /// "\n    of context 0x55.., size 4096, on thread 71\n    #0 ..."; "" if unknown.
    std::string where_made(const void *handle) const;
    /// Reports what is alive; objects only if no other layer reports them.
    void report() const noexcept;

private:
    const pi_dispatch &next_;
    PluginInstance &instance_;
    std::array<std::atomic<uint64_t>, function_rows.size()> calls_{};
    mutable std::mutex mutex_;
    uint64_t serial_ = 0;
    std::unordered_map<const void *, Origin> alive_;
};

/// Where an object was created, to be appended to a sentence about it; "" without the layer.
std::string where_made(const TableChain &chain, const void *handle);

} // namespace pi::loader::leak_origin
