/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C of docs/runtime-authors.md, run on the host plugin. scripts/check-readme compares both. */
#include "guide.h"

#include <pi/pi_native_kernel.h>

#include <unistd.h>

static pi_mem make_dma_buffer(pi_context context, pi_device device, uint64_t size) {
    pi_mem_buffer_desc desc = {sizeof desc, PI_TYPE_MEM_BUFFER_DESC};
    const char *reason;
    pi_mem mem;
    desc.flags = PI_MEM_REQUIRE_CONTIGUOUS;
    desc.size = size;
    desc.alignment = 4096;
    if (piMemBufferCreate(context, device, &desc, &mem) == PI_SUCCESS)
        return mem;
    piGetLastError(NULL, &reason); /* "... an administrator can reserve huge pages ..." */
    fprintf(stderr, "no contiguous memory: %s\n", reason);
    return NULL;
}

static pi_mem share(pi_context from, pi_device device, pi_context to, uint64_t size) {
    pi_mem_buffer_desc desc = {sizeof desc, PI_TYPE_MEM_BUFFER_DESC};
    pi_mem_export_desc how = {sizeof how, PI_TYPE_MEM_EXPORT_DESC};
    pi_mem_import_desc import = {sizeof import, PI_TYPE_MEM_IMPORT_DESC};
    pi_mem mem, same;
    desc.size = size;
    desc.export_types = 1u << PI_EXTERNAL_OPAQUE_FD; /* required for an export */
    check(piMemBufferCreate(from, device, &desc, &mem), "piMemBufferCreate");
    how.external_type = PI_EXTERNAL_OPAQUE_FD;
    check(piMemExport(mem, &how, &import.handle), "piMemExport");
    /* The descriptor may go to another process, with its offset and size. */
    import.size = import.handle.size;
    check(piMemImport(to, device, &import, &same), "piMemImport");
    close(import.handle.fd);
    check(piMemRelease(mem), "piMemRelease"); /* the bytes live until `same` is released */
    return same;
}

static const char *answer(pi_device src_device, pi_context src_context, pi_device dst_device,
                          pi_context dst_context) {
    static const char *const words[] = {"none", "migratable", "unified"};
    pi_memory_connection connection;
    check(piGetMemoryConnection(src_device, src_context, dst_device, dst_context, &connection),
          "piGetMemoryConnection");
    return words[connection];
}

static void PI_CALL signal_gate(pi_event event, pi_result result, void *gate) {
    (void)event;
    piEventSignalHost(gate, result);
    piEventRelease(gate);
}

/* An event of the consumer's plugin that completes with the producer's result. */
static pi_event bridge(pi_event producer, pi_context consumer) {
    pi_event gate;
    check(piEventCreateHost(consumer, NULL, &gate), "piEventCreateHost");
    check(piEventRetain(gate), "piEventRetain"); /* the callback's */
    check(piEventSetCallback(producer, signal_gate, gate), "piEventSetCallback");
    return gate;
}

static void PI_CALL scale(const pi_native_group *group, void *const *arguments) {
    float *numbers = arguments[0];
    const float factor = *(const float *)arguments[1];
    uint64_t i;
    for (i = group->begin[0]; i < group->end[0]; ++i)
        numbers[i] *= factor;
}

static pi_kernel make_kernel(pi_context context) {
    static const pi_native_kernel kernels[] = {{"scale", scale, 2, 0}};
    static const pi_native_program table = {sizeof table, 1, kernels};
    pi_program_desc desc = {sizeof desc, PI_TYPE_PROGRAM_DESC};
    pi_program program;
    pi_kernel kernel;
    desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE; /* OpenCL C: the text and its length */
    desc.data = &table;
    desc.size = sizeof table;
    check(piProgramCreate(context, &desc, &program), "piProgramCreate");
    check(piProgramBuild(program, NULL), "piProgramBuild");
    check(piKernelCreate(program, "scale", NULL, &kernel), "piKernelCreate");
    check(piProgramRelease(program), "piProgramRelease"); /* the kernel holds a reference */
    return kernel;
}

static pi_event launch(pi_queue queue, pi_kernel kernel, pi_mem numbers, uint64_t count,
                       float factor, pi_event after) {
    const pi_kernel_argument arguments[] = {
        {.kind = PI_ARGUMENT_BUFFER, .mem = numbers}, /* .offset, .size: a part of it */
        {.kind = PI_ARGUMENT_VALUE, .value = &factor, .size = sizeof factor},
    };
    pi_kernel_launch_desc desc = {sizeof desc, PI_TYPE_KERNEL_LAUNCH_DESC};
    pi_event done;
    desc.kernel = kernel;
    desc.dimensions = 1;
    desc.global_size[0] = count;
    desc.argument_count = 2;
    desc.arguments = arguments;
    check(piEnqueueKernelLaunch(queue, &desc, 1, &after, &done), "piEnqueueKernelLaunch");
    return done;
}

