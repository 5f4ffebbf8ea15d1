// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the plugin makes of calls that the driver refuses.
#include "plugin_fixture.hpp"

extern "C" {
#include "refusing_driver.h"
}

#include <dlfcn.h>

using namespace cuda_test;

namespace {

/// The refusing driver's, which is loaded by then; nothing is refused any more when the object goes.
struct Refusals {
    Refusals() {
        void *library = dlopen(PI_TEST_REFUSING_DRIVER, RTLD_NOW | RTLD_LOCAL);
        REQUIRE(library != nullptr);
        told = static_cast<pi_refusals *>(dlsym(library, "pi_refusing_driver"));
        REQUIRE(told != nullptr);
    }
    ~Refusals() { told->copy = told->contexts = 0; }
    Refusals(const Refusals &) = delete;
    pi_refusals *operator->() const { return told; }
    pi_refusals *told = nullptr;
};

Machine make_machine() {
    return Machine({first}, PI_TEST_SIMULATED_NVRTC, PI_TEST_SIMULATED_NVML,
                   PI_TEST_REFUSING_DRIVER);
}

} // namespace

TEST_CASE("what waits for a command that failed half-way does nothing") {
    const Refusals refusals;
    const Machine machine = make_machine();
    const auto queue = machine.queue(), other = machine.queue();
    const Owned<pi_mem> a = machine.buffer(first, 4096), b = machine.buffer(first, 4096);
    const uint8_t one = 1, two = 2;
    const auto before = fill_desc(b, &one, 1, 0, 4096, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(queue, &before, 0, nullptr, nullptr));
    const pi_region regions[] = {range(0, 0, 1024), range(2048, 1024, 1024)};
    auto copy = copy_desc(a, b, regions[0]);
    copy.region_count = 2;
    copy.regions = regions;
    refusals->copy = 2;
    Owned<pi_event> failed, behind;
    OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, failed.out()));
    CHECK(refusals->copy == 0);
    const auto next = fill_desc(b, &two, 1, 2048, 2048);
    const pi_event waits = failed;
    OK(piEnqueueMemBufferFill(other, &next, 1, &waits, behind.out()));
    CHECK(piEventWait(failed, patience) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(piEventWait(behind, patience) == PI_ERROR_DEPENDENCY_FAILED);
    const Bytes bytes = read_bytes(queue, b, 4096);
    CHECK(Bytes(bytes.begin() + 2048, bytes.end()) == Bytes(2048, one));
}

TEST_CASE("a context that is not to be had leaves no pool behind") {
    const Refusals refusals;
    const int before = refusals->pools;
    {
        const Machine machine = make_machine();
        const Owned<pi_queue> queue = machine.queue();
        CHECK(refusals->pools == before + 1);
        refusals->contexts = 1;
        for (int i = 0; i < 3; ++i) {
            auto d = desc<pi_context_desc>(PI_TYPE_CONTEXT_DESC);
            d.device_count = 1;
            d.devices = &machine.devices.at(second);
            Owned<pi_context> context;
            CHECK(piContextCreate(machine.platform, &d, context.out()) != PI_SUCCESS);
        }
        CHECK(refusals->pools == before + 1);
    }
    CHECK(refusals->pools == before);
}
