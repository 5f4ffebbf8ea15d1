// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verified.hpp"

#include "verified_file.hpp"

namespace pi::loader {

std::optional<Verified> VerifiedConnections::find(const VerifiedKey &key, bool deep) {
    const auto answer = [&](const Answers &answers) -> std::optional<Verified> {
        const auto found = answers.find(key.text);
        if (found == answers.end() || (deep && found->second.text.empty() && !found->second.deep))
            return std::nullopt;
        return found->second;
    };
    const std::scoped_lock lock(mutex_);
    if (seen_.contains(key.text) || !key.lasting || file_.empty())
        return answer(seen_);
    if (!stored_)
        stored_ = read_verified(file_);
    return answer(*stored_);
}

void VerifiedConnections::record(const VerifiedKey &key, const Verified &seen, bool again) {
    const std::scoped_lock lock(mutex_);
    Verified &known = seen_[key.text];
    if (again || known.text.empty())
        known = {seen.text, seen.deep || (known.deep && !again)};
    if (!key.lasting || file_.empty())
        return;
    Answers stored = read_verified(file_);
    stored[key.text] = known;
    write_verified(file_, stored);
}

} // namespace pi::loader
