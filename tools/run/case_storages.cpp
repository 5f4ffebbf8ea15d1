// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "case_storages.hpp"

#include "constants.hpp"
#include "verdict.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/pi.hpp>
#include <pi/runtime/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>
#include <utility>

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

/// Enqueues a command between the host and an acquisition at a device, `skip` bytes behind its
/// beginning.
template <typename Desc, typename Bytes>
Event move_bytes(const Acquisition &acquisition, pi_queue queue, Bytes *bytes, uint64_t size,
                 uint64_t skip, std::span<const pi_event> after,
                 pi_result (*enqueue)(pi_queue, const Desc *, uint32_t, const pi_event *,
                                      pi_event *)) {
    pi_region region{};
    region.extent[0] = size;
    auto desc = pi::desc<Desc>();
    desc.mem = acquisition.mem();
    desc.host_ptr = bytes;
    desc.region_count = 1;
    desc.regions = &region;
    if constexpr (std::is_same_v<Desc, pi_buffer_write_desc>)
        region.dst_offset = acquisition.offset() + skip;
    else
        region.src_offset = acquisition.offset() + skip;
    Event event;
    check(enqueue(queue, &desc, static_cast<uint32_t>(after.size()), after.data(), event.out()),
          "the command on the acquired bytes");
    if (piEventWait(event.get(), case_patience) == PI_ERROR_TIMEOUT)
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

/// The bits of names joined by commas: route kinds or bounce styles.
template <typename Name>
uint64_t mask_of_names(const std::string &names, uint32_t count, Name name) {
    uint64_t mask = 0;
    for (std::size_t begin = 0; begin <= names.size();) {
        const std::size_t end = std::min(names.find(',', begin), names.size());
        const std::string word = names.substr(begin, end - begin);
        uint32_t bit = 0;
        while (bit < count && (word.empty() || underscored(name(bit)) != word))
            ++bit;
        if (bit == count)
            throw Refusal(fmt::format("\"{}\" is not a route or style", word));
        mask |= uint64_t{1} << bit;
        begin = end + 1;
    }
    return mask;
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
    if (statement.verb == "runtime") {
        set_options(statement);
    } else if (statement.verb == "storage") {
        open(places);
        make(statement);
    } else if (statement.verb == "acquire" || statement.verb == "prefetch") {
        access(statement);
    } else if (statement.verb == "broadcast") {
        broadcast(statement);
    } else if (statement.verb == "release" && names_storage) {
        storages_.erase(statement.words[0]);
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

CaseStorages::CaseStorages(bool verified) {
    options_.verify_connections = verified;
    options_.log_up_to_date = true;
}

void CaseStorages::set_options(Statement &statement) {
    if (runtime_)
        throw Refusal("runtime comes before the first storage");
    const std::pair<const char *, uint64_t RuntimeOptions::*> numbers[] = {
        {"staging_limit", &RuntimeOptions::staging_limit},
        {"bounce_limit", &RuntimeOptions::bounce_limit},
        {"pool_limit", &RuntimeOptions::pool_limit}};
    for (const auto &[name, member] : numbers) {
        if (const auto value = statement.take(name))
            options_.*member = number_of(*value);
    }
    if (const auto value = statement.take("copy_after_repeated_use"))
        options_.copy_after_repeated_use = *value != "false";
    if (!statement.members.empty() || !statement.words.empty())
        throw Refusal("runtime [staging_limit=N] [bounce_limit=N] [pool_limit=N] "
                      "[copy_after_repeated_use=false]");
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
        runtime_.emplace(Topology::from_places(given), options_);
        if (options_.verify_connections)
            runtime_->verify_connections();
    });
}

void CaseStorages::make(Statement &statement) {
    if (statement.names.size() != 1 || statement.words.size() > 1)
        throw Refusal("NAME = storage <bytes>, or: NAME = storage size=N");
    StorageDescriptor descriptor;
    descriptor.name = statement.names[0];
    if (!statement.words.empty()) {
        const std::vector<unsigned char> bytes = bytes_of(statement.words[0]);
        // From a page on, so that every device may import it.
        constexpr uint64_t page = 4096;
        std::vector<unsigned char> &room = host_memory_.emplace_back(bytes.size() + page);
        unsigned char *const memory =
            room.data() + (page - reinterpret_cast<std::uintptr_t>(room.data()) % page) % page;
        std::copy(bytes.begin(), bytes.end(), memory);
        descriptor.host_memory = memory;
        if (statement.take("size"))
            throw Refusal("storage <bytes> has their size");
        descriptor.size = bytes.size();
    }
    if (const auto size = statement.take("size"))
        descriptor.size = number_of(*size);
    if (const auto alignment = statement.take("alignment"))
        descriptor.alignment = number_of(*alignment);
    if (const auto scope = statement.take("scope"))
        descriptor.scope = *scope;
    if (const auto read_only = statement.take("read_only"))
        descriptor.read_only = *read_only == "true";
    if (const auto routes = statement.take("routes"))
        descriptor.routes =
            static_cast<RouteMask>(mask_of_names(*routes, route_kind_count, [](uint32_t i) {
                return to_string(static_cast<RouteKind>(i));
            }));
    if (const auto styles = statement.take("styles"))
        descriptor.styles =
            static_cast<StyleMask>(mask_of_names(*styles, bounce_style_count, [](uint32_t i) {
                return to_string(static_cast<BounceStyle>(i));
            }));
    if (!statement.members.empty())
        throw Refusal(fmt::format("storage has no member {}; it has size, alignment, scope, "
                                  "read_only, routes, styles",
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
    const PlaceIndex place = place_of(words[2]);
    const uint64_t offset = number_of(statement.take("offset").value_or("0"));
    const auto size = statement.take("size");
    uint64_t bytes = used.size() > offset ? used.size() - offset : 0;
    if (words.size() > 4)
        bytes = bytes_of(words[4]).size();
    if (size)
        bytes = number_of(*size);
    return {words[0], used.buffer(offset, bytes), place,
            place == host_place ? nullptr : places_[place - 1].queue, offset};
}

PlaceIndex CaseStorages::place_of(const std::string &name) const {
    const auto place = std::find_if(places_.begin(), places_.end(),
                                    [&](const Place &row) { return row.name == name; });
    if (place == places_.end() && name != "host")
        throw Refusal(fmt::format("there is no place {}, or it comes behind the first storage; the "
                                  "bare host is \"host\"",
                                  name));
    return place == places_.end() ? host_place
                                  : static_cast<PlaceIndex>(1 + (place - places_.begin()));
}

void CaseStorages::use_bytes(const Use &use, Access access, const std::vector<unsigned char> &bytes,
                             uint64_t from, std::vector<unsigned char> &got) {
    const bool reads = !got.empty();
    Acquisition acquisition = use.buffer.acquire(use.place, access);
    acquisition.wait(patience);
    if (use.place == host_place) {
        std::byte *const pointer = acquisition.pointer();
        const auto *const seen = reinterpret_cast<const unsigned char *>(pointer);
        std::copy(seen, seen + got.size(), got.begin());
        std::copy(bytes.begin(), bytes.end(), reinterpret_cast<unsigned char *>(pointer) + from);
        acquisition.release();
        return;
    }
    Event event;
    std::vector<pi_event> after = acquisition.events(use.queue);
    if (reads) {
        event = move_bytes(acquisition, use.queue, got.data(), got.size(), 0, after,
                           &piEnqueueMemBufferRead);
        after = {event.get()};
    }
    if (!bytes.empty()) {
        Event written = move_bytes(acquisition, use.queue, bytes.data(), bytes.size(), from, after,
                                   &piEnqueueMemBufferWrite);
        event = std::move(written);
    }
    acquisition.release(event.get());
    if (event.get() != nullptr)
        check(piEventWait(event.get(), 0), "the command on the acquired bytes");
}

void CaseStorages::access(Statement &statement) {
    const auto route = statement.take("route");
    const auto moved = statement.take("moved");
    const auto reads = statement.take("reads");
    const auto from = statement.take("from");
    const bool abandoned = statement.take("abandoned").has_value();
    const bool prefetches = statement.verb == "prefetch";
    const Access access = prefetches ? Access::read : access_of(statement);
    const bool has_bytes = statement.words.size() > 4;
    if (reads && access == Access::discard_write)
        throw Refusal("a discard-write sees no bytes");
    if (access != Access::read && !has_bytes && !abandoned && statement.fails.empty())
        throw Refusal("a write needs its <bytes>");
    if (!runtime_)
        throw Refusal("no storage: a line like \"s = storage size=64\" is missing");
    finish();
    runtime_->clear_log();
    const uint64_t before = link_bytes(runtime_->counters());
    with_result(statement.fails, [&] {
        const Use use = use_of(statement);
        if (!statement.members.empty())
            throw Refusal(fmt::format("{} has no member {}; it has offset, size, reads, from, "
                                      "route, moved",
                                      statement.verb, statement.members[0].first));
        if (prefetches)
            return use.buffer.prefetch(use.place);
        if (abandoned)
            return use.buffer.acquire(use.place, access).wait(patience);
        std::vector<unsigned char> expected, bytes;
        if (has_bytes)
            (access == Access::read ? expected : bytes) = bytes_of(statement.words[4]);
        if (reads)
            expected = bytes_of(*reads);
        const uint64_t first = from ? number_of(*from) : use.offset;
        const uint64_t end = use.offset + use.buffer.size();
        if (first < use.offset || first > end || bytes.size() > end - first)
            throw Refusal(fmt::format("the range has the bytes {} to {}; these go from {} to {}",
                                      use.offset, end, first, first + bytes.size()));
        if (!expected.empty() && expected.size() != use.buffer.size())
            throw Refusal(fmt::format("the range has {} bytes, the expectation {}",
                                      use.buffer.size(), expected.size()));
        const bool sees = access == Access::read || !expected.empty();
        std::vector<unsigned char> got(sees ? use.buffer.size() : 0);
        use_bytes(use, access, bytes, first - use.offset, got);
        require_equal(fmt::format("{} at {}", use.storage, statement.words[2]), use.offset,
                      expected, got);
    });
    finish();
    const auto log = [&] { return to_string(runtime_->log(), runtime_->topology().description()); };
    const std::string routes = routes_of(runtime_->log());
    const auto mask = [](const std::string &names) {
        return mask_of_names(names, route_kind_count,
                             [](uint32_t i) { return to_string(static_cast<RouteKind>(i)); });
    };
    if (route && mask(routes) != mask(*route))
        throw Failure(fmt::format("expected the route {}, got {}:\n{}", *route, routes, log()));
    const uint64_t crossed = link_bytes(runtime_->counters()) - before;
    if (moved && crossed != number_of(*moved))
        throw Failure(
            fmt::format("expected {} bytes over links, got {}:\n{}", *moved, crossed, log()));
}

/// broadcast STORAGE at PLACE,PLACE [offset=N] [size=N]
void CaseStorages::broadcast(Statement &statement) {
    if (statement.words.size() != 3 || statement.words[1] != "at")
        throw Refusal("broadcast STORAGE at PLACE,PLACE");
    std::vector<PlaceIndex> places;
    std::string first;
    std::istringstream names(statement.words[2]);
    for (std::string name; std::getline(names, name, ',');) {
        places.push_back(place_of(name));
        first = name;
    }
    statement.words[2] = first;
    with_result(statement.fails, [&] { use_of(statement).buffer.broadcast(places); });
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
