// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace pi::reached {

/// Where calls are counted: PI_REACHED_FILE, or nullptr.
const char *counts_file() noexcept;

} // namespace pi::reached
