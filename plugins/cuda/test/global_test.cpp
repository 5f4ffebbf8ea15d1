// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables of modules.
#include "plugin_fixture.hpp"

using namespace cuda_test;

namespace {

using Words = std::vector<uint32_t>;

template <class Desc, class Pointer>
Desc global_desc(pi_program program, Pointer words, uint64_t flags) {
    auto d = pi::desc<Desc>();
    d.flags = flags;
    d.program = program;
    d.name = "counter";
    d.host_ptr = words;
    d.size = 16;
    return d;
}

pi_result read_counter(pi_queue queue, pi_program program, uint32_t *words, uint64_t flags,
                       const std::vector<pi_event> &waits = {}, pi_event *out_event = nullptr) {
    const auto d = global_desc<pi_device_global_read_desc>(program, words, flags);
    return piEnqueueDeviceGlobalRead(queue, &d, static_cast<uint32_t>(waits.size()), waits.data(),
                                     out_event);
}

pi_result write_counter(pi_queue queue, pi_program program, const Words &words) {
    const auto d =
        global_desc<pi_device_global_write_desc>(program, words.data(), PI_COMMAND_BLOCKING);
    return piEnqueueDeviceGlobalWrite(queue, &d, 0, nullptr, nullptr);
}

} // namespace

TEST_CASE("each device of a program has its own variables") {
    const Machine machine({first, second});
    const Owned<pi_program> program = machine.program("variable counter 16\n");
    OK(write_counter(machine.queue(first), program, {5, 6, 7, 8}));
    Words words(4);
    OK(read_counter(machine.queue(second), program, words.data(), PI_COMMAND_BLOCKING));
    CHECK(words == Words{1, 2, 3, 4});
    OK(read_counter(machine.queue(first), program, words.data(), PI_COMMAND_BLOCKING));
    CHECK(words == Words{5, 6, 7, 8});
}

TEST_CASE(
    "a command on a variable uses the module at its enqueue, even if the program is rebuilt") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    Words pageable(4), pinned(1024);
    OK(piUsmHostRegister(machine.context, pinned.data(), 4096, 0));
    for (uint32_t *words : {pageable.data(), pinned.data()}) {
        const Owned<pi_program> program = machine.program("variable counter 16\n");
        OK(write_counter(queue, program, {5, 6, 7, 8}));
        Owned<pi_event> gate, held;
        OK(piEventCreateHost(machine.context, nullptr, gate.out()));
        OK(read_counter(queue, program, words, 0, {gate}, held.out()));
        OK(piProgramBuild(program, nullptr));
        OK(piEventSignalHost(gate, PI_SUCCESS));
        OK(piEventWait(held, patience));
        CHECK(Words(words, words + 4) == Words{5, 6, 7, 8});
        OK(read_counter(queue, program, words, PI_COMMAND_BLOCKING));
        CHECK(Words(words, words + 4) == Words{1, 2, 3, 4});
    }
    OK(piUsmHostUnregister(machine.context, pinned.data()));
}
