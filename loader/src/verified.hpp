// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifications of one loader saw, and what earlier processes kept of theirs in a file.
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

/// Answers by key. Thread-safe. Two threads may verify one pair at the same time: a failure that either of them saw stands.
class VerifiedConnections {
public:
    /// `file`: where answers with a lasting key are kept; "": nowhere. A file that cannot be read or is not understood holds
    /// nothing, one that cannot be written is left as it was. Processes may share it: of answers that they keep at the same
    /// time some may be lost, and are found again by verifying.
    explicit VerifiedConnections(std::string file) : file_(std::move(file)) {}

    /// What is known and answers the question: a failure always does, success for a deep one only if it was deep.
    std::optional<Verified> find(const VerifiedKey &key, bool deep);

    /// `again`: instead of what was seen before, else beside it.
    void record(const VerifiedKey &key, const Verified &seen, bool again);

private:
    using Answers = std::map<std::string, Verified, std::less<>>;

    const std::string file_;
    std::mutex mutex_;
    Answers seen_;                ///< in this process
    std::optional<Answers> kept_; ///< by earlier ones; nothing until it is asked for
};

} // namespace pi::loader
