// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/dlpack_abi.h>
#include <pi/runtime/export.hpp>
#include <pi/runtime/storage.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// DLPack's own, whichever version of <dlpack/dlpack.h> the program includes, if any.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace pi::runtime {

/// Elements in a range of bytes.
struct PI_RUNTIME_EXPORT TensorLayout {
    pi_dlpack_data_type dtype{PI_DLPACK_UINT, 8, 1};
    std::vector<int64_t> shape{};   ///< elements along each axis; empty: one element
    std::vector<int64_t> strides{}; ///< in elements, perhaps negative; as many as axes
    uint64_t begin = 0;             ///< bytes from the range's begin to element 0, 0, ...

    /// The last axis innermost, nothing between elements. Shapes with a negative extent are PI_ERROR_INVALID_VALUE.
    static TensorLayout dense(pi_dlpack_data_type dtype, std::vector<int64_t> shape);
    /// Bytes of an element. PI_ERROR_UNSUPPORTED_FEATURE where that is no whole number.
    uint64_t element_size() const;
    /// From the first byte of any element to behind the last, relative to the range's begin: may be below it as
    /// `first`. PI_ERROR_INVALID_SIZE for a tensor without elements, or one that no memory could hold.
    struct Hull {
        int64_t first = 0;
        uint64_t size = 0;
    };
    Hull hull() const;
};

/// A stream as the Python array API passes it to `__dlpack__`. Memory of CUDA: 1 is the legacy
/// default stream, 2 the calling thread's, more than 2 a CUstream of the device's primary context,
/// -1 asks for no synchronization, and empty stands for 1. Memory of other devices has no streams:
/// empty.
using DlpackStream = std::optional<int64_t>;

/// A stream that every thread or context has.
inline bool is_default_stream(const DlpackStream &stream) noexcept {
    return !stream || *stream == 1 || *stream == 2;
}

/// PI_ERROR_INVALID_VALUE if that device of DLPack has no such stream; the text names the value.
PI_RUNTIME_EXPORT void check_dlpack_stream(const pi_dlpack_device &device,
                                           const DlpackStream &stream);

struct DlpackImportOptions {
    /// Of device memory: the place that uses it. Empty: the first whose device it is, by DLPack's device type
    /// and number; the topology may have the device in several contexts.
    std::optional<PlaceIndex> place{};
    /// Memory of CUDA: every use of the storage begins after the work that is in this stream now, in
    /// which the producer has put the tensor's last work or made it wait for that.
    DlpackStream stream{};
    /// Routes, styles, name, of the storage. Its size, memory, owner, ready and read_only are set by
    /// the import.
    StorageDescription storage{};
};

/// A tensor of another library, in place.
struct ImportedTensor {
    Storage storage;
    Buffer buffer;                 ///< all bytes from the first element to the last
    TensorLayout layout;           ///< in `buffer`
    PlaceIndex place = host_place; ///< whose memory it is
    bool read_only =
        false; ///< likewise the storage. DLPack before 1.0 does not tell, and counts as writable
    bool copied = false; ///< the producer says that it made a copy, which nobody else sees
};

/// Makes a storage of a tensor's memory, and copies nothing. Memory of the host (kDLCPU, kDLCUDAHost, kDLROCMHost) is
/// the host's replica; kDLCUDA, kDLOneAPI (Level Zero's address) and kDLOpenCL (a cl_mem) become that of the
/// place whose device it is. The producer's commands on it must be complete, but for CUDA's, which
/// options.stream orders before the storage's uses.
///
/// The tensor is taken over: its deleter is called once, when the storage is gone and the last copy and
/// released use of it are final, on whichever thread ended that. If the import throws, the tensor stays the caller's.
///
/// PI_ERROR_INVALID_NULL_POINTER: no tensor, or no shape or data in it.
/// PI_ERROR_UNSUPPORTED_FEATURE: of another major version than 1; memory of a kind of device that no backend imports; elements
///   of no whole bytes.
/// PI_ERROR_INVALID_DEVICE: no place of the topology is that device.
/// PI_ERROR_INVALID_SIZE, PI_ERROR_INVALID_VALUE: a shape without elements, or with negative numbers;
///   a stream that the device does not have.
/// Otherwise what the plugin said of the address or handle.
PI_RUNTIME_EXPORT ImportedTensor import_dlpack(const Runtime &runtime, ::DLManagedTensor *tensor,
                                               const DlpackImportOptions &options = {});
PI_RUNTIME_EXPORT ImportedTensor import_dlpack(const Runtime &runtime,
                                               ::DLManagedTensorVersioned *tensor,
                                               const DlpackImportOptions &options = {});

/// Which DLPack device memory acquired at this place is; as exports say it. Where its memory has no address or
/// handle that others could use: PI_ERROR_UNSUPPORTED_FEATURE.
PI_RUNTIME_EXPORT pi_dlpack_device dlpack_device(const Topology &topology, PlaceIndex place);

/// The place whose device a tensor of DLPack is on, as import_dlpack finds it; throws as that does.
PI_RUNTIME_EXPORT PlaceIndex dlpack_place(const Topology &topology, const pi_dlpack_device &device,
                                          const std::optional<PlaceIndex> &place = {});

/// Gives an acquired range to another library as a tensor, in place. `layout` is in the acquired range;
/// outside of it: PI_ERROR_INVALID_SIZE.
///
/// `stream`: where the consumer will use memory of CUDA. Work that comes into that stream later begins
/// after everything that the acquisition waits for; this waits on the host only for what the driver
/// does not have yet. With -1 nothing is waited for, and with an empty stream, as for memory of other
/// devices, the bytes are there on return.
///
/// The consumer calls the deleter when it, and what it enqueued, is done with the bytes; from any thread:
/// that releases the acquisition. Of CUDA's memory the release waits, without blocking, for work that the
/// consumer has put into a default stream by then, where `stream` is one or empty.
///
/// A use that only reads is flagged as read-only; the older form cannot say so, and refuses it with
/// PI_ERROR_UNSUPPORTED_FEATURE. `copied`: nobody else sees these bytes, and the consumer may know it. If it
/// throws, the acquisition is over.
PI_RUNTIME_EXPORT ::DLManagedTensorVersioned *export_dlpack(Acquisition use,
                                                            const TensorLayout &layout,
                                                            bool copied = false,
                                                            const DlpackStream &stream = {});
PI_RUNTIME_EXPORT ::DLManagedTensor *export_dlpack_unversioned(Acquisition use,
                                                               const TensorLayout &layout,
                                                               const DlpackStream &stream = {});

/// The same of an acquisition that somebody else holds and releases, by release_dlpack: not before the
/// deleter has released `owner`.
PI_RUNTIME_EXPORT ::DLManagedTensorVersioned *
export_dlpack(const Acquisition &use, const TensorLayout &layout, std::shared_ptr<const void> owner,
              bool copied = false, const DlpackStream &stream = {});
PI_RUNTIME_EXPORT ::DLManagedTensor *export_dlpack_unversioned(const Acquisition &use,
                                                               const TensorLayout &layout,
                                                               std::shared_ptr<const void> owner,
                                                               const DlpackStream &stream = {});

/// Releases an acquisition that was exported for this stream, as the deleter of an owning tensor does.
PI_RUNTIME_EXPORT void release_dlpack(Acquisition &use, const DlpackStream &stream);

} // namespace pi::runtime
