// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "registration.hpp"
#include "platform.hpp"

#include <pi/sdk/bytes.hpp>

namespace pi::level_zero {

using namespace sdk;

namespace {

using Import = ze_result_t(ZE_APICALL *)(ze_driver_handle_t, void *, size_t);
using Release = ze_result_t(ZE_APICALL *)(ze_driver_handle_t, void *);
constexpr const char *import_name = "zexDriverImportExternalPointer";
constexpr const char *release_name = "zexDriverReleaseImportedPointer";

Registrations::PinRange pinning(const Platform &platform) {
    require_pinning(platform);
    const auto import = platform.extension<Import>(import_name);
    const auto release = platform.extension<Release>(release_name);
    const ze_driver_handle_t driver = platform.driver_handle();
    return [import, release, driver](std::byte *begin, uint64_t size) -> std::function<void()> {
        std::function<void()> undo = [release, driver, begin] { release(driver, begin); };
        if (const ze_result_t code = import(driver, begin, size); code != ZE_RESULT_SUCCESS)
            fail(PI_ERROR_OUT_OF_RESOURCES, import_name, ": ", error_name(code), ": ", Bytes(size),
                 " from ", static_cast<void *>(begin), " cannot be pinned");
        return undo;
    };
}

} // namespace

bool can_pin(const Platform &platform) {
    return platform.extension<Import>(import_name) && platform.extension<Release>(release_name);
}

void require_pinning(const Platform &platform) {
    if (!can_pin(platform))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the driver has no ", import_name,
             ": the application's memory is copied, not used in place");
}

std::shared_ptr<void> pin(Platform &platform, std::byte *begin, uint64_t size) {
    return platform.registrations().pin(pinning(platform), begin, size);
}

std::shared_ptr<void> pin_pages(Platform &platform, std::byte *begin, uint64_t size) {
    return platform.registrations().pin_pages(pinning(platform), begin, size);
}

} // namespace pi::level_zero