static pi_event write_numbers(pi_queue queue, pi_mem mem, const float *numbers, uint64_t size) {
    const pi_region all = {.extent = {size}};
    pi_buffer_write_desc desc = {sizeof desc, PI_TYPE_BUFFER_WRITE_DESC};
    pi_event written;
    desc.mem = mem;
    desc.host_ptr = numbers; /* must not change until the event is complete */
    desc.region_count = 1;
    desc.regions = &all;
    check(piEnqueueMemBufferWrite(queue, &desc, 0, NULL, &written), "piEnqueueMemBufferWrite");
    return written;
}

static void read_numbers(pi_queue queue, pi_mem mem, float *numbers, uint64_t size,
                         pi_event after) {
    const pi_region all = {.extent = {size}};
    pi_buffer_read_desc desc = {sizeof desc, PI_TYPE_BUFFER_READ_DESC};
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = mem;
    desc.host_ptr = numbers;
    desc.region_count = 1;
    desc.regions = &all;
    check(piEnqueueMemBufferRead(queue, &desc, 1, &after, NULL), "piEnqueueMemBufferRead");
}

/* Memory by address, in the order of a queue: only the last call waits. */
static void scale_by_address(pi_queue queue, pi_kernel kernel, float *numbers, uint64_t count,
                             float factor) {
    const pi_region all = {.extent = {count * sizeof *numbers}};
    pi_usm_alloc_desc alloc = {sizeof alloc, PI_TYPE_USM_ALLOC_DESC};
    pi_usm_copy_desc copy = {sizeof copy, PI_TYPE_USM_COPY_DESC};
    pi_kernel_argument arguments[2] = {{.kind = PI_ARGUMENT_POINTER}, {.kind = PI_ARGUMENT_VALUE}};
    pi_kernel_launch_desc launch = {sizeof launch, PI_TYPE_KERNEL_LAUNCH_DESC};
    pi_usm_free_desc freed = {sizeof freed, PI_TYPE_USM_FREE_DESC};
    void *usm;
    alloc.size = count * sizeof *numbers;
    alloc.out_pointer = &usm; /* written during the call */
    check(piEnqueueUsmAlloc(queue, &alloc, 0, NULL, NULL), "piEnqueueUsmAlloc");
    copy.src = numbers; /* one end may be any host memory */
    copy.dst = usm;
    copy.region_count = 1;
    copy.regions = &all;
    check(piEnqueueUsmCopy(queue, &copy, 0, NULL, NULL), "piEnqueueUsmCopy");
    arguments[0].pointer = usm;
    arguments[1].value = &factor;
    arguments[1].size = sizeof factor;
    launch.kernel = kernel;
    launch.dimensions = 1;
    launch.global_size[0] = count;
    launch.argument_count = 2;
    launch.arguments = arguments;
    check(piEnqueueKernelLaunch(queue, &launch, 0, NULL, NULL), "piEnqueueKernelLaunch");
    copy.src = usm;
    copy.dst = numbers;
    check(piEnqueueUsmCopy(queue, &copy, 0, NULL, NULL), "piEnqueueUsmCopy");
    freed.flags = PI_COMMAND_BLOCKING; /* in order: all commands before it are complete, too */
    freed.pointer = usm;
    check(piEnqueueUsmFree(queue, &freed, 0, NULL, NULL), "piEnqueueUsmFree");
}

static void try_usm(pi_device device, pi_queue queue, pi_kernel kernel) {
    const uint64_t needed = PI_CAPABILITY_USM | PI_CAPABILITY_USM_ASYNC;
    float numbers[3] = {1, 2, 3};
    uint64_t all = 0;
    check(piDeviceGetInfo(device, PI_DEVICE_INFO_CAPABILITIES, sizeof all, &all, NULL),
          "piDeviceGetInfo");
    if ((all & needed) != needed)
        return;
    scale_by_address(queue, kernel, numbers, 3, 2);
    if (numbers[0] != 2 || numbers[1] != 4 || numbers[2] != 6) {
        fprintf(stderr, "by address: %g %g %g\n", (double)numbers[0], (double)numbers[1],
                (double)numbers[2]);
        exit(1);
    }
}

static pi_mem make_image(pi_context context, pi_device device, uint64_t width, uint64_t height) {
    pi_mem_image_desc desc = {sizeof desc, PI_TYPE_MEM_IMAGE_DESC};
    const char *reason;
    pi_mem image;
    desc.image_type = PI_IMAGE_2D;
    desc.channel_order = PI_CHANNEL_ORDER_RGBA;
    desc.channel_type = PI_CHANNEL_UNORM8;
    desc.width = width;
    desc.height = height;
    if (piMemImageCreate(context, device, &desc, &image) == PI_SUCCESS)
        return image;
    piGetLastError(NULL, &reason); /* PI_ERROR_UNSUPPORTED_FEATURE: no such format */
    fprintf(stderr, "no image: %s\n", reason);
    return NULL;
}

