// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handles of another kind in calls where a plugin may fail to notice.

#include "checks.hpp"
#include "fixture.hpp"
#include "kernels.hpp"
#include "launch_fixture.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

// A handle as one of another kind.
struct Wrong {
    void *object;
    template <typename Handle>
    operator Handle() const {
        return reinterpret_cast<Handle>(object);
    }
};

template <typename Handle>
void require_not_counted(const char *what, Wrong wrong, pi_result(PI_CALL *retain)(Handle),
                         pi_result(PI_CALL *release)(Handle), pi_result code) {
    require_error(retain(wrong), code, "retaining ", what);
    require_error(release(wrong), code, "releasing ", what);
}

CONFORMANCE_TEST("errors", "a handle of another kind is not retained and not released") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(64);
    const Wrong a_queue{queue.get()};
    const Wrong a_buffer{mem.get()};
    require_not_counted("a queue as a device", a_queue, &piDeviceRetain, &piDeviceRelease,
                        PI_ERROR_INVALID_DEVICE);
    require_not_counted("a queue as a context", a_queue, &piContextRetain, &piContextRelease,
                        PI_ERROR_INVALID_CONTEXT);
    require_not_counted("a buffer as a queue", a_buffer, &piQueueRetain, &piQueueRelease,
                        PI_ERROR_INVALID_QUEUE);
    require_not_counted("a queue as a buffer", a_queue, &piMemRetain, &piMemRelease,
                        PI_ERROR_INVALID_MEM_OBJECT);
    require_not_counted("a queue as an event", a_queue, &piEventRetain, &piEventRelease,
                        PI_ERROR_INVALID_EVENT);
    if (fixture.can(PI_CAPABILITY_PROGRAM)) {
        require_not_counted("a queue as a program", a_queue, &piProgramRetain, &piProgramRelease,
                            PI_ERROR_INVALID_PROGRAM);
        require_not_counted("a queue as a kernel", a_queue, &piKernelRetain, &piKernelRelease,
                            PI_ERROR_INVALID_KERNEL);
    }
    if (fixture.can(PI_CAPABILITY_USM_POOL))
        require_not_counted("a queue as a pool", a_queue, &piUsmPoolRetain, &piUsmPoolRelease,
                            PI_ERROR_INVALID_USM_POOL);
    if (fixture.can(PI_CAPABILITY_IMAGE))
        require_not_counted("a queue as a sampler", a_queue, &piSamplerRetain, &piSamplerRelease,
                            PI_ERROR_INVALID_SAMPLER);
    // Both still have their references.
    const Bytes bytes = fixture.random_bytes(64);
    fixture.upload(queue, mem, bytes);
    fixture.require_contents(queue, mem, bytes, "a buffer that was taken for a queue");
}

CONFORMANCE_TEST("errors", "a handle of another kind has no platforms and no clocks") {
    const Queue queue = fixture.make_queue();
    const Wrong wrong{queue.get()};
    require_untouched<uint32_t>(
        "piPlatformsGet of a queue", {PI_ERROR_INVALID_PLUGIN},
        [&](uint32_t *out) { return piPlatformsGet(wrong, 0, nullptr, out); });
    if (fixture.can(PI_CAPABILITY_TIMESTAMP))
        require_untouched<uint64_t>(
            "piDeviceGetGlobalTimestamps of a queue", {PI_ERROR_INVALID_DEVICE},
            [&](uint64_t *out) { return piDeviceGetGlobalTimestamps(wrong, out, nullptr); });
}

CONFORMANCE_TEST("kernel",
                 "the descriptor of a suggested local size obeys the rules of descriptors") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const Mem mem = fixture.make_buffer(64);
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    check_descriptor("piKernelGetSuggestedLocalSize", launch_desc(kernel, arguments, 16), 0,
                     [&](const pi_kernel_launch_desc *desc) {
                         Size3 size{};
                         return piKernelGetSuggestedLocalSize(setup.queue, desc, size.data());
                     });
}

CONFORMANCE_TEST("kernel", "suggesting a local size needs a queue and a kernel") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const Mem mem = fixture.make_buffer(64);
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 16);
    const Wrong a_buffer{mem.get()};
    require_untouched<Size3>("a buffer as the queue", {PI_ERROR_INVALID_QUEUE}, [&](Size3 *out) {
        return piKernelGetSuggestedLocalSize(a_buffer, &desc, out->data());
    });
    for (const pi_kernel wrong : {pi_kernel{nullptr}, pi_kernel(a_buffer)}) {
        pi_kernel_launch_desc other = desc;
        other.kernel = wrong;
        require_untouched<Size3>(wrong == nullptr ? "the kernel NULL" : "a buffer as the kernel",
                                 {PI_ERROR_INVALID_KERNEL}, [&](Size3 *out) {
                                     return piKernelGetSuggestedLocalSize(setup.queue, &other,
                                                                          out->data());
                                 });
    }
    require_error(piKernelGetSuggestedLocalSize(setup.queue, &desc, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER,
                  "piKernelGetSuggestedLocalSize with out_local_size NULL");
}

} // namespace
} // namespace pi::suite
