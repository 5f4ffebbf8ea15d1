// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer that finds unordered commands that use the same bytes, one of them writing. It
// considers the order by contract, never the actual timing: wait lists, in-order queues, barriers,
// host events, and what the host has seen end (by waiting, finishing, blocking, querying, callbacks
// and host functions). What one host thread has seen, all are assumed to know. Uncertain cases
// count as ordered, so that every report is a race.
#pragma once

#include "functions.hpp"
#include "layers/race/access.hpp"
#include "layers/race/past.hpp"
#include "layers/stack.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pi::loader {
class PluginInstance;
}

namespace pi::loader::race {

/// An enqueued command. Its past includes its own place.
struct Command {
    std::size_t function = 0; ///< the row of its function
    uint64_t call = 0;        ///< the number of that function's successful call
    const void *queue = nullptr;
    std::shared_ptr<Lane> lane{};
    uint64_t number = 0; ///< its place in the lane
    Past past{};
    bool held = false;
    std::vector<Access> accesses{};
    Stack stack{};
};

/// State of objects while the application has references to them.
template <typename Handle, typename State>
class Known {
    struct Row {
        State state;
        uint32_t references;
    };

public:
    using Taken = typename std::unordered_map<Handle, Row>::node_type;

    State *find(Handle handle) noexcept {
        const auto found = rows_.find(handle);
        return found != rows_.end() ? &found->second.state : nullptr;
    }
    void add(Handle handle, State state) {
        rows_.insert_or_assign(handle, Row{std::move(state), 1});
    }
    void retain(Handle handle) noexcept {
        const auto found = rows_.find(handle);
        if (found != rows_.end())
            ++found->second.references;
    }
    void forget(Handle handle) noexcept { rows_.erase(handle); }
    /// The last reference removes the entry and returns it; otherwise the result is empty.
    Taken release(Handle handle) noexcept {
        const auto found = rows_.find(handle);
        if (found == rows_.end() || --found->second.references != 0)
            return {};
        return rows_.extract(found);
    }
    /// The release failed.
    void put_back(Handle handle, Taken taken) noexcept {
        if (!taken.empty())
            rows_.insert(std::move(taken));
        retain(handle);
    }

private:
    std::unordered_map<Handle, Row> rows_;
};

/// The command or the host gate that completes an event; neither if the layer does not know it.
struct EventState {
    std::shared_ptr<const Command> command{};
    std::shared_ptr<Gate> gate{}; ///< set for a host event
};

/// A USM allocation.
struct Usm {
    uint64_t size;
    std::shared_ptr<const Storage> storage;
};

class Races;

/// A host function of the application, and what has ended when it runs.
struct HostFunction {
    Races &races;
    Past past;
    pi_host_function function;
    void *user_data;
};

class Races {
public:
    explicit Races(PluginInstance &instance);

    const pi_dispatch &next() const noexcept { return next_; }

    // Objects that were created; retained and released as the application does.
    void add_queue(pi_queue queue);
    void add_memory(pi_mem mem, uint64_t size, uint64_t flags);
    void add_image(pi_mem mem, const pi_mem_image_desc &desc);
    void add_view(pi_mem parent, pi_mem view, const pi_mem_partition_desc &desc);
    void add_program(pi_program program);
    void add_host_event(pi_event event);
    void
    /// the handle now belongs to another, unknown event
    forget_event(pi_event event);
    void add_usm(const void *pointer, uint64_t size);
    template <typename Handle>
    void retain(Handle handle) noexcept {
        const std::scoped_lock lock(mutex_);
        known_of(handle).retain(handle);
    }
    /// Call it before the release, after which the address may be another object's; put the entry
    /// back if that fails.
    template <typename Handle>
    auto release(Handle handle) noexcept {
        const std::scoped_lock lock(mutex_);
        return known_of(handle).release(handle);
    }
    template <typename Handle, typename Taken>
    void put_back(Handle handle, Taken taken) noexcept {
        const std::scoped_lock lock(mutex_);
        known_of(handle).put_back(handle, std::move(taken));
    }

    /// An allocation that is removed before its free; put it back if that fails.
    using FreedUsm = std::map<uintptr_t, Usm>::node_type;
    FreedUsm free_usm(const void *pointer) noexcept;
    void put_back_usm(FreedUsm freed) noexcept;

    /// An enqueued command.
    struct Enqueued {
        std::size_t function;
        pi_queue queue;
        std::vector<EventState> waits; ///< from waits_of()
        std::vector<Access> accesses{};
        pi_event event = nullptr; ///< nullptr: the application has none
        bool barrier = false;
        bool waits_for_all = false; ///< for its queue, if its wait list is empty
        bool blocked = false;       ///< the call returned when the command had ended
    };
    /// The events of a wait list. Call it before the command, which may write its event over the
    /// list.
    std::vector<EventState> waits_of(uint32_t wait_count, const pi_event *wait_list);
    void add(Enqueued enqueued, Stack stack);
    /// The commands that end before this one begins.
    Past past_before(const Enqueued &enqueued);

