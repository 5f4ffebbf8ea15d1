// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fast_path_machine.hpp"

#include <dlfcn.h>

namespace fast_path_test {

Owned<pi_program> Machine::program(const std::string &lines) const {
    const std::string image =
        "PI simulated Level Zero module 1\nlibrary " PI_TEST_KERNELS "\n" + lines;
    auto d = pi::desc<pi_program_desc>();
    d.format = PI_PROGRAM_FORMAT_DEVICE_BINARY;
    d.data = image.data();
    d.size = image.size();
    Owned<pi_program> made;
    OK(piProgramCreate(context, &d, made.out()));
    OK(piProgramBuild(made, nullptr));
    return made;
}

void *driver_function(const char *name) {
    static void *const library = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    void *const found = dlsym(library, name);
    REQUIRE(found);
    return found;
}

#define DRIVER(name) driver_call<decltype(&name)>(#name)

void finish_device(const Machine &machine, pi_queue queue) {
    pi_native_handle context{}, list{};
    OK(piContextGetNativeHandle(machine.context, nullptr, &context));
    OK(piQueueGetNativeHandle(queue, &list));
    ze_event_pool_desc_t some{};
    some.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
    some.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    some.count = 1;
    ze_event_pool_handle_t pool = nullptr;
    OK(DRIVER(zeEventPoolCreate)(reinterpret_cast<ze_context_handle_t>(context.value[0]), &some, 0,
                                 nullptr, &pool));
    ze_event_desc_t one{};
    one.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
    ze_event_handle_t event = nullptr;
    OK(DRIVER(zeEventCreate)(pool, &one, &event));
    OK(DRIVER(zeCommandListAppendBarrier)(reinterpret_cast<ze_command_list_handle_t>(list.value[0]),
                                          event, 0, nullptr));
    OK(DRIVER(zeEventHostSynchronize)(event, UINT64_MAX));
    OK(DRIVER(zeEventDestroy)(event));
    OK(DRIVER(zeEventPoolDestroy)(pool));
}

Owned<pi_kernel> make_kernel(pi_program program, const char *name) {
    Owned<pi_kernel> kernel;
    OK(piKernelCreate(program, name, nullptr, kernel.out()));
    return kernel;
}

pi_kernel_argument buffer_argument(pi_mem mem) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = mem;
    return argument;
}

pi_kernel_launch_desc launch_desc(pi_kernel kernel,
                                  const std::vector<pi_kernel_argument> &arguments, uint64_t items,
                                  uint64_t group) {
    auto d = pi::desc<pi_kernel_launch_desc>();
    d.kernel = kernel;
    d.dimensions = 1;
    d.argument_count = static_cast<uint32_t>(arguments.size());
    d.arguments = arguments.data();
    d.global_size[0] = items;
    d.local_size[0] = group;
    return d;
}

std::vector<uint32_t> read_words(pi_queue queue, pi_mem mem, size_t count) {
    std::vector<uint32_t> words(count);
    const pi_region region = range(0, 0, count * sizeof(uint32_t));
    const auto d = read_desc(mem, words.data(), region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferRead(queue, &d, 0, nullptr, nullptr));
    return words;
}

} // namespace fast_path_test
