// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bench.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

LAW("enqueue", "a command behind an unsignalled host event does not run") {
    const Bytes before = bench.random_bytes(4096);
    const Bytes after = bench.random_bytes(4096);
    const Mem mem = bench.make_buffer(bench.place(), before);
    const Queue gated = bench.make_queue();
    const Queue other = bench.make_queue();
    const Event gate = bench.make_host_event();
    const Event written = bench.write(gated, mem, 0, after, {gate});
    bench.require_contents(other, mem, before, "the buffer while the write is held back");
    require(!bench.is_final(written), "the write is final before its host event is signalled");
    bench.signal(gate);
    bench.wait(written);
    bench.require_contents(other, mem, after, "the buffer after the write");
}

} // namespace
} // namespace pi::suite
