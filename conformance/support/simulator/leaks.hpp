// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace pi::drivers {

/// At the end of the process: prints a line on standard error for each leak of that driver. With
/// `strict` and any leak, the process exits with 70.
void report_leaks(const char *driver, const std::vector<std::string> &leaks, bool strict);

/// Whether the process was forked from the one that loaded the driver. The driver cannot be used
/// then: its threads are gone, and locks that they held stay locked.
bool is_forked();

/// Adds "3 streams of device 0", or "3 streams" without `of`; nothing for 0.
void add_leaks(std::vector<std::string> &lines, std::size_t count, const char *one,
               const std::string &of = {});

/// How many of the objects, by key, are of the context.
template <class Objects, class Context>
std::size_t count_of(const Objects &objects, const Context &context) {
    return static_cast<std::size_t>(
        std::count_if(objects.begin(), objects.end(),
                      [&](const auto &entry) { return entry.second->context.get() == &context; }));
}

/// For the driver's destructor function, after the program's static objects are destroyed: objects
/// alive now are leaks. `all_leaks` is called under the driver's lock.
template <class Driver, class AllLeaks>
void report_at_exit(const char *name, Driver &(*driver)(), AllLeaks all_leaks) {
    if (is_forked())
        return;
    Driver &all = driver();
    std::vector<std::string> lines;
    {
        const std::lock_guard lock(all.mutex);
        lines = all_leaks();
    }
    report_leaks(name, lines, all.config.strict);
}

/// Writes the lines into `text`, of at most `size` bytes with the final 0; nothing if it is NULL.
/// Returns the number of leaks.
int copy_leaks(const std::vector<std::string> &leaks, char *text, std::size_t size);

} // namespace pi::drivers
