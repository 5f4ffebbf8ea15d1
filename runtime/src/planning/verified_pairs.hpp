// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/verification.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace pi::runtime {

/// The connections of a topology, as piVerifyMemoryConnection has seen them.
class VerifiedPairs final : public Verification {
public:
    explicit VerifiedPairs(const Topology &topology); // which must outlive it

    /// Of pairs in scope 0 without a lock.
    Verified of(const MemoryPair &pair) const override;
    std::string text(const MemoryPair &pair) const override;

    /// Moves bytes unless the pair is known already. False if it is not known afterwards, as inside a
    /// callback of a plugin, or without memory; never throws for what commands answer. It blocks, so not
    /// with a lock held that a callback takes.
    bool verify(const MemoryPair &pair);
    /// Of all that plans may use. Throws if one cannot be verified; the others are.
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
    std::map<MemoryPair, Seen> seen_; // what is known of any
};

} // namespace pi::runtime