    /// These collect the accesses of commands.
    void use_mem(std::vector<Access> &out, pi_mem mem, Use use, Ranges ranges);
    /// From an address on: USM, or host memory.
    void use_pointer(std::vector<Access> &out, const void *pointer, Use use, Ranges ranges);
    void use_variable(std::vector<Access> &out, pi_program program, const char *name, Use use,
                      Ranges ranges);
    /// The bytes of a pixel if it is an image; else 0.
    uint32_t pixel_of(pi_mem mem) noexcept;
    Grid grid_of(pi_mem image) noexcept;
    void use_argument(std::vector<Access> &out, const pi_kernel_argument &argument);
    /// As in pi_race_v1; false for unknown memory.
    bool set_lead(const pi_kernel_argument &argument, uint64_t lead);
    /// The whole allocation.
    static void use_freed(std::vector<Access> &out, const FreedUsm &freed);
    void map(std::vector<Access> &out, const pi_buffer_map_desc &desc);
    void unmap(std::vector<Access> &out, pi_mem mem);

    /// Until it runs; one that never runs, because its command fails, ends with this object.
    void *store(HostFunction function);
    std::unique_ptr<HostFunction> take(const void *stored) noexcept;

    // The host knows that something has ended.
    Past past_of_queue(pi_queue queue);
    Past past_of_event(pi_event event);
    void end(const Past &past) noexcept;
    void end_event(pi_event event) noexcept;
    /// Only if the wait's result is the command's: another result says nothing.
    void end_waited(pi_event event, pi_result result) noexcept;
    void signal(pi_event event, pi_result result);
    /// The last release of an event succeeded: commands that wait for a host event that was not
    /// signalled do nothing.
    void abandon(const Known<pi_event, EventState>::Taken &released);

    /// Out of memory for running commands: later reports could be wrong, so there are none.
    void give_up() noexcept;
    /// Records what was done, or gives up.
    template <typename Note>
    void watch(Note &&note) noexcept {
        try {
            note();
        } catch (const std::exception &) {
            give_up();
        }
    }

private:
    struct QueueState {
        bool in_order;
        /// in an in-order queue: the next command's predecessor
        std::shared_ptr<const Command> last{};
        Past all{};     ///< all enqueued commands
        Past barrier{}; ///< every later command begins after it
    };
    struct Mapping {
        pi_mem mem;
        std::shared_ptr<const Storage> storage;
        Range range;
        bool writes;
    };
    struct ProgramState {
        std::map<std::string, std::shared_ptr<const Storage>> variables; ///< by name
    };

    Known<pi_queue, QueueState> &known_of(pi_queue) noexcept { return queues_; }
    Known<pi_mem, Memory> &known_of(pi_mem) noexcept { return memory_; }
    Known<pi_event, EventState> &known_of(pi_event) noexcept { return events_; }
    Known<pi_program, ProgramState> &known_of(pi_program) noexcept { return programs_; }
    /// Whether the result says that the event is complete.
    bool is_result(pi_event event, pi_result result) noexcept;
    /// The allocation that contains an address, and its begin; nullptr if there is none.
    const Usm *usm_of(uintptr_t address, uintptr_t &out_begin) const noexcept;

    // All of these need the lock.
    void take_waits(Command &command, QueueState &queue, const Enqueued &enqueued);
    void take_predecessor(Command &command, const std::shared_ptr<const Command> &before,
                          Behind behind);
    void compare(const Command &command, std::vector<std::string> &reports);
    void compare(const Command &first, const Command &second, std::vector<std::string> &reports);
    void close_first();
    void settle(std::vector<std::string> &reports);
    void set_gate(Gate &gate, pi_result result, std::vector<std::string> &reports);
    void end_locked(const Past &past) noexcept;
    void report(const std::vector<std::string> &reports) const noexcept;

    static constexpr std::size_t most_open = 1024;
    static constexpr std::size_t most_leads = 4096; // per memory object
    static constexpr std::size_t most_reports = 1000;

    const pi_dispatch &next_;
    const pi_dispatch &queries_;
    PluginInstance &instance_;
    const pi_log_level level_;
    std::atomic<bool> gave_up_{false};
    std::mutex mutex_;
    std::array<uint64_t, function_rows.size()> calls_{};
    std::deque<std::shared_ptr<Command>> open_; ///< may still race with later commands
    Known<pi_queue, QueueState> queues_;
    Known<pi_mem, Memory> memory_;
    Known<pi_event, EventState> events_;
    Known<pi_program, ProgramState> programs_;
    std::map<uintptr_t, Usm> usm_;
    const std::shared_ptr<const Storage> host_;
    std::vector<Mapping> mappings_;
    std::unordered_map<const void *, std::unique_ptr<HostFunction>> host_functions_;
    std::set<std::pair<Stack, Stack>> reported_;
};

} // namespace pi::loader::race
