// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "migration.hpp"

#include "memory.hpp"
#include "plugin.hpp"

#include <algorithm>
#include <tuple>

namespace pi::sim {

// ----- WriteLog ----------------------------------------------------------------------------------

WriteLog::Writer::Writer(WriteLog &log, uint64_t known)
    : log_(log), known_([&] {
          std::lock_guard lock(log.known_mutex_);
          return log.known_.insert(known);
      }()) {}

WriteLog::Writer::~Writer() {
    std::lock_guard lock(log_.known_mutex_);
    log_.known_.erase(known_);
}

bool WriteLog::collide(const Writer::When &a, const Writer::When &b) {
    return a.device != b.device && (a.migrates || b.migrates) &&
           std::max(a.start, b.start) < std::min(a.end, b.end);
}

bool WriteLog::later(const Writer::When &a, const Writer::When &b) {
    const auto order = [](const Writer::When &when) {
        return std::tuple(when.end, when.start, when.device);
    };
    return order(a) > order(b);
}

bool WriteLog::lost(const Record &record) const {
    return std::any_of(records_.begin(), records_.end(), [&](const Record &other) {
        return collide(record.when, other.when) && later(other.when, record.when);
    });
}

void WriteLog::add(const Writer::When &when, std::span<const std::byte> before,
                   std::span<std::byte> object) {
    uint64_t earliest; // the earliest start of a write that is still to be added
    {
        std::lock_guard lock(known_mutex_);
        earliest = *known_.begin();
    }
    std::erase_if(records_, [&](const Record &one) { return one.when.end <= earliest; });
    Record record{when, {}};
    for (uint64_t at = 0; at < object.size(); ++at) {
        const uint64_t begin = at;
        while (at < object.size() && before[at] != object[at])
            ++at;
        const auto changed = [&](std::span<const std::byte> bytes) {
            const auto part = bytes.subspan(begin, at - begin);
            return std::vector<std::byte>(part.begin(), part.end());
        };
        if (at != begin)
            record.changes.push_back({begin, changed(before), changed(object)});
    }
    records_.push_back(std::move(record));
    if (std::any_of(records_.begin(), records_.end(),
                    [&](const Record &one) { return collide(one.when, when); }))
        settle(object);
}

/// Undoes all writes in the order in which they really happened, and repeats the surviving ones in
/// that of the virtual clock.
void WriteLog::settle(std::span<std::byte> object) const {
    const auto put = [&](uint64_t offset, const std::vector<std::byte> &bytes) {
        std::copy(bytes.begin(), bytes.end(), object.begin() + static_cast<std::ptrdiff_t>(offset));
    };
    std::vector<const Record *> left;
    for (auto record = records_.rbegin(); record != records_.rend(); ++record) {
        for (const Change &change : record->changes)
            put(change.offset, change.before);
        if (!lost(*record))
            left.push_back(&*record);
    }
    std::sort(left.begin(), left.end(),
              [](const Record *a, const Record *b) { return later(b->when, a->when); });
    for (const Record *record : left)
        for (const Change &change : record->changes)
            put(change.offset, change.after);
}

// ----- Commands ----------------------------------------------------------------------------------

namespace {

bool migrates(const Device &owner, const Device &user) {
    const Link *link = owner.instance().links().find(owner.site(), user.site());
    return link && link->spec().residency == PI_RESIDENCY_MIGRATES_WHOLE_OBJECT;
}

/// A command that writes objects that migrate. It locks them in the order of the list.
struct Writing {
    Writing(const Device &device, Work::Body the_body) : user(device), body(std::move(the_body)) {}

    struct Object {
        sdk::Ref<Mem> mem; ///< a root
        std::unique_ptr<WriteLog::Writer> writer;
    };

    void run(size_t index, uint64_t bytes, sdk::Event &event) {
        if (index == objects.size())
            return body(bytes, event);
        const Timeline &timeline = user.instance().timeline();
        const Times &times = *TimesPayload::of(event);
        const auto &[mem, writer] = objects[index];
        writer->write(
            {std::max(timeline.profiling(times, PI_PROFILING_START), timeline.over_before(times)),
             timeline.profiling(times, PI_PROFILING_END), user.site(),
             migrates(mem->device(), user)},
            {mem->storage().data(), mem->storage().size()}, [&] { run(index + 1, bytes, event); });
    }

    const Device &user;
    const Work::Body body;
    std::vector<Object> objects;
};

} // namespace

std::unique_ptr<WriteLog> make_write_log(const Device &owner) {
    for (const auto &device : owner.platform().devices())
        if (migrates(owner, *device))
            return std::make_unique<WriteLog>();
    return nullptr;
}

Work::Body writing(const Queue &queue, std::vector<Mem *> written, Work::Body body) {
    for (Mem *&mem : written)
        mem = mem->root() ? mem->root() : mem;
    std::erase_if(written, [](const Mem *mem) { return !mem->writes(); });
    if (written.empty())
        return body;
    // The same order for all commands, so that no two wait for each other; each object once.
    std::sort(written.begin(), written.end(), std::less<>());
    written.erase(std::unique(written.begin(), written.end()), written.end());
    auto command = std::make_shared<Writing>(queue.device(), std::move(body));
    const uint64_t known = queue.device().instance().timeline().known_time();
    for (Mem *mem : written)
        command->objects.push_back(
            {sdk::Ref<Mem>(*mem), std::make_unique<WriteLog::Writer>(*mem->writes(), known)});
    return [command](uint64_t bytes, sdk::Event &event) { command->run(0, bytes, event); };
}

} // namespace pi::sim
