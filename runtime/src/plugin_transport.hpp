// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "commands.hpp"
#include "staging.hpp"

#include <pi/runtime/route.hpp>
#include <pi/runtime/transfer.hpp>

#include <memory>

namespace pi::runtime {

/// Carries out routes with the plugins' commands. All of its steps run as posted work, one after the
/// other, so a transfer in progress needs no lock.
class PluginTransport final : public Transport {
public:
    PluginTransport(std::shared_ptr<const Topology> topology,
                    std::shared_ptr<Continuations> continuations, const CostModel &costs);
    void start(const TransferRequest &request, TransferDone done) override;

private:
    void begin(const TransferRequest &request, TransferDone done);

    const std::shared_ptr<Continuations> continuations_;
    const std::shared_ptr<Commands> commands_;
    const std::shared_ptr<StagingPool> pool_ = std::make_shared<StagingPool>();
    const CostModel costs_;
};

/// A bounce with one end mapped in place, by request.route.style.
void bounce_mapped(const std::shared_ptr<Commands> &commands, const TransferRequest &request,
                   TransferDone done);

/// A bounce in chunks through two staging buffers: one is read into while the other is written from.
void bounce_staged(const std::shared_ptr<Commands> &commands,
                   const std::shared_ptr<StagingPool> &pool, const TransferRequest &request,
                   uint64_t chunk, TransferDone done);

/// Makes the writes of one user of a memory visible to another, as each one's coherence needs.
void hand_over(const std::shared_ptr<Commands> &commands, const TransferRequest &request,
               TransferDone done);

} // namespace pi::runtime
