// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the system says of memory of this process.
#pragma once

#include "fixture.hpp"

#include <cstdint>
#include <string>

namespace pi::suite {

/// Skips the test unless the device's memory is memory of this process, which the system describes.
void need_process_memory(Fixture &fixture);

/// The VmFlags of the mapping that an address is in (/proc/self/smaps); empty if none are shown.
std::string flags_of_mapping(uintptr_t address);

/// Whether the page of an address is locked, a reserved huge page, or of a device; skips the test
/// where the system does not say.
bool never_paged_out(uintptr_t address);

} // namespace pi::suite
