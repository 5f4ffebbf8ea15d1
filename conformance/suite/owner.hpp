// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../support/owned.hpp"

namespace pi::suite {

template <typename Handle>
using Owner = pi_test::Owned<Handle>;

using Context = Owner<pi_context>;
using Queue = Owner<pi_queue>;
using Mem = Owner<pi_mem>;
using Event = Owner<pi_event>;
using Program = Owner<pi_program>;
using Kernel = Owner<pi_kernel>;
using Sampler = Owner<pi_sampler>;

} // namespace pi::suite
