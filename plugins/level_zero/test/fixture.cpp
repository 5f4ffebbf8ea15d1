// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <dlfcn.h>

namespace level_zero_test {

Owned<pi_loader> make_loader(const std::string &library) {
    return load_one_plugin(PI_TEST_LEVEL_ZERO_PLUGIN, {{"PI_LEVEL_ZERO_LIBRARY", library.c_str()}},
                           {.log = no_log});
}

std::string leaks() {
    std::string text(4096, '\0');
    void *const library = dlopen(PI_TEST_DRIVER, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    const auto leaks_function =
        reinterpret_cast<int (*)(char *, size_t)>(dlsym(library, "pi_simulated_level_zero_leaks"));
    REQUIRE(leaks_function);
    leaks_function(text.data(), text.size());
    dlclose(library);
    return text.c_str();
}

std::string unavailable(const std::string &library) {
    return why_unavailable(make_loader(library), "level_zero");
}

InjectedFaults::InjectedFaults() {
    void *const library = dlopen(PI_TEST_INJECTING_LOADER, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    const auto find = [&](auto &function, const char *name) {
        function =
            reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        REQUIRE(function);
    };
    find(fail, "pi_injected_fail");
    find(clear, "pi_injected_clear");
    find(calls, "pi_injected_calls");
    find(priority, "pi_injected_priority");
    find(misalign, "pi_injected_misalign");
    find(disagree, "pi_injected_disagree");
    find(create_sampler, "zeSamplerCreate");
}

Machine::Machine() : PlatformFixture(make_loader()) {
    REQUIRE(devices.size() == 2);
}

pi_result Machine::try_buffer(uint64_t size, Owned<pi_mem> &out, uint64_t alignment) const {
    const auto d = buffer_desc(size, 0, nullptr, alignment);
    return piMemBufferCreate(context, devices.front(), &d, out.out());
}

Owned<pi_mem> Machine::buffer(uint64_t size, uint64_t alignment) const {
    Owned<pi_mem> made;
    OK(try_buffer(size, made, alignment));
    return made;
}

void require_works(const Machine &machine, pi_queue queue) {
    const Owned<pi_mem> mem = machine.buffer(4096);
    const std::vector<uint8_t> bytes(4096, 0x5A);
    const pi_region all = range(0, 0, bytes.size());
    const auto write = write_desc(mem, bytes.data(), all, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, nullptr));
    std::vector<uint8_t> back(bytes.size());
    const auto read = read_desc(mem, back.data(), all, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferRead(queue, &read, 0, nullptr, nullptr));
    CHECK(back == bytes);
}

} // namespace level_zero_test
