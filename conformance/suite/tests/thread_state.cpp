// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of the calling thread: calls may change it while they run, and must restore it.

#include "checks.hpp"
#include "command_cases.hpp"
#include "everything.hpp"
#include "fixture.hpp"
#include "registry.hpp"

#include <cfenv>
#include <clocale>
#include <csignal>
#include <pthread.h>
#include <sched.h>

namespace pi::suite {
namespace {

struct ThreadState {
    sigset_t signals;
    cpu_set_t cpus;
    locale_t locale;
    int rounding;

    ThreadState() : locale(uselocale(nullptr)), rounding(std::fegetround()) {
        sigemptyset(&signals);
        pthread_sigmask(SIG_SETMASK, nullptr, &signals);
        CPU_ZERO(&cpus);
        pthread_getaffinity_np(pthread_self(), sizeof cpus, &cpus);
    }
};

void require_same(const ThreadState &before, const std::string &what) {
    const ThreadState now;
    for (int signal = 1; signal < NSIG; ++signal)
        require_equal(sigismember(&now.signals, signal), sigismember(&before.signals, signal),
                      join("whether signal ", signal, " is blocked after ", what));
    require(CPU_EQUAL(&now.cpus, &before.cpus) != 0, "the thread has other CPUs after ", what);
    require(now.locale == before.locale, "the thread has another locale after ", what);
    require_equal(now.rounding, before.rounding, "the rounding after " + what);
}

// Changes all state of a thread, which ends afterwards.
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
    }
    ~Unusual() {
        uselocale(LC_GLOBAL_LOCALE);
        freelocale(locale_);
    }
    Unusual(const Unusual &) = delete;
    Unusual &operator=(const Unusual &) = delete;

private:
    locale_t locale_;
};

CONFORMANCE_TEST("lifetime",
                 "calls leave their thread's signal mask, locale, rounding and CPUs as they were") {
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
        all.release();
        release(context);
        require_same(before, "releasing everything");
    });
    fixture.check_callbacks();
}

} // namespace
} // namespace pi::suite
