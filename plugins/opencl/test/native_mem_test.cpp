// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers and queues of plain OpenCL in every PI command, and PI's in OpenCL's.
#include "native.hpp"

#include <algorithm>
#include <cstring>

using namespace opencl_test;

namespace {

std::vector<uint8_t> counting(size_t size, uint8_t from = 0) {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<uint8_t>((from + i) % 251); // differs at each alignment
    return bytes;
}

std::vector<uint8_t> cl_contents(cl_command_queue queue, cl_mem mem) {
    std::vector<uint8_t> bytes(ask<size_t>(clGetMemObjectInfo, mem, CL_MEM_SIZE));
    cl_ok(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr,
                              nullptr));
    return bytes;
}

/// Every command on a buffer whose bytes are `model`; updates the model.
void use_in_every_command(const Place &place, pi_queue queue, pi_mem mem,
                          std::vector<uint8_t> &model) {
    const uint64_t size = model.size();
    CHECK(contents(queue, mem) == model);
    const std::vector<uint8_t> bytes = counting(16, 200);
    wait(write(queue, mem, bytes.data(), {range(0, 8, 16)}));
    std::copy(bytes.begin(), bytes.end(), model.begin() + 8);
    CHECK(contents(queue, mem) == model);
    const uint8_t nine = 9;
    wait(fill(queue, mem, &nine, 1, 24, 8));
    std::fill_n(model.begin() + 24, 8, nine);
    const Mem other = place.buffer(size);
    wait(copy(queue, mem, other, {range(0, 0, size)}));
    CHECK(contents(queue, other) == model);
    wait(copy(queue, other, mem, {range(0, 32, 16)}));
    std::copy_n(model.begin(), 16, model.begin() + 32);
    void *pointer = nullptr;
    wait(map(queue, mem, PI_MAP_READ | PI_MAP_WRITE, 0, size, &pointer));
    CHECK(std::memcmp(pointer, model.data(), size) == 0);
    std::memset(pointer, 77, 4);
    wait(unmap(queue, mem, pointer));
    std::fill_n(model.begin(), 4, uint8_t{77});
    CHECK(contents(queue, mem) == model);
    const Program program = build(
        place.context, "kernel void more(global uchar *data) { data[get_global_id(0)] += 1; }");
    wait(launch(queue, make_kernel(program, "more"), size, {buffer_argument(mem)}));
    for (uint8_t &byte : model)
        ++byte;
    CHECK(contents(queue, mem) == model);
    // A copy from another context of the platform.
    const Place elsewhere(place.device);
    const Mem far = elsewhere.buffer(size);
    wait(copy(queue, mem, far, {range(0, 0, size)}));
    CHECK(contents(elsewhere.queue, far) == model);
}

} // namespace

TEST_CASE("buffers in scope host.pinned are in host memory that the driver allocates") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const auto flags_of = [](pi_mem mem) {
            return ask<cl_mem_flags>(clGetMemObjectInfo, vendor_of(mem), CL_MEM_FLAGS);
        };
        CHECK(std::string(scope_of(device, 1).name) == "host.pinned");
        CHECK((flags_of(place.buffer(64, 0)) & CL_MEM_ALLOC_HOST_PTR) == 0);
        CHECK((flags_of(place.buffer(64, 1)) & CL_MEM_ALLOC_HOST_PTR) != 0);
        std::vector<uint8_t> bytes(64, 7);
        const Mem copy = make_buffer(
            place.context, device,
            buffer_desc(bytes.size(), PI_MEM_READ_ONLY | PI_MEM_COPY_HOST_PTR, bytes.data(), 0, 1));
        CHECK((flags_of(copy) & CL_MEM_READ_ONLY) != 0);
        CHECK((flags_of(copy) & CL_MEM_ALLOC_HOST_PTR) != 0);
        CHECK(contents(place.queue, copy) == bytes);
    }
}

