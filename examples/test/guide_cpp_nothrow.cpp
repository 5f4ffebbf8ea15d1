// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same without exceptions: compiled with -fno-exceptions -fno-rtti, run on the host plugin.
#include <pi/pi.hpp>

#include <cstdio>
#include <cstdlib>

namespace pn = pi::nothrow;

/// A buffer of zeros in memory with these requirements or, if there is none, in any memory.
static pi::Result<pn::Mem> make_zeros(pn::QueueRef queue, uint64_t size, uint64_t requirements) {
    const auto context = queue.info<PI_QUEUE_INFO_CONTEXT>();
    const auto device = queue.info<PI_QUEUE_INFO_DEVICE>();
    if (!context || !device)
        return pi::Result<pn::Mem>::failure(context ? device.error() : context.error());
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = size;
    desc.flags = requirements;
    pi::Result<pn::Mem> mem = pn::Mem::buffer_create(*context, *device, desc);
    if (mem.error() == PI_ERROR_UNSUPPORTED_FEATURE) {
        std::fprintf(stderr, "%s\n", mem.message().c_str()); // with piGetLastError's text
        mem = pn::Mem::buffer_create(*context, *device, size);
    }
    if (!mem)
        return mem;
    const uint32_t zero = 0;
    auto fill = pi::desc<pi_buffer_fill_desc>();
    fill.mem = mem->get();
    fill.pattern = &zero;
    fill.pattern_size = sizeof zero;
    fill.size = size;
    if (const auto filled = queue.enqueue(fill, pi::no_event); !filled)
        return pi::Result<pn::Mem>::failure(filled.error()); // the buffer is released
    return mem;
}

int main() {
    const pn::Loader loader =
        pn::Loader::create().value(); // on failure: prints a message and aborts
    const pn::DeviceRef device = loader.select_devices().value().at(0);
    const auto platform = device.info<PI_DEVICE_INFO_PLATFORM>().value();
    const pn::Context context = pn::Context::create(platform, device).value();
    const pn::Queue queue = pn::Queue::create(context, device).value();
    const auto zeros = make_zeros(queue, 4096, PI_MEM_REQUIRE_PINNED);
    // 3 is not a multiple of the pattern's size: the failure has a text.
    const auto refused = make_zeros(queue, 3, 0);
    std::puts(refused.message().c_str());
    const bool right = zeros && zeros->info<PI_MEM_INFO_SIZE>().value_or(0) == 4096 &&
                       queue.finish() && refused.error() == PI_ERROR_INVALID_SIZE &&
                       pn::QueueRef().finish().error() == PI_ERROR_INVALID_QUEUE;
    std::puts(right ? "passed" : "the buffers are wrong");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
