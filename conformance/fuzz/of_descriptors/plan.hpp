// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Edits that the target descriptors makes to a good descriptor.
#pragma once

#include "row.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace pi::fuzz {

/// The edits of one descriptor.
struct Plan {
    struct Change {
        Member at;
        uint64_t value;
        uint64_t twin;   ///< a value that must have the same result
        pi_result error; ///< PI_SUCCESS: none
    };
    std::vector<Change> changes;
    std::vector<pi_struct_type> chain;
    uint32_t size; ///< its struct_size and its real size
    bool tail = false;
    bool absent = false;
    bool no_output = false;
    bool element = false;     ///< an element's reserved words have a bit
    uint32_t element_bit = 0; ///< modulo their number
    enum Waits { none, without_list, null_event, no_event } waits = none;
    /// pi.h leaves the result open.
    bool open = false;

    bool changes_part(const Member &at) const {
        return std::any_of(changes.begin(), changes.end(), [&](const Change &change) {
            return change.at.offset < at.offset + at.size &&
                   at.offset < change.at.offset + change.at.size;
        });
    }
    void change(const Member &at, uint64_t value, pi_result error) {
        change(at, value, value, error);
    }
    void change(const Member &at, uint64_t value, uint64_t twin, pi_result error) {
        if (at.size != 0 && !changes_part(at)) {
            changes.push_back({at, value, twin, error});
            open |= error == PI_SUCCESS;
        }
    }
};

/// Inputs for which make_plan() makes plans with a single edit, one of each kind.
std::vector<Bytes> single_edits();

/// A plan for a row's descriptor with the bytes `base`. Its wrong handles come from `own` or from
/// another plugin's fixture (`another`).
Plan make_plan(Input &input, const Row &row, const Bytes &base, const Fixture &own,
               const Fixture &another);

/// Describes a plan in a finding.
std::string to_string(const Plan &plan);

/// The errors that pi.h requires. None: it is as good as the original descriptor, unless the plan
/// is open.
std::vector<pi_result> expected_errors(const Plan &plan, const Row &row);

} // namespace pi::fuzz
