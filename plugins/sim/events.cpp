// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events are the sdk's. This file has what moves the virtual clock: the host when it sees an
// event's end, callbacks, which run at the time of their event, and host events.
#include "context.hpp"
#include "entries.hpp"
#include "plugin.hpp"

#include <pi/sdk/enqueue.hpp>

namespace pi::sim {

using sdk::Event;

namespace {

/// The host knows now that the event is complete.
void see(Event &event) {
    if (event.is_complete())
        instance_of(event.host()).timeline().see(*TimesPayload::of(event));
}

/// The application's callback.
struct Relay {
    pi_event_callback callback;
    void *user_data;

    static void PI_CALL call(pi_event event, pi_result result, void *self) {
        const std::unique_ptr<const Relay> relay(static_cast<const Relay *>(self));
        const Event &object = Event::from(event);
        const Timeline::Inside inside(instance_of(Event::from(event).host()).timeline(),
                                      *TimesPayload::of(object));
        relay->callback(event, result, relay->user_data);
    }
};

} // namespace

namespace entries {

pi_result PI_CALL piEventWait(pi_event event, uint64_t timeout) {
    return sdk::call<Event>(event, [&](Event &self) {
        struct Seen {
            Event &event;
            ~Seen() { see(event); }
        } const seen{self};
        self.wait(timeout);
    });
}

pi_result PI_CALL piEventGetInfo(pi_event event, pi_event_info name, uint64_t size, void *value,
                                 uint64_t *out_size) {
    const pi_result result = sdk::event_entries::get_info(event, name, size, value, out_size);
    if (result != PI_SUCCESS || name != PI_EVENT_INFO_STATUS)
        return result;
    return sdk::call<Event>(event, [](Event &self) { see(self); });
}

pi_result PI_CALL piEventSetCallback(pi_event event, pi_event_callback callback, void *user_data) {
    return sdk::call<Event>(event, [&](Event &self) {
        sdk::require(callback, "callback");
        auto relay = std::make_unique<Relay>(Relay{callback, user_data});
        self.set_callback(Relay::call, relay.get());
        static_cast<void>(relay.release()); // the call's
    });
}

pi_result PI_CALL piEventCreateHost(pi_context context, const pi_host_event_desc *desc,
                                    pi_event *out_event) {
    return sdk::call<Context>(context, [&](Context &self) {
        sdk::check_plain_desc(desc, PI_TYPE_HOST_EVENT_DESC);
        sdk::require(out_event, "out_event");
        auto event = sdk::make<Event>(self.host(), sdk::AnyRef(sdk::Ref<Context>(self)));
        event->set_payload(std::make_unique<TimesPayload>(self.platform().instance().timeline(),
                                                          std::make_shared<Times>(true)));
        *out_event = event.give();
    });
}

pi_result PI_CALL piEventSignalHost(pi_event event, pi_result result) {
    return sdk::call<Event>(event, [&](Event &self) {
        // Before its dependents can run. A second signal has no effect.
        if (self.is_host() && Event::is_signal(result))
            instance_of(self.host()).timeline().signal(*TimesPayload::of(self));
        self.signal(result);
    });
}

} // namespace entries

} // namespace pi::sim
