// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A random program as a case for pi-run: the same steps one after the other, each with the bytes
// that it must see.
#pragma once

#include "area.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace random_programs {

class CaseText {
public:
    explicit CaseText(const Setting &setting) : setting_(setting) {}

    void add(const Area &area);
    void remove(const Area &area);
    /// The last `fresh` bytes of the range become fresh_bytes of that step.
    void use(const Area &area, PlaceIndex place, const Range &range, Access access, uint64_t fresh,
             std::size_t step);
    void abandon(const Area &area, PlaceIndex place, const Range &range, Access access);
    void prefetch(const Area &area, PlaceIndex place, const Range &range);
    void broadcast(const Area &area, const std::vector<PlaceIndex> &places, const Range &range);

    /// Empty where cases lack what the program needs: threads, real devices, faults, several
    /// contexts.
    std::string text() const;

private:
    enum class Kind { add, remove, use, abandon, prefetch, broadcast };
    struct Step {
        Kind kind;
        std::size_t storage;
        std::vector<PlaceIndex> places{};
        Range range{};
        Access access = Access::read;
        uint64_t fresh = 0;
        std::size_t number = 0;
        RouteMask routes = 0;
        StyleMask styles = 0;
        bool host_memory = false;
    };
    std::size_t storage(const Area &area) const { return storages_.at(&area); }
    std::string head() const;

    const Setting &setting_;
    std::vector<Step> steps_;
    std::map<const Area *, std::size_t> storages_;
    std::size_t count_ = 0;
};

} // namespace random_programs
