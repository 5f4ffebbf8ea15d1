// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plugin of version 1.0, and one of the version after this one, in today's loader.

#include <pi/pi_loader.h>

#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

namespace {

constexpr uint64_t timeout = 20'000'000'000;
constexpr uint64_t buffer_size = 1000;

std::string last_error() {
    const char *text = nullptr;
    piGetLastError(nullptr, &text);
    return text;
}

/// A loader that holds one plugin file and nothing else.
class Loaded {
public:
    explicit Loaded(const char *path) {
        pi_loader_desc desc{sizeof desc, PI_TYPE_LOADER_DESC};
        desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
        desc.plugins = &path;
        desc.plugin_count = 1;
        desc.log = [](uint32_t, const char *message, void *self) {
            auto &log = *static_cast<Loaded *>(self);
            const std::scoped_lock lock(log.mutex_);
            log.lines_ += message + std::string("\n");
        };
        desc.log_user_data = this;
        desc.teardown_timeout = 20'000;
        REQUIRE(piLoaderCreate(&desc, &loader) == PI_SUCCESS);
        uint32_t count = 0;
        REQUIRE(piPluginsGet(loader, 1, &plugin, &count) == PI_SUCCESS);
        INFO(log());
        REQUIRE(count == 1);
        REQUIRE(piPlatformsGet(plugin, 1, &platform, &count) == PI_SUCCESS);
        REQUIRE(count == 1);
        REQUIRE(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 1, &device, &count) == PI_SUCCESS);
        REQUIRE(count == 1);
        pi_context_desc context_desc{sizeof context_desc, PI_TYPE_CONTEXT_DESC};
        context_desc.device_count = 1;
        context_desc.devices = &device;
        REQUIRE(piContextCreate(platform, &context_desc, &context) == PI_SUCCESS);
        REQUIRE(piQueueCreate(context, device, nullptr, &queue) == PI_SUCCESS);
    }

    ~Loaded() {
        piQueueRelease(queue);
        piContextRelease(context);
        piLoaderRelease(loader);
        // A warning would say that the plugin was parked: that an object was lost.
        CHECK(log().empty());
    }

    Loaded(const Loaded &) = delete;
    Loaded &operator=(const Loaded &) = delete;

    std::string log() {
        const std::scoped_lock lock(mutex_);
        return lines_;
    }

    pi_mem buffer() {
        pi_mem_buffer_desc desc{sizeof desc, PI_TYPE_MEM_BUFFER_DESC};
        desc.size = buffer_size;
        pi_mem mem = nullptr;
        REQUIRE(piMemBufferCreate(context, device, &desc, &mem) == PI_SUCCESS);
        return mem;
    }

    pi_loader loader = nullptr;
    pi_plugin plugin = nullptr;
    pi_platform platform = nullptr;
    pi_device device = nullptr;
    pi_context context = nullptr;
    pi_queue queue = nullptr;

private:
    std::mutex mutex_;
    std::string lines_;
};

using Bytes = std::array<unsigned char, buffer_size>;

Bytes pattern(unsigned step) {
    Bytes bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<unsigned char>(i * step + i / 256);
    return bytes;
}

void wait_and_release(pi_event event, pi_result expected = PI_SUCCESS) {
    REQUIRE(event != nullptr);
    CHECK(piEventWait(event, timeout) == expected);
    CHECK(piEventRelease(event) == PI_SUCCESS);
}

void *map(Loaded &at, pi_mem mem, uint64_t flags) {
    void *pointer = nullptr;
    pi_event event = nullptr;
    pi_buffer_map_desc desc{
        sizeof desc, PI_TYPE_BUFFER_MAP_DESC, nullptr, flags, mem, 0, buffer_size, &pointer};
    REQUIRE(piEnqueueMemBufferMap(at.queue, &desc, 0, nullptr, &event) == PI_SUCCESS);
    wait_and_release(event);
    REQUIRE(pointer != nullptr);
    return pointer;
}

void unmap(Loaded &at, pi_mem mem, void *pointer) {
    pi_event event = nullptr;
    pi_unmap_desc desc{sizeof desc, PI_TYPE_UNMAP_DESC, nullptr, 0, mem, pointer};
    REQUIRE(piEnqueueMemUnmap(at.queue, &desc, 0, nullptr, &event) == PI_SUCCESS);
    wait_and_release(event);
}

