// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The core of adapters (pi/runtime/facade.hpp), in contexts over two plugin instances: the devices
// of a simulated machine, and the host plugin's device.
#include "equipment.hpp"

#include "native_kernel.hpp"
#include "platform_fixture.hpp"
#include "temporary.hpp"
#include "test_program.hpp"

#include <pi/runtime/facade.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace runtime_test;
using facade::Command;
using facade::Memory;
using facade::Part;
using facade::UsmRange;

namespace {

using Bytes = std::vector<uint8_t>;
using MemoryPtr = std::shared_ptr<Memory>;

constexpr uint64_t size = 4096;
/// The views of gpu1's buffers begin at multiples of it.
constexpr uint64_t alignment = 256;

/// Indices of the devices.
constexpr size_t gpu0 = 0, gpu1 = 1, host = 2;

std::string two_gpus(const std::string &faults) {
    return R"({"pi_machine": 1, "name": "two", "devices": [
        {"name": "gpu0", "type": "gpu", "scopes": [{"name": "global", "capacity": "4 MiB"}]},
        {"name": "gpu1", "type": "gpu", "scopes": [{"name": "global", "capacity": "4 MiB",
         "offset_alignment": )" +
           std::to_string(alignment) + R"(}]}],
        "links": [{"from": "host", "to": "gpu0", "bandwidth": "10 GB/s"},
                  {"from": "gpu0", "to": "host", "bandwidth": "10 GB/s"},
                  {"from": "host", "to": "gpu1", "bandwidth": "10 GB/s"},
                  {"from": "gpu1", "to": "host", "bandwidth": "10 GB/s"}],
        "faults": [)" +
           faults + "]}";
}

/// gpu0 and gpu1 of the sim plugin, and the host plugin's device. `faults`: of the machine file.
class Plugins {
public:
    explicit Plugins(const std::string &faults = {}) {
        const pi_test::TextFile file(two_gpus(faults));
        const char *const paths[] = {PI_TEST_SIM_PLUGIN, PI_TEST_HOST_PLUGIN};
        const pi_loader_option option{"PI_SIM_MACHINE", file.path().c_str()};
        auto desc = pi::desc<pi_loader_desc>();
        desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
        desc.plugins = paths;
        desc.plugin_count = 2;
        desc.options = &option;
        desc.option_count = 1;
        OK(piLoaderCreate(&desc, loader_.out()));
        devices.resize(3);
        uint32_t count = 0;
        OK(piLoaderSelectDevices(loader_, "sim", 2, devices.data(), &count));
        REQUIRE(count == 2);
        devices[host] = host_device(loader_);
    }
    /// Nothing of the test's is left.
    ~Plugins() { CHECK(piLoaderRelease(loader_.take()) == PI_SUCCESS); }
    Plugins(const Plugins &) = delete;

    std::shared_ptr<facade::Context> context(const std::vector<size_t> &of,
                                             bool always_storages = false) const {
        std::vector<pi_device> list;
        for (const size_t index : of) {
            list.push_back(devices.at(index));
        }
        facade::ContextOptions options;
        options.always_storages = always_storages;
        return std::make_shared<facade::Context>(list, options);
    }

private:
    Loader loader_;

public:
    std::vector<pi_device> devices;
};

/// A context and a queue of each of its devices.
struct Bench {
    explicit Bench(std::shared_ptr<facade::Context> of) : context(std::move(of)) {
        for (const pi_device device : context->devices()) {
            queues.push_back(std::make_unique<facade::Queue>(context, device, uint64_t{0}));
        }
    }
    const facade::Queue &queue(size_t index = 0) const { return *queues.at(index); }
    const facade::Queue &last() const { return *queues.back(); }
    MemoryPtr buffer(const Bytes &bytes) const {
        // A copy, since the bytes are the caller's to change after the call.
        Bytes copy = bytes;
        return Memory::create(context, {PI_MEM_COPY_HOST_PTR, copy.size(), copy.data()});
    }

    std::shared_ptr<facade::Context> context;
    std::vector<std::unique_ptr<facade::Queue>> queues;
};

/// Contexts whose buffers are a pi_mem, and those whose buffers are storages, of one plugin
/// instance and of two.
struct Shape {
    const char *name;
    std::vector<size_t> devices;
    bool always_storages = false;
};
const std::vector<Shape> &shapes() {
    static const std::vector<Shape> all{
        {"one device", {gpu0}},
        {"the host's device", {host}},
        {"one device with storages", {gpu0}, true},
        {"one plugin", {gpu0, gpu1}},
        {"two plugins", {gpu0, host}},
        {"the host first", {host, gpu0}},
        {"all", {gpu1, host, gpu0}},
    };
    return all;
}
template <class Test>
void in_each_shape(Test test) {
    for (const Shape &shape : shapes()) {
        INFO(shape.name);
        const Plugins plugins;
        const Bench bench(plugins.context(shape.devices, shape.always_storages));
        test(bench);
    }
}

pi_result result_of(const facade::Event &event) {
    return piEventWait(event.get(), std::chrono::nanoseconds(patience).count());
}

facade::Event write(const facade::Queue &queue, const Memory &memory, uint64_t offset,
                    const Bytes &bytes, Access access = Access::discard_write) {
    Command command(queue);
    const auto use = command.use(memory, access, offset, bytes.size());
    const Command::Operand at = command.operand(use);
    const pi_region region = pi_test::range(0, at.offset, bytes.size());
    return command.enqueue("write", piEnqueueMemBufferWrite,
                           pi_test::write_desc(at.mem, bytes.data(), region, PI_COMMAND_BLOCKING),
                           true);
}

Bytes read(const facade::Queue &queue, const Memory &memory, uint64_t offset, uint64_t count) {
    Bytes bytes(count);
    Command command(queue);
    const auto use = command.use(memory, Access::read, offset, count);
    const Command::Operand at = command.operand(use);
    const pi_region region = pi_test::range(at.offset, 0, count);
    command.enqueue("read", piEnqueueMemBufferRead,
                    pi_test::read_desc(at.mem, bytes.data(), region, PI_COMMAND_BLOCKING), false);
    return bytes;
}
Bytes read(const facade::Queue &queue, const Memory &memory) {
    return read(queue, memory, 0, memory.size());
}

/// Each byte of a range becomes the value.
facade::Event fill(Command &command, const Memory &memory, Access access, uint64_t offset,
                   uint64_t count, uint8_t value, uint64_t pattern_size = 1) {
    const Bytes pattern_bytes(pattern_size, value);
    const auto use = command.use(memory, access, offset, count);
    const Command::Operand at = command.operand(use);
    return command.enqueue(
        "fill", piEnqueueMemBufferFill,
        pi_test::fill_desc(at.mem, pattern_bytes.data(), pattern_size, at.offset, count), true);
}
facade::Event fill(const facade::Queue &queue, const Memory &memory, uint64_t offset,
                   uint64_t count, uint8_t value) {
    Command command(queue);
    return fill(command, memory, Access::discard_write, offset, count, value);
}

Bytes with(Bytes bytes, uint64_t offset, const Bytes &part) {
    std::copy(part.begin(), part.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    return bytes;
}
Bytes part_of(const Bytes &bytes, uint64_t offset, uint64_t count) {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

const void *address(uintptr_t value) {
    return reinterpret_cast<const void *>(value);
}

} // namespace

// ----- Tables ----------------------------------------------------------------------------------

TEST_CASE("an allocation is found by every address in it, and by no other", "[facade]") {
    facade::UsmRanges ranges;
    CHECK(!ranges.find(address(0x1000)));
    ranges.add({0x1000, 0x100, PI_USM_DEVICE, nullptr, nullptr});
    ranges.add({0x1100, 0x10, PI_USM_HOST, nullptr, nullptr}); // a neighbour
    ranges.add({0x2000, 1, PI_USM_SHARED, nullptr, nullptr});
    CHECK(ranges.size() == 3);
    const auto kind_at = [&](uintptr_t at) {
        const auto found = ranges.find(address(at));
        return found ? found->kind : pi_usm_kind{};
    };
    CHECK(kind_at(0xfff) == 0);
    CHECK(kind_at(0x1000) == PI_USM_DEVICE);
    CHECK(kind_at(0x10ff) == PI_USM_DEVICE);
    CHECK(kind_at(0x1100) == PI_USM_HOST);
    CHECK(kind_at(0x110f) == PI_USM_HOST);
    CHECK(kind_at(0x1110) == 0);
    CHECK(kind_at(0x2000) == PI_USM_SHARED);
    CHECK(kind_at(0x2001) == 0);
    CHECK(kind_at(0) == 0);
    CHECK(kind_at(UINTPTR_MAX) == 0);

    CHECK(!ranges.remove(address(0x1001))); // inside
    CHECK(!ranges.remove(address(0x3000)));
    const auto removed = ranges.remove(address(0x1000));
    REQUIRE(removed);
    CHECK(removed->size == 0x100);
    CHECK(kind_at(0x1000) == 0);
    CHECK(kind_at(0x1100) == PI_USM_HOST);
    CHECK(!ranges.remove(address(0x1000)));
    CHECK(ranges.size() == 2);
}

TEST_CASE("an allocation that ends with the address space is found", "[facade]") {
    facade::UsmRanges ranges;
    ranges.add({UINTPTR_MAX - 0xf, 0x10, PI_USM_HOST, nullptr, nullptr});
    CHECK(ranges.find(address(UINTPTR_MAX)));
    CHECK(!ranges.find(address(UINTPTR_MAX - 0x10)));
}

TEST_CASE("allocations are found while other threads add and remove theirs", "[facade]") {
    facade::UsmRanges ranges;
    const auto work = [&ranges](uintptr_t base) {
        bool found = true;
        for (int round = 0; round < 1000; ++round) {
            ranges.add({base, 0x100, PI_USM_HOST, nullptr, nullptr});
            const auto range = ranges.find(address(base + 0xff));
            found = found && range && range->base == base && ranges.remove(address(base)) &&
                    !ranges.find(address(base));
        }
        return found;
    };
    std::vector<std::future<bool>> threads;
    for (uintptr_t i = 1; i <= 4; ++i) {
        threads.push_back(std::async(std::launch::async, work, i * 0x100));
    }
    for (auto &thread : threads) {
        CHECK(thread.get());
    }
    CHECK(ranges.size() == 0);
}

TEST_CASE("the value of an info is computed once, and stays at its address", "[facade]") {
    facade::InfoCache cache;
    int made = 0;
    const auto make = [&made](std::byte value) {
        return [&made, value] {
            ++made;
            return facade::InfoCache::Value(2, value);
        };
    };
    const auto &first = cache.get(1, make(std::byte{10}));
    for (uint32_t name = 2; name < 200; ++name) {
        cache.get(name, make(std::byte{20}));
    }
    CHECK(made == 199);
    CHECK(&cache.get(1, make(std::byte{30})) == &first);
    CHECK(first == facade::InfoCache::Value(2, std::byte{10}));
    CHECK(cache.get(2, make(std::byte{30})) == facade::InfoCache::Value(2, std::byte{20}));
    CHECK(made == 199);
}

TEST_CASE("an info whose value cannot be computed is computed again", "[facade]") {
    facade::InfoCache cache;
    CHECK(code_of([&] {
              cache.get(1,
                        []() -> facade::InfoCache::Value { throw Error(PI_ERROR_BACKEND, "no"); });
          }) == PI_ERROR_BACKEND);
    CHECK(cache.get(1, [] { return facade::InfoCache::Value(3); }).size() == 3);
}

TEST_CASE("a part's own error is thrown when its object is asked for", "[facade]") {
    facade::PerPart<Event> objects(3);
    const auto refuse = [](size_t part) -> Event {
        throw Error(PI_ERROR_BACKEND, "part " + std::to_string(part));
    };
    CHECK_THROWS_WITH(objects.make_each(refuse), "part 0");
    CHECK_THROWS_WITH(objects.make_each(2, refuse), "part 2");
    CHECK_THROWS_WITH(objects.at(1), "part 1");
}

// ----- Contexts --------------------------------------------------------------------------------

TEST_CASE("a context has one part for each platform, in the order of its devices", "[facade]") {
    const Plugins plugins;
    const auto context = plugins.context({gpu1, host, gpu0});
    const auto &devices = plugins.devices;
    REQUIRE(context->parts().size() == 2);
    CHECK(context->parts()[0].devices == std::vector{devices[gpu1], devices[gpu0]});
    CHECK(context->parts()[1].devices == std::vector{devices[host]});
    CHECK(context->parts()[0].plugin != context->parts()[1].plugin);
    CHECK(context->parts()[0].context.get() != nullptr);
    CHECK(context->part_index(devices[gpu0]) == 0);
    CHECK(context->part_index(devices[host]) == 1);
    CHECK(&context->part_of(devices[host]) == &context->parts()[1]);
    CHECK(context->uses_storages());
    CHECK(context->place_of(devices[gpu1]) == 1);
    CHECK(context->place_of(devices[host]) == 2);
    CHECK(context->place_of(devices[gpu0]) == 3);
    const Topology &topology = context->runtime().topology();
    for (const pi_device device : devices) {
        CHECK(topology.device(context->place_of(device)) == device);
        CHECK(topology.context(context->place_of(device)) ==
              context->part_of(device).context.get());
    }
}

TEST_CASE("a context around an existing one has its devices", "[facade]") {
    const Plugins plugins;
    const auto made = plugins.context({gpu0, gpu1});
    const facade::Context around(made->parts()[0].context);
    CHECK(std::vector(around.devices().begin(), around.devices().end()) ==
          std::vector{plugins.devices[gpu0], plugins.devices[gpu1]});
    REQUIRE(around.parts().size() == 1);
    CHECK(around.parts()[0].plugin == made->parts()[0].plugin);
}

TEST_CASE("a context of no device, of NULL, or of a device twice is refused", "[facade]") {
    const Plugins plugins;
    const pi_device gpu = plugins.devices[gpu0], other = plugins.devices[host];
    const auto code = [](const std::vector<pi_device> &devices) {
        return code_of([&] { facade::Context context(devices); });
    };
    CHECK(code({}) == PI_ERROR_INVALID_SIZE);
    CHECK(code({nullptr}) == PI_ERROR_INVALID_DEVICE);
    CHECK(code({gpu, nullptr}) == PI_ERROR_INVALID_DEVICE);
    CHECK(code({gpu, other, gpu}) == PI_ERROR_INVALID_DEVICE);
    CHECK(code({gpu, other}) == PI_SUCCESS);
}

TEST_CASE("a device of another context is refused", "[facade]") {
    const Plugins plugins;
    const auto context = plugins.context({gpu0, host});
    const pi_device other = plugins.devices[gpu1];
    CHECK(context->has(plugins.devices[host]));
    CHECK(!context->has(other));
    CHECK(!context->has(nullptr));
    CHECK(code_of([&] { context->part_of(other); }) == PI_ERROR_INVALID_DEVICE);
    CHECK(code_of([&] { context->part_index(nullptr); }) == PI_ERROR_INVALID_DEVICE);
    CHECK(code_of([&] { context->place_of(other); }) == PI_ERROR_INVALID_DEVICE);
    CHECK(code_of([&] { facade::Queue(context, other, uint64_t{0}); }) == PI_ERROR_INVALID_DEVICE);
    const MemoryPtr memory = Bench(context).buffer(pattern(size, 1));
    CHECK(code_of([&] { memory->held_at(other); }) == PI_ERROR_INVALID_DEVICE);
}

TEST_CASE("an allocation of any context of the process is found, with its owner", "[facade]") {
    const Plugins plugins;
    auto first = plugins.context({gpu0}), second = plugins.context({gpu0, host});
    const Bytes bytes(16);
    second->usm().add(
        {reinterpret_cast<uintptr_t>(bytes.data()), bytes.size(), PI_USM_HOST, nullptr, nullptr});
    const auto found = facade::Context::find_usm(bytes.data() + 15);
    REQUIRE(found);
    CHECK(found->context == second);
    CHECK(!first->usm().find(bytes.data()));
    CHECK(!facade::Context::find_usm(bytes.data() + 16));
}

TEST_CASE("a context's allocations are forgotten with it", "[facade]") {
    const Plugins plugins;
    const Bytes bytes(16);
    plugins.context({gpu0})->usm().add(
        {reinterpret_cast<uintptr_t>(bytes.data()), bytes.size(), PI_USM_HOST, nullptr, nullptr});
    CHECK(!facade::Context::find_usm(bytes.data()));
}

TEST_CASE("finish_queues waits for the commands of every queue", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const MemoryPtr memory = bench.buffer(pattern(size, 1));
        std::vector<facade::Event> events;
        for (const auto &queue : bench.queues) {
            events.push_back(fill(*queue, *memory, 0, size, 1));
        }
        bench.context->finish_queues();
        for (const facade::Event &event : events) {
            CHECK(event.is_complete());
        }
    });
}

// ----- Events ----------------------------------------------------------------------------------

namespace {

/// An event that the test completes.
facade::Event host_event(const Part &part) {
    Event event;
    OK(piEventCreateHost(part.context.get(), nullptr, event.out()));
    return {event, part.plugin};
}

} // namespace

TEST_CASE("an event of another plugin instance is complete only after the first is", "[facade]") {
    const Plugins plugins;
    const Bench bench(plugins.context({gpu0, host}));
    const size_t from = GENERATE(0, 1);
    const Part &part = bench.context->parts()[from], &other = bench.context->parts()[1 - from];
    const facade::Event first = host_event(part);
    CHECK(first.in(part).get() == first.get());
    const facade::Event second(first.in(other), other.plugin);
    Command command(bench.queue(1 - from));
    command.wait_for(first);
    const MemoryPtr memory = bench.buffer(Bytes(size));
    const facade::Event last = fill(command, *memory, Access::discard_write, 0, size, 7);
    CHECK(!second.is_complete());
    CHECK(!last.is_complete());
    const bool fails = GENERATE(false, true);
    OK(piEventSignalHost(first.get(), fails ? PI_ERROR_BACKEND : PI_SUCCESS));
    CHECK(result_of(second) == (fails ? PI_ERROR_BACKEND : PI_SUCCESS));
    CHECK((result_of(last) == PI_SUCCESS) == !fails);
    CHECK(last.is_complete());
    CHECK(read(bench.queue(from), *memory) == Bytes(size, fails ? 0 : 7));
}

TEST_CASE("an event that is complete already is complete, or fails, for another instance",
          "[facade]") {
    const Plugins plugins;
    const auto context = plugins.context({gpu0, host});
    const size_t from = GENERATE(0, 1);
    const pi_result result = GENERATE(pi_result{PI_SUCCESS}, pi_result{PI_ERROR_BACKEND});
    const Part &part = context->parts()[from], &other = context->parts()[1 - from];
    const facade::Event first = host_event(part);
    OK(piEventSignalHost(first.get(), result));
    const facade::Event second(first.in(other), other.plugin);
    CHECK(result_of(second) == result);
    CHECK(code_of([&] { second.wait(); }) == result);
    CHECK(first.is_complete());
}

TEST_CASE("an event that nobody completes fails for another instance", "[facade]") {
    const Plugins plugins;
    const auto context = plugins.context({gpu0, host});
    facade::Event first = host_event(context->parts()[0]);
    const facade::Event second(first.in(context->parts()[1]), context->parts()[1].plugin);
    first = {};
    CHECK(result_of(second) == PI_ERROR_ABANDONED);
}

TEST_CASE("a command's event completes for another instance without a flush of its queue",
          "[facade]") {
    const Plugins plugins;
    const Bench bench(plugins.context({gpu0, host}));
    const auto alone = plugins.context({gpu0});
    const MemoryPtr memory = Bench(alone).buffer(Bytes(size));
    const facade::Queue queue(alone, plugins.devices[gpu0], uint64_t{0});
    const facade::Event first = fill(queue, *memory, 0, size, 9);
    const Part &part = bench.context->parts()[1];
    CHECK(result_of({first.in(part), part.plugin}) == PI_SUCCESS);
    CHECK(first.is_complete());
}

TEST_CASE("an event completes for another instance without a flush of the queues before it",
          "[facade]") {
    const Plugins plugins;
    const Bench bench(plugins.context({gpu0, host}));
    const auto alone = plugins.context({gpu0});
    const MemoryPtr memory = Bench(alone).buffer(Bytes(size));
    const facade::Queue first(alone, plugins.devices[gpu0], uint64_t{0});
    const facade::Queue second(alone, plugins.devices[gpu0], uint64_t{0});
    const MemoryPtr other = Bench(alone).buffer(Bytes(size));
    Command command(second);
    command.wait_for(fill(first, *other, 0, size, 1));
    const facade::Event last = fill(command, *memory, Access::discard_write, 0, size, 2);
    const Part &part = bench.context->parts()[1];
    CHECK(result_of({last.in(part), part.plugin}) == PI_SUCCESS);
    CHECK(last.is_complete());
}

// ----- Memory and commands ---------------------------------------------------------------------

TEST_CASE("bytes that are written on one device are read on every other", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const Bytes initial = pattern(size, 1);
        const MemoryPtr memory = bench.buffer(initial);
        CHECK((memory->storage() != nullptr) == bench.context->uses_storages());
        CHECK((memory->mem() == nullptr) == bench.context->uses_storages());
        uint32_t seed = 2;
        CHECK(read(bench.last(), *memory) == initial);
        for (const auto &writer : bench.queues) {
            const Bytes bytes = pattern(size, seed++);
            CHECK(result_of(write(*writer, *memory, 0, bytes)) == PI_SUCCESS);
            for (const auto &reader : bench.queues) {
                CHECK(read(*reader, *memory) == bytes);
            }
        }
    });
}

