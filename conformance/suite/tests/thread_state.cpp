// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of the calling thread and of its process: calls may change it while they run, and must
// restore it.

#include "checks.hpp"
#include "command_cases.hpp"
#include "everything.hpp"
#include "fixture.hpp"
#include "kernels.hpp"
#include "partition.hpp"
#include "registry.hpp"

#include <array>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <filesystem>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pi::suite {
namespace {

// The control word of floating-point arithmetic: rounding, masks of exceptions, flush to zero.
unsigned float_control() {
#if defined(__x86_64__)
    return _mm_getcsr() & ~_MM_EXCEPT_MASK; // calls may compute, and raise flags
#else
    return 0;
#endif
}

mode_t file_mask() {
    const mode_t mask = umask(0);
    umask(mask);
    return mask;
}

struct ThreadState {
    sigset_t signals;
    cpu_set_t cpus;
    locale_t locale;
    int rounding;
    unsigned control;
    std::array<char, 16> name{};
    int policy;
    sched_param schedule{};
    stack_t stack{};
    int cancelling;
    std::filesystem::path directory;
    mode_t mask;
    std::array<struct sigaction, NSIG> handlers{};

    ThreadState()
        : locale(uselocale(nullptr)), rounding(std::fegetround()), control(float_control()),
          directory(std::filesystem::current_path()), mask(file_mask()) {
        sigemptyset(&signals);
        pthread_sigmask(SIG_SETMASK, nullptr, &signals);
        CPU_ZERO(&cpus);
        pthread_getaffinity_np(pthread_self(), sizeof cpus, &cpus);
        prctl(PR_GET_NAME, name.data());
        pthread_getschedparam(pthread_self(), &policy, &schedule);
        sigaltstack(nullptr, &stack);
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancelling);
        pthread_setcancelstate(cancelling, nullptr);
        for (int signal = 1; signal < NSIG; ++signal)
            sigaction(signal, nullptr, &handlers[static_cast<std::size_t>(signal)]);
    }
};

void require_same(const ThreadState &before, const std::string &what) {
    const ThreadState now;
    for (int signal = 1; signal < NSIG; ++signal) {
        require_equal(sigismember(&now.signals, signal), sigismember(&before.signals, signal),
                      join("whether signal ", signal, " is blocked after ", what));
        const auto index = static_cast<std::size_t>(signal);
        require(now.handlers[index].sa_handler == before.handlers[index].sa_handler, "signal ",
                signal, " has another handler after ", what);
    }
    require(CPU_EQUAL(&now.cpus, &before.cpus) != 0, "the thread has other CPUs after ", what);
    require(now.locale == before.locale, "the thread has another locale after ", what);
    require_equal(now.rounding, before.rounding, "the rounding after " + what);
    require_equal(now.control, before.control, "the control word of floats after " + what);
    require_equal(std::string(now.name.data()), std::string(before.name.data()),
                  "the thread's name after " + what);
    require_equal(now.policy, before.policy, "the thread's scheduling after " + what);
    require_equal(now.schedule.sched_priority, before.schedule.sched_priority,
                  "the thread's priority after " + what);
    require(now.stack.ss_sp == before.stack.ss_sp && now.stack.ss_flags == before.stack.ss_flags,
            "the thread has another signal stack after ", what);
    require_equal(now.cancelling, before.cancelling,
                  "whether the thread can be cancelled after " + what);
    require_equal(now.directory, before.directory, "the process's directory after " + what);
    require_equal(now.mask, before.mask, "the process's umask after " + what);
}

// Changes all state of a thread, which ends afterwards, and of the test's process.
class Unusual {
public:
    Unusual() : locale_(newlocale(LC_ALL_MASK, "C", nullptr)) {
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &signals, nullptr);
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET(static_cast<std::size_t>(sched_getcpu()), &cpus);
        pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
        uselocale(locale_);
        std::fesetround(FE_DOWNWARD);
#if defined(__x86_64__)
        _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
#endif
        prctl(PR_SET_NAME, "unusual");
        const sched_param none{};
        pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
        stack_t stack{};
        stack.ss_sp = stack_.data();
        stack.ss_size = stack_.size();
        sigaltstack(&stack, nullptr);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
        umask(S_IRWXO);
        std::filesystem::current_path("/");
    }
    ~Unusual() {
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
        uselocale(LC_GLOBAL_LOCALE);
        freelocale(locale_);
    }
    Unusual(const Unusual &) = delete;
    Unusual &operator=(const Unusual &) = delete;

