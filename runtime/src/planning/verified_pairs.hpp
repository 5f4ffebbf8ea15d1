// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/verification.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace pi::runtime {

/// The connections of a topology, with the results of piVerifyMemoryConnection.
class VerifiedPairs final : public Verification {
public:
    explicit VerifiedPairs(const Topology &topology); // which must outlive it

    /// Takes no lock for pairs in scope 0.
    Verified of(const MemoryPair &pair) const override;
    std::string text(const MemoryPair &pair) const override;

    /// Verifies the pair with copies, unless its result is known. False if it is not known
    /// afterwards, as inside a callback of a plugin, or without memory; never throws for a
    /// command's result. It blocks: do not call it with a lock that a callback takes.
    bool verify(const MemoryPair &pair);
    /// Verifies all pairs that plans may use. Throws if one cannot be verified; the others are.
    void verify_all();

private:
    struct Seen {
        Verified verified = Verified::unknown;
        std::string text;
    };

    size_t index(const MemoryPair &pair) const;
    std::vector<MemoryPair> usable_pairs() const;
    pi_result ask(const MemoryPair &pair);
    uint32_t scope_of(PlaceIndex place, const std::string &name) const;

    const Topology &topology_;
    std::vector<std::atomic<Verified>> states_; // of pairs in scope 0
    mutable std::mutex mutex_;
    std::map<MemoryPair, Seen> seen_; // by pair, once known
};

} // namespace pi::runtime
