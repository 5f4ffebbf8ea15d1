// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One stream of the driver, and the commands in it that have not completed.
//
// A thread of the instance waits for each command that has an event, and completes the event at
// once. Commands without an event have no observer: the next waiter on the stream drops their
// references, or else the thread, which polls now and then.
#pragma once

#include "primary.hpp"

#include <pi/sdk/deferred_release.hpp>
#include <pi/sdk/event.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace pi::cuda {

/// A queue's stream. The thread that waits for its commands may keep it alive for longer.
class Stream : public std::enable_shared_from_this<Stream> {
public:
    /// The context must be current.
    Stream(Primary &primary, int priority);
    /// The application's stream. Destroyed at the end if *own is true by then.
    Stream(Primary &primary, CUstream id, std::shared_ptr<const bool> own)
        : primary_(primary.shared_from_this()), id_(id), own_(std::move(own)), sealed_(true) {}
    ~Stream() { destroy(); }
    Stream(const Stream &) = delete;

    CUstream id() const { return id_; }
    /// To be locked while one command's calls go into the stream.
    std::mutex &mutex() { return mutex_; }

    /// Under mutex(), before a command whose end matters goes into the stream: makes sure that its
    /// end will be noticed. `references` is the number that keep() will be given.
    void expect(size_t references = 0);
    /// A place among the commands that have events. Created under mutex() before the command goes
    /// into the stream, and destroyed before mutex() is unlocked.
    class Entry {
    public:
        explicit Entry(Stream &stream) : stream_(stream) { stream_.pending_.emplace_back(); }
        Entry(const Entry &) = delete;
        ~Entry() {
            if (!stream_.pending_.back().event)
                stream_.pending_.pop_back();
        }
        /// The command is in the stream, followed by the event `done`. `done` is NULL if only this
        /// stream waits for the command; the stream then records one event behind several. Returns
        /// the command's number.
        uint64_t fill(sdk::Event &event, SharedEvent done) noexcept;

    private:
        Stream &stream_;
    };
    /// Under mutex(): a command without an event is in the stream; it uses these references until
    /// it has completed.
    void keep(sdk::CommandReferences &references) noexcept;
    /// Under mutex(): whether a command without an event may still be running.
    bool keeps() const { return deferred_.newest() > ended_; }

    /// Waits on the calling thread, then ends the commands up to this number.
    void wait_for(uint64_t number);
    /// The same for all commands in the stream.
    void wait();
    /// Waits in any case, for the application's work as well.
    CUresult synchronize();
    /// Puts a mark behind all work in the stream, the application's included. The returned function
    /// says whether it has been reached, and if so, has ended the commands before it.
    std::function<bool()> mark_end();
    /// Ends commands without an event that have completed.
    void sweep();
    /// Waits for commands that are in the stream now will not wait for later work.
    void seal();
    /// The queue is destroyed. Work in the stream goes on.
    void close() noexcept;

private:
    struct Pending {
        uint64_t number = 0;
        sdk::Ref<sdk::Event> event{};
        SharedEvent done{}; ///< may be NULL
    };
    /// A place in the stream.
    struct Mark {
        uint64_t number = 0;
        SharedEvent done{};
    };
    bool idle() const { return pending_.empty() && !keeps(); }
    void watch();
    bool look();
    void end_if_over(uint64_t number);
    template <class Call>
    void end_by(uint64_t number, Call pi_cuda_functions::*call, const char *name);
    CUresult mark(uint64_t number, Mark &out);
    CUresult record();
    uint64_t last_ended(uint64_t number);
    void end_through(uint64_t number, CUresult code, const char *call);
    void destroy() noexcept;

    std::shared_ptr<Primary> primary_; ///< until destroy()
    CUstream id_ = nullptr;
    const std::shared_ptr<const bool> own_; ///< NULL for the plugin's own stream
    std::mutex mutex_;                      ///< guards what follows
    std::condition_variable condition_;     ///< notifies watch()
    uint64_t last_ = 0;                     ///< number of the newest command, from 1
    uint64_t ended_ = 0;                    ///< commands up to this number have ended
    std::deque<Pending> pending_;           ///< commands with events, in the stream's order
    sdk::DeferredReleases deferred_;        ///< references of commands without
    Mark marked_;            ///< recorded behind commands that have no event of their own
    bool watched_ = false;   ///< a thread of the instance, or its watcher, looks after the stream
    bool dozing_ = false;    ///< the thread only polls now and then
    bool sweep_due_ = false; ///< the thread is to sweep now
    bool mark_due_ = false;  ///< record a mark before the next command: a sweep found none
    bool sealed_ = false;    ///< the stream may have work of the application
    bool closed_ = false;
};

} // namespace pi::cuda
