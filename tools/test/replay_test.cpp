// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi-replay as a user runs it, on logs that the layer record writes here.
#include "native_kernel.hpp"
#include "tool.hpp"

#include <pi/pi_loader.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace pi_test;
using Catch::Matchers::Contains;

namespace {

const std::vector<std::string> on_host = {"PI_DEVICE_SELECTOR=host"};

pi_region linear(uint64_t size) {
    pi_region region{};
    region.extent[0] = size;
    return region;
}

/// The objects of a recorded program.
struct Machine {
    pi_device device;
    pi_context context;
    pi_queue queue;

    pi_mem make_buffer(uint64_t size) const {
        auto d = pi::desc<pi_mem_buffer_desc>();
        d.size = size;
        pi_mem mem = nullptr;
        OK(piMemBufferCreate(context, device, &d, &mem));
        return mem;
    }
    void write(pi_mem mem, const std::vector<unsigned char> &bytes) const {
        const pi_region all = linear(bytes.size());
        auto d = pi::desc<pi_buffer_write_desc>();
        d.mem = mem;
        d.host_ptr = bytes.data();
        d.region_count = 1;
        d.regions = &all;
        OK(piEnqueueMemBufferWrite(queue, &d, 0, nullptr, nullptr));
        OK(piQueueFinish(queue));
    }
    pi_result fill(pi_mem mem, uint32_t pattern, uint64_t offset, uint64_t size,
                   pi_event *event = nullptr, pi_event wait = nullptr) const {
        auto d = pi::desc<pi_buffer_fill_desc>();
        d.mem = mem;
        d.pattern = &pattern;
        d.pattern_size = sizeof pattern;
        d.offset = offset;
        d.size = size;
        return piEnqueueMemBufferFill(queue, &d, wait != nullptr ? 1 : 0, &wait, event);
    }
    void copy(pi_mem src, pi_mem dst, uint64_t size) const {
        const pi_region all = linear(size);
        auto d = pi::desc<pi_buffer_copy_desc>();
        d.src = src;
        d.dst = dst;
        d.region_count = 1;
        d.regions = &all;
        OK(piEnqueueMemBufferCopy(queue, &d, 0, nullptr, nullptr));
    }
    pi_result try_read(pi_mem mem, uint64_t size, uint64_t flags = PI_COMMAND_BLOCKING) const {
        std::vector<unsigned char> bytes(size);
        const pi_region all = linear(size);
        auto d = pi::desc<pi_buffer_read_desc>();
        d.flags = flags;
        d.mem = mem;
        d.host_ptr = bytes.data();
        d.region_count = 1;
        d.regions = &all;
        const pi_result result = piEnqueueMemBufferRead(queue, &d, 0, nullptr, nullptr);
        return result == PI_SUCCESS && flags == 0 ? piQueueFinish(queue) : result;
    }
    void read(pi_mem mem, uint64_t size, uint64_t flags = PI_COMMAND_BLOCKING) const {
        OK(try_read(mem, size, flags));
    }
    pi_event make_host_event() const {
        pi_event event = nullptr;
        OK(piEventCreateHost(context, nullptr, &event));
        return event;
    }
};

/// Makes a call that blocks in another thread, and runs `meanwhile` while it blocks: with this
/// delay it nearly always does. Returns the call's result: only one thread may check.
template <typename Call>
pi_result block_in_another_thread(Call call, const std::function<void()> &meanwhile) {
    pi_result result = PI_SUCCESS;
    std::thread other([&] { result = call(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    meanwhile();
    other.join();
    return result;
}

/// Runs a program on the host plugin and records it.
void record(const std::string &path, const std::function<void(const Machine &)> &program) {
    const char *const plugin = "host";
    const char *const layer = "record";
    const pi_loader_option option{"PI_RECORD_FILE", path.c_str()};
    auto loader_desc = pi::desc<pi_loader_desc>();
    loader_desc.plugins = &plugin;
    loader_desc.plugin_count = 1;
    loader_desc.layers = &layer;
    loader_desc.layer_count = 1;
    loader_desc.options = &option;
    loader_desc.option_count = 1;
    pi_loader loader = nullptr;
    OK(piLoaderCreate(&loader_desc, &loader));
    Machine machine{};
    OK(piLoaderSelectDevices(loader, "host", 1, &machine.device, nullptr));
    pi_platform platform = nullptr;
    OK(piDeviceGetInfo(machine.device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform,
                       nullptr));
    auto context_desc = pi::desc<pi_context_desc>();
    context_desc.device_count = 1;
    context_desc.devices = &machine.device;
    OK(piContextCreate(platform, &context_desc, &machine.context));
    OK(piQueueCreate(machine.context, machine.device, nullptr, &machine.queue));
    program(machine);
    OK(piQueueFinish(machine.queue));
    OK(piQueueRelease(machine.queue));
    OK(piContextRelease(machine.context));
    OK(piLoaderRelease(loader));
}

/// Buffers, a view, a map, a host event, copies and a call that fails.
void use_everything(const Machine &machine) {
    const pi_mem first = machine.make_buffer(4096);
    const pi_mem second = machine.make_buffer(4096);
    machine.write(first, std::vector<unsigned char>(4096, 3));
    pi_event gate = nullptr;
    OK(piEventCreateHost(machine.context, nullptr, &gate));
    const pi_region part = linear(1000);
    auto copy = pi::desc<pi_buffer_copy_desc>();
    copy.src = first;
    copy.dst = second;
    copy.region_count = 1;
    copy.regions = &part;
    pi_event copied = nullptr;
    OK(machine.fill(second, 0x01020304, 0, 4096));
    OK(piEnqueueMemBufferCopy(machine.queue, &copy, 1, &gate, &copied));
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piEventWait(copied, PI_TIMEOUT_NEVER));
    CHECK(machine.fill(second, 5, 4096, 4) == PI_ERROR_INVALID_SIZE);

    auto part_desc = pi::desc<pi_mem_partition_desc>();
    part_desc.offset = 1024;
    part_desc.size = 1024;
    pi_mem view = nullptr;
    OK(piMemBufferPartition(second, &part_desc, &view));
    OK(machine.fill(view, 0xa0b0c0d0, 16, 32));

    void *pointer = nullptr;
    auto map = pi::desc<pi_buffer_map_desc>();
    map.flags = PI_MAP_WRITE | PI_COMMAND_BLOCKING;
    map.mem = second;
    map.offset = 3000;
    map.size = 10;
    map.out_pointer = &pointer;
    OK(piEnqueueMemBufferMap(machine.queue, &map, 0, nullptr, nullptr));
    std::memcpy(pointer, "0123456789", 10);
    auto unmap = pi::desc<pi_unmap_desc>();
    unmap.mem = second;
    unmap.pointer = pointer;
    OK(piEnqueueMemUnmap(machine.queue, &unmap, 0, nullptr, nullptr));
    machine.read(second, 4096);
    for (const pi_event event : {gate, copied})
        OK(piEventRelease(event));
    for (const pi_mem mem : {view, first, second})
        OK(piMemRelease(mem));
}

std::string content_of(const std::string &path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

Owned<pi_program> make_library(const Machine &machine) {
    auto d = pi::desc<pi_program_desc>();
    d.format = PI_PROGRAM_FORMAT_NATIVE_LIBRARY;
    const std::string path = PI_TEST_KERNELS;
    d.data = path.data();
    d.size = path.size();
    Owned<pi_program> program;
    OK(piProgramCreate(machine.context, &d, program.out()));
    OK(piProgramBuild(program, nullptr));
    return program;
}

/// Multiplies the words of its first argument by its second one.
Owned<pi_kernel> make_scale(const Machine &machine) {
    return make_kernel(make_library(machine), "scale");
}

/// Memory of a file, which no replay has.
pi_mem import(const Machine &machine, std::vector<uint32_t> &words) {
    const pi_test::Descriptor file(::memfd_create("words", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const auto size = words.size() * sizeof words[0];
    REQUIRE(::write(file.fd, words.data(), size) == static_cast<ssize_t>(size));
    REQUIRE(::fcntl(file.fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    auto d = pi::desc<pi_mem_import_desc>();
    d.handle.type = PI_EXTERNAL_OPAQUE_FD;
    d.handle.fd = file.fd;
    d.size = size;
    pi_mem mem = nullptr;
    OK(piMemImport(machine.context, machine.device, &d, &mem));
    return mem;
}

pi_mem import_pointer(const Machine &machine, void *pointer, uint64_t size) {
    auto d = pi::desc<pi_mem_import_desc>();
    d.handle.type = PI_EXTERNAL_HOST_POINTER;
    d.handle.pointer = pointer;
    d.size = size;
    pi_mem mem = nullptr;
    OK(piMemImport(machine.context, machine.device, &d, &mem));
    return mem;
}

/// An image of 8 times 4 pixels of 4 bytes.
pi_mem_image_desc image_desc() {
    auto d = pi::desc<pi_mem_image_desc>();
    d.image_type = PI_IMAGE_2D;
    d.channel_order = PI_CHANNEL_ORDER_RGBA;
    d.channel_type = PI_CHANNEL_UINT8;
    d.width = 8;
    d.height = 4;
    return d;
}

std::vector<unsigned char> counting(std::size_t size) {
    std::vector<unsigned char> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<unsigned char>(i);
    return bytes;
}

/// Records a program and replays it: every call runs, and this many reads return the same bytes.
std::string replay_all(const std::function<void(const Machine &)> &program, int reads) {
    const TemporaryFile log;
    record(log.path(), program);
    const Ran ran = run_tool({PI_REPLAY, log.path(), "--check-data"}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("other result: 0; other bytes: 0; could not run: 0"));
    CHECK_THAT(ran.output, Contains("reads compared: " + std::to_string(reads)));
    return content_of(log.path());
}

std::string replaced(std::string text, const std::string &old, const std::string &by) {
    const std::size_t at = text.find(old);
    INFO(old << " in " << text);
    REQUIRE(at != std::string::npos);
    return text.replace(at, old.size(), by);
}

void write_file(const std::string &path, const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
}

} // namespace

TEST_CASE("a recorded program replays with the same results and bytes") {
    const TemporaryFile log;
    record(log.path(), use_everything);
    const Ran ran = run_tool({PI_REPLAY, log.path(), "--check-data"}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("other result: 0; other bytes: 0; could not run: 0"));
    CHECK_THAT(ran.output, Contains("reads compared: 1"));
}

#ifdef PI_TEST_MACHINE
TEST_CASE("a recorded program replays with the same results on another plugin") {
    const TemporaryFile log;
    record(log.path(), use_everything);
    const Ran ran = run_tool({PI_REPLAY, log.path(), "--check-data", "--device", "sim:0:0"},
                             {"PI_SIM_MACHINE=" PI_TEST_MACHINE});
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("reads compared: 1"));
}
#endif

TEST_CASE("other results and other bytes are reported with their line") {
    const TemporaryFile log;
    const TemporaryFile other;
    record(log.path(), use_everything);
    const std::string text = content_of(log.path());

    write_file(other.path(), replaced(text, "\"result\":-3", "\"result\":0"));
    Ran ran = run_tool({PI_REPLAY, other.path()}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 4); // a successful call must have its bytes
    ran = run_tool({PI_REPLAY, other.path(), "--list"}, on_host);
    CHECK(ran.exit_code == 0);

    write_file(other.path(), replaced(text, "\"result\":-3", "\"result\":-1"));
    ran = run_tool({PI_REPLAY, other.path()}, on_host);
    CHECK(ran.exit_code == 1);
    CHECK_THAT(ran.output, Contains("(-1), got PI_ERROR_") && Contains("(-3): "));

    // The map's "0123456789" becomes "1123456789".
    write_file(other.path(), replaced(text, "MDEyMzQ1Njc4OQ==", "MTEyMzQ1Njc4OQ=="));
    ran = run_tool({PI_REPLAY, other.path(), "--check-data"}, on_host);
    CHECK(ran.exit_code == 1);
    CHECK_THAT(ran.output, Contains("piEnqueueMemBufferRead: other bytes"));
    CHECK(run_tool({PI_REPLAY, other.path()}, on_host).exit_code == 0);
}

TEST_CASE("a recorded program's kernels run again with their arguments") {
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        const Owned<pi_kernel> kernel = make_scale(machine);
        const pi_mem mem = machine.make_buffer(4000);
        std::vector<unsigned char> bytes(4000);
        for (size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<unsigned char>(i / 4);
        machine.write(mem, bytes);
        const uint32_t factor = 3;
        const pi_kernel_argument arguments[] = {buffer_argument(mem), value_argument(factor)};
        const auto launch = launch_desc(kernel, 900, arguments, 2);
        OK(piEnqueueKernelLaunch(machine.queue, &launch, 0, nullptr, nullptr));
        machine.read(mem, 4000);
        OK(piMemRelease(mem));
    });
    Ran ran = run_tool({PI_REPLAY, log.path(), "--check-data"}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);

#ifdef PI_TEST_MACHINE
    ran = run_tool({PI_REPLAY, log.path(), "--check-data", "--device", "sim:0:0"},
                   {"PI_SIM_MACHINE=" PI_TEST_MACHINE});
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("reads compared: 1"));
#endif

    // Another factor, 4 for 3, or 899 items for 900.
    const TemporaryFile other;
    const std::string text = content_of(log.path());
    for (const auto &[from, to] : {std::pair("\"AwAAAA==\"", "\"BAAAAA==\""), {"[900,", "[899,"}}) {
        write_file(other.path(), replaced(text, from, to));
        ran = run_tool({PI_REPLAY, other.path(), "--check-data"}, on_host);
        INFO(ran.output << ran.errors);
        CHECK(ran.exit_code == 1);
        CHECK_THAT(ran.output, Contains("piEnqueueMemBufferRead: other bytes"));
    }
}

TEST_CASE("images, their commands and samplers replay with the same bytes") {
    const std::string text = replay_all(
        [](const Machine &machine) {
            const std::vector<unsigned char> pixels = counting(128);
            auto desc = image_desc();
            desc.flags = PI_MEM_COPY_HOST_PTR;
            desc.host_ptr = const_cast<unsigned char *>(pixels.data());
            pi_mem first = nullptr;
            OK(piMemImageCreate(machine.context, machine.device, &desc, &first));
            const pi_mem buffer = machine.make_buffer(128);
            OK(machine.fill(buffer, 9, 0, 128));
            desc.flags = 0;
            desc.host_ptr = nullptr;
            pi_mem view = nullptr;
            OK(piMemImageViewCreate(buffer, &desc, &view));

            // Rows of 2 pixels, 12 bytes apart.
            pi_image_region region{};
            region.origin[0] = 1;
            region.extent[0] = 2;
            region.extent[1] = 3;
            region.row_pitch = 12;
            region.offset = 4;
            auto write = pi::desc<pi_image_write_desc>();
            write.image = first;
            write.host_ptr = pixels.data() + 50;
            write.region_count = 1;
            write.regions = &region;
            OK(piEnqueueMemImageWrite(machine.queue, &write, 0, nullptr, nullptr));
            const uint32_t color[4] = {1, 2, 3, 4};
            auto fill = pi::desc<pi_image_fill_desc>();
            fill.image = first;
            fill.color = color;
            fill.origin[0] = 6;
            fill.extent[0] = 2;
            fill.extent[1] = 1;
            OK(piEnqueueMemImageFill(machine.queue, &fill, 0, nullptr, nullptr));
            pi_image_copy_region part{};
            part.extent[0] = 8;
            part.extent[1] = 2;
            auto copy = pi::desc<pi_image_copy_desc>();
            copy.src = first;
            copy.dst = view;
            copy.region_count = 1;
            copy.regions = &part;
            OK(piEnqueueMemImageCopy(machine.queue, &copy, 0, nullptr, nullptr));
            machine.read(buffer, 128);
            std::vector<unsigned char> seen(128);
            auto read = pi::desc<pi_image_read_desc>();
            read.flags = PI_COMMAND_BLOCKING;
            read.image = first;
            read.host_ptr = seen.data();
            read.region_count = 1;
            read.regions = &region;
            OK(piEnqueueMemImageRead(machine.queue, &read, 0, nullptr, nullptr));

            auto sampler_desc = pi::desc<pi_sampler_desc>();
            sampler_desc.filter = PI_FILTER_LINEAR;
            pi_sampler sampler = nullptr;
            OK(piSamplerCreate(machine.context, &sampler_desc, &sampler));
            const Owned<pi_kernel> kernel = make_kernel(make_library(machine), "read_pixels");
            const pi_kernel_argument arguments[] = {
                buffer_argument(buffer), image_argument(first, sampler), sampler_argument(sampler)};
            const auto launch = launch_desc(kernel, 32, arguments, 3);
            OK(piEnqueueKernelLaunch(machine.queue, &launch, 0, nullptr, nullptr));
            machine.read(buffer, 128);
            OK(piSamplerRelease(sampler));
            for (const pi_mem mem : {view, first, buffer})
                OK(piMemRelease(mem));
        },
        3);

    // Another pixel is another result.
    const TemporaryFile other;
    write_file(other.path(), replaced(text, "\"host_ptr\":\"AAEC", "\"host_ptr\":\"BAEC"));
    const Ran ran = run_tool({PI_REPLAY, other.path(), "--check-data"}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 1);
    CHECK_THAT(ran.output, Contains("other bytes"));
}

TEST_CASE("device globals replay with the same bytes") {
    replay_all(
        [](const Machine &machine) {
            const Owned<pi_program> program = make_library(machine);
            const uint32_t words[] = {5, 6};
            auto write = pi::desc<pi_device_global_write_desc>();
            write.program = program;
            write.name = "table";
            write.host_ptr = words;
            write.offset = 4;
            write.size = sizeof words;
            OK(piEnqueueDeviceGlobalWrite(machine.queue, &write, 0, nullptr, nullptr));
            const pi_mem mem = machine.make_buffer(64);
            OK(machine.fill(mem, 2, 0, 64));
            const Owned<pi_kernel> kernel = make_kernel(program, "scale_by_table");
            const pi_kernel_argument arguments[] = {buffer_argument(mem)};
            const auto launch = launch_desc(kernel, 16, arguments, 1);
            OK(piEnqueueKernelLaunch(machine.queue, &launch, 0, nullptr, nullptr));
            machine.read(mem, 64);
            uint32_t seen[4] = {};
            auto read = pi::desc<pi_device_global_read_desc>();
            read.flags = PI_COMMAND_BLOCKING;
            read.program = program;
            read.name = "table";
            read.host_ptr = seen;
            read.size = sizeof seen;
            OK(piEnqueueDeviceGlobalRead(machine.queue, &read, 0, nullptr, nullptr));
            CHECK(seen[1] == 5);
            OK(piMemRelease(mem));
        },
        2);
}

TEST_CASE("specialization constants replay with their values") {
    const std::string text = replay_all(
        [](const Machine &machine) {
            const Owned<pi_program> program = make_library(machine);
            const uint32_t value = 3;
            pi_specialization_constant constant{};
            constant.id = 7;
            constant.size = sizeof value;
            constant.value = &value;
            // The host plugin has none; the replay is refused as well.
            CHECK(piProgramSetSpecializationConstants(program, 1, &constant) ==
                  PI_ERROR_UNSUPPORTED_FEATURE);
        },
        0);
    CHECK_THAT(text, Contains("[{\"id\":7,\"size\":4,\"value\":true}]"));
}

TEST_CASE("sub-devices replay with what runs on them") {
    replay_all(
        [](const Machine &machine) {
            auto desc = pi::desc<pi_device_partition_desc>();
            desc.kind = PI_PARTITION_EQUALLY;
            desc.count = 1;
            pi_device part = nullptr;
            OK(piDevicePartition(machine.device, &desc, 1, &part, nullptr));
            pi_platform platform = nullptr;
            OK(piDeviceGetInfo(part, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, nullptr));
            auto context_desc = pi::desc<pi_context_desc>();
            context_desc.device_count = 1;
            context_desc.devices = &part;
            Machine on_part{part, nullptr, nullptr};
            OK(piContextCreate(platform, &context_desc, &on_part.context));
            OK(piQueueCreate(on_part.context, part, nullptr, &on_part.queue));
            const pi_mem mem = on_part.make_buffer(64);
            OK(on_part.fill(mem, 3, 0, 64));
            on_part.read(mem, 64);
            OK(piMemRelease(mem));
            OK(piQueueRelease(on_part.queue));
            OK(piContextRelease(on_part.context));
            OK(piDeviceRelease(part));
        },
        1);
}

TEST_CASE(
    "memory that is imported by pointer replays with its bytes, and several imports share it") {
    const std::string text = replay_all(
        [](const Machine &machine) {
            std::vector<unsigned char> bytes = counting(128);
            const pi_mem whole = import_pointer(machine, bytes.data(), 128);
            const pi_mem part = import_pointer(machine, bytes.data() + 64, 64);
            OK(machine.fill(part, 5, 0, 16));
            machine.read(whole, 128);
            for (const pi_mem mem : {whole, part})
                OK(piMemRelease(mem));
            // Later memory at this address.
            bytes.assign(128, 7);
            const pi_mem again = import_pointer(machine, bytes.data(), 128);
            machine.read(again, 128);
            OK(piMemRelease(again));
        },
        2);
    CHECK_THAT(text, Contains("\"memory\":{\"address\":"));
}

TEST_CASE("commands on USM of kind device replay with the same bytes") {
    replay_all(
        [](const Machine &machine) {
            auto desc = pi::desc<pi_usm_desc>();
            desc.kind = PI_USM_DEVICE;
            desc.size = 256;
            void *first = nullptr;
            OK(piUsmAlloc(machine.context, machine.device, &desc, &first));
            void *second = nullptr;
            auto alloc = pi::desc<pi_usm_alloc_desc>();
            alloc.size = 64;
            alloc.out_pointer = &second;
            OK(piEnqueueUsmAlloc(machine.queue, &alloc, 0, nullptr, nullptr));

            const std::vector<unsigned char> bytes = counting(64);
            const pi_region all = linear(64);
            auto copy = pi::desc<pi_usm_copy_desc>();
            copy.region_count = 1;
            copy.regions = &all;
            copy.src = bytes.data();
            copy.dst = static_cast<unsigned char *>(first) + 64;
            OK(piEnqueueUsmCopy(machine.queue, &copy, 0, nullptr, nullptr));
            const uint32_t pattern = 3;
            auto fill = pi::desc<pi_usm_fill_desc>();
            fill.pointer = static_cast<unsigned char *>(first) + 96;
            fill.pattern = &pattern;
            fill.pattern_size = sizeof pattern;
            fill.size = 16;
            OK(piEnqueueUsmFill(machine.queue, &fill, 0, nullptr, nullptr));
            auto prefetch = pi::desc<pi_usm_prefetch_desc>();
            prefetch.pointer = first;
            prefetch.size = 256;
            OK(piEnqueueUsmPrefetch(machine.queue, &prefetch, 0, nullptr, nullptr));
            auto advise = pi::desc<pi_usm_advise_desc>();
            advise.pointer = first;
            advise.size = 256;
            advise.advice = PI_USM_ADVICE_READ_MOSTLY;
            OK(piEnqueueUsmAdvise(machine.queue, &advise, 0, nullptr, nullptr));
            copy.src = static_cast<unsigned char *>(first) + 64;
            copy.dst = second;
            OK(piEnqueueUsmCopy(machine.queue, &copy, 0, nullptr, nullptr));

            const Owned<pi_kernel> kernel = make_scale(machine);
            const uint32_t factor = 3;
            pi_kernel_argument arguments[] = {pi_kernel_argument{}, value_argument(factor)};
            arguments[0].kind = PI_ARGUMENT_POINTER;
            arguments[0].pointer = second;
            const auto launch = launch_desc(kernel, 16, arguments, 2);
            OK(piEnqueueKernelLaunch(machine.queue, &launch, 0, nullptr, nullptr));
            std::vector<unsigned char> seen(64);
            copy.flags = PI_COMMAND_BLOCKING;
            copy.src = second;
            copy.dst = seen.data();
            OK(piEnqueueUsmCopy(machine.queue, &copy, 0, nullptr, nullptr));
            CHECK(seen[32] == 9);
            auto free = pi::desc<pi_usm_free_desc>();
            free.pointer = second;
            OK(piEnqueueUsmFree(machine.queue, &free, 0, nullptr, nullptr));
            OK(piUsmFree(machine.context, first));
        },
        1);
}

TEST_CASE("USM that the host reaches by address is not replayed, nor is a kernel that follows "
          "addresses in memory") {
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        auto desc = pi::desc<pi_usm_desc>();
        desc.kind = PI_USM_SHARED;
        desc.size = 64;
        void *shared = nullptr;
        OK(piUsmAlloc(machine.context, machine.device, &desc, &shared));
        const uint32_t pattern = 3;
        auto fill = pi::desc<pi_usm_fill_desc>();
        fill.pointer = shared;
        fill.pattern = &pattern;
        fill.pattern_size = sizeof pattern;
        fill.size = 64;
        OK(piEnqueueUsmFill(machine.queue, &fill, 0, nullptr, nullptr));
        OK(piQueueFinish(machine.queue));
        OK(piUsmFree(machine.context, shared));
        const pi_mem mem = machine.make_buffer(64);
        const Owned<pi_kernel> kernel = make_scale(machine);
        const pi_kernel_argument arguments[] = {buffer_argument(mem), value_argument(pattern)};
        auto launch = launch_desc(kernel, 16, arguments, 2);
        launch.flags = PI_LAUNCH_INDIRECT_USM_DEVICE;
        OK(piEnqueueKernelLaunch(machine.queue, &launch, 0, nullptr, nullptr));
        OK(piMemRelease(mem));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path(), "--check-data"}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 3);
    CHECK_THAT(ran.output, Contains("piUsmAlloc: cannot run: the host and kernels access"));
    CHECK_THAT(ran.output, Contains("piEnqueueUsmFill: cannot run: needs allocation"));
    CHECK_THAT(ran.output, Contains("piEnqueueKernelLaunch: cannot run: the kernel follows"));
    CHECK_THAT(ran.output, Contains("could not run: 4"));
}

TEST_CASE("calls that cannot run are reported with their line, and so are their dependents") {
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        auto d = pi::desc<pi_host_function_desc>();
        d.function = [](void *) {};
        pi_event event = nullptr;
        OK(piEnqueueHostFunction(machine.queue, &d, 0, nullptr, &event));
        OK(piEventWait(event, PI_TIMEOUT_NEVER));
        OK(piEventRelease(event));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path()}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 3);
    CHECK_THAT(ran.output, Contains("piEnqueueHostFunction: cannot run: "));
    CHECK_THAT(ran.output, Contains("piEventWait: cannot run: needs object"));
    CHECK_THAT(ran.output, Contains("could not run: 3"));
}

