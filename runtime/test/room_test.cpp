// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which replicas are evicted when memory is full, and which are not because it would not help.
#include "simulated.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <future>
#include <thread>

#include <malloc.h>

using namespace runtime_test;

namespace {

constexpr PlaceIndex place = 1;
constexpr uint64_t page = 4096;

/// A device with a large memory, of which an allocation may take only a part, and a small memory.
const TextFile &two_memories() {
    static const TextFile file(R"({"pi_machine": 1, "name": "two memories", "devices": [
        {"name": "dsp", "type": "accelerator", "scopes": [
            {"name": "global", "flags": ["poolable"], "capacity": 65536, "max_allocation": 16384},
            {"name": "scratchpad", "flags": ["poolable"], "capacity": 8192}]}],
        "links": [{"between": ["host", "dsp"], "bandwidth": "1 GB/s"}]})");
    return file;
}

/// Two devices, each with memory for one storage of two pages, which is too small to verify their
/// link.
const TextFile &two_small() {
    static const TextFile file(R"({"pi_machine": 1, "name": "two small", "devices": [
        {"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": 8192}]},
        {"name": "b", "type": "gpu", "scopes": [{"name": "global", "capacity": 8192}]}],
        "links": [{"between": ["host", "a"], "bandwidth": "1 GB/s"},
                  {"between": ["host", "b"], "bandwidth": "1 GB/s"},
                  {"between": ["a", "b"], "connection": "migratable", "bandwidth": "1 GB/s"}]})");
    return file;
}

/// Two devices that have a storage's bytes, until the first one is lost.
class Falling {
public:
    static constexpr PlaceIndex lost = 1, survivor = 2;
    static constexpr uint64_t size = 700'000;

    Falling() {
        for (const Storage *each : {&storage, &other}) {
            Acquisition writer = each->buffer().acquire(lost, Access::discard_write);
            writer.release(machine.fill(writer, 7).get());
        }
        storage.buffer().prefetch(survivor);
        REQUIRE(runtime.finish(patience));
    }
    /// Waits until the device is lost: the transfer to the survivor takes that long; another
    /// storage finds the loss.
    void fall() const {
        const Storage bytes(runtime, {.size = 300'000});
        while (machine.pass_time() < 10'000'000) {
            host_write(bytes.buffer(), 0, std::vector<uint8_t>(300'000, 0));
            bytes.buffer().prefetch(survivor);
            REQUIRE(runtime.finish(patience));
        }
        REQUIRE(code_of([&] { host_read(other.buffer()); }) == PI_ERROR_DEVICE_LOST);
        REQUIRE(runtime.finish(patience));
    }

private:
    const TextFile file_{R"({"pi_machine": 1, "name": "falling", "devices": [
        {"name": "lost", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}],
         "lost_at": "10 ms"},
        {"name": "survivor", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]}],
        "links": [{"between": ["host", "lost"], "bandwidth": "1 GB/s"},
                  {"between": ["host", "survivor"], "bandwidth": "1 GB/s"},
                  {"between": ["lost", "survivor"], "connection": "migratable",
                   "bandwidth": "1 GB/s"}]})"};

public:
    const Simulated machine{
        file_.path(), 1, {}, {}, false}; // verification takes longer than it lives
    const Runtime runtime{machine.topology(), {.verify_connections = false}};
    const Storage storage{runtime, {.size = size}};
    const Storage other{runtime, {.size = 1000}};
};

/// An event that stays unsignalled.
Event gate_at(const Simulated &machine, PlaceIndex where) {
    Event gate;
    OK(piEventCreateHost(machine.topology()->context(where), nullptr, gate.out()));
    return gate;
}

Storage resident(const Runtime &runtime, uint64_t size, const std::string &scope = "") {
    Storage storage(runtime, {.size = size, .scope = scope});
    storage.buffer().acquire(place, Access::discard_write).release();
    return storage;
}

pi_result code_of_use(const Storage &storage, PlaceIndex where = place) {
    return code_of([&] { storage.buffer().acquire(where, Access::discard_write).release(); });
}

/// Two devices; the route from the host to the second one is faster over the first.
const TextFile &fast_detour() {
    static const TextFile file(R"({"pi_machine": 1, "name": "fast detour", "devices": [
        {"name": "a", "type": "gpu",
         "scopes": [{"name": "global", "flags": ["poolable"], "capacity": "64 MiB"}]},
        {"name": "b", "type": "gpu",
         "scopes": [{"name": "global", "flags": ["poolable"], "capacity": "64 MiB"}]}],
        "links": [{"between": ["host", "a"], "bandwidth": "20 GB/s"},
                  {"between": ["host", "b"], "bandwidth": "2 GB/s"},
                  {"between": ["a", "b"], "connection": "migratable", "bandwidth": "20 GB/s"}]})");
    return file;
}

