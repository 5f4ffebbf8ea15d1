// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/export.hpp>
#include <pi/runtime/topology.hpp>

#include <compare>
#include <cstdint>
#include <string>

namespace pi::runtime {

/// Memory of one place as another one uses it: a plugin has one answer for it, and so has its verification.
struct MemoryPair {
    PlaceIndex src = host_place; ///< whose memory it is
    PlaceIndex dst = host_place; ///< who uses it; src itself: of imported memory
    bool imported = false;       ///< memory that src made of a host pointer
    bool kernels = false;        ///< dst's kernels use it in place, beside copies and maps
    std::string scope{};         ///< by name, at both ends; empty = scope 0
    friend auto operator<=>(const MemoryPair &, const MemoryPair &) = default;
};

enum class Verified : uint8_t {
    unknown, ///< nobody has tried
    yes,     ///< bytes arrived; or there is nothing to try, and the plugin's word is all there is
    failed   ///< bytes did not arrive, or a command failed: never used
};

/// What is known of the connections of a topology. What is known of a pair never changes. Thread-safe.
class PI_RUNTIME_EXPORT Verification {
public:
    virtual ~Verification();
    virtual Verified of(const MemoryPair &pair) const = 0;
    /// Of a pair that failed: what was seen ("of 64 KiB every second page stayed old").
    virtual std::string text(const MemoryPair &pair) const = 0;
};

} // namespace pi::runtime
