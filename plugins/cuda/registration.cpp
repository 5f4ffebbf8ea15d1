// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "registration.hpp"
#include "primary.hpp"

#include <pi/sdk/bytes.hpp>

namespace pi::cuda {

using namespace sdk;

namespace {

void unpin(Primary &primary, std::byte *begin) noexcept {
    try {
        const Current current(primary);
        primary.note(primary.api().cuMemHostUnregister(begin));
    } catch (...) {
        // The context is lost, and so is the pin.
    }
}

} // namespace

Registrations::PinRange pinning(Primary &primary) {
    return [&primary](std::byte *begin, uint64_t size) -> std::function<void()> {
        const Current current(primary);
        std::function<void()> undo = [keep = primary.shared_from_this(), begin] {
            unpin(*keep, begin);
        };
        const CUresult code = primary.api().cuMemHostRegister_v2(
            begin, size, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
        if (code == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
            fail(
                PI_ERROR_UNSUPPORTED_FEATURE,
                "cuMemHostRegister_v2: CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: the application, "
                "or another plugin, has pinned some of the ",
                size, " bytes from ", static_cast<void *>(begin));
        if (code == CUDA_ERROR_OUT_OF_MEMORY)
            fail(PI_ERROR_OUT_OF_RESOURCES,
                 "cuMemHostRegister_v2: CUDA_ERROR_OUT_OF_MEMORY: ", Bytes(size),
                 " cannot be pinned");
        primary.check(code, "cuMemHostRegister_v2", size, " bytes from ",
                      static_cast<void *>(begin));
        return undo;
    };
}

} // namespace pi::cuda