/// Transfers that use staging memory at a place; they are paused until this is destroyed.
class Stopped {
public:
    /// Starts the transfers, and pauses all posted work as soon as staging memory is in use.
    Stopped(const Runtime &runtime, PlaceIndex where, const std::function<void()> &begin)
        : runtime_(runtime), where_(where), storage_(runtime, {.size = 1}),
          ready_(storage_.buffer().acquire(host_place, Access::read)) {
        thread_ = std::thread([this, &begin] {
            ready_.on_ready([this, &begin](pi_result, const std::string &) {
                begin();
                look();
            });
        });
        stopped_.get_future().wait();
    }
    ~Stopped() {
        go_on_.set_value();
        thread_.join();
    }
    Stopped(const Stopped &) = delete;
    Stopped &operator=(const Stopped &) = delete;

private:
    /// Polls between any two steps of a transfer.
    void look() {
        ready_.on_ready([this](pi_result, const std::string &) {
            if (runtime_.pool_statistics(where_).bytes_in_use == 0) {
                look();
                return;
            }
            stopped_.set_value();
            go_on_.get_future().wait();
        });
    }

    const Runtime &runtime_;
    const PlaceIndex where_;
    const Storage storage_;
    const Acquisition ready_;
    std::promise<void> stopped_;
    std::promise<void> go_on_;
    std::thread thread_;
};

} // namespace

TEST_CASE("a full memory evicts from itself, however long others were not used",
          "[runtime][evict]") {
    const Simulated machine(two_memories().path());
    const Runtime runtime(machine.topology());
    const Storage oldest = resident(runtime, page);
    const Storage in_scratchpad = resident(runtime, 2 * page, "scratchpad");
    resident(runtime, page, "scratchpad");
    CHECK(runtime.counters().evictions == 1);
    CHECK(oldest.memory_of(place));
    CHECK_FALSE(in_scratchpad.memory_of(place));
}

