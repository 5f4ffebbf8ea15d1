// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

namespace pi::level_zero::simulated {

std::uint64_t device_ticks() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
               std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()) /
           tick_nanoseconds;
}

namespace {

/// The index of the next command to run; the number of commands if none can. In order it is the
/// first; with reordering, any that no barrier holds back.
size_t choose(Line &line) {
    const size_t none = line.commands.size();
    if (line.device->lost)
        return 0;
    std::vector<size_t> able;
    const bool reorder = driver().config.reorder.has_value();
    for (size_t i = 0; i < none; ++i) {
        const Command &command = line.commands[i];
        if ((i == 0 || !command.follows) &&
            std::all_of(command.waits.begin(), command.waits.end(),
                        [](const auto &event) { return event->signalled; }))
            able.push_back(i);
        if (!reorder || command.holds)
            break;
    }
    return able.empty() ? none : able[line.choice() % able.size()];
}

/// Delays some lines, so that others overtake them and more commands are there to choose from.
void maybe_delay(Line &line, Lock &lock) {
    if (!driver().config.reorder || line.choice() % 2 == 0)
        return;
    const std::chrono::microseconds late(line.choice() % 500);
    lock.unlock();
    std::this_thread::sleep_for(late);
    lock.lock();
}

/// Runs the command and publishes its results. Throws if the device is lost.
void perform(const Command &command, Lock &lock) {
    const std::uint64_t begin = device_ticks();
    if (command.work) {
        lock.unlock();
        try {
            command.work();
        } catch (...) {
            lock.lock();
            throw;
        }
        lock.lock();
    }
    if (command.then)
        command.then();
    if (command.signal) {
        const std::uint64_t first = low_bits(begin, kernel_timestamp_bits);
        const std::uint64_t last = low_bits(device_ticks(), kernel_timestamp_bits);
        command.signal->times = {{first, last}, {first, last}};
        command.signal->signalled = true;
    }
}

void run(Device &device, const Command &command, Lock &lock) {
    try {
        if (!device.lost)
            perform(command, lock);
    } catch (const Lost &lost) {
        device.lost = true;
        std::fprintf(stderr, "simulated Level Zero: device %zu is lost: %s\n", device.index,
                     lost.what());
    }
    for (const std::shared_ptr<Object> &object : command.uses)
        --object->in_flight;
}

void work_off(const std::shared_ptr<Line> &line) {
    Driver &all = driver();
    Lock lock(all.mutex);
    while (true) {
        all.changed.wait(lock, [&] {
            return line->commands.empty() ? line->closed : choose(*line) < line->commands.size();
        });
        if (line->commands.empty())
            return;
        maybe_delay(*line, lock);
        const size_t at = choose(*line);
        if (at == line->commands.size())
            continue; // an event was reset meanwhile
        Command command = std::move(line->commands[at]);
        line->commands.erase(line->commands.begin() + static_cast<std::ptrdiff_t>(at));
        line->running = command.number;
        run(*line->device, command, lock);
        line->running = 0;
        all.changed.notify_all();
    }
}

} // namespace

std::shared_ptr<Line> open_line(Device &device) {
    auto line = std::make_shared<Line>();
    line->device = &device;
    line->choice.seed(
        static_cast<unsigned>(driver().config.reorder.value_or(0) + driver().next_id++));
    std::thread([line] { work_off(line); }).detach();
    return line;
}

void close_line(Line &line) {
    line.closed = true;
    driver().changed.notify_all();
}

std::uint64_t submit(Line &line, Command command) {
    for (const std::shared_ptr<Event> &event : command.waits)
        command.uses.push_back(event);
    if (command.signal)
        command.uses.push_back(command.signal);
    for (const std::shared_ptr<Object> &object : command.uses)
        ++object->in_flight;
    command.number = ++line.submitted;
    line.commands.push_back(std::move(command));
    driver().changed.notify_all();
    return line.submitted;
}

} // namespace pi::level_zero::simulated