TEST_CASE("a write access keeps the bytes that are not written", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const Access access = Access::write;
        Bytes expected = pattern(size, 1);
        const MemoryPtr memory = bench.buffer(expected);
        uint64_t offset = 100;
        for (const auto &queue : bench.queues) {
            // Declares all bytes, and writes a few.
            Command command(*queue);
            const auto use = command.use(*memory, access, 0, size);
            const Command::Operand at = command.operand(use);
            const uint8_t value = 200;
            const auto desc = pi_test::fill_desc(at.mem, &value, 1, at.offset + offset, 10);
            command.enqueue("fill", piEnqueueMemBufferFill, desc, false);
            expected = with(expected, offset, Bytes(10, value));
            offset += 1000;
        }
        for (const auto &queue : bench.queues) {
            CHECK(read(*queue, *memory) == expected);
        }
    });
}

TEST_CASE("a command may name a buffer twice", "[facade]") {
    struct Uses {
        uint64_t src_offset, src_size; // the use of the source
        Access access;
        uint64_t dst_offset, dst_size;
    };
    // 100 bytes from 0 to 1024.
    const Uses uses = GENERATE(Uses{0, 100, Access::discard_write, 1024, 100},  // apart
                               Uses{0, 1024, Access::write, 1024, 100},         // neighbours
                               Uses{0, size, Access::discard_write, 1024, 100}, // one in the other
                               Uses{0, 100, Access::write, 0, size},
                               Uses{0, 1100, Access::write, 1000, 500}, // overlapping
                               Uses{0, size, Access::read_write, 0, size});
    CAPTURE(uses.src_size, uses.dst_offset, uses.dst_size);
    in_each_shape([&](const Bench &bench) {
        Bytes expected = pattern(size, 1);
        const MemoryPtr memory = bench.buffer(expected);
        for (const auto &queue : bench.queues) {
            CHECK(result_of(write(*queue, *memory, 0, pattern(50, 2))) == PI_SUCCESS);
            Command command(bench.last());
            const auto dst = command.use(*memory, uses.access, uses.dst_offset, uses.dst_size);
            const auto src = command.use(*memory, Access::read, uses.src_offset, uses.src_size);
            const Command::Operand from = command.operand(src), to = command.operand(dst);
            const pi_region region =
                pi_test::range(from.offset, to.offset + 1024 - uses.dst_offset, 100);
            const auto event = command.enqueue("copy", piEnqueueMemBufferCopy,
                                               pi_test::copy_desc(from.mem, to.mem, region), true);
            CHECK(result_of(event) == PI_SUCCESS);
            expected = with(expected, 0, pattern(50, 2));
            expected = with(expected, 1024, part_of(expected, 0, 100));
            CHECK(read(bench.queue(), *memory) == expected);
        }
    });
}

