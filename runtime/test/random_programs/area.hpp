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

/// A storage, or the slice of it that is a thread's own, beside its models. What reads all of it,
/// nobody writes.
struct Area {
    std::string name;
    Storage storage;
    Range range; ///< of the storage
    bool read_only = false;
    std::shared_ptr<Memories> memories; ///< of the storage
    RouteMask routes = all_routes;
    std::shared_ptr<std::vector<uint8_t>> host_memory; ///< the application's, or none
    pi_test::ByteModel contents;
    std::mutex mutex; ///< guards the validity of an area that threads share
    Validity validity;
    Demand demand; ///< likewise

    void acquired(PlaceIndex place, const Range &used, Access access, Validity::Choice choice);
};

/// Limits of a runtime's memory, of which any are legal: the default ones or so little that
/// transfers wait for it.
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
    bool patient = false; ///< each step has ended before the next begins
    Limits limits{};      ///< of the runtime
    bool maps = false;    ///< bounces may map an end
    uint64_t largest = 1; ///< size of a storage, and the smallest
    uint64_t smallest = 1;
    /// Whoever holds several ranges beside other threads must acquire them in one order: here
    /// nobody does.
    bool may_hold = true;
};

/// A storage of its own with one area.
std::shared_ptr<Area> make_area(const Setting &setting, Draw &draw, const std::string &name);

/// Bytes that tell the step by which they were written.
std::vector<uint8_t> fresh_bytes(uint64_t size, std::size_t step);

constexpr bool is_fetching(Access access) {
    return access != Access::discard_write;
}
constexpr bool is_writing(Access access) {
    return access != Access::read;
}

} // namespace random_programs
