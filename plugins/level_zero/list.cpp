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

void List::expect(size_t references) {
    kept_.reserve(references);
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
    if (++events_ == 1)
        context_->watch().wake();
    return ++last_;
}

void List::keep(References &references, SharedEvent before, SharedEvent done) {
    pending_.push_back({last_ + 1, nullptr, std::move(done), std::move(before)});
    if (kept_.keep(++last_, references))
        context_->watch().wake();
}

bool List::keeps() {
    std::lock_guard lock(mutex_);
    return pending_.size() > events_;
}

void List::close() noexcept {
    {
        std::lock_guard lock(mutex_);
        closed_ = true;
    }
    context_->watch().wake();
}

// ----- its end ------------------------------------------------------------------------------------

/// Under mutex_: the command of this number, or the end. Numbers ascend.
std::deque<List::Pending>::iterator List::find(uint64_t number) {
    const auto found = std::partition_point(pending_.begin(), pending_.end(),
                                            [&](const auto &one) { return one.number < number; });
    return found != pending_.end() && found->number == number ? found : pending_.end();
}

/// Under mutex_: takes out the command of this number; in order with all before it, which have ended, too.
List::Ended List::take_through(uint64_t number) {
    Ended taken;
    const auto take = [&](Pending &pending) {
        events_ -= pending.event ? 1 : 0;
        taken.push_back(std::move(pending));
    };
    if (in_order_) {
        for (; !pending_.empty() && pending_.front().number <= number; pending_.pop_front())
            take(pending_.front());
        return taken;
    }
    if (const auto found = find(number); found != pending_.end()) {
        take(*found);
        pending_.erase(found);
    }
    return taken;
}

/// With the lock under which they were taken out. Who is told of an end, or finds nothing under way, may rely on it that
/// nothing is kept any more.
void List::end(std::unique_lock<std::mutex> lock, const Ended &ended, ze_result_t code,
               const char *call) {
    kept_.release(ended.empty() ? 0 : ended.back().number, lock);
    lock.unlock();
    for (const Pending &pending : ended)
        if (pending.event)
            ListCommand::ended(*pending.event, code, call);
}

void List::wait_for(uint64_t number) {
    SharedEvent done;
    {
        std::unique_lock lock(mutex_);
        const auto found = find(number);
        if (found == pending_.end())
            return kept_.release(0, lock); // another thread may be about to let go of what it kept
        done = found->done;
    }
    const ze_result_t code = place_.api().zeEventHostSynchronize(done->id(), UINT64_MAX);
    place_.note(code);
    std::unique_lock lock(mutex_);
    const Ended ended = take_through(number);
    end(std::move(lock), ended, code, "zeEventHostSynchronize");
}

void List::wait() {
    if (in_order_)
        return wait_for(newest());
    std::vector<uint64_t> numbers;
    {
        std::lock_guard lock(mutex_);
        for (const Pending &pending : pending_)
            numbers.push_back(pending.number);
    }
    for (const uint64_t number : numbers)
        wait_for(number);
}

void List::end_through(uint64_t number) {
    std::unique_lock lock(mutex_);
    const Ended ended = take_through(number);
    end(std::move(lock), ended, ZE_RESULT_SUCCESS, nullptr);
}

bool List::poll() {
    /// Of a list that is out of order, how many commands behind the oldest are asked about.
    constexpr size_t most_asked = 64;
    Ended ended;
    ze_result_t code = ZE_RESULT_SUCCESS;
    const auto is_done = [&](const Pending &pending) {
        const ze_result_t answer = place_.api().zeEventQueryStatus(pending.done->id());
        if (answer != ZE_RESULT_SUCCESS && answer != ZE_RESULT_NOT_READY)
            code = answer;
        return answer == ZE_RESULT_SUCCESS;
    };
    std::unique_lock lock(mutex_);
    if (in_order_) {
        const auto open = std::partition_point(pending_.begin(), pending_.end(), is_done);
        if (open != pending_.begin())
            ended = take_through(std::prev(open)->number);
    } else {
        std::vector<uint64_t> numbers;
        for (size_t i = 0; i < pending_.size() && i < most_asked && !code; ++i)
            if (is_done(pending_[i]))
                numbers.push_back(pending_[i].number);
        for (const uint64_t number : numbers)
            std::ranges::move(take_through(number), std::back_inserter(ended));
    }
    // What has ended before first; then all that is under way is lost.
    if (!ended.empty())
        code = ZE_RESULT_SUCCESS;
    else if (code != ZE_RESULT_SUCCESS)
        for (events_ = 0; !pending_.empty(); pending_.pop_front())
            ended.push_back(std::move(pending_.front()));
    place_.note(code);
    end(std::move(lock), ended, code, "zeEventQueryStatus");
    return !ended.empty();
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

bool List::urgent() {
    std::lock_guard lock(mutex_);
    return events_ || (closed_ && !pending_.empty());
}

bool List::has_ended(uint64_t number) {
    std::lock_guard lock(mutex_);
    return find(number) == pending_.end();
}

bool List::leave() {
    std::lock_guard lock(mutex_);
    if (!pending_.empty())
        return false;
    watched_ = false;
    return true;
}

} // namespace pi::level_zero
