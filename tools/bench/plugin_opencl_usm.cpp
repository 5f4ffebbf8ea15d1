// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// USM of the OpenCL plugin compared with plain SVM calls.
#include "sizes.hpp"
#include "usm_pair.hpp"

#include <vector>

namespace pi_bench {
namespace {

void compare_usm_copy(Session &session, const Sides &sides, const Size &size) {
    const std::string name = opencl_row(std::string("copy of USM, ") + size.name + ", and wait");
    if (!session.wants(name)) {
        return;
    }
    const UsmPair src(sides, size.bytes);
    const UsmPair dst(sides, size.bytes);
    const std::vector<char> bytes(size.bytes, 'x');
    std::vector<char> arrived(size.bytes);
    copy_usm(sides.place, bytes.data(), src.ours(), size.bytes);
    copy_usm(sides.place, src.ours(), dst.ours(), size.bytes);
    copy_usm(sides.place, dst.ours(), arrived.data(), size.bytes);
    if (arrived != bytes) {
        throw std::runtime_error("a copy of USM lost bytes on " + sides.place.name);
    }
    copy_usm(sides, bytes.data(), src.theirs(), size.bytes);
    session.compare(name, plain_opencl, Unit::microseconds,
                    repeat([&] { copy_usm(sides.place, src.ours(), dst.ours(), size.bytes); }),
                    repeat([&] { copy_usm(sides, src.theirs(), dst.theirs(), size.bytes); }));
}

} // namespace

void compare_usm(Session &session, const Sides &sides) {
    if (!sides.can(PI_CAPABILITY_USM)) {
        return session.skip(opencl_row("USM"), "the device has no PI_CAPABILITY_USM");
    }
    for (const Size &size : copy_sizes) {
        compare_usm_copy(session, sides, size);
    }
}

} // namespace pi_bench
