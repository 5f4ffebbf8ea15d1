// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of choosing among a program's images.

#include "checks.hpp"
#include "fixture.hpp"
#include "registry.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace pi::suite {
namespace {

// Skips where the plugin does not choose.
void need_select(Fixture &fixture) {
    uint32_t index = 0;
    if (piDeviceSelectBinary(fixture.device(), 0, nullptr, &index) == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the plugin does not have piDeviceSelectBinary");
}

uint32_t formats_of(Fixture &fixture) {
    return get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PROGRAM_FORMATS);
}

// Architectures of CUDA's devices, the oldest first. None is the last one.
constexpr int architectures[] = {50, 52, 53, 60, 61,  62,  70,  72,  75,  80,  86,
                                 87, 88, 89, 90, 100, 101, 103, 110, 120, 121, 9990};

pi_program_binary cubin_for(int architecture) {
    static const auto targets = [] {
        std::map<int, std::string> all;
        for (const int one : architectures)
            all[one] = join("sm_", one);
        return all;
    }();
    return {targets.at(architecture).c_str(), PI_PROGRAM_FORMAT_CUBIN, 0};
}

// The architectures whose machine code alone the device accepts; the other ones are refused.
std::vector<int> accepted_architectures(Fixture &fixture) {
    std::vector<int> accepted;
    for (const int one : architectures) {
        const pi_program_binary image = cubin_for(one);
        uint32_t index = poison<uint32_t>();
        const pi_result result = piDeviceSelectBinary(fixture.device(), 1, &image, &index);
        if (result == PI_SUCCESS) {
            require_equal(index, 0u, join("the image of \"", image.target, "\" alone"));
            accepted.push_back(one);
        } else
            require_error(result, PI_ERROR_INVALID_BINARY,
                          join("an image of \"", image.target, "\""));
    }
    require(!accepted.empty(), "the device runs cubins, but accepts none of any architecture");
    return accepted;
}

// The images that the device should choose, among targets that pi.h names.
std::vector<pi_program_binary> suitable(Fixture &fixture) {
    const uint32_t formats = formats_of(fixture);
    std::vector<pi_program_binary> all;
    if ((formats & (1u << PI_PROGRAM_FORMAT_CUBIN)) != 0)
        all.push_back(cubin_for(accepted_architectures(fixture).back()));
    for (const pi_program_binary &one :
         {pi_program_binary{"opencl_c", PI_PROGRAM_FORMAT_OPENCL_C, 0},
          pi_program_binary{"spirv64", PI_PROGRAM_FORMAT_SPIRV, 0},
          pi_program_binary{"native", PI_PROGRAM_FORMAT_NATIVE_TABLE, 0},
          pi_program_binary{"native", PI_PROGRAM_FORMAT_NATIVE_LIBRARY, 0}})
        if ((formats & (1u << one.format)) != 0)
            all.push_back(one);
    if (all.empty())
        skip("the device runs none of the formats whose targets the suite knows");
    return all;
}

constexpr pi_program_binary wrong_target{"no_such_target", PI_PROGRAM_FORMAT_OPENCL_C, 0};
constexpr pi_program_binary wrong_format{"native", PI_PROGRAM_FORMAT_PTX, 0};
constexpr pi_program_binary newer_format{"opencl_c", 1000, 0};

using Binaries = std::vector<pi_program_binary>;

uint32_t select(Fixture &fixture, const Binaries &binaries) {
    uint32_t index = poison<uint32_t>();
    require_success(piDeviceSelectBinary(fixture.device(), static_cast<uint32_t>(binaries.size()),
                                         binaries.data(), &index),
                    "piDeviceSelectBinary");
    return index;
}

CONFORMANCE_TEST("device", "a device finds the image that suits it anywhere in the list") {
    need_select(fixture);
    for (const pi_program_binary &good : suitable(fixture)) {
        const std::string what = join("the image of \"", good.target, "\" of format ", good.format);
        require_equal(select(fixture, {good}), 0u, what + " alone");
        require_equal(select(fixture, {good, wrong_target, wrong_format}), 0u, what + " first");
        require_equal(select(fixture, {wrong_format, good, newer_format}), 1u, what + " between");
        require_equal(select(fixture, {wrong_target, newer_format, wrong_format, good}), 3u,
                      what + " last");
        require_equal(select(fixture, {wrong_target, good, good}), 1u, what + " twice");
    }
}

CONFORMANCE_TEST("device", "an image may have its bytes, which are then at an address") {
    need_select(fixture);
    const Bytes bytes = fixture.random_bytes(100);
    for (const pi_program_binary &good : suitable(fixture)) {
        pi_program_binary with = good;
        with.data = bytes.data();
        with.size = bytes.size();
        require_equal(select(fixture, {wrong_target, with}), 1u, "an image with its bytes");
        with.data = nullptr;
        require_untouched<uint32_t>(
            "an image of 100 bytes at NULL", {PI_ERROR_INVALID_NULL_POINTER},
            [&](uint32_t *out) { return piDeviceSelectBinary(fixture.device(), 1, &with, out); });
    }
}

CONFORMANCE_TEST("device",
                 "a device chooses the same one of several images that suit it, in any order") {
    need_select(fixture);
    const Binaries all = suitable(fixture);
    if (all.size() < 2)
        skip("one image suits the device");
    const Binaries turned(all.rbegin(), all.rend());
    const pi_program_binary &one = all[select(fixture, all)];
    const pi_program_binary &other = turned[select(fixture, turned)];
    // The first of equal images is chosen.
    if (std::string(all[0].target) == all[1].target)
        require(one.format == all[0].format && other.format == turned[0].format,
                "of equal images not the first was chosen");
    else
        require_equal(one.format, other.format, "the format of the image that was chosen");
}

CONFORMANCE_TEST("device",
                 "of images for numbered architectures a device chooses the newest that it runs") {
    need_select(fixture);
    if ((formats_of(fixture) & (1u << PI_PROGRAM_FORMAT_CUBIN)) == 0)
        skip("the device runs no cubins");
    const std::vector<int> accepted = accepted_architectures(fixture);
    const int newest = accepted.back();
    require(newest < std::end(architectures)[-1], "a device accepts every architecture");
    for (const int one : accepted)
        require_equal(one / 10, newest / 10,
                      join("the major version of sm_", one, ", where the newest is sm_", newest));
    // Without the newest ones, one by one, among all that are too new or too old.
    for (auto best = accepted.rbegin(); best != accepted.rend(); ++best) {
        Binaries images;
        for (const int one : architectures)
            if (one <= *best || one > newest)
                images.push_back(cubin_for(one));
        for (const bool turned : {false, true}) {
            if (turned)
                std::reverse(images.begin(), images.end());
            require_equal(std::string(images[select(fixture, images)].target), join("sm_", *best),
                          join("the choice among ", images.size(), " architectures"));
        }
    }
}

CONFORMANCE_TEST("device", "a device does not choose an image that does not suit it") {
    need_select(fixture);
    const pi_program_binary good = suitable(fixture).front();
    const auto refused = [&](const std::string &what, pi_result error, uint32_t count,
                             const pi_program_binary *binaries) {
        require_untouched<uint32_t>(what, {error}, [&](uint32_t *out) {
            return piDeviceSelectBinary(fixture.device(), count, binaries, out);
        });
    };
    const pi_program_binary wrong[] = {wrong_target, wrong_format, newer_format};
    refused("images of which none suits", PI_ERROR_INVALID_BINARY, 3, wrong);
    refused("no images", PI_ERROR_INVALID_BINARY, 0, nullptr);
    refused("one image at NULL", PI_ERROR_INVALID_NULL_POINTER, 1, nullptr);
    pi_program_binary odd = good;
    odd.target = nullptr;
    const pi_program_binary nameless[] = {good, odd};
    refused("an image without a target", PI_ERROR_INVALID_NULL_POINTER, 2, nameless);
    odd = good;
    odd.reserved = 1;
    refused("an image with a reserved word", PI_ERROR_UNSUPPORTED_FEATURE, 1, &odd);
    for (const std::size_t word : {0, 1}) {
        odd = good;
        odd.reserved_words[word] = 1;
        refused("an image with one of its reserved words", PI_ERROR_UNSUPPORTED_FEATURE, 1, &odd);
    }
    require_untouched<uint32_t>(
        "an image for the device NULL", {PI_ERROR_INVALID_DEVICE},
        [&](uint32_t *out) { return piDeviceSelectBinary(nullptr, 1, &good, out); });
    require_error(piDeviceSelectBinary(fixture.device(), 1, &good, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piDeviceSelectBinary with out_index NULL");
}

} // namespace
} // namespace pi::suite
