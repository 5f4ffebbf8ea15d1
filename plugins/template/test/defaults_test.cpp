// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that the loader adds to a plugin with the required ones only: read, write and fill
// by map, and the connection's info. All with the contract of the real ones.

#include "machine.hpp"
#include "random_regions.hpp"

#include <cstring>
#include <memory>

using namespace template_test;

namespace {

pi_result write(pi_queue queue, pi_mem mem, const Bytes &bytes,
                const std::vector<pi_region> &regions, std::vector<pi_event> waits = {},
                pi_event *out_event = nullptr, uint64_t flags = 0) {
    auto desc = pi::desc<pi_buffer_write_desc>();
    desc.flags = flags;
    desc.mem = mem;
    desc.host_ptr = bytes.data();
    desc.region_count = static_cast<uint32_t>(regions.size());
    desc.regions = regions.data();
    return piEnqueueMemBufferWrite(queue, &desc, static_cast<uint32_t>(waits.size()), waits.data(),
                                   out_event);
}

pi_result read(pi_queue queue, pi_mem mem, Bytes &bytes, const std::vector<pi_region> &regions,
               std::vector<pi_event> waits = {}, pi_event *out_event = nullptr,
               uint64_t flags = 0) {
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.flags = flags;
    desc.mem = mem;
    desc.host_ptr = bytes.data();
    desc.region_count = static_cast<uint32_t>(regions.size());
    desc.regions = regions.data();
    return piEnqueueMemBufferRead(queue, &desc, static_cast<uint32_t>(waits.size()), waits.data(),
                                  out_event);
}

pi_result fill(pi_queue queue, pi_mem mem, const Bytes &pattern, uint64_t offset, uint64_t size,
               std::vector<pi_event> waits = {}, pi_event *out_event = nullptr) {
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.mem = mem;
    desc.pattern = pattern.data();
    desc.pattern_size = pattern.size();
    desc.offset = offset;
    desc.size = size;
    return piEnqueueMemBufferFill(queue, &desc, static_cast<uint32_t>(waits.size()), waits.data(),
                                  out_event);
}

/// A queue of random commands on one buffer, and their expected result.
class Program {
public:
    Program(const Machine &machine, uint64_t seed)
        : machine_(machine), random_(seed), model_(random_.bytes(random_.between(64, 500))),
          mem_(machine.buffer(model_)) {}

    void enqueue(std::vector<pi_event> waits) {
        switch (random_.between(0, 2)) {
        case 0: {
            sources_.push_back(std::make_unique<Bytes>(random_.bytes(random_.between(32, 500))));
            const auto regions = random_.make(sources_.back()->size(), model_.size());
            REQUIRE(write(machine_.queue, mem_, *sources_.back(), regions, waits) == PI_SUCCESS);
            RandomRegions::apply(regions, *sources_.back(), model_);
            break;
        }
        case 1: {
            const Bytes before = random_.bytes(random_.between(32, 500));
            reads_.push_back({std::make_unique<Bytes>(before), before});
            const auto regions = random_.make(model_.size(), before.size());
            REQUIRE(read(machine_.queue, mem_, *reads_.back().got, regions, waits) == PI_SUCCESS);
            RandomRegions::apply(regions, model_, reads_.back().expected);
            break;
        }
        default: {
            const uint64_t unit = uint64_t{1} << random_.between(0, 4);
            const uint64_t units = model_.size() / unit, begin = random_.between(0, units - 1);
            const uint64_t count = random_.between(1, units - begin);
            const Bytes pattern = random_.bytes(unit);
            REQUIRE(fill(machine_.queue, mem_, pattern, begin * unit, count * unit, waits) ==
                    PI_SUCCESS);
            for (uint64_t i = 0; i < count * unit; ++i)
                model_[begin * unit + i] = pattern[i % unit];
        }
        }
    }
    void check() {
        REQUIRE(piQueueFinish(machine_.queue) == PI_SUCCESS);
        REQUIRE(machine_.read_back(mem_) == model_);
        for (const Read &read : reads_)
            REQUIRE(*read.got == read.expected);
    }
    Bytes now() const { return machine_.read_back(mem_); }

private:
    struct Read {
        std::unique_ptr<Bytes> got; // its address must not change
        Bytes expected;
    };
    const Machine &machine_;
    RandomRegions random_;
    Bytes model_;
    Mem mem_;
    std::vector<std::unique_ptr<Bytes>> sources_;
    std::vector<Read> reads_;
};

} // namespace

TEST_CASE("reads, writes and fills by map have the effect that they have on a byte array") {
    const uint64_t seed = GENERATE(range(1, 13));
    const Machine machine(GENERATE(false, true));
    CAPTURE(seed);
    Program program(machine, seed);
    for (int i = 0; i < 40; ++i)
        program.enqueue({});
    program.check();
}

TEST_CASE("behind a host event they have no effect until it is signalled, and then all in order") {
    const uint64_t seed = GENERATE(range(1, 9));
    const Machine machine(GENERATE(false, true));
    CAPTURE(seed);
    Program program(machine, seed);
    const Bytes before = program.now();
    const Event gate = machine.host_event();
    for (int i = 0; i < 40; ++i)
        program.enqueue(i % 3 ? std::vector<pi_event>{} : std::vector<pi_event>{gate});
    CHECK(program.now() == before);
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    program.check();
}