void put(Loaded &at, pi_mem mem, const Bytes &bytes) {
    void *pointer = map(at, mem, PI_MAP_WRITE_DISCARD);
    std::memcpy(pointer, bytes.data(), bytes.size());
    unmap(at, mem, pointer);
}

Bytes get(Loaded &at, pi_mem mem) {
    Bytes bytes;
    void *pointer = map(at, mem, PI_MAP_READ);
    std::memcpy(bytes.data(), pointer, bytes.size());
    unmap(at, mem, pointer);
    return bytes;
}

pi_event copy(Loaded &at, pi_mem src, pi_mem dst, const std::vector<pi_event> &wait_list) {
    pi_region region{};
    region.extent[0] = buffer_size;
    pi_buffer_copy_desc desc{sizeof desc, PI_TYPE_BUFFER_COPY_DESC, nullptr, 0, src, dst, 1, 0,
                             &region};
    pi_event event = nullptr;
    REQUIRE(piEnqueueMemBufferCopy(at.queue, &desc, static_cast<uint32_t>(wait_list.size()),
                                   wait_list.empty() ? nullptr : wait_list.data(),
                                   &event) == PI_SUCCESS);
    return event;
}

void check_that_it_works(Loaded &at) {
    const pi_mem src = at.buffer();
    const pi_mem dst = at.buffer();
    const Bytes bytes = pattern(7);
    put(at, src, bytes);
    put(at, dst, pattern(3));
    wait_and_release(copy(at, src, dst, {}));
    CHECK(get(at, dst) == bytes);
    CHECK(piMemRelease(src) == PI_SUCCESS);
    CHECK(piMemRelease(dst) == PI_SUCCESS);
}

std::string info_text(pi_plugin plugin, pi_plugin_info name) {
    char text[64] = "";
    CHECK(piPluginGetInfo(plugin, name, sizeof text, text, nullptr) == PI_SUCCESS);
    return text;
}

} // namespace

TEST_CASE("an old plugin is loaded, and its copy command works") {
    Loaded old(PI_ABI_OLD_PLUGIN);
    CHECK(info_text(old.plugin, PI_PLUGIN_INFO_NAME) == "old");
    CHECK(info_text(old.plugin, PI_PLUGIN_INFO_VERSION) == "1.2.3");
    pi_plugin_report report{};
    uint32_t count = 0;
    REQUIRE(piLoaderGetReports(old.loader, 1, &report, &count) == PI_SUCCESS);
    CHECK(count == 1);
    CHECK(report.status == PI_PLUGIN_LOADED);
    CHECK(report.reason == std::string());
    check_that_it_works(old);
}

