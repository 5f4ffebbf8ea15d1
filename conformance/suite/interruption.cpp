// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "interruption.hpp"

#include <csignal>
#include <ctime>
#include <unistd.h>

namespace pi::suite {
namespace {

constexpr timespec between_looks{0, 50'000'000};

sigset_t taken() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

} // namespace

Interruption::Interruption() {
    const sigset_t set = taken();
    pthread_sigmask(SIG_BLOCK, &set, nullptr); // of the threads that begin from here on, too
    thread_ = std::jthread([this, set](const std::stop_token &over) {
        while (!over.stop_requested()) {
            const int number = sigtimedwait(&set, nullptr, &between_looks);
            if (number <= 0)
                continue;
            if (stop_.stop_requested())
                _exit(128 + number); // the tests' processes end with this one
            signal_ = number;
            stop_.request_stop();
        }
    });
}

Interruption::~Interruption() {
    thread_.request_stop();
    thread_.join();
    const sigset_t set = taken();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

const char *Interruption::signal_name() const {
    return signal_ == SIGINT ? "SIGINT" : signal_ == SIGTERM ? "SIGTERM" : "";
}

} // namespace pi::suite
