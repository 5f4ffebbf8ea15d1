// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares PI's declarations of NVML's ABI with the vendor's header, where there is one. Everything
// is checked by compiling.
#include "skip.hpp"

#include <pi/cuda/nvml_api.h>

#include <catch2/catch.hpp>

#include <cstddef>
#include <type_traits>

#if __has_include(<nvml.h>)
#define PI_TEST_VENDOR_HEADER 1
#include <nvml.h>
// The vendor's macros have the names of PI's constants.
namespace vendor {
constexpr int max_links = NVML_NVLINK_MAX_LINKS;
constexpr int speed = NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON;
} // namespace vendor
#undef NVML_NVLINK_MAX_LINKS
#undef NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON
#else
#define PI_TEST_VENDOR_HEADER 0
#endif

#if PI_TEST_VENDOR_HEADER
namespace {

/// Whether the vendor's function has the same parameters and result: equal types, or the vendor's
/// own type of the same name.
template <class Ours, class Theirs>
constexpr bool same = std::is_same_v<Ours, Theirs>;
template <class Ours, class Theirs>
constexpr bool same<Ours *, Theirs *> = same<Ours, Theirs>;
#define PI_TEST_TYPE(name)                                                                         \
    template <>                                                                                    \
    constexpr bool same<pi::cuda::name, ::name> = sizeof(pi::cuda::name) == sizeof(::name);
PI_TEST_TYPE(nvmlReturn_t)
PI_TEST_TYPE(nvmlEnableState_t)
PI_TEST_TYPE(nvmlIntNvLinkDeviceType_t)
PI_TEST_TYPE(nvmlGpuP2PCapsIndex_t)
PI_TEST_TYPE(nvmlGpuP2PStatus_t)
PI_TEST_TYPE(nvmlPciInfo_t)
PI_TEST_TYPE(nvmlFieldValue_t)
template <>
constexpr bool same<pi::cuda::nvmlDevice_st, ::nvmlDevice_st> = true;

template <class Ours, class... OurParameters, class Theirs, class... TheirParameters>
constexpr bool same<Ours (*)(OurParameters...), Theirs (*)(TheirParameters...)> =
    same<Ours, Theirs> && (same<OurParameters, TheirParameters> && ...);

#define PI_TEST_FUNCTION(need, result, name, parameters)                                           \
    static_assert(same<decltype(pi::cuda::pi_nvml_functions::name), decltype(&::name)>);
PI_NVML_FUNCTIONS(PI_TEST_FUNCTION)

#define PI_TEST_CODE(name)                                                                         \
    static_assert(static_cast<int>(pi::cuda::name) == static_cast<int>(::name));
PI_TEST_CODE(NVML_SUCCESS)
PI_TEST_CODE(NVML_ERROR_UNINITIALIZED)
PI_TEST_CODE(NVML_ERROR_INVALID_ARGUMENT)
PI_TEST_CODE(NVML_ERROR_NOT_SUPPORTED)
PI_TEST_CODE(NVML_ERROR_NOT_FOUND)
PI_TEST_CODE(NVML_ERROR_DRIVER_NOT_LOADED)
PI_TEST_CODE(NVML_FEATURE_DISABLED)
PI_TEST_CODE(NVML_FEATURE_ENABLED)
PI_TEST_CODE(NVML_NVLINK_DEVICE_TYPE_GPU)
PI_TEST_CODE(NVML_NVLINK_DEVICE_TYPE_IBMNPU)
PI_TEST_CODE(NVML_NVLINK_DEVICE_TYPE_SWITCH)
PI_TEST_CODE(NVML_NVLINK_DEVICE_TYPE_UNKNOWN)
PI_TEST_CODE(NVML_P2P_CAPS_INDEX_NVLINK)
PI_TEST_CODE(NVML_P2P_STATUS_OK)
PI_TEST_CODE(NVML_P2P_STATUS_NOT_SUPPORTED)
PI_TEST_CODE(NVML_VALUE_TYPE_UNSIGNED_INT)
static_assert(pi::cuda::NVML_NVLINK_MAX_LINKS <= vendor::max_links);
static_assert(pi::cuda::NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON == vendor::speed);

#define PI_TEST_MEMBER(type, member)                                                               \
    static_assert(offsetof(pi::cuda::type, member) == offsetof(::type, member));
PI_TEST_MEMBER(nvmlPciInfo_t, domain)
PI_TEST_MEMBER(nvmlPciInfo_t, bus)
PI_TEST_MEMBER(nvmlPciInfo_t, device)
PI_TEST_MEMBER(nvmlPciInfo_t, busId)
PI_TEST_MEMBER(nvmlFieldValue_t, fieldId)
PI_TEST_MEMBER(nvmlFieldValue_t, valueType)
PI_TEST_MEMBER(nvmlFieldValue_t, nvmlReturn)
PI_TEST_MEMBER(nvmlFieldValue_t, value)

} // namespace
#endif

TEST_CASE("the declarations of NVML equal the vendor's header") {
    if (!PI_TEST_VENDOR_HEADER)
        return pi_test::skip("needs nvml.h of the CUDA toolkit");
    CHECK(sizeof(pi::cuda::nvmlDevice_t) == sizeof(void *));
}
