// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rectangles.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace pi_bench {
namespace {

using pi::runtime::check;

constexpr uint64_t rows = uint64_t{1} << 20;
constexpr uint64_t half = GoodCase::size / 2;

/// One-byte rows: the source's pitches, and the destination's.
pi_region bytes(uint64_t count, uint64_t slices, std::array<uint64_t, 2> from,
                std::array<uint64_t, 2> to, uint64_t begin) {
    pi_region region{};
    region.dst_offset = begin;
    region.extent[0] = 1;
    region.extent[1] = count;
    region.extent[2] = slices;
    for (size_t i = 0; i < 2; ++i) {
        region.src_pitch[i] = from.at(i);
        region.dst_pitch[i] = to.at(i);
    }
    return region;
}

struct Case {
    const char *name;
    pi_region region;
};

std::vector<Case> cases_between() {
    return {{"", GoodCase::region()},
            {", odd row pitches", bytes(rows, 1, {3, 0}, {5, 0}, 1)},
            {", slices of two rows at odd pitches", bytes(2, rows / 2, {3, 7}, {3, 11}, 1)},
            {", 1024 slices at odd pitches", bytes(1024, 1024, {4, 4097}, {4, 4099}, 1)}};
}
std::vector<Case> cases_within() {
    return {{", apart", bytes(rows, 1, {4, 0}, {4, 0}, half)},
            {", in the gaps between the rows", bytes(rows, 1, {4, 0}, {4, 0}, 2)},
            {", pitches that differ", bytes(rows, 1, {4, 0}, {6, 0}, half)},
            {", in the gaps at pitches that differ", bytes(rows, 1, {4, 0}, {6, 0}, 1)},
            {", 1024 slices at odd pitches", bytes(1024, 1024, {4, 4097}, {4, 4099}, half)}};
}

template <class Copy>
void compare_cases(Session &session, const std::string &prefix, const char *where,
                   const std::vector<Case> &cases, const GoodCase &good, const Copy &copy) {
    for (const Case &one : cases) {
        session.compare(prefix + "1 Mi rows of one byte " + where + one.name, good.limit,
                        Unit::microseconds, repeat([&] {
                            copy({&one.region, 1});
                        }),
                        good.copy);
    }
}

/// Freed at the end of the scope.
class UsmMemory {
public:
    explicit UsmMemory(const Place &place) : place_(place) {
        auto desc = pi::desc<pi_usm_desc>();
        desc.kind = PI_USM_DEVICE;
        desc.size = GoodCase::size;
        check(piUsmAlloc(place.context.get(), place.device, &desc, &pointer_), "piUsmAlloc");
    }
    UsmMemory(const UsmMemory &) = delete;
    ~UsmMemory() { piUsmFree(place_.context.get(), pointer_); }
    void *get() const { return pointer_; }

private:
    const Place &place_;
    void *pointer_ = nullptr;
};

void copy_usm_regions(const Place &place, const void *src, void *dst,
                      std::span<const pi_region> regions) {
    auto desc = pi::desc<pi_usm_copy_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.src = src;
    desc.dst = dst;
    desc.region_count = static_cast<uint32_t>(regions.size());
    desc.regions = regions.data();
    check(piEnqueueUsmCopy(place.queue.get(), &desc, 0, nullptr, nullptr), "piEnqueueUsmCopy");
}

/// "VmHWM:    1234 kB" of /proc/self/status, in MiB.
double memory_of_process(const std::string &what) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        std::istringstream words(line);
        std::string name;
        double kib = 0;
        if (words >> name >> kib && name == what + ":") {
            return kib / 1024;
        }
    }
    throw std::runtime_error("/proc/self/status has no " + what);
}

/// The increase of the process's peak memory during the work, in MiB.
template <class Work>
double growth(const Work &work) {
    std::ofstream reset("/proc/self/clear_refs");
    if (!(reset << '5' << std::flush)) {
        throw std::runtime_error("/proc/self/clear_refs cannot be written");
    }
    const double before = memory_of_process("VmRSS");
    work();
    return memory_of_process("VmHWM") - before;
}

/// Run before any other command of many regions: memory that the process already has is not
/// counted.
void measure_memory(Session &session, const Place &place, const std::string &prefix, pi_mem src,
                    pi_mem dst) {
    const std::string name = prefix + "memory of a copy of 1 Mi regions";
    if (!session.wants(name)) {
        return;
    }
    std::vector<pi_region> regions(rows);
    for (uint64_t i = 0; i < rows; ++i) {
        regions[i].src_offset = 2 * i;
        regions[i].dst_offset = 3 * i;
        regions[i].extent[0] = 1;
    }
    const double ours = growth([&] { copy(place, src, dst, regions); });
    const double limit = static_cast<double>(rows * sizeof(pi_region)) / (1 << 20);
    session.add({name, ours, limit, "the regions, copied once", ours / limit, "MiB"});
}

} // namespace

pi_region GoodCase::region() {
    return bytes(rows, 1, {4, 0}, {4, 0}, 0);
}

void compare_rectangles(Session &session, const Place &place, const std::string &prefix,
                        const GoodCase &good) {
    const pi::runtime::Mem src = make_buffer(place, GoodCase::size, 1);
    const pi::runtime::Mem dst = make_buffer(place, GoodCase::size, 2);
    session.attempt(prefix + "memory of a copy of 1 Mi regions",
                    [&] { measure_memory(session, place, prefix, src.get(), dst.get()); });
    const auto between = [&](pi_mem from, pi_mem to) {
        return [&place, from, to](std::span<const pi_region> regions) {
            copy(place, from, to, regions);
        };
    };
    compare_cases(session, prefix, "between buffers", cases_between(), good,
                  between(src.get(), dst.get()));
    compare_cases(session, prefix, "within a buffer", cases_within(), good,
                  between(src.get(), src.get()));
    session.attempt(prefix + "1 Mi rows of USM", [&] {
        const UsmMemory from(place);
        const UsmMemory to(place);
        const auto moves = [&](const void *a, void *b) {
            return [&place, a, b](std::span<const pi_region> regions) {
                copy_usm_regions(place, a, b, regions);
            };
        };
        compare_cases(session, prefix, "between USM", cases_between(), good,
                      moves(from.get(), to.get()));
        compare_cases(session, prefix, "within USM", cases_within(), good,
                      moves(from.get(), from.get()));
    });
}

void compare_rectangles_between(Session &session, const Place &place, const Place &other,
                                const std::string &prefix, const GoodCase &good) {
    const pi::runtime::Mem src = make_buffer(place, GoodCase::size, 1);
    const pi::runtime::Mem dst = make_buffer(other, GoodCase::size, 2);
    compare_cases(
        session, prefix, "between contexts", cases_between(), good,
        [&](std::span<const pi_region> regions) { copy(place, src.get(), dst.get(), regions); });
}

} // namespace pi_bench
