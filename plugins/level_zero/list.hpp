// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An immediate command list, and the commands in it that have not ended.
//
// The driver starts what is in a list at once, and in no order but that of events and barriers. Of a list in order each
// command waits for the event of the one before it.
#pragma once

#include "place.hpp"

#include <pi/sdk/event.hpp>

#include <cstdint>
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

    /// Under mutex(), before a command is put into the list: someone will notice its end.
    void expect();
    /// Under mutex(): what a command in order waits for; NULL if nothing is under way.
    SharedEvent tail() const;
    /// Under mutex(): a command is in the list, at whose end `done` happens. Returns its number.
    uint64_t add(sdk::Event &event, SharedEvent done);

    /// Waits on the calling thread for the command of this number, and ends it.
    void wait_for(uint64_t number);
    /// The same for all that are in the list.
    void wait();

    /// For Watch. Ends what has ended; whether there was any.
    bool poll();
    /// Waits for the oldest command, so many nanoseconds at most.
    void wait_for_oldest(uint64_t timeout);
    /// Whether nothing is under way, so that it need not be looked after until the next expect().
    bool leave();

private:
    struct Pending {
        uint64_t number;
        sdk::Ref<sdk::Event> event;
        SharedEvent done;
    };
    void end(std::vector<Pending> ended, ze_result_t code, const char *call);
    std::vector<Pending> take_through(uint64_t number);

    const std::shared_ptr<DriverContext> context_;
    Place &place_;
    const bool in_order_;
    ze_command_list_handle_t id_ = nullptr;
    const std::shared_ptr<const bool> own_; ///< NULL for what is ours
    std::mutex mutex_;                      ///< guards what follows
    uint64_t last_ = 0;                     ///< the number of the newest command; they begin with 1
    std::vector<Pending> pending_;          ///< in the order in which they came
    bool watched_ = false;
};

} // namespace pi::level_zero
