// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA plugin compared with plain driver calls on the same device.
#include "cuda.hpp"
#include "empty_kernel.hpp"
#include "equipment.hpp"
#include "place.hpp"
#include "rectangles.hpp"
#include "session.hpp"
#include "sizes.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/calibrate.hpp>
#include <pi/runtime/error.hpp>
#include <pi/runtime/storage.hpp>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace pi_bench {
namespace {

using namespace pi::cuda;
using pi::runtime::check;

constexpr const char *plain = "the same by plain calls of the driver";
constexpr const char *plain_pinned = "a copy of as much pinned memory by plain calls of the driver";

std::string row(const std::string &what) {
    return "CUDA: " + what;
}

/// Both sides: PI has a context and a queue; plain calls have the device's primary context, current
/// on this thread, and a stream.
class Sides {
public:
    Sides(const Cuda &functions, pi_device device) : cu(functions), place(device) {
        pi_native_handle handle{};
        check(piDeviceGetNativeHandle(device, &handle), "piDeviceGetNativeHandle");
        device_ = static_cast<CUdevice>(handle.value[0]);
        CUcontext context = nullptr;
        check_cuda(cu.cuDevicePrimaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain");
        check_cuda(cu.cuCtxPushCurrent_v2(context), "cuCtxPushCurrent");
        CUstream made = nullptr;
        check_cuda(cu.cuStreamCreate(&made, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
        stream_ = CudaOwned<CUstream>(made, [this](CUstream gone) { cu.cuStreamDestroy_v2(gone); });
    }
    ~Sides() {
        stream_.reset();
        cu.cuCtxPopCurrent_v2(nullptr);
        cu.cuDevicePrimaryCtxRelease_v2(device_);
    }
    Sides(const Sides &) = delete;
    Sides &operator=(const Sides &) = delete;

    CUdevice device() const { return device_; }
    CUstream stream() const { return stream_.get(); }
    void wait() const { check_cuda(cu.cuStreamSynchronize(stream()), "cuStreamSynchronize"); }

    const Cuda &cu;
    const Place place;

private:
    CUdevice device_ = 0;
    CudaOwned<CUstream> stream_;
};

// ----- launches -----

/// The kernel: PTX for real devices, a module's text for simulated ones
/// (plugins/cuda/simulator/README.md).
std::string kernel_image(const Place &place) {
    if (place.simulated()) {
        return "PI simulated CUDA module 1\nlibrary " + equipment("libpi_bench_kernels.so") +
               "\nfunction nothing pointer 4\n";
    }
    return ".version 5.0\n.target sm_50\n.address_size 64\n"
           ".visible .entry nothing(.param .u64 data, .param .u32 value) { ret; }\n";
}

void compare_launches(Session &session, const Sides &sides) {
    const Cuda &cu = sides.cu;
    const std::string image = kernel_image(sides.place);
    const EmptyKernel ours(
        sides.place, sides.place.simulated() ? PI_PROGRAM_FORMAT_CUBIN : PI_PROGRAM_FORMAT_PTX,
        image);
    CUmodule loaded = nullptr;
    check_cuda(cu.cuModuleLoadData(&loaded, image.c_str()), "cuModuleLoadData");
    const CudaOwned<CUmodule> module(loaded, [&cu](CUmodule gone) { cu.cuModuleUnload(gone); });
    CUfunction function = nullptr;
    check_cuda(cu.cuModuleGetFunction(&function, loaded, "nothing"), "cuModuleGetFunction");
    const CudaMemory memory(cu, CudaMemory::Where::device, 64);
    const auto plain_launch = [&] {
        CUdeviceptr address = memory.address();
        uint32_t value = 1;
        void *arguments[] = {&address, &value};
        check_cuda(
            cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, sides.stream(), arguments, nullptr),
            "cuLaunchKernel");
    };
    compare_launches(session, row(""), plain, ours, plain_launch, [&] { sides.wait(); });
}

// ----- copies -----

void compare_small_writes(Session &session, const Sides &sides) {
    constexpr uint64_t size = 64;
    const Cuda &cu = sides.cu;
    const pi::runtime::Mem mem = make_buffer(sides.place, size, 0);
    const CudaMemory memory(cu, CudaMemory::Where::device, size);
    const CudaMemory pinned(cu, CudaMemory::Where::host, size);
    const std::vector<unsigned char> pageable(size, 1);
    const auto compare = [&](const char *name, const void *bytes) {
        session.compare(
            row(name), plain, Unit::nanoseconds,
            repeat([&] { write(sides.place, mem.get(), bytes, size); }), repeat([&] {
                check_cuda(cu.cuMemcpyHtoDAsync_v2(memory.address(), bytes, size, sides.stream()),
                           "cuMemcpyHtoDAsync");
                sides.wait();
            }));
    };
    compare("blocking write of 64 bytes, pinned", pinned.pointer());
    compare("blocking write of 64 bytes", pageable.data());
}

/// Plain copies between pinned memory and the device.
class PinnedCopies {
public:
    PinnedCopies(const Sides &sides, uint64_t size)
        : memory(sides.cu, CudaMemory::Where::device, size),
          pinned(sides.cu, CudaMemory::Where::host, size), sides_(sides), size_(size) {}

    void write() const {
        check_cuda(sides_.cu.cuMemcpyHtoDAsync_v2(memory.address(), pinned.pointer(), size_,
                                                  sides_.stream()),
                   "cuMemcpyHtoDAsync");
        sides_.wait();
    }
    void read() const {
        check_cuda(sides_.cu.cuMemcpyDtoHAsync_v2(pinned.pointer(), memory.address(), size_,
                                                  sides_.stream()),
                   "cuMemcpyDtoHAsync");
        sides_.wait();
    }

    const CudaMemory memory;
    const CudaMemory pinned;

private:
    const Sides &sides_;
    const uint64_t size_;
};

void compare_large(Session &session, const Sides &sides, uint64_t size) {
    const Cuda &cu = sides.cu;
    const Place &place = sides.place;
    const std::string of = " of " + size_name(size);
    const pi::runtime::Mem mem = make_buffer(place, size, 1);
    const PinnedCopies copies(sides, size);
    void *const pinned = copies.pinned.pointer();
    std::vector<unsigned char> pageable(size, 1);
    const auto plain_write = [&] { copies.write(); };
    const auto plain_read = [&] { copies.read(); };
    const auto compare = [&](const std::string &name, const char *limit, auto ours, auto theirs) {
        session.compare(row(name + of), limit, Unit::microseconds, repeat(ours), repeat(theirs));
    };
    compare(
        "pinned write", plain, [&] { write(place, mem.get(), pinned, size); }, plain_write);
    compare(
        "pinned read", plain, [&] { read(place, mem.get(), pinned, size); }, plain_read);
    compare(
        "pageable write", plain_pinned, [&] { write(place, mem.get(), pageable.data(), size); },
        plain_write);
    compare(
        "pageable read", plain_pinned, [&] { read(place, mem.get(), pageable.data(), size); },
        plain_read);
    const pi::runtime::Mem other = make_buffer(place, size, 2);
    const CudaMemory second(cu, CudaMemory::Where::device, size);
    compare(
        "copy within the device", plain, [&] { copy(place, mem.get(), other.get(), size); },
        [&] {
            check_cuda(cu.cuMemcpyDtoDAsync_v2(second.address(), copies.memory.address(), size,
                                               sides.stream()),
                       "cuMemcpyDtoDAsync");
            sides.wait();
        });
    compare(
        "fill", plain, [&] { fill(place, mem.get(), size); },
        [&] {
            check_cuda(cu.cuMemsetD32Async(copies.memory.address(), 7, size / 4, sides.stream()),
                       "cuMemsetD32Async");
            sides.wait();
        });
}

// ----- the runtime's bounce -----

/// From one context of the device through host staging memory to another: both halves overlap. The
/// piece size follows from the costs: those that the runtime assumes, or measured ones.
void compare_bounce(Session &session, const Sides &sides, uint64_t size, bool measured) {
    using namespace pi::runtime;
    const std::string name = row("bounce of " + size_name(size) + " between two contexts" +
                                 (measured ? ", costs measured" : ""));
    if (!session.wants(name)) {
        return;
    }
    const std::vector<pi_device> device{sides.place.device};
    const auto topology = Topology::from_groups(std::vector{device, device});
    RuntimeOptions options;
    if (measured) {
        options.costs = calibrate(topology).costs;
    }
    const Runtime runtime(topology, options);
    const Storage storage(runtime, {.size = size,
                                    .routes = mask_of(RouteKind::host_bounce),
                                    .styles = mask_of(BounceStyle::staged)});
    const Buffer buffer = storage.buffer();
    const auto bounce = [&] {
        buffer.acquire(1, Access::discard_write).release(); // no other place has these bytes
        Acquisition use = buffer.acquire(2, Access::read);
        use.wait(std::chrono::seconds(60));
        use.release();
    };
    bounce(); // allocates memory and staging
    const PinnedCopies copies(sides, size);
    const Batch write = repeat([&] { copies.write(); });
    const Batch read = repeat([&] { copies.read(); });
    const Times times = interleave(read, write, session.effort());
    const bool reads = median(times.ours) > median(times.limit);
    session.compare(name,
                    std::string("a plain copy of as much pinned memory ") +
                        (reads ? "from" : "to") + " the device, the slower direction",
                    Unit::microseconds, repeat(bounce), reads ? read : write);
}

// ----- memory in the order of a stream -----

void compare_pools(Session &session, const Sides &sides) {
    constexpr uint64_t size = uint64_t{1} << 20;
    const Cuda &cu = sides.cu;
    if (cu.cuMemAllocFromPoolAsync == nullptr || cu.cuDeviceGetDefaultMemPool == nullptr) {
        return session.skip(row("allocation"), "the driver has no pools");
    }
    CUmemoryPool pool = nullptr;
    check_cuda(cu.cuDeviceGetDefaultMemPool(&pool, sides.device()), "cuDeviceGetDefaultMemPool");
    uint64_t keep = UINT64_MAX; // as in the plugin's pool
    check_cuda(cu.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep),
               "cuMemPoolSetAttribute");
    const auto ours = [&] {
        void *pointer = nullptr;
        auto alloc = pi::desc<pi_usm_alloc_desc>();
        alloc.size = size;
        alloc.out_pointer = &pointer;
        check(piEnqueueUsmAlloc(sides.place.queue.get(), &alloc, 0, nullptr, nullptr),
              "piEnqueueUsmAlloc");
        auto free = pi::desc<pi_usm_free_desc>();
        free.pointer = pointer;
        check(piEnqueueUsmFree(sides.place.queue.get(), &free, 0, nullptr, nullptr),
              "piEnqueueUsmFree");
        check(piQueueFinish(sides.place.queue.get()), "piQueueFinish");
    };
    const auto theirs = [&] {
        CUdeviceptr address = 0;
        check_cuda(cu.cuMemAllocFromPoolAsync(&address, size, pool, sides.stream()),
                   "cuMemAllocFromPoolAsync");
        check_cuda(cu.cuMemFreeAsync(address, sides.stream()), "cuMemFreeAsync");
        sides.wait();
    };
    session.compare(row("allocation of 1 MiB from a pool, free, and wait"), plain,
                    Unit::nanoseconds, repeat(ours), repeat(theirs));
}

// ----- rectangles -----

void compare_rectangles(Session &session, const Sides &sides) {
    const CudaMemory from(sides.cu, CudaMemory::Where::device, GoodCase::size);
    const CudaMemory to(sides.cu, CudaMemory::Where::device, GoodCase::size);
    const pi_region region = GoodCase::region();
    const auto copy_rows = [&](uint64_t first, uint64_t count) {
        CUDA_MEMCPY3D copy{};
        copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = from.address() + first * region.src_pitch[0];
        copy.dstDevice = to.address() + first * region.dst_pitch[0];
        copy.srcPitch = region.src_pitch[0];
        copy.dstPitch = region.dst_pitch[0];
        copy.WidthInBytes = region.extent[0];
        copy.Height = count;
        copy.Depth = 1;
        check_cuda(sides.cu.cuMemcpy3DAsync_v2(&copy, sides.stream()), "cuMemcpy3DAsync");
    };
    const uint64_t rows = region.extent[1];
    const GoodCase good{"such a rectangle between two buffers, one plain call of the driver",
                        repeat([&] {
                            copy_rows(0, rows);
                            sides.wait();
                        })};
    session.compare(row("1 Mi rows of one byte between buffers, 1024 plain calls of the driver"),
                    good.limit, Unit::microseconds, repeat([&] {
                        for (uint64_t first = 0; first < rows; first += 1024) {
                            copy_rows(first, 1024);
                        }
                        sides.wait();
                    }),
                    good.copy);
    pi_bench::compare_rectangles(session, sides.place, row(""), good);
}

} // namespace

void bench_cuda(Session &session) {
    session.attempt("CUDA", [&] {
        const pi::Loader loader = pi::Loader::create();
        const std::string library = variable(loader, "PI_CUDA_LIBRARY");
        const Cuda cuda(library.empty() ? "libcuda.so.1" : library);
        const Sides sides(cuda, loader.select_devices("cuda").at(0).get());
        session.attempt(row("rectangles"), [&] { compare_rectangles(session, sides); });
        session.attempt(row("launches"), [&] { compare_launches(session, sides); });
        session.attempt(row("small writes"), [&] { compare_small_writes(session, sides); });
        for (const uint64_t size : {uint64_t{64} << 20, uint64_t{1} << 30}) {
            if (size > uint64_t{64} << 20 && (session.quick() || sides.place.simulated())) {
                session.skip(row(size_name(size)),
                             "the row of 64 MiB already shows the cost of calls");
                continue;
            }
            session.attempt(row(size_name(size)), [&] { compare_large(session, sides, size); });
            for (const bool measured : {false, true}) {
                session.attempt(row("bounce"),
                                [&] { compare_bounce(session, sides, size, measured); });
            }
        }
        session.attempt(row("pools"), [&] { compare_pools(session, sides); });
    });
}

} // namespace pi_bench
