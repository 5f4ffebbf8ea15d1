// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storages of random programs, and the state that the model keeps of each.
#pragma once

#include "byte_model.hpp"
#include "live_machine.hpp"
#include "model.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace random_programs {

/// A storage, or the slice of it that belongs to one thread, with its models. Nobody writes a range
/// that all threads read.
struct Area {
    std::string name;
    Storage storage;
    Range range; ///< within the storage
    bool read_only = false;
    std::shared_ptr<Memories> memories; ///< shared by all areas of the storage
    RouteMask routes = all_routes;
    StyleMask styles = all_styles;
    std::shared_ptr<std::vector<uint8_t>> host_memory; ///< the application's; null if it has none
    pi_test::ByteModel contents;
    std::mutex mutex; ///< guards the validity and demand of an area that threads share
    Validity validity;
    Demand demand; ///< guarded by `mutex`

    void acquired(PlaceIndex place, const Range &used, Access access, Validity::Choice choice);
};

/// Memory limits of a runtime: the defaults, or so small that transfers wait for memory. Any value
/// is legal.
struct Limits {
    uint64_t bounce = RuntimeOptions().bounce_limit;
    uint64_t staging = RuntimeOptions().staging_limit;
    static Limits draw(Draw &draw, uint64_t largest);
};

struct Setting {
    const MachineFile &file;
    const LiveMachine &machine;
    Runtime &runtime;
    Trouble trouble = Trouble::none;
    bool patient = false; ///< each step ends before the next begins
    Limits limits{};      ///< of the runtime
    bool maps = false;    ///< bounces may map an end
    uint64_t largest = 1; ///< the size of the largest storage
    uint64_t smallest = 1;
    /// Threads that hold several ranges must acquire them in one order; these programs do not, so
    /// with several threads no step holds a range.
    bool may_hold = true;
};

/// A new storage with one area.
std::shared_ptr<Area> make_area(const Setting &setting, Draw &draw, const std::string &name);

/// Bytes that identify the step that wrote them.
std::vector<uint8_t> fresh_bytes(uint64_t size, std::size_t step);

constexpr bool is_fetching(Access access) {
    return access != Access::discard_write;
}
constexpr bool is_writing(Access access) {
    return access != Access::read;
}

} // namespace random_programs