TEST_CASE("bytes that depend on a call that could not run are not compared") {
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        std::vector<uint32_t> words(16, 3);
        const pi_mem imported = import(machine, words);
        const pi_mem factor = machine.make_buffer(64);
        const pi_mem scaled = machine.make_buffer(64);
        const pi_mem copied = machine.make_buffer(64);
        const pi_mem known = machine.make_buffer(64);
        for (const pi_mem mem : {factor, scaled, copied, known})
            OK(machine.fill(mem, 1, 0, 64));
        machine.copy(imported, factor, 64);

        const Owned<pi_kernel> kernel = make_scale(machine);
        const pi_kernel_argument arguments[] = {buffer_argument(scaled), buffer_argument(factor)};
        const auto launch = launch_desc(kernel, 16, arguments, 2);
        OK(piEnqueueKernelLaunch(machine.queue, &launch, 0, nullptr, nullptr));
        OK(machine.fill(scaled, 1, 0, 4)); // leaves the others
        machine.read(scaled, 64);

        machine.copy(factor, copied, 64);
        void *pointer = nullptr;
        auto map = pi::desc<pi_buffer_map_desc>();
        map.flags = PI_MAP_READ | PI_COMMAND_BLOCKING;
        map.mem = copied;
        map.size = 64;
        map.out_pointer = &pointer;
        OK(piEnqueueMemBufferMap(machine.queue, &map, 0, nullptr, nullptr));
        auto unmap = pi::desc<pi_unmap_desc>();
        unmap.mem = copied;
        unmap.pointer = pointer;
        OK(piEnqueueMemUnmap(machine.queue, &unmap, 0, nullptr, nullptr));

        machine.read(known, 64);
        OK(machine.fill(scaled, 5, 0, 64));
        machine.read(scaled, 64);
        machine.copy(known, copied, 64);
        machine.read(copied, 64);
        for (const pi_mem mem : {imported, factor, scaled, copied, known})
            OK(piMemRelease(mem));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path(), "--check-data"}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 3);
    CHECK_THAT(ran.output, Contains("other result: 0; other bytes: 0; "));
    const std::string text = content_of(log.path());
    const std::size_t copy = text.find("piEnqueueMemBufferCopy");
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(copy), '\n');
    for (const std::string reader : {"piEnqueueMemBufferRead", "piEnqueueMemUnmap"})
        CHECK_THAT(ran.output, Contains(reader + ": cannot be compared, because line " +
                                        std::to_string(line) + " could not run"));
    CHECK_THAT(ran.output, Contains("reads compared: 3"));
    CHECK_THAT(ran.output, Contains("calls could not run: 2"));
}

