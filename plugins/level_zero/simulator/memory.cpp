// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pi::level_zero::simulated {

namespace {

constexpr size_t page = 4096;

size_t whole_pages(size_t size) {
    return (size + page - 1) / page * page;
}

/// Maps the file's bytes over the range.
void map_over(char *address, size_t size, const File &file, std::uint64_t offset) {
    if (mmap(address, whole_pages(size), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             file.descriptor(), static_cast<off_t>(offset)) == MAP_FAILED)
        throw std::bad_alloc();
}

} // namespace

File::File(const char *name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
    if (descriptor_ < 0)
        throw std::bad_alloc();
}

File::File(int descriptor) : descriptor_(fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) {
    need(descriptor_ >= 0, ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

File::~File() {
    close(descriptor_);
}

std::uint64_t File::size() const {
    struct stat status {};
    return fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

void File::grow(std::uint64_t size) {
    if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0)
        throw std::bad_alloc();
}

Allocation::~Allocation() {
    if (hole)
        fallocate(file->descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(offset), static_cast<off_t>(whole_pages(size)));
    // Later accesses to host memory fault, as for device memory.
    if (bytes && !imported && type != ZE_MEMORY_TYPE_DEVICE)
        mmap(bytes, whole_pages(size), PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

std::uint64_t reserve(size_t size, size_t alignment) {
    const size_t step = std::max(alignment, page);
    const auto range = reinterpret_cast<std::uint64_t>(MmapRegion(size + step, true).release());
    driver().reserved[range] = range + size + step;
    return (range + step - 1) / step * step;
}

namespace {

/// Assigns an offset in the file of a device or of the host.
void place(Allocation &memory, Arena &arena, const char *name) {
    if (!arena.file)
        arena.file = std::make_shared<File>(name);
    arena.file->grow(arena.end + whole_pages(memory.size));
    memory.file = arena.file;
    memory.offset = arena.end;
    memory.hole = true;
    arena.end += whole_pages(memory.size);
}

/// Checked before addresses are reserved, which are never reused.
void need_room(const Request &request) {
    if (request.device)
        request.device->need_room(whole_pages(request.size));
}

void charge(Allocation &memory) {
    if (!memory.device)
        return;
    memory.charged = whole_pages(memory.size);
    memory.device->take(memory.charged);
}

} // namespace

std::shared_ptr<Allocation> allocate(const Request &request) {
    Driver &all = driver();
    const size_t alignment = request.alignment;
    need((alignment & (alignment - 1)) == 0 && alignment <= size_t(1) << 40,
         ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    const size_t most = request.device ? request.device->model.capacity : size_t(1) << 42;
    need(request.size > 0 && request.size <= most, ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    if (!request.file)
        need_room(request);
    auto memory = std::make_shared<Allocation>();
    memory->type = request.type;
    memory->context = request.context;
    memory->device = request.device;
    memory->size = request.size;
    memory->export_as = request.export_as;
    memory->file = request.file;
    memory->offset = request.offset;
    // Exported memory is in its own file, so that importers see nothing else.
    if (!memory->file && request.export_as) {
        memory->file = std::make_shared<File>("pi_simulated_level_zero_export");
        memory->file->grow(whole_pages(memory->size));
    } else if (!memory->file) {
        place(*memory, request.device ? request.device->memory : all.host_memory,
              "pi_simulated_level_zero");
    }
    memory->address = reserve(memory->size, alignment);
    char *bytes = reinterpret_cast<char *>(memory->address);
    if (memory->type == ZE_MEMORY_TYPE_DEVICE) {
        memory->alias = MmapRegion(memory->size, true);
        bytes = memory->alias.bytes();
    }
    map_over(bytes, memory->size, *memory->file, memory->offset);
    memory->bytes = bytes;
    if (!request.file) {
        charge(*memory);
        drivers::fill_with_poison(bytes, memory->size);
    }
    memory->id = all.next_id++;
    all.allocations[memory->address] = memory;
    return memory;
}

std::optional<size_t> Allocation::device_index() const {
    return device && type == ZE_MEMORY_TYPE_DEVICE ? std::optional(device->index) : std::nullopt;
}

void forget(const std::shared_ptr<Allocation> &memory) {
    if (memory->device)
        memory->device->give(memory->charged);
    driver().allocations.erase(memory->address);
}

std::shared_ptr<Allocation> find_allocation(const void *address) {
    const Allocations &all = driver().allocations;
    const auto number = reinterpret_cast<std::uint64_t>(address);
    auto next = all.upper_bound(number);
    if (next == all.begin())
        return nullptr;
    const std::shared_ptr<Allocation> &found = std::prev(next)->second;
    return number - found->address < found->size ? found : nullptr;
}

namespace {

/// Whether the driver ever had memory there: such addresses are never reused.
bool was_ours(const void *address) {
    const auto &ranges = driver().reserved;
    const auto number = reinterpret_cast<std::uint64_t>(address);
    auto next = ranges.upper_bound(number);
    return next != ranges.begin() && number < std::prev(next)->second;
}

bool may_use(const Allocation &memory, const Device &user) {
    return memory.type != ZE_MEMORY_TYPE_DEVICE || driver().reaches(user, *memory.device);
}

} // namespace

Reach::Reach(const void *address, size_t size, const Device *user)
    : address_(address), size_(size), user_(user), memory_(find_allocation(address)) {
    if (!memory_) {
        need(!was_ours(address), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        return;
    }
    const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - memory_->address;
    need(size <= memory_->size - offset && may_use(*memory_, *user),
         ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

void Reach::keep(Command &command) const {
    if (memory_)
        command.uses.push_back(memory_);
}

Bytes Reach::now() const {
    if (!memory_)
        return {static_cast<char *>(const_cast<void *>(address_)), nullptr};
    const auto found = driver().allocations.find(memory_->address);
    if (found == driver().allocations.end() || found->second != memory_)
        throw Lost("its work uses freed memory");
    return {memory_->bytes + (reinterpret_cast<std::uint64_t>(address_) - memory_->address),
            memory_};
}

Bytes Reach::take() const {
    const Lock lock(driver().mutex);
    return now();
}

std::shared_ptr<Allocation> allocation_at(ze_context_handle_t context, const void *address) {
    const std::shared_ptr<Context> owner = driver().context(context);
    need_pointers(address);
    const auto found = driver().allocations.find(reinterpret_cast<std::uint64_t>(address));
    need(found != driver().allocations.end() && found->second->context == owner,
         ZE_RESULT_ERROR_INVALID_ARGUMENT);
    return found->second;
}

namespace {

/// Reads the structures chained to a descriptor: export types, or the source of an import.
void read_extensions(Request &request, const void *next) {
    for (; next; next = static_cast<const ze_base_desc_t *>(next)->pNext) {
        const auto *base = static_cast<const ze_base_desc_t *>(next);
        constexpr ze_external_memory_type_flags_t known =
            ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
        if (base->stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC) {
            request.export_as = static_cast<const ze_external_memory_export_desc_t *>(next)->flags;
            need((request.export_as & ~known) == 0, ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
        } else if (base->stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD) {
            const auto *from = static_cast<const ze_external_memory_import_fd_t *>(next);
            need(from->flags && (from->flags & ~known) == 0,
                 ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
            request.file = std::make_shared<File>(from->fd);
            need(request.file->size() >= request.size, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        } else if (base->stype != ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC) {
            throw Failure{ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION};
        }
    }
}

void need_kind(ze_structure_type_t is, ze_structure_type_t wanted) {
    need(is == wanted, ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

void need_flags(std::uint32_t flags, std::uint32_t last) {
    need(flags < last * 2, ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

} // namespace

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeMemAllocDevice(ze_context_handle_t context,
                                        const ze_device_mem_alloc_desc_t *descriptor, size_t size,
                                        size_t alignment, ze_device_handle_t device, void **out) {
    return call([&](Lock &) {
        Request request{.type = ZE_MEMORY_TYPE_DEVICE,
                        .context = driver().context(context),
                        .device = &driver().device(device),
                        .size = size,
                        .alignment = alignment};
        need_pointers(descriptor, out);
        need_kind(descriptor->stype, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
        need_flags(descriptor->flags, ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT);
        need(descriptor->ordinal == 0, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        read_extensions(request, descriptor->pNext);
        *out = reinterpret_cast<void *>(allocate(request)->address);
    });
}

ze_result_t ZE_APICALL zeMemAllocHost(ze_context_handle_t context,
                                      const ze_host_mem_alloc_desc_t *descriptor, size_t size,
                                      size_t alignment, void **out) {
    return call([&](Lock &) {
        Request request{.type = ZE_MEMORY_TYPE_HOST,
                        .context = driver().context(context),
                        .size = size,
                        .alignment = alignment};
        need_pointers(descriptor, out);
        need_kind(descriptor->stype, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
        need_flags(descriptor->flags, ZE_HOST_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT);
        read_extensions(request, descriptor->pNext);
        *out = reinterpret_cast<void *>(allocate(request)->address);
    });
}

ze_result_t ZE_APICALL zeMemAllocShared(ze_context_handle_t context,
                                        const ze_device_mem_alloc_desc_t *on_device,
                                        const ze_host_mem_alloc_desc_t *on_host, size_t size,
                                        size_t alignment, ze_device_handle_t device, void **out) {
    return call([&](Lock &) {
        const Request request{.type = ZE_MEMORY_TYPE_SHARED,
                              .context = driver().context(context),
                              .device = device ? &driver().device(device) : nullptr,
                              .size = size,
                              .alignment = alignment};
        need_pointers(on_device, on_host, out);
        need_kind(on_device->stype, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
        need_kind(on_host->stype, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
        need_flags(on_device->flags, ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT);
        need_flags(on_host->flags, ZE_HOST_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT);
        *out = reinterpret_cast<void *>(allocate(request)->address);
    });
}

ze_result_t ZE_APICALL zeMemFree(ze_context_handle_t context, void *address) {
    return call([&](Lock &) {
        const std::shared_ptr<Allocation> memory = allocation_at(context, address);
        need(!memory->opened && !memory->variable, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        memory->need_idle();
        forget(memory);
    });
}

ze_result_t ZE_APICALL zeMemFreeExt(ze_context_handle_t context,
                                    const ze_memory_free_ext_desc_t *descriptor, void *address) {
    return call([&](Lock &lock) {
        const std::shared_ptr<Allocation> memory = allocation_at(context, address);
        need_pointers(descriptor);
        need_kind(descriptor->stype, ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC);
        need_flags(descriptor->freePolicy, ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE);
        need(!memory->opened && !memory->variable, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        if (descriptor->freePolicy)
            wait(lock, UINT64_MAX, [&] { return memory->in_flight == 0; });
        memory->need_idle();
        forget(memory);
    });
}
