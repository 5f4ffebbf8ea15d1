// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An immediate command list, and the commands in it that have not ended.
//
// The driver starts what is in a list at once, and in no order but that of events and barriers. Of a list in order each
// command waits for the driver's event of the one before it.
//
// The end of a command that the application has an event of is told at once. That of another one concerns nobody: what such a
// command names is let go of by whoever waits for the list next, or else by the context's thread, which looks now and then.
#pragma once

#include "place.hpp"

#include <pi/sdk/deferred_release.hpp>
#include <pi/sdk/event.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::level_zero {

/// A queue's. Who looks after what is in it may have it for longer.
class List : public std::enable_shared_from_this<List> {
public:
    /// `priority` is the driver's.
    List(Place &place, bool in_order, ze_command_queue_priority_t priority);
    /// The application's. Destroyed in the end if *own is true by then.
    List(Place &place, ze_command_list_handle_t id, std::shared_ptr<const bool> own);
    ~List();
    List(const List &) = delete;

    ze_command_list_handle_t id() const { return id_; }
    Place &place() const { return place_; }
    bool in_order() const { return in_order_; }
    /// Held while one command's calls are put into the list: the driver does not lock.
    std::mutex &mutex() { return mutex_; }

    /// Under mutex(), before a command is put into the list: someone will notice its end. `references` is how many keep() will
    /// be given.
    void expect(size_t references = 0);
    /// A place among the commands. Made under mutex() before the command is put into the list, and
    /// gone before that is open.
    class Entry {
    public:
        explicit Entry(List &list) : list_(list) { list_.pending_.emplace_back(); }
        Entry(const Entry &) = delete;
        ~Entry() {
            if (!list_.pending_.back().done)
                list_.pending_.pop_back();
        }
        /// The command is in the list, at whose end `done` happens. Returns its number.
        uint64_t fill(sdk::Event &event, SharedEvent done) noexcept;
        /// One that nobody has an event of, in a list in order. It waits for `before`, which may be
        /// NULL, and uses the references until it has ended.
        void keep(sdk::CommandReferences &references, SharedEvent before,
                  SharedEvent done) noexcept;

    private:
        List &list_;
    };
    /// Under mutex(): what a command in order waits for; NULL if nothing is under way.
    SharedEvent tail() const;
    /// The number of the newest command.
    uint64_t newest() const { return last_.load(std::memory_order_relaxed); }
    /// A command without an event may still be going on.
    bool keeps();

    /// Waits on the calling thread for the command of this number, and ends it; in order, those before it, too.
    void wait_for(uint64_t number);
    /// The same for all that are in the list.
    void wait();
    /// In order: the commands through this number have ended.
    void end_through(uint64_t number);
    /// The queue is gone. What is in the list goes on.
    void close() noexcept;

    /// Ends what has ended already, and lets go of what it names; whether there was any.
    bool poll();
    /// Whether the command of this number has been ended.
    bool has_ended(uint64_t number);
    /// For Watch. Waits for the oldest command, so many nanoseconds at most.
    void wait_for_oldest(uint64_t timeout);
    /// Whether somebody is to be told of an end at once.
    bool urgent();
    /// Whether nothing is under way, so that it need not be looked after until the next expect().
    bool leave();

private:
    struct Pending {
        uint64_t number = 0;
        sdk::Ref<sdk::Event> event{}; ///< NULL: nobody has one
        SharedEvent done{};
        SharedEvent
            before{}; ///< of one without an event: what the driver waits for is not to be used again before
    };
    std::deque<Pending>::iterator find(uint64_t number);
    void end(std::unique_lock<std::mutex> &lock, uint64_t number, bool through, ze_result_t code,
             const char *call);

    const std::shared_ptr<DriverContext> context_;
    Place &place_;
    const bool in_order_;
    ze_command_list_handle_t id_ = nullptr;
    const std::shared_ptr<const bool> own_; ///< NULL for what is ours
    std::mutex mutex_;                      ///< guards what follows
    std::atomic<uint64_t> last_{0};         ///< the number of the newest command; they begin with 1
    std::deque<Pending> pending_;           ///< in the order in which they came
    size_t events_ = 0;                     ///< how many of these have an event
    sdk::DeferredReleases deferred_;        ///< of those that have none
    bool watched_ = false;
    bool closed_ = false;
};

} // namespace pi::level_zero