TEST_CASE("slots behind the end of an old plugin's table answer that they are unsupported") {
    Loaded old(PI_ABI_OLD_PLUGIN);
    pi_event event = nullptr;
    REQUIRE(piEventCreateHost(old.context, nullptr, &event) == PI_SUCCESS);
    pi_native_handle handle{};
    CHECK(piEventGetNativeHandle(event, &handle) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK_THAT(last_error(), Catch::Contains("piEventGetNativeHandle"));
    pi_native_desc desc{sizeof desc, PI_TYPE_NATIVE_DESC};
    pi_event none = nullptr;
    CHECK(piEventCreateWithNativeHandle(old.context, &desc, &none) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(none == nullptr);
    CHECK(piEventSignalHost(event, PI_SUCCESS) == PI_SUCCESS);
    CHECK(piEventRelease(event) == PI_SUCCESS);
}

TEST_CASE("functions that an old plugin left out get the loader's defaults") {
    Loaded old(PI_ABI_OLD_PLUGIN);
    const pi_mem mem = old.buffer();
    const Bytes bytes = pattern(11);
    pi_region region{};
    region.extent[0] = buffer_size;
    pi_buffer_write_desc write{
        sizeof write, PI_TYPE_BUFFER_WRITE_DESC, nullptr, 0, mem, bytes.data(), 1, 0, &region};
    pi_event event = nullptr;
    REQUIRE(piEnqueueMemBufferWrite(old.queue, &write, 0, nullptr, &event) == PI_SUCCESS);
    wait_and_release(event);
    CHECK(get(old, mem) == bytes);

    const uint32_t word = 0x01020304;
    pi_buffer_fill_desc fill{
        sizeof fill, PI_TYPE_BUFFER_FILL_DESC, nullptr, 0, mem, &word, sizeof word, 0, buffer_size};
    REQUIRE(piEnqueueMemBufferFill(old.queue, &fill, 0, nullptr, &event) == PI_SUCCESS);
    wait_and_release(event);

    Bytes read{};
    pi_buffer_read_desc desc{
        sizeof desc, PI_TYPE_BUFFER_READ_DESC, nullptr, 0, mem, read.data(), 1, 0, &region};
    REQUIRE(piEnqueueMemBufferRead(old.queue, &desc, 0, nullptr, &event) == PI_SUCCESS);
    wait_and_release(event);
    for (std::size_t i = 0; i < read.size(); ++i)
        REQUIRE(read[i] == 4 - i % 4);
    CHECK(piMemRelease(mem) == PI_SUCCESS);
}

TEST_CASE("a command of an old plugin is held back by a host event and keeps its objects") {
    Loaded old(PI_ABI_OLD_PLUGIN);
    const pi_mem src = old.buffer();
    const pi_mem dst = old.buffer();
    put(old, src, pattern(5));
    pi_event gate = nullptr;
    REQUIRE(piEventCreateHost(old.context, nullptr, &gate) == PI_SUCCESS);
    const pi_event copied = copy(old, src, dst, {gate});
    CHECK(piMemRelease(src) == PI_SUCCESS);
    CHECK(piEventWait(copied, 0) == PI_ERROR_TIMEOUT);
    CHECK(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    CHECK(piEventSignalHost(gate, PI_SUCCESS) == PI_ERROR_INVALID_OPERATION);
    CHECK(piEventRelease(gate) == PI_SUCCESS);
    wait_and_release(copied);
    CHECK(get(old, dst) == pattern(5));
    CHECK(piMemRelease(dst) == PI_SUCCESS);
}

TEST_CASE("what waits for an abandoned host event of an old plugin fails and does nothing") {
    Loaded old(PI_ABI_OLD_PLUGIN);
    const pi_mem src = old.buffer();
    const pi_mem dst = old.buffer();
    put(old, src, pattern(5));
    put(old, dst, pattern(9));
    pi_event gate = nullptr;
    REQUIRE(piEventCreateHost(old.context, nullptr, &gate) == PI_SUCCESS);
    const pi_event first = copy(old, src, dst, {gate});
    const pi_event second = copy(old, src, dst, {first});
    CHECK(piEventRelease(gate) == PI_SUCCESS);
    CHECK(piEventWait(second, timeout) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK_THAT(last_error(), Catch::Contains("released before it was signalled"));
    wait_and_release(first, PI_ERROR_DEPENDENCY_FAILED);
    CHECK(piEventRelease(second) == PI_SUCCESS);
    CHECK(get(old, dst) == pattern(9));
    CHECK(piMemRelease(src) == PI_SUCCESS);
    CHECK(piMemRelease(dst) == PI_SUCCESS);
}

TEST_CASE("two loaders hold one old plugin apart") {
    Loaded first(PI_ABI_OLD_PLUGIN);
    Loaded second(PI_ABI_OLD_PLUGIN);
    CHECK(first.plugin != second.plugin);
    check_that_it_works(first);
    check_that_it_works(second);
    pi_mem_buffer_desc desc{sizeof desc, PI_TYPE_MEM_BUFFER_DESC};
    desc.size = buffer_size;
    pi_mem mem = nullptr;
    CHECK(piMemBufferCreate(first.context, second.device, &desc, &mem) == PI_ERROR_INVALID_DEVICE);
    CHECK(mem == nullptr);
}

TEST_CASE("a plugin of a later minor version is loaded without what this loader does not know") {
    Loaded tomorrow(PI_ABI_TOMORROWS_PLUGIN);
    CHECK(info_text(tomorrow.plugin, PI_PLUGIN_INFO_NAME) == "tomorrow");
    check_that_it_works(tomorrow);
}
