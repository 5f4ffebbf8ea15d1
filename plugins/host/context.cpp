// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.hpp"

#include "plugin.hpp"

namespace pi::host {

Context::~Context() {
    platform_.instance().usm().drop(this);
    platform_.instance().registrations().drop(*this);
}

} // namespace pi::host
