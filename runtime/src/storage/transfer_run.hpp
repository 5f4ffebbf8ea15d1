// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "storage/storage_state.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace pi::runtime {

/// One copy or coherence sync that an acquire began, from its dependencies to its end: it waits for
/// them, then tries one source after the other until the bytes are there or none is left. It keeps
/// the storage and its memory alive.
class TransferRun : public std::enable_shared_from_this<TransferRun> {
public:
    TransferRun(std::shared_ptr<BufferState> buffer, OperationId operation, ViewId destination,
                PlannedPart part, std::vector<Dependency> dependencies, uint64_t acquisition,
                uint64_t bytes_copy_in_copy_out);
    /// Without the storage's lock.
    void start() noexcept;

private:
    /// If the step throws, as without memory, the operation ends with that: its waiters go on.
    template <class Step>
    void step(Step run) noexcept;
    void end(pi_result result, const std::string &text, std::vector<Submitted> commands);
    void on_ready(pi_result result, const std::string &text);
    void try_next();
    std::vector<Submitted> commands_before() const;
    void on_done(pi_result result, const std::string &text, uint64_t time);
    bool make_room(const Route &route);
    void record(pi_result result, const std::string &text, uint64_t time);
    void count(pi_result result, const Candidate &candidate);
    StorageState &storage() const { return *buffer_->storage; }

    const std::shared_ptr<BufferState> buffer_;
    const OperationId operation_;
    const ViewId destination_;
    const PlannedPart part_;
    const std::vector<Dependency> dependencies_;
    const uint64_t acquisition_;
    uint64_t bytes_copy_in_copy_out_;
    std::atomic<bool> over_{false};
    size_t next_ = 0;  // behind the source that is being tried
    size_t asked_ = 0; // places of that source's route, to make room
    pi_result failure_ = PI_ERROR_DEPENDENCY_FAILED;
    std::string failure_text_;
    std::vector<Submitted> last_; // commands of the source that is being tried, for later transfers
    uint64_t begin_ = 0;          // of the source that is being tried
    Traffic::Entry under_way_;    // likewise
};

} // namespace pi::runtime
