// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a command holds of the objects that it names.
#pragma once

#include <pi/sdk/object.hpp>

namespace pi::sdk {

/// An object that a command names. The command keeps it alive; but one that is gone when the enqueue call returns, which
/// `target.within_call` says, leaves that to the application's handle, or to `target.references`, if there are such, which
/// outlive the command.
template <class Object>
class CommandRef {
public:
    template <class Target>
    CommandRef(const Target &target, Object &object)
        : object_(object), counted_(!target.within_call) {
        if (counted_)
            object_.retain();
        if constexpr (requires { target.references->add(object); })
            if (target.references)
                target.references->add(object);
    }
    ~CommandRef() {
        if (counted_)
            object_.release();
    }
    CommandRef(const CommandRef &) = delete;
    CommandRef &operator=(const CommandRef &) = delete;
    Object &operator*() const { return object_; }
    Object *operator->() const { return &object_; }

private:
    Object &object_;
    const bool counted_;
};

} // namespace pi::sdk
