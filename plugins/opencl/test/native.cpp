// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "native.hpp"

namespace opencl_test {

ClContext make_cl_context(cl_device_id device) {
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM,
        reinterpret_cast<cl_context_properties>(
            ask<cl_platform_id>(clGetDeviceInfo, device, CL_DEVICE_PLATFORM)),
        0};
    cl_int code = CL_SUCCESS;
    ClContext context(clCreateContext(properties, 1, &device, nullptr, nullptr, &code));
    cl_ok(code);
    return context;
}

ClQueue make_cl_queue(cl_context context, cl_device_id device,
                      cl_command_queue_properties properties) {
    cl_int code = CL_SUCCESS;
    ClQueue queue(clCreateCommandQueue(context, device, properties, &code));
    cl_ok(code);
    return queue;
}

ClMem make_cl_buffer(cl_context context, const std::vector<uint8_t> &bytes, cl_mem_flags flags) {
    cl_int code = CL_SUCCESS;
    ClMem mem(clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, bytes.size(),
                             const_cast<uint8_t *>(bytes.data()), &code));
    cl_ok(code);
    return mem;
}

ClEvent make_user_event(cl_context context) {
    cl_int code = CL_SUCCESS;
    ClEvent event(clCreateUserEvent(context, &code));
    cl_ok(code);
    return event;
}

Context context_around(pi_platform platform, cl_context context, uint64_t flags) {
    const pi_native_desc desc = native_desc(context, flags);
    Context made;
    OK(piContextCreateWithNativeHandle(platform, &desc, made.out()));
    return made;
}

Queue queue_around(pi_context context, pi_device device, cl_command_queue queue, uint64_t flags) {
    const pi_native_desc desc = native_desc(queue, flags);
    Queue made;
    OK(piQueueCreateWithNativeHandle(context, device, &desc, made.out()));
    return made;
}

Event event_around(pi_context context, cl_event event, uint64_t flags) {
    auto desc = pi::desc<pi_native_desc>();
    desc.flags = flags; // PI_NATIVE_OWN transfers the reference
    desc.handle.type = PI_NATIVE_OPENCL;
    desc.handle.count = 1;
    desc.handle.value[0] = reinterpret_cast<uintptr_t>(event);
    Event made;
    OK(piEventCreateWithNativeHandle(context, &desc, made.out()));
    return made;
}

pi_mem_import_desc native_import(cl_mem mem, uint64_t offset, uint64_t size, uint32_t own) {
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.offset = offset;
    desc.size = size;
    desc.own = own;
    desc.handle.type = PI_EXTERNAL_NATIVE;
    desc.handle.native = native_desc(mem).handle;
    return desc;
}

Mem mem_around(pi_context context, pi_device device, const pi_mem_import_desc &desc) {
    Mem made;
    OK(piMemImport(context, device, &desc, made.out()));
    return made;
}

} // namespace opencl_test