TEST_CASE("overlapping discarded ranges of a command keep what it does not write", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const Bytes bytes = pattern(size, 1);
        const MemoryPtr memory = bench.buffer(bytes);
        CHECK(read(bench.queue(), *memory) == bytes);
        Command command(bench.last());
        const auto one = command.use(*memory, Access::discard_write, 0, 200);
        const auto two = command.use(*memory, Access::discard_write, 100, 200);
        const auto three = command.use(*memory, Access::read, 300, 100);
        CHECK(command.operand(two).offset == command.operand(one).offset + 100);
        const Command::Operand at = command.operand(one);
        const uint8_t value = 5;
        CHECK(command.operand(three).mem != nullptr);
        CHECK(result_of(command.enqueue("fill", piEnqueueMemBufferFill,
                                        pi_test::fill_desc(at.mem, &value, 1, at.offset, 300),
                                        true)) == PI_SUCCESS);
        CHECK(read(bench.queue(), *memory) == with(bytes, 0, Bytes(300, value)));
    });
}

TEST_CASE("a view shows the bytes of its buffer", "[facade]") {
    in_each_shape([](const Bench &bench) {
        Bytes expected = pattern(size, 1);
        MemoryPtr memory = bench.buffer(expected);
        const MemoryPtr view = memory->view(1024, 2048, 0);
        const MemoryPtr inner = view->view(512, 1024, PI_MEM_READ_ONLY);
        CHECK(view->is_view());
        CHECK(!memory->is_view());
        CHECK(view->offset() == 1024);
        CHECK(inner->offset() == 1536);
        CHECK(inner->size() == 1024);
        CHECK(inner->flags() == PI_MEM_READ_ONLY);
        CHECK(read(bench.last(), *view) == part_of(expected, 1024, 2048));
        CHECK(result_of(write(bench.last(), *view, 500, pattern(100, 2))) == PI_SUCCESS);
        expected = with(expected, 1524, pattern(100, 2));
        CHECK(read(bench.queue(), *inner) == part_of(expected, 1536, 1024));
        CHECK(result_of(write(bench.queue(), *memory, 1530, pattern(100, 3))) == PI_SUCCESS);
        expected = with(expected, 1530, pattern(100, 3));
        memory = nullptr; // views keep their bytes
        CHECK(read(bench.last(), *inner, 10, 1000) == part_of(expected, 1546, 1000));
        CHECK(read(bench.last(), *view) == part_of(expected, 1024, 2048));
    });
}

