// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "origins.hpp"

#include "error.hpp"
#include "layers/layers.hpp"
#include "layers/leaks.hpp"
#include "plugin.hpp"

#include <unistd.h>

namespace pi::loader::leak_origin {

Origins::Origins(PluginInstance &instance)
    : next_(instance.chain().next(leak_origin_layer)), instance_(instance) {}

void Origins::add(const void *handle, Origin origin, void *caller) {
    origin.stack = take_stack(caller);
    origin.thread = ::gettid();
    const std::scoped_lock lock(mutex_);
    origin.serial = ++serial_;
    const auto [place, added] = alive_.try_emplace(handle, std::move(origin));
    if (!added)
        ++place->second.references;
}

void Origins::retain(const void *handle) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto found = alive_.find(handle);
    if (found != alive_.end())
        ++found->second.references;
}

Origins::Taken Origins::release(const void *handle) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto found = alive_.find(handle);
    if (found == alive_.end() || --found->second.references != 0)
        return {};
    return alive_.extract(found);
}

void Origins::put_back(const void *handle, Taken taken) noexcept {
    if (taken.empty()) {
        retain(handle);
        return;
    }
    taken.mapped().references = 1;
    const std::scoped_lock lock(mutex_);
    alive_.insert(std::move(taken));
}

void Origins::forget_memory_of(pi_context context) noexcept {
    const std::scoped_lock lock(mutex_);
    std::erase_if(alive_, [&](const auto &row) { return row.second.context == context; });
}

std::string Origins::where_made(const void *handle) const {
    Origin origin;
    {
        const std::scoped_lock lock(mutex_);
        const auto found = alive_.find(handle);
        if (found == alive_.end())
            return "";
        origin = found->second;
    }
    return fmt::format("\n    {}, on thread {}{}", origin.details, origin.thread,
                       describe(origin.stack));
}

void Origins::report() const noexcept {
    guarded("piLoaderRelease", [&] {
        const TableChain &chain = instance_.chain();
        const bool objects = chain.position(validate_layer) >= chain.layer_count;
        std::vector<Leak> left;
        {
            const std::scoped_lock lock(mutex_);
            for (const auto &[handle, origin] : alive_) {
                const bool counted = origin.context == nullptr;
                if (objects || !counted)
                    left.push_back({handle, origin.what, origin.creator, origin.call, origin.serial,
                                    counted ? origin.references : 0});
            }
        }
        report_leaks(instance_, std::move(left));
        return PI_SUCCESS;
    });
}

std::string where_made(const TableChain &chain, const void *handle) {
    const auto *const origins = static_cast<const Origins *>(chain.data(leak_origin_layer));
    return origins != nullptr ? origins->where_made(handle) : "";
}

} // namespace pi::loader::leak_origin
