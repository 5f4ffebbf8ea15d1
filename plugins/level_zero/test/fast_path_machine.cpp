// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fast_path_machine.hpp"

#include <dlfcn.h>

namespace fast_path_test {

Owned<pi_program> Machine::program(const std::string &lines) const {
    Owned<pi_program> made =
        make_unbuilt(context, PI_PROGRAM_FORMAT_DEVICE_BINARY,
                     "PI simulated Level Zero module 1\nlibrary " PI_TEST_KERNELS "\n" + lines);
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

} // namespace fast_path_test
