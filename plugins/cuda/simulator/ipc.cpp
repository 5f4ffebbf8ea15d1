// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ipc.hpp"
#include "driver.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace pi::cuda::simulated {

/// Ranges are never reused, so the file only grows; unused ranges take no memory.
class SharedFile {
public:
    SharedFile() : fd_(memfd_create("pi_simulated_cuda_memory", MFD_CLOEXEC)) {
        need(fd_ >= 0, CUDA_ERROR_OUT_OF_MEMORY);
    }
    SharedFile(const SharedFile &) = delete;
    ~SharedFile() { close(fd_); }

    int fd() const { return fd_; }
    off_t extend(size_t size) {
        const off_t begin = end_;
        need(ftruncate(fd_, begin + static_cast<off_t>(size)) == 0, CUDA_ERROR_OUT_OF_MEMORY);
        end_ = begin + static_cast<off_t>(size);
        return begin;
    }
    void drop(off_t begin, size_t size) {
        fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin, static_cast<off_t>(size));
    }

private:
    const int fd_;
    off_t end_ = 0;
};

namespace {

/// Rounds up to whole pages of the file.
size_t in_file(size_t size) {
    constexpr size_t step = 4096;
    return (size + step - 1) / step * step;
}

/// An allocation's range. Its memory is released when the last work that uses it has ended.
struct Range {
    std::shared_ptr<SharedFile> file;
    off_t begin = 0;
    size_t size = 0; ///< whole pages
    ~Range() { file->drop(begin, size); }
};

void map_file(char *bytes, size_t size, int fd, off_t begin) {
    void *const view = mmap(bytes, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, begin);
    need(view != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
}

/// The contents of a handle's 64 bytes. A ticket of freed memory, or of an earlier process with the
/// same number, opens nothing.
struct Ticket {
    char magic[8];
    pid_t process;
    int fd;
    off_t begin;
    size_t size;
    int ordinal;
    unsigned long long id;
};
constexpr char ticket_magic[8] = {'P', 'I', ' ', 'I', 'P', 'C', ' ', '1'};
static_assert(sizeof(Ticket) <= sizeof(CUipcMemHandle));

Ticket read_ticket(const CUipcMemHandle &handle) {
    Ticket ticket;
    std::memcpy(&ticket, &handle, sizeof ticket);
    need(std::memcmp(ticket.magic, ticket_magic, sizeof ticket_magic) == 0,
         CUDA_ERROR_INVALID_VALUE);
    return ticket;
}

/// A descriptor of the exporter's file, which the caller closes. Freed ranges have no data.
int open_file(const Ticket &ticket) {
    const std::string path =
        "/proc/" + std::to_string(ticket.process) + "/fd/" + std::to_string(ticket.fd);
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    need(fd >= 0, CUDA_ERROR_INVALID_HANDLE);
    if (lseek(fd, ticket.begin, SEEK_DATA) != ticket.begin) {
        close(fd);
        throw Failure{CUDA_ERROR_INVALID_HANDLE};
    }
    return fd;
}

std::shared_ptr<Allocation> import(const Ticket &ticket, const std::shared_ptr<Context> &context) {
    Device &owner = driver().device(ticket.ordinal);
    const auto user = static_cast<size_t>(context->device->ordinal);
    const auto of = static_cast<size_t>(owner.ordinal);
    need(user == of || driver().machine.access[user][of], CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    auto memory = std::make_shared<Allocation>();
    memory->kind = Kind::imported;
    memory->size = ticket.size;
    memory->context = context;
    memory->pages = MmapRegion(ticket.size, true);
    memory->bytes = memory->pages.bytes();
    memory->charged_to = &owner; // with 0 bytes: the exporter is charged
    memory->address = reinterpret_cast<CUdeviceptr>(MmapRegion(ticket.size, true).release());
    const int fd = open_file(ticket);
    try {
        map_file(memory->bytes, in_file(ticket.size), fd, ticket.begin);
    } catch (...) {
        close(fd);
        throw;
    }
    close(fd);
    remember(memory);
    return memory;
}

} // namespace

void share(Allocation &allocation, Device &device) {
    if (!device.file)
        device.file = std::make_shared<SharedFile>();
    auto range = std::make_shared<Range>();
    range->file = device.file;
    range->size = in_file(allocation.size);
    range->begin = device.file->extend(range->size);
    map_file(allocation.bytes, range->size, device.file->fd(), range->begin);
    allocation.owner = std::move(range);
}

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr address) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Allocation> memory = find_allocation(address);
        need(out && memory && memory->address == address && memory->kind == Kind::device &&
                 !memory->freeing,
             CUDA_ERROR_INVALID_VALUE);
        const auto &range = *static_cast<const Range *>(memory->owner.get());
        Ticket ticket{};
        std::memcpy(ticket.magic, ticket_magic, sizeof ticket_magic);
        ticket.process = getpid();
        ticket.fd = range.file->fd();
        ticket.begin = range.begin;
        ticket.size = memory->size;
        ticket.ordinal = memory->context->device->ordinal;
        ticket.id = memory->id;
        *out = {};
        std::memcpy(out, &ticket, sizeof ticket);
        return CUDA_SUCCESS;
    });
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle, unsigned int flags) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(out && flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, CUDA_ERROR_INVALID_VALUE);
        const Ticket ticket = read_ticket(handle);
        need(ticket.process != getpid(), CUDA_ERROR_INVALID_CONTEXT);
        for (auto &[address, opened] : driver().opened)
            if (std::memcmp(&opened.handle, &handle, sizeof handle) == 0) {
                const Context &by = *find_allocation(address)->context;
                if (by.device != context->device)
                    continue;
                // In each process, one context per device at a time.
                need(&by == context.get(), CUDA_ERROR_INVALID_CONTEXT);
                ++opened.count;
                *out = address;
                return CUDA_SUCCESS;
            }
        const std::shared_ptr<Allocation> memory = import(ticket, context);
        driver().opened[memory->address] = {handle, 1};
        *out = memory->address;
        return CUDA_SUCCESS;
    });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &lock) {
        const auto found = driver().opened.find(address);
        need(found != driver().opened.end(), CUDA_ERROR_INVALID_VALUE);
        if (--found->second.count > 0)
            return CUDA_SUCCESS;
        const std::shared_ptr<Allocation> memory = find_allocation(address);
        memory->freeing = true;
        driver().wait(lock, work_of(*memory->context));
        forget(*memory);
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
