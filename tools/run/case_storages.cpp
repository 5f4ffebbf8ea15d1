// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "case_storages.hpp"

#include "constants.hpp"
#include "verdict.hpp"

#include <pi/pi.hpp>
#include <pi/runtime/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

namespace pi_run {
namespace {

using namespace pi::runtime;

constexpr std::chrono::nanoseconds patience{case_patience};

/// Runs a part that must fail with a code, or with "" must succeed.
template <typename Part>
void with_result(const std::string &fails, Part &&part) {
    std::optional<pi_result> expected;
    if (!fails.empty()) {
        expected = find_result(fails);
        if (!expected)
            throw Refusal(fmt::format("{} is not a result of pi.h", fails));
    }
    try {
        part();
    } catch (const Error &error) {
        if (expected == error.code())
            return;
        if (error.code() == PI_ERROR_UNSUPPORTED_FEATURE)
            throw Unsupported(error.what());
        throw Failure(fmt::format("expected {}, got {}: {}",
                                  result_name(expected.value_or(PI_SUCCESS)),
                                  result_name(error.code()), error.what()));
    }
    if (expected && *expected != PI_SUCCESS)
        throw Failure(fmt::format("expected {}, got PI_SUCCESS", result_name(*expected)));
}

/// Copies bytes between the host and an acquisition at a device, and waits for it. The event's
/// command has ended when the acquisition is released with it.
template <typename Desc, typename Bytes>
Event move_bytes(const Acquisition &acquisition, pi_queue queue, pi_struct_type type, Bytes *bytes,
                 uint64_t size,
                 pi_result (*enqueue)(pi_queue, const Desc *, uint32_t, const pi_event *,
                                      pi_event *)) {
    pi_region region{};
    region.extent[0] = size;
    Desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = type;
    desc.mem = acquisition.mem();
    desc.host_ptr = bytes;
    desc.region_count = 1;
    desc.regions = &region;
    if constexpr (std::is_same_v<Desc, pi_buffer_write_desc>)
        region.dst_offset = acquisition.offset();
    else
        region.src_offset = acquisition.offset();
    const std::vector<pi_event> &after = acquisition.events(queue);
    Event event;
    check(enqueue(queue, &desc, static_cast<uint32_t>(after.size()), after.data(), event.out()),
          "the command on the acquired bytes");
    const pi_result result = piEventWait(event.get(), case_patience);
    if (result == PI_ERROR_TIMEOUT)
        throw Hang("the command on the acquired bytes does not end within 20 s");
    return event;
}

uint64_t link_bytes(const Counters &counters) {
    uint64_t sum = 0;
    for (const auto &[link, bytes] : counters.link_bytes)
        sum += bytes;
    return sum;
}

std::string underscored(std::string name) {
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
}

std::string routes_of(const std::vector<TransferRecord> &log) {
    std::set<std::string> routes;
    for (const TransferRecord &record : log)
        routes.insert(underscored(to_string(record.kind)));
    return fmt::format("{}", fmt::join(routes, ","));
}

} // namespace

bool CaseStorages::run(Statement &statement, std::span<const Place> places) {
    const bool names_storage = !statement.words.empty() && storages_.count(statement.words[0]) != 0;
    if (statement.verb == "storage") {
        open(places);
        make(statement);
    } else if (statement.verb == "acquire" || statement.verb == "prefetch") {
        access(statement);
    } else if (statement.verb == "expect" && names_storage) {
        expect(statement);
    } else {
        return false;
    }
    return true;
}

/// The access of an acquire.
static Access access_of(const Statement &statement) {
    const std::string word = statement.words.size() > 3 ? statement.words[3] : "";
    for (const Access access :
         {Access::read, Access::write, Access::read_write, Access::discard_write}) {
        if (word == to_string(access))
            return access;
    }
    throw Refusal(
        fmt::format("\"{}\" is not an access: read, write, read-write, discard-write", word));
}

void CaseStorages::finish() {
    if (runtime_ && !runtime_->finish(patience))
        throw Hang("the runtime's transfers do not end within 20 s");
}

void CaseStorages::open(std::span<const Place> places) {
    if (runtime_) {
        if (places.size() != places_.size())
            throw Refusal("all places come before the first storage");
        return;
    }
    places_.assign(places.begin(), places.end());
    std::vector<pi::runtime::Place> given;
    for (const Place &place : places_)
        given.push_back({place.device, place.context, place.name});
    with_result("", [&] {
        RuntimeOptions options;
        options.verify_connections = verified_;
        options.log_up_to_date = true;
        runtime_.emplace(Topology::from_places(given), options);
        if (verified_)
            runtime_->verify_connections();
    });
}

void CaseStorages::make(Statement &statement) {
    if (statement.names.size() != 1 || statement.words.size() > 1)
        throw Refusal("NAME = storage <bytes>, or: NAME = storage size=N");
    StorageDescriptor descriptor;
    descriptor.name = statement.names[0];
    if (!statement.words.empty()) {
        host_memory_.push_back(bytes_of(statement.words[0]));
        descriptor.host_memory = host_memory_.back().data();
        descriptor.size = host_memory_.back().size();
    }
    if (const auto size = statement.take("size"))
        descriptor.size = number_of(*size);
    if (const auto alignment = statement.take("alignment"))
        descriptor.alignment = number_of(*alignment);
    if (const auto scope = statement.take("scope"))
        descriptor.scope = *scope;
    if (const auto read_only = statement.take("read_only"))
        descriptor.read_only = *read_only == "true";
    if (!statement.members.empty())
        throw Refusal(fmt::format("storage has no member {}; it has size, alignment, scope, "
                                  "read_only",
                                  statement.members[0].first));
    with_result(statement.fails, [&] {
        if (!storages_.emplace(descriptor.name, Storage(*runtime_, descriptor)).second)
            throw Refusal(fmt::format("the name {} is in use", descriptor.name));
    });
}

Storage &CaseStorages::storage(const std::string &name) {
    const auto found = storages_.find(name);
    if (found == storages_.end())
        throw Refusal(fmt::format("{} is not a storage", name));
    return found->second;
}

/// STORAGE at PLACE [ACCESS] [<bytes>] [offset=N] [size=N]
CaseStorages::Use CaseStorages::use_of(Statement &statement) {
    std::vector<std::string> &words = statement.words;
    if (words.size() < 3 || words[1] != "at")
        throw Refusal(statement.verb == "prefetch"
                          ? "prefetch STORAGE at PLACE"
                          : "acquire STORAGE at PLACE ACCESS <bytes>, for example: acquire s at a "
                            "read <00*64>");
    Storage &used = storage(words[0]);
    const auto place = std::find_if(places_.begin(), places_.end(),
                                    [&](const Place &row) { return row.name == words[2]; });
    if (place == places_.end() && words[2] != "host")
        throw Refusal(fmt::format("{} is not a place; the bare host is \"host\"", words[2]));
    const uint64_t offset = number_of(statement.take("offset").value_or("0"));
    const auto size = statement.take("size");
    uint64_t bytes = used.size() > offset ? used.size() - offset : 0;
    if (words.size() > 4)
        bytes = bytes_of(words[4]).size();
    if (size)
        bytes = number_of(*size);
    return {words[0], used.buffer(offset, bytes),
            place == places_.end() ? host_place
                                   : static_cast<PlaceIndex>(1 + (place - places_.begin())),
            place == places_.end() ? nullptr : place->queue, offset};
}

void CaseStorages::access(Statement &statement) {
    const auto route = statement.take("route");
    const auto moved = statement.take("moved");
    const bool prefetches = statement.verb == "prefetch";
    const Access access = prefetches ? Access::read : access_of(statement);
    const bool has_bytes = statement.words.size() > 4;
    if (access != Access::read && !has_bytes && statement.fails.empty())
        throw Refusal("a write needs its <bytes>");
    if (!runtime_)
        throw Refusal("no storage: a line like \"s = storage size=64\" is missing");
    finish();
    runtime_->clear_log();
    const uint64_t before = link_bytes(runtime_->counters());
    std::vector<unsigned char> bytes;
    uint64_t offset = 0;
    with_result(statement.fails, [&] {
        const Use use = use_of(statement);
        offset = use.offset;
        if (!statement.members.empty())
            throw Refusal(fmt::format("{} has no member {}; it has offset, size, route, moved",
                                      statement.verb, statement.members[0].first));
        if (prefetches) {
            use.buffer.prefetch(use.place);
            return;
        }
        const bool fetches = access == Access::read;
        if (has_bytes)
            bytes = bytes_of(statement.words[4]);
        std::vector<unsigned char> got(use.buffer.size());
        Acquisition acquisition = use.buffer.acquire(use.place, access);
        acquisition.wait(patience);
        if (use.place == host_place) {
            std::byte *const pointer = acquisition.pointer();
            fetches ? std::memcpy(got.data(), pointer, got.size())
                    : std::memcpy(pointer, bytes.data(), bytes.size());
            acquisition.release();
        } else {
            const Event event =
                fetches ? move_bytes(acquisition, use.queue, PI_TYPE_BUFFER_READ_DESC, got.data(),
                                     got.size(), &piEnqueueMemBufferRead)
                        : move_bytes(acquisition, use.queue, PI_TYPE_BUFFER_WRITE_DESC,
                                     bytes.data(), bytes.size(), &piEnqueueMemBufferWrite);
            acquisition.release(event.get());
            check(piEventWait(event.get(), 0), "the command on the acquired bytes");
        }
        if (fetches && has_bytes)
            require_equal(fmt::format("{} at {}", use.storage, statement.words[2]), offset, bytes,
                          got);
    });
    finish();
    const std::string routes = routes_of(runtime_->log());
    if (route && routes != *route)
        throw Failure(fmt::format("expected the route {}, got {}:\n{}", *route, routes,
                                  to_string(runtime_->log(), runtime_->topology().description())));
    const uint64_t crossed = link_bytes(runtime_->counters()) - before;
    if (moved && crossed != number_of(*moved))
        throw Failure(fmt::format("expected {} bytes over links, got {}:\n{}", *moved, crossed,
                                  to_string(runtime_->log(), runtime_->topology().description())));
}

void CaseStorages::expect(Statement &statement) {
    finish();
    const Storage &used = storage(statement.words[0]);
    const auto lost = statement.take("lost");
    const auto moved = statement.take("moved");
    if (statement.words.size() != 1 || !statement.members.empty() || (!lost && !moved))
        throw Refusal("expect STORAGE moved=BYTES, or: expect STORAGE lost=BYTES; acquire compares "
                      "bytes");
    const auto require = [&](const char *what, const std::optional<std::string> &expected,
                             uint64_t got) {
        if (expected && number_of(*expected) != got)
            throw Failure(fmt::format("{}: expected {} bytes {}, got {}", statement.words[0],
                                      *expected, what, got));
    };
    require("lost", lost, used.lost().bytes());
    require("moved", moved, link_bytes(used.counters()));
}

} // namespace pi_run
