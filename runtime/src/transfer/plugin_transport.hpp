// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "transfer/commands.hpp"
#include "transfer/staging.hpp"

#include <pi/runtime/route.hpp>
#include <pi/runtime/transfer.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace pi::runtime {

/// Carries out routes with the plugins' commands. All steps run as posted work, one after the
/// other, so a transfer in progress needs no lock.
class PluginTransport final : public Transport {
public:
    PluginTransport(std::shared_ptr<Commands> commands,
                    std::shared_ptr<Continuations> continuations,
                    std::shared_ptr<StagingPool> staging);
    void start(const TransferRequest &request, TransferDone done) override;

private:
    void begin(const TransferRequest &request, const TransferDone &done);
    void undo_maps(const TransferRequest &request, const TransferDone &done);
    void carry_out(const TransferRequest &request, TransferDone done);

    const std::shared_ptr<Continuations> continuations_;
    const std::shared_ptr<Commands> commands_;
    const std::shared_ptr<StagingPool> pool_;
};

/// Passes the transfer's last commands on to what comes after it. To be called before `done`: no
/// handle may outlive the wait for this transfer.
inline void report_last(TransferRequest &request) {
    if (request.last != nullptr) {
        *request.last = std::move(request.after);
    }
    request.after.clear();
}

/// Runs a step of a transfer: if it throws, as without memory, the transfer ends with that.
template <class Transfer, class Step>
void run_step(Transfer &transfer, Step step) {
    try {
        step();
    } catch (const std::exception &error) {
        transfer.finish(PI_ERROR_OUT_OF_HOST_MEMORY, text_if_possible(error.what()));
    }
}

/// A map that a transfer makes and undoes. A map that it cannot undo stands: then commands on these
/// bytes wait for another unmap. The transfer must live until `done`, which each function calls
/// once.
class TransferMap {
public:
    TransferMap(std::shared_ptr<Commands> commands, const MemoryEnd &end, const Range &range,
                uint64_t flags);
    ~TransferMap();
    TransferMap(const TransferMap &) = delete;
    TransferMap &operator=(const TransferMap &) = delete;

    void *pointer() const { return map_.front().pointer; }
    Commands::After map(TransferDone done, const Commands::After &after);
    /// Tries twice. If both fail, a transfer that read through the map has delivered its bytes, but
    /// not one that wrote through it.
    Commands::After unmap(TransferDone done, const Commands::After &after);
    /// Whether the command that unmap() returned failed: then no command can wait for it.
    bool unmap_failed() const { return unmap_failed_; }

private:
    void stand() noexcept;
    void unmap_again(const TransferDone &done);

    const std::shared_ptr<Commands> commands_;
    const uint64_t flags_;
    StandingMaps::One map_; // empty once it stands
    bool is_mapped_ = false;
    bool unmap_failed_ = false;
};

/// A bounce with one end mapped in place, by request.route.style.
void bounce_mapped(const std::shared_ptr<Commands> &commands, const TransferRequest &request,
                   TransferDone done);

/// Moves the bytes over the route's hops in pieces of its chunk, through two staging buffers at
/// each place on the way: while a piece leaves one of them, the next one comes into the other.
void run_pipeline(const std::shared_ptr<Commands> &commands,
                  const std::shared_ptr<StagingPool> &pool, const TransferRequest &request,
                  TransferDone done);

/// Makes the writes of one user of a memory visible to another, as the coherence of both requires.
void sync_coherence(const std::shared_ptr<Commands> &commands, const TransferRequest &request,
                    TransferDone done);

} // namespace pi::runtime
