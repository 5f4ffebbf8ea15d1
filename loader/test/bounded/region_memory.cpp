// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// region_memory PLUGIN
//
// How much memory the plugin and the loader allocate for a command with very many regions, whatever
// it copies: a copy of the regions, of 80 bytes each, and little else. Allocations of a vendor's
// library do not count. Exit codes: 0 it is so, 1 it is not, 2 a call did something wrong.
#include "own_code.hpp"
#include "test_program.hpp"
#include "work.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

namespace {

pi_test::OwnCode own_code;
std::atomic<bool> counts{false};
std::atomic<uint64_t> allocated{0};

} // namespace

[[gnu::noinline]] void *operator new(std::size_t size) {
    if (counts.load(std::memory_order_relaxed) && own_code.calls(__builtin_return_address(0)))
        allocated += size;
    void *const memory = std::malloc(size != 0 ? size : 1);
    if (memory == nullptr)
        throw std::bad_alloc();
    return memory;
}
[[gnu::noinline]] void operator delete(void *memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

constexpr uint32_t count = 1 << 14;
constexpr uint64_t bytes_a_region = 96, beside_regions = 64 << 10;
constexpr uint64_t pixel = 4; ///< bytes
int failures = 0;

void ok(const char *what, pi_result result) {
    if (result == PI_SUCCESS)
        return;
    const char *words = "";
    piGetLastError(nullptr, &words);
    std::fprintf(stderr, "%s: %d: %s\n", what, result, words);
    std::_Exit(2);
}
#define OK(...) ok(#__VA_ARGS__, __VA_ARGS__)

/// Counts what a command allocates until it is complete.
template <class Desc, class Region>
void measure(const char *what, pi_queue queue,
             pi_result (*enqueue)(pi_queue, const Desc *, uint32_t, const pi_event *, pi_event *),
             Desc desc, const std::vector<Region> &regions) {
    desc.region_count = count;
    desc.regions = regions.data();
    for (const bool blocking : {false, true}) {
        desc.flags = blocking ? PI_COMMAND_BLOCKING : 0;
        allocated = 0;
        counts = true;
        OK(enqueue(queue, &desc, 0, nullptr, nullptr));
        OK(piQueueFinish(queue));
        counts = false;
        std::printf("%s, %s: %.1f bytes a region\n", what, blocking ? "blocking" : "enqueued",
                    static_cast<double>(allocated) / count);
        failures += allocated > count * bytes_a_region + beside_regions;
    }
}

std::vector<pi_region> pixels_apart() {
    std::vector<pi_region> regions(count);
    for (uint32_t i = 0; i < count; ++i) {
        regions[i].src_offset = regions[i].dst_offset = i * pixel;
        regions[i].extent[0] = 1;
    }
    return regions;
}

void measure_buffers(const bounded::Place &place, pi_context context, pi_queue queue) {
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = count * pixel;
    std::array<pi_mem, 2> mems{};
    for (pi_mem &mem : mems)
        OK(piMemBufferCreate(context, place.device, &desc, &mem));
    const std::vector<pi_region> regions = pixels_apart();
    std::vector<unsigned char> host(count * pixel);
    auto copy = pi::desc<pi_buffer_copy_desc>();
    copy.src = mems[0];
    copy.dst = mems[1];
    measure("buffer copy", queue, piEnqueueMemBufferCopy, copy, regions);
    auto read = pi::desc<pi_buffer_read_desc>();
    read.mem = mems[0];
    read.host_ptr = host.data();
    measure("buffer read", queue, piEnqueueMemBufferRead, read, regions);
    auto write = pi::desc<pi_buffer_write_desc>();
    write.mem = mems[0];
    write.host_ptr = host.data();
    measure("buffer write", queue, piEnqueueMemBufferWrite, write, regions);
    for (pi_mem mem : mems)
        OK(piMemRelease(mem));
}

void measure_usm(const bounded::Place &place, pi_context context, pi_queue queue) {
    auto desc = pi::desc<pi_usm_desc>();
    desc.kind = PI_USM_DEVICE;
    desc.size = count * pixel;
    std::array<void *, 2> pointers{};
    for (void *&pointer : pointers)
        OK(piUsmAlloc(context, place.device, &desc, &pointer));
    auto copy = pi::desc<pi_usm_copy_desc>();
    copy.src = pointers[0];
    copy.dst = pointers[1];
    measure("USM copy", queue, piEnqueueUsmCopy, copy, pixels_apart());
    for (void *pointer : pointers)
        OK(piUsmFree(context, pointer));
}

void measure_images(const bounded::Place &place, pi_context context, pi_queue queue) {
    constexpr uint64_t width = 256;
    auto desc = pi::desc<pi_mem_image_desc>();
    desc.image_type = PI_IMAGE_2D;
    desc.channel_order = PI_CHANNEL_ORDER_RGBA;
    desc.channel_type = PI_CHANNEL_UINT8;
    desc.width = width;
    desc.height = count / width;
    std::array<pi_mem, 2> images{};
    for (pi_mem &image : images)
        OK(piMemImageCreate(context, place.device, &desc, &image));
    std::vector<pi_image_region> transfers(count);
    std::vector<pi_image_copy_region> copies(count);
    for (uint32_t i = 0; i < count; ++i) {
        const std::array<uint64_t, 2> at{i % width, i / width};
        for (size_t axis = 0; axis < 2; ++axis)
            transfers[i].origin[axis] = copies[i].src_origin[axis] = copies[i].dst_origin[axis] =
                at.at(axis);
        transfers[i].offset = i * pixel;
        transfers[i].extent[0] = copies[i].extent[0] = 1;
    }
    std::vector<unsigned char> host(count * pixel);
    auto read = pi::desc<pi_image_read_desc>();
    read.image = images[0];
    read.host_ptr = host.data();
    measure("image read", queue, piEnqueueMemImageRead, read, transfers);
    auto write = pi::desc<pi_image_write_desc>();
    write.image = images[0];
    write.host_ptr = host.data();
    measure("image write", queue, piEnqueueMemImageWrite, write, transfers);
    auto copy = pi::desc<pi_image_copy_desc>();
    copy.src = images[0];
    copy.dst = images[1];
    measure("image copy", queue, piEnqueueMemImageCopy, copy, copies);
    for (pi_mem image : images)
        OK(piMemRelease(image));
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: region_memory PLUGIN\n");
        return 2;
    }
    std::atomic<uint64_t> warnings{0};
    const bounded::Place place = bounded::open_plugin(argv[1], warnings);
    // As the loader opens it.
    const std::string plugin = std::filesystem::canonical(argv[1]).string();
    own_code.find(std::array{std::string_view("libpi_loader.so.1"), std::string_view(plugin)});
    if (own_code.count() != 2) {
        std::fprintf(stderr, "the code of the loader or of %s is not found\n", argv[1]);
        return 1;
    }
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = 1;
    desc.devices = &place.device;
    pi_context context = nullptr;
    OK(piContextCreate(place.platform, &desc, &context));
    pi_queue queue = nullptr;
    OK(piQueueCreate(context, place.device, nullptr, &queue));
    measure_buffers(place, context, queue);
    if ((place.capabilities & PI_CAPABILITY_USM) != 0)
        measure_usm(place, context, queue);
    if ((place.capabilities & PI_CAPABILITY_IMAGE) != 0)
        measure_images(place, context, queue);
    OK(piQueueRelease(queue));
    OK(piContextRelease(context));
    OK(piLoaderRelease(place.loader));
    return failures != 0 ? 1 : 0;
}
