// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/export.hpp>
#include <pi/runtime/topology.hpp>

#include <compare>
#include <cstdint>
#include <string>

namespace pi::runtime {

/// Memory of one place that another place uses. A plugin has one answer for it, and so has its
/// verification.
struct MemoryPair {
    PlaceIndex src = host_place; ///< the place that owns the memory
    PlaceIndex dst = host_place; ///< the place that uses it; src itself for imported memory
    bool imported = false;       ///< memory that src created from a host pointer
    bool kernels = false;        ///< kernels of dst use it in place, besides copies and maps
    std::string scope{};         ///< by name, at both ends; empty = scope 0
    friend auto operator<=>(const MemoryPair &, const MemoryPair &) = default;
};

enum class Verified : uint8_t {
    unknown, ///< not verified yet
    yes,     ///< bytes arrived; or nothing can be verified, and the plugin is trusted
    failed   ///< bytes were wrong or a command failed: never used
};

/// The results of verification for the connections of a topology. The result for a pair never
/// changes. Thread-safe.
class PI_RUNTIME_EXPORT Verification {
public:
    virtual ~Verification();
    virtual Verified of(const MemoryPair &pair) const = 0;
    /// For a failed pair, what was wrong ("of 64 KiB every second page is stale").
    virtual std::string text(const MemoryPair &pair) const = 0;
};

} // namespace pi::runtime
