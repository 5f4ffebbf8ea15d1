// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/device_query.hpp"

#include <pi/runtime/facade.hpp>

#include <algorithm>
#include <exception>

namespace pi::runtime::facade {
namespace {

/// The access of one acquisition in the place of two.
Access both(Access a, Access b) {
    const auto only_writes = [](Access access) {
        return access == Access::write || access == Access::discard_write;
    };
    if (a == Access::read && b == Access::read) {
        return Access::read;
    }
    return only_writes(a) && only_writes(b) ? Access::write : Access::read_write;
}

} // namespace

void Command::wait_for(const Event &event) {
    if (event.plugin() == queue_.part().plugin) {
        waits_.push_back(event.get());
    } else {
        wait_for(event.in(queue_.part()));
    }
}

void Command::wait_for(Event &&event) {
    wait_for(event.in(queue_.part()));
}

void Command::wait_for(runtime::Event event) {
    owned_.push_back(std::move(event));
    waits_.push_back(owned_.back().get());
}

void Command::check_reachable(const Memory &memory) const {
    if (memory.storage() != nullptr) {
        if (&memory.context() != &queue_.context()) {
            throw Error(PI_ERROR_INVALID_CONTEXT,
                        "the buffer and the queue belong to different contexts");
        }
        return;
    }
    if (memory.context().part_of(memory.device()).platform != queue_.part().platform) {
        throw Error(PI_ERROR_UNSUPPORTED_FEATURE,
                    "the memory belongs to " + device_text(memory.device(), PI_DEVICE_INFO_NAME) +
                        "; " + device_text(queue_.device(), PI_DEVICE_INFO_NAME) +
                        ", of another driver, cannot use it: only buffers that a context of "
                        "several devices created move between drivers");
    }
}

std::size_t Command::use(const Memory &memory, Access access, uint64_t offset, uint64_t size) {
    memory.check_range(offset, size);
    check_reachable(memory);
    const uint64_t begin = memory.storage() != nullptr ? memory.offset() + offset : offset;
    uses_.push_back({&memory, access, begin, begin + size, 0});
    return uses_.size() - 1;
}

std::vector<Command::Joined> Command::join_uses() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < uses_.size(); ++i) {
        if (uses_[i].memory->storage() != nullptr) {
            order.push_back(i);
        }
    }
    const auto root = [this](std::size_t i) { return &uses_[i].memory->root(); };
    // Neighbours, so that those that overlap meet.
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(root(a), uses_[a].begin) < std::pair(root(b), uses_[b].begin);
    });
    std::vector<Joined> joined;
    for (const std::size_t i : order) {
        Use &use = uses_[i];
        if (!joined.empty() && joined.back().memory == root(i) && use.begin < joined.back().end) {
            joined.back().end = std::max(joined.back().end, use.end);
            joined.back().access = both(joined.back().access, use.access);
        } else {
            joined.push_back({root(i), use.access, use.begin, use.end});
        }
        use.acquisition = joined.size() - 1;
    }
    return joined;
}

void Command::begin() {
    if (begun_) {
        return;
    }
    begun_ = true;
    const std::vector<Joined> joined = join_uses();
    if (joined.empty()) {
        return;
    }
    const PlaceIndex place = queue_.context().place_of(queue_.device());
    order_ = std::unique_lock(queue_.context().order_mutex_);
    for (const Joined &use : joined) {
        use.memory->end_holds(use.begin, use.end);
        acquisitions_.push_back(use.memory->storage()
                                    ->buffer(use.begin, use.end - use.begin)
                                    .acquire(place, use.access));
        const std::vector<pi_event> &events = acquisitions_.back().events(queue_.get());
        waits_.insert(waits_.end(), events.begin(), events.end());
    }
}

Command::Operand Command::operand(std::size_t index) {
    begin();
    const Use &use = uses_[index];
    if (use.memory->storage() == nullptr) {
        return {use.memory->mem(), use.begin};
    }
    const Acquisition &acquisition = acquisitions_[use.acquisition];
    return {acquisition.mem(), acquisition.offset() + use.begin - acquisition.range().begin};
}

void Command::cancel() {
    acquisitions_.clear();
    if (order_) {
        order_.unlock();
    }
}

Event Command::end(runtime::Event event) {
    // The command is running: each acquisition ends with it, whatever fails for another.
    std::exception_ptr failure;
    for (Acquisition &acquisition : acquisitions_) {
        try {
            acquisition.release(event.get());
        } catch (const std::exception &) {
            failure = failure ? failure : std::current_exception();
        }
    }
    if (order_) {
        order_.unlock();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
    return {std::move(event), queue_.part().plugin};
}

} // namespace pi::runtime::facade