TEST_CASE("a command that overtook an earlier one makes its bytes unknown") {
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        pi_queue other = nullptr;
        OK(piQueueCreate(machine.context, machine.device, nullptr, &other));
        std::vector<uint32_t> words(16, 3);
        const pi_mem imported = import(machine, words);
        const pi_mem first = machine.make_buffer(64);
        const pi_mem second = machine.make_buffer(64);
        const pi_event gate = machine.make_host_event();
        for (const pi_mem mem : {first, second})
            OK(machine.fill(mem, 1, 0, 64));
        OK(piQueueFinish(machine.queue));
        OK(piEnqueueBarrier(machine.queue, nullptr, 1, &gate, nullptr));
        machine.copy(first, second, 64);
        Machine{machine.device, machine.context, other}.copy(imported, first, 64);
        OK(piQueueFinish(other));
        OK(piEventSignalHost(gate, PI_SUCCESS));
        machine.read(second, 64);
        OK(piEventRelease(gate));
        OK(piQueueRelease(other));
        for (const pi_mem mem : {imported, first, second})
            OK(piMemRelease(mem));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path(), "--check-data"}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 3);
    CHECK_THAT(ran.output, Contains("other result: 0; other bytes: 0; "));
    CHECK_THAT(ran.output, Contains("calls could not run: 1"));
}

