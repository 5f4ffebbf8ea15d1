// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cooperative launches: all work-groups run at the same time, so they may wait for each other.

#include "checks.hpp"
#include "fixture.hpp"
#include "launch_fixture.hpp"
#include "registry.hpp"

#include <pi/pi_native_kernel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>

namespace pi::suite {
namespace {

// meet(global uint *state, uint rounds, local uint *own): all groups meet in each round at a
// barrier across the grid. state[0] counts arrivals, state[1] how many gave up waiting, which no
// group should.
void PI_CALL meet(const pi_native_group *group, void *const *arguments) {
    auto *state = static_cast<uint32_t *>(arguments[0]);
    const uint32_t rounds = *static_cast<const uint32_t *>(arguments[1]);
    auto *own = static_cast<uint32_t *>(arguments[2]);
    const std::atomic_ref<uint32_t> arrived(state[0]), gave_up(state[1]);
    const auto groups = static_cast<uint32_t>(group->group_count[0] * group->group_count[1] *
                                              group->group_count[2]);
    const auto number = static_cast<uint32_t>(
        (group->group_id[2] * group->group_count[1] + group->group_id[1]) * group->group_count[0] +
        group->group_id[0]);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (uint32_t round = 1; round <= rounds; ++round) {
        own[0] = number * rounds + round;
        arrived.fetch_add(1);
        while (arrived.load() < groups * round && gave_up.load() == 0) {
            std::this_thread::yield();
            if (std::chrono::steady_clock::now() > end)
                gave_up.fetch_add(1);
        }
        if (own[0] != number * rounds + round) // another group has the same local memory
            gave_up.fetch_add(1);
    }
}

// The same for GPUs of CUDA, by the first work-item of each group.
constexpr std::string_view meet_in_ptx = R"(.version 6.0
.target sm_60
.address_size 64
.extern .shared .align 16 .b8 shared_memory[];
.visible .entry meet(.param .u64 state, .param .u32 rounds, .param .u32 own)
{
    .reg .pred %p<7>;
    .reg .b32 %r<22>;
    .reg .b64 %d<4>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %tid.z;
    or.b32 %r1, %r1, %r2;
    or.b32 %r1, %r1, %r3;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra done;
    ld.param.u64 %d1, [state];
    cvta.to.global.u64 %d1, %d1;
    ld.param.u32 %r4, [rounds];
    ld.param.u32 %r5, [own];
    mov.u32 %r6, shared_memory;
    add.u32 %r6, %r6, %r5;
    mov.u32 %r7, %nctaid.x;
    mov.u32 %r8, %nctaid.y;
    mov.u32 %r9, %nctaid.z;
    mul.lo.u32 %r10, %r7, %r8;
    mul.lo.u32 %r10, %r10, %r9; // the groups
    mov.u32 %r11, %ctaid.x;
    mov.u32 %r12, %ctaid.y;
    mov.u32 %r13, %ctaid.z;
    mad.lo.u32 %r14, %r13, %r8, %r12;
    mad.lo.u32 %r14, %r14, %r7, %r11; // this one's number
    mov.u64 %d2, %globaltimer;
    add.u64 %d2, %d2, 20000000000;
    mov.u32 %r15, 1;
round:
    setp.gt.u32 %p2, %r15, %r4;
    @%p2 bra done;
    mad.lo.u32 %r16, %r14, %r4, %r15;
    st.volatile.shared.u32 [%r6], %r16;
    atom.global.add.u32 %r17, [%d1], 1;
    mul.lo.u32 %r18, %r10, %r15;
wait:
    ld.volatile.global.u32 %r19, [%d1];
    setp.ge.u32 %p3, %r19, %r18;
    @%p3 bra met;
    ld.volatile.global.u32 %r20, [%d1+4];
    setp.ne.u32 %p4, %r20, 0;
    @%p4 bra met;
    mov.u64 %d3, %globaltimer;
    setp.le.u64 %p5, %d3, %d2;
    @%p5 bra wait;
    red.global.add.u32 [%d1+4], 1;
    bra wait;
met:
    ld.volatile.shared.u32 %r21, [%r6];
    setp.eq.u32 %p6, %r21, %r16;
    @%p6 bra next;
    red.global.add.u32 [%d1+4], 1;
next:
    add.u32 %r15, %r15, 1;
    bra round;
done:
    ret;
}
)";

constexpr pi_native_kernel kernels[] = {{"meet", &meet, 3, 0}};
constexpr pi_native_program native_program = {sizeof(pi_native_program), 1, kernels};

/// Cooperative launches of a kernel.
struct Cooperative {
    Fixture &fixture;
    Program program;
    Kernel kernel;
    Queue queue;
    Arguments arguments;

    explicit Cooperative(Fixture &on) : fixture(on) {
        fixture.need(PI_CAPABILITY_COOPERATIVE, "PI_CAPABILITY_COOPERATIVE");
        queue = fixture.make_queue();
    }

