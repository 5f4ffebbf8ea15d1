// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice among a program's images by the architectures in their targets.
#include "entries.hpp"
#include "platform.hpp"

#include <pi/sdk/binary.hpp>

#include <charconv>
#include <optional>

namespace pi::cuda {

using namespace sdk;

namespace {

/// "sm_90": the number, major * 10 + minor. "sm_90a" has code for that architecture only.
struct Architecture {
    int number = 0;
    bool only = false;
};

std::optional<Architecture> read_target(std::string_view target, std::string_view prefix) {
    if (!target.starts_with(prefix))
        return std::nullopt;
    target.remove_prefix(prefix.size());
    Architecture read;
    const char *const end = target.data() + target.size();
    const auto [behind, error] = std::from_chars(target.data(), end, read.number);
    const std::string_view rest(behind, static_cast<size_t>(end - behind));
    read.only = rest == "a";
    if (error != std::errc() || read.number <= 0 || !(rest.empty() || read.only))
        return std::nullopt;
    return read;
}

/// The newest architecture is the best, and its own code better than that for newer ones as well.
size_t rank_of(const Architecture &architecture) {
    return static_cast<size_t>(architecture.number) * 2 + architecture.only;
}

constexpr size_t of_machine_code = size_t{1} << 32; ///< which is better than any PTX

/// The rank of an image for select_best.
size_t rank_of(const pi_program_binary &image, int capability) {
    const bool ptx = image.format == PI_PROGRAM_FORMAT_PTX;
    if (!ptx && image.format != PI_PROGRAM_FORMAT_CUBIN)
        return 0;
    auto architecture = read_target(image.target, "sm_");
    if (!architecture && ptx)
        architecture = read_target(image.target, "compute_");
    if (!architecture || architecture->number > capability ||
        (architecture->only && architecture->number != capability))
        return 0;
    if (ptx)
        return rank_of(*architecture);
    // Machine code runs on no other major version.
    return architecture->number / 10 == capability / 10 ? of_machine_code + rank_of(*architecture)
                                                        : 0;
}

} // namespace

namespace entries {

pi_result PI_CALL piDeviceSelectBinary(pi_device device, uint32_t count,
                                       const pi_program_binary *binaries, uint32_t *out_index) {
    return call<Device>(device, [&](Device &self) {
        require(out_index, "out_index");
        const int capability = self.compute_capability(), major = capability / 10;
        const std::string accepts = text(
            "\"sm_", major, "0\" to \"sm_", capability, "\" of format ", PI_PROGRAM_FORMAT_CUBIN,
            ", and \"compute_", capability, "\" and lower of format ", PI_PROGRAM_FORMAT_PTX);
        *out_index = select_best(count, binaries, accepts, [&](const pi_program_binary &image) {
            return rank_of(image, capability);
        });
    });
}

} // namespace entries
} // namespace pi::cuda
