// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links that lose pages and report success, of simulated machines and of both vendors' simulated drivers
// (lossy-links.json).
#include "equipment.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <string>

using namespace runtime_test;

namespace {

constexpr uint64_t size = 256 * 1024;
constexpr uint64_t page = 4096;

/// The machine's devices, in the file's order.
constexpr PlaceIndex first = 1, second = 2, third = 3;

/// Such a link's work: every second page is the old one.
std::vector<uint8_t> lossy(const std::vector<uint8_t> &sent, std::vector<uint8_t> old) {
    for (uint64_t byte = 0; byte < sent.size(); ++byte) {
        if (byte / page % 2 == 0) {
            old[byte] = sent[byte];
        }
    }
    return old;
}

pi_test::Owned<pi_mem> make_buffer(const Machine &machine, PlaceIndex place) {
    auto desc = pi_test::desc<pi_mem_buffer_desc>(PI_TYPE_MEM_BUFFER_DESC);
    desc.size = size;
    pi_test::Owned<pi_mem> mem;
    OK(piMemBufferCreate(machine.topology()->context(place), machine.topology()->device(place),
                         &desc, mem.out()));
    return mem;
}

void put(const Machine &machine, PlaceIndex by, pi_mem mem, const std::vector<uint8_t> &bytes) {
    const pi_region region = pi_test::range(0, 0, size);
    const auto desc = pi_test::write_desc(mem, bytes.data(), region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferWrite(machine.queue(by), &desc, 0, nullptr, nullptr));
}

std::vector<uint8_t> get(const Machine &machine, PlaceIndex by, pi_mem mem) {
    std::vector<uint8_t> bytes(size, 0xa5);
    const pi_region region = pi_test::range(0, 0, size);
    const auto desc = pi_test::read_desc(mem, bytes.data(), region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferRead(machine.queue(by), &desc, 0, nullptr, nullptr));
    return bytes;
}

void copy(const Machine &machine, PlaceIndex by, pi_mem src, pi_mem dst) {
    const pi_region region = pi_test::range(0, 0, size);
    const auto desc = pi_test::copy_desc(src, dst, region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferCopy(machine.queue(by), &desc, 0, nullptr, nullptr));
}

std::string plugin_of(const Machine &machine) {
    const std::string &key = machine.topology()->info(first).key;
    return key.substr(0, key.find(':'));
}

/// "copy_words" and "count_up" of the native library, as the plugin takes them.
pi_test::Owned<pi_kernel> make_kernel(const Machine &machine, PlaceIndex place, const char *name) {
    const std::string lines = "library " PI_TEST_KERNELS "\nfunction copy_words pointer pointer\n"
                              "function count_up pointer 4\n";
    std::string data = PI_TEST_KERNELS;
    auto desc = pi_test::desc<pi_program_desc>(PI_TYPE_PROGRAM_DESC);
    desc.format = PI_PROGRAM_FORMAT_NATIVE_LIBRARY;
    if (plugin_of(machine) == "cuda") {
        desc.format = PI_PROGRAM_FORMAT_CUBIN;
        data = "PI simulated CUDA module 1\n" + lines;
    } else if (plugin_of(machine) == "level_zero") {
        desc.format = PI_PROGRAM_FORMAT_DEVICE_BINARY;
        data = "PI simulated Level Zero module 1\n" + lines;
    }
    desc.data = data.c_str();
    desc.size = data.size();
    pi_test::Owned<pi_program> program;
    OK(piProgramCreate(machine.topology()->context(place), &desc, program.out()));
    OK(piProgramBuild(program, nullptr));
    pi_test::Owned<pi_kernel> kernel;
    OK(piKernelCreate(program, name, nullptr, kernel.out()));
    return kernel;
}

/// One work-item for each word of the buffers' size.
void launch(const Machine &machine, PlaceIndex place, const char *name,
            const std::vector<pi_kernel_argument> &arguments,
            const std::vector<pi_event> &waits = {}) {
    const auto kernel = make_kernel(machine, place, name);
    auto desc = pi_test::desc<pi_kernel_launch_desc>(PI_TYPE_KERNEL_LAUNCH_DESC);
    desc.flags = PI_COMMAND_BLOCKING;
    desc.kernel = kernel;
    desc.dimensions = 1;
    desc.global_size[0] = size / 4;
    desc.argument_count = static_cast<uint32_t>(arguments.size());
    desc.arguments = arguments.data();
    OK(piEnqueueKernelLaunch(machine.queue(place), &desc, static_cast<uint32_t>(waits.size()),
                             waits.empty() ? nullptr : waits.data(), nullptr));
}

pi_kernel_argument buffer_argument(pi_mem mem) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = mem;
    return argument;
}