TEST_CASE("a cl_mem with contents works in every command, owned or not") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const ClQueue plain_queue = make_cl_queue(vendor_of(place.context), vendor_of(device));
        std::vector<uint8_t> model = counting(4096);
        const ClMem plain = make_cl_buffer(vendor_of(place.context), model);
        const cl_uint before = count(plain);
        for (const uint32_t own : {0u, 1u}) {
            if (own)
                cl_ok(clRetainMemObject(plain));
            Mem mem = mem_around(place.context, device, native_import(plain, 0, 4096, own));
            CHECK(vendor_of(mem) == plain);
            CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_SIZE) == 4096);
            CHECK(info<pi_memory_kind>(piMemGetInfo, mem, PI_MEM_INFO_KIND) ==
                  PI_MEMORY_KIND_BUFFER);
            CHECK(info<pi_mem>(piMemGetInfo, mem, PI_MEM_INFO_PARENT) == nullptr);
            CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_ALIGNMENT) ==
                  scope_of(device).min_alignment);
            use_in_every_command(place, place.queue, mem, model);
            CHECK(cl_contents(plain_queue, plain) == model);
            // A view of it, which is part of the cl_mem.
            const uint64_t step = scope_of(device).offset_alignment;
            const Mem view = make_view(mem, step, 64);
            CHECK(ask<cl_mem>(clGetMemObjectInfo, vendor_of(view), CL_MEM_ASSOCIATED_MEMOBJECT) ==
                  plain);
            CHECK(contents(place.queue, view) ==
                  std::vector<uint8_t>(model.begin() + static_cast<std::ptrdiff_t>(step),
                                       model.begin() + static_cast<std::ptrdiff_t>(step + 64)));
            CHECK(count(plain) > before);
        }
        CHECK(settled_count(plain, before) == before);
        CHECK(cl_contents(plain_queue, plain) == model);
    }
}

TEST_CASE("a part of a cl_mem, and a sub-buffer, can be buffers") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const uint64_t step = std::max<uint64_t>(scope_of(device).offset_alignment, 1024);
        const std::vector<uint8_t> all = counting(8 * step, 3);
        const ClMem plain = make_cl_buffer(vendor_of(place.context), all);
        const cl_buffer_region region{step, 4 * step};
        cl_int code = CL_SUCCESS;
        const ClMem sub(clCreateSubBuffer(plain, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
        cl_ok(code);
        const cl_uint before = count(plain), sub_before = count(sub);
        const auto part = [&](uint64_t from, uint64_t size) {
            const auto at = all.begin() + static_cast<std::ptrdiff_t>(from);
            return std::vector<uint8_t>(at, at + static_cast<std::ptrdiff_t>(size));
        };
        {
            const Mem of_plain =
                mem_around(place.context, device, native_import(plain, 2 * step, 100));
            CHECK(vendor_of(of_plain) != plain);
            CHECK(contents(place.queue, of_plain) == part(2 * step, 100));
            const Mem whole_sub =
                mem_around(place.context, device, native_import(sub, 0, 4 * step));
            CHECK(vendor_of(whole_sub) == sub);
            CHECK(contents(place.queue, whole_sub) == part(step, 4 * step));
            const Mem of_sub =
                mem_around(place.context, device, native_import(sub, step, step + 8));
            CHECK(contents(place.queue, of_sub) == part(2 * step, step + 8));
            // Offsets of views count from their offset in the cl_mem.
            CHECK(contents(place.queue, make_view(whole_sub, step, 16)) == part(2 * step, 16));
            const Mem view = make_view(of_sub, step, 8);
            CHECK(contents(place.queue, view) == part(3 * step, 8));
            CHECK(ask<size_t>(clGetMemObjectInfo, vendor_of(view), CL_MEM_OFFSET) == 3 * step);
            CHECK(info<uint64_t>(piMemGetInfo, make_view(of_sub, step, 8), PI_MEM_INFO_OFFSET) ==
                  step);
            std::vector<uint8_t> model = part(2 * step, step + 8);
            use_in_every_command(place, place.queue, of_sub, model);
            CHECK(contents(place.queue, of_plain) ==
                  std::vector<uint8_t>(model.begin(), model.begin() + 100));
        }
        CHECK(settled_count(plain, before) == before);
        CHECK(settled_count(sub, sub_before) == sub_before);
        // A part keeps the whole that was transferred alive.
        cl_ok(clRetainMemObject(sub));
        Mem owner = mem_around(place.context, device, native_import(sub, step, 8, 1));
        CHECK(settled_count(sub, sub_before + 1) == sub_before + 1);
        owner.reset();
        CHECK(settled_count(sub, sub_before) == sub_before);
    }
}

TEST_CASE(
    "a cl_mem that uses host memory has its address, and one with less access is refused more") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        std::vector<uint8_t> memory(8192 + 4096);
        uint8_t *host = memory.data() + (4096 - reinterpret_cast<uintptr_t>(memory.data()) % 4096);
        cl_int code = CL_SUCCESS;
        const ClMem plain(clCreateBuffer(
            vendor_of(place.context), CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, 8192, host, &code));
        cl_ok(code);
        const Mem mem = mem_around(place.context, device, native_import(plain, 0, 8192));
        void *pointer = nullptr;
        OK(piMemGetHostPointer(mem, &pointer));
        CHECK(pointer == host);
        const Mem half = mem_around(place.context, device, native_import(plain, 4096, 4096));
        OK(piMemGetHostPointer(half, &pointer));
        CHECK(pointer == host + 4096);
        CHECK(info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_FLAGS) == PI_MEM_READ_ONLY);
        pi_mem_import_desc desc = native_import(plain, 0, 8192);
        desc.flags = PI_MEM_READ_ONLY;
        CHECK(info<uint64_t>(piMemGetInfo, mem_around(place.context, device, desc),
                             PI_MEM_INFO_FLAGS) == PI_MEM_READ_ONLY);
        desc.flags = PI_MEM_WRITE_ONLY;
        refused(piMemImport(place.context, device, &desc, Mem().out()), PI_ERROR_INVALID_VALUE,
                {"CL_MEM_READ_ONLY"});
    }
}

