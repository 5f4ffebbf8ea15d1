// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the tests of native handles, in both directions.
#pragma once

#include "fixture.hpp"
#include "plugin_fixture.hpp"

namespace cuda_test {

using pi_cuda_test::cu;
using pi_cuda_test::CUDA_SUCCESS;

template <class T>
pi_native_desc native_desc(pi_native_type type, T value, bool own = false,
                           pi_device device = nullptr) {
    auto d = pi::desc<pi_native_desc>();
    d.flags = own ? PI_NATIVE_OWN : 0;
    d.device = device;
    d.handle.type = type;
    d.handle.count = 1;
    d.handle.value[0] = (uint64_t)value; // a number or a pointer
    return d;
}

/// get(&handle) is a CUDA getter.
template <class T, class Get>
T native_of(Get &&get) {
    pi_native_handle handle{};
    OK(get(&handle));
    REQUIRE(handle.count == 1);
    return (T)handle.value[0];
}

inline Owned<pi_queue> queue_around(const Machine &machine, pi_cuda_test::CUstream stream,
                                    bool own = false) {
    const auto d = native_desc(PI_NATIVE_CUDA_STREAM, stream, own);
    Owned<pi_queue> made;
    OK(piQueueCreateWithNativeHandle(machine.context, machine.devices[first], &d, made.out()));
    return made;
}

inline Owned<pi_event> event_around(const Machine &machine, pi_cuda_test::CUevent event,
                                    bool own = false) {
    const auto d = native_desc(PI_NATIVE_CUDA_EVENT, event, own);
    Owned<pi_event> made;
    OK(piEventCreateWithNativeHandle(machine.context, &d, made.out()));
    return made;
}

} // namespace cuda_test