TEST_CASE("an incompletely logged call may have written anything that it can reach") {
    const TemporaryFile log;
    const TemporaryFile longer;
    record(log.path(), [](const Machine &machine) {
        const Owned<pi_kernel> kernel = make_scale(machine);
        const pi_mem mem = machine.make_buffer(64);
        OK(machine.fill(mem, 1, 0, 64));
        const uint32_t factor = 3;
        const pi_kernel_argument arguments[] = {buffer_argument(mem), value_argument(factor)};
        const auto launch = launch_desc(kernel, 16, arguments, 2);
        OK(piEnqueueKernelLaunch(machine.queue, &launch, 0, nullptr, nullptr));
        machine.read(mem, 64);
        OK(piMemRelease(mem));
    });
    std::vector<nlohmann::ordered_json> lines;
    std::istringstream stream(content_of(log.path()));
    for (std::string line; std::getline(stream, line);)
        lines.push_back(nlohmann::ordered_json::parse(line));
    const auto place_of = [&](const std::string &function) {
        return std::find_if(lines.begin(), lines.end(), [&](const auto &line) {
            return line.value("function", "") == function;
        });
    };
    const auto made_by = [&](const std::string &function) {
        return place_of(function)->at("made").at(0).dump();
    };
    const std::string mem = made_by("piMemBufferCreate");
    const std::string on_queue = "[" + made_by("piQueueCreate") + ",null,0,null,false]";
    const std::pair<std::string, std::string> calls[] = {
        {"piMemGetHostPointer", "[" + mem + ",null]"},
        {"piMemExport", "[" + mem + ",null,null]"},
        {"piMemImageViewCreate", "[" + mem + ",null,true]"},
        {"piProgramSetSpecializationConstants", "[" + made_by("piProgramCreate") + ",1,null]"},
        {"piEnqueueMemImageCopy", on_queue},
        {"piEnqueueDeviceGlobalWrite", on_queue},
        {"piEnqueueHostFunction", on_queue}};
    const auto launch = place_of("piEnqueueKernelLaunch");
    for (const auto &[function, arguments] : calls) {
        std::string text;
        for (auto line = lines.begin(); line != lines.end(); ++line) {
            if (line == launch)
                text += R"({"thread":0,"function":")" + function + R"(","arguments":)" + arguments +
                        R"(,"result":0,"cannot":"said so"})" + "\n";
            nlohmann::ordered_json moved = *line;
            if (line > launch && moved.contains("began"))
                moved["began"] = moved["began"].get<uint64_t>() + 1;
            text += moved.dump() + "\n";
        }
        write_file(longer.path(), text);
        const Ran ran = run_tool({PI_REPLAY, longer.path(), "--check-data"}, on_host);
        INFO(ran.output << ran.errors);
        CHECK(ran.exit_code == 3);
        const bool writes = function != "piEnqueueHostFunction";
        CHECK_THAT(ran.output, Contains(writes ? "reads compared: 0" : "reads compared: 1"));
        CHECK((ran.output.find("calls could not run: 1") != std::string::npos) == writes);
    }
}

