// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/runtime/facade.hpp>

namespace pi::runtime::facade {

void UsmRanges::add(const UsmRange &range) {
    const std::unique_lock lock(mutex_);
    ranges_.insert_or_assign(range.base, range);
}

std::optional<UsmRange> UsmRanges::remove(const void *base) {
    const std::unique_lock lock(mutex_);
    const auto found = ranges_.find(reinterpret_cast<uintptr_t>(base));
    if (found == ranges_.end()) {
        return std::nullopt;
    }
    const UsmRange range = found->second;
    ranges_.erase(found);
    return range;
}

std::optional<UsmRange> UsmRanges::find(const void *address) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    const std::shared_lock lock(mutex_);
    const auto next = ranges_.upper_bound(at);
    if (next == ranges_.begin() || !std::prev(next)->second.contains(at)) {
        return std::nullopt;
    }
    return std::prev(next)->second;
}

void UsmRanges::disown(const void *owner) {
    const std::unique_lock lock(mutex_);
    for (auto &[base, range] : ranges_) {
        if (range.owner == owner) {
            range.owner = nullptr;
        }
    }
}

std::size_t UsmRanges::size() const {
    const std::shared_lock lock(mutex_);
    return ranges_.size();
}

const InfoCache::Value &InfoCache::get(uint32_t name, const std::function<Value()> &make) {
    {
        const std::shared_lock lock(mutex_);
        if (const auto found = values_.find(name); found != values_.end()) {
            return *found->second;
        }
    }
    auto value = std::make_unique<const Value>(make());
    const std::unique_lock lock(mutex_);
    return *values_.try_emplace(name, std::move(value)).first->second;
}

} // namespace pi::runtime::facade
