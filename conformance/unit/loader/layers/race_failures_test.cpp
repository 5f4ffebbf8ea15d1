// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer race (race.hpp) where something fails: what that tells of the order of commands, and what it does not.

#include "race.hpp"

using namespace layer_test;

TEST_CASE("memory by address whose free failed is the same allocation") {
    const bool by_command = GENERATE(false, true);
    RaceBench bench(0, by_command ? "piEnqueueUsmFree:1=fail(OUT_OF_HOST_MEMORY)"
                                  : "piUsmFree:1=fail(OUT_OF_HOST_MEMORY)");
    auto usm = describe<pi_usm_desc>(PI_TYPE_USM_DESC);
    usm.kind = PI_USM_HOST;
    usm.size = 64;
    void *pointer = nullptr;
    OK(piUsmAlloc(bench.machine.context, bench.machine.device, &usm, &pointer));
    const auto use = [&](pi_queue queue) {
        const unsigned char zero = 0;
        auto desc = describe<pi_usm_fill_desc>(PI_TYPE_USM_FILL_DESC);
        desc.pointer = pointer;
        desc.pattern = &zero;
        desc.pattern_size = 1;
        desc.size = 64;
        OK(piEnqueueUsmFill(queue, &desc, 0, nullptr, nullptr));
    };
    auto free = describe<pi_usm_free_desc>(PI_TYPE_USM_FREE_DESC);
    free.pointer = pointer;
    use(bench.queues[0]);
    CHECK((by_command ? piEnqueueUsmFree(bench.queues[0], &free, 0, nullptr, nullptr)
                      : piUsmFree(bench.machine.context, pointer)) == PI_ERROR_OUT_OF_HOST_MEMORY);
    use(bench.queues[1]);
    INFO(bench.log.all());
    CHECK(bench.races() == 1);
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));
    OK(piUsmFree(bench.machine.context, pointer));
}
