// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pageable.hpp"

#include <pi/sdk/enqueue.hpp>

#include <algorithm>

namespace pi::cuda {

using namespace sdk;

namespace {

class PageableCommand final : public Command {
public:
    PageableCommand(Queue &queue, Primary &of, Direction direction, DeviceEnd device,
                    std::byte *host, Regions &&regions, std::shared_ptr<const void> keep)
        : queue_(queue), primary_(of), direction_(direction), device_(device), host_(host),
          regions_(std::move(regions)), keep_(std::move(keep)) {}

    void start(Event &event) override {
        primary_.require_alive();
        Workers &threads = primary_.instance().transfers();
        auto task = threads.prepare([this, event = Ref<Event>(event)] {
            event->running();
            try {
                run();
            } catch (...) {
                const Error error = current_error();
                return event->finish(error.code(), error.text());
            }
            event->finish(PI_SUCCESS);
        });
        event.submitted();
        queue_.behind_stream(threads, std::move(task));
    }
    void run() { transfer(primary_, direction_, device_, host_, regions_); }

private:
    Queue &queue_; ///< the event keeps it alive
    Primary &primary_;
    const Direction direction_;
    const DeviceEnd device_;
    std::byte *const host_;
    const Regions regions_;
    const std::shared_ptr<const void> keep_;
};

} // namespace

uint64_t host_extent(Direction direction, const Regions &regions) {
    uint64_t end = 0;
    for (const pi_region &region : regions)
        end = std::max(end, direction == Direction::TO_DEVICE ? source(region).end()
                                                              : destination(region).end());
    return end;
}

void enqueue_pageable(Queue &queue, const EnqueueArguments &arguments, Primary &of,
                      Direction direction, DeviceEnd device, std::byte *host, Regions &&regions,
                      std::shared_ptr<const void> keep) {
    queue.primary().require_alive();
    auto command = std::make_unique<PageableCommand>(queue, of, direction, device, host,
                                                     std::move(regions), std::move(keep));
    if (runs_within_call(queue, arguments))
        if (const TurnWithinCall turn(queue); turn)
            return run_within_call(queue, arguments, [&](Event *event) {
                if (event)
                    event->running();
                queue.wait_for_stream();
                command->run();
            });
    enqueue(queue, arguments, std::move(command));
}

} // namespace pi::cuda