TEST_CASE("a call that cannot be run may have any arguments") {
    const TemporaryFile log;
    const TemporaryFile longer;
    record(log.path(), [](const Machine &) {});
    std::string text = content_of(log.path());
    std::size_t count = 0;
    for (const std::string function :
         {"piMemBufferCreate", "piMemBufferPartition", "piProgramLink", "piEventSignalHost",
          "piEnqueueMemBufferWrite", "piEnqueueMemUnmap", "piEnqueueKernelLaunch",
          "piMemGetHostPointer"}) {
        for (const std::string arguments :
             {"null", "[]", "[1]", "[1,2]", R"([null,{"mem":"1","regions":[1]},null,1])",
              R"([{},{"mem":1,"arguments":[1,{"mem":-1}],"programs":[[]]},0,[{}]])"}) {
            text += R"({"thread":0,"function":")" + function + R"(","arguments":)" + arguments +
                    R"(,"result":0,"made":[99],"cannot":"said so"})" + "\n";
            ++count;
        }
    }
    write_file(longer.path(), text);
    const Ran ran = run_tool({PI_REPLAY, longer.path(), "--check-data"}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 3);
    CHECK_THAT(ran.output, Contains("could not run: " + std::to_string(count)));
}

TEST_CASE("a launch that could not run leaves its read-only memory known") {
    static const auto nothing = [](const pi_native_group *, void *const *) {};
    static const pi_native_kernel kernels[] = {{"nothing", nothing, 2, 0}};
    static const pi_native_program table = {sizeof table, 1, kernels};
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        const pi_mem read = machine.make_buffer(64);
        const pi_mem written = machine.make_buffer(64);
        auto part = pi::desc<pi_mem_partition_desc>();
        part.size = 64;
        part.flags = PI_MEM_READ_ONLY;
        pi_mem view_read = nullptr;
        OK(piMemBufferPartition(read, &part, &view_read));
        part.flags = 0;
        pi_mem view_written = nullptr;
        OK(piMemBufferPartition(written, &part, &view_written));
        for (const pi_mem mem : {read, written})
            OK(machine.fill(mem, 1, 0, 64));
        const Owned<pi_program> program = make_program(machine.context, table);
        const Owned<pi_kernel> kernel = make_kernel(program, "nothing");
        const pi_kernel_argument arguments[] = {buffer_argument(view_read),
                                                buffer_argument(view_written)};
        const auto launch = launch_desc(kernel, 1, arguments, 2);
        OK(piEnqueueKernelLaunch(machine.queue, &launch, 0, nullptr, nullptr));
        for (const pi_mem mem : {read, written})
            machine.read(mem, 64);
        for (const pi_mem mem : {view_read, view_written, read, written})
            OK(piMemRelease(mem));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path(), "--check-data"}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 3);
    CHECK_THAT(ran.output, Contains("reads compared: 1"));
    CHECK_THAT(ran.output, Contains("calls could not run: 1"));
}

