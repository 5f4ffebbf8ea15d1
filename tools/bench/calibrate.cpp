// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures the costs of links for the host runtime's routes, with the runtime's own commands;
// compared with memcpy of equally many bytes.
#include "measure.hpp"
#include "place.hpp"
#include "session.hpp"
#include "sizes.hpp"

#include <pi/runtime/calibrate.hpp>

#include <benchmark/benchmark.h>

#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace pi_bench {
namespace {

using namespace pi::runtime;

/// Microseconds of memcpy between existing memory, from different bytes each time.
double memcpy_microseconds(uint64_t bytes, uint64_t largest) {
    constexpr uint64_t repetitions = 15;
    const std::vector<unsigned char> from(largest, 1);
    std::vector<unsigned char> to(bytes, 2);
    std::vector<double> times;
    for (uint64_t repetition = 0; repetition < repetitions; ++repetition) {
        const unsigned char *source = from.data() + repetition * ((largest - bytes) / repetitions);
        const auto begin = std::chrono::steady_clock::now();
        std::memcpy(to.data(), source, bytes);
        benchmark::ClobberMemory();
        const std::chrono::duration<double, std::micro> time =
            std::chrono::steady_clock::now() - begin;
        times.push_back(time.count());
    }
    return std::max(median(times), 1e-3);
}

} // namespace

void bench_calibrate(Session &session) {
    const pi::Loader loader = pi::Loader::create();
    const auto topology = all_places(loader);
    CalibrateOptions options;
    if (session.quick()) {
        options.repetitions = 1;
        options.largest_bytes = 1 << 20;
    }
    session.show_progress("every link between " + std::to_string(topology->size()) +
                          " places, in six sizes each");
    const Calibration measured = calibrate(topology, options);
    std::map<uint64_t, double> limits;
    std::set<std::string> names;
    for (const LinkMeasurement &each : measured.measurements) {
        const std::string name = topology->info(each.from).name + " -> " +
                                 topology->info(each.to).name + ", " + size_name(each.bytes);
        // Two size classes may share a size.
        if (session.wants(name) && names.insert(name).second) {
            if (limits.count(each.bytes) == 0) {
                limits[each.bytes] = memcpy_microseconds(each.bytes, options.largest_bytes);
            }
            const double ours = each.seconds * 1e6;
            const double limit = limits[each.bytes];
            session.add({name, ours, limit, "memcpy of as many bytes", ours / limit, "us"});
        }
    }
    for (const std::string &failure : measured.failures) {
        session.skip("a link", failure);
    }
    if (!session.costs_file().empty()) {
        save_costs(measured.costs, topology->description(), session.costs_file());
    }
}

} // namespace pi_bench