uint64_t differences(const std::vector<uint8_t> &a, const std::vector<uint8_t> &b) {
    uint64_t count = 0;
    for (uint64_t byte = 0; byte < a.size(); ++byte) {
        count += a[byte] != b[byte] ? 1 : 0;
    }
    return count;
}

} // namespace

TEST_CASE("copies over a link that loses pages leave every second page as it was, in its direction "
          "alone, by queues of either end",
          "[runtime][lossy]") {
    const Machine machine(1);
    const auto old = pattern(size, 1), sent = pattern(size, 2);
    const auto arrived = [&](PlaceIndex from, PlaceIndex to, PlaceIndex by) {
        const auto src = make_buffer(machine, from), dst = make_buffer(machine, to);
        put(machine, from, src, sent);
        put(machine, to, dst, old);
        copy(machine, by, src, dst);
        return get(machine, to, dst);
    };
    for (const PlaceIndex by : {first, second}) {
        CHECK(differences(arrived(first, second, by), lossy(sent, old)) == 0);
        CHECK(differences(arrived(second, first, by), sent) == 0);
    }
    CHECK(differences(arrived(third, second, second), lossy(sent, old)) == 0);
    CHECK(differences(arrived(first, third, third), sent) == 0);
    CHECK(differences(arrived(first, first, first), sent) == 0);
}

TEST_CASE("a link that loses pages of copies does so where the other device's queue reads",
          "[runtime][lossy]") {
    const Machine machine(1);
    const auto sent = pattern(size, 3);
    const auto mem = make_buffer(machine, first);
    put(machine, first, mem, sent);
    CHECK(differences(get(machine, first, mem), sent) == 0);
    const auto seen = get(machine, second, mem);
    CHECK(differences(lossy(seen, sent), sent) == 0); // the pages in between have arrived
    CHECK(differences(seen, sent) > size / 2 - size / 64);
    put(machine, second, mem, pattern(size, 4)); // from second to first nothing is lost
    CHECK(differences(get(machine, first, mem), pattern(size, 4)) == 0);
}

TEST_CASE("kernels over a link that loses their pages see other memory in every second one",
          "[runtime][lossy]") {
    const Machine machine(1);
    const auto sent = pattern(size, 5);
    const auto far = make_buffer(machine, first), near = make_buffer(machine, third);
    put(machine, first, far, sent);
    launch(machine, third, "copy_words", {buffer_argument(near), buffer_argument(far)});
    const auto seen = get(machine, third, near);
    CHECK(differences(lossy(seen, sent), sent) == 0);
    CHECK(differences(seen, sent) > size / 2 - size / 64);
    CHECK(differences(get(machine, first, far), sent) == 0);

    // What they write there is gone.
    const uint32_t begin = 7;
    pi_kernel_argument value{};
    value.kind = PI_ARGUMENT_VALUE;
    value.value = &begin;
    value.size = sizeof begin;
    launch(machine, third, "count_up", {buffer_argument(far), value});
    std::vector<uint8_t> counted(size);
    for (uint32_t word = 0; word < size / 4; ++word) {
        const uint32_t number = word + begin;
        std::memcpy(counted.data() + word * 4, &number, 4);
    }
    CHECK(differences(get(machine, first, far), lossy(counted, sent)) == 0);
}