TEST_CASE("a command may name a buffer and its view", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const Bytes bytes = pattern(size, 1);
        const MemoryPtr memory = bench.buffer(bytes), view = memory->view(1024, 1024, 0);
        Command command(bench.last());
        const auto src = command.use(*memory, Access::read, 0, size);
        const auto dst = command.use(*view, Access::discard_write, 100, 200);
        const Command::Operand from = command.operand(src), to = command.operand(dst);
        const pi_region region = pi_test::range(from.offset + 2048, to.offset, 200);
        command.enqueue("copy", piEnqueueMemBufferCopy,
                        pi_test::copy_desc(from.mem, to.mem, region), false);
        CHECK(read(bench.queue(), *memory) == with(bytes, 1124, part_of(bytes, 2048, 200)));
    });
}

TEST_CASE("a view at an offset that one of the devices does not allow is refused", "[facade]") {
    const Plugins plugins;
    const auto of = GENERATE(std::vector{gpu1}, std::vector{gpu0, gpu1}, std::vector{host, gpu1});
    const Bench bench(plugins.context(of));
    const MemoryPtr memory = bench.buffer(pattern(size, 1));
    const auto misaligned = [](const MemoryPtr &parent, uint64_t offset) {
        try {
            parent->view(offset, 10, 0);
        } catch (const Error &error) {
            CHECK(error.code() == PI_ERROR_MISALIGNED_OFFSET);
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK_THAT(misaligned(memory, 1000),
               Catch::Contains("1000") && Catch::Contains(std::to_string(alignment)));
    const MemoryPtr view = memory->view(alignment, 2 * alignment, 0);
    CHECK_THAT(misaligned(view, 12), Catch::Contains(std::to_string(alignment)));
    CHECK(misaligned(view, alignment).empty());
    // A command's range is not a view.
    CHECK(read(bench.queue(), *memory, 1000, 10) == part_of(pattern(size, 1), 1000, 10));
}

TEST_CASE("ranges past the end of a buffer or a view are refused", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const MemoryPtr memory = bench.buffer(pattern(size, 1)), view = memory->view(1024, 1024, 0);
        struct Range {
            uint64_t offset, size;
        };
        for (const Range range :
             {Range{0, 1025}, Range{1024, 1}, Range{1020, 5}, Range{2000, 1}, Range{UINT64_MAX, 2},
              Range{2, UINT64_MAX}, Range{UINT64_MAX - 1023, 1024}}) {
            CAPTURE(range.offset, range.size);
            Command command(bench.last());
            CHECK(code_of([&] { command.use(*view, Access::read, range.offset, range.size); }) ==
                  PI_ERROR_INVALID_SIZE);
            facade::Event event;
            CHECK(code_of([&] {
                      view->map(command, PI_MAP_READ, range.offset, range.size, event);
                  }) == PI_ERROR_INVALID_SIZE);
            if (range.offset % 1024 == 0) {
                // A view of a view ends with it.
                CHECK(code_of([&] { view->view(range.offset, range.size, 0); }) ==
                      PI_ERROR_INVALID_SIZE);
            }
        }
        Command command(bench.queue());
        CHECK(code_of([&] { command.use(*memory, Access::read, size, 1); }) ==
              PI_ERROR_INVALID_SIZE);
        CHECK(code_of([&] { memory->view(size, 1, 0); }) == PI_ERROR_INVALID_SIZE);
        CHECK(code_of([&] { memory->view(0, size + 1, 0); }) == PI_ERROR_INVALID_SIZE);
        CHECK(read(bench.queue(), *view) == part_of(pattern(size, 1), 1024, 1024));
    });
}

