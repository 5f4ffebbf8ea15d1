// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The answers of the connection queries. connection_*.cpp test whether they are true.

#include "checks.hpp"
#include "host_memory.hpp"
#include "link.hpp"
#include "regions.hpp"
#include "registry.hpp"
#include "second_loader.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>

namespace pi::suite {
namespace {

CONFORMANCE_TEST_PAIRS("connection", "a place is unified with itself") {
    for (const Place &place : {fixture.src(), fixture.dst()})
        require_equal(fixture.connection(place, place), PI_MEMORY_CONNECTION_UNIFIED,
                      "the connection of a place with itself");
}

// Checks an answer by itself.
void require_sound(const pi_memory_connection_info &info, const std::string &what) {
    const struct {
        const char *name;
        uint32_t value;
        uint32_t last;
    } fields[] = {
        {"connection", info.connection, PI_MEMORY_CONNECTION_UNIFIED},
        {"coherence", info.coherence, PI_COHERENCE_MAP_UNMAP},
        {"atomics", info.atomics, 1},
        {"residency", info.residency, PI_RESIDENCY_MIGRATES_WHOLE_OBJECT},
        {"concurrent_writers", info.concurrent_writers, PI_CONCURRENT_WRITERS_DISJOINT_BYTES},
        {"path", info.path, PI_COPY_PATH_STAGED_BY_PLUGIN},
        {"preferred_queue", info.preferred_queue, PI_PREFERRED_QUEUE_DST},
        {"link_kind", info.link_kind, PI_LINK_OTHER},
        {"reserved", info.reserved, 0},
        {"verified", info.verified, PI_VERIFIED_UNKNOWN},
        {"reserved2", info.reserved2, 0},
    };
    for (const auto &field : fields)
        require(field.value <= field.last, what, ": ", field.name, " is ", field.value,
                ", the list ends with ", field.last);
    require_equal(info.struct_size, uint32_t{sizeof info}, what + ": struct_size");
    require_equal(info.type, pi_struct_type{PI_TYPE_MEMORY_CONNECTION_INFO}, what + ": type");
    const auto *const end = std::find(std::begin(info.channels), std::end(info.channels), 0u);
    require(
        std::all_of(end, std::end(info.channels), [](uint64_t channel) { return channel == 0; }),
        what, ": a channel comes after a 0, which ends their list");
    require_equal(std::set<uint64_t>(std::begin(info.channels), end).size(),
                  static_cast<size_t>(end - std::begin(info.channels)),
                  what + ": how many channels are different");
    require(std::memchr(info.reason, 0, sizeof info.reason) != nullptr, what,
            ": the reason does not end");
    require(info.reason[0] != '\0', what, ": there is no reason");
    require(info.verified_text[0] == '\0', what,
            ": verified_text is the loader's, and a plugin leaves it empty");
}

CONFORMANCE_TEST_PAIRS(
    "connection",
    "piGetMemoryConnectionInfo agrees with piGetMemoryConnection and gives a reason") {
    const pi_memory_connection answer = fixture.connection(fixture.src(), fixture.dst());
    const pi_memory_connection_info without =
        connection_info(fixture.src(), fixture.dst(), nullptr);
    require_sound(without, "the info for query NULL");
    require_equal(without.connection, answer, "the info's connection for query NULL");
    const auto query = pi::desc<pi_memory_connection_query>();
    const pi_memory_connection_info with = connection_info(fixture.src(), fixture.dst(), &query);
    require_sound(with, "the info for buffers in scope 0");
    require_equal(with.connection, answer, "the info's connection for buffers in scope 0");
    require(std::memcmp(&with, &without, sizeof with) == 0,
            "the info for query NULL is not that for buffers in scope 0");
}

// The info of a place to itself: where nothing is unknown, only this is true.
void require_own(const pi_memory_connection_info &info, pi_memory_kind kind,
                 const std::string &what) {
    require_equal(info.connection, PI_MEMORY_CONNECTION_UNIFIED, what);
    // Other kinds may be in the host's memory, or move.
    const bool of_device = kind == PI_MEMORY_KIND_BUFFER || kind == PI_MEMORY_KIND_USM_DEVICE;
    require(!of_device || info.residency == PI_RESIDENCY_UNKNOWN ||
                info.residency == PI_RESIDENCY_SAME_MEMORY,
            what, ": residency is ", info.residency, ", but both ends are one");
    require(info.coherence == PI_COHERENCE_UNKNOWN || info.coherence == PI_COHERENCE_COHERENT, what,
            ": coherence is ", info.coherence, ", but both ends are one");
}

// Of memory of src's device alone: within a device nothing crosses a link or moves, and devices
// with memory of their own do not share it.
void require_residency(Fixture &fixture, const pi_memory_connection_info &info,
                       pi_memory_kind kind) {
    if (kind != PI_MEMORY_KIND_BUFFER || info.connection != PI_MEMORY_CONNECTION_UNIFIED)
        return;
    const pi_device src = fixture.src().device, dst = fixture.dst().device;
    const auto own_memory = [](pi_device device) {
        return info_or(&piDeviceGetInfo, device, PI_DEVICE_INFO_INTEGRATED, 1u) == 0;
    };
    if (src == dst)
        require(info.residency == PI_RESIDENCY_UNKNOWN ||
                    info.residency == PI_RESIDENCY_SAME_MEMORY,
                "residency is ", info.residency, ", but both ends are one device");
    else if (own_memory(src) && own_memory(dst))
        require(info.residency != PI_RESIDENCY_SAME_MEMORY,
                "residency is PI_RESIDENCY_SAME_MEMORY, but both devices have their own");
}

CONFORMANCE_TEST_PAIRS(
    "connection",
    "each kind of memory has a connection, which is NONE for kinds that the plugin lacks") {
    const struct {
        pi_memory_kind kind;
        uint64_t capability;
        pi_usm_kind usm; // 0 for none
    } kinds[] = {{PI_MEMORY_KIND_BUFFER, 0, 0},
                 {PI_MEMORY_KIND_IMAGE, PI_CAPABILITY_IMAGE, 0},
                 {PI_MEMORY_KIND_USM_HOST, PI_CAPABILITY_USM, PI_USM_HOST},
                 {PI_MEMORY_KIND_USM_DEVICE, PI_CAPABILITY_USM, PI_USM_DEVICE},
                 {PI_MEMORY_KIND_USM_SHARED, PI_CAPABILITY_USM, PI_USM_SHARED},
                 {PI_MEMORY_KIND_IMPORTED, PI_CAPABILITY_MEM_IMPORT, 0}};
    uint32_t kinds_of_usm = 0;
    if (fixture.can(PI_CAPABILITY_USM, fixture.src().device))
        kinds_of_usm = get_info<uint32_t>(&piDeviceGetInfo, fixture.src().device,
                                          PI_DEVICE_INFO_USM_CAPABILITIES);
    for (const auto &[kind, capability, usm] : kinds) {
        auto query = pi::desc<pi_memory_connection_query>();
        query.kind = kind;
        pi_memory_connection_info info{};
        const pi_result result = try_connection_info(fixture.src(), fixture.dst(), &query, info);
        if (result != PI_SUCCESS) {
            require(kind != PI_MEMORY_KIND_BUFFER,
                    "there is no answer for buffers: ", last_error());
            require_error(result, PI_ERROR_UNSUPPORTED_FEATURE, "the info for kind ", kind);
            continue;
        }
        require_sound(info, join("the info for kind ", kind));
        const bool has =
            fixture.can(capability, fixture.src().device) &&
            (kind != PI_MEMORY_KIND_IMPORTED || import_alignment(fixture, fixture.src().device)) &&
            (usm == 0 || (kinds_of_usm & (1u << usm)) != 0);
        if (!has)
            require_equal(info.connection, PI_MEMORY_CONNECTION_NONE,
                          join("the connection of kind ", kind, ", which src does not have"));
        require_residency(fixture, info, kind);
        if (has && kind != PI_MEMORY_KIND_IMAGE && fixture.relation() == Relation::one_place)
            require_own(info, kind, join("the connection of kind ", kind, " with its own place"));
    }
}

CONFORMANCE_TEST_PAIRS("connection",
                       "connections stay the same while many threads query and use them") {
    const pi_memory_connection answer = fixture.connection(fixture.src(), fixture.dst());
    const pi_memory_connection_info info = connection_info(fixture.src(), fixture.dst(), nullptr);
    const auto ask_again = [&] {
        require_equal(fixture.connection(fixture.src(), fixture.dst()), answer,
                      "the connection on the second call");
        const pi_memory_connection_info again =
            connection_info(fixture.src(), fixture.dst(), nullptr);
        require(std::memcmp(&again, &info, sizeof info) == 0,
                "the info is another one on the second call");
    };
    fixture.run_threads(4, [&](unsigned) {
        for (int i = 0; i < 300; ++i)
            ask_again();
    });
    const Bytes bytes = fixture.random_bytes(4096);
    for (const Place &place : {fixture.src(), fixture.dst()}) {
        const Mem mem = fixture.make_buffer(place, bytes);
        const Queue queue = fixture.make_queue(place);
        ask_again();
        fixture.require_contents(queue, mem, bytes, "a buffer between two questions");
    }
    ask_again();
}

CONFORMANCE_TEST_PAIRS("connection",
                       "many threads may be the first to query a connection, and get one answer") {
    const pi_memory_connection answer = fixture.connection(fixture.src(), fixture.dst());
    const bool one_context = fixture.src().context == fixture.dst().context;
    for (int round = 0; round < 5; ++round) {
        std::vector<pi_device> devices{fixture.src().device};
        if (one_context && fixture.dst().device != fixture.src().device)
            devices.push_back(fixture.dst().device);
        const Context own = fixture.make_context(devices);
        const Context second =
            one_context ? Context{} : fixture.make_context({fixture.dst().device});
        const Place src{fixture.src().device, own};
        const Place dst{fixture.dst().device, one_context ? own.get() : second.get()};
        fixture.run_threads(8, [&](unsigned thread) {
            // Half of them ask for the whole answer, and half of those the other way round first.
            if (thread % 4 == 3)
                fixture.connection(dst, src);
            if (thread % 2 == 0)
                require_equal(fixture.connection(src, dst), answer, "the first answer of a thread");
            else
                require_equal(connection_info(src, dst, nullptr).connection, answer,
                              "the first whole answer of a thread");
        });
        const Mem mem = fixture.make_buffer(src, fixture.random_bytes(64));
        const Queue queue = fixture.make_queue(dst);
        const Regions beyond{linear(0, 0, 65)};
        Bytes host(65);
        require(try_enqueue(queue, read_desc(mem, host, beyond)) != PI_SUCCESS,
                "a read past a buffer's end succeeded");
        require_equal(fixture.connection(src, dst), answer, "the answer after a refused command");
    }
}

// ----- Questions that must be refused -----

void require_refused(const std::string &what, const Place &src, const Place &dst,
                     std::initializer_list<pi_result> allowed) {
    require_untouched<pi_memory_connection>(
        "piGetMemoryConnection with " + what, allowed, [&](pi_memory_connection *out) {
            return piGetMemoryConnection(src.device, src.context, dst.device, dst.context, out);
        });
    auto info = poison<pi_memory_connection_info>();
    info.struct_size = sizeof info;
    info.type = PI_TYPE_MEMORY_CONNECTION_INFO;
    info.next = nullptr;
    const pi_memory_connection_info before = info;
    require_error(
        piGetMemoryConnectionInfo(src.device, src.context, dst.device, dst.context, nullptr, &info),
        allowed, "piGetMemoryConnectionInfo with ", what);
    require(std::memcmp(&info, &before, sizeof info) == 0, "piGetMemoryConnectionInfo with ", what,
            ": failed, but wrote its output");
}

CONFORMANCE_TEST_PAIRS("connection",
                       "a device that its context does not have is refused at each end") {
    if (fixture.relation() != Relation::two_devices_two_contexts)
        skip("each device is of both contexts");
    const Place src = fixture.src();
    const Place dst = fixture.dst();
    const std::initializer_list<pi_result> allowed{PI_ERROR_INVALID_DEVICE};
    require_refused("src's device in dst's context", {src.device, dst.context}, dst, allowed);
    require_refused("dst's device in src's context", src, {dst.device, src.context}, allowed);
    require_refused("both in each other's context", {src.device, dst.context},
                    {dst.device, src.context}, allowed);
}

CONFORMANCE_TEST("connection",
                 "a device that the context was not made with is refused at each end") {
    const Place home = fixture.place();
    std::vector<pi_device> outside = fixture.devices();
    outside.erase(outside.begin());
    pi_device sub_device = nullptr;
    if (fixture.can(PI_CAPABILITY_PARTITION)) {
        auto desc = pi::desc<pi_device_partition_desc>();
        desc.kind = PI_PARTITION_EQUALLY;
        desc.count = 1;
        if (piDevicePartition(fixture.device(), &desc, 1, &sub_device, nullptr) == PI_SUCCESS &&
            sub_device != nullptr)
            outside.push_back(sub_device);
    }
    const Owner<pi_device> owner(sub_device);
    if (outside.empty())
        skip("there is one device, which cannot be partitioned");
    for (const pi_device device : outside) {
        const Place wrong{device, home.context};
        require_refused("src's device not of its context", wrong, home, {PI_ERROR_INVALID_DEVICE});
        require_refused("dst's device not of its context", home, wrong, {PI_ERROR_INVALID_DEVICE});
    }
}

CONFORMANCE_TEST("connection",
                 "a handle that is not a device or a context is refused at each end") {
    const Place home = fixture.place();
    const Queue queue = fixture.make_queue();
    const auto wrong_device = reinterpret_cast<pi_device>(queue.get());
    const auto wrong_context = reinterpret_cast<pi_context>(queue.get());
    for (const pi_device device : {pi_device{nullptr}, wrong_device}) {
        const Place wrong{device, home.context};
        require_refused("no device of src", wrong, home, {PI_ERROR_INVALID_DEVICE});
        require_refused("no device of dst", home, wrong, {PI_ERROR_INVALID_DEVICE});
    }
    for (const pi_context context : {pi_context{nullptr}, wrong_context}) {
        const Place wrong{home.device, context};
        require_refused("no context of src", wrong, home, {PI_ERROR_INVALID_CONTEXT});
        require_refused("no context of dst", home, wrong, {PI_ERROR_INVALID_CONTEXT});
    }
}

CONFORMANCE_TEST("connection", "an output of NULL is refused") {
    const Place place = fixture.place();
    require_error(
        piGetMemoryConnection(place.device, place.context, place.device, place.context, nullptr),
        PI_ERROR_INVALID_NULL_POINTER, "piGetMemoryConnection with out_connection NULL");
    require_error(piGetMemoryConnectionInfo(place.device, place.context, place.device,
                                            place.context, nullptr, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piGetMemoryConnectionInfo with out_info NULL");
}

CONFORMANCE_TEST("connection", "a query obeys the rules of descriptors") {
    const Place place = fixture.place();
    check_descriptor(
        "piGetMemoryConnectionInfo", pi::desc<pi_memory_connection_query>(), 0,
        [&](const pi_memory_connection_query *query) {
            pi_memory_connection_info info{};
            return try_connection_info(place, place, query, info);
        },
        true);
}

CONFORMANCE_TEST("connection",
                 "an unknown kind of memory is refused, and an unknown scope has no connection") {
    const Place place = fixture.place();
    for (const uint32_t kind : {uint32_t{PI_MEMORY_KIND_IMPORTED} + 1, UINT32_MAX}) {
        auto query = pi::desc<pi_memory_connection_query>();
        query.kind = kind;
        pi_memory_connection_info info{};
        require_error(try_connection_info(place, place, &query, info), PI_ERROR_INVALID_ENUMERATION,
                      "a query of kind ", kind);
    }
    const auto scopes = static_cast<uint32_t>(fixture.scopes().size());
    for (const bool of_src : {true, false}) {
        auto query = pi::desc<pi_memory_connection_query>();
        (of_src ? query.src_scope : query.dst_scope) = scopes;
        pi_memory_connection_info info{};
        const pi_result result = try_connection_info(place, place, &query, info);
        // pi.h does not say which: an error, or a scope without a connection.
        if (result == PI_SUCCESS)
            require_equal(info.connection, PI_MEMORY_CONNECTION_NONE,
                          "the connection of a scope that there is not");
        else
            require_error(result, {PI_ERROR_INVALID_VALUE, PI_ERROR_UNSUPPORTED_FEATURE},
                          "a query of a scope that there is not");
    }
}

// ----- Two instances of the plugin -----

CONFORMANCE_TEST("connection", "two plugin instances have no connection") {
    const SecondLoader second(fixture);
    const Place home = fixture.place();
    const Place another = second.place();
    for (const auto &[src, dst] : {std::pair{home, another}, std::pair{another, home}}) {
        require_equal(fixture.connection(src, dst), PI_MEMORY_CONNECTION_NONE,
                      "the connection between two plugin instances");
        const pi_memory_connection_info info = connection_info(src, dst, nullptr);
        require_sound(info, "the info between two plugin instances");
        require_equal(info.connection, PI_MEMORY_CONNECTION_NONE,
                      "the info's connection between two plugin instances");
    }
    require_equal(fixture.connection(another, another), PI_MEMORY_CONNECTION_UNIFIED,
                  "the connection of a place of the second instance with itself");
    const std::initializer_list<pi_result> allowed{PI_ERROR_INVALID_DEVICE,
                                                   PI_ERROR_INVALID_CONTEXT};
    require_refused("src's context of another instance than its device",
                    {home.device, another.context}, home, allowed);
    require_refused("dst's device of another instance than its context", home,
                    {another.device, home.context}, allowed);
}

} // namespace
} // namespace pi::suite
