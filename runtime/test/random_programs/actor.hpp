// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of an application that uses the runtime: the steps, and the checks after them.
#pragma once

#include "area.hpp"
#include "case_text.hpp"

#include <deque>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace random_programs {

/// Executes steps on its own queues. Several actors may run on threads at the same time; they share
/// only read-only areas.
class Actor {
public:
    Actor(const Setting &setting, std::vector<std::shared_ptr<Area>> areas);
    ~Actor();

    /// Throws Failure.
    void step(Draw draw, std::size_t number);
    /// Waits until all commands end, and compares the bytes that the uses read.
    void settle();
    /// Checks all bytes at the end: each has its expected value or is reported lost.
    void check_all();

    std::string text() const { return text_.str(); }
    /// The steps so far as a case, between two lines; "" if cases lack something.
    std::string case_text() const;
    const Demand &demand() const { return demand_; } ///< of destroyed areas
    const std::vector<std::shared_ptr<Area>> &areas() const { return areas_; }

private:
    struct Use {
        std::size_t step;
        std::shared_ptr<Area> area;
        PlaceIndex place;
        Range range;
        Access access;
        Job job;
        Event event;
        pi_result result = PI_SUCCESS; ///< if there is no event
        bool has_run = false;          ///< the application's command was enqueued
        std::string error;
    };
    struct Hold {
        Acquisition acquisition;
        Use *use;
    };
    struct Choice {
        std::shared_ptr<Area> area;
        PlaceIndex place;
        Access access;
        Range range;
    };

    Choice choose(Draw &draw, bool only_read = false);
    void log(const std::string &what, const Choice &choice);
    std::optional<Acquisition> acquire(const Choice &choice, Draw &draw, Use &use);
    void run(const Choice &choice, Draw &draw, bool hold);
    void run_at_host(Acquisition &acquisition, Use &use);
    void run_at_device(Acquisition &acquisition, Use &use);
    void note(const Choice &choice, Access access) const;
    void prefetch(const Choice &choice);
    void broadcast(const Choice &choice, Draw &draw);
    void abandon(const Choice &choice);
    void replace(Draw &draw);
    void release_holds(const Area &area, const Range &range);
    void release(Hold hold);
    void end(Use &use);
    void check_whole(Area &area);
    void check_part(Area &area, const Range &range);
    bool may_fail(pi_result result) const;

    const Setting &setting_;
    std::vector<std::shared_ptr<Area>> areas_;
    std::vector<std::shared_ptr<Area>> replaced_; // copies may still use their host memory
    std::vector<Queue> queues_;
    std::deque<Use> uses_; // in program order; addresses stay
    std::deque<Hold> holds_;
    Demand demand_;
    std::size_t number_ = 0;
    std::size_t storages_ = 0;
    std::ostringstream text_;
    CaseText case_;
};

} // namespace random_programs
