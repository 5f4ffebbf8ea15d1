// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares PI's declarations of CUDA's driver ABI with the vendor's header, where there is one:
// numbers, sizes, offsets and the types of all entry points. Everything is checked by compiling.
#include "skip.hpp"

// Before <cuda.h>, whose macros would rename these declarations.
#include <pi/cuda/driver_api.h>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <type_traits>

#if __has_include(<cuda.h>) && __has_include(<cudaTypedefs.h>)
#define PI_TEST_VENDOR_HEADER 1
#include <cuda.h>
#include <cudaTypedefs.h>
#else
#define PI_TEST_VENDOR_HEADER 0
#endif

#if PI_TEST_VENDOR_HEADER
static_assert(CUDA_VERSION >= 13000, "an older toolkit has not all that is compared here");

namespace {

namespace ours = pi::cuda;

/// The vendor's type for one of PI's.
template <class T>
struct Vendor {
    using type = T;
};
template <class T>
struct Vendor<T *> {
    using type = typename Vendor<T>::type *;
};
template <class T>
struct Vendor<const T> {
    using type = const typename Vendor<T>::type;
};
template <class Result, class... Parameters>
struct Vendor<Result(Parameters...)> {
    using type = typename Vendor<Result>::type(typename Vendor<Parameters>::type...);
};

#define PI_SAME(name)                                                                              \
    template <>                                                                                    \
    struct Vendor<ours::name> {                                                                    \
        using type = ::name;                                                                       \
        static_assert(sizeof(ours::name) == sizeof(type));                                         \
        static_assert(alignof(ours::name) == alignof(type));                                       \
    };
#define PI_OPAQUE(name)                                                                            \
    template <>                                                                                    \
    struct Vendor<ours::name> {                                                                    \
        using type = ::name;                                                                       \
    };
PI_OPAQUE(CUctx_st)
PI_OPAQUE(CUstream_st)
PI_OPAQUE(CUevent_st)
PI_OPAQUE(CUmod_st)
PI_OPAQUE(CUfunc_st)
PI_OPAQUE(CUarray_st)
PI_OPAQUE(CUmipmappedArray_st)
PI_OPAQUE(CUmemPoolHandle_st)
PI_OPAQUE(CUextMemory_st)
PI_OPAQUE(CUlinkState_st)
PI_SAME(CUuuid)
PI_SAME(CUipcMemHandle)
PI_SAME(CUipcEventHandle)
PI_SAME(CUDA_MEMCPY2D)
PI_SAME(CUDA_MEMCPY3D)
PI_SAME(CUDA_MEMCPY3D_PEER)
PI_SAME(CUmemLocation)
PI_SAME(CUmemAccessDesc)
PI_SAME(CUmemPoolProps)
PI_SAME(CUmemPoolPtrExportData)
PI_SAME(CUmemAllocationProp)
PI_SAME(CUDA_EXTERNAL_MEMORY_HANDLE_DESC)
PI_SAME(CUDA_EXTERNAL_MEMORY_BUFFER_DESC)
PI_SAME(CUDA_ARRAY3D_DESCRIPTOR)
PI_SAME(CUDA_RESOURCE_DESC)
PI_SAME(CUDA_TEXTURE_DESC)
PI_SAME(CUDA_RESOURCE_VIEW_DESC)
PI_SAME(CUlaunchAttributeValue)
PI_SAME(CUlaunchAttribute)
PI_SAME(CUlaunchConfig)

#define PI_MEMBER(type, member)                                                                    \
    static_assert(offsetof(ours::type, member) == offsetof(::type, member));                       \
    static_assert(sizeof(ours::type::member) == sizeof(::type::member));
#define PI_INNER(type, member)                                                                     \
    static_assert(offsetof(ours::type, member) == offsetof(::type, member));
PI_MEMBER(CUDA_MEMCPY2D, srcXInBytes)
PI_MEMBER(CUDA_MEMCPY2D, srcY)
PI_MEMBER(CUDA_MEMCPY2D, srcMemoryType)
PI_MEMBER(CUDA_MEMCPY2D, srcHost)
PI_MEMBER(CUDA_MEMCPY2D, srcDevice)
PI_MEMBER(CUDA_MEMCPY2D, srcArray)
PI_MEMBER(CUDA_MEMCPY2D, srcPitch)
PI_MEMBER(CUDA_MEMCPY2D, dstXInBytes)
PI_MEMBER(CUDA_MEMCPY2D, dstY)
PI_MEMBER(CUDA_MEMCPY2D, dstMemoryType)
PI_MEMBER(CUDA_MEMCPY2D, dstHost)
PI_MEMBER(CUDA_MEMCPY2D, dstDevice)
PI_MEMBER(CUDA_MEMCPY2D, dstArray)
PI_MEMBER(CUDA_MEMCPY2D, dstPitch)
PI_MEMBER(CUDA_MEMCPY2D, WidthInBytes)
PI_MEMBER(CUDA_MEMCPY2D, Height)
PI_MEMBER(CUDA_MEMCPY3D, srcXInBytes)
PI_MEMBER(CUDA_MEMCPY3D, srcY)
PI_MEMBER(CUDA_MEMCPY3D, srcZ)
PI_MEMBER(CUDA_MEMCPY3D, srcLOD)
PI_MEMBER(CUDA_MEMCPY3D, srcMemoryType)
PI_MEMBER(CUDA_MEMCPY3D, srcHost)
PI_MEMBER(CUDA_MEMCPY3D, srcDevice)
PI_MEMBER(CUDA_MEMCPY3D, srcArray)
PI_MEMBER(CUDA_MEMCPY3D, reserved0)
PI_MEMBER(CUDA_MEMCPY3D, srcPitch)
PI_MEMBER(CUDA_MEMCPY3D, srcHeight)
PI_MEMBER(CUDA_MEMCPY3D, dstXInBytes)
PI_MEMBER(CUDA_MEMCPY3D, dstY)
PI_MEMBER(CUDA_MEMCPY3D, dstZ)
PI_MEMBER(CUDA_MEMCPY3D, dstLOD)
PI_MEMBER(CUDA_MEMCPY3D, dstMemoryType)
PI_MEMBER(CUDA_MEMCPY3D, dstHost)
PI_MEMBER(CUDA_MEMCPY3D, dstDevice)
PI_MEMBER(CUDA_MEMCPY3D, dstArray)
PI_MEMBER(CUDA_MEMCPY3D, reserved1)
PI_MEMBER(CUDA_MEMCPY3D, dstPitch)
PI_MEMBER(CUDA_MEMCPY3D, dstHeight)
PI_MEMBER(CUDA_MEMCPY3D, WidthInBytes)
PI_MEMBER(CUDA_MEMCPY3D, Height)
PI_MEMBER(CUDA_MEMCPY3D, Depth)
PI_MEMBER(CUDA_MEMCPY3D_PEER, srcXInBytes)
PI_MEMBER(CUDA_MEMCPY3D_PEER, srcY)
PI_MEMBER(CUDA_MEMCPY3D_PEER, srcZ)
PI_MEMBER(CUDA_MEMCPY3D_PEER, srcLOD)
PI_MEMBER(CUDA_MEMCPY3D_PEER, srcMemoryType)
PI_MEMBER(CUDA_MEMCPY3D_PEER, srcHost)
PI_MEMBER(CUDA_MEMCPY3D_PEER, srcDevice)
PI_MEMBER(CUDA_MEMCPY3D_PEER, srcArray)
PI_MEMBER(CUDA_MEMCPY3D_PEER, srcContext)
PI_MEMBER(CUDA_MEMCPY3D_PEER, srcPitch)
PI_MEMBER(CUDA_MEMCPY3D_PEER, srcHeight)
PI_MEMBER(CUDA_MEMCPY3D_PEER, dstXInBytes)
PI_MEMBER(CUDA_MEMCPY3D_PEER, dstY)
PI_MEMBER(CUDA_MEMCPY3D_PEER, dstZ)
PI_MEMBER(CUDA_MEMCPY3D_PEER, dstLOD)
PI_MEMBER(CUDA_MEMCPY3D_PEER, dstMemoryType)
PI_MEMBER(CUDA_MEMCPY3D_PEER, dstHost)
PI_MEMBER(CUDA_MEMCPY3D_PEER, dstDevice)
PI_MEMBER(CUDA_MEMCPY3D_PEER, dstArray)
PI_MEMBER(CUDA_MEMCPY3D_PEER, dstContext)
PI_MEMBER(CUDA_MEMCPY3D_PEER, dstPitch)
PI_MEMBER(CUDA_MEMCPY3D_PEER, dstHeight)
PI_MEMBER(CUDA_MEMCPY3D_PEER, WidthInBytes)
PI_MEMBER(CUDA_MEMCPY3D_PEER, Height)
PI_MEMBER(CUDA_MEMCPY3D_PEER, Depth)
PI_MEMBER(CUmemLocation, type)
PI_MEMBER(CUmemLocation, id)
PI_MEMBER(CUmemAccessDesc, location)
PI_MEMBER(CUmemAccessDesc, flags)
PI_MEMBER(CUmemPoolProps, allocType)
PI_MEMBER(CUmemPoolProps, handleTypes)
PI_MEMBER(CUmemPoolProps, location)
PI_MEMBER(CUmemPoolProps, win32SecurityAttributes)
PI_MEMBER(CUmemPoolProps, maxSize)
PI_MEMBER(CUmemPoolProps, usage)
PI_MEMBER(CUmemPoolProps, reserved)
PI_MEMBER(CUmemAllocationProp, type)
PI_MEMBER(CUmemAllocationProp, requestedHandleTypes)
PI_MEMBER(CUmemAllocationProp, location)
PI_MEMBER(CUmemAllocationProp, win32HandleMetaData)
PI_MEMBER(CUmemAllocationProp, allocFlags)
PI_MEMBER(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, type)
PI_MEMBER(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, handle)
PI_MEMBER(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size)
PI_MEMBER(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, flags)
PI_MEMBER(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, reserved)
PI_MEMBER(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, offset)
PI_MEMBER(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size)
PI_MEMBER(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, flags)
PI_MEMBER(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, reserved)
PI_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, Width)
PI_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, Height)
PI_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, Depth)
PI_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, Format)
PI_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, NumChannels)
PI_MEMBER(CUDA_ARRAY3D_DESCRIPTOR, Flags)
PI_MEMBER(CUDA_RESOURCE_DESC, resType)
PI_MEMBER(CUDA_RESOURCE_DESC, res)
PI_MEMBER(CUDA_RESOURCE_DESC, flags)
PI_MEMBER(CUDA_TEXTURE_DESC, addressMode)
PI_MEMBER(CUDA_TEXTURE_DESC, filterMode)
PI_MEMBER(CUDA_TEXTURE_DESC, flags)
PI_MEMBER(CUDA_TEXTURE_DESC, maxAnisotropy)
PI_MEMBER(CUDA_TEXTURE_DESC, mipmapFilterMode)
PI_MEMBER(CUDA_TEXTURE_DESC, mipmapLevelBias)
PI_MEMBER(CUDA_TEXTURE_DESC, minMipmapLevelClamp)
PI_MEMBER(CUDA_TEXTURE_DESC, maxMipmapLevelClamp)
PI_MEMBER(CUDA_TEXTURE_DESC, borderColor)
PI_MEMBER(CUDA_TEXTURE_DESC, reserved)
PI_MEMBER(CUDA_RESOURCE_VIEW_DESC, format)
PI_MEMBER(CUDA_RESOURCE_VIEW_DESC, width)
PI_MEMBER(CUDA_RESOURCE_VIEW_DESC, height)
PI_MEMBER(CUDA_RESOURCE_VIEW_DESC, depth)
PI_MEMBER(CUDA_RESOURCE_VIEW_DESC, firstMipmapLevel)
PI_MEMBER(CUDA_RESOURCE_VIEW_DESC, lastMipmapLevel)
PI_MEMBER(CUDA_RESOURCE_VIEW_DESC, firstLayer)
PI_MEMBER(CUDA_RESOURCE_VIEW_DESC, lastLayer)
PI_MEMBER(CUDA_RESOURCE_VIEW_DESC, reserved)
PI_MEMBER(CUlaunchAttribute, id)
PI_MEMBER(CUlaunchAttribute, pad)
PI_MEMBER(CUlaunchAttribute, value)
PI_MEMBER(CUlaunchConfig, gridDimX)
PI_MEMBER(CUlaunchConfig, gridDimY)
PI_MEMBER(CUlaunchConfig, gridDimZ)
PI_MEMBER(CUlaunchConfig, blockDimX)
PI_MEMBER(CUlaunchConfig, blockDimY)
PI_MEMBER(CUlaunchConfig, blockDimZ)
PI_MEMBER(CUlaunchConfig, sharedMemBytes)
PI_MEMBER(CUlaunchConfig, hStream)
PI_MEMBER(CUlaunchConfig, attrs)
PI_MEMBER(CUlaunchConfig, numAttrs)
PI_INNER(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, handle.win32.name)
PI_INNER(CUDA_RESOURCE_DESC, res.linear.format)
PI_INNER(CUDA_RESOURCE_DESC, res.linear.numChannels)
PI_INNER(CUDA_RESOURCE_DESC, res.linear.sizeInBytes)
PI_INNER(CUDA_RESOURCE_DESC, res.pitch2D.format)
PI_INNER(CUDA_RESOURCE_DESC, res.pitch2D.numChannels)
PI_INNER(CUDA_RESOURCE_DESC, res.pitch2D.width)
PI_INNER(CUDA_RESOURCE_DESC, res.pitch2D.height)
PI_INNER(CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes)
PI_INNER(CUmemAllocationProp, allocFlags.gpuDirectRDMACapable)
PI_INNER(CUmemAllocationProp, allocFlags.usage)
PI_INNER(CUlaunchAttributeValue, cooperative)
PI_INNER(CUlaunchAttributeValue, clusterDim.z)
PI_INNER(CUlaunchAttributeValue, priority)

