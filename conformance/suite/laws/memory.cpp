// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bench.hpp"
#include "registry.hpp"

#include <cstring>

namespace pi::suite {
namespace {

LAW("memory", "a buffer gives back the bytes that were written to it") {
    const uint64_t size = bench.random(1, 1 << 20);
    const Mem mem = bench.make_buffer(size);
    const Queue queue = bench.make_queue();
    const Bytes bytes = bench.random_bytes(size);
    bench.upload(queue, mem, bytes);
    bench.require_contents(queue, mem, bytes, "what was written");
}

} // namespace
} // namespace pi::suite
