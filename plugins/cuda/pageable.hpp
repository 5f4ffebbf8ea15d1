// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands that move bytes between devices and unpinned host memory.
#pragma once

#include "queue.hpp"
#include "transfer.hpp"

#include <pi/sdk/enqueue.hpp>

#include <memory>

namespace pi::cuda {

/// The size of the host's end, up to the regions' last byte.
uint64_t host_extent(Direction direction, const sdk::Regions &regions);

/// Enqueues a transfer, or completes it within the call. It begins when all its dependencies are
/// complete, and keeps `keep` alive. `of` is a primary context that can use the device's end.
void enqueue_pageable(Queue &queue, const sdk::EnqueueArguments &arguments, Primary &of,
                      Direction direction, DeviceEnd device, std::byte *host,
                      sdk::Regions &&regions, std::shared_ptr<const void> keep = {});

/// Enqueues body() on a thread that may wait, once all its dependencies are complete.
template <class Body>
void enqueue_on_thread(Queue &queue, const sdk::EnqueueArguments &arguments, Body body) {
    Primary &primary = queue.primary();
    primary.require_alive();
    auto shared = std::make_shared<Body>(std::move(body));
    enqueue(queue, arguments, sdk::make_command([&queue, &primary, shared](sdk::Event &event) {
                primary.require_alive();
                sdk::Workers &threads = primary.instance().transfers();
                auto task = threads.prepare([shared, event = sdk::Ref<sdk::Event>(event)] {
                    event->running();
                    try {
                        (*shared)();
                    } catch (...) {
                        const sdk::Error error = sdk::current_error();
                        return event->finish(error.code(), error.text());
                    }
                    event->finish(PI_SUCCESS);
                });
                event.submitted();
                queue.behind_stream(threads, std::move(task));
            }));
}

} // namespace pi::cuda
