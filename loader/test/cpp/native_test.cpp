// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Features that need a backend with a driver: native handles both ways, linked programs, binaries.
// On OpenCL.
#include "fixture.hpp"

#include <algorithm>
#include <cstring>

using namespace cpp_test;

namespace {

/// Like that of fixture.hpp, on the first device of the first driver.
struct Place {
    Place()
        : loader(load(PI_TEST_OPENCL_PLUGIN)), device(loader.select_devices("opencl:0:0").at(0)),
          platform(device.info<PI_DEVICE_INFO_PLATFORM>()),
          context(pi::Context::create(platform, device)),
          queue(pi::Queue::create(context, device)) {}

    pi::Loader loader;
    pi::DeviceRef device;
    pi::Platform platform;
    pi::Context context;
    pi::Queue queue;
};

/// The descriptor of an object around a handle that the caller keeps.
pi_native_desc around(const pi_native_handle &handle) {
    auto desc = pi::desc<pi_native_desc>();
    desc.handle = handle;
    return desc;
}

bool same(const pi_native_handle &one, const pi_native_handle &other) {
    return one.type == other.type && one.count == other.count &&
           std::equal(one.value, one.value + one.count, other.value);
}

constexpr const char *caller = "uchar more(uchar); kernel void add(global uchar *p) { "
                               "p[get_global_id(0)] = more(p[get_global_id(0)]); }";
constexpr const char *callee = "uchar more(uchar value) { return value + 3; }";

pi::Program compiled(pi::ContextRef context, std::string_view text) {
    pi::Program part = pi::Program::create(context, PI_PROGRAM_FORMAT_OPENCL_C, text);
    part.compile();
    return part;
}
pi::Program linked(pi::ContextRef context) {
    const pi::Program parts[] = {compiled(context, caller), compiled(context, callee)};
    return pi::Program::link(context, parts);
}

void check_adds_three(const Place &place, pi::QueueRef queue, pi::KernelRef kernel) {
    Bytes bytes = some_bytes(64);
    const pi::Mem mem = pi::Mem::buffer_create(place.context, place.device, bytes.size());
    const pi_kernel_argument argument = pi::buffer_argument(mem);
    auto launch = pi::desc<pi_kernel_launch_desc>();
    launch.kernel = kernel.get();
    launch.dimensions = 1;
    launch.global_size[0] = bytes.size();
    launch.argument_count = 1;
    launch.arguments = &argument;
    const pi::Event written = write(queue, mem, bytes);
    const pi::Event launched = queue.enqueue(launch, written);
    const Bytes result = read(queue, mem, bytes.size(), launched);
    for (uint8_t &byte : bytes)
        byte = static_cast<uint8_t>(byte + 3);
    CHECK(result == bytes);
}

} // namespace

TEST_CASE("a native handle of every type creates an object that is the same for the driver") {
    const Place place;
    const pi_native_handle platform = place.platform.native_handle();
    CHECK(platform.type == PI_NATIVE_OPENCL);
    const pi::Plugin plugin = place.loader.plugins().at(0);
    CHECK(pi::Platform::create_with_native_handle(plugin, around(platform)).get() ==
          place.platform.get());
    const pi_native_handle device = place.device.native_handle();
    CHECK(
        same(pi::Device::create_with_native_handle(place.platform, around(device)).native_handle(),
             device));

    const pi_native_handle native_context = place.context.native_handle(place.device);
    const pi::Context context =
        pi::Context::create_with_native_handle(place.platform, around(native_context));
    CHECK(same(context.native_handle(), native_context));

    const pi_native_handle native_queue = place.queue.native_handle();
    const pi::Queue queue =
        pi::Queue::create_with_native_handle(place.context, place.device, around(native_queue));
    CHECK(same(queue.native_handle(), native_queue));

    const pi::Program program = linked(place.context);
    const pi::Program program_again =
        pi::Program::create_with_native_handle(place.context, around(program.native_handle()));
    const pi::Kernel kernel = pi::Kernel::create(program_again, "add");
    const pi::Kernel kernel_again =
        pi::Kernel::create_with_native_handle(program_again, around(kernel.native_handle()));
    CHECK(same(kernel_again.native_handle(), kernel.native_handle()));
    check_adds_three(place, queue, kernel_again);

    const Bytes bytes = some_bytes(32);
    const pi::Mem mem = pi::Mem::buffer_create(place.context, place.device, bytes.size());
    const pi::Event written = write(queue, mem, bytes);
    written.wait();
    const pi::Event event =
        pi::Event::create_with_native_handle(place.context, around(written.native_handle()));
    event.wait();
    auto import = pi::desc<pi_mem_import_desc>();
    import.handle.type = PI_EXTERNAL_NATIVE;
    import.handle.native = mem.native_handle(place.device);
    import.size = bytes.size();
    const pi::Mem imported = pi::Mem::import_handle(place.context, place.device, import);
    CHECK(read(queue, imported, bytes.size(), event) == bytes);
}

TEST_CASE("a handle of another type throws and creates nothing") {
    const Place place;
    pi_native_handle handle = place.queue.native_handle();
    handle.type = PI_NATIVE_CUDA_STREAM;
    CHECK(code_of([&] {
              pi::Queue::create_with_native_handle(place.context, place.device, around(handle));
          }) == PI_ERROR_INVALID_NATIVE_HANDLE);
    const auto result =
        pi::nothrow::Queue::create_with_native_handle(place.context, place.device, around(handle));
    CHECK(result.error() == PI_ERROR_INVALID_NATIVE_HANDLE);
    CHECK_FALSE(result.has_value());
}

TEST_CASE("a program is linked from parts, and its binary recreates it") {
    const Place place;
    const pi::Program program = linked(place.context);
    CHECK(program.build_info<PI_PROGRAM_BUILD_INFO_STATUS>(place.device) == PI_PROGRAM_BUILT);
    check_adds_three(place, place.queue, pi::Kernel::create(program, "add"));

    const std::vector<std::vector<uint8_t>> binaries = program.binaries();
    REQUIRE(binaries.size() == 1);
    REQUIRE_FALSE(binaries[0].empty());
    const std::string_view bytes(reinterpret_cast<const char *>(binaries[0].data()),
                                 binaries[0].size());
    const pi::Program again =
        pi::Program::create(place.context, PI_PROGRAM_FORMAT_DEVICE_BINARY, bytes);
    again.build();
    check_adds_three(place, place.queue, pi::Kernel::create(again, "add"));
    CHECK(code_of([&] {
              const pi::Program part = compiled(place.context, caller);
              pi::Program::link(place.context, part);
          }) == PI_ERROR_BUILD_FAILED);
}
