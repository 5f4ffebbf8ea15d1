// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifications of one loader saw.
#pragma once

#include <pi/pi.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace pi::loader {

/// What a verification saw.
struct Verified {
    std::string text; ///< "": the bytes arrived
    bool deep = false;

    bool operator==(const Verified &) const = default;
};

/// A pair of places, a kind of memory and its scopes, as a text.
struct VerifiedKey {
    std::string text;
    bool lasting; ///< means the same in another process
};

/// Thread-safe. Two threads may verify one pair at the same time: a failure that either of them saw stands.
class VerifiedConnections {
public:
    /// What is known and answers the question: a failure always does, success for a deep one only if it was deep.
    std::optional<Verified> find(const VerifiedKey &key, bool deep);

    /// `again`: instead of what was seen before, else beside it.
    void record(const VerifiedKey &key, const Verified &seen, bool again);

private:
    std::mutex mutex_;
    std::map<std::string, Verified, std::less<>> seen_;
};

} // namespace pi::loader