TEST_CASE("a finish replays as a wait for earlier commands, not for concurrent ones") {
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        const pi_mem mem = machine.make_buffer(64);
        const pi_event first = machine.make_host_event();
        const pi_event second = machine.make_host_event();
        OK(machine.fill(mem, 1, 0, 64, nullptr, first));
        const pi_result result =
            block_in_another_thread([&] { return piQueueFinish(machine.queue); },
                                    [&] {
                                        OK(machine.fill(mem, 2, 0, 64, nullptr, second));
                                        OK(piEventSignalHost(first, PI_SUCCESS));
                                    });
        CHECK(result == PI_SUCCESS);
        OK(piEventSignalHost(second, PI_SUCCESS));
        OK(piQueueFinish(machine.queue));
        for (const pi_event event : {first, second})
            OK(piEventRelease(event));
        OK(piMemRelease(mem));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path()}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("other result: 0;"));
}

TEST_CASE("a blocking command replays before commands that were enqueued while it blocked") {
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        const pi_mem mem = machine.make_buffer(64);
        const pi_mem other = machine.make_buffer(64);
        const pi_event gate = machine.make_host_event();
        OK(machine.fill(mem, 1, 0, 64));
        OK(machine.fill(other, 1, 0, 64, nullptr, gate));
        const pi_result result =
            block_in_another_thread([&] { return machine.try_read(mem, 64); },
                                    [&] {
                                        OK(machine.fill(mem, 2, 0, 64));
                                        OK(piEventSignalHost(gate, PI_SUCCESS));
                                    });
        CHECK(result == PI_SUCCESS);
        OK(piEventRelease(gate));
        for (const pi_mem made : {mem, other})
            OK(piMemRelease(made));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path(), "--check-data"}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("reads compared: 1"));
}

TEST_CASE("a blocking command that fails while others are enqueued replays as one") {
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        const pi_mem mem = machine.make_buffer(64);
        const pi_event gate = machine.make_host_event();
        const pi_result result = block_in_another_thread(
            [&] {
                auto d = pi::desc<pi_barrier_desc>();
                d.flags = PI_COMMAND_BLOCKING;
                pi_event event = nullptr;
                return piEnqueueBarrier(machine.queue, &d, 1, &gate, &event);
            },
            [&] {
                OK(machine.fill(mem, 2, 0, 64));
                OK(piEventSignalHost(gate, PI_ERROR_BACKEND));
            });
        CHECK(result == PI_ERROR_DEPENDENCY_FAILED);
        OK(piEventRelease(gate));
        OK(piMemRelease(mem));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path()}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(content_of(log.path()),
               Contains("\"result\":-" + std::to_string(-PI_ERROR_DEPENDENCY_FAILED)));
}

TEST_CASE("calls that were refused in a callback are not replayed") {
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        const pi_event event = machine.make_host_event();
        const pi_event gate = machine.make_host_event();
        OK(piEnqueueBarrier(machine.queue, nullptr, 1, &gate, nullptr));
        OK(piEventSetCallback(
            event,
            [](pi_event, pi_result, void *queue) {
                CHECK(piQueueFinish(static_cast<pi_queue>(queue)) == PI_ERROR_WOULD_BLOCK);
            },
            machine.queue));
        for (const pi_event signalled : {event, gate})
            OK(piEventSignalHost(signalled, PI_SUCCESS));
        for (const pi_event made : {event, gate})
            OK(piEventRelease(made));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path()}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("other result: 0; other bytes: 0; could not run: 0"));
}

