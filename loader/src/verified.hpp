// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of verifications: those of one loader, and those that earlier processes stored in a file.
#pragma once

#include <pi/pi.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace pi::loader {

/// The result of a verification.
struct Verified {
    std::string text; ///< "": the bytes arrived
    bool deep = false;

    bool operator==(const Verified &) const = default;
};

/// A pair of places, a kind of memory and its scopes, as text.
struct VerifiedKey {
    std::string text;
    bool lasting; ///< means the same in another process
};

/// Results by key. Thread-safe. If two threads verify one pair at the same time, a failure of
/// either remains.
class VerifiedConnections {
public:
    /// `file`: stores results with a lasting key; "": none. An unreadable or invalid file counts as
    /// empty, one that cannot be written is left unchanged. Processes may share it: results that
    /// they store at the same time may be lost, and are verified again.
    explicit VerifiedConnections(std::string file) : file_(std::move(file)) {}

    /// A known result that answers the request: a failure always does, success for a deep one only
    /// if it was deep.
    std::optional<Verified> find(const VerifiedKey &key, bool deep);

    /// `again`: replaces earlier results, instead of adding to them.
    void record(const VerifiedKey &key, const Verified &seen, bool again);

private:
    using Answers = std::map<std::string, Verified, std::less<>>;

    const std::string file_;
    std::mutex mutex_;
    Answers seen_;                  ///< in this process
    std::optional<Answers> stored_; ///< from earlier processes; empty until first needed
};

} // namespace pi::loader
