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

// DLPack's own types, from whichever version of <dlpack/dlpack.h> the program includes, if any.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace pi::runtime {

/// The elements of a tensor in a range of bytes.
struct PI_RUNTIME_EXPORT TensorLayout {
    pi_dlpack_data_type dtype{PI_DLPACK_UINT, 8, 1};
    std::vector<int64_t> shape{};   ///< elements along each axis; empty: one element
    std::vector<int64_t> strides{}; ///< in elements, may be negative; one per axis
    uint64_t begin = 0;             ///< bytes from the beginning of the range to element 0, 0, ...

    /// Dense, with the last axis innermost. PI_ERROR_INVALID_VALUE: a negative extent.
    static TensorLayout dense(pi_dlpack_data_type dtype, std::vector<int64_t> shape);
    /// Bytes per element. PI_ERROR_UNSUPPORTED_FEATURE if that is not a whole number.
    uint64_t element_size() const;
    /// From the first byte of any element to the end of the last, relative to the beginning of the
    /// range; `first` is negative if elements lie before it. PI_ERROR_INVALID_SIZE: the tensor has
    /// no elements, or is larger than any memory.
    struct Hull {
        int64_t first = 0;
        uint64_t size = 0;
    };
    Hull hull() const;
};

/// A stream as the Python array API passes it to `__dlpack__`. For CUDA memory, 1 is the legacy
/// default stream, 2 the calling thread's default stream, more than 2 a CUstream of the device's
/// primary context, -1 requests no synchronization, and empty means 1. Memory of other devices has
/// no streams: empty.
using DlpackStream = std::optional<int64_t>;

/// Whether it is the default stream of every thread or context.
inline bool is_default_stream(const DlpackStream &stream) noexcept {
    return !stream || *stream == 1 || *stream == 2;
}

/// PI_ERROR_INVALID_VALUE if this DLPack device has no such stream; the text names the value.
PI_RUNTIME_EXPORT void check_dlpack_stream(const pi_dlpack_device &device,
                                           const DlpackStream &stream);

struct DlpackImportOptions {
    /// For device memory: the place that uses it. Empty: the first place on the device, by DLPack's
    /// device type and number; the topology may contain the device in several contexts.
    std::optional<PlaceIndex> place{};
    /// For CUDA memory: every use of the storage begins after the work that is now in this stream.
    /// The producer's last work on the tensor must be in it, or the stream must wait for that work.
    DlpackStream stream{};
    /// Routes, styles and name of the storage. The import sets its size, memory, owner, ready and
    /// read_only.
    StorageDescriptor storage{};
};

/// A tensor of another library, in place.
struct ImportedTensor {
    Storage storage;
    Buffer buffer;                 ///< all bytes from the first element to the last
    TensorLayout layout;           ///< relative to `buffer`
    PlaceIndex place = host_place; ///< the place that owns the memory
    /// The storage is read-only, too. DLPack before 1.0 has no such flag; its tensors count as
    /// writable.
    bool read_only = false;
    bool copied = false; ///< the producer says that it is a private copy
};

/// Creates a storage over a tensor's memory without a copy. Host memory (kDLCPU, kDLCUDAHost,
/// kDLROCMHost) becomes the host's replica; kDLCUDA, kDLOneAPI (Level Zero's address) and kDLOpenCL
/// (a cl_mem) become the replica of the place of their device. The producer's commands on it must
/// be complete, except for CUDA, where options.stream orders them before the uses of the storage.
///
/// The import takes ownership of the tensor. It calls the deleter once, when the storage is
/// destroyed and the last copy and released use of it are complete, on the thread that ended these.
/// If the import throws, the caller still owns the tensor.
///
/// - PI_ERROR_INVALID_NULL_POINTER: no tensor, or no shape or data in it.
/// - PI_ERROR_UNSUPPORTED_FEATURE: a major version other than 1; a kind of device memory that no
///   backend imports; an element size that is not a whole number of bytes.
/// - PI_ERROR_INVALID_DEVICE: no place of the topology is on that device.
/// - PI_ERROR_INVALID_SIZE, PI_ERROR_INVALID_VALUE: a shape without elements or with negative
///   numbers; a stream that the device does not have.
///
/// Otherwise the plugin's error for the address or handle.
PI_RUNTIME_EXPORT ImportedTensor import_dlpack(const Runtime &runtime, ::DLManagedTensor *tensor,
                                               const DlpackImportOptions &options = {});
PI_RUNTIME_EXPORT ImportedTensor import_dlpack(const Runtime &runtime,
                                               ::DLManagedTensorVersioned *tensor,
                                               const DlpackImportOptions &options = {});

/// The DLPack device of memory that is acquired at this place, as exports report it.
/// PI_ERROR_UNSUPPORTED_FEATURE: its memory has no address or handle that others can use.
PI_RUNTIME_EXPORT pi_dlpack_device dlpack_device(const Topology &topology, PlaceIndex place);

/// The place on whose device a DLPack tensor is, as import_dlpack finds it; throws the same errors.
PI_RUNTIME_EXPORT PlaceIndex dlpack_place(const Topology &topology, const pi_dlpack_device &device,
                                          const std::optional<PlaceIndex> &place = {});

/// Exports an acquired range as a tensor, in place. `layout` is relative to the acquired range;
/// outside of it: PI_ERROR_INVALID_SIZE.
///
/// `stream`: where the consumer will use CUDA memory. Work that enters this stream later begins
/// after everything that the acquisition waits for; this call blocks only for work that the driver
/// does not have yet. With -1 nothing is waited for. With an empty stream, as for memory of other
/// devices, the bytes are ready on return.
///
/// The consumer calls the deleter, on any thread, when it and its enqueued work no longer need the
/// bytes; the deleter releases the acquisition. For CUDA memory, if `stream` is a default stream or
/// empty, the release waits, without blocking, for the work that the consumer has put into a
/// default stream by then.
///
/// A read-only acquisition sets the tensor's read-only flag; the unversioned form has no such flag
/// and fails with PI_ERROR_UNSUPPORTED_FEATURE. `copied` marks the bytes as a private copy. If the
/// call throws, the acquisition has ended.
PI_RUNTIME_EXPORT ::DLManagedTensorVersioned *export_dlpack(Acquisition use,
                                                            const TensorLayout &layout,
                                                            bool copied = false,
                                                            const DlpackStream &stream = {});
PI_RUNTIME_EXPORT ::DLManagedTensor *export_dlpack_unversioned(Acquisition use,
                                                               const TensorLayout &layout,
                                                               const DlpackStream &stream = {});

/// The same for an acquisition that stays with another owner, who releases it with release_dlpack,
/// but not before the deleter has released `owner`.
PI_RUNTIME_EXPORT ::DLManagedTensorVersioned *
export_dlpack(const Acquisition &use, const TensorLayout &layout, std::shared_ptr<const void> owner,
              bool copied = false, const DlpackStream &stream = {});
PI_RUNTIME_EXPORT ::DLManagedTensor *export_dlpack_unversioned(const Acquisition &use,
                                                               const TensorLayout &layout,
                                                               std::shared_ptr<const void> owner,
                                                               const DlpackStream &stream = {});

/// Releases an acquisition that was exported for this stream, like the deleter of an owning tensor.
PI_RUNTIME_EXPORT void release_dlpack(Acquisition &use, const DlpackStream &stream);

} // namespace pi::runtime