TEST_CASE("a buffer of no bytes is refused, and one without the host pointer that its flags need",
          "[facade]") {
    in_each_shape([](const Bench &bench) {
        const auto code = [&](uint64_t flags, uint64_t count) {
            return code_of([&] { Memory::create(bench.context, {flags, count, nullptr}); });
        };
        CHECK(code(0, 0) == PI_ERROR_INVALID_SIZE);
        CHECK(code(PI_MEM_COPY_HOST_PTR, size) == PI_ERROR_INVALID_NULL_POINTER);
        CHECK(code(PI_MEM_USE_HOST_PTR, size) == PI_ERROR_INVALID_NULL_POINTER);
        Bytes bytes(size);
        CHECK(code_of([&] {
                  Memory::create(bench.context,
                                 {PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR, size, bytes.data()});
              }) == PI_ERROR_INVALID_VALUE);
    });
}

TEST_CASE("memory that a command's queue cannot reach is refused", "[facade]") {
    const Plugins plugins;
    const Bench both(plugins.context({gpu0, host})), same(plugins.context({gpu0, host}));
    const Bench sim(plugins.context({gpu0})), alone(plugins.context({host}));
    const auto code = [](const Bench &bench, const MemoryPtr &memory) {
        Command command(bench.queue());
        return code_of([&] { command.use(*memory, Access::read, 0, 1); });
    };
    CHECK(code(same, both.buffer(Bytes(size))) == PI_ERROR_INVALID_CONTEXT);
    CHECK(code(sim, both.buffer(Bytes(size))) == PI_ERROR_INVALID_CONTEXT);
    CHECK(code(both, alone.buffer(Bytes(size))) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(code(sim, alone.buffer(Bytes(size))) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(code(both, both.buffer(Bytes(size))) == PI_SUCCESS);
}

TEST_CASE("memory of one device, which a context of several adopted, is used there", "[facade]") {
    const Plugins plugins;
    const Bench bench(plugins.context({gpu0, host}));
    const Bytes bytes = pattern(size, 4);
    const Part &part = bench.context->parts()[0];
    Mem mem =
        Mem::adopt(pi_test::make_buffer(part.context.get(), plugins.devices[gpu0], bytes).take());
    const MemoryPtr memory = Memory::adopt(bench.context, plugins.devices[gpu0], mem);
    CHECK(memory->size() == size);
    CHECK(memory->mem() == mem.get());
    CHECK(memory->held_at(plugins.devices[gpu0]) == mem.get());
    CHECK(read(bench.queue(), *memory) == bytes);
    CHECK(code_of([&] { read(bench.last(), *memory); }) == PI_ERROR_UNSUPPORTED_FEATURE);
    facade::Event event;
    Command command(bench.last());
    CHECK(code_of([&] { memory->map(command, PI_MAP_READ, 0, size, event); }) ==
          PI_ERROR_UNSUPPORTED_FEATURE);
}

// ----- Failures --------------------------------------------------------------------------------

TEST_CASE("a command that the plugin refuses leaves nothing acquired", "[facade]") {
    const Access access = GENERATE(Access::discard_write, Access::write, Access::read_write);
    INFO(to_string(access));
    in_each_shape([&](const Bench &bench) {
        Bytes expected = pattern(size, 1);
        const MemoryPtr memory = bench.buffer(expected);
        for (const auto &queue : bench.queues) {
            CHECK(result_of(write(*queue, *memory, 0, expected)) == PI_SUCCESS);
            for (const auto &other : bench.queues) {
                CHECK(code_of([&] {
                          Command command(*other);
                          fill(command, *memory, access, 0, 3000, 7, 3); // 3: not a power of two
                      }) == PI_ERROR_INVALID_SIZE);
                CHECK(read(*queue, *memory) == expected);
            }
        }
        expected = pattern(size, 2);
        CHECK(result_of(write(bench.last(), *memory, 0, expected)) == PI_SUCCESS);
        CHECK(read(bench.queue(), *memory) == expected);
    });
}

TEST_CASE("a command that was never enqueued changed nothing", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const Bytes bytes = pattern(size, 1);
        const MemoryPtr memory = bench.buffer(bytes);
        for (const auto &queue : bench.queues) {
            {
                Command declared(*queue);
                declared.use(*memory, Access::discard_write, 0, size);
            }
            Command acquired(*queue);
            const auto use = acquired.use(*memory, Access::discard_write, 0, size);
            CHECK(acquired.operand(use).mem != nullptr);
        }
        for (const auto &queue : bench.queues) {
            CHECK(read(*queue, *memory) == bytes);
        }
    });
}

TEST_CASE("a command that fails changes nothing at other devices", "[facade]") {
    const Plugins plugins;
    const Bench bench(plugins.context({gpu0, host}));
    const Bytes bytes = pattern(size, 1);
    const MemoryPtr memory = bench.buffer(bytes);
    const size_t reader = GENERATE(0, 1);
    CHECK(read(bench.queue(reader), *memory) == bytes);
    const facade::Event first = host_event(bench.context->parts()[reader]);
    Command command(bench.queue(1 - reader));
    command.wait_for(first);
    const facade::Event failed = fill(command, *memory, Access::discard_write, 0, size, 7);
    OK(piEventSignalHost(first.get(), PI_ERROR_BACKEND));
    CHECK(result_of(failed) != PI_SUCCESS);
    CHECK(read(bench.queue(reader), *memory) == bytes);
}

// ----- Maps ------------------------------------------------------------------------------------

TEST_CASE("a map shows what devices wrote, and devices see what it wrote", "[facade]") {
    in_each_shape([](const Bench &bench) {
        Bytes expected = pattern(size, 1);
        const MemoryPtr memory = bench.buffer(expected);
        uint32_t seed = 2;
        for (const auto &queue : bench.queues) {
            expected = with(expected, 256, pattern(1024, seed));
            write(*queue, *memory, 256, pattern(1024, seed));
            for (const auto &mapper : bench.queues) {
                facade::Event mapped, unmapped;
                Command map(*mapper), unmap(*mapper);
                auto *const bytes = static_cast<uint8_t *>(
                    memory->map(map, PI_MAP_READ | PI_MAP_WRITE, 512, 1024, mapped));
                REQUIRE(bytes != nullptr);
                CHECK(result_of(mapped) == PI_SUCCESS);
                CHECK(Bytes(bytes, bytes + 1024) == part_of(expected, 512, 1024));
                const Bytes written = pattern(100, ++seed);
                std::copy(written.begin(), written.end(), bytes + 10);
                memory->unmap(unmap, bytes, unmapped);
                expected = with(expected, 522, written);
                for (const auto &reader : bench.queues) {
                    CHECK(read(*reader, *memory) == expected);
                }
                CHECK(result_of(unmapped) == PI_SUCCESS);
            }
        }
    });
}

