// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verdict.hpp"

namespace pi::suite {

const char *outcome_name(Outcome outcome) {
    constexpr const char *names[] = {"passed", "failed", "skipped", "xfail"};
    return names[static_cast<int>(outcome)];
}

std::string TestCase::place() const {
    if (peer.empty())
        return device;
    return device + " -> " + peer + (one_context ? ", one context" : ", two contexts");
}

} // namespace pi::suite
