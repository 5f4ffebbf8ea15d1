// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests of native handles: every kind of object returns one and is created around one in the
// same way.
#pragma once

#include "checks.hpp"

#include <algorithm>
#include <iterator>

namespace pi::suite {

inline void need_native(Fixture &fixture) {
    fixture.need(PI_CAPABILITY_NATIVE, "PI_CAPABILITY_NATIVE");
}

/// Same type and same values; single values may be equal for different objects.
inline bool same_handle(const pi_native_handle &a, const pi_native_handle &b) {
    return a.type == b.type && a.count == b.count &&
           std::equal(a.value, a.value + a.count, b.value);
}

/// get(out_handle) gives a handle that is one, and the same one when asked again.
template <typename Get>
pi_native_handle check_handle(const std::string &name, Get &&get) {
    pi_native_handle handle = poison<pi_native_handle>();
    const pi_result result = get(&handle);
    // A backend may have none of a kind, or none of an event that its plugin holds.
    if (result == PI_ERROR_UNSUPPORTED_FEATURE || result == PI_ERROR_INVALID_OPERATION)
        skip(name + " has no native handle: " + last_error_text());
    require_success(result, name);
    require(handle.type != PI_NATIVE_NONE && !same(handle.type, poison<pi_native_type>()), name,
            ": the type is ", handle.type);
    require(handle.count >= 1 && handle.count <= std::size(handle.value), name, ": the count is ",
            handle.count);
    pi_native_handle again = poison<pi_native_handle>();
    require_success(get(&again), name, " again");
    require_equal(again.type, handle.type, name + ": the type on the second call");
    require_equal(again.count, handle.count, name + ": the count on the second call");
    for (uint32_t i = 0; i < handle.count; ++i)
        require_equal(again.value[i], handle.value[i],
                      join(name, ": value ", i, " on the second call"));
    require_error(get(nullptr), PI_ERROR_INVALID_NULL_POINTER, name, " with out_handle NULL");
    return handle;
}

inline pi_native_desc native_desc(const pi_native_handle &handle, pi_device device = nullptr) {
    auto desc = pi::desc<pi_native_desc>();
    desc.handle = handle;
    desc.device = device;
    return desc;
}

/// The refusals of every ...CreateWithNativeHandle, called by create(desc, out): no object is
/// created, and the handle is unchanged. `device` is for kinds that never have one per device.
template <typename Handle, typename Create>
void check_refusals(const std::string &name, const pi_native_desc &good, Create &&create,
                    pi_device device = nullptr) {
    const auto refuse = [&](const char *what, const pi_native_desc &desc,
                            std::initializer_list<pi_result> allowed) {
        require_untouched<Handle>(name + what, allowed,
                                  [&](Handle *out) { return create(&desc, out); });
    };
    const auto with_type = [](pi_native_desc one, pi_native_type type) {
        one.handle.type = type;
        return one;
    };
    pi_native_desc desc = good;
    refuse(" of a type that does not exist", with_type(good, 0x7FFFFFFF),
           {PI_ERROR_INVALID_NATIVE_HANDLE});
    refuse(" of a vendor's type", with_type(good, vendor_value(good.handle.type)),
           {PI_ERROR_INVALID_NATIVE_HANDLE});
    // The owner of the handle stays the same if it is refused: the first object works on. That of a
    // platform never changes.
    for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_NATIVE_OWN}}) {
        const std::initializer_list<pi_result> allowed{
            PI_ERROR_INVALID_NATIVE_HANDLE, flags != 0 && std::is_same_v<Handle, pi_platform>
                                                ? PI_ERROR_UNSUPPORTED_FEATURE
                                                : PI_ERROR_INVALID_NATIVE_HANDLE};
        desc = with_type(good, PI_NATIVE_NONE);
        desc.flags = flags;
        refuse(" of no type", desc, allowed);
        desc.handle = good.handle;
        desc.handle.count = 0;
        refuse(" of no values", desc, allowed);
        desc.handle.count = good.handle.count + 1;
        refuse(" of a value more", desc, allowed);
    }
    if (device != nullptr) {
        desc = good;
        desc.device = device;
        refuse(" that names a device", desc, {PI_ERROR_INVALID_VALUE});
    }
    // A device's number may be 0.
    if (good.handle.type != PI_NATIVE_CUDA_DEVICE) {
        desc = good;
        std::fill_n(desc.handle.value, good.handle.count, 0);
        refuse(" whose value is NULL", desc, {PI_ERROR_INVALID_NATIVE_HANDLE});
    }
    require_error(create(&good, nullptr), PI_ERROR_INVALID_NULL_POINTER, name,
                  " with the output NULL");
    check_descriptor(name, good, offsetof(pi_native_desc, flags), [&](const pi_native_desc *one) {
        Handle made = nullptr;
        const pi_result result = create(one, &made);
        if (result == PI_SUCCESS)
            if constexpr (requires { Counted<Handle>::release; })
                require_success(Counted<Handle>::release(made), "releasing what ", name, " made");
        return result;
    });
}

/// One more object around the handle, without taking it over; skips where that cannot be.
template <typename Handle, typename Create>
Owner<Handle> make_around(const std::string &name, const pi_native_desc &desc, Create &&create) {
    Owner<Handle> made;
    const pi_result result = create(&desc, made.out());
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        skip(name + " is unsupported: " + last_error_text());
    require_success(result, name);
    require(made.get() != nullptr, name, ": succeeded, but returned no object");
    return made;
}

inline void require_same_values(const pi_native_handle &a, const pi_native_handle &b,
                                const std::string &name) {
    require_equal(a.type, b.type, name + ": the type of the new object's handle");
    for (uint32_t i = 0; i < b.count; ++i)
        require_equal(a.value[i], b.value[i],
                      join(name, ": value ", i, " of the new object's handle"));
}

} // namespace pi::suite