TEST_CASE("a map's address is known before its bytes are ready", "[facade]") {
    const Plugins plugins;
    const Bench bench(plugins.context({gpu0, host}));
    const size_t writer = GENERATE(0, 1);
    const MemoryPtr memory = bench.buffer(Bytes(size));
    const facade::Event first = host_event(bench.context->parts()[1 - writer]);
    Command later(bench.queue(writer));
    later.wait_for(first);
    fill(later, *memory, Access::discard_write, 0, size, 7);
    facade::Event mapped, unmapped;
    Command map(bench.queue(1 - writer)), unmap(bench.queue(1 - writer));
    auto *const bytes = static_cast<uint8_t *>(memory->map(map, PI_MAP_READ, 0, size, mapped));
    CHECK(bytes != nullptr);
    CHECK(!mapped.is_complete());
    OK(piEventSignalHost(first.get(), PI_SUCCESS));
    CHECK(result_of(mapped) == PI_SUCCESS);
    CHECK(Bytes(bytes, bytes + size) == Bytes(size, 7));
    memory->unmap(unmap, bytes, unmapped);
    CHECK(result_of(unmapped) == PI_SUCCESS);
}

TEST_CASE("a view is mapped at its place in the buffer's map", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const Bytes bytes = pattern(size, 1);
        const MemoryPtr memory = bench.buffer(bytes), view = memory->view(1024, 1024, 0);
        facade::Event event;
        Command map(bench.last()), unmap(bench.last());
        auto *const at =
            static_cast<uint8_t *>(view->map(map, PI_MAP_WRITE_DISCARD, 24, 1000, event));
        CHECK(result_of(event) == PI_SUCCESS);
        std::memset(at, 3, 1000);
        view->unmap(unmap, at, event);
        CHECK(result_of(event) == PI_SUCCESS);
        CHECK(read(bench.queue(), *memory) == with(bytes, 1048, Bytes(1000, 3)));
    });
}

TEST_CASE("maps that read may overlap, and each is ended once", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const Bytes bytes = pattern(size, 1);
        const MemoryPtr memory = bench.buffer(bytes);
        facade::Event event;
        Command one(bench.queue()), two(bench.last());
        auto *const first = static_cast<uint8_t *>(memory->map(one, PI_MAP_READ, 0, size, event));
        CHECK(result_of(event) == PI_SUCCESS);
        CHECK(Bytes(first, first + size) == bytes);
        auto *const second = static_cast<uint8_t *>(memory->map(two, PI_MAP_READ, 0, 100, event));
        CHECK(result_of(event) == PI_SUCCESS);
        CHECK(Bytes(second, second + 100) == part_of(bytes, 0, 100));
        CHECK(read(bench.last(), *memory) == bytes);
        for (void *const address : {first, second}) {
            Command unmap(bench.last());
            memory->unmap(unmap, address, event);
            CHECK(result_of(event) == PI_SUCCESS);
        }
        Command again(bench.last());
        CHECK(code_of([&] { memory->unmap(again, second, event); }) == PI_ERROR_INVALID_VALUE);
    });
}

TEST_CASE("an unmap of an address that no map has is refused", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const MemoryPtr memory = bench.buffer(Bytes(size)), other = bench.buffer(Bytes(size));
        facade::Event event;
        Command map(bench.queue()), unmap(bench.queue());
        auto *const bytes = static_cast<uint8_t *>(memory->map(map, PI_MAP_READ, 0, size, event));
        CHECK(result_of(event) == PI_SUCCESS);
        for (void *const address : {static_cast<void *>(nullptr), static_cast<void *>(bytes + 1),
                                    static_cast<void *>(&event)}) {
            CHECK(code_of([&] { memory->unmap(unmap, address, event); }) == PI_ERROR_INVALID_VALUE);
        }
        CHECK(code_of([&] { other->unmap(unmap, bytes, event); }) == PI_ERROR_INVALID_VALUE);
        memory->unmap(unmap, bytes, event); // the refused ones changed nothing
        CHECK(result_of(event) == PI_SUCCESS);
        CHECK(result_of(fill(bench.last(), *memory, 0, size, 1)) == PI_SUCCESS);
    });
}

TEST_CASE("a map that neither reads nor writes is refused", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const Bytes bytes = pattern(size, 1);
        const MemoryPtr memory = bench.buffer(bytes);
        facade::Event event;
        Command map(bench.queue());
        CHECK(code_of([&] { memory->map(map, 0, 0, size, event); }) == PI_ERROR_INVALID_VALUE);
        CHECK(read(bench.last(), *memory) == bytes);
    });
}

TEST_CASE("a storage that uses the host's memory is mapped there", "[facade]") {
    const Plugins plugins;
    const Bench bench(plugins.context({gpu0, host}));
    struct alignas(4096) Own {
        uint8_t bytes[size];
    };
    const auto own = std::make_unique<Own>();
    const Bytes initial = pattern(size, 1);
    std::copy(initial.begin(), initial.end(), own->bytes);
    const MemoryPtr memory = Memory::create(bench.context, {PI_MEM_USE_HOST_PTR, size, own->bytes});
    CHECK(read(bench.queue(0), *memory) == initial);
    CHECK(result_of(write(bench.queue(0), *memory, 100, pattern(100, 2))) == PI_SUCCESS);
    facade::Event event;
    Command map(bench.queue(1)), unmap(bench.queue(1));
    void *const address = memory->map(map, PI_MAP_READ, 100, 100, event);
    CHECK(address == own->bytes + 100);
    CHECK(result_of(event) == PI_SUCCESS);
    CHECK(Bytes(own->bytes, own->bytes + size) == with(initial, 100, pattern(100, 2)));
    memory->unmap(unmap, address, event);
    bench.context->finish_queues();
    REQUIRE(bench.context->runtime().finish(patience));
}

// ----- Memory of a native handle ---------------------------------------------------------------

TEST_CASE("memory that somebody holds has the bytes, and its changes reach every device",
          "[facade]") {
    in_each_shape([](const Bench &bench) {
        Bytes expected = pattern(size, 1);
        const MemoryPtr memory = bench.buffer(expected), view = memory->view(1024, 1024, 0);
        uint8_t value = 1;
        for (const auto &queue : bench.queues) {
            for (const MemoryPtr &each : {memory, view}) {
                const pi_mem mem = each->held_at(queue->device());
                CHECK(each->held_at(queue->device()) == mem);
                CHECK(pi_test::read_items<uint8_t>(queue->get(), mem, each->size()) ==
                      part_of(expected, each->offset(), each->size()));
                // As another library would write it.
                const auto desc = pi_test::fill_desc(mem, &value, 1, 100, 50, PI_COMMAND_BLOCKING);
                OK(piEnqueueMemBufferFill(queue->get(), &desc, 0, nullptr, nullptr));
                expected = with(expected, each->offset() + 100, Bytes(50, value++));
                for (const auto &reader : bench.queues) {
                    CHECK(read(*reader, *memory) == expected);
                }
                CHECK(each->held_at(queue->device()) == mem);
            }
        }
    });
}

