// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cubins and fat binaries, and the choice among images by their architectures. Devices of the
// simulated driver have compute capability 9.0.
#include "plugin_fixture.hpp"

#include <cstring>

using namespace cuda_test;

namespace {

template <class Number>
void append(Bytes &bytes, Number number) {
    const auto *const begin = reinterpret_cast<const uint8_t *>(&number);
    bytes.insert(bytes.end(), begin, begin + sizeof number);
}

/// What the driver loads as text, with its 0.
Bytes image_text(const std::string &line) {
    const std::string words =
        "PI simulated CUDA module 1\nlibrary " PI_TEST_CUDA_KERNELS "\n" + line;
    return {words.c_str(), words.c_str() + words.size() + 1};
}

/// A cubin of the architecture, as the simulated driver reads it (its README.md).
Bytes cubin(int architecture, const std::string &line) {
    Bytes bytes(64);
    const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41};
    std::copy(std::begin(ident), std::end(ident), bytes.begin());
    bytes[18] = 190;
    bytes[49] = static_cast<uint8_t>(architecture);
    const Bytes words = image_text(line);
    bytes.insert(bytes.end(), words.begin(), words.end());
    return bytes;
}

struct Entry {
    enum : uint16_t { PTX = 1, CUBIN = 2 };
    uint16_t kind;
    int32_t architecture;
    std::string line;
};

/// As CUDA's fatbinary writes it.
Bytes fat_binary(const std::vector<Entry> &entries) {
    Bytes all;
    for (const Entry &entry : entries) {
        Bytes image = entry.kind == Entry::CUBIN ? cubin(entry.architecture, entry.line)
                                                 : image_text(entry.line);
        image.resize((image.size() + 7) / 8 * 8);
        Bytes header;
        append(header, entry.kind);
        append(header, uint16_t{0x101});
        append(header, uint32_t{64});
        append(header, uint64_t{image.size()});
        header.resize(28);
        append(header, entry.architecture);
        header.resize(64);
        all.insert(all.end(), header.begin(), header.end());
        all.insert(all.end(), image.begin(), image.end());
    }
    Bytes bytes = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
    append(bytes, uint64_t{all.size()});
    bytes.insert(bytes.end(), all.begin(), all.end());
    return bytes;
}

Owned<pi_program> create(const Machine &machine, const Bytes &image) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_CUBIN;
    desc.data = image.data();
    desc.size = image.size();
    Owned<pi_program> program;
    OK(piProgramCreate(machine.context, &desc, program.out()));
    return program;
}

constexpr const char *copy_words = "function copy_words pointer pointer\n";

void require_counts(const Machine &machine, pi_program program) {
    const Owned<pi_kernel> kernel = make_kernel(program, "count_up");
    const auto queue = machine.queue();
    const Owned<pi_mem> mem = machine.buffer(first, 64);
    const uint32_t ten = 10;
    const std::vector arguments{buffer_argument(mem), value_argument(ten)};
    auto launch = launch_desc(kernel, arguments, 4);
    launch.flags = PI_COMMAND_BLOCKING;
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    CHECK(read_words(queue, mem, 4) == std::vector<uint32_t>{10, 11, 12, 13});
}

pi_program_binary image_for(const char *target, pi_program_format format) {
    pi_program_binary image{};
    image.target = target;
    image.format = format;
    return image;
}

} // namespace

TEST_CASE("a cubin reaches the driver with all of its bytes, and comes back as they are") {
    const Machine machine({first});
    const Bytes image = cubin(90, count_up);
    const Owned<pi_program> program = create(machine, image);
    OK(piProgramBuild(program, nullptr));
    require_counts(machine, program);
    uint64_t size = 0;
    OK(piProgramGetInfo(program, PI_PROGRAM_INFO_BINARY_SIZES, sizeof size, &size, nullptr));
    REQUIRE(size == image.size());
    Bytes back(size);
    uint8_t *target = back.data();
    OK(piProgramGetInfo(program, PI_PROGRAM_INFO_BINARIES, sizeof target, &target, nullptr));
    CHECK(back == image);
}

TEST_CASE("a cubin for another architecture fails the build") {
    const Machine machine({first});
    const Owned<pi_program> program = create(machine, cubin(100, count_up));
    REFUSED(PI_ERROR_BUILD_FAILED, "CUDA_ERROR_NO_BINARY_FOR_GPU",
            piProgramBuild(program, nullptr));
}

TEST_CASE("of a fat binary the device runs the image for its architecture") {
    const Machine machine({first});
    const std::vector<Entry> entries =
        GENERATE(std::vector<Entry>{{Entry::CUBIN, 90, count_up}},
                 std::vector<Entry>{{Entry::CUBIN, 80, copy_words},
                                    {Entry::CUBIN, 90, count_up},
                                    {Entry::CUBIN, 100, copy_words},
                                    {Entry::PTX, 90, copy_words}},
                 std::vector<Entry>{{Entry::CUBIN, 80, copy_words}, {Entry::PTX, 80, count_up}});
    const Owned<pi_program> program = create(machine, fat_binary(entries));
    OK(piProgramBuild(program, nullptr));
    require_counts(machine, program);
}

TEST_CASE("a fat binary without an image for the device fails the build") {
    const Machine machine({first});
    const Owned<pi_program> program =
        create(machine, fat_binary({{Entry::CUBIN, 80, count_up}, {Entry::PTX, 100, count_up}}));
    REFUSED(PI_ERROR_BUILD_FAILED, "CUDA_ERROR_NO_BINARY_FOR_GPU",
            piProgramBuild(program, nullptr));
}

TEST_CASE("a device of capability 9.0 chooses the newest image that is not newer, and machine code "
          "before PTX") {
    const Machine machine({first});
    const auto select = [&](const std::vector<pi_program_binary> &images, uint32_t &index) {
        return piDeviceSelectBinary(machine.devices[first], static_cast<uint32_t>(images.size()),
                                    images.data(), &index);
    };
    constexpr auto CUBIN = PI_PROGRAM_FORMAT_CUBIN, PTX = PI_PROGRAM_FORMAT_PTX;
    // From the best to the worst, and before each all worse ones.
    const std::vector<pi_program_binary> suitable = {
        image_for("sm_90a", CUBIN), image_for("sm_90", CUBIN),    image_for("sm_90a", PTX),
        image_for("sm_90", PTX),    image_for("compute_89", PTX), image_for("sm_50", PTX)};
    for (auto best = suitable.begin(); best != suitable.end(); ++best) {
        std::vector<pi_program_binary> images(suitable.rbegin(), std::make_reverse_iterator(best));
        images.push_back(*best);
        INFO("the best is for " << best->target);
        uint32_t index = UINT32_MAX;
        OK(select(images, index));
        CHECK(index == images.size() - 2); // the first of two equal ones
    }
    for (const pi_program_binary &image :
         {image_for("sm_91", CUBIN), image_for("sm_100", CUBIN), image_for("sm_80", CUBIN),
          image_for("sm_91", PTX), image_for("compute_100", PTX), image_for("sm_80a", PTX),
          image_for("compute_90", CUBIN), image_for("sm_90b", CUBIN), image_for("sm_", CUBIN),
          image_for("sm_-90", PTX), image_for("sm_90", PI_PROGRAM_FORMAT_OPENCL_C)}) {
        INFO(image.target << " of format " << image.format);
        uint32_t index = UINT32_MAX;
        REFUSED(PI_ERROR_INVALID_BINARY, "\"sm_90\"", select({image}, index));
        CHECK(index == UINT32_MAX);
    }
}
