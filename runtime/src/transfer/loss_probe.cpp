// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer/loss_probe.hpp"

#include "transfer/commands.hpp"

#include <pi/runtime/error.hpp>

#include <exception>
#include <utility>

namespace pi::runtime {

LossProbe::LossProbe(std::shared_ptr<const Topology> topology,
                     std::shared_ptr<Continuations> continuations, LostPlaces &lost)
    : topology_(std::move(topology)), continuations_(std::move(continuations)), lost_(lost) {}

void LossProbe::suspect(std::vector<PlaceIndex> places, std::function<void()> done) {
    std::erase(places, host_place);
    if (places.empty()) {
        continuations_->post(std::move(done));
        return;
    }
    const PlaceIndex place = places.back();
    places.pop_back();
    ask(place, [this, place, places = std::move(places), done = std::move(done)](pi_result result) {
        try {
            if (result == PI_ERROR_DEVICE_LOST) {
                lost_.mark(place);
            }
            suspect(places, done);
        } catch (const std::exception &) { // without memory the other places are not asked
            done();
        }
    });
}

void LossProbe::ask(PlaceIndex place, std::function<void(pi_result)> answered) const {
    try {
        Queue queue;
        check(piQueueCreate(topology_->context(place), topology_->device(place), nullptr,
                            queue.out()),
              "piQueueCreate");
        Event event;
        check(piEnqueueEventsWait(queue.get(), nullptr, 0, nullptr, event.out()),
              "piEnqueueEventsWait");
        when_complete(std::move(event), continuations_,
                      [answered](pi_result result, const std::string &) { answered(result); });
    } catch (const Error &error) {
        continuations_->post(
            [answered = std::move(answered), code = error.code()] { answered(code); });
    }
}

} // namespace pi::runtime
