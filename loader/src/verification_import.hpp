// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory that one place imports and that the host, that place and another one use.
#pragma once

#include "verification_check.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pi::loader {

/// The memory that a request names, or memory of the loader, as large as the samples need.
class HostMemory {
public:
    HostMemory(const pi_dispatch &plugin, const VerificationRequest &request);
    HostMemory(const HostMemory &) = delete;
    HostMemory &operator=(const HostMemory &) = delete;

    Bytes bytes;

private:
    std::vector<unsigned char> own_;
};

/// How the host accesses memory that was imported from it.
struct HostAccess {
    const pi_dispatch &plugin;
    const Lane &lane;
    const Memory &memory;
    Bytes bytes;
    pi_coherence coherence;

    template <typename Body>
    void write(Body &&body) const {
        if (coherence == PI_COHERENCE_MAP_UNMAP)
            return lane.map(memory, 0, bytes.size(), PI_MAP_WRITE, body);
        body(bytes);
        if (coherence == PI_COHERENCE_FLUSH_INVALIDATE)
            require(plugin.piMemFlush(memory.mem(), memory.base, bytes.size()));
    }
    template <typename Body>
    void read(Body &&body) const {
        if (coherence == PI_COHERENCE_MAP_UNMAP)
            return lane.map(memory, 0, bytes.size(), PI_MAP_READ, body);
        if (coherence == PI_COHERENCE_FLUSH_INVALIDATE)
            require(plugin.piMemInvalidate(memory.mem(), memory.base, bytes.size()));
        body(bytes);
    }

    /// The host writes the next pattern into these bytes.
    void fill(Check &check, Memory &source) const {
        write([&](Bytes all) { fill_pattern(all, check.next_round(source), 0); });
    }
    /// "" if the host reads what it should.
    std::string compare(Check &check, const Memory &source, std::string_view what) const {
        std::string seen;
        read([&](Bytes all) { seen = check.difference(all, 0, source, what); });
        return seen;
    }
};

/// Imports all of `host` at src, calls use(source, access) for its bytes from `base` on, and
/// restores them.
std::string
with_import(Check &check, Bytes host, uint64_t base,
            const std::function<std::string(Memory &source, const HostAccess &access)> &use);

/// Returns how bytes differ in the memory that the request names, or in memory of the loader; "" if
/// all arrive.
std::string verify_import(const pi_dispatch &plugin, const VerificationRequest &request);

} // namespace pi::loader
