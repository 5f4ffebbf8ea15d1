// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The template plugin's objects and memory through the loader.

#include "machine.hpp"
#include "random_regions.hpp"

using namespace template_test;

TEST_CASE("the template loads and reports its name") {
    const Machine machine(GENERATE(false, true));
    pi_plugin_report report{};
    REQUIRE(piLoaderGetReports(machine.loader, 1, &report, nullptr) == PI_SUCCESS);
    INFO(report.reason);
    CHECK(report.status == PI_PLUGIN_LOADED);
    CHECK(std::string(report.name) == "template");
    CHECK(info_text(piPluginGetInfo, machine.plugin, PI_PLUGIN_INFO_NAME) == "template");
    CHECK(info_text(piDeviceGetInfo, machine.device, PI_DEVICE_INFO_NAME) == "template device");
    uint64_t capabilities = 1;
    REQUIRE(piPluginGetInfo(machine.plugin, PI_PLUGIN_INFO_CAPABILITIES, sizeof capabilities,
                            &capabilities, nullptr) == PI_SUCCESS);
    CHECK(capabilities == 0);
}

TEST_CASE("devices are listed by type, and counted without an array") {
    const Machine machine;
    pi_device device = nullptr;
    uint32_t count = 7;
    CHECK(piDevicesGet(machine.platform, PI_DEVICE_TYPE_OTHER, 1, &device, &count) == PI_SUCCESS);
    CHECK(count == 1);
    CHECK(device == machine.device);
    CHECK(piDevicesGet(machine.platform, PI_DEVICE_TYPE_GPU, 0, nullptr, &count) == PI_SUCCESS);
    CHECK(count == 0);
    CHECK(piDevicesGet(machine.platform, 1 << 30, 0, nullptr, &count) == PI_SUCCESS);
    CHECK(count == 0);
    CHECK(piDevicesGet(machine.platform, 0, 0, nullptr, &count) == PI_SUCCESS);
    CHECK(count == 1);
    CHECK(piDevicesGet(machine.platform, PI_DEVICE_TYPE_ALL, 0, nullptr, nullptr) ==
          PI_ERROR_INVALID_NULL_POINTER);
}

