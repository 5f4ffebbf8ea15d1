// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "list.hpp"
#include "submission.hpp"

#include <algorithm>
#include <array>

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
    deferred_.reserve(references);
    if (watched_)
        return;
    context_->watch().add(shared_from_this());
    watched_ = true;
}

SharedEvent List::tail() const {
    return pending_.empty() ? nullptr : pending_.back().done;
}

uint64_t List::Entry::fill(Event &event, SharedEvent done) noexcept {
    list_.pending_.back() = {++list_.last_, Ref<Event>(event), std::move(done)};
    if (++list_.events_ == 1)
        list_.context_->watch().wake();
    return list_.last_;
}

void List::Entry::keep(CommandReferences &references, SharedEvent before,
                       SharedEvent done) noexcept {
    list_.pending_.back() = {++list_.last_, nullptr, std::move(done), std::move(before)};
    if (list_.deferred_.defer(list_.last_, references))
        list_.context_->watch().wake();
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

// ----- completion --------------------------------------------------------------------------------

/// Under mutex_: the command of this number, or end(). Numbers ascend.
std::deque<List::Pending>::iterator List::find(uint64_t number) {
    const auto found = std::partition_point(pending_.begin(), pending_.end(),
                                            [&](const auto &one) { return one.number < number; });
    return found != pending_.end() && found->number == number ? found : pending_.end();
}

/// Ends the command of this number, or with `through` all up to it. Unlocks `lock` while one ends.
/// References are released first: once a thread sees the end, or an empty list, they are gone.
void List::end(std::unique_lock<std::mutex> &lock, uint64_t number, bool through, ze_result_t code,
               const char *call) {
    deferred_.release(number, lock);
    for (;;) {
        const auto found = through ? pending_.begin() : find(number);
        if (found == pending_.end() || found->number > number)
            return;
        Pending one = std::move(*found);
        pending_.erase(found);
        events_ -= one.event ? 1 : 0;
        lock.unlock();
        if (one.event)
            ListCommand::ended(*one.event, code, call);
        one = {}; // destroy it without the lock
        lock.lock();
    }
}

void List::wait_for(uint64_t number) {
    SharedEvent done;
    {
        std::unique_lock lock(mutex_);
        const auto found = find(number);
        if (found == pending_.end())
            return deferred_.release(0,
                                     lock); // another thread may be about to release the references
        done = found->done;
    }
    const ze_result_t code = place_.api().zeEventHostSynchronize(done->id(), UINT64_MAX);
    place_.note(code);
    std::unique_lock lock(mutex_);
    end(lock, number, in_order_, code, "zeEventHostSynchronize");
}

void List::wait() {
    if (in_order_)
        return wait_for(newest());
    const uint64_t last = newest();
    for (;;) {
        uint64_t number;
        {
            std::lock_guard lock(mutex_);
            if (pending_.empty() || pending_.front().number > last)
                return;
            number = pending_.front().number;
        }
        wait_for(number);
    }
}

void List::end_through(uint64_t number) {
    std::unique_lock lock(mutex_);
    end(lock, number, true, ZE_RESULT_SUCCESS, nullptr);
}

bool List::poll() {
    /// How many commands of an out-of-order list are polled, from the oldest.
    constexpr size_t most_asked = 64;
    ze_result_t code = ZE_RESULT_SUCCESS;
    const auto is_done = [&](const Pending &pending) {
        const ze_result_t answer = place_.api().zeEventQueryStatus(pending.done->id());
        if (answer != ZE_RESULT_SUCCESS && answer != ZE_RESULT_NOT_READY)
            code = answer;
        return answer == ZE_RESULT_SUCCESS;
    };
    std::unique_lock lock(mutex_);
    std::array<uint64_t, most_asked> ended;
    size_t count = 0;
    if (in_order_) {
        const auto open = std::partition_point(pending_.begin(), pending_.end(), is_done);
        if (open != pending_.begin())
            ended[count++] = std::prev(open)->number;
    } else {
        for (size_t i = 0; i < pending_.size() && i < most_asked && !code; ++i)
            if (is_done(pending_[i]))
                ended[count++] = pending_[i].number;
    }
    // End completed commands first; once none is left after an error, all pending ones are lost.
    const bool any = count != 0, lost = !any && code != ZE_RESULT_SUCCESS;
    if (lost && !pending_.empty())
        ended[count++] = pending_.back().number;
    place_.note(any ? ZE_RESULT_SUCCESS : code);
    for (size_t i = 0; i < count; ++i)
        end(lock, ended[i], in_order_ || lost, any ? ZE_RESULT_SUCCESS : code,
            "zeEventQueryStatus");
    if (count == 0) // another thread may be about to release references
        deferred_.release(0, lock);
    return count != 0;
}

void List::wait_for_oldest(uint64_t timeout) {
    SharedEvent done;
    {
        std::lock_guard lock(mutex_);
        if (pending_.empty())
            return;
        done = pending_.front().done;
    }
    // The result does not matter: poll() queries again.
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
