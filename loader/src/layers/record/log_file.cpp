// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "layers/record/log_file.hpp"

#include "layers/json_text.hpp"
#include "layers/output_file.hpp"
#include "layers/record/format.hpp"
#include "log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/utsname.h>
#include <unistd.h>

namespace pi::loader::record {
namespace {

std::string header() {
    utsname system{};
    ::uname(&system);
    JsonObject machine;
    machine.add("host", json_text(system.nodename))
        .add("system",
             json_text(fmt::format("{} {} {}", system.sysname, system.release, system.machine)));
    return JsonObject()
        .add("pi_record", json_text(format_version))
        .add("abi", json_text(fmt::format("{}.{}", PI_VERSION_MAJOR, PI_VERSION_MINOR)))
        .add("machine", machine.text())
        .text();
}

} // namespace

LogFile::LogFile(const std::string &path, Log &log)
    : log_(log), file_(open_output(path, "record", "PI_RECORD_FILE", "nothing is recorded", log)) {
    if (is_open())
        write(header());
}

uint64_t LogFile::find(const void *handle) {
    const std::scoped_lock lock(mutex_);
    const auto [place, added] = objects_.try_emplace(handle, ids_ + 1);
    ids_ += added ? 1 : 0;
    return place->second;
}

uint64_t LogFile::make(const void *handle) {
    const std::scoped_lock lock(mutex_);
    return objects_[handle] = ++ids_;
}

uint64_t LogFile::pixel_bytes(pi_mem image) {
    const std::scoped_lock lock(mutex_);
    const auto found = pixels_.find(image);
    return found != pixels_.end() ? found->second : 0;
}

void LogFile::add_image(pi_mem image, uint64_t pixel_bytes) {
    const std::scoped_lock lock(mutex_);
    pixels_[image] = pixel_bytes;
}

uint64_t LogFile::add_usm(const void *base, uint64_t size) {
    const std::scoped_lock lock(mutex_);
    usm_[reinterpret_cast<std::uintptr_t>(base)] = {++ids_, size};
    return ids_;
}

std::optional<UsmPlace> LogFile::find_usm(const void *address) {
    const std::scoped_lock lock(mutex_);
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    auto after = usm_.upper_bound(at);
    if (after == usm_.begin())
        return std::nullopt;
    const auto &[base, usm] = *--after;
    return at - base < usm.size ? std::optional(UsmPlace{usm.id, at - base}) : std::nullopt;
}

void LogFile::remove_usm(uint64_t id) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(usm_, [&](const auto &usm) { return usm.second.id == id; });
}

uint64_t LogFile::thread() {
    static thread_local const int64_t number = ::gettid();
    const std::scoped_lock lock(mutex_);
    return threads_.try_emplace(number, threads_.size()).first->second;
}

uint64_t LogFile::add_map(pi_mem mem, Map map) {
    const std::scoped_lock lock(mutex_);
    map.id = ++ids_;
    maps_[mem].push_back(map);
    return map.id;
}

std::optional<Map> LogFile::find_map(pi_mem mem, const void *pointer) {
    const std::scoped_lock lock(mutex_);
    const auto of_mem = maps_.find(mem);
    if (of_mem == maps_.end() || pointer == nullptr)
        return std::nullopt;
    const Map *unknown = nullptr;
    std::size_t unknown_count = 0;
    for (const Map &map : of_mem->second) {
        if (map.pointer == pointer)
            return map;
        if (map.pointer == nullptr) {
            unknown = &map;
            ++unknown_count;
        }
    }
    return unknown_count == 1 ? std::optional(*unknown) : std::nullopt;
}

void LogFile::remove_map(pi_mem mem, const Map &map) {
    const std::scoped_lock lock(mutex_);
    const auto of_mem = maps_.find(mem);
    if (of_mem == maps_.end())
        return;
    std::vector<Map> &maps = of_mem->second;
    const auto found = std::find_if(maps.begin(), maps.end(),
                                    [&](const Map &other) { return other.id == map.id; });
    if (found != maps.end())
        maps.erase(found);
    if (maps.empty())
        maps_.erase(of_mem);
}

uint64_t LogFile::line_count() {
    const std::scoped_lock lock(mutex_);
    return lines_;
}

uint64_t LogFile::write(std::string line) {
    line += '\n';
    int error = 0;
    uint64_t number = 0;
    {
        const std::scoped_lock lock(mutex_);
        error = put(line);
        number = ++lines_;
    }
    report_end(error);
    return number;
}

// Never under a lock: the application's log callback may make calls, which are recorded.
void LogFile::report_end(int error) noexcept {
    if (error != 0)
        log_.warn("record: {}: nothing more is recorded", std::strerror(error));
}

int LogFile::put(std::string_view rest) noexcept {
    if (!is_open())
        return 0;
    int error = 0;
    while (!rest.empty()) {
        const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            error = written < 0 ? errno : ENOSPC;
            break;
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    if (error != 0)
        file_ = FileDescriptor(-1);
    return error;
}

void LogFile::lose(const char *function) noexcept {
    const std::scoped_lock lock(mutex_);
    if (lost_++ == 0)
        first_lost_ = function;
}

void LogFile::report() noexcept {
    uint64_t lost = 0;
    const char *first = nullptr;
    {
        const std::scoped_lock lock(mutex_);
        lost = std::exchange(lost_, 0);
        first = first_lost_;
    }
    if (lost != 0)
        log_.warn("record: out of memory: {} calls, the first a call of {}, are not in the log",
                  lost, first);
}

} // namespace pi::loader::record
