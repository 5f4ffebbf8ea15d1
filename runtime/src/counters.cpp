// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime_state.hpp"

#include <algorithm>
#include <functional>

namespace pi::runtime {

void SharedCounters::add_to(Counters &sum) const {
    const auto add = [](auto &to, const auto &from) {
        std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>());
    };
    const std::lock_guard lock(mutex_);
    sum.bytes_required += required_.load(std::memory_order_relaxed);
    sum.bytes_delivered += counters_.bytes_delivered;
    sum.bytes_copy_in_copy_out += copy_in_copy_out_.load(std::memory_order_relaxed);
    for (const auto &[link, bytes] : counters_.link_bytes) {
        sum.link_bytes[link] += bytes;
    }
    add(sum.transfers, counters_.transfers);
    add(sum.bytes, counters_.bytes);
    sum.coherence_syncs += counters_.coherence_syncs;
    sum.uses_elsewhere += counters_.uses_elsewhere;
    sum.bytes_elsewhere += counters_.bytes_elsewhere;
    sum.failed_attempts += counters_.failed_attempts;
    sum.evictions += counters_.evictions;
    sum.bytes_written_back += counters_.bytes_written_back;
}

} // namespace pi::runtime