TEST_CASE("a read by map does not write its target before its event is complete") {
    const Machine machine(GENERATE(false, true));
    const Bytes bytes = RandomRegions(3).bytes(32);
    const Mem mem = machine.buffer(bytes);
    const Event gate = machine.host_event();
    Bytes target(32);
    Event event;
    REQUIRE(read(machine.queue, mem, target, {range(0, 0, 32)}, {gate}, event.out()) == PI_SUCCESS);
    CHECK(status(event) != PI_EVENT_COMPLETE);
    CHECK(target == Bytes(32));
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    REQUIRE(piEventWait(event, patience) == PI_SUCCESS);
    CHECK(target == bytes);
}

TEST_CASE("a failed event fails a command by map, with its text and without moving a byte") {
    const Machine machine(GENERATE(false, true));
    const Mem mem = machine.buffer(Bytes(32, 1));
    const Event gate = machine.host_event();
    Event written, filled, after;
    REQUIRE(write(machine.queue, mem, Bytes(32, 9), {range(0, 0, 32)}, {gate}, written.out()) ==
            PI_SUCCESS);
    REQUIRE(fill(machine.queue, mem, Bytes(4, 8), 0, 32, {written}, filled.out()) == PI_SUCCESS);
    REQUIRE(fill(machine.queue, mem, Bytes(1, 2), 0, 4, {}, after.out()) == PI_SUCCESS);
    REQUIRE(piEventSignalHost(gate, PI_ERROR_DEVICE_LOST) == PI_SUCCESS);
    for (pi_event event : {static_cast<pi_event>(written), static_cast<pi_event>(filled)}) {
        CHECK(piEventWait(event, patience) == PI_ERROR_DEPENDENCY_FAILED);
        CHECK(last_error().find("signalled by the application with -68") != std::string::npos);
    }
    CHECK(piEventWait(after, patience) == PI_SUCCESS);
    Bytes expected(32, 1);
    std::fill_n(expected.begin(), 4, 2);
    CHECK(machine.read_back(mem) == expected);
}

TEST_CASE("every object of a delayed command by map may be released at once") {
    const Machine machine(GENERATE(false, true));
    Bytes storage(64, 1);
    Event done;
    Event gate = machine.host_event();
    {
        auto desc = buffer_desc(storage.size());
        desc.flags = PI_MEM_USE_HOST_PTR;
        desc.host_ptr = storage.data();
        Mem mem;
        REQUIRE(piMemBufferCreate(machine.context, machine.device, &desc, mem.out()) == PI_SUCCESS);
        const Queue queue = machine.make_queue();
        REQUIRE(fill(queue, mem, Bytes{1, 2, 3, 4}, 8, 8, {gate}, done.out()) == PI_SUCCESS);
    }
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    REQUIRE(piEventWait(done, patience) == PI_SUCCESS);
    Bytes expected(64, 1);
    std::memcpy(&expected[8], "\1\2\3\4\1\2\3\4", 8);
    CHECK(storage == expected);
}

TEST_CASE("2,000 delayed fills by map need no deep stack") {
    const Machine machine;
    const Mem mem = machine.buffer(Bytes(8));
    const Event gate = machine.host_event();
    for (int i = 0; i < 2000; ++i)
        REQUIRE(fill(machine.queue, mem, Bytes(1, static_cast<unsigned char>(i)), i % 8, 1,
                     i ? std::vector<pi_event>{} : std::vector<pi_event>{gate}) == PI_SUCCESS);
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    REQUIRE(piQueueFinish(machine.queue) == PI_SUCCESS);
    Bytes expected;
    for (int i = 1992; i < 2000; ++i)
        expected.push_back(static_cast<unsigned char>(i));
    CHECK(machine.read_back(mem) == expected);
}

TEST_CASE("blocking reads and writes by map return when they are done, and refuse a callback") {
    const Machine machine(GENERATE(false, true));
    const Mem mem = machine.buffer(Bytes(16));
    const Bytes bytes = RandomRegions(4).bytes(16);
    Bytes target(16);
    REQUIRE(write(machine.queue, mem, bytes, {range(0, 0, 16)}, {}, nullptr, PI_COMMAND_BLOCKING) ==
            PI_SUCCESS);
    REQUIRE(read(machine.queue, mem, target, {range(0, 0, 16)}, {}, nullptr, PI_COMMAND_BLOCKING) ==
            PI_SUCCESS);
    CHECK(target == bytes);

    struct State {
        const Machine &machine;
        pi_mem mem;
        pi_result result = 1;
    } state{machine, mem};
    const Event gate = machine.host_event();
    const auto callback = [](pi_event, pi_result, void *user_data) {
        auto *self = static_cast<State *>(user_data);
        Bytes into(16);
        self->result = read(self->machine.queue, self->mem, into, {range(0, 0, 16)}, {}, nullptr,
                            PI_COMMAND_BLOCKING);
    };
    REQUIRE(piEventSetCallback(gate, callback, &state) == PI_SUCCESS);
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    CHECK(state.result == PI_ERROR_WOULD_BLOCK);
}

TEST_CASE("the connection's info follows from the connection") {
    const Machine machine;
    auto info = pi::desc<pi_memory_connection_info>();
    REQUIRE(piGetMemoryConnectionInfo(machine.device, machine.context, machine.device,
                                      machine.context, nullptr, &info) == PI_SUCCESS);
    CHECK(info.connection == PI_MEMORY_CONNECTION_UNIFIED);
    CHECK(info.bandwidth == 0);
    CHECK(std::string(info.reason) != "");
}

TEST_CASE("function groups that the template does not have are refused by name") {
    const Machine machine;
    auto desc = pi::desc<pi_program_desc>();
    pi_program program = nullptr;
    CHECK(piProgramCreate(machine.context, &desc, &program) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(last_error().find("piProgramCreate") != std::string::npos);
    CHECK(last_error().find("template") != std::string::npos);
}
