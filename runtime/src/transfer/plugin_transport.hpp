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

/// Carries out routes with the plugins' commands. All of its steps run as posted work, one after the
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

/// For who comes after a transfer: the commands that it came after last. Before the answer; no handle outlives
/// what somebody may wait for.
inline void tell_last(TransferRequest &request) {
    if (request.last != nullptr) {
        *request.last = std::move(request.after);
    }
    request.after.clear();
}

/// A step of a transfer: what it throws, for want of memory, is how the transfer ends.
template <class Transfer, class Step>
void run_step(Transfer &transfer, Step step) {
    try {
        step();
    } catch (const std::exception &error) {
        transfer.finish(PI_ERROR_OUT_OF_HOST_MEMORY, text_if_possible(error.what()));
    }
}

/// A map that a transfer makes and undoes. What it cannot undo stands: then commands on these bytes
/// wait for another unmap. The transfer lives until `done`, which these call once.
class TransferMap {
public:
    TransferMap(std::shared_ptr<Commands> commands, const MemoryEnd &end, const Range &range,
                uint64_t flags);
    ~TransferMap();
    TransferMap(const TransferMap &) = delete;
    TransferMap &operator=(const TransferMap &) = delete;

    void *pointer() const { return map_.front().pointer; }
    Commands::After map(TransferDone done, const Commands::After &after);
    /// Tries a second time. Where that fails as well, the transfer has delivered what it read, but
    /// not what it wrote.
    Commands::After unmap(TransferDone done, const Commands::After &after);
    /// Whether the command that unmap() returned failed: nothing can come after it then.
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

/// Over the route's hops in pieces of its chunk, through two staging buffers at each place on the way:
/// while a piece leaves one of them, the next one comes into the other.
void run_pipeline(const std::shared_ptr<Commands> &commands,
                  const std::shared_ptr<StagingPool> &pool, const TransferRequest &request,
                  TransferDone done);

/// Makes the writes of one user of a memory visible to another, as each one's coherence needs.
void hand_over(const std::shared_ptr<Commands> &commands, const TransferRequest &request,
               TransferDone done);

} // namespace pi::runtime
