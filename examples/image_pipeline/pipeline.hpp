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

/// What one stage did with one storage.
struct UseReport {
    std::string storage;
    bool writes = false;
    uint64_t bytes = 0;    ///< of the range that it used
    uint64_t required = 0; ///< of these, what was stale and had to move: no runtime can move less
    double took = 0; ///< virtual milliseconds until all was there; 0 without a simulated machine
    /// Usually one. A range whose bytes come from several places has several.
    std::vector<pi::runtime::TransferRecord> transfers;
    std::string explanation; ///< every route that there was, asked for by PipelineOptions::explain
};

struct StageReport {
    std::string name;
    std::string purpose; ///< "7 x 7 gaussian"
    pi::runtime::PlaceIndex place = pi::runtime::host_place;
    std::vector<UseReport> uses;
    double done_at =
        0; ///< milliseconds from the begin of the round, virtual on a simulated machine
};

struct RoundReport {
    std::vector<StageReport> stages;
};

struct PipelineOptions {
    bool explain = false;
    /// What lies between the stages may be in host memory too, where devices can use that in place.
    bool in_place = false;
    /// Of a simulated machine: makes the host wait, in virtual time, for all that has begun, and returns
    /// the milliseconds of its clock. With it every transfer and every stage is waited for, so that each
    /// has the machine for itself, as a prediction assumes. Empty: no simulated machine.
    std::function<double()> virtual_time;
    /// What links cost; nothing: as the plugins say.
    std::optional<pi::runtime::CostTable> costs;
};

/// Six stages: blur, edges, histogram, overlay and chart each at a place, save at the host.
///
/// The picture, the overlay and the chart are in host memory, which devices that can use in place. What
/// lies between them is in device memory, made where it is first written, unless options say otherwise.
class Pipeline {
public:
    /// Compiles the kernels for each place. The picture must outlive the pipeline.
    Pipeline(const Work &work, const Picture &picture, PipelineOptions options = {});
    /// Waits for what is in flight.
    ~Pipeline();
    Pipeline(const Pipeline &) = delete;
    Pipeline &operator=(const Pipeline &) = delete;

    /// Stage s of round r runs at work.order[(s + r) % size]. All stages are enqueued without waiting in
    /// between, but for what virtual_time says; the round is over when the results are at the host, in out_results. Throws
    /// pi::runtime::Error.
    RoundReport run_round(uint32_t round, Results &out_results);

    /// Of all rounds.
    pi::runtime::Counters counters() const;

private:
    class State;
    std::unique_ptr<State> state_;
};

} // namespace image_pipeline
