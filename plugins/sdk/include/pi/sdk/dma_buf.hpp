// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory shared by Linux drivers: PI_EXTERNAL_DMA_BUF_FD.
//
// The processor's accesses to a dma-buf must lie between a begin and an end (DMA_BUF_IOCTL_SYNC),
// at which the kernel synchronizes caches and bounce buffers. Plugins that include this header are
// the processor: their accesses begin when memory is mapped and end when it is unmapped. Where
// devices and processors are coherent, as on x86, a device's writes are visible at once. Elsewhere
// a coherence sync, an end and a begin, is needed: piMemFlush and piMemInvalidate.
#pragma once

#include <pi/sdk/bytes.hpp>
#include <pi/sdk/shared.hpp>

#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>

#include <string>

namespace pi::sdk {

/// The folder of the kernel's heaps and udmabuf. Tests pass one of their own.
inline constexpr const char *devices_folder = "/dev";

/// Whether all devices are coherent with the processor's caches, so that no coherence sync is
/// needed.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr bool devices_are_coherent = true;
#else
inline constexpr bool devices_are_coherent = false;
#endif

/// A dma-buf that the processor accesses as long as the object lives.
class DmaBuf {
public:
    DmaBuf() = default;
    /// Begins the processor's accesses. PI_ERROR_INVALID_VALUE if the file is not a dma-buf.
    explicit DmaBuf(File file) : file_(std::move(file)) {
        if (!sync(DMA_BUF_SYNC_START))
            fail(PI_ERROR_INVALID_VALUE,
                 "the descriptor is not a dma-buf: DMA_BUF_IOCTL_SYNC: ", std::strerror(errno));
    }
    DmaBuf(DmaBuf &&) = default;
    DmaBuf &operator=(DmaBuf &&) = delete;
    ~DmaBuf() {
        if (file_)
            sync(DMA_BUF_SYNC_END);
    }

    int get() const { return file_.get(); }
    explicit operator bool() const { return static_cast<bool>(file_); }
    /// Coherence sync: ends the processor's accesses so far and begins new ones.
    void coherence_sync() const {
        if (!file_ || devices_are_coherent)
            return;
        sync(DMA_BUF_SYNC_END);
        sync(DMA_BUF_SYNC_START);
    }

private:
    /// DMA_BUF_IOCTL_SYNC; false if the descriptor is not a dma-buf.
    bool sync(uint64_t flags) const {
        dma_buf_sync request{};
        request.flags = flags | DMA_BUF_SYNC_RW;
        int result = 0;
        do
            result = ioctl(file_.get(), DMA_BUF_IOCTL_SYNC, &request);
        while (result && (errno == EINTR || errno == EAGAIN));
        return !result;
    }

    File file_;
};

/// Whether share_pages can work on this system.
inline bool can_share_pages(const std::string &folder = devices_folder) {
    return !access((folder + "/udmabuf").c_str(), R_OK | W_OK);
}

/// Makes a dma-buf of the pages of a memfd that is sealed against shrinking (udmabuf). `size` is a
/// multiple of the page size. PI_ERROR_UNSUPPORTED_FEATURE, with what an administrator can enable;
/// PI_ERROR_OUT_OF_RESOURCES if there is no file descriptor left.
inline DmaBuf share_pages(int descriptor, uint64_t size,
                          const std::string &folder = devices_folder) {
    const std::string path = folder + "/udmabuf";
    const File device(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!device) {
        refuse_without_descriptor(errno, path);
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_EXTERNAL_DMA_BUF_FD: ", path, ": ",
             std::strerror(errno), "; a kernel with CONFIG_UDMABUF has it (modprobe udmabuf)");
    }
    udmabuf_create request{};
    request.memfd = static_cast<uint32_t>(descriptor);
    request.flags = UDMABUF_FLAGS_CLOEXEC;
    request.size = size;
    File made(ioctl(device.get(), UDMABUF_CREATE, &request));
    if (!made) {
        refuse_without_descriptor(errno, path);
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_EXTERNAL_DMA_BUF_FD: ", path, " for ", Bytes(size),
             ": ", std::strerror(errno),
             "; its largest is /sys/module/udmabuf/parameters/size_limit_mb, in MiB");
    }
    return DmaBuf(std::move(made));
}

/// A dma-buf and a mapping of a range of it.
struct DmaRange {
    DmaBuf buffer;
    SharedRange range;
};

/// Maps `size` bytes from `offset` of a dma-buf; the descriptor stays the caller's. Throws the
/// reason of a failure.
inline DmaRange map_dma_buf(int descriptor, uint64_t offset, uint64_t size) {
    File copy(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (!copy) {
        refuse_without_descriptor(errno, "handle.fd is ", descriptor);
        fail(PI_ERROR_INVALID_VALUE, "handle.fd is ", descriptor, ": ", std::strerror(errno));
    }
    DmaBuf buffer(std::move(copy));
    // The only query for the size of a dma-buf. It never changes.
    check_descriptor_range(offset, size, descriptor_size(buffer.get()));
    SharedRange range = map_descriptor(buffer.get(), offset, size);
    return {std::move(buffer), std::move(range)};
}

} // namespace pi::sdk
