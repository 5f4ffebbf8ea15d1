// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin_transport.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <exception>

namespace pi::runtime {
namespace {

/// Map one end, copy between the pointer and the other end, unmap.
class MappedBounce : public std::enable_shared_from_this<MappedBounce> {
public:
    MappedBounce(std::shared_ptr<Commands> commands, const TransferRequest &request,
                 TransferDone done)
        : commands_(std::move(commands)), request_(request), done_(std::move(done)),
          maps_source_(request.route.style == BounceStyle::map_source),
          hull_(request.ranges.hull()) {}

    void start() {
        // A destination is one piece without holes, all of it overwritten.
        const uint64_t flags = maps_source_ ? PI_MAP_READ : PI_MAP_WRITE_DISCARD;
        commands_->map(mapped(), hull_, flags, &pointer_,
                       [self = shared_from_this()](pi_result result, const std::string &text) {
                           self->on_mapped(result, text);
                       });
    }

private:
    const MemoryEnd &mapped() const {
        return maps_source_ ? request_.source : request_.destination;
    }

    void on_mapped(pi_result result, const std::string &text) {
        if (result != PI_SUCCESS) {
            done_(result, text);
            return;
        }
        auto next = [self = shared_from_this()](pi_result copied, const std::string &detail) {
            self->on_copied(copied, detail);
        };
        const HostEnd host{pointer_, hull_.begin};
        if (maps_source_) {
            commands_->write(request_.destination, host, request_.ranges, next);
        } else {
            commands_->read(request_.source, host, request_.ranges, next);
        }
    }

    void on_copied(pi_result result, const std::string &text) {
        commands_->unmap(mapped(), pointer_,
                         [self = shared_from_this(), result, text](pi_result unmapped,
                                                                   const std::string &detail) {
                             const bool copied = result == PI_SUCCESS;
                             self->done_(copied ? unmapped : result, copied ? detail : text);
                         });
    }

    const std::shared_ptr<Commands> commands_;
    const TransferRequest request_;
    const TransferDone done_;
    const bool maps_source_;
    const Range hull_;
    void *pointer_ = nullptr;
};

/// Two slots go round: free, being read into, being written from. Reads keep the order of the chunks.
class StagedBounce : public std::enable_shared_from_this<StagedBounce> {
public:
    StagedBounce(std::shared_ptr<Commands> commands, StagingPool &pool,
                 const TransferRequest &request, uint64_t chunk, TransferDone done)
        : commands_(std::move(commands)), request_(request), done_(std::move(done)) {
        uint64_t largest = 0;
        for (const Range &range : request.ranges.ranges()) {
            for (uint64_t begin = range.begin; begin < range.end;) {
                const uint64_t size = std::min(chunk, range.end - begin);
                chunks_.push_back({begin, begin + size});
                largest = std::max(largest, size);
                begin += size;
            }
        }
        const size_t slots = std::min<size_t>(2, chunks_.size());
        for (size_t slot = 0; slot < slots; ++slot) {
            slots_.push_back(pool.take(largest));
            free_.push_back(slot);
        }
    }

    void pump() {
        while (!free_.empty() && !chunks_.empty() && result_ == PI_SUCCESS) {
            const size_t slot = free_.back();
            free_.pop_back();
            const Range chunk = chunks_.front();
            chunks_.pop_front();
            ++busy_;
            commands_->read(request_.source, host(slot, chunk), chunk,
                            [self = shared_from_this(), slot, chunk](pi_result result,
                                                                     const std::string &text) {
                                self->on_read(slot, chunk, result, text);
                            });
        }
        if (busy_ == 0 && !finished_ && (chunks_.empty() || result_ != PI_SUCCESS)) {
            finished_ = true;
            done_(result_, text_);
        }
    }

private:
    HostEnd host(size_t slot, const Range &chunk) const {
        return {slots_[slot].data(), chunk.begin};
    }

    void on_read(size_t slot, const Range &chunk, pi_result result, const std::string &text) {
        if (result != PI_SUCCESS) {
            on_slot_done(slot, result, text);
            return;
        }
        commands_->write(
            request_.destination, host(slot, chunk), chunk,
            [self = shared_from_this(), slot](pi_result written, const std::string &detail) {
                self->on_slot_done(slot, written, detail);
            });
    }

    void on_slot_done(size_t slot, pi_result result, const std::string &text) {
        --busy_;
        free_.push_back(slot);
        if (result != PI_SUCCESS && result_ == PI_SUCCESS) {
            result_ = result;
            text_ = text;
        }
        pump();
    }

    const std::shared_ptr<Commands> commands_;
    const TransferRequest request_;
    const TransferDone done_;
    std::deque<Range> chunks_;
    std::vector<StagingPool::Lease> slots_;
    std::vector<size_t> free_;
    size_t busy_ = 0;
    bool finished_ = false;
    pi_result result_ = PI_SUCCESS;
    std::string text_;
};

} // namespace

void bounce_mapped(const std::shared_ptr<Commands> &commands, const TransferRequest &request,
                   TransferDone done) {
    std::make_shared<MappedBounce>(commands, request, std::move(done))->start();
}

void bounce_staged(const std::shared_ptr<Commands> &commands,
                   const std::shared_ptr<StagingPool> &pool, const TransferRequest &request,
                   uint64_t chunk, TransferDone done) {
    std::shared_ptr<StagedBounce> bounce;
    try {
        bounce = std::make_shared<StagedBounce>(commands, *pool, request, chunk, done);
    } catch (const Error &error) {
        done(error.code(), error.what());
        return;
    }
    bounce->pump();
}

} // namespace pi::runtime
