// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verified.hpp"

namespace pi::loader {

std::optional<Verified> VerifiedConnections::find(const VerifiedKey &key, bool deep) {
    const std::scoped_lock lock(mutex_);
    const auto found = seen_.find(key.text);
    if (found == seen_.end() || (deep && found->second.text.empty() && !found->second.deep))
        return std::nullopt;
    return found->second;
}

void VerifiedConnections::record(const VerifiedKey &key, const Verified &seen, bool again) {
    const std::scoped_lock lock(mutex_);
    Verified &known = seen_[key.text];
    if (again || known.text.empty())
        known = {seen.text, seen.deep || (known.deep && !again)};
}

} // namespace pi::loader
