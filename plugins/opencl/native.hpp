// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native handles: the vendor's objects behind ours, and ours around the application's.
//
// A native handle is a pointer of the vendor's. What the driver tells of it is checked (its kind where the driver
// checks that, its platform, context and device); a pointer to anything else cannot be told from a handle, by the
// drivers neither, and is undefined.
#pragma once

#include "memory.hpp"

#include <pi/sdk/event.hpp>
#include <pi/sdk/native_handle.hpp>

namespace pi::opencl {

/// PI_NATIVE_OPENCL, one value.
pi_native_handle to_native(void *handle);

/// The vendor's handle in it; PI_ERROR_INVALID_NATIVE_HANDLE for another type or count, or NULL.
void *from_native(const pi_native_handle &handle);

/// The descriptor, with a handle that from_native takes. `flags`: those that the kind of object has.
pi_native_desc read_native(const pi_native_desc *desc, uint64_t flags = PI_NATIVE_OWN);

/// A clGet...Info answer about the application's handle; PI_ERROR_INVALID_NATIVE_HANDLE if the driver refuses it.
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

/// An event of the graph that ends with the vendor's event, of which it takes a reference of its own.
sdk::Ref<sdk::Event> event_around(Context &context, cl_event vendor);

/// Calls make(vendor), which takes a reference of its own and returns a Ref, and gives out the object. Only then, when
/// nothing can fail any more, is the application's reference released, if it is given away: a failure changes nothing.
template <class Owner, class Vendor, class Object, class Make>
void create_around(const Api &api, void *handle, bool own, Object *out_object, Make &&make) {
    const auto vendor = static_cast<Vendor>(handle);
    auto object = make(vendor);
    if (own)
        const Owner given(api, vendor);
    *out_object = object.give();
}

} // namespace pi::opencl
