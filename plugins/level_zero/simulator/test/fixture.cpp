// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <dlfcn.h>

namespace pi_level_zero_test {

std::vector<ze_driver_handle_t> drivers() {
    static const ze_result_t started = zeInit(0);
    REQUIRE(started == ZE_RESULT_SUCCESS);
    std::uint32_t count = 0;
    REQUIRE(zeDriverGet(&count, nullptr) == ZE_RESULT_SUCCESS);
    std::vector<ze_driver_handle_t> all(count);
    REQUIRE(zeDriverGet(&count, all.data()) == ZE_RESULT_SUCCESS);
    return all;
}

ze_driver_handle_t driver() {
    return drivers().back();
}

const std::vector<ze_device_handle_t> &devices() {
    static const std::vector<ze_device_handle_t> all = [] {
        std::uint32_t count = 0;
        REQUIRE(zeDeviceGet(driver(), &count, nullptr) == ZE_RESULT_SUCCESS);
        std::vector<ze_device_handle_t> found(count);
        REQUIRE(zeDeviceGet(driver(), &count, found.data()) == ZE_RESULT_SUCCESS);
        return found;
    }();
    return all;
}

std::string leaks() {
    std::string all;
    for (const char *path : {PI_TEST_DRIVER, PI_TEST_SECOND_DRIVER})
        if (void *const library = dlopen(path, RTLD_NOW | RTLD_NOLOAD)) {
            std::string text(4096, '\0');
            reinterpret_cast<int (*)(char *, size_t)>(
                dlsym(library, "pi_simulated_level_zero_leaks"))(text.data(), text.size());
            all += text.c_str();
            dlclose(library);
        }
    return all;
}

Context::Context() {
    const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    REQUIRE(zeContextCreate(driver(), &description, &handle) == ZE_RESULT_SUCCESS);
}

Context::~Context() {
    CHECK(zeContextDestroy(handle) == ZE_RESULT_SUCCESS);
}

Memory::Memory(const Context &context, size_t size, Kind kind, unsigned device, size_t alignment)
    : context_(context) {
    const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                               0};
    const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    const ze_device_handle_t home = devices()[device];
    const ze_result_t result =
        kind == Kind::device
            ? zeMemAllocDevice(context, &on_device, size, alignment, home, &address)
        : kind == Kind::host
            ? zeMemAllocHost(context, &on_host, size, alignment, &address)
            : zeMemAllocShared(context, &on_device, &on_host, size, alignment, home, &address);
    REQUIRE(result == ZE_RESULT_SUCCESS);
}

Memory::~Memory() {
    if (address)
        CHECK(free() == ZE_RESULT_SUCCESS);
}

ze_result_t Memory::free() {
    const ze_result_t result = zeMemFree(context_, address);
    if (result == ZE_RESULT_SUCCESS)
        address = nullptr;
    return result;
}

Events::Events(const Context &context, std::uint32_t count, ze_event_pool_flags_t flags)
    : events_(count) {
    const ze_event_pool_desc_t description{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, flags,
                                           count};
    REQUIRE(zeEventPoolCreate(context, &description, 0, nullptr, &pool) == ZE_RESULT_SUCCESS);
    for (std::uint32_t i = 0; i < count; ++i) {
        const ze_event_desc_t one{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, i,
                                  ZE_EVENT_SCOPE_FLAG_HOST, ZE_EVENT_SCOPE_FLAG_HOST};
        REQUIRE(zeEventCreate(pool, &one, &events_[i]) == ZE_RESULT_SUCCESS);
    }
}

Events::~Events() {
    for (const ze_event_handle_t event : events_)
        CHECK(zeEventDestroy(event) == ZE_RESULT_SUCCESS);
    CHECK(zeEventPoolDestroy(pool) == ZE_RESULT_SUCCESS);
}

List::List(const Context &context, unsigned device, std::uint32_t group,
           ze_command_queue_mode_t mode)
    : done_(context, 1) {
    const ze_command_queue_desc_t description{
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, group, 0, 0, mode,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    REQUIRE(zeCommandListCreateImmediate(context, devices()[device], &description, &handle) ==
            ZE_RESULT_SUCCESS);
}

List::~List() {
    finish();
    CHECK(zeCommandListDestroy(handle) == ZE_RESULT_SUCCESS);
}

void List::finish() const {
    CHECK(zeCommandListAppendBarrier(handle, done_[0], 0, nullptr) == ZE_RESULT_SUCCESS);
    CHECK(zeEventHostSynchronize(done_[0], UINT64_MAX) == ZE_RESULT_SUCCESS);
    CHECK(zeEventHostReset(done_[0]) == ZE_RESULT_SUCCESS);
}

void List::barrier() const {
    CHECK(zeCommandListAppendBarrier(handle, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
}

std::vector<std::uint8_t> read(const List &list, const void *address, size_t size) {
    std::vector<std::uint8_t> bytes(size);
    list.barrier();
    CHECK(zeCommandListAppendMemoryCopy(list, bytes.data(), address, size, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
    list.finish();
    return bytes;
}

std::string image(const std::string &lines) {
    return "PI simulated Level Zero module 1\nlibrary " PI_TEST_KERNELS "\n" + lines;
}

ze_result_t build(const Context &context, ze_module_format_t format, const std::string &bytes,
                  ze_module_handle_t *out, std::string *text,
                  const ze_module_constants_t *constants, unsigned device) {
    const ze_module_desc_t description{ZE_STRUCTURE_TYPE_MODULE_DESC,
                                       nullptr,
                                       format,
                                       bytes.size(),
                                       reinterpret_cast<const std::uint8_t *>(bytes.data()),
                                       nullptr,
                                       constants};
    ze_module_build_log_handle_t log = nullptr;
    const ze_result_t result =
        zeModuleCreate(context, devices()[device], &description, out, text ? &log : nullptr);
    if (log) {
        size_t size = 0;
        CHECK(zeModuleBuildLogGetString(log, &size, nullptr) == ZE_RESULT_SUCCESS);
        text->resize(size);
        CHECK(zeModuleBuildLogGetString(log, &size, text->data()) == ZE_RESULT_SUCCESS);
        text->pop_back();
        CHECK(zeModuleBuildLogDestroy(log) == ZE_RESULT_SUCCESS);
    }
    return result;
}

Module::Module(const Context &context, const std::string &lines, unsigned device) {
    std::string log;
    const ze_result_t result =
        build(context, ZE_MODULE_FORMAT_NATIVE, image(lines), &handle, &log, nullptr, device);
    INFO(log);
    REQUIRE(result == ZE_RESULT_SUCCESS);
}

Module::~Module() {
    for (const ze_kernel_handle_t kernel : kernels_)
        CHECK(zeKernelDestroy(kernel) == ZE_RESULT_SUCCESS);
    CHECK(zeModuleDestroy(handle) == ZE_RESULT_SUCCESS);
}

ze_kernel_handle_t Module::kernel(const char *name) {
    const ze_kernel_desc_t description{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, name};
    REQUIRE(zeKernelCreate(handle, &description, &kernels_.emplace_back()) == ZE_RESULT_SUCCESS);
    return kernels_.back();
}

void run(const List &list, ze_kernel_handle_t kernel, std::uint32_t groups) {
    const ze_group_count_t count{groups, 1, 1};
    list.barrier();
    CHECK(zeCommandListAppendLaunchKernel(list, kernel, &count, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
    list.finish();
}

} // namespace pi_level_zero_test
