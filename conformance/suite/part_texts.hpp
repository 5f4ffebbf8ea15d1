// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program in two parts, in each format of the suite; neither part is a program alone.
//
//     kernel change(global uint *data)     data[i] = changed(data[i])
//     changed(value)                       value * FACTOR + 1, where FACTOR is an option's
#pragma once

#include "fixture.hpp"

#include <string>

namespace pi::suite {

struct Text {
    pi_program_format format;
    std::string text;
};

struct PartTexts {
    Text caller; ///< the kernel
    Text callee; ///< what it calls
    Text broken; ///< the same with an undeclared name "nonsense"
    Text whole;  ///< all in one
};

/// Skips the test if parts cannot be linked, or not in a format of the suite.
PartTexts part_texts(Fixture &fixture);

} // namespace pi::suite
