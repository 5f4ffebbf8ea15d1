// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares PI's declarations of NVRTC's ABI with the vendor's header, where there is one.
// Everything is checked by compiling.
#include "skip.hpp"

#include <pi/cuda/nvrtc_api.h>

#include <catch2/catch.hpp>

#include <type_traits>

#if __has_include(<nvrtc.h>)
#define PI_TEST_VENDOR_HEADER 1
#include <nvrtc.h>
#else
#define PI_TEST_VENDOR_HEADER 0
#endif

#if PI_TEST_VENDOR_HEADER
namespace {

/// Whether the vendor's function has the same parameters and result: equal types, or the vendor's
/// own handle or code.
template <class Ours, class Theirs>
constexpr bool same = std::is_same_v<Ours, Theirs>;
template <>
constexpr bool same<pi::cuda::nvrtcResult, ::nvrtcResult> = sizeof(::nvrtcResult) == 4;
template <>
constexpr bool same<pi::cuda::nvrtcProgram, ::nvrtcProgram> = true;
template <>
constexpr bool same<pi::cuda::nvrtcProgram *, ::nvrtcProgram *> = true;

template <class Ours, class... OurParameters, class Theirs, class... TheirParameters>
constexpr bool same<Ours (*)(OurParameters...), Theirs (*)(TheirParameters...)> =
    same<Ours, Theirs> && (same<OurParameters, TheirParameters> && ...);

#define PI_TEST_FUNCTION(need, result, name, parameters)                                           \
    static_assert(same<decltype(pi::cuda::pi_nvrtc_functions::name), decltype(&::name)>);
PI_NVRTC_FUNCTIONS(PI_TEST_FUNCTION)

#define PI_TEST_CODE(name)                                                                         \
    static_assert(static_cast<int>(pi::cuda::name) == static_cast<int>(::name));
PI_TEST_CODE(NVRTC_SUCCESS)
PI_TEST_CODE(NVRTC_ERROR_OUT_OF_MEMORY)
PI_TEST_CODE(NVRTC_ERROR_PROGRAM_CREATION_FAILURE)
PI_TEST_CODE(NVRTC_ERROR_INVALID_INPUT)
PI_TEST_CODE(NVRTC_ERROR_INVALID_PROGRAM)
PI_TEST_CODE(NVRTC_ERROR_INVALID_OPTION)
PI_TEST_CODE(NVRTC_ERROR_COMPILATION)
PI_TEST_CODE(NVRTC_ERROR_BUILTIN_OPERATION_FAILURE)
PI_TEST_CODE(NVRTC_ERROR_INTERNAL_ERROR)

} // namespace
#endif

TEST_CASE("the declarations of NVRTC equal the vendor's header") {
    if (!PI_TEST_VENDOR_HEADER)
        return pi_test::skip("needs nvrtc.h of the CUDA toolkit");
    CHECK(sizeof(pi::cuda::nvrtcProgram) == sizeof(void *));
}
