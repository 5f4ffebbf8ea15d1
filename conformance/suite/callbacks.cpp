// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "callbacks.hpp"

#include "require.hpp"

#include <exception>

namespace pi::suite {

std::shared_ptr<Flag> Callbacks::set(pi_event event, Function function) {
    auto done = std::make_shared<Flag>();
    Callback *callback = nullptr;
    {
        const std::scoped_lock lock(mutex_);
        callbacks_.push_back(
            std::make_unique<Callback>(Callback{this, std::move(function), done, 0}));
        callback = callbacks_.back().get();
    }
    // Without the lock, as this call may call the callback.
    require_success(piEventSetCallback(event, &Callbacks::call, callback), "piEventSetCallback");
    return done;
}

std::string Callbacks::problem() {
    const std::scoped_lock lock(mutex_);
    return problem_;
}

void Callbacks::report(const std::string &text) {
    const std::scoped_lock lock(mutex_);
    if (problem_.empty())
        problem_ = text;
}

void PI_CALL Callbacks::call(pi_event event, pi_result result, void *user_data) noexcept {
    auto &callback = *static_cast<Callback *>(user_data);
    Callbacks &owner = *callback.owner;
    {
        const std::scoped_lock lock(owner.mutex_);
        if (++callback.calls != 1) {
            owner.problem_ = "a callback was called more than once";
            return;
        }
    }
    try {
        callback.function(event, result);
    } catch (const Failure &failure) {
        owner.report("in a callback: " + failure.text);
    } catch (const Skip &reason) {
        owner.report("skipped inside a callback: " + reason.reason);
    } catch (const std::exception &exception) {
        owner.report(join("in a callback: ", exception.what()));
    }
    callback.done->set();
}

} // namespace pi::suite