static void underline(pi_queue queue, pi_mem image, unsigned char *picture, uint64_t width,
                      uint64_t height) {
    const pi_image_region all = {.extent = {width, height}}; /* pixels; pitches of 0: dense rows */
    const float red[4] = {1, 0, 0, 1};
    pi_image_write_desc write = {sizeof write, PI_TYPE_IMAGE_WRITE_DESC};
    pi_image_fill_desc line = {sizeof line, PI_TYPE_IMAGE_FILL_DESC};
    pi_image_read_desc read = {sizeof read, PI_TYPE_IMAGE_READ_DESC};
    write.image = line.image = read.image = image;
    write.host_ptr = picture;
    write.region_count = 1;
    write.regions = &all;
    check(piEnqueueMemImageWrite(queue, &write, 0, NULL, NULL), "piEnqueueMemImageWrite");
    line.color = red;
    line.origin[1] = height - 1;
    line.extent[0] = width;
    check(piEnqueueMemImageFill(queue, &line, 0, NULL, NULL), "piEnqueueMemImageFill");
    read.flags = PI_COMMAND_BLOCKING; /* in order: after the fill */
    read.host_ptr = picture;
    read.region_count = 1;
    read.regions = &all;
    check(piEnqueueMemImageRead(queue, &read, 0, NULL, NULL), "piEnqueueMemImageRead");
}

static void try_images(pi_context context, pi_device device, pi_queue queue) {
    unsigned char picture[3 * 2 * 4] = {10, 20, 30, 40};
    static const unsigned char red[4] = {255, 0, 0, 255};
    uint32_t images = 0;
    int i;
    check(piDeviceGetInfo(device, PI_DEVICE_INFO_IMAGES, sizeof images, &images, NULL),
          "piDeviceGetInfo");
    const pi_mem image = images ? make_image(context, device, 3, 2) : NULL;
    if (!image)
        return;
    underline(queue, image, picture, 3, 2);
    check(piMemRelease(image), "piMemRelease");
    for (i = 12; i < 24; ++i)
        if (picture[0] != 10 || picture[3] != 40 || picture[i] != red[i % 4]) {
            fprintf(stderr, "picture[%d] is %d\n", i, picture[i]);
            exit(1);
        }
}

int main(void) {
    float numbers[100];
    pi_loader loader;
    pi_device devices[16];
    pi_queue queue;
    pi_event written, gate, done;
    int i;
    if (!find_devices(&loader, devices)) {
        fprintf(stderr, "there is no device\n");
        return 1;
    }
    const pi_context context = make_context(devices[0]);
    const pi_kernel kernel = make_kernel(context);
    const pi_mem mem = make_buffer(context, devices[0], sizeof numbers);
    printf("to itself: %s\n", answer(devices[0], context, devices[0], context));
    check(piQueueCreate(context, devices[0], NULL, &queue), "piQueueCreate");
    for (i = 0; i < 100; ++i)
        numbers[i] = (float)i;
    written = write_numbers(queue, mem, numbers, sizeof numbers);
    gate = bridge(written, context);
    done = launch(queue, kernel, mem, 100, 0.5F, gate);
    read_numbers(queue, mem, numbers, sizeof numbers, done);
    for (i = 0; i < 100; ++i)
        if (numbers[i] != (float)i / 2) {
            fprintf(stderr, "numbers[%d] is %g\n", i, (double)numbers[i]);
            return 1;
        }
    try_usm(devices[0], queue, kernel);
    try_images(context, devices[0], queue);
    const pi_mem dma = make_dma_buffer(context, devices[0], 4096);
    if (dma)
        check(piMemRelease(dma), "piMemRelease");
    uint32_t exports = 0;
    piDeviceGetInfo(devices[0], PI_DEVICE_INFO_EXPORT_HANDLE_TYPES, sizeof exports, &exports, NULL);
    if (exports & 1u << PI_EXTERNAL_OPAQUE_FD) {
        const pi_context other = make_context(devices[0]);
        const pi_mem shared = share(context, devices[0], other, sizeof numbers);
        check(piMemRelease(shared), "piMemRelease");
        check(piContextRelease(other), "piContextRelease");
    }
    check(piEventRelease(written), "piEventRelease");
    check(piEventRelease(gate), "piEventRelease");
    check(piEventRelease(done), "piEventRelease");
    check(piMemRelease(mem), "piMemRelease");
    check(piKernelRelease(kernel), "piKernelRelease");
    check(piQueueRelease(queue), "piQueueRelease");
    check(piContextRelease(context), "piContextRelease");
    check(piLoaderRelease(loader), "piLoaderRelease");
    printf("passed\n");
    return 0;
}