    /// Work-items in a row of a group: as many as wanted, or the most.
    uint64_t group(uint32_t wanted) { return group_size(fixture, kernel, wanted); }
    pi_kernel_launch_desc desc(uint32_t dimensions, const Size3 &global, const Size3 &local) {
        pi_kernel_launch_desc launch = launch_desc(kernel, arguments, dimensions, global, local);
        launch.flags = PI_LAUNCH_COOPERATIVE;
        return launch;
    }
    uint32_t most(const Size3 &local) {
        uint32_t count = poison<uint32_t>();
        const auto one = [&](std::size_t axis) { return std::max<uint64_t>(local[axis], 1); };
        const pi_kernel_launch_desc launch = desc(3, {one(0), one(1), one(2)}, local);
        require_success(piKernelGetMaxCooperativeGroups(queue, &launch, &count),
                        "piKernelGetMaxCooperativeGroups");
        require(count >= 1 && count != poison<uint32_t>(),
                "not even one work-group can be resident");
        return count;
    }
};

/// A launch of "meet", whose groups wait for each other.
struct Meeting : Cooperative {
    Mem state;
    static constexpr uint32_t rounds = 50;

    explicit Meeting(Fixture &on) : Cooperative(on) {
        need_local_memory(fixture, sizeof(uint32_t));
        auto desc = pi::desc<pi_program_desc>();
        desc.format = kernel_format(fixture);
        switch (desc.format) {
        case PI_PROGRAM_FORMAT_NATIVE_TABLE:
            desc.data = &native_program;
            desc.size = sizeof native_program;
            break;
        case PI_PROGRAM_FORMAT_PTX:
            desc.data = meet_in_ptx.data();
            desc.size = meet_in_ptx.size();
            break;
        default:
            skip("the suite has kernels that wait for each other as native functions and in PTX "
                 "only");
        }
        require_success(piProgramCreate(fixture.context(), &desc, program.out()),
                        "piProgramCreate");
        require_success(piProgramBuild(program, nullptr), "piProgramBuild");
        kernel = make_kernel(program, "meet");
        state = fixture.make_buffer(fixture.place(), bytes_of({0, 0}));
        arguments.buffer(state).value(rounds).local(sizeof(uint32_t));
    }

    // The number of groups in the state.
    uint32_t met() {
        const std::vector<uint32_t> words = words_of(fixture.download(queue, state, 8));
        require_equal(words[1], 0u, "how often a group waited in vain, or lost its local memory");
        require_equal(words[0] % rounds, 0u, "arrivals beyond whole rounds");
        return words[0] / rounds;
    }
};

/// A launch of "add", which every program of the suite has: each work-item adds 1 to its own word.
struct Addition : Cooperative {
    Mem words;