// The vendor's macros have no type.
using CUmemory_flags = ours::CUmemory_flags;
template <>
struct Vendor<ours::CUmemory_flags> {
    using type = ours::CUmemory_flags;
};
#define PI_CUDA_ENUM(name) static_assert(sizeof(ours::name) == sizeof(name));
#define PI_CUDA_VALUE(name, value)                                                                 \
    static_assert(static_cast<long long>(name) == static_cast<long long>(value), #name);
#define PI_CUDA_END(name)
#include <pi/cuda/driver_codes.def>

#define PI_SAME_ENUM(name)                                                                         \
    template <>                                                                                    \
    struct Vendor<ours::name> {                                                                    \
        using type = ::name;                                                                       \
    };
PI_SAME_ENUM(CUresult)
PI_SAME_ENUM(CUdevice_attribute)
PI_SAME_ENUM(CUdevice_P2PAttribute)
PI_SAME_ENUM(CUctx_flags)
PI_SAME_ENUM(CUlimit)
PI_SAME_ENUM(CUstream_flags)
PI_SAME_ENUM(CUevent_flags)
PI_SAME_ENUM(CUmemorytype)
PI_SAME_ENUM(CUmemAttach_flags)
PI_SAME_ENUM(CUmem_advise)
PI_SAME_ENUM(CUmem_range_attribute)
PI_SAME_ENUM(CUpointer_attribute)
PI_SAME_ENUM(CUipcMem_flags)
PI_SAME_ENUM(CUmemLocationType)
PI_SAME_ENUM(CUmemAccess_flags)
PI_SAME_ENUM(CUmemAllocationType)
PI_SAME_ENUM(CUmemAllocationHandleType)
PI_SAME_ENUM(CUmemAllocationGranularity_flags)
PI_SAME_ENUM(CUmemRangeHandleType)
PI_SAME_ENUM(CUmemPool_attribute)
PI_SAME_ENUM(CUexternalMemoryHandleType)
PI_SAME_ENUM(CUarray_format)
PI_SAME_ENUM(CUresourcetype)
PI_SAME_ENUM(CUaddress_mode)
PI_SAME_ENUM(CUfilter_mode)
PI_SAME_ENUM(CUresourceViewFormat)
PI_SAME_ENUM(CUjit_option)
PI_SAME_ENUM(CUjitInputType)
PI_SAME_ENUM(CUmoduleLoadingMode)
PI_SAME_ENUM(CUfunction_attribute)
PI_SAME_ENUM(CUfunc_cache)
PI_SAME_ENUM(CUoccupancy_flags)
PI_SAME_ENUM(CUlaunchAttributeID)
PI_SAME_ENUM(CUdriverProcAddress_flags)
PI_SAME_ENUM(CUdriverProcAddressQueryResult)

// <cudaTypedefs.h> has the type of each version of each name; <cuda.h> has current ones only.
#define PI_CUDA_FUNCTION(name, symbol, since, need, parameters)                                    \
    static_assert(std::is_same_v<Vendor<ours::symbol##_fn>::type, PFN_##name##_v##since>, #symbol);
#include <pi/cuda/driver_functions.def>

static_assert(static_cast<CUdevice>(PI_CUDA_DEVICE_CPU) == CU_DEVICE_CPU);
static_assert(static_cast<CUdevice>(PI_CUDA_DEVICE_INVALID) == CU_DEVICE_INVALID);

TEST_CASE("The handles of the default streams equal the vendor's header") {
    CHECK(reinterpret_cast<std::uintptr_t>(PI_CUDA_STREAM_LEGACY) ==
          reinterpret_cast<std::uintptr_t>(CU_STREAM_LEGACY));
    CHECK(reinterpret_cast<std::uintptr_t>(PI_CUDA_STREAM_PER_THREAD) ==
          reinterpret_cast<std::uintptr_t>(CU_STREAM_PER_THREAD));
}

} // namespace

TEST_CASE("The declarations of CUDA's driver equal the vendor's header") {
    SUCCEED("compared when this was compiled");
}

#else

TEST_CASE("The declarations of CUDA's driver equal the vendor's header") {
    pi_test::skip("there is no <cuda.h> to compare them with");
}

#endif

TEST_CASE("Every entry point of CUDA's driver has its own row, with a version") {
    std::set<std::string> symbols;
    for (const pi::cuda::pi_cuda_entry &row : pi::cuda::pi_cuda_entries) {
        CAPTURE(row.symbol);
        CHECK(symbols.insert(row.symbol).second);
        CHECK(std::string(row.symbol).rfind(row.name, 0) == 0);
        CHECK(row.since >= 2000);
        CHECK(row.since % 10 == 0);
        CHECK((!row.needed || row.since <= 11000));
    }
    CHECK(symbols.size() * sizeof(void *) == sizeof(pi::cuda::pi_cuda_functions));
}