TEST_CASE("an info query is answered, refused as unsupported, or refused as unknown") {
    const Machine machine;
    const Mem mem = machine.buffer(Bytes(8));
    char bytes[256];
    uint64_t size = 0;
    CHECK(piDeviceGetInfo(machine.device, PI_DEVICE_INFO_NAME, 0, nullptr, &size) == PI_SUCCESS);
    CHECK(size == sizeof "template device");
    CHECK(piDeviceGetInfo(machine.device, PI_DEVICE_INFO_NAME, size - 1, bytes, nullptr) ==
          PI_ERROR_INVALID_SIZE);
    CHECK(piDeviceGetInfo(machine.device, PI_DEVICE_INFO_UUID, 16, bytes, nullptr) ==
          PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(piMemGetInfo(mem, PI_MEM_INFO_PITCHES, 16, bytes, nullptr) ==
          PI_ERROR_UNSUPPORTED_FEATURE);
    for (const uint32_t name : {0u, 9u, 20u, 47u, 1000u, 4096u}) {
        INFO("name " << name);
        CHECK(piDeviceGetInfo(machine.device, name, sizeof bytes, bytes, nullptr) ==
              PI_ERROR_INVALID_ENUMERATION);
    }
    CHECK(piMemGetInfo(mem, 15, sizeof bytes, bytes, nullptr) == PI_ERROR_INVALID_ENUMERATION);
    CHECK(piQueueGetInfo(machine.queue, PI_QUEUE_INFO_FLAGS, 8, nullptr, nullptr) ==
          PI_ERROR_INVALID_NULL_POINTER);
}

TEST_CASE("objects answer where they belong") {
    const Machine machine;
    const Mem mem = machine.buffer(Bytes(8));
    pi_context context = nullptr;
    pi_device device = nullptr;
    CHECK(piQueueGetInfo(machine.queue, PI_QUEUE_INFO_CONTEXT, sizeof context, &context, nullptr) ==
          PI_SUCCESS);
    CHECK(context == machine.context);
    CHECK(piMemGetInfo(mem, PI_MEM_INFO_DEVICE, sizeof device, &device, nullptr) == PI_SUCCESS);
    CHECK(device == machine.device);
    device = nullptr;
    CHECK(piContextGetInfo(machine.context, PI_CONTEXT_INFO_DEVICES, sizeof device, &device,
                           nullptr) == PI_SUCCESS);
    CHECK(device == machine.device);
    pi_platform platform = nullptr;
    CHECK(piDeviceGetInfo(machine.device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform,
                          nullptr) == PI_SUCCESS);
    CHECK(platform == machine.platform);
}

TEST_CASE("retain and release count, and root devices do not") {
    const Machine machine;
    Mem mem = machine.buffer(Bytes(8));
    const auto references = [&] {
        uint32_t count = 0;
        REQUIRE(piMemGetInfo(mem, PI_MEM_INFO_REFERENCE_COUNT, sizeof count, &count, nullptr) ==
                PI_SUCCESS);
        return count;
    };
    CHECK(references() == 1);
    CHECK(piMemRetain(mem) == PI_SUCCESS);
    CHECK(references() == 2);
    CHECK(piMemRelease(mem) == PI_SUCCESS);
    CHECK(references() == 1);
    for (int i = 0; i < 3; ++i)
        CHECK(piDeviceRelease(machine.device) == PI_SUCCESS);
    CHECK(piDeviceRetain(machine.device) == PI_SUCCESS);
}

TEST_CASE("a context requires the platform's devices, each once") {
    const Machine machine;
    const Machine other;
    pi_device devices[] = {machine.device, machine.device};
    auto desc = pi::desc<pi_context_desc>();
    pi_context context = nullptr;
    const auto create = [&] { return piContextCreate(machine.platform, &desc, &context); };
    CHECK(create() == PI_ERROR_INVALID_SIZE);
    desc.device_count = 1;
    CHECK(create() == PI_ERROR_INVALID_NULL_POINTER);
    desc.devices = devices;
    desc.device_count = 2;
    CHECK(create() == PI_ERROR_INVALID_DEVICE);
    devices[1] = nullptr;
    CHECK(create() == PI_ERROR_INVALID_DEVICE);
    devices[1] = other.device;
    CHECK(create() == PI_ERROR_INVALID_DEVICE);
    CHECK(last_error().find("devices[1]") != std::string::npos);
    desc.device_count = 1;
    desc.flags = 1;
    CHECK(create() == PI_ERROR_UNSUPPORTED_FEATURE);
    desc.flags = 0;
    desc.type = PI_TYPE_QUEUE_DESC;
    CHECK(create() == PI_ERROR_INVALID_DESCRIPTOR);
    CHECK(context == nullptr);
}

TEST_CASE("a device that is not of the context is refused") {
    const Machine machine(true);
    pi_device devices[2] = {};
    REQUIRE(piDevicesGet(machine.platform, PI_DEVICE_TYPE_ALL, 2, devices, nullptr) == PI_SUCCESS);
    const pi_device unlisted = devices[1];
    REQUIRE(unlisted != nullptr);
    const auto desc = buffer_desc(16);
    pi_queue queue = nullptr;
    pi_mem mem = nullptr;
    pi_memory_connection connection = 0;
    CHECK(piQueueCreate(machine.context, unlisted, nullptr, &queue) == PI_ERROR_INVALID_DEVICE);
    CHECK(piMemBufferCreate(machine.context, unlisted, &desc, &mem) == PI_ERROR_INVALID_DEVICE);
    CHECK(piGetMemoryConnection(machine.device, machine.context, unlisted, machine.context,
                                &connection) == PI_ERROR_INVALID_DEVICE);
    CHECK(piGetMemoryConnection(unlisted, machine.context, machine.device, machine.context,
                                &connection) == PI_ERROR_INVALID_DEVICE);

    auto both = pi::desc<pi_context_desc>();
    both.device_count = 2;
    both.devices = devices;
    Context context;
    REQUIRE(piContextCreate(machine.platform, &both, context.out()) == PI_SUCCESS);
    CHECK(piGetMemoryConnection(machine.device, machine.context, unlisted, context, &connection) ==
          PI_SUCCESS);
    CHECK(connection == PI_MEMORY_CONNECTION_UNIFIED);
}

TEST_CASE("a queue that the device cannot provide is refused; a priority is a hint") {
    const Machine machine;
    auto desc = pi::desc<pi_queue_desc>();
    Queue queue;
    for (const int flag : {int{PI_QUEUE_OUT_OF_ORDER}, int{PI_QUEUE_PROFILING}, 1 << 20}) {
        desc.flags = static_cast<uint64_t>(flag);
        CHECK(piQueueCreate(machine.context, machine.device, &desc, queue.out()) ==
              PI_ERROR_UNSUPPORTED_FEATURE);
    }
    desc.flags = PI_QUEUE_PRIORITY_HIGH;
    CHECK(piQueueCreate(machine.context, machine.device, &desc, queue.out()) == PI_SUCCESS);
}

TEST_CASE("handles of another kind or of another loader are refused") {
    const Machine machine, other;
    const Mem mem = machine.buffer(Bytes(16)), elsewhere = other.buffer(Bytes(16));
    const Event another_event = other.host_event();
    const auto regions = std::vector<pi_region>{range(0, 8, 4)};
    const auto as_mem = [](auto handle) { return reinterpret_cast<pi_mem>(handle); };

    CHECK(Machine::copy(machine.queue, mem, elsewhere, regions) == PI_ERROR_INVALID_MEM_OBJECT);
    CHECK(Machine::copy(machine.queue, nullptr, mem, regions) == PI_ERROR_INVALID_MEM_OBJECT);
    CHECK(Machine::copy(machine.queue, mem, as_mem(machine.device), regions) ==
          PI_ERROR_INVALID_MEM_OBJECT);
    CHECK(Machine::copy(machine.queue, mem, mem, regions, {another_event}) ==
          PI_ERROR_INVALID_EVENT);
    CHECK(last_error().find("wait_list[0]") != std::string::npos);
    CHECK(Machine::copy(machine.queue, mem, mem, regions, {nullptr}) == PI_ERROR_INVALID_EVENT);
    CHECK(piEnqueueEventsWait(machine.queue, nullptr, 1, nullptr, nullptr) ==
          PI_ERROR_INVALID_WAIT_LIST);
    CHECK(Machine::copy(reinterpret_cast<pi_queue>(static_cast<pi_mem>(mem)), mem, mem, regions) ==
          PI_ERROR_INVALID_QUEUE);
    CHECK(piMemRelease(as_mem(static_cast<pi_queue>(machine.queue))) ==
          PI_ERROR_INVALID_MEM_OBJECT);
    CHECK(piEventWait(reinterpret_cast<pi_event>(static_cast<pi_mem>(mem)), 0) ==
          PI_ERROR_INVALID_EVENT);
    uint32_t count = 0;
    CHECK(piDeviceGetMemoryScopes(reinterpret_cast<pi_device>(static_cast<pi_mem>(mem)), 0, nullptr,
                                  &count) == PI_ERROR_INVALID_DEVICE);
}

TEST_CASE("a buffer that cannot be created is refused with the code of its cause") {
    const Machine machine, other;
    unsigned char storage[64];
    const auto create = [&](auto change) {
        auto desc = buffer_desc(16);
        change(desc);
        Mem mem;
        const pi_result result =
            piMemBufferCreate(machine.context, machine.device, &desc, mem.out());
        CHECK((result == PI_SUCCESS) == (static_cast<pi_mem>(mem) != nullptr));
        return result;
    };
    using Desc = pi_mem_buffer_desc;
    CHECK(create([](Desc &) {}) == PI_SUCCESS);
    CHECK(create([](Desc &d) { d.size = 0; }) == PI_ERROR_INVALID_SIZE);
    CHECK(create([](Desc &d) { d.size = UINT64_MAX; }) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(create([](Desc &d) { d.size = UINT64_MAX / 2; }) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(create([](Desc &d) { d.alignment = 48; }) == PI_ERROR_INVALID_ALIGNMENT);
    CHECK(create([](Desc &d) { d.alignment = UINT64_C(1) << 40; }) == PI_ERROR_INVALID_ALIGNMENT);
    CHECK(create([](Desc &d) { d.scope = 1; }) == PI_ERROR_INVALID_VALUE);
    CHECK(create([](Desc &d) { d.export_types = 2; }) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(create([](Desc &d) { d.flags = 1 << 20; }) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(create([](Desc &d) { d.flags = PI_MEM_REQUIRE_PINNED; }) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(create([](Desc &d) { d.flags = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY; }) ==
          PI_ERROR_INVALID_VALUE);
    CHECK(create([](Desc &d) { d.flags = PI_MEM_COPY_HOST_PTR; }) == PI_ERROR_INVALID_NULL_POINTER);
    CHECK(create([&](Desc &d) { d.host_ptr = storage; }) == PI_ERROR_INVALID_VALUE);
    CHECK(create([&](Desc &d) {
              d.flags = PI_MEM_USE_HOST_PTR;
              d.host_ptr = storage + 1;
              d.alignment = 32;
          }) == (reinterpret_cast<uintptr_t>(storage + 1) % 32 ? PI_ERROR_MISALIGNED_POINTER
                                                               : PI_SUCCESS));
    const auto layout = pi::desc<pi_mem_layout_desc>();
    CHECK(create([&](Desc &d) { d.next = &layout; }) == PI_ERROR_UNSUPPORTED_FEATURE);

    const auto desc = buffer_desc(16);
    pi_mem mem = nullptr;
    CHECK(piMemBufferCreate(machine.context, other.device, &desc, &mem) == PI_ERROR_INVALID_DEVICE);
    CHECK(piMemBufferCreate(machine.context, machine.device, &desc, nullptr) ==
          PI_ERROR_INVALID_NULL_POINTER);
    CHECK(mem == nullptr);
}

TEST_CASE("a requested alignment is honoured") {
    const Machine machine;
    for (uint64_t alignment = 0; alignment <= (1 << 21);
         alignment = alignment ? 2 * alignment : 1) {
        auto desc = buffer_desc(100);
        desc.alignment = alignment;
        Mem mem;
        REQUIRE(piMemBufferCreate(machine.context, machine.device, &desc, mem.out()) == PI_SUCCESS);
        uint64_t had = 0;
        REQUIRE(piMemGetInfo(mem, PI_MEM_INFO_ALIGNMENT, sizeof had, &had, nullptr) == PI_SUCCESS);
        CHECK(had >= std::max<uint64_t>(alignment, 64));
        void *pointer = nullptr;
        REQUIRE(Machine::map(machine.queue, mem, 0, 100, read_now, &pointer) == PI_SUCCESS);
        CHECK(reinterpret_cast<uintptr_t>(pointer) % had == 0);
        REQUIRE(Machine::unmap(machine.queue, mem, pointer) == PI_SUCCESS);
    }
}

TEST_CASE("a buffer copies the application's bytes or uses them in place") {
    const Machine machine;
    Bytes bytes(32, 7);
    const Mem copied = machine.buffer(bytes);
    auto desc = buffer_desc(bytes.size());
    desc.flags = PI_MEM_USE_HOST_PTR;
    desc.host_ptr = bytes.data();
    Mem used;
    REQUIRE(piMemBufferCreate(machine.context, machine.device, &desc, used.out()) == PI_SUCCESS);
    bytes[3] = 9;
    CHECK(machine.read_back(copied) == Bytes(32, 7));
    CHECK(machine.read_back(used) == bytes);
    // Two objects, one storage.
    Mem twin;
    REQUIRE(piMemBufferCreate(machine.context, machine.device, &desc, twin.out()) == PI_SUCCESS);
    CHECK(Machine::copy(machine.queue, used, twin, {range(0, 4, 8)}) == PI_ERROR_MEM_COPY_OVERLAP);
    CHECK(Machine::copy(machine.queue, used, twin, {range(0, 16, 8)}, {}, nullptr,
                        PI_COMMAND_BLOCKING) == PI_SUCCESS);
    CHECK(bytes[19] == 9);
}

TEST_CASE("a copy moves exactly the bytes of its regions") {
    const uint64_t seed = GENERATE(1, 2, 3, 4);
    const Machine machine(GENERATE(false, true));
    CAPTURE(seed);
    RandomRegions random(seed);
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        const Bytes from = random.bytes(random.between(32, 600));
        Bytes to = random.bytes(random.between(32, 600));
        const auto regions = random.make(from.size(), to.size());
        const Mem src = machine.buffer(from), dst = machine.buffer(to);
        REQUIRE(Machine::copy(machine.queue, src, dst, regions, {}, nullptr, PI_COMMAND_BLOCKING) ==
                PI_SUCCESS);
        RandomRegions::apply(regions, from, to);
        REQUIRE(machine.read_back(dst) == to);
        REQUIRE(machine.read_back(src) == from);
    }
}

TEST_CASE("a copy that is not possible is refused and changes nothing") {
    const Machine machine;
    const Bytes bytes = RandomRegions(1).bytes(64);
    const Mem mem = machine.buffer(bytes), other = machine.buffer(bytes);
    const auto copy = [&](pi_region region, pi_mem dst) {
        return Machine::copy(machine.queue, mem, dst, {range(0, 32, 1), region});
    };
    const auto shaped = [](uint64_t rows, uint64_t pitch) {
        pi_region region = range(0, 0, 8);
        region.extent[1] = rows;
        region.dst_pitch[0] = pitch;
        return region;
    };
    CHECK(Machine::copy(machine.queue, mem, other, {}) == PI_ERROR_INVALID_SIZE);
    CHECK(copy(range(0, 0, 0), other) == PI_ERROR_INVALID_SIZE);
    CHECK(copy(range(60, 0, 5), other) == PI_ERROR_INVALID_SIZE);
    CHECK(copy(range(0, 60, 5), other) == PI_ERROR_INVALID_SIZE);
    CHECK(copy(range(UINT64_MAX, 0, 2), other) == PI_ERROR_INVALID_SIZE);
    CHECK(copy(shaped(2, 7), other) == PI_ERROR_INVALID_SIZE);
    CHECK(copy(shaped(UINT64_MAX / 2, 16), other) == PI_ERROR_INVALID_SIZE);
    CHECK(copy(shaped(2, 57), other) == PI_ERROR_INVALID_SIZE);
    CHECK(copy(range(8, 10, 8), mem) == PI_ERROR_MEM_COPY_OVERLAP);
    pi_region reserved = range(0, 0, 4);
    reserved.reserved = 1;
    CHECK(copy(reserved, other) == PI_ERROR_UNSUPPORTED_FEATURE);
    REQUIRE(piQueueFinish(machine.queue) == PI_SUCCESS);
    CHECK(machine.read_back(mem) == bytes);
    CHECK(machine.read_back(other) == bytes);
    // Rows that interleave do not overlap.
    pi_region rows = range(0, 8, 8);
    rows.extent[1] = 3;
    rows.src_pitch[0] = rows.dst_pitch[0] = 16;
    CHECK(Machine::copy(machine.queue, mem, mem, {rows}) == PI_SUCCESS);
}

TEST_CASE("each map needs an unmap, and has only one") {
    const Machine machine(GENERATE(false, true));
    const Mem mem = machine.buffer(Bytes(64, 1));
    void *first = nullptr, *second = nullptr;
    CHECK(Machine::map(machine.queue, mem, 0, 64, 0, &first) == PI_ERROR_INVALID_VALUE);
    CHECK(Machine::map(machine.queue, mem, 60, 5, PI_MAP_READ, &first) == PI_ERROR_INVALID_SIZE);
    CHECK(Machine::map(machine.queue, mem, 0, 0, PI_MAP_READ, &first) == PI_ERROR_INVALID_SIZE);
    CHECK(Machine::map(machine.queue, mem, 0, 64, PI_MAP_READ, nullptr) ==
          PI_ERROR_INVALID_NULL_POINTER);
    CHECK(Machine::unmap(machine.queue, mem, &first) == PI_ERROR_INVALID_VALUE);
    CHECK(first == nullptr);

    const uint64_t flags = read_now;
    REQUIRE(Machine::map(machine.queue, mem, 0, 64, flags, &first) == PI_SUCCESS);
    REQUIRE(Machine::map(machine.queue, mem, 8, 8, flags, &second) == PI_SUCCESS);
    CHECK(static_cast<char *>(second) - static_cast<char *>(first) == 8);
    CHECK(Machine::unmap(machine.queue, mem, &first) == PI_ERROR_INVALID_VALUE);
    CHECK(Machine::unmap(machine.queue, mem, static_cast<char *>(first) + 1) ==
          PI_ERROR_INVALID_VALUE);
    CHECK(Machine::unmap(machine.queue, mem, first) == PI_SUCCESS);
    CHECK(Machine::unmap(machine.queue, mem, second) == PI_SUCCESS);
    REQUIRE(piQueueFinish(machine.queue) == PI_SUCCESS);
    CHECK(Machine::unmap(machine.queue, mem, second) == PI_ERROR_INVALID_VALUE);
}

TEST_CASE("memory of every context of the plugin is unified") {
    const Machine machine, elsewhere;
    const Context other = machine.make_context();
    pi_memory_connection connection = PI_MEMORY_CONNECTION_NONE;
    CHECK(piGetMemoryConnection(machine.device, machine.context, machine.device, other,
                                &connection) == PI_SUCCESS);
    CHECK(connection == PI_MEMORY_CONNECTION_UNIFIED);
    CHECK(piGetMemoryConnection(machine.device, machine.context, machine.device, other, nullptr) ==
          PI_ERROR_INVALID_NULL_POINTER);
    CHECK(piGetMemoryConnection(machine.device, nullptr, machine.device, other, &connection) ==
          PI_ERROR_INVALID_CONTEXT);
    CHECK(piGetMemoryConnection(machine.device, machine.context, elsewhere.device,
                                elsewhere.context, &connection) == PI_SUCCESS);
    CHECK(connection == PI_MEMORY_CONNECTION_NONE);

    // The connection is used: memory of the other context is accepted.
    const auto desc = buffer_desc(16);
    Mem dst;
    REQUIRE(piMemBufferCreate(other, machine.device, &desc, dst.out()) == PI_SUCCESS);
    const Bytes bytes = RandomRegions(2).bytes(16);
    const Mem src = machine.buffer(bytes);
    REQUIRE(Machine::copy(machine.queue, src, dst, {range(0, 0, 16)}, {}, nullptr,
                          PI_COMMAND_BLOCKING) == PI_SUCCESS);
    CHECK(machine.read_back(dst) == bytes);
}
