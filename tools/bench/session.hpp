// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "measure.hpp"
#include "progress.hpp"
#include "report.hpp"

#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace pi_bench {

struct Options {
    std::string name;   ///< of the benchmark
    std::string filter; ///< a regular expression that a row's name must match in part
    std::string json;   ///< a file, or ""
    std::string device = "opencl:0:0";
    std::string costs; ///< a file for calibrate's result, or ""
    bool quick = false;
};

enum class Unit { nanoseconds, microseconds, milliseconds };

/// One run of pi-bench: measures rows and stores them.
class Session {
public:
    /// Throws std::regex_error.
    explicit Session(const Options &options);

    const std::string &device() const noexcept { return device_; }
    const std::string &costs_file() const noexcept { return costs_file_; }
    bool quick() const noexcept { return quick_; }
    bool wants(const std::string &name) const;
    /// How much to measure, for operations from nanoseconds to milliseconds.
    Effort effort() const;
    /// The same for processes: each process is a batch.
    Effort process_effort() const;

    /// Measures both if the row is wanted, and adds it: medians of the batches, and the median of
    /// the ratios of neighbouring batches.
    void compare(const std::string &name, const std::string &limit_name, Unit unit,
                 const Batch &ours, const Batch &limit, const std::optional<Effort> &effort = {});
    /// Measures ours alone, if the row is wanted; the limit is a number of nanoseconds.
    void compare_with(const std::string &name, const std::string &limit_name, Unit unit,
                      const Batch &ours, double limit);
    void add(Row row) { rows_.push_back(std::move(row)); }
    /// Runs a part of a benchmark; if it throws, the rest is still measured.
    void attempt(const std::string &name, const std::function<void()> &part);
    void skip(const std::string &name, const std::string &reason);
    /// Shows on a terminal what is measured now; compare and compare_with call it themselves.
    void show_progress(const std::string &name) { progress_.begin(rows_.size(), name); }
    /// Before a report is printed.
    void end_progress() { progress_.clear(); }

    const std::vector<Row> &rows() const noexcept { return rows_; }
    const std::vector<NotMeasured> &not_measured() const noexcept { return not_measured_; }

private:
    std::optional<std::regex> filter_;
    std::string device_;
    std::string costs_file_;
    bool quick_;
    std::vector<Row> rows_;
    std::vector<NotMeasured> not_measured_;
    Progress progress_;
};

/// The benchmarks.
void bench_calls(Session &session);
void bench_start(Session &session);
void bench_plugin(Session &session);
void bench_runtime(Session &session);
void bench_calibrate(Session &session);
void bench_cuda(Session &session);
void bench_level_zero(Session &session);

/// Parts of them, in separate files: calls against the OpenCL ICD loader's, an OpenCL device
/// against plain OpenCL, the host plugin against memcpy, the runtime on simulated machines.
void bench_calls_beside_icd(Session &session);
void bench_plugin_opencl(Session &session);
void bench_plugin_host(Session &session);
void bench_runtime_simulated(Session &session);

} // namespace pi_bench
