// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace pi_bench {

/// A measured value and its limit. All three numbers are positive and finite; smaller is better,
/// and a ratio of 1 is perfect.
struct Row {
    std::string name;
    double ours = 0;
    double limit = 0;
    std::string limit_name;
    double ratio = 0;
    std::string unit;
};

/// A row that was not measured, and why.
struct NotMeasured {
    std::string name;
    std::string reason;
};

/// "AMD EPYC, 2 CPUs, Linux 6.1.0, load 0.05": the machine, and its load.
std::string machine();
/// "2026-11-20T07:45:12Z"
std::string date();

/// For people: one line per row, the limits explained below. If a line would exceed `columns`, the
/// figures of each row are on a separate line; 0: no maximum.
std::string table(const std::vector<Row> &rows, const std::vector<NotMeasured> &not_measured,
                  size_t columns = 0);
/// {"machine", "date", "rows": [{"name", "ours", "limit", "limit_name", "ratio", "unit"}],
/// "not_measured": [{"name", "reason"}]}
std::string json(const std::string &machine, const std::string &date, const std::vector<Row> &rows,
                 const std::vector<NotMeasured> &not_measured);

} // namespace pi_bench
