// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "picture.hpp"
#include "places.hpp"
#include "reference.hpp"

#include <pi/runtime/runtime.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace image_pipeline {

/// One stage's use of one storage.
struct UseReport {
    std::string storage;
    bool writes = false;
    uint64_t bytes = 0;    ///< of the used range
    uint64_t required = 0; ///< the stale part: no runtime can move less
    double took = 0;       ///< virtual milliseconds until all bytes were ready; 0 on a real machine
    /// Usually one; several if the bytes come from several places.
    std::vector<pi::runtime::TransferRecord> transfers;
    std::string explanation; ///< every possible route, with PipelineOptions::explain
};

struct StageReport {
    std::string name;
    std::string purpose; ///< "7 x 7 gaussian"
    pi::runtime::PlaceIndex place = pi::runtime::host_place;
    std::vector<UseReport> uses;
    double done_at = 0; ///< milliseconds since the round began, virtual on a simulated machine
};

struct RoundReport {
    std::vector<StageReport> stages;
};

struct PipelineOptions {
    bool explain = false;
    /// Storages between the stages may be in host memory if devices can use it in place.
    bool in_place = false;
    /// For a simulated machine: lets the host wait, in virtual time, for all work, and returns the
    /// milliseconds of its clock. The pipeline then waits for every transfer and every stage, so
    /// that each has the machine for itself, as predictions assume. Empty: a real machine.
    std::function<double()> virtual_time;
    /// Costs of links; empty: those that the plugins report.
    std::optional<pi::runtime::CostTable> costs;
};

/// Six stages: blur, edges, histogram, overlay and chart each at a place, save at the host.
///
/// The picture, the overlay and the chart are in host memory, which devices use in place if they
/// can. The other storages are in device memory, unless options allow host memory.
class Pipeline {
public:
    /// Compiles the kernels for each place. The picture must outlive the pipeline.
    Pipeline(const Work &work, const Picture &picture, PipelineOptions options = {});
    /// Waits for work in flight.
    ~Pipeline();
    Pipeline(const Pipeline &) = delete;
    Pipeline &operator=(const Pipeline &) = delete;

    /// Stage s of round r runs at work.order[(s + r) % size]. All stages are enqueued without a
    /// wait between them, unless virtual_time is set. The round ends when the results are at the
    /// host, in out_results. Throws pi::runtime::Error.
    RoundReport run_round(uint32_t round, Results &out_results);

    /// The counters of all rounds.
    pi::runtime::Counters counters() const;

private:
    class State;
    std::unique_ptr<State> state_;
};

} // namespace image_pipeline