TEST_CASE("a command that comes while memory is being brought to its holder waits for that alone",
          "[facade]") {
    const Plugins plugins;
    const Bench bench(plugins.context({gpu0, host}));
    const MemoryPtr memory = bench.buffer(Bytes(size));
    const facade::Event first = host_event(bench.context->parts()[0]);
    Command before(bench.queue(0));
    before.wait_for(first);
    fill(before, *memory, Access::discard_write, 0, size, 7);
    auto holder =
        std::async(std::launch::async, [&] { return memory->held_at(plugins.devices[host]); });
    CHECK(holder.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
    Bytes seen(size);
    Command command(bench.queue(0));
    const Command::Operand at = command.operand(command.use(*memory, Access::read, 0, size));
    const pi_region region = pi_test::range(at.offset, 0, size);
    const facade::Event event = command.enqueue(
        "read", piEnqueueMemBufferRead, pi_test::read_desc(at.mem, seen.data(), region), true);
    OK(piEventSignalHost(first.get(), PI_SUCCESS));
    CHECK(holder.get() != nullptr);
    REQUIRE(result_of(event) == PI_SUCCESS);
    CHECK(seen == Bytes(size, 7));
}

// ----- Programs and kernels --------------------------------------------------------------------

namespace {

pi_program_desc add_one_desc() {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    desc.data = &pi_test::add_one_program;
    desc.size = sizeof pi_test::add_one_program;
    return desc;
}

facade::Event launch(const facade::Queue &queue, const facade::Kernel &kernel, const Memory &memory,
                     uint64_t offset, uint64_t count) {
    Command command(queue);
    const auto use = command.use(memory, Access::read_write, offset, count);
    const Command::Operand at = command.operand(use);
    const pi_kernel_argument argument = pi_test::buffer_argument(at.mem, at.offset, count);
    return command.enqueue("launch", piEnqueueKernelLaunch,
                           pi_test::launch_of(kernel.at(queue.device()), argument, count), true);
}

std::shared_ptr<facade::Kernel> add_one_of(const std::shared_ptr<facade::Context> &context) {
    const auto program = facade::Program::create(context, add_one_desc());
    program->build({}, nullptr);
    return facade::Kernel::create(program, "add_one");
}

constexpr const char *first_program_refused =
    R"({"function": "piProgramCreate", "call": 1, "result": "unsupported_feature"})";

} // namespace

TEST_CASE("kernels of all devices change one buffer in turn", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const auto kernel = add_one_of(bench.context);
        CHECK(kernel->program()->built_devices().size() == bench.queues.size());
        CHECK(kernel->any() == kernel->at(bench.queue().device()));
        const MemoryPtr memory = bench.buffer(Bytes(size));
        for (int round = 0; round < 3; ++round) {
            for (const auto &queue : bench.queues) {
                launch(*queue, *kernel, *memory, 0, size);
            }
        }
        CHECK(read(bench.queue(), *memory) ==
              Bytes(size, static_cast<uint8_t>(3 * bench.queues.size())));
    });
}