TEST_CASE("a cl_mem that cannot be imported stays the application's") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device), other(device);
        const ClMem plain = make_cl_buffer(vendor_of(place.context), counting(4096));
        const cl_uint before = count(plain);
        pi_mem out = nullptr;
        const auto import = [&](pi_context context, const pi_mem_import_desc &desc) {
            return piMemImport(context, device, &desc, &out);
        };
        refused(import(other.context, native_import(plain, 0, 4096, 1)),
                PI_ERROR_INVALID_NATIVE_HANDLE, {"cl_mem", "cl_context"});
        refused(import(place.context, native_import(plain, 0, 4097, 1)), PI_ERROR_INVALID_SIZE,
                {"4097", "4096"});
        refused(import(place.context, native_import(plain, 4000, 97, 1)), PI_ERROR_INVALID_SIZE);
        refused(import(place.context, native_import(plain, 0, 0, 1)), PI_ERROR_INVALID_SIZE);
        refused(import(place.context, native_import(plain, 0, 4096, 2)), PI_ERROR_INVALID_VALUE,
                {"own is 2"});
        if (scope_of(device).offset_alignment > 1)
            refused(import(place.context, native_import(plain, 1, 8, 1)),
                    PI_ERROR_MISALIGNED_OFFSET,
                    {std::to_string(scope_of(device).offset_alignment)});
        pi_mem_import_desc desc = native_import(plain, 0, 4096, 1);
        desc.handle.native.type = PI_NATIVE_HOST_POINTER;
        refused(import(place.context, desc), PI_ERROR_INVALID_NATIVE_HANDLE, {"type is 1"});
        desc = native_import(plain, 0, 4096, 1);
        desc.handle.native.count = 3;
        refused(import(place.context, desc), PI_ERROR_INVALID_NATIVE_HANDLE, {"count is 3"});
        desc = native_import(nullptr, 0, 4096, 1);
        refused(import(place.context, desc), PI_ERROR_INVALID_NATIVE_HANDLE, {"NULL"});
        // An image.
        const cl_image_format format{CL_RGBA, CL_UNORM_INT8};
        cl_image_desc shape{};
        shape.image_type = CL_MEM_OBJECT_IMAGE2D;
        shape.image_width = shape.image_height = 8;
        cl_int code = CL_SUCCESS;
        const ClMem image(
            clCreateImage(vendor_of(place.context), 0, &format, &shape, nullptr, &code));
        if (code == CL_SUCCESS)
            refused(import(place.context, native_import(image, 0, 256, 0)),
                    PI_ERROR_UNSUPPORTED_FEATURE, {"image"});
        CHECK(out == nullptr);
        CHECK(settled_count(plain, before) == before);
        pi_native_handle handle{};
        const Mem mem = place.buffer(8);
        refused(piMemGetNativeHandle(mem, nullptr, &handle), PI_ERROR_INVALID_DEVICE);
        refused(piMemGetNativeHandle(mem, device, nullptr), PI_ERROR_INVALID_NULL_POINTER);
    }
}

TEST_CASE("a cl_mem retained by OpenCL outlives its pi_mem") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const ClQueue queue = make_cl_queue(vendor_of(place.context), vendor_of(device));
        Mem mem = place.buffer(4096);
        set_contents(place.queue, mem, counting(4096, 5));
        const Mem view = make_view(mem, 0, 100);
        cl_ok(clRetainMemObject(vendor_of(mem)));
        const ClMem kept(vendor_of(mem));
        CHECK(cl_contents(queue, vendor_of(view)) == [] {
            auto bytes = counting(4096, 5);
            bytes.resize(100);
            return bytes;
        }());
        mem.reset();
        CHECK(cl_contents(queue, kept) == counting(4096, 5));
    }
}

