// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An immediate command list, and the commands in it that have not completed.
//
// The driver starts commands in a list immediately; only events and barriers order them. In an
// in-order list each command waits for the driver's event of the previous one.
//
// Commands that have an event of the application's are completed at once. Other commands have no
// observer: the next waiter on the list drops their references, or else the context's thread, which
// polls now and then.
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

/// A queue's list. The thread that watches its commands may keep it alive for longer.
class List : public std::enable_shared_from_this<List> {
public:
    /// `priority` is a value of the driver's.
    List(Place &place, bool in_order, ze_command_queue_priority_t priority);
    /// The application's list. Destroyed at the end if *own is true by then.
    List(Place &place, ze_command_list_handle_t id, std::shared_ptr<const bool> own);
    ~List();
    List(const List &) = delete;

    ze_command_list_handle_t id() const { return id_; }
    Place &place() const { return place_; }
    bool in_order() const { return in_order_; }
    /// To be locked while one command's calls go into the list: the driver does not lock.
    std::mutex &mutex() { return mutex_; }

    /// Under mutex(), before a command goes into the list: makes sure that its end will be noticed.
    /// `references` is the number that keep() will be given.
    void expect(size_t references = 0);
    /// A place among the commands. Created under mutex() before the command goes into the list, and
    /// destroyed before mutex() is unlocked.
    class Entry {
    public:
        explicit Entry(List &list) : list_(list) { list_.pending_.emplace_back(); }
        Entry(const Entry &) = delete;
        ~Entry() {
            if (!list_.pending_.back().done)
                list_.pending_.pop_back();
        }
        /// The command is in the list and signals `done` at its end. Returns the command's number.
        uint64_t fill(sdk::Event &event, SharedEvent done) noexcept;
        /// The same for a command without an event in an in-order list. It waits for `before`,
        /// which may be NULL, and uses the references until it has completed.
        void keep(sdk::CommandReferences &references, SharedEvent before,
                  SharedEvent done) noexcept;

    private:
        List &list_;
    };
    /// Under mutex(): the event that the next in-order command waits for; NULL if none is pending.
    SharedEvent tail() const;
    /// The number of the newest command.
    uint64_t newest() const { return last_.load(std::memory_order_relaxed); }
    /// Whether a command without an event may still be running.
    bool keeps();

    /// Waits on the calling thread for the command of this number, and ends it; in an in-order list
    /// also those before it.
    void wait_for(uint64_t number);
    /// The same for all commands in the list.
    void wait();
    /// In-order lists only: ends the commands up to this number, which have completed.
    void end_through(uint64_t number);
    /// The queue is destroyed. Work in the list goes on.
    void close() noexcept;

    /// Ends completed commands and drops their references; returns whether there were any.
    bool poll();
    /// Whether the command of this number has ended.
    bool has_ended(uint64_t number);
    /// For Watch. Waits for the oldest command, at most `timeout` nanoseconds.
    void wait_for_oldest(uint64_t timeout);
    /// Whether a command's end must be noticed at once.
    bool urgent();
    /// Returns true if nothing is pending: it need not be watched until the next expect().
    bool leave();

private:
    struct Pending {
        uint64_t number = 0;
        sdk::Ref<sdk::Event> event{}; ///< NULL for a command without an event
        SharedEvent done{};
        /// For a command without an event: the driver's wait uses it, so it must not be reused
        /// before that.
        SharedEvent before{};
    };
    std::deque<Pending>::iterator find(uint64_t number);
    void end(std::unique_lock<std::mutex> &lock, uint64_t number, bool through, ze_result_t code,
             const char *call);

    const std::shared_ptr<DriverContext> context_;
    Place &place_;
    const bool in_order_;
    ze_command_list_handle_t id_ = nullptr;
    const std::shared_ptr<const bool> own_; ///< NULL for the plugin's own list
    std::mutex mutex_;                      ///< guards what follows
    std::atomic<uint64_t> last_{0};         ///< number of the newest command, from 1
    std::deque<Pending> pending_;           ///< in the order of submission
    size_t events_ = 0;                     ///< how many of them have an event
    sdk::DeferredReleases deferred_;        ///< references of those without
    bool watched_ = false;
    bool closed_ = false;
};

} // namespace pi::level_zero
