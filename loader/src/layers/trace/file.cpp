// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "file.hpp"

#include "layers/json_text.hpp"
#include "layers/output_file.hpp"
#include "log.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>

#include <pthread.h>
#include <unistd.h>

namespace pi::loader::trace {
namespace {

constexpr std::string_view header = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
constexpr std::string_view footer = "\n]}\n";

// Larger than any process ID of the system.
constexpr int64_t process_step = int64_t{1} << 23;

std::string microseconds(uint64_t nanoseconds) {
    return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

std::string begin_of(const char *phase, const Track &track, uint64_t time) {
    return fmt::format("{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{}", phase, track.process,
                       track.thread, microseconds(time));
}

std::string metadata(const char *what, const Track &track, const std::string &name) {
    return fmt::format(
        "{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{\"name\":{}}}}}",
        track.process, track.thread, what, json_text(name));
}

} // namespace

uint64_t now() noexcept {
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

TraceFile::TraceFile(const std::string &path, Log &log)
    : log_(log), file_(open_output(path, "trace", "PI_TRACE_FILE", "nothing is traced", log)),
      process_(::getpid()) {
    if (!is_open())
        return;
    if (!write_at(header, 0))
        return; // report_failure() will say why
    end_ = header.size();
    write(metadata("process_name", {process_, 0}, "host threads"));
}

TraceFile::~TraceFile() {
    report_failure();
}

void TraceFile::report_failure() noexcept {
    if (failure_.load(std::memory_order_relaxed) == 0)
        return;
    if (const int error = failure_.exchange(0))
        log_.warn("trace: {}: nothing more is traced", std::strerror(error));
}

bool TraceFile::write_at(std::string_view text, uint64_t offset) noexcept {
    while (!text.empty()) {
        const ssize_t written =
            ::pwrite(file_.get(), text.data(), text.size(), static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            failure_ = written < 0 ? errno : ENOSPC;
            // Makes the file valid again, if there is space for that.
            if (::ftruncate(file_.get(), static_cast<off_t>(end_)) == 0)
                static_cast<void>(
                    !::pwrite(file_.get(), footer.data(), footer.size(), static_cast<off_t>(end_)));
            file_ = FileDescriptor(-1);
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
        offset += static_cast<uint64_t>(written);
    }
    return true;
}

void TraceFile::write(std::string_view events) noexcept {
    try {
        fmt::memory_buffer text;
        const std::scoped_lock lock(mutex_);
        if (!is_open())
            return;
        fmt::format_to(std::back_inserter(text), "{}{}{}", empty_ ? "" : ",\n", events, footer);
        if (write_at({text.data(), text.size()}, end_)) {
            end_ += text.size() - footer.size();
            empty_ = false;
        }
    } catch (const std::bad_alloc &) {
        // Loses one event.
    }
}

Track TraceFile::host_track() {
    static thread_local const int64_t thread = ::gettid();
    bool first;
    {
        const std::scoped_lock lock(mutex_);
        first = threads_.insert(thread).second;
    }
    const Track track{process_, thread};
    if (first) {
        char name[16] = "thread";
        ::pthread_getname_np(::pthread_self(), name, sizeof name);
        name_track(track, name);
    }
    return track;
}

int64_t TraceFile::add_process(const std::string &name) {
    int64_t process;
    {
        const std::scoped_lock lock(mutex_);
        process = process_ + process_step * ++processes_;
    }
    write(metadata("process_name", {process, 0}, name));
    return process;
}

void TraceFile::name_track(const Track &track, const std::string &name) {
    write(metadata("thread_name", track, name));
}

void TraceFile::slice(const Track &track, std::string_view name, std::string_view category,
                      uint64_t begin, uint64_t end, std::string_view arguments) {
    write(fmt::format("{},\"dur\":{},\"name\":{},\"cat\":{},\"args\":{{{}}}}}",
                      begin_of("X", track, begin), microseconds(end - begin), json_text(name),
                      json_text(category), arguments));
}

Lanes::Lanes(TraceFile &file, Process &process, std::string name)
    : file_(file), process_(process), name_(std::move(name)) {
    add(0);
}

Track Lanes::add(uint64_t end) {
    lanes_.push_back({{process_.number, ++process_.tracks}, end});
    file_.name_track(lanes_.back().track, name_);
    return lanes_.back().track;
}

Track Lanes::take(uint64_t begin, uint64_t end) {
    for (Lane &lane : lanes_) {
        if (lane.free_from <= begin) {
            lane.free_from = end;
            return lane.track;
        }
    }
    return add(end);
}

Track TraceFile::find_lane(const std::string &group, const std::string &track, uint64_t begin,
                           uint64_t end) {
    const std::scoped_lock lock(groups_mutex_);
    auto known = groups_.find(group);
    if (known == groups_.end())
        known = groups_.emplace(group, Group{{add_process(group)}}).first;
    Group &of = known->second;
    return of.lanes.try_emplace(track, *this, of.process, track).first->second.take(begin, end);
}

void TraceFile::span(const std::string &group, const std::string &track, std::string_view name,
                     std::string_view category, uint64_t begin, uint64_t end,
                     std::string_view arguments) {
    slice(find_lane(group, track, begin, end), name, category, begin, end, arguments);
}

void TraceFile::arrow(const char *name, uint64_t id, const Track &from, uint64_t from_time,
                      const Track &to, uint64_t to_time) {
    const std::string same = fmt::format("\"name\":\"{0}\",\"cat\":\"{0}\",\"id\":{1}", name, id);
    write(fmt::format("{},{}}},\n{},{},\"bp\":\"e\"}}", begin_of("s", from, from_time), same,
                      begin_of("f", to, to_time), same));
}

} // namespace pi::loader::trace
