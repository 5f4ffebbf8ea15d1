// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer that remembers where each object was made. It counts references as the application does, and
// keeps a call stack as long as an object lives; whoever reports a leak asks it for the place.
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

/// Of an object or of USM memory that is alive.
struct Origin {
    const char *what;     ///< the name of its kind
    std::size_t creator;  ///< the row of the function that made it
    uint64_t call;        ///< the number of that function's call
    std::string details;  ///< what it was made of: "of context 0x55.., size 4096"
    pi_context context{}; ///< of USM memory, with which it goes
    Stack stack{};
    int64_t thread = 0;
    uint64_t serial = 0;
    uint32_t references = 1;
};

/// Of one plugin instance. Thread-safe; never calls the plugin.
class Origins {
public:
    explicit Origins(PluginInstance &instance);

    const pi_dispatch &next() const noexcept { return next_; }

    /// The number of a call that makes something.
    uint64_t count_call(std::size_t function) noexcept {
        return calls_[function].fetch_add(1, std::memory_order_relaxed) + 1;
    }
    /// Something was made, by this thread, in a call that returns to `caller`. What the plugin gives again
    /// has a reference more.
    void add(const void *handle, Origin origin, void *caller);
    void retain(const void *handle) noexcept;
    /// A reference goes. With the last one the origin does, and is given out: whoever fails to release the
    /// object puts it back. It goes before the object, whose address may be the next one's at once.
    using Taken = std::unordered_map<const void *, Origin>::node_type;
    Taken release(const void *handle) noexcept;
    void put_back(const void *handle, Taken taken) noexcept;
    /// The context is gone, and what was allocated by address in it.
    void forget_memory_of(pi_context context) noexcept;

    /// "\n    of context 0x55.., size 4096, on thread 71\n    #0 ..."; "" for what is not known.
    std::string where_made(const void *handle) const;
    /// What is alive; objects only where no other layer tells of them.
    void report() const noexcept;

private:
    const pi_dispatch &next_;
    PluginInstance &instance_;
    std::array<std::atomic<uint64_t>, function_rows.size()> calls_{};
    mutable std::mutex mutex_;
    uint64_t serial_ = 0;
    std::unordered_map<const void *, Origin> alive_;
};

/// Where an object was made, to stand behind a sentence about it; "" without the layer.
std::string where_made(const TableChain &chain, const void *handle);

} // namespace pi::loader::leak_origin