TEST_CASE("callbacks are not set again, and their calls run with the program's") {
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        const pi_mem mem = machine.make_buffer(64);
        const pi_event first = machine.make_host_event();
        pi_event second = machine.make_host_event();
        OK(machine.fill(mem, 1, 0, 64, nullptr, second));
        OK(piEventSetCallback(
            first,
            [](pi_event, pi_result, void *event) {
                CHECK(piEventSignalHost(*static_cast<pi_event *>(event), PI_SUCCESS) == PI_SUCCESS);
            },
            &second));
        OK(piEventSignalHost(first, PI_SUCCESS));
        machine.read(mem, 64);
        for (const pi_event event : {first, second})
            OK(piEventRelease(event));
        OK(piMemRelease(mem));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path(), "--check-data"}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("could not run: 0"));
    CHECK_THAT(ran.output, Contains("reads compared: 1"));
}

TEST_CASE("a map whose unmap was refused is still there for the next one") {
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        const pi_mem mem = machine.make_buffer(64);
        void *pointer = nullptr;
        auto map = pi::desc<pi_buffer_map_desc>();
        map.flags = PI_MAP_WRITE | PI_COMMAND_BLOCKING;
        map.mem = mem;
        map.size = 64;
        map.out_pointer = &pointer;
        OK(piEnqueueMemBufferMap(machine.queue, &map, 0, nullptr, nullptr));
        auto unmap = pi::desc<pi_unmap_desc>();
        unmap.mem = mem;
        unmap.pointer = pointer;
        unmap.flags = UINT64_C(1) << 62;
        CHECK(piEnqueueMemUnmap(machine.queue, &unmap, 0, nullptr, nullptr) ==
              PI_ERROR_UNSUPPORTED_FEATURE);
        std::memset(pointer, 2, 64);
        unmap.flags = 0;
        OK(piEnqueueMemUnmap(machine.queue, &unmap, 0, nullptr, nullptr));
        machine.read(mem, 64);
        OK(piMemRelease(mem));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path(), "--check-data"}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("reads compared: 1"));
}

TEST_CASE("calls that were refused for unlogged details are refused again") {
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        const pi_mem mem = machine.make_buffer(64);
        std::vector<unsigned char> bytes(64);
        auto read = pi::desc<pi_buffer_read_desc>();
        read.mem = mem;
        read.host_ptr = bytes.data();
        read.region_count = 1; // at NULL
        const auto try_read = [&] {
            return piEnqueueMemBufferRead(machine.queue, &read, 0, nullptr, nullptr);
        };
        CHECK(try_read() == PI_ERROR_INVALID_NULL_POINTER);
        pi_region region = linear(16);
        region.reserved = 1;
        read.regions = &region;
        CHECK(try_read() == PI_ERROR_UNSUPPORTED_FEATURE);
        region.reserved = 0;
        read.reserved = 1;
        CHECK(try_read() == PI_ERROR_UNSUPPORTED_FEATURE);
        read.reserved = 0;
        struct {
            pi_buffer_read_desc known;
            uint64_t tail;
        } later{read, 1};
        later.known.struct_size = sizeof later;
        CHECK(piEnqueueMemBufferRead(machine.queue, &later.known, 0, nullptr, nullptr) ==
              PI_ERROR_UNSUPPORTED_FEATURE);

        auto buffer = pi::desc<pi_mem_buffer_desc>();
        buffer.size = bytes.size();
        buffer.host_ptr = bytes.data(); // without a flag for its purpose
        pi_mem none = nullptr;
        CHECK(piMemBufferCreate(machine.context, machine.device, &buffer, &none) ==
              PI_ERROR_INVALID_VALUE);
        pi_platform platform = nullptr;
        OK(piDeviceGetInfo(machine.device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform,
                           nullptr));
        auto context = pi::desc<pi_context_desc>();
        context.device_count = 1; // at NULL
        pi_context made = nullptr;
        CHECK(piContextCreate(platform, &context, &made) == PI_ERROR_INVALID_NULL_POINTER);
        OK(piEventRelease(machine.make_host_event()));
        const pi_event event = machine.make_host_event();
        OK(piEventSignalHost(event, PI_SUCCESS));
        CHECK(piEventSignalHost(event, PI_SUCCESS) == PI_ERROR_INVALID_OPERATION);
        OK(piEventRelease(event));
        OK(piMemRelease(mem));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path()}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 3);
    CHECK_THAT(ran.output, Contains("other result: 0; other bytes: 0; could not run: 1"));
    CHECK_THAT(ran.output, Contains("piEnqueueMemBufferRead: cannot run: "
                                    "the descriptor is larger"));
}

TEST_CASE("a replay leaves its log as it is, though the variables say to record into it") {
    const TemporaryFile log;
    record(log.path(), use_everything);
    const std::string before = content_of(log.path());
    const std::pair<std::string, std::string> layers[] = {{"record", "PI_RECORD_FILE"},
                                                          {"trace", "PI_TRACE_FILE"}};
    for (const auto &[layer, variable] : layers) {
        const Ran ran = run_tool(
            {PI_REPLAY, log.path(), "--check-data"},
            {on_host[0], "PI_LAYERS=" + layer, variable + "=" + log.path(), "PI_LOG=error"});
        INFO(layer << ": " << ran.output << ran.errors);
        CHECK(ran.exit_code == 0);
        CHECK_THAT(ran.output, Contains("reads compared: 1"));
        CHECK(content_of(log.path()) == before);
    }
}

TEST_CASE("a replay prints its layers") {
    const TemporaryFile log;
    record(log.path(), use_everything);
    const Ran ran = run_tool({PI_REPLAY, log.path()},
                             {on_host[0], "PI_LAYERS=fault",
                              "PI_FAULT=piEnqueueMemBufferFill:1=fail(OUT_OF_DEVICE_MEMORY)"});
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 1);
    CHECK_THAT(ran.errors, Contains("PI_LAYERS=fault"));
    CHECK(run_tool({PI_REPLAY, log.path()}, on_host).errors.empty());
}

TEST_CASE("the layer race around a replay finds unordered commands of the log") {
    constexpr uint64_t large = 24 << 20;
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        pi_queue other = nullptr;
        OK(piQueueCreate(machine.context, machine.device, nullptr, &other));
        const pi_mem first = machine.make_buffer(64);
        const pi_mem second = machine.make_buffer(128);
        const pi_mem read = machine.make_buffer(large);
        const Machine beside{machine.device, machine.context, other};
        OK(machine.fill(first, 1, 0, 64));
        OK(beside.fill(first, 2, 0, 64));
        // The replay frees memory of complete commands at this size.
        std::vector<unsigned char> bytes(large);
        const pi_region all = linear(large);
        auto d = pi::desc<pi_buffer_read_desc>();
        d.mem = read;
        d.host_ptr = bytes.data();
        d.region_count = 1;
        d.regions = &all;
        OK(machine.fill(second, 1, 0, 128));
        OK(piEnqueueMemBufferRead(machine.queue, &d, 0, nullptr, nullptr));
        // No fill: a pair of functions is reported once.
        beside.write(second, std::vector<unsigned char>(128, 2));
        for (const pi_queue queue : {machine.queue, other})
            OK(piQueueFinish(queue));
        OK(piQueueRelease(other));
        for (const pi_mem mem : {first, second, read})
            OK(piMemRelease(mem));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path()}, {on_host[0], "PI_LAYERS=race"});
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.errors, Contains("race on bytes 0 to 63 of mem"));
    CHECK_THAT(ran.errors, Contains("race on bytes 0 to 127 of mem"));
}

