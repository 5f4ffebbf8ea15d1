// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command's reference to an object that it names.
#pragma once

#include <pi/sdk/object.hpp>

namespace pi::sdk {

/// A reference that keeps the object alive as long as the command. A command that is destroyed when
/// its enqueue call returns (`target.within_call`) takes no reference: the caller's handle keeps
/// the object alive. If there are `target.references`, which outlive such a command, they get a
/// reference.
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
