// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "interruption.hpp"

#include <chrono>
#include <csignal>
#include <ctime>
#include <unistd.h>

namespace pi::suite {
namespace {

constexpr timespec between_looks{0, 50'000'000};
constexpr std::chrono::seconds the_same_again{1};

sigset_t taken() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM}) {
        struct sigaction now {};
        sigaction(number, nullptr, &now);
        if (now.sa_handler != SIG_IGN)
            sigaddset(&set, number);
    }
    return set;
}

} // namespace

Interruption::Interruption() {
    const sigset_t set = taken();
    pthread_sigmask(SIG_BLOCK, &set, nullptr); // also in threads that are created later
    thread_ = std::jthread([this, set](const std::stop_token &over) {
        auto first = std::chrono::steady_clock::time_point::max();
        while (!over.stop_requested()) {
            const int number = sigtimedwait(&set, nullptr, &between_looks);
            if (number <= 0)
                continue;
            const auto now = std::chrono::steady_clock::now();
            if (!stop_.stop_requested()) {
                first = now;
                signal_ = number;
                stop_.request_stop();
            } else if (now - first >= the_same_again) {
                _exit(128 + number); // the tests' processes end with this one
            }
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
