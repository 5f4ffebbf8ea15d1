// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "list.hpp"
#include "submission.hpp"

#include <algorithm>

namespace pi::level_zero {

using namespace sdk;

List::List(Place &place, bool in_order, ze_command_queue_priority_t priority)
    : context_(place.context().shared_from_this()), place_(place), in_order_(in_order) {
    id_ = place.make_list(priority);
}

List::List(Place &place, ze_command_list_handle_t id, std::shared_ptr<const bool> own)
    : context_(place.context().shared_from_this()), place_(place), in_order_(true), id_(id),
      own_(std::move(own)) {}

List::~List() {
    if (!own_ || *own_)
        place_.api().zeCommandListDestroy(id_);
}

void List::expect() {
    pending_.reserve(pending_.size() + 1);
    if (watched_)
        return;
    context_->watch().add(shared_from_this());
    watched_ = true;
}

SharedEvent List::tail() const {
    return pending_.empty() ? nullptr : pending_.back().done;
}

uint64_t List::add(Event &event, SharedEvent done) {
    pending_.push_back({last_ + 1, Ref<Event>(event), std::move(done)});
    return ++last_;
}

// ----- its end ------------------------------------------------------------------------------------

/// Under mutex_: takes out the command of this number; in order with all before it, which have ended, too.
std::vector<List::Pending> List::take_through(uint64_t number) {
    std::vector<Pending> taken;
    const auto belongs = [&](const Pending &pending) {
        return in_order_ ? pending.number <= number : pending.number == number;
    };
    for (Pending &pending : pending_)
        if (belongs(pending))
            taken.push_back(std::move(pending));
    std::erase_if(pending_, [](const Pending &pending) { return !pending.event; });
    return taken;
}

void List::end(std::vector<Pending> ended, ze_result_t code, const char *call) {
    for (const Pending &pending : ended)
        ListCommand::ended(*pending.event, code, call);
}

void List::wait_for(uint64_t number) {
    SharedEvent done;
    {
        std::lock_guard lock(mutex_);
        for (const Pending &pending : pending_)
            if (pending.number == number)
                done = pending.done;
    }
    if (!done)
        return;
    const ze_result_t code = place_.api().zeEventHostSynchronize(done->id(), UINT64_MAX);
    place_.note(code);
    std::vector<Pending> ended;
    {
        std::lock_guard lock(mutex_);
        ended = take_through(number);
    }
    end(std::move(ended), code, "zeEventHostSynchronize");
}

void List::wait() {
    std::vector<uint64_t> numbers;
    {
        std::lock_guard lock(mutex_);
        for (const Pending &pending : pending_)
            numbers.push_back(pending.number);
    }
    if (in_order_ && !numbers.empty())
        return wait_for(numbers.back());
    for (const uint64_t number : numbers)
        wait_for(number);
}

bool List::poll() {
    /// Of a list that is out of order, how many commands behind the oldest are asked about.
    constexpr size_t most_asked = 64;
    std::vector<Pending> ended;
    ze_result_t code = ZE_RESULT_SUCCESS;
    {
        std::lock_guard lock(mutex_);
        uint64_t through = 0;
        for (size_t i = 0; i < pending_.size() && i < most_asked; ++i) {
            const ze_result_t answer = place_.api().zeEventQueryStatus(pending_[i].done->id());
            if (answer == ZE_RESULT_NOT_READY) {
                if (in_order_)
                    break;
                continue;
            }
            if (answer != ZE_RESULT_SUCCESS) {
                if (through)
                    break; // what has ended before first
                // All that is under way is lost with it.
                code = answer;
                ended = std::move(pending_);
                pending_.clear();
                break;
            }
            through = pending_[i].number;
            if (!in_order_)
                ended.push_back(std::move(pending_[i]));
        }
        if (code == ZE_RESULT_SUCCESS && in_order_ && through)
            ended = take_through(through);
        else
            std::erase_if(pending_, [](const Pending &pending) { return !pending.event; });
    }
    place_.note(code);
    const bool any = !ended.empty();
    end(std::move(ended), code, "zeEventQueryStatus");
    return any;
}

void List::wait_for_oldest(uint64_t timeout) {
    SharedEvent done;
    {
        std::lock_guard lock(mutex_);
        if (pending_.empty())
            return;
        done = pending_.front().done;
    }
    // What it answers is asked again by poll().
    place_.api().zeEventHostSynchronize(done->id(), timeout);
}

bool List::leave() {
    std::lock_guard lock(mutex_);
    if (!pending_.empty())
        return false;
    watched_ = false;
    return true;
}

} // namespace pi::level_zero
