// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of pi.hpp on the host plugin and on a simulated machine.
#include "fixture.hpp"

#include <pi/pi_sim.h>

#include <array>
#include <cstring>

using namespace cpp_test;

TEST_CASE("every query returns its C++ type and the value of the C call") {
    const Machine machine = host();
    const pi::DeviceRef device = machine.device();

    char name[200] = "";
    REQUIRE(piDeviceGetInfo(device.get(), PI_DEVICE_INFO_NAME, sizeof name, name, nullptr) ==
            PI_SUCCESS);
    CHECK(device.info<PI_DEVICE_INFO_NAME>() == name);
    CHECK(device.info_as<std::string>(PI_DEVICE_INFO_NAME) == name);
    uint32_t units = 0;
    REQUIRE(piDeviceGetInfo(device.get(), PI_DEVICE_INFO_COMPUTE_UNITS, sizeof units, &units,
                            nullptr) == PI_SUCCESS);
    CHECK(device.info<PI_DEVICE_INFO_COMPUTE_UNITS>() == units);
    std::array<uint64_t, 3> sizes{};
    REQUIRE(piDeviceGetInfo(device.get(), PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES, sizeof sizes,
                            sizes.data(), nullptr) == PI_SUCCESS);
    CHECK(device.info<PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES>() == sizes);

    // Handles are returned as types of pi.hpp, lists as vectors.
    const pi::Platform platform = device.info<PI_DEVICE_INFO_PLATFORM>();
    CHECK(platform.info<PI_PLATFORM_INFO_BACKEND>() == PI_BACKEND_HOST);
    CHECK(platform.info<PI_PLATFORM_INFO_PLUGIN>().info<PI_PLUGIN_INFO_NAME>() == "host");
    CHECK(machine.context.info<PI_CONTEXT_INFO_DEVICES>() == machine.devices);
    CHECK_FALSE(device.info<PI_DEVICE_INFO_PARENT>());
    CHECK(machine.queue.info<PI_QUEUE_INFO_CONTEXT>() == machine.context);
}

TEST_CASE("an unsupported info is an empty optional, not an error") {
    const Machine machine = host();
    CHECK_FALSE(machine.device().find_info<PI_DEVICE_INFO_LUID>());
    CHECK(code_of([&] { machine.device().info<PI_DEVICE_INFO_LUID>(); }) ==
          PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(machine.device().find_info<PI_DEVICE_INFO_NAME>() ==
          machine.device().info<PI_DEVICE_INFO_NAME>());
    const auto luid = pi::nothrow::DeviceRef(machine.device()).find_info<PI_DEVICE_INFO_LUID>();
    CHECK(luid);
    CHECK_FALSE(luid->has_value());
    CHECK(pi::nothrow::DeviceRef().find_info<PI_DEVICE_INFO_LUID>().error() ==
          PI_ERROR_INVALID_DEVICE);
    CHECK(code_of([&] { machine.device().info_as<uint32_t>(PI_VENDOR_BIT | 1); }) ==
          PI_ERROR_INVALID_ENUMERATION);
}

TEST_CASE("a loader lists its plugins, devices, selectors, reports and variables") {
    const Machine machine = sim();
    const std::vector<pi::Plugin> plugins = machine.loader.plugins();
    REQUIRE(plugins.size() == 1);
    const std::vector<pi_plugin_report> reports = machine.loader.reports();
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].status == PI_PLUGIN_LOADED);
    CHECK(reports[0].plugin == plugins[0].get());
    const std::vector<pi::Platform> platforms = plugins[0].platforms();
    REQUIRE(platforms.size() == 1);
    CHECK(platforms[0].devices() == machine.devices);
    CHECK(platforms[0].devices(PI_DEVICE_TYPE_CPU).empty());
    CHECK(machine.devices.size() == 2);
    CHECK(machine.loader.device_selector(machine.device(1)) == "sim:0:1");
    CHECK(machine.loader.select_devices("sim:0:1").at(0) == machine.device(1));
    CHECK(code_of([&] { machine.loader.select_devices(std::string("none:0")); }) ==
          PI_ERROR_INVALID_NAME);
    CHECK(code_of([&] { machine.loader.call_counts(plugins[0]); }) == PI_ERROR_INVALID_OPERATION);
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = uint64_t{1} << 63;
    CHECK(code_of([&] { pi::Loader::create(&desc); }) == PI_ERROR_UNSUPPORTED_FEATURE);
    bool has_machine = false;
    for (const pi_environment_variable &variable : machine.loader.environment())
        has_machine = has_machine || std::string(variable.name) == "PI_PLUGINS";
    CHECK(has_machine);
    CHECK(platforms[0].backend_option("-no-such-option").empty());
}

