// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/runtime.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace runtime_test {

/// A transport that fails the requests that a predicate selects, and records all requests.
class FaultTransport final : public pi::runtime::Transport {
public:
    enum class Fault {
        none,
        before, ///< nothing is copied
        after   ///< all is copied, then garbage overwrites the destination: a copy broken half-way
    };
    using Choose = std::function<Fault(const pi::runtime::TransferRequest &)>;

    FaultTransport(std::shared_ptr<Transport> inner, Choose choose)
        : inner_(std::move(inner)), choose_(std::move(choose)) {}

    void start(const pi::runtime::TransferRequest &request,
               pi::runtime::TransferDone done) override {
        const Fault fault = choose_(request);
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
            requests_.back().after.clear(); // events, which must not outlive the loader
        }
        if (fault == Fault::before) {
            done(PI_ERROR_BACKEND, "made to fail");
            return;
        }
        if (fault == Fault::none) {
            inner_->start(request, std::move(done));
            return;
        }
        inner_->start(request, [request, done = std::move(done)](pi_result, const std::string &) {
            // A coherence sync writes nothing, whether it succeeds or fails.
            if (!request.coherence_sync && request.destination.host != nullptr &&
                request.destination.mem == nullptr) {
                for (const pi::runtime::Range &range : request.ranges.ranges()) {
                    for (uint64_t byte = range.begin; byte < range.end; ++byte) {
                        static_cast<std::byte *>(request.destination.host)[byte] = std::byte{0xEE};
                    }
                }
            }
            done(PI_ERROR_BACKEND, "made to fail half-way");
        });
    }

    std::vector<pi::runtime::TransferRequest> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }

private:
    const std::shared_ptr<Transport> inner_;
    const Choose choose_;
    mutable std::mutex mutex_;
    std::vector<pi::runtime::TransferRequest> requests_;
};

/// Options of a runtime whose copies fail as `choose` decides.
inline pi::runtime::RuntimeOptions failing(FaultTransport::Choose choose,
                                           std::shared_ptr<FaultTransport> *out = nullptr) {
    pi::runtime::RuntimeOptions options;
    options.wrap_transport = [choose = std::move(choose),
                              out](std::shared_ptr<pi::runtime::Transport> inner) {
        auto transport = std::make_shared<FaultTransport>(std::move(inner), choose);
        if (out != nullptr) {
            *out = transport;
        }
        return transport;
    };
    return options;
}

} // namespace runtime_test