TEST_CASE("a queue around a cl_command_queue has its properties, owned or not") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const auto can = info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_QUEUE_FLAGS);
        for (const cl_command_queue_properties properties :
             {0, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}) {
            if (properties & ~ask<cl_command_queue_properties>(clGetDeviceInfo, vendor_of(device),
                                                               CL_DEVICE_QUEUE_ON_HOST_PROPERTIES))
                continue;
            const ClQueue plain =
                make_cl_queue(vendor_of(place.context), vendor_of(device), properties);
            const cl_uint before = count(plain);
            for (const uint64_t flags : {0, static_cast<int>(PI_NATIVE_OWN)}) {
                if (flags)
                    cl_ok(clRetainCommandQueue(plain));
                Queue queue = queue_around(place.context, device, plain, flags);
                CHECK(settled_count(plain, before + 1) == before + 1);
                CHECK(vendor_of(queue) == plain);
                CHECK(info<uint64_t>(piQueueGetInfo, queue, PI_QUEUE_INFO_FLAGS) ==
                      (properties == CL_QUEUE_PROFILING_ENABLE ? can & PI_QUEUE_PROFILING
                       : properties                            ? uint64_t{PI_QUEUE_OUT_OF_ORDER}
                                                               : 0));
                queue.reset();
                CHECK(settled_count(plain, before) == before);
            }
            // PoCL keeps references of its own to a used queue, so they are not counted here.
            const Queue queue = queue_around(place.context, device, plain);
            const Mem mem = place.buffer(1000);
            set_contents(queue, mem, counting(1000));
            CHECK(contents(queue, mem) == counting(1000));
            OK(piQueueFinish(queue));
        }
    }
}

TEST_CASE("commands of an in-order queue come after OpenCL's own work in it") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        if (!waits_for_user_events(device))
            continue;
        const Place place(device);
        const cl_context context = vendor_of(place.context);
        const Mem mem = place.buffer(1000);
        // A queue of the application's, and one of PI's that was returned to it.
        const ClQueue plain = make_cl_queue(context, vendor_of(device));
        const Queue around = queue_around(place.context, device, plain);
        for (const Queue *queue : {&around, &place.queue}) {
            for (int turn = 0; turn < 3; ++turn) {
                const std::vector<uint8_t> bytes = counting(1000, static_cast<uint8_t>(50 + turn));
                set_contents(*queue, mem, std::vector<uint8_t>(1000, 0));
                const cl_command_queue id = vendor_of(*queue);
                const ClEvent gate = make_user_event(context);
                const cl_event waits[] = {gate};
                cl_ok(clEnqueueWriteBuffer(id, vendor_of(mem), CL_FALSE, 0, 1000, bytes.data(), 1,
                                           waits, nullptr));
                cl_ok(clFlush(id));
                std::vector<uint8_t> seen(1000);
                void *pointer = nullptr;
                const Event event = turn == 0 ? read(*queue, mem, seen.data(), {range(0, 0, 1000)})
                                    : turn == 1 ? map(*queue, mem, PI_MAP_READ, 0, 1000, &pointer)
                                                : barrier(*queue);
                CHECK(piEventWait(event, 20'000'000) == PI_ERROR_TIMEOUT);
                cl_ok(clSetUserEventStatus(gate, CL_COMPLETE));
                wait(event);
                if (turn == 0)
                    CHECK(seen == bytes);
                if (turn == 1) {
                    CHECK(std::memcmp(pointer, bytes.data(), 1000) == 0);
                    wait(unmap(*queue, mem, pointer));
                }
                cl_ok(clFinish(id));
            }
        }
    }
}

TEST_CASE("queues of another context or device are refused, and stay the application's") {
    Loader loader;
    const std::vector<pi_device> devices = loader.devices();
    for (pi_device device : devices) {
        INFO(name_of(device));
        const Place place(device), other(device);
        const ClQueue plain = make_cl_queue(vendor_of(other.context), vendor_of(device));
        const cl_uint before = count(plain);
        const pi_native_desc desc = native_desc(plain, PI_NATIVE_OWN);
        pi_queue queue = nullptr;
        refused(piQueueCreateWithNativeHandle(place.context, device, &desc, &queue),
                PI_ERROR_INVALID_NATIVE_HANDLE, {"cl_command_queue", "cl_context"});
        refused(piQueueCreateWithNativeHandle(other.context, nullptr, &desc, &queue),
                PI_ERROR_INVALID_DEVICE);
        refused(piQueueCreateWithNativeHandle(other.context, device, &desc, nullptr),
                PI_ERROR_INVALID_NULL_POINTER);
        refuses_malformed(desc, [&](const pi_native_desc *bad) {
            return piQueueCreateWithNativeHandle(other.context, device, bad, &queue);
        });
        for (pi_device second : devices)
            if (second != device && platform_of(second) == platform_of(device)) {
                const Context both = make_context({device, second});
                const ClQueue of_second = make_cl_queue(vendor_of(both), vendor_of(second));
                const pi_native_desc wrong = native_desc(of_second);
                refused(piQueueCreateWithNativeHandle(both, device, &wrong, &queue),
                        PI_ERROR_INVALID_NATIVE_HANDLE, {"cl_device_id", "cl_command_queue"});
            }
        CHECK(queue == nullptr);
        CHECK(settled_count(plain, before) == before);
    }
}
