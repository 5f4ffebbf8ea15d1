// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/plugin_transport.hpp"

namespace pi::runtime {
namespace {

/// Map one end, copy between the pointer and the other end, unmap.
class MappedBounce : public std::enable_shared_from_this<MappedBounce> {
public:
    /// The request is one range, as planned: a map for writing overwrites all of it.
    MappedBounce(const std::shared_ptr<Commands> &commands, const TransferRequest &request,
                 TransferDone done)
        : commands_(commands), request_(request), done_(std::move(done)),
          maps_source_(request.route.style == BounceStyle::map_source),
          map_(commands, maps_source_ ? request.source : request.destination, request.ranges.hull(),
               maps_source_ ? PI_MAP_READ : PI_MAP_WRITE_DISCARD) {}

    void start() {
        request_.after = map_.map(
            [self = shared_from_this()](pi_result result, const std::string &text) {
                run_step(*self, [&] { self->on_mapped(result, text); });
            },
            request_.after);
    }

    void finish(pi_result result, const std::string &text) {
        report_last(request_);
        done_(result, text);
    }

private:
    void on_mapped(pi_result result, const std::string &text) {
        if (result != PI_SUCCESS) {
            finish(result, text);
            return;
        }
        auto next = [self = shared_from_this()](pi_result copied, const std::string &detail) {
            run_step(*self, [&] { self->on_copied(copied, detail); });
        };
        const Endpoint host{host_place, nullptr, map_.pointer(), request_.ranges.hull().begin,
                            false};
        const Endpoint source = endpoint_of(request_.source);
        const Endpoint destination = endpoint_of(request_.destination);
        request_.after =
            commands_->move(maps_source_ ? host : source, maps_source_ ? destination : host,
                            request_.ranges, next, request_.after);
    }

    void on_copied(pi_result result, const std::string &text) {
        if (result != PI_SUCCESS) {
            request_.after.clear(); // behind a failed command the unmap would fail, too
        }
        request_.after = map_.unmap(
            [self = shared_from_this(), result, text](pi_result unmapped,
                                                      const std::string &detail) {
                const bool copied = result == PI_SUCCESS;
                if (self->map_.unmap_failed()) {
                    self->request_.after.clear();
                }
                self->finish(copied ? unmapped : result, copied ? detail : text);
            },
            request_.after);
    }

    const std::shared_ptr<Commands> commands_;
    TransferRequest request_; // after: its own last command, once there is one
    const TransferDone done_;
    const bool maps_source_;
    TransferMap map_;
};

} // namespace

void bounce_mapped(const std::shared_ptr<Commands> &commands, const TransferRequest &request,
                   TransferDone done) {
    std::make_shared<MappedBounce>(commands, request, std::move(done))->start();
}

} // namespace pi::runtime