TEST_CASE("an extension of a plugin is its function table") {
    const Machine machine = sim();
    const pi::Plugin plugin = machine.loader.plugins().at(0);
    const pi_sim_v1 *table = plugin.extension<pi_sim_v1>(PI_SIM_V1);
    CHECK(table->size >= sizeof(pi_sim_v1));
    CHECK(plugin.extension(PI_SIM_V1, sizeof(pi_sim_v1)) == table);
    CHECK(code_of([&] { plugin.extension("none", 8); }) == PI_ERROR_INVALID_NAME);
}

TEST_CASE("a kernel runs after its wait list, of any type, on host and simulated devices") {
    const Machine machine = GENERATE(0, 1) == 0 ? host() : sim();
    const pi::Kernel kernel = make_add(machine.context);
    const pi::Mem mem = pi::Mem::buffer_create(machine.context, machine.device(), 100);
    const pi::Queue queue = pi::Queue::create(machine.context, machine.device(),
                                              PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING);
    Bytes bytes = some_bytes(100);
    const pi::Event gate = pi::Event::create_host(machine.context);
    const pi::Event written = write(queue, mem, bytes, gate);

    const uint8_t summand = 5;
    const pi_kernel_argument arguments[] = {pi::buffer_argument(mem), pi::value_argument(summand)};
    auto launch = pi::desc<pi_kernel_launch_desc>();
    launch.kernel = kernel.get();
    launch.dimensions = 1;
    launch.global_size[0] = bytes.size();
    launch.argument_count = 2;
    launch.arguments = arguments;
    pi::Event last = queue.enqueue(launch, written);           // an owner
    last = queue.enqueue(launch, pi::EventRef(last));          // a reference
    last = queue.enqueue(launch, last.get());                  // a C handle
    last = queue.enqueue(launch, {gate, last, written.get()}); // several
    // any type with data and size
    last = queue.enqueue(launch, std::array<pi_event, 1>{last.get()});
    std::vector<pi::Event> owners;
    owners.push_back(std::move(last));
    owners.push_back(gate.retain());
    last = queue.enqueue(launch, owners);
    queue.enqueue(launch, {last}, pi::no_event);
    queue.flush();
    CHECK_FALSE(last.wait_for(0)); // all of it waits for the gate
    gate.signal_host();
    last.wait();
    queue.finish();
    for (uint8_t &byte : bytes)
        byte = static_cast<uint8_t>(byte + 7 * summand);
    CHECK(read(machine.queue, mem, 100) == bytes);

    CHECK(last.info<PI_EVENT_INFO_COMMAND>() == PI_TYPE_KERNEL_LAUNCH_DESC);
    CHECK(last.info<PI_EVENT_INFO_QUEUE>() == queue);
    CHECK(last.profiling_info<PI_PROFILING_END>() >= last.profiling_info<PI_PROFILING_START>());
    CHECK(kernel.info<PI_KERNEL_INFO_NAME>() == "add");
    CHECK(kernel.info<PI_KERNEL_INFO_ARGUMENT_COUNT>() == 2);
    CHECK(kernel.group_info<PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE>(machine.device()) >= 1);
    CHECK(pi::Kernel::suggested_local_size(queue, launch)[0] >= 1);
}

