// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bench.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

LAW("event", "a host event is final once it is signalled, and not before") {
    const Event event = bench.make_host_event();
    require_error(piEventWait(event, 0), PI_ERROR_TIMEOUT, "piEventWait before the signal");
    require(!bench.is_final(event), "the event is final before the signal");
    bench.signal(event);
    bench.wait(event);
    require(bench.is_final(event), "the event is not final after the signal");
}

} // namespace
} // namespace pi::suite
