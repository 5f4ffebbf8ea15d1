// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native handles: the vendor's handles of PI's objects, and PI's objects around the application's
// handles.
//
// A native handle is a pointer of the vendor's. The plugin checks what the driver reports about it:
// its kind (where the driver checks that), its platform, context and device. Neither the plugin nor
// drivers can recognise a pointer that is not a handle: its effect is undefined.
#pragma once

#include "memory.hpp"

#include <pi/sdk/event.hpp>
#include <pi/sdk/native_handle.hpp>

namespace pi::opencl {

/// PI_NATIVE_OPENCL, one value.
pi_native_handle to_native(void *handle);

/// The vendor's handle; PI_ERROR_INVALID_NATIVE_HANDLE for another type or number of values, or
/// NULL.
void *from_native(const pi_native_handle &handle);

/// Reads the descriptor and checks its handle. `flags`: those that the kind of object supports.
pi_native_desc read_native(const pi_native_desc *desc, uint64_t flags = PI_NATIVE_OWN);

/// A clGet...Info query about the application's handle; PI_ERROR_INVALID_NATIVE_HANDLE if the
/// driver refuses the handle.
template <class T, class Function, class Handle>
T ask_native(Function function, const char *call, Handle handle, cl_uint name) {
    T value{};
    if (const cl_int code = function(handle, name, sizeof value, &value, nullptr))
        sdk::fail(PI_ERROR_INVALID_NATIVE_HANDLE, "the driver refuses handle.value[0] (", handle,
                  "): ", error_text(call, code));
    return value;
}

/// PI_ERROR_INVALID_NATIVE_HANDLE unless the object, `what`, is of this context.
void check_native_context(const Context &context, cl_context of, const char *what);

/// An event of the graph that completes with the vendor's event, to which it has its own reference.
sdk::Ref<sdk::Event> event_around(Context &context, cl_event vendor);

/// Calls make(vendor), which takes its own reference and returns a Ref, and returns the object to
/// the application. With `own`, the application's reference is released last, when nothing can fail
/// any more: a failed call changes nothing.
template <class Owner, class Vendor, class Object, class Make>
void create_around(const Api &api, void *handle, bool own, Object *out_object, Make &&make) {
    const auto vendor = static_cast<Vendor>(handle);
    auto object = make(vendor);
    if (own)
        const Owner given(api, vendor);
    *out_object = object.give();
}

} // namespace pi::opencl