TEST_CASE("a full memory that is all in use takes nothing from others", "[runtime][evict]") {
    const Simulated machine(two_memories().path());
    const Runtime runtime(machine.topology());
    const Storage idle = resident(runtime, page);
    const Storage used(runtime, {.size = 2 * page, .scope = "scratchpad"});
    const Acquisition held = used.buffer().acquire(place, Access::discard_write);
    const Storage next(runtime, {.size = page, .scope = "scratchpad"});
    CHECK(code_of_use(next) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(runtime.counters().evictions == 0);
    CHECK(idle.memory_of(place));
}

TEST_CASE("a storage that is larger than the largest allocation evicts nothing",
          "[runtime][evict]") {
    const Simulated machine(two_memories().path());
    const Runtime runtime(machine.topology());
    const Storage idle = resident(runtime, page);
    CHECK(code_of_use(Storage(runtime, {.size = 5 * page})) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(runtime.counters().evictions == 0);
    CHECK(idle.memory_of(place));
}

TEST_CASE(
    "inside a plugin's callback nothing is written back, since that might wait for the callback",
    "[runtime][evict]") {
    const Simulated machine(two_memories().path());
    const Runtime runtime(machine.topology());
    const bool is_dirty = GENERATE(true, false);
    INFO((is_dirty ? "dirty" : "clean"));
    const Storage idle(runtime, {.size = 2 * page, .scope = "scratchpad"});
    host_write(idle.buffer(), 0, pattern(2 * page, 1));
    {
        Acquisition use = idle.buffer().acquire(place, Access::read_write);
        use.wait(patience);
        is_dirty ? use.release(machine.fill(use, 2).get()) : use.abandon();
    }
    idle.buffer().acquire(is_dirty ? place : host_place, Access::read).wait(patience);
    REQUIRE(runtime.finish(patience));

    struct Callback {
        const Storage next;
        std::promise<pi_result> result{};
    } callback{Storage(runtime, {.size = page, .scope = "scratchpad"})};
    const Storage other = resident(runtime, page);
    Acquisition use = other.buffer().acquire(place, Access::discard_write);
    const Event filled = machine.fill(use, 3);
    use.release();
    OK(piEventSetCallback(
        filled.get(),
        [](pi_event, pi_result, void *data) {
            auto &self = *static_cast<Callback *>(data);
            self.result.set_value(code_of_use(self.next));
        },
        &callback));
    std::future<pi_result> result = callback.result.get_future();
    REQUIRE(result.wait_for(patience) == std::future_status::ready);
    CHECK(result.get() == (is_dirty ? PI_ERROR_OUT_OF_DEVICE_MEMORY : PI_SUCCESS));
    CHECK(runtime.counters().evictions == (is_dirty ? 0 : 1));
    CHECK(host_read(idle.buffer()) ==
          (is_dirty ? std::vector<uint8_t>(2 * page, 2) : pattern(2 * page, 1)));
}

TEST_CASE("the last good copy of bytes that are being written elsewhere stays until that is over",
          "[runtime][evict]") {
    constexpr PlaceIndex a = 1, b = 2;
    const Simulated machine(two_small().path());
    const Runtime runtime(machine.topology(), {.verify_connections = false});
    const Storage storage(runtime, {.size = 2 * page});
    {
        Acquisition writer = storage.buffer().acquire(a, Access::discard_write);
        writer.release(machine.fill(writer, 7).get());
    }
    storage.buffer().prefetch(b);
    REQUIRE(runtime.finish(patience));
    const Event gate = gate_at(machine, a);
    Acquisition writer = storage.buffer().acquire(a, Access::read_write);
    REQUIRE(wait(machine.fill(writer, 99)) == PI_SUCCESS); // the first command; the last will fail
    const Event last = machine.fill(writer, 98, gate.get());
    const Storage next(runtime, {.size = 2 * page});
    CHECK(code_of_use(next, b) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(runtime.counters().evictions == 0);
    writer.release(last.get());
    auto room = std::async(std::launch::async, [&] { return code_of_use(next, b); });
    OK(piEventSignalHost(gate.get(), PI_ERROR_BACKEND));
    CHECK(room.get() == PI_SUCCESS);
    CHECK(host_read(storage.buffer()) == std::vector<uint8_t>(2 * page, 7));
    CHECK(runtime.counters().bytes_written_back == 2 * page);
}

TEST_CASE("the copy of bytes that the host began to write is there when it gives up",
          "[runtime][evict]") {
    const Simulated machine(two_small().path());
    const Runtime runtime(machine.topology(), {.verify_connections = false});
    const Storage storage(runtime, {.size = 2 * page});
    host_write(storage.buffer(), 0, pattern(2 * page, 1));
    storage.buffer().prefetch(place);
    REQUIRE(runtime.finish(patience));
    const Storage next(runtime, {.size = 2 * page});
    {
        const Acquisition half = storage.buffer().acquire(host_place, Access::read_write);
        std::fill_n(half.pointer(), page, std::byte{99});
        CHECK(code_of_use(next) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    CHECK(code_of_use(next) == PI_SUCCESS);
    CHECK(host_read(storage.buffer()) == pattern(2 * page, 1));
}

TEST_CASE("a replica is written back when the only other copy is at a device that is lost",
          "[runtime][evict]") {
    const Falling m;
    m.fall();
    CHECK(code_of_use(Storage(m.runtime, {.size = Falling::size}), Falling::survivor) ==
          PI_SUCCESS);
    CHECK(m.runtime.counters().bytes_written_back == Falling::size);
    CHECK(m.storage.lost().empty());
    CHECK(host_read(m.storage.buffer()) == std::vector<uint8_t>(Falling::size, 7));
}

TEST_CASE("an abandoned write loses no bytes whose other copy is at a lost device", "[runtime]") {
    const Falling m;
    Acquisition writer = m.storage.buffer().acquire(Falling::survivor, Access::read_write);
    m.fall();
    writer.abandon();
    CHECK(m.storage.valid(Falling::survivor) == RangeSet({0, Falling::size}));
    CHECK(m.storage.lost().empty());
}

TEST_CASE("nothing is kept of a destroyed storage that had memory", "[runtime]") {
    const Simulated machine(two_memories().path());
    RuntimeOptions options;
    options.log_capacity = 0;
    const Runtime runtime(machine.topology(), options);
    const auto in_use_after = [&](int storages) {
        for (int count = 0; count < storages; ++count) {
            resident(runtime, page);
        }
        return mallinfo2().uordblks; // 0 where a sanitizer owns the heap
    };
    const size_t before = in_use_after(100);
    CHECK(in_use_after(2000) < before + 200'000);
}

TEST_CASE("a transfer that finds no memory for its staging on the way gets it there",
          "[runtime][evict]") {
    constexpr PlaceIndex from = 1, middle = 2, to = 3;
    constexpr uint64_t size = 1 << 20;
    const auto gpu = [](const std::string &name, const std::string &capacity) {
        return R"({"name": ")" + name + R"(", "type": "gpu", "scopes":
            [{"name": "global", "capacity": ")" +
               capacity + R"("}]})";
    };
    const TextFile file(R"({"pi_machine": 1, "name": "a chain", "devices": [)" +
                        gpu("from", "8 MiB") + "," + gpu("middle", "1 MiB") + "," +
                        gpu("to", "8 MiB") + R"(], "links": [
        {"between": ["host", "from"], "bandwidth": "10 MB/s"},
        {"between": ["host", "middle"], "bandwidth": "10 MB/s"},
        {"between": ["host", "to"], "bandwidth": "10 MB/s"},
        {"between": ["from", "middle"], "connection": "migratable", "bandwidth": "1 GB/s"},
        {"between": ["middle", "to"], "connection": "migratable", "bandwidth": "1 GB/s"}]})");
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology());
    const Storage clean(runtime, {.size = size}),
        others[] = {{runtime, {.size = size}}, {runtime, {.size = size}}};
    for (const Storage *each : {&clean, &others[0], &others[1]}) {
        host_write(each->buffer(), 0, pattern(size, 1));
    }
    clean.buffer().prefetch(middle);
    others[0].buffer().prefetch(from);
    others[1].buffer().prefetch(to);
    const Storage storage(runtime, {.size = size, .routes = mask_of(RouteKind::migrate)});
    {
        Acquisition writer = storage.buffer().acquire(from, Access::discard_write);
        writer.release(machine.fill(writer, 7).get());
    }
    REQUIRE(runtime.finish(patience));
    CHECK(device_read(machine, storage.buffer(), to) == std::vector<uint8_t>(size, 7));
    CHECK(runtime.counters().evictions == 1);
    CHECK_FALSE(clean.memory_of(middle));
    CHECK(host_read(clean.buffer()) == pattern(size, 1));
}

TEST_CASE("making room waits neither for held acquisitions nor for what waits for them",
          "[runtime][evict]") {
    constexpr PlaceIndex a = 1, b = 2;
    const Simulated machine(two_small().path());
    const Runtime runtime(machine.topology(), {.verify_connections = false});
    const Storage storage(runtime, {.size = 2 * page});
    const Buffer buffer = storage.buffer();
    const auto write_at_a = [&](uint8_t value) {
        Acquisition writer = buffer.acquire(a, Access::discard_write);
        writer.release(machine.fill(writer, value).get());
    };
    const auto in_another_thread = [](auto work) {
        return std::async(std::launch::async, work).get();
    };
    const Storage next(runtime, {.size = 2 * page});
    write_at_a(1);
    SECTION("a write that overtakes what is there") {
        const Acquisition held = buffer.acquire(host_place, Access::discard_write, 0, 10);
        CHECK(code_of_use(next) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    SECTION("a reader of what the bytes are written back to") {
        const Acquisition held =
            in_another_thread([&] { return buffer.acquire(host_place, Access::read); });
        REQUIRE(runtime.finish(patience));
        write_at_a(2);
        REQUIRE(runtime.finish(patience));
        CHECK(code_of_use(next) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
        CHECK(storage.valid(a) == RangeSet({0, 2 * page}));
    }
    SECTION("a copy behind a reader") {
        const Acquisition held = buffer.acquire(b, Access::read);
        REQUIRE(runtime.finish(patience));
        write_at_a(2);
        in_another_thread([&] { buffer.prefetch(b); });
        CHECK(code_of_use(next) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    REQUIRE(runtime.finish(patience));
    const std::vector<uint8_t> before = host_read(buffer);
    CHECK(code_of_use(next) == PI_SUCCESS);
    CHECK(host_read(buffer) == before);
}

TEST_CASE("an acquire waits for the staging memory of other transfers, and they lose nothing",
          "[runtime][evict]") {
    constexpr PlaceIndex detour = 1, to = 2;
    constexpr uint64_t size = 40 << 20;
    const Simulated machine(fast_detour().path());
    const Runtime runtime(machine.topology());
    const Storage moved(runtime, {.size = size});
    host_write(moved.buffer(), 0, pattern(size, 1));
    const Storage large(runtime, {.size = 64 << 20}); // all of it
    std::future<pi_result> use;
    {
        const Stopped stopped(runtime, detour, [&] { moved.buffer().prefetch(to); });
        use = std::async(std::launch::async, [&] { return code_of_use(large, detour); });
        CHECK(use.wait_for(std::chrono::milliseconds(100)) == std::future_status::timeout);
    }
    CHECK(use.get() == PI_SUCCESS);
    CHECK(device_read(machine, moved.buffer(), to) == pattern(size, 1));
    CHECK(runtime.counters().failed_attempts == 0);
}