TEST_CASE("a failure propagates through a wait list and throws at the wait") {
    const Machine machine = host();
    const pi::Event gate = pi::Event::create_host(machine.context);
    const pi::Event behind = machine.queue.enqueue(pi::desc<pi_barrier_desc>(), gate);
    gate.signal_host(PI_ERROR_BACKEND);
    CHECK(code_of([&] { behind.wait(); }) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(code_of([&] { behind.wait_for(1'000'000'000); }) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(behind.info<PI_EVENT_INFO_RESULT>() == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(code_of([&] { gate.signal_host(); }) == PI_ERROR_INVALID_OPERATION);
    CHECK(code_of([&] {
              machine.queue.enqueue(pi::desc<pi_barrier_desc>(), pi_event{}, pi::no_event);
          }) == PI_ERROR_INVALID_EVENT);
}

TEST_CASE("bytes are copied from one simulated device to the other") {
    const Machine machine = sim();
    const pi::Queue other = pi::Queue::create(machine.context, machine.device(1));
    const pi::Mem src = pi::Mem::buffer_create(machine.context, machine.device(0), 300);
    const pi::Mem dst = pi::Mem::buffer_create(machine.context, machine.device(1), 300);
    CHECK(machine.device(0).memory_connection(machine.context, machine.device(1),
                                              machine.context) == PI_MEMORY_CONNECTION_MIGRATABLE);
    const pi_memory_connection_info info = machine.device(0).memory_connection_info(
        machine.context, machine.device(1), machine.context);
    CHECK(info.connection == PI_MEMORY_CONNECTION_MIGRATABLE);
    CHECK(info.bandwidth == 2'000'000'000);

    const Bytes bytes = some_bytes(300);
    const pi::Event written = write(machine.queue, src, bytes);
    const pi_region halves[] = {pi::region(100), pi::region(200, 100, 100)};
    auto copy = pi::desc<pi_buffer_copy_desc>();
    copy.src = src.get();
    copy.dst = dst.get();
    copy.region_count = 2;
    copy.regions = halves;
    const pi::Event copied = machine.queue.enqueue(copy, written);
    CHECK(read(other, dst, 300, copied) == bytes);
}

TEST_CASE("memory has views, a host pointer, maps and an import in place") {
    const Machine machine = host();
    const Bytes bytes = some_bytes(4096);
    const pi::Mem mem = pi::Mem::buffer_create(machine.context, machine.device(), 4096);
    write(machine.queue, mem, bytes).wait();
    const pi::Mem view = mem.buffer_partition(1024, 100);
    CHECK(view.info<PI_MEM_INFO_PARENT>() == mem);
    CHECK(view.info<PI_MEM_INFO_OFFSET>() == 1024);
    CHECK(read(machine.queue, view, 100) == Bytes(bytes.begin() + 1024, bytes.begin() + 1124));
    mem.flush(0, 4096);
    mem.invalidate(0, 4096);
    CHECK(std::memcmp(mem.host_pointer(), bytes.data(), bytes.size()) == 0);

    void *pointer = nullptr;
    auto map = pi::desc<pi_buffer_map_desc>();
    map.flags = PI_MAP_READ | PI_COMMAND_BLOCKING;
    map.mem = mem.get();
    map.size = 4096;
    map.out_pointer = &pointer;
    machine.queue.enqueue(map, pi::no_event);
    REQUIRE(pointer != nullptr);
    CHECK(std::memcmp(pointer, bytes.data(), bytes.size()) == 0);
    auto unmap = pi::desc<pi_unmap_desc>();
    unmap.mem = mem.get();
    unmap.pointer = pointer;
    machine.queue.enqueue(unmap).wait();

    alignas(4096) static uint8_t mine[4096] = {1, 2, 3};
    auto import = pi::desc<pi_mem_import_desc>();
    import.handle.type = PI_EXTERNAL_HOST_POINTER;
    import.handle.pointer = mine;
    import.size = sizeof mine;
    const pi::Mem imported = pi::Mem::import_handle(machine.context, machine.device(), import);
    CHECK(imported.host_pointer() == mine);
    CHECK(imported.info<PI_MEM_INFO_KIND>() == PI_MEMORY_KIND_IMPORTED);
    CHECK(code_of([&] { mem.export_handle(pi::desc<pi_mem_export_desc>()); }) != PI_SUCCESS);
}

TEST_CASE("without native handles in the backend the call is refused with the C call's text") {
    const Machine machine = host();
    const auto refused = [](auto call, const std::string &function) {
        try {
            call();
            FAIL("nothing was thrown");
        } catch (const pi::Error &error) {
            CHECK(error.code() == PI_ERROR_UNSUPPORTED_FEATURE);
            CHECK_THAT(error.what(), Catch::StartsWith(function + ": "));
        }
    };
    const auto native = pi::desc<pi_native_desc>();
    const pi::ContextRef context = machine.context;
    const pi::DeviceRef device = machine.device();
    refused([&] { context.native_handle(); }, "piContextGetNativeHandle");
    refused([&] { device.native_handle(); }, "piDeviceGetNativeHandle");
    refused([&] { machine.queue.native_handle(); }, "piQueueGetNativeHandle");
    refused([&] { pi::Mem::buffer_create(context, device, 8).native_handle(device); },
            "piMemGetNativeHandle");
    refused([&] { make_program(context).native_handle(device); }, "piProgramGetNativeHandle");
    refused([&] { make_add(context).native_handle(); }, "piKernelGetNativeHandle");
    refused([&] { pi::Event::create_host(context).native_handle(); }, "piEventGetNativeHandle");
    refused([&] { pi::Queue::create_with_native_handle(context, device, native); },
            "piQueueCreateWithNativeHandle");
    refused([&] { pi::Event::create_with_native_handle(context, native); },
            "piEventCreateWithNativeHandle");
    refused([&] { pi::Program::create_with_native_handle(context, native); },
            "piProgramCreateWithNativeHandle");
}

TEST_CASE("USM is freed once, by its owner") {
    const Machine machine = host();
    void *address = nullptr;
    {
        pi::Usm usm = pi::Usm::alloc(machine.context, machine.device(), PI_USM_DEVICE, 256);
        address = usm.get();
        REQUIRE(address != nullptr);
        CHECK(usm.info<PI_USM_INFO_KIND>() == PI_USM_DEVICE);
        CHECK(usm.info<PI_USM_INFO_DEVICE>() == machine.device());
        CHECK(pi::Usm::info<PI_USM_INFO_BASE>(machine.context, static_cast<char *>(address) + 5) ==
              address);
        pi::Usm moved = std::move(usm);
        CHECK_FALSE(usm); // NOLINT: a moved-from owner is empty
        CHECK(moved.info<PI_USM_INFO_SIZE>() == 256);
        usm = std::move(moved);
        CHECK(usm.get() == address);
    }
    CHECK(code_of([&] { pi::Usm::info<PI_USM_INFO_SIZE>(machine.context, address); }) ==
          PI_ERROR_INVALID_USM_POINTER);

    pi::Usm usm = pi::Usm::alloc(machine.context, nullptr, PI_USM_HOST, 64);
    usm.free();
    CHECK_FALSE(usm);
    usm.free(); // NULL succeeds
    CHECK(code_of([&] { pi::Usm::alloc(machine.context, nullptr, PI_USM_DEVICE, 64); }) ==
          PI_ERROR_INVALID_DEVICE);
    // Memory that C frees is detached.
    usm = pi::Usm::alloc(machine.context, nullptr, PI_USM_HOST, 64);
    CHECK(piUsmFree(machine.context.get(), usm.detach()) == PI_SUCCESS);
    // Memory that could not be freed stays owned.
    pi::Usm wrong = pi::Usm::adopt(machine.context, &address);
    CHECK(code_of([&] { wrong.free(); }) == PI_ERROR_INVALID_USM_POINTER);
    CHECK(wrong.detach() == &address);
}

TEST_CASE("a pool allocates memory, and host memory stays pinned until its registration ends") {
    const Machine machine = host();
    auto desc = pi::desc<pi_usm_pool_desc>();
    desc.kind = PI_USM_DEVICE;
    const pi::UsmPool pool = pi::UsmPool::create(machine.context, machine.device(), desc);
    auto alloc = pi::desc<pi_usm_desc>();
    alloc.kind = PI_USM_DEVICE;
    alloc.size = 1000;
    alloc.pool = pool.get();
    {
        const pi::Usm usm = pi::Usm::alloc(machine.context, machine.device(), alloc);
        CHECK(usm.info<PI_USM_INFO_POOL>() == pool);
        CHECK(pool.info<PI_USM_POOL_INFO_USED>() >= 1000);
    }
    CHECK(pool.info<PI_USM_POOL_INFO_USED>() == 0);

    alignas(4096) static uint8_t mine[4096];
    {
        auto pinned = pi::Usm::host_register(machine.context, mine, sizeof mine);
        const pi::UsmRegistration moved = std::move(pinned);
        CHECK_FALSE(pinned); // NOLINT: a moved-from owner is empty
        CHECK(moved.get() == mine);
    }
    CHECK(piUsmHostUnregister(machine.context.get(), mine) == PI_ERROR_INVALID_VALUE);
}

TEST_CASE("programs return their build status and log") {
    const Machine machine = host();
    const pi::Program program = make_program(machine.context);
    CHECK(program.build_info<PI_PROGRAM_BUILD_INFO_STATUS>(machine.device()) ==
          PI_PROGRAM_NOT_BUILT);
    CHECK(code_of([&] { pi::Kernel::create(program, "add"); }) == PI_ERROR_INVALID_OPERATION);
    program.build();
    CHECK(program.build_info<PI_PROGRAM_BUILD_INFO_STATUS>(machine.device()) == PI_PROGRAM_BUILT);
    CHECK(program.info<PI_PROGRAM_INFO_KERNEL_NAMES>() == "add");
    CHECK(program.info<PI_PROGRAM_INFO_DEVICES>() == machine.devices);
    CHECK(code_of([&] { pi::Kernel::create(program, std::string("subtract")); }) ==
          PI_ERROR_INVALID_NAME);
    CHECK(program.function_pointer(machine.device(), "add") == reinterpret_cast<uintptr_t>(&add));
    CHECK(code_of([&] {
              pi::Program::create(machine.context, PI_PROGRAM_FORMAT_OPENCL_C, "kernel");
          }) == PI_ERROR_UNSUPPORTED_FEATURE);
    const pi_program_binary binaries[] = {
        {"sm_90", PI_PROGRAM_FORMAT_CUBIN, 0, nullptr, 0, {}},
        {"native", PI_PROGRAM_FORMAT_NATIVE_TABLE, 0, nullptr, 0, {}}};
    CHECK(machine.device().select_binary(binaries) == 1);
    CHECK(machine.device().select_binary({&binaries[1], 1}) == 0);
    CHECK(code_of([&] {
              machine.device().select_binary({binaries, 1});
          }) == PI_ERROR_INVALID_BINARY);
}

TEST_CASE("sub-devices are released by their owners") {
    const Machine machine = host();
    auto desc = pi::desc<pi_device_partition_desc>();
    desc.kind = PI_PARTITION_BY_NUMA;
    std::vector<pi::Device> parts = machine.device().partition(desc);
    REQUIRE(parts.size() == 1);
    const pi::Device part = parts[0].retain();
    CHECK(part.info<PI_DEVICE_INFO_PARENT>() == machine.device());
    CHECK(part.info<PI_DEVICE_INFO_REFERENCE_COUNT>() == 2);
    parts.clear();
    CHECK(part.info<PI_DEVICE_INFO_REFERENCE_COUNT>() == 1);
    const pi::Context context = pi::Context::create(part.info<PI_DEVICE_INFO_PLATFORM>(), part);
    CHECK(context.info<PI_CONTEXT_INFO_DEVICES>().at(0) == part);
    const auto scopes = machine.device().memory_scopes();
    REQUIRE_FALSE(scopes.empty());
    CHECK(scopes[0].min_alignment >= 1);
    const auto times = machine.device().global_timestamps();
    CHECK(times.host_time > 0);
}

TEST_CASE("images and samplers are created, filled and read") {
    const Machine machine = host();
    auto desc = pi::desc<pi_mem_image_desc>();
    desc.image_type = PI_IMAGE_2D;
    desc.channel_order = PI_CHANNEL_ORDER_RGBA;
    desc.channel_type = PI_CHANNEL_UNORM8;
    desc.width = 4;
    desc.height = 2;
    const pi::Mem image = pi::Mem::image_create(machine.context, machine.device(), desc);
    const std::array<float, 4> red{1, 0, 0, 1};
    auto fill = pi::desc<pi_image_fill_desc>();
    fill.image = image.get();
    fill.color = red.data();
    fill.extent[0] = 4;
    fill.extent[1] = 2;
    const pi::Event filled = machine.queue.enqueue(fill);
    std::array<uint8_t, 32> pixels{};
    pi_image_region all{};
    all.extent[0] = 4;
    all.extent[1] = 2;
    auto read_pixels = pi::desc<pi_image_read_desc>();
    read_pixels.flags = PI_COMMAND_BLOCKING;
    read_pixels.image = image.get();
    read_pixels.host_ptr = pixels.data();
    read_pixels.region_count = 1;
    read_pixels.regions = &all;
    machine.queue.enqueue(read_pixels, filled, pi::no_event);
    CHECK(pixels[0] == 255);
    CHECK(pixels[1] == 0);
    CHECK(pixels[31] == 255);

    auto how = pi::desc<pi_sampler_desc>();
    how.filter = PI_FILTER_LINEAR;
    const pi::Sampler sampler = pi::Sampler::create(machine.context, how);
    CHECK(sampler.info<PI_SAMPLER_INFO_FILTER>() == PI_FILTER_LINEAR);
    CHECK(sampler.info<PI_SAMPLER_INFO_CONTEXT>() == machine.context);
    const pi_kernel_argument argument = pi::image_argument(image, sampler);
    CHECK(argument.kind == PI_ARGUMENT_IMAGE);
    CHECK(argument.mem == image.get());
    CHECK(argument.image_sampler == sampler.get());
    CHECK(pi::sampler_argument(sampler).sampler == sampler.get());
    CHECK(pi::local_argument(64).size == 64);
    CHECK(pi::pointer_argument(&how).pointer == &how);
}
