// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread's current context is the application's: every call restores it.
#include "images.hpp"

#include "fixture.hpp"

#include <functional>
#include <unistd.h>

using namespace cuda_test;

namespace {

/// Called with the name of the preceding call.
using Look = std::function<void(const char *)>;

pi_cuda_test::CUcontext current_context() {
    pi_cuda_test::CUcontext context = nullptr;
    REQUIRE(pi_cuda_test::cu().cuCtxGetCurrent(&context) == pi_cuda_test::CUDA_SUCCESS);
    return context;
}

void use_image(const Machine &machine, pi_queue queue, uint64_t flags, const Look &look) {
    std::vector<uint32_t> pixels(64, 1);
    {
        auto d = pi::desc<pi_mem_image_desc>();
        d.flags = PI_MEM_COPY_HOST_PTR;
        d.host_ptr = pixels.data();
        d.image_type = PI_IMAGE_1D;
        d.channel_order = PI_CHANNEL_ORDER_R;
        d.channel_type = PI_CHANNEL_UINT32;
        d.width = pixels.size();
        Owned<pi_mem> image;
        OK(piMemImageCreate(machine.context, machine.devices[first], &d, image.out()));
        look("piMemImageCreate");
        auto fill = pi::desc<pi_image_fill_desc>();
        fill.flags = flags;
        fill.image = image;
        fill.color = pixels.data();
        fill.extent[0] = 8;
        OK(piEnqueueMemImageFill(queue, &fill, 0, nullptr, nullptr));
        look("piEnqueueMemImageFill");
        const pi_image_region whole{.extent = {pixels.size()}};
        auto read = pi::desc<pi_image_read_desc>();
        read.flags = PI_COMMAND_BLOCKING;
        read.image = image;
        read.host_ptr = pixels.data();
        read.region_count = 1;
        read.regions = &whole;
        OK(piEnqueueMemImageRead(queue, &read, 0, nullptr, nullptr));
        look("piEnqueueMemImageRead");
        const Owned<pi_program> program =
            machine.program("function describe_image surface pointer\n");
        const Owned<pi_kernel> kernel = make_kernel(program, "describe_image");
        const Owned<pi_mem> out = machine.buffer(first, 64);
        pi_kernel_argument argument{};
        argument.kind = PI_ARGUMENT_IMAGE;
        argument.mem = image;
        const std::vector arguments{argument, buffer_argument(out)};
        auto launch = launch_desc(kernel, arguments, 1);
        launch.flags = flags;
        OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
        look("piEnqueueKernelLaunch with an image");
    }
    look("piMemRelease of an image");
}

void use_views(const Machine &machine, pi_queue queue, uint64_t flags, const Look &look) {
    const Owned<pi_mem> buffer = machine.buffer(first, 4096);
    Owned<pi_mem> view, part;
    const auto line = image_desc(PI_IMAGE_1D, PI_CHANNEL_UNORM8, 16);
    OK(piMemImageViewCreate(buffer, &line, view.out()));
    look("piMemImageViewCreate");
    const Owned<pi_mem> image = make_image(machine, line), far = make_image(machine, line, second);
    const Owned<pi_sampler> sampler =
        make_sampler(machine, 0, PI_ADDRESSING_NONE, PI_FILTER_NEAREST);
    look("piSamplerCreate");
    std::vector<uint32_t> pixels(16);
    const pi_image_region whole{.extent = {16}};
    auto write = pi::desc<pi_image_write_desc>();
    write.flags = flags;
    write.image = image;
    write.host_ptr = pixels.data();
    write.region_count = 1;
    write.regions = &whole;
    OK(piEnqueueMemImageWrite(queue, &write, 0, nullptr, nullptr));
    look("piEnqueueMemImageWrite");
    pi_image_copy_region region{};
    region.extent[0] = 16;
    for (const auto &[src, dst] : {std::pair<pi_mem, pi_mem>{image, view}, {far, image}}) {
        const auto copy = image_copy_desc(src, dst, region, flags);
        OK(piEnqueueMemImageCopy(queue, &copy, 0, nullptr, nullptr));
        look("piEnqueueMemImageCopy");
    }
    auto half = pi::desc<pi_mem_partition_desc>();
    half.size = 2048;
    OK(piMemBufferPartition(buffer, &half, part.out()));
    look("piMemBufferPartition");
    OK(piQueueFinish(queue)); // the fill reads the pixels until here
}

void use_pools(const Machine &machine, pi_queue queue, uint64_t flags, const Look &look) {
    auto of = pi::desc<pi_usm_pool_desc>();
    of.kind = PI_USM_DEVICE;
    Owned<pi_usm_pool> pool;
    OK(piUsmPoolCreate(machine.context, machine.devices[first], &of, pool.out()));
    look("piUsmPoolCreate");
    auto d = pi::desc<pi_usm_desc>();
    d.kind = PI_USM_DEVICE;
    d.size = 4096;
    d.pool = pool;
    void *pointer = nullptr;
    OK(piUsmAlloc(machine.context, machine.devices[first], &d, &pointer));
    look("piUsmAlloc from a pool");
    OK(piUsmFree(machine.context, pointer));
    look("piUsmFree into a pool");
    auto alloc = pi::desc<pi_usm_alloc_desc>();
    alloc.flags = flags;
    alloc.size = 4096;
    alloc.pool = pool;
    alloc.out_pointer = &pointer;
    OK(piEnqueueUsmAlloc(queue, &alloc, 0, nullptr, nullptr));
    look("piEnqueueUsmAlloc from a pool");
    auto free = pi::desc<pi_usm_free_desc>();
    free.flags = flags;
    free.pointer = pointer;
    OK(piEnqueueUsmFree(queue, &free, 0, nullptr, nullptr));
    look("piEnqueueUsmFree into a pool");
    OK(piQueueFinish(queue));
    pool.reset();
    look("piUsmPoolRelease");
}

/// Also refused calls: CUDA opens no IPC handle in the process that exported it.
void use_exports(const Machine &machine, const Look &look) {
    for (const pi_external_type type : {PI_EXTERNAL_OPAQUE_FD, PI_EXTERNAL_CUDA_IPC}) {
        auto of = pi::desc<pi_mem_buffer_desc>();
        of.size = 4096;
        of.export_types = 1u << type;
        Owned<pi_mem> mem, imported;
        OK(piMemBufferCreate(machine.context, machine.devices[first], &of, mem.out()));
        look("piMemBufferCreate for export");
        auto to = pi::desc<pi_mem_export_desc>();
        to.external_type = type;
        pi_external_handle handle{};
        OK(piMemExport(mem, &to, &handle));
        look("piMemExport");
        auto from = pi::desc<pi_mem_import_desc>();
        from.size = handle.size;
        from.handle = handle;
        const pi_result result =
            piMemImport(machine.context, machine.devices[first], &from, imported.out());
        look("piMemImport");
        CHECK((result == PI_SUCCESS) == (type == PI_EXTERNAL_OPAQUE_FD));
        if (handle.fd >= 0)
            close(handle.fd);
    }
    look("piMemRelease of what was exported and imported");
}

void use_globals(const Machine &machine, pi_queue queue, uint64_t flags, const Look &look) {
    const Owned<pi_program> program = machine.program("variable counter 16\n");
    uint32_t words[4];
    auto read = pi::desc<pi_device_global_read_desc>();
    read.flags = flags;
    read.program = program;
    read.name = "counter";
    read.host_ptr = words;
    read.size = sizeof words;
    OK(piEnqueueDeviceGlobalRead(queue, &read, 0, nullptr, nullptr));
    look("piEnqueueDeviceGlobalRead");
    OK(piQueueFinish(queue));
    look("piQueueFinish");
    Owned<pi_program> linked;
    const Owned<pi_program> part = machine.part("variable counter 16\n");
    look("piProgramCompile");
    const pi_program parts[] = {part};
    auto link = pi::desc<pi_program_link_desc>();
    link.program_count = 1;
    link.programs = parts;
    OK(piProgramLink(machine.context, &link, linked.out()));
    look("piProgramLink");
}

/// Calls of every kind; checks the thread's current context after each.
void use_everything(const Machine &machine, pi_cuda_test::CUcontext expected) {
    const Look look = [&](const char *after) {
        INFO(after);
        REQUIRE(current_context() == expected);
    };
    for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_COMMAND_BLOCKING}}) {
        const Owned<pi_queue> queue = machine.queue(first, PI_QUEUE_PROFILING);
        look("piQueueCreate");
        const Owned<pi_mem> a = machine.buffer(first, 4096), b = machine.buffer(second, 4096);
        look("piMemBufferCreate");
        static_cast<void>(machine.connection(second, first));
        look("piGetMemoryConnectionInfo");
        std::vector<uint32_t> words(1024);
        const pi_region region = range(0, 0, 4096);
        const auto write = write_desc(a, words.data(), region, flags);
        OK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, nullptr));
        look("piEnqueueMemBufferWrite");
        const auto copy = copy_desc(a, b, region, flags);
        OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
        look("piEnqueueMemBufferCopy");
        const uint32_t pattern[2] = {1, 2};
        const auto fill = fill_desc(a, pattern, sizeof pattern, 0, 4096, flags);
        OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
        look("piEnqueueMemBufferFill");
        void *mapped = nullptr;
        const auto map = map_desc(a, 0, 64, &mapped, PI_MAP_WRITE | PI_COMMAND_BLOCKING);
        OK(piEnqueueMemBufferMap(queue, &map, 0, nullptr, nullptr));
        look("piEnqueueMemBufferMap");
        const auto unmap = unmap_desc(a, mapped, flags);
        OK(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr));
        look("piEnqueueMemUnmap");
        use_image(machine, queue, flags, look);
        use_views(machine, queue, flags, look);
        use_pools(machine, queue, flags, look);
        use_globals(machine, queue, flags, look);
        const Owned<pi_program> program = machine.program(count_up);
        look("piProgramBuild");
        const Owned<pi_kernel> kernel = make_kernel(program, "count_up");
        look("piKernelCreate");
        const uint32_t from = 1;
        const std::vector arguments{buffer_argument(a), value_argument(from)};
        auto launch = launch_desc(kernel, arguments, 1024);
        launch.flags = flags;
        Owned<pi_event> event;
        OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, event.out()));
        look("piEnqueueKernelLaunch");
        OK(piEventWait(event, PI_TIMEOUT_NEVER));
        look("piEventWait");
        for (const pi_usm_kind kind : {PI_USM_HOST, PI_USM_DEVICE, PI_USM_SHARED}) {
            auto d = pi::desc<pi_usm_desc>();
            d.kind = kind;
            d.size = 4096;
            void *pointer = nullptr;
            OK(piUsmAlloc(machine.context, machine.devices[first], &d, &pointer));
            look("piUsmAlloc");
            auto advise = pi::desc<pi_usm_advise_desc>();
            advise.flags = PI_COMMAND_BLOCKING;
            advise.pointer = pointer;
            advise.size = 4096;
            advise.advice = PI_USM_ADVICE_RESET;
            OK(piEnqueueUsmAdvise(queue, &advise, 0, nullptr, nullptr));
            look("piEnqueueUsmAdvise");
            OK(piUsmFree(machine.context, pointer));
            look("piUsmFree");
        }
        void *pointer = nullptr;
        auto alloc = pi::desc<pi_usm_alloc_desc>();
        alloc.flags = flags;
        alloc.size = 4096;
        alloc.out_pointer = &pointer;
        OK(piEnqueueUsmAlloc(queue, &alloc, 0, nullptr, nullptr));
        look("piEnqueueUsmAlloc");
        auto free = pi::desc<pi_usm_free_desc>();
        free.flags = flags;
        free.pointer = pointer;
        OK(piEnqueueUsmFree(queue, &free, 0, nullptr, nullptr));
        look("piEnqueueUsmFree");
        OK(piUsmHostRegister(machine.context, words.data(), 4096, 0));
        look("piUsmHostRegister");
        OK(piUsmHostUnregister(machine.context, words.data()));
        look("piUsmHostUnregister");
        OK(piDeviceGetGlobalTimestamps(machine.devices[first], nullptr, nullptr));
        look("piDeviceGetGlobalTimestamps");
        OK(piQueueFinish(queue));
        look("piQueueFinish");
    }
    use_exports(machine, look);
    look("releasing everything");
}

} // namespace

TEST_CASE("every call restores the thread's current context") {
    const Machine machine;
    REQUIRE(current_context() == nullptr);
    use_everything(machine, nullptr);
    pi_cuda_test::CUcontext own = nullptr;
    REQUIRE(pi_cuda_test::cu().cuCtxCreate_v2(&own, 0, lone) == pi_cuda_test::CUDA_SUCCESS);
    use_everything(machine, own);
    REQUIRE(pi_cuda_test::cu().cuCtxDestroy_v2(own) == pi_cuda_test::CUDA_SUCCESS);
}
