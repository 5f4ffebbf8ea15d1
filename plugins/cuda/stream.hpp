// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One stream of the driver, and the commands in it that have not ended.
//
// The end of a command with an event is waited for by a thread of the instance, so that it is told at once. That of one
// without an event concerns nobody: what such a command names is let go of by whoever waits for the stream next, or else
// by the thread, which looks now and then.
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

/// A queue's. The thread that waits for what is in it may have it for longer.
class Stream : public std::enable_shared_from_this<Stream> {
public:
    /// The context must be current.
    Stream(Primary &primary, int priority);
    /// The application's. Destroyed in the end if *own is true by then.
    Stream(Primary &primary, CUstream id, std::shared_ptr<const bool> own)
        : primary_(primary.shared_from_this()), id_(id), own_(std::move(own)), sealed_(true) {}
    ~Stream() { destroy(); }
    Stream(const Stream &) = delete;

    CUstream id() const { return id_; }
    /// Held while one command's calls are put into the stream.
    std::mutex &mutex() { return mutex_; }

    /// Under mutex(), before a command is put into the stream whose end matters: someone will notice it. `references` is
    /// how many keep() will be given.
    void expect(size_t references = 0);
    /// A place among the commands that have events. Made under mutex() before the command is put
    /// into the stream, and gone before that is open.
    class Entry {
    public:
        explicit Entry(Stream &stream) : stream_(stream) { stream_.pending_.emplace_back(); }
        Entry(const Entry &) = delete;
        ~Entry() {
            if (!stream_.pending_.back().event)
                stream_.pending_.pop_back();
        }
        /// The command is in the stream, with `done` behind it; NULL: nobody but this stream waits
        /// for it, which then records an event behind several. Returns its number.
        uint64_t fill(sdk::Event &event, SharedEvent done) noexcept;

    private:
        Stream &stream_;
    };
    /// Under mutex(): a command without an event is in the stream, and uses these until it has ended.
    void keep(sdk::CommandReferences &references) noexcept;
    /// Under mutex(): a command without an event may still be going on.
    bool keeps() const { return deferred_.newest() > ended_; }

    /// Waits on the calling thread for the command of this number, and ends it and those before it.
    void wait_for(uint64_t number);
    /// The same for all that are in the stream.
    void wait();
    /// The same in any case, the application's work included.
    CUresult synchronize();
    /// Puts a mark behind all that is in the stream, the application's work included. The result says whether it is reached,
    /// and has then ended the commands before it.
    std::function<bool()> mark_end();
    /// Ends commands without an event that have ended already.
    void sweep();
    /// From now on nothing that comes into the stream is waited for with what is in it.
    void seal();
    /// The queue is gone. What is in the stream goes on.
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
    const std::shared_ptr<const bool> own_; ///< NULL for what is ours
    std::mutex mutex_;                      ///< guards what follows
    std::condition_variable condition_;     ///< the thread that watches has something to do
    uint64_t last_ = 0;                     ///< the number of the newest command; they begin with 1
    uint64_t ended_ = 0;                    ///< those through this one have ended
    std::deque<Pending> pending_;           ///< with events, in the stream's order
    sdk::DeferredReleases deferred_;        ///< of those without
    Mark marked_; ///< recorded behind commands that have no event of their own
    bool watched_ =
        false; ///< the instance looks after the stream, on a thread of its own or by its watcher
    bool dozing_ = false;    ///< it does so now and then only
    bool sweep_due_ = false; ///< it is to do so now
    bool mark_due_ = false;  ///< one is recorded before what comes next: a sweep found none
    bool sealed_ = false;    ///< the application's work may be in it, too
    bool closed_ = false;
};

} // namespace pi::cuda