    /// With `count` words of 0.
    Addition(Fixture &on, uint64_t count)
        : Cooperative(on),
          words(fixture.make_buffer(fixture.place(), Bytes(count * sizeof(uint32_t)))) {
        program = make_program(fixture);
        kernel = make_kernel(program, "add");
        arguments.buffer(words).value(uint32_t{1});
    }
};

CONFORMANCE_TEST("kernel", "all work-groups of a cooperative launch run at the same time") {
    Meeting meeting(fixture);
    const uint64_t group = meeting.group(4);
    const uint32_t most = meeting.most({group, 1, 1});
    uint32_t expected = 0;
    for (const uint32_t groups : {1u, most / 2 + 1, most}) {
        fixture.wait(fixture.enqueue(meeting.queue, meeting.desc(1, {groups * group}, {group})),
                     join("a cooperative launch of ", groups, " groups"));
        expected += groups;
        require_equal(meeting.met(), expected, "how many groups have met");
        fixture.upload(meeting.queue, meeting.state, bytes_of({0, 0}));
        expected = 0;
    }
}

CONFORMANCE_TEST("kernel",
                 "a cooperative launch without a local size has one with which all groups fit") {
    Meeting meeting(fixture);
    const uint64_t group = meeting.group(1000);
    const uint64_t items = group * meeting.most({group, 1, 1});
    for (const Size3 &size :
         {Size3{1, 1, 1}, Size3{1000, 1, 1}, Size3{7, 60, 1}, Size3{3, 4, 50}}) {
        if (size[0] * size[1] * size[2] > items) // there may be no local size that would do
            continue;
        fixture.upload(meeting.queue, meeting.state, bytes_of({0, 0}));
        fixture.wait(fixture.enqueue(meeting.queue, meeting.desc(3, size, {})),
                     join("a cooperative launch of ", size[0], " x ", size[1], " x ", size[2]));
        const uint32_t met = meeting.met();
        require(met >= 1 && met <= meeting.most({}), met, " groups have met, should be 1 to ",
                meeting.most({}));
    }
}

CONFORMANCE_TEST("kernel", "cooperative launches of several queues do not block each other") {
    Meeting meeting(fixture);
    const uint32_t most = meeting.most({1, 1, 1});
    std::vector<Queue> queues;
    std::vector<Mem> states;
    std::vector<Event> events;
    for (int i = 0; i < 4; ++i) {
        queues.push_back(fixture.make_queue());
        states.push_back(fixture.make_buffer(fixture.place(), bytes_of({0, 0})));
        Arguments arguments;
        arguments.buffer(states.back()).value(meeting.rounds).local(sizeof(uint32_t));
        pi_kernel_launch_desc desc = launch_desc(meeting.kernel, arguments, most, 1);
        desc.flags = PI_LAUNCH_COOPERATIVE;
        events.push_back(fixture.enqueue(queues.back(), desc));
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
        fixture.wait(events[i], "one of four cooperative launches");
        fixture.require_contents(queues[i], states[i], bytes_of({most * meeting.rounds, 0}),
                                 "what the groups of a launch have counted");
    }
}

CONFORMANCE_TEST("kernel", "more work-groups than can be resident are refused") {
    Addition one(fixture, 1);
    const uint64_t group = one.group(2);
    const uint32_t most = one.most({group, 1, 1});
    if (most > 1u << 20)
        skip("more work-groups can be resident than the suite launches");
    const uint64_t too_many = (uint64_t{most} + 1) * group;
    Addition addition(fixture, too_many);
    const auto refused = [&](const std::string &what, const pi_kernel_launch_desc &desc) {
        require_untouched<pi_event>(what, {PI_ERROR_INVALID_WORK_SIZE}, [&](pi_event *out) {
            return try_enqueue(addition.queue, desc, {}, out);
        });
    };
    refused("one group more than can be resident", addition.desc(1, {too_many}, {group}));
    refused("many more groups", addition.desc(3, {1 << 20, 1 << 20, 1 << 20}, {1, 1, 1}));
    refused("more work-items than resident groups can have",
            addition.desc(1, {uint64_t{1} << 50}, {}));
    std::vector<uint32_t> expected(too_many, 0);
    fixture.require_contents(addition.queue, addition.words, bytes_of(expected),
                             "what refused launches leave");
    fixture.wait(fixture.enqueue(addition.queue, addition.desc(1, {most * group}, {group})),
                 "a cooperative launch of as many groups as can be resident");
    std::fill_n(expected.begin(), most * group, 1);
    fixture.require_contents(addition.queue, addition.words, bytes_of(expected),
                             "what as many groups as can be resident have added");
    // Without the flag groups need not be together.
    fixture.wait(fixture.enqueue(
        addition.queue, launch_desc(addition.kernel, addition.arguments, too_many, group)));
}

CONFORMANCE_TEST("kernel", "the number of resident groups is reported for a valid launch") {
    Addition addition(fixture, 4);
    const auto most_group =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
    const uint64_t group = addition.group(2);
    const pi_kernel_launch_desc valid = addition.desc(1, {4}, {group});
    check_descriptor("piKernelGetMaxCooperativeGroups", valid,
                     offsetof(pi_kernel_launch_desc, flags),
                     [&](const pi_kernel_launch_desc *desc) {
                         uint32_t count = 0;
                         return piKernelGetMaxCooperativeGroups(addition.queue, desc, &count);
                     });
    const auto reported = [&](const pi_kernel_launch_desc &desc) {
        auto count = poison<uint32_t>();
        require_success(piKernelGetMaxCooperativeGroups(addition.queue, &desc, &count),
                        "piKernelGetMaxCooperativeGroups");
        return count;
    };
    pi_kernel_launch_desc beyond = addition.desc(1, {4, 77, 77}, {group, 77, 77});
    beyond.global_offset[1] = beyond.cluster_size[1] = beyond.cluster_size[2] = 77;
    require_equal(reported(beyond), reported(valid),
                  "how many groups can be, with entries beyond the axes,");
    const auto refused = [&](const std::string &what, pi_result error, pi_queue queue,
                             const pi_kernel_launch_desc &desc) {
        require_untouched<uint32_t>(what, {error}, [&](uint32_t *out) {
            return piKernelGetMaxCooperativeGroups(queue, &desc, out);
        });
    };
    refused("the queue NULL", PI_ERROR_INVALID_QUEUE, nullptr, valid);
    pi_kernel_launch_desc wrong = valid;
    wrong.kernel = nullptr;
    refused("the kernel NULL", PI_ERROR_INVALID_KERNEL, addition.queue, wrong);
    refused("0 dimensions", PI_ERROR_INVALID_WORK_SIZE, addition.queue,
            addition.desc(0, {4}, {group}));
    refused("a group larger than the largest", PI_ERROR_INVALID_WORK_SIZE, addition.queue,
            addition.desc(1, {4}, {most_group + 1}));
    const Context context = fixture.make_context({fixture.device()});
    const Queue another = fixture.make_queue({fixture.device(), context});
    refused("a kernel of another context", PI_ERROR_INVALID_KERNEL, another, valid);
    require_error(piKernelGetMaxCooperativeGroups(addition.queue, &valid, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER,
                  "piKernelGetMaxCooperativeGroups with out_count NULL");
}

} // namespace
} // namespace pi::suite