TEST_CASE("a replay uses no more host memory than the running commands need") {
    constexpr uint64_t size = 8 << 20;
    const TemporaryFile log;
    record(log.path(), [](const Machine &machine) {
        const pi_mem mem = machine.make_buffer(size);
        OK(machine.fill(mem, 1, 0, size));
        for (int i = 0; i < 60; ++i)
            machine.read(mem, size, i % 2 == 0 ? PI_COMMAND_BLOCKING : 0);
        OK(piMemRelease(mem));
    });
    const Ran ran = run_tool({PI_REPLAY, log.path()}, on_host);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    if (std::string(PI_TEST_SANITIZE).empty()) { // otherwise freed memory stays for a while
        rusage usage{};
        REQUIRE(::getrusage(RUSAGE_CHILDREN, &usage) == 0); // the largest child's
        CHECK(usage.ru_maxrss < 300 * 1024);                // KiB
    }
}

TEST_CASE("a log truncated at any byte is read or refused with its line") {
    const TemporaryFile log;
    const TemporaryFile cut;
    record(log.path(), [](const Machine &machine) {
        const pi_mem mem = machine.make_buffer(64);
        OK(machine.fill(mem, 1, 0, 64));
        OK(piMemRelease(mem));
    });
    const std::string text = content_of(log.path());
    const std::size_t header = text.find('\n') + 1;
    // Many positions in the last line, and some in the others.
    for (std::size_t size = 1; size < text.size(); size += size + 150 < text.size() ? 101 : 7) {
        write_file(cut.path(), text.substr(0, size));
        const Ran ran = run_tool({PI_REPLAY, cut.path()}, on_host);
        INFO(size << ": " << ran.output << ran.errors);
        if (size < header) {
            CHECK(ran.exit_code == 4);
            CHECK_THAT(ran.errors, Contains(":1: not a log"));
        } else {
            CHECK(ran.exit_code == 0);
            if (text[size - 1] != '\n')
                CHECK_THAT(ran.errors, Contains("truncated line"));
        }
    }
}

TEST_CASE("a file that is no log, has another version or ABI, or needs more devices is refused "
          "with the reason") {
    const TemporaryFile log;
    const TemporaryFile broken;
    record(log.path(), use_everything);
    const std::string text = content_of(log.path());
    const auto check = [&](const std::string &content, const std::string &words) {
        write_file(broken.path(), content);
        const Ran ran = run_tool({PI_REPLAY, broken.path()}, on_host);
        INFO(ran.output << ran.errors);
        CHECK(ran.exit_code == 4);
        CHECK_THAT(ran.errors, Contains(words));
    };
    check("{hello\n", ":1: not a line of a log");
    check("{}\n", ":1: not a log");
    check(replaced(text, "\"pi_record\":1", "\"pi_record\":2"), "version 2");
    write_file(broken.path(), replaced(text, "\"abi\":\"1.", "\"abi\":\"1.9"));
    CHECK(run_tool({PI_REPLAY, broken.path()}, on_host).exit_code == 0); // of a later minor version
    check(replaced(text, "\"abi\":\"1.", "\"abi\":\"7."), "recorded with ABI \"7.");
    check(replaced(text, "\"size\":4096", "\"size\":-1"), "piMemBufferCreate: size is not a");
    check(replaced(text, "\"function\":\"piQueueCreate\"", "\"function\":\"piQueue\""),
          "\"piQueue\" is not a function");
    check(replaced(text, "\"host_ptr\":\"AwMD", "\"host_ptr\":\"Aw*D"), "host_ptr is not base64");
    check(text + std::string(100'000, '[') + "\n", "not a line of a log");
    // The message lists all devices; leaks of OpenCL vendors are not tested here.
    Ran ran = run_tool({PI_REPLAY, log.path(), "--device", "host:9"}, {"OCL_ICD_VENDORS=/nowhere"});
    CHECK(ran.exit_code == 4);
    CHECK_THAT(ran.errors, Contains("host:9"));
    ran = run_tool({PI_REPLAY, "/nowhere/log"}, on_host);
    CHECK(ran.exit_code == 4);
    CHECK_THAT(ran.errors, Contains("/nowhere/log: cannot be read"));
    CHECK(run_tool({PI_REPLAY}, on_host).exit_code == 2);
    CHECK(run_tool({PI_REPLAY, "--help"}, on_host).exit_code == 0);
}

TEST_CASE("only blocking calls begin before their line, whatever a log says") {
    const TemporaryFile log;
    const TemporaryFile changed;
    record(log.path(), use_everything);
    const std::string text = content_of(log.path());
    std::size_t tried = 0;
    for (std::size_t at = text.find("\"result\""); at != std::string::npos;
         at = text.find("\"result\"", at + 1)) {
        ++tried;
        write_file(changed.path(), std::string(text).insert(at, "\"began\":6,"));
        const Ran ran = run_tool({PI_REPLAY, changed.path(), "--check-data"}, on_host);
        INFO(text.substr(text.rfind('\n', at), 200) << "\n" << ran.output << ran.errors);
        CHECK(ran.exit_code >= 0);
        CHECK(ran.exit_code <= 4);
    }
    CHECK(tried > 20);
}

TEST_CASE("a log with any one number changed never crashes the replay") {
    const TemporaryFile log;
    const TemporaryFile broken;
    record(log.path(), use_everything);
    const std::string text = content_of(log.path());
    std::size_t tried = 0;
    for (std::size_t at = text.find('\n'); at + 1 < text.size(); ++at) {
        if (text[at] < '0' || text[at] > '9' || (text[at - 1] != ':' && text[at - 1] != '['))
            continue;
        // A waiter of an event that is not signalled waits forever, as in the log's program.
        const std::size_t line = text.rfind('\n', at);
        if (text.substr(line, text.find('\n', at) - line).find("piEventSignalHost") !=
            std::string::npos)
            continue;
        if (++tried % 7 != 0)
            continue;
        std::string changed = text;
        changed[at] = changed[at] == '9' ? '1' : static_cast<char>(changed[at] + 1);
        write_file(broken.path(), changed);
        const Ran ran = run_tool({PI_REPLAY, broken.path()}, on_host);
        INFO(text.substr(at, 40) << "\n" << ran.output << ran.errors);
        CHECK(ran.exit_code >= 0);
        CHECK(ran.exit_code <= 4);
    }
    CHECK(tried > 50);
}