TEST_CASE("a part that refuses a program throws its own error when it is to run it", "[facade]") {
    const Plugins plugins(first_program_refused);
    const auto context = plugins.context({gpu0, host});
    const pi_device refusing = plugins.devices[gpu0], good = plugins.devices[host];
    const auto program = facade::Program::create(context, add_one_desc());
    CHECK(program->at(good) != nullptr);
    CHECK(code_of([&] { program->at(refusing); }) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK_THROWS_WITH(program->at(refusing), Catch::Contains("fault"));
    CHECK(code_of([&] { program->at(plugins.devices[gpu1]); }) == PI_ERROR_INVALID_DEVICE);
    program->build({}, nullptr);
    CHECK(program->built_devices() == std::vector{good});
    const std::vector named{good, refusing};
    CHECK(code_of([&] { program->build(named, nullptr); }) == PI_ERROR_UNSUPPORTED_FEATURE);
    const auto kernel = facade::Kernel::create(program, "add_one");
    CHECK(kernel->at(good) == kernel->any());
    CHECK_THROWS_WITH(kernel->at(refusing), Catch::Contains("fault"));
    CHECK(code_of([&] { facade::Kernel::create(program, "nothing"); }) == PI_ERROR_INVALID_NAME);

    const Bench bench(context);
    const MemoryPtr memory = bench.buffer(Bytes(size, 3));
    CHECK(code_of([&] { launch(bench.queue(0), *kernel, *memory, 0, size); }) ==
          PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(result_of(launch(bench.queue(1), *kernel, *memory, 0, size)) == PI_SUCCESS);
    CHECK(read(bench.queue(0), *memory) == Bytes(size, 4));
}

TEST_CASE("a program that every part refuses is an error", "[facade]") {
    const Plugins plugins;
    const auto context = plugins.context({gpu0, host});
    auto desc = add_one_desc();
    desc.format = PI_PROGRAM_FORMAT_SPIRV;
    CHECK(code_of([&] { facade::Program::create(context, desc); }) == PI_ERROR_UNSUPPORTED_FEATURE);
}

TEST_CASE("a program is built for the devices that are named", "[facade]") {
    const Plugins plugins;
    const auto context = plugins.context({gpu0, host, gpu1});
    const auto program = facade::Program::create(context, add_one_desc());
    const std::vector named{plugins.devices[gpu1]};
    program->build(named, nullptr);
    CHECK(program->built_devices() == named);
    const auto kernel = facade::Kernel::create(program, "add_one");
    CHECK(kernel->at(plugins.devices[gpu1]) != nullptr);
    CHECK(code_of([&] { kernel->at(plugins.devices[host]); }) != PI_SUCCESS);
    const auto other = facade::Program::create(plugins.context({gpu0}), add_one_desc());
    CHECK(code_of([&] { other->build(named, nullptr); }) == PI_ERROR_INVALID_DEVICE);
    const std::vector both{plugins.devices[gpu0], plugins.devices[gpu1]};
    CHECK(code_of([&] { other->build(both, nullptr); }) == PI_ERROR_INVALID_DEVICE);
    CHECK(other->built_devices().empty());
}

TEST_CASE("a binary for one device makes a program of its part alone", "[facade]") {
    const Plugins plugins;
    const auto context = plugins.context({gpu0, host, gpu1});
    const std::vector devices{plugins.devices[host]};
    const std::vector binaries{add_one_desc()};
    const auto program = facade::Program::create_from_binaries(context, devices, binaries);
    CHECK(program->at(plugins.devices[host]) != nullptr);
    CHECK(code_of([&] { program->at(plugins.devices[gpu0]); }) == PI_ERROR_INVALID_PROGRAM);
    program->build({}, nullptr);
    CHECK(program->built_devices() == devices);

    const auto other_table = pi_test::add_one_program;
    const pi_native_program empty{sizeof empty, 0, nullptr};
    std::vector different{add_one_desc(), add_one_desc()};
    different[1].data = &empty;
    const std::vector one_part{plugins.devices[gpu0], plugins.devices[gpu1]};
    CHECK(code_of([&] { facade::Program::create_from_binaries(context, one_part, different); }) ==
          PI_ERROR_UNSUPPORTED_FEATURE);
    different[1].data = &other_table; // the same bytes elsewhere
    const auto same = facade::Program::create_from_binaries(context, one_part, different);
    CHECK(same->at(plugins.devices[gpu1]) == same->at(plugins.devices[gpu0]));
}

TEST_CASE("an adopted program and its kernel belong to their part", "[facade]") {
    const Plugins plugins;
    const auto context = plugins.context({gpu0, host});
    Program made;
    OK(pi_test::make_add_one(context->parts()[1].context.get(), made.out()));
    OK(piProgramBuild(made.get(), nullptr));
    const auto program = facade::Program::adopt(context, 1, made);
    CHECK(program->at(plugins.devices[host]) == made.get());
    CHECK(code_of([&] { program->at(plugins.devices[gpu0]); }) == PI_ERROR_INVALID_PROGRAM);
    const auto kernel = Kernel::adopt(pi_test::make_kernel(made.get(), "add_one").take());
    const auto adopted = facade::Kernel::adopt(context, nullptr, 1, kernel);
    CHECK(adopted->any() == kernel.get());
    CHECK(adopted->program()->at(plugins.devices[host]) == made.get());
    CHECK(code_of([&] { adopted->at(plugins.devices[gpu0]); }) == PI_ERROR_INVALID_KERNEL);
}

// ----- Threads ---------------------------------------------------------------------------------

TEST_CASE("threads change one storage through all devices, and no change is lost", "[facade]") {
    constexpr int threads = 4, rounds = 25;
    const bool shared_queues = GENERATE(false, true);
    CAPTURE(shared_queues);
    in_each_shape([&](const Bench &bench) {
        const auto kernel = add_one_of(bench.context);
        const MemoryPtr memory = bench.buffer(Bytes(size)), other = bench.buffer(Bytes(size));
        const auto work = [&](int thread) {
            const Bench own(bench.context);
            const Bench &used = shared_queues ? bench : own;
            for (int round = 0; round < rounds; ++round) {
                const auto at = static_cast<size_t>(thread + round) % used.queues.size();
                // The threads begin with different ones of the two.
                const bool odd = thread % 2 != 0;
                launch(used.queue(at), *kernel, odd ? *memory : *other, 0, size);
                launch(used.queue(at), *kernel, odd ? *other : *memory, 0, size);
            }
            bench.context->finish_queues();
        };
        std::vector<std::future<void>> running;
        for (int thread = 0; thread < threads; ++thread) {
            running.push_back(std::async(std::launch::async, work, thread));
        }
        for (auto &each : running) {
            each.get();
        }
        // A pi_mem orders nothing between queues.
        if (bench.context->uses_storages() || shared_queues) {
            const Bytes expected(size, static_cast<uint8_t>(threads * rounds));
            CHECK(read(bench.last(), *memory) == expected);
            CHECK(read(bench.last(), *other) == expected);
        }
    });
}

TEST_CASE("threads that name two storages in either order do not wait for each other", "[facade]") {
    const Plugins plugins;
    const Bench bench(plugins.context({gpu0, host}));
    const MemoryPtr a = bench.buffer(pattern(size, 1)), b = bench.buffer(pattern(size, 1));
    const auto copy = [&](const facade::Queue &queue, const Memory &from, const Memory &to) {
        Command command(queue);
        const auto src = command.use(from, Access::read, 0, size);
        const auto dst = command.use(to, Access::discard_write, 0, size);
        const Command::Operand read = command.operand(src), written = command.operand(dst);
        const pi_region region = pi_test::range(read.offset, written.offset, size);
        return command.enqueue("copy", piEnqueueMemBufferCopy,
                               pi_test::copy_desc(read.mem, written.mem, region), true);
    };
    const auto work = [&](size_t thread) {
        const Bench own(bench.context);
        pi_result worst = PI_SUCCESS;
        for (size_t round = 0; round < 50; ++round) {
            const Memory &from = thread % 2 == 0 ? *a : *b, &to = thread % 2 == 0 ? *b : *a;
            worst = std::min(worst, result_of(copy(own.queue(round % 2), from, to)));
        }
        return worst;
    };
    std::vector<std::future<pi_result>> running;
    for (size_t thread = 0; thread < 4; ++thread) {
        running.push_back(std::async(std::launch::async, work, thread));
    }
    for (auto &each : running) {
        CHECK(each.get() == PI_SUCCESS);
    }
    CHECK(read(bench.queue(), *a) == pattern(size, 1));
    CHECK(read(bench.last(), *b) == pattern(size, 1));
}

TEST_CASE("a command that blocks holds up no command of another thread", "[facade]") {
    const bool maps = GENERATE(false, true);
    in_each_shape([maps](const Bench &bench) {
        const MemoryPtr memory = bench.buffer(pattern(size, 1)), other = bench.buffer(Bytes(size));
        const facade::Queue queue(bench.context, bench.queue().device(), uint64_t{0});
        const facade::Event first = host_event(queue.part());
        auto blocked = std::async(std::launch::async, [&] {
            Command command(queue);
            command.wait_for(first);
            if (maps) {
                facade::Event event;
                auto *const bytes = static_cast<uint8_t *>(
                    memory->map(command, PI_MAP_READ | PI_COMMAND_BLOCKING, 0, size, event));
                Bytes seen(bytes, bytes + size);
                Command unmap(queue);
                memory->unmap(unmap, bytes, event);
                return seen;
            }
            Bytes seen(size);
            const Command::Operand at =
                command.operand(command.use(*memory, Access::read, 0, size));
            const pi_region region = pi_test::range(at.offset, 0, size);
            command.enqueue("read", piEnqueueMemBufferRead,
                            pi_test::read_desc(at.mem, seen.data(), region, PI_COMMAND_BLOCKING),
                            false);
            return seen;
        });
        CHECK(blocked.wait_for(std::chrono::milliseconds(20)) == std::future_status::timeout);
        CHECK(result_of(fill(bench.last(), *other, 0, size, 3)) == PI_SUCCESS);
        CHECK(read(bench.last(), *other) == Bytes(size, 3));
        OK(piEventSignalHost(first.get(), PI_SUCCESS));
        CHECK(blocked.get() == pattern(size, 1));
    });
}

TEST_CASE("threads map and write their own parts of one storage", "[facade]") {
    in_each_shape([](const Bench &bench) {
        const MemoryPtr memory = bench.buffer(Bytes(size));
        const auto work = [&](size_t thread) {
            const Bench own(bench.context);
            const uint64_t offset = thread * 1024;
            bool right = true;
            Bytes expected(1024);
            for (uint32_t round = 0; round < 10; ++round) {
                const facade::Queue &queue = own.queue(round % own.queues.size());
                facade::Event event;
                Command map(queue), unmap(queue);
                auto *const bytes = static_cast<uint8_t *>(
                    memory->map(map, PI_MAP_READ | PI_MAP_WRITE, offset, 1024, event));
                right = right && result_of(event) == PI_SUCCESS &&
                        Bytes(bytes, bytes + 1024) == expected;
                expected = pattern(1024, round + 10 * static_cast<uint32_t>(thread));
                std::copy(expected.begin(), expected.end(), bytes);
                memory->unmap(unmap, bytes, event);
                right = right && result_of(event) == PI_SUCCESS &&
                        read(queue, *memory, offset, 1024) == expected;
            }
            return right;
        };
        std::vector<std::future<bool>> running;
        for (size_t thread = 0; thread < 4; ++thread) {
            running.push_back(std::async(std::launch::async, work, thread));
        }
        for (auto &each : running) {
            CHECK(each.get());
        }
    });
}
