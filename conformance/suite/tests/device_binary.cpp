// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of choosing among a program's images.

#include "checks.hpp"
#include "fixture.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

// Skips where the plugin does not choose.
void need_select(Fixture &fixture) {
    uint32_t index = 0;
    if (piDeviceSelectBinary(fixture.device(), 0, nullptr, &index) == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the plugin does not have piDeviceSelectBinary");
}

// The images that the device should choose, among targets that pi.h names.
std::vector<pi_program_binary> suitable(Fixture &fixture) {
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PROGRAM_FORMATS);
    std::vector<pi_program_binary> all;
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