private:
    locale_t locale_;
    std::vector<char> stack_ = std::vector<char>(1 << 16);
};

// Calls that fail: of one queue, of an object's creation, and of a program that does not compile.
void fail(Fixture &fixture, const ThreadState &before, const Place &place) {
    const Queue queue = fixture.make_queue(place);
    const auto failed = [&](pi_result result, const std::string &what) {
        require(result != PI_SUCCESS, what, ": succeeded");
        require_same(before, what);
    };
    auto buffer = pi::desc<pi_mem_buffer_desc>();
    pi_mem mem = nullptr;
    failed(piMemBufferCreate(place.context, place.device, &buffer, &mem), "a buffer of 0 bytes");
    failed(piQueueFlush(nullptr), "flushing NULL");
    failed(try_enqueue(queue, pi::desc<pi_buffer_fill_desc>()), "a fill of NULL");
    const Event gate = fixture.make_host_event(place.context);
    failed(piEventWait(gate, 1000), "a wait that times out");
    const Event held = fixture.barrier(queue, {gate});
    fixture.signal(gate, PI_ERROR_BACKEND);
    failed(piEventWait(held, PI_TIMEOUT_NEVER), "a wait for a command that fails");
    if (!has_kernels(fixture))
        return;
    const pi_program_desc desc = broken_program_desc(kernel_format(fixture));
    Program program;
    // Where the creation is refused, there is nothing to build.
    const pi_result created = piProgramCreate(place.context, &desc, program.out());
    require_same(before, "creating a program that cannot be built");
    if (created == PI_SUCCESS)
        failed(piProgramBuild(program, nullptr), "a failed build");
}

// A part of the device may be bound to processors.
void launch_on_a_part(Fixture &fixture, const ThreadState &before) {
    if (!fixture.can(PI_CAPABILITY_PARTITION) || !has_kernels(fixture))
        return;
    const std::vector<uint32_t> units{units_of(fixture.device())};
    const std::vector<pi_device_partition_desc> possible = ways(fixture.device(), units);
    if (possible.empty())
        return;
    const Devices parts = partition(fixture.device(), possible.front());
    const Context context = fixture.make_context({parts[0]});
    const Place place{parts[0], context};
    const Queue queue = fixture.make_queue(place);
    const Mem mem = fixture.make_buffer(place, 4096);
    fixture.upload(queue, mem, Bytes(4096));
    const Program program = make_program(fixture, place);
    const Kernel kernel = make_kernel(program, "add");
    require_same(before, "preparing a launch on a part of the device");
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{7});
    pi_kernel_launch_desc launch = launch_desc(kernel, arguments, 1024);
    launch.flags |= PI_COMMAND_BLOCKING;
    fixture.wait(fixture.enqueue(queue, launch));
    require_same(before, "a blocking launch on a part of the device");
}

CONFORMANCE_TEST("lifetime", "calls leave the state of their thread and process as it was") {
    fixture.run_threads(1, [&](unsigned) {
        const Unusual unusual;
        const ThreadState before;
        fixture.devices();
        require_same(before, "asking for devices");
        Context context = fixture.make_context({fixture.device()});
        require_same(before, "making a context");
        Everything all(fixture, {fixture.device(), context});
        require_same(before, "making one object of each kind");
        const Queue queue = fixture.make_queue();
        const Queue other = fixture.make_queue();
        for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_COMMAND_BLOCKING}}) {
            const CommandCases commands = make_command_cases(fixture);
            require_same(before, "preparing commands");
            for (const auto &command : commands) {
                const Event event = command->start(queue, {}, flags);
                require_same(before, command->name());
                fixture.wait(event, command->name());
                require_same(before, "waiting for " + command->name());
                command->require_done(other);
                command->clean_up(other);
                require_same(before, "the work after " + command->name());
            }
        }
        const Event gate = fixture.make_host_event();
        const Event held = fixture.barrier(queue, {gate});
        require_success(piQueueFlush(queue), "piQueueFlush");
        fixture.signal(gate);
        require_same(before, "signalling an event");
        require_success(piQueueFinish(queue), "piQueueFinish");
        require_same(before, "finishing a queue");
        fixture.on_complete(held, [](pi_event, pi_result) {});
        require_same(before, "setting a callback on an event that is complete");
        launch_on_a_part(fixture, before);
        fail(fixture, before, {fixture.device(), context});
        all.release();
        release(context);
        require_same(before, "releasing everything");
    });
    fixture.check_callbacks();
}

} // namespace
} // namespace pi::suite
