// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "row.hpp"

#include <pi/pi_native_kernel.h>

#include <unistd.h>

namespace pi::fuzz {
namespace {

void PI_CALL do_nothing(const pi_native_group *, void *const *) {}
const pi_native_kernel kernels[] = {{"nothing", do_nothing, 1, 0}};
const pi_native_program native = {sizeof native, 1, kernels};

/// NULL if the device has none.
template <class Handle, class Call>
Handle optional_object(Call &&call, const char *what) {
    Handle made = nullptr;
    const pi_result result = call(&made);
    if (result != PI_SUCCESS && result != PI_ERROR_UNSUPPORTED_FEATURE) {
        must(result, what);
    }
    return made;
}

} // namespace

void fill_image(pi_mem_image_desc &desc) {
    desc.image_type = PI_IMAGE_2D;
    desc.channel_order = PI_CHANNEL_ORDER_RGBA;
    desc.channel_type = PI_CHANNEL_UINT8;
    desc.width = desc.height = 8;
}
void fill_program(pi_program_desc &desc) {
    desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    desc.data = &native;
    desc.size = sizeof native;
}

Fixture::Fixture(const Place &of) : place(of) {
    must(piQueueCreate(place.context, place.device, nullptr, &queue), "piQueueCreate");
    auto buffer_desc = pi::desc<pi_mem_buffer_desc>();
    buffer_desc.size = bytes;
    for (pi_mem *made : {&buffer, &other}) {
        must(piMemBufferCreate(place.context, place.device, &buffer_desc, made),
             "piMemBufferCreate");
    }
    buffer_desc.export_types = 1U << PI_EXTERNAL_OPAQUE_FD;
    exportable = optional_object<pi_mem>(
        [&](pi_mem *out) {
            return piMemBufferCreate(place.context, place.device, &buffer_desc, out);
        },
        "a buffer to export");
    auto image_desc = pi::desc<pi_mem_image_desc>();
    fill_image(image_desc);
    for (pi_mem *made : {&image, &other_image}) {
        *made = optional_object<pi_mem>(
            [&](pi_mem *out) {
                return piMemImageCreate(place.context, place.device, &image_desc, out);
            },
            "piMemImageCreate");
    }
    auto usm_desc = pi::desc<pi_usm_desc>();
    usm_desc.kind = PI_USM_HOST;
    usm_desc.size = bytes;
    usm = optional_object<void *>(
        [&](void **out) { return piUsmAlloc(place.context, place.device, &usm_desc, out); },
        "piUsmAlloc");
    auto pool_desc = pi::desc<pi_usm_pool_desc>();
    pool_desc.kind = PI_USM_DEVICE;
    pool = optional_object<pi_usm_pool>(
        [&](pi_usm_pool *out) {
            return piUsmPoolCreate(place.context, place.device, &pool_desc, out);
        },
        "piUsmPoolCreate");
    auto program_desc = pi::desc<pi_program_desc>();
    fill_program(program_desc);
    for (pi_program *made : {&program, &unbuilt}) {
        must(piProgramCreate(place.context, &program_desc, made), "piProgramCreate");
    }
    must(piProgramBuild(program, nullptr), "piProgramBuild");
    must(piKernelCreate(program, "nothing", nullptr, &kernel), "piKernelCreate");
}

Fixture::~Fixture() {
    piKernelRelease(kernel);
    for (const pi_program made : {program, unbuilt}) {
        piProgramRelease(made);
    }
    if (pool != nullptr) {
        piUsmPoolRelease(pool);
    }
    piUsmFree(place.context, usm);
    for (const pi_mem made : {buffer, other, exportable, image, other_image}) {
        if (made != nullptr) {
            piMemRelease(made);
        }
    }
    piQueueFinish(queue);
    piQueueRelease(queue);
}

Trial::~Trial() {
    if (file >= 0) {
        close(file);
    }
}

} // namespace pi::fuzz
