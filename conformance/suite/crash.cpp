// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "crash.hpp"

#include "../support/open_calls.hpp"
#include "process.hpp"
#include "sanitized.hpp"

#include <csignal>
#include <cstring>
#include <execinfo.h>
#include <unistd.h>

namespace pi::suite {
namespace {

constexpr int max_frames = 64;
constexpr std::size_t stack_size = 64 * 1024;

struct FatalSignal {
    int number;
    const char *name;
};

constexpr FatalSignal fatal_signals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"},
    {SIGABRT, "SIGABRT"}, {SIGQUIT, "SIGQUIT"}, {SIGSYS, "SIGSYS"},
};

void print(const char *text) {
    // Without standard error nothing can be printed.
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0)
        return;
}

void print_number(long number) {
    char digits[24];
    char *begin = digits + sizeof digits - 1;
    *begin = '\0';
    do
        *--begin = static_cast<char>('0' + number % 10);
    while ((number /= 10) > 0);
    print(begin);
}

void print_open_call() {
    const pi_test::OpenCall call = pi_test::longest_open_call();
    if (call.function == nullptr)
        return;
    print("\n");
    print(hang_mark);
    print(call.function);
    print(" has not returned after ");
    print_number(static_cast<long>(call.seconds + 0.5));
    print(" s");
}

void on_signal(int number) {
    if (number == SIGQUIT)
        print_open_call();
    const char *name = "a signal";
    for (const FatalSignal &row : fatal_signals) {
        if (row.number == number)
            name = row.name;
    }
    print("\n*** ");
    print(number == SIGQUIT ? "still running after its time, here" : name);
    print(":\n");
    void *frames[max_frames];
    backtrace_symbols_fd(frames, backtrace(frames, max_frames), STDERR_FILENO);
    if (number == SIGQUIT)
        return;
    signal(number, SIG_DFL);
    raise(number);
}

} // namespace

int hang_signal() {
    return SIGQUIT;
}

void install_crash_handler() {
    // The first call opens libgcc, which a signal handler may not.
    void *frame = nullptr;
    backtrace(&frame, 1);

    // On a stack of its own: the thread's may be what overflowed.
    static char stack[stack_size];
    stack_t alternate{};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);

    for (const FatalSignal &row : fatal_signals) {
        const bool bad_access = row.number != SIGABRT && row.number != SIGQUIT;
        // A sanitizer's own report says more.
        if (is_sanitized && bad_access)
            continue;
        struct sigaction action {};
        action.sa_handler = &on_signal;
        action.sa_flags = SA_ONSTACK | SA_NODEFER;
        sigaction(row.number, &action, nullptr);
    }
}

} // namespace pi::suite
