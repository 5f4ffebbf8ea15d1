// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

using namespace pi_test;

TEST_CASE("a chain of 20,000 delayed commands runs to its end") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(4);
    const Owned<pi_event> gate = host.make_host_event();
    const pi_event wait = gate;
    OK(piEnqueueBarrier(queue, nullptr, 1, &wait, nullptr));
    Owned<pi_event> last;
    for (int i = 0; i < 20'000; ++i) {
        const auto value = static_cast<uint8_t>(i);
        const auto d = fill_desc(mem, &value, 1, 0, 4);
        OK(piEnqueueMemBufferFill(queue, &d, 0, nullptr, last.out()));
    }
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piEventWait(last, patience));
    CHECK(contents(host, mem)[0] == std::byte(static_cast<uint8_t>(19'999)));
}
