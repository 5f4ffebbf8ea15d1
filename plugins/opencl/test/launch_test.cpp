// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <cstring>

using namespace opencl_test;

namespace {

constexpr const char *source = R"(
kernel void store(global int *p, int value) { p[get_global_id(0)] = value; }
kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fours(global int *p) {
    p[get_global_id(0)] = get_local_size(0);
}
)";

struct Kernels {
    explicit Kernels(const Place &at) : place(at), program(build(at.context, source)) {}
    Kernel get(const char *name) const { return make_kernel(program, name); }
    std::vector<int32_t> ints(pi_mem mem) const {
        const std::vector<uint8_t> bytes = contents(place.queue, mem);
        std::vector<int32_t> values(bytes.size() / 4);
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }
    pi_result try_launch(const pi_kernel_launch_desc &desc) const {
        Event event;
        return piEnqueueKernelLaunch(place.queue, &desc, 0, nullptr, event.out());
    }
    const Place &place;
    Program program;
};

} // namespace

TEST_CASE("invalid arguments are refused by the call, with index, kind and name") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Kernels kernels(place);
        const Kernel store = kernels.get("store");
        const Mem mem = place.buffer(400);
        const int32_t value = 3;
        const int64_t wide = 3;
        const auto with = [&](const std::vector<pi_kernel_argument> &arguments) {
            return kernels.try_launch(launch_desc(store, arguments, 10));
        };
        refused(with({buffer_argument(mem)}), PI_ERROR_INVALID_ARGUMENTS,
                {"argument_count is 1", "2 parameters", "store"});
        refused(with({value_argument(wide), value_argument(value)}), PI_ERROR_INVALID_ARGUMENTS,
                {"arguments[0]", "PI_ARGUMENT_BUFFER"});
        refused(with({buffer_argument(mem), buffer_argument(mem)}), PI_ERROR_INVALID_ARGUMENTS,
                {"arguments[1]", "PI_ARGUMENT_VALUE"});
        refused(with({buffer_argument(mem), local_argument(4)}), PI_ERROR_INVALID_ARGUMENTS,
                {"arguments[1]"});
        refused(with({buffer_argument(mem), value_argument(wide)}), PI_ERROR_INVALID_ARGUMENTS,
                {"argument 1", "8 bytes"});
        refused(with({buffer_argument(mem, 400), value_argument(value)}),
                PI_ERROR_INVALID_ARGUMENTS, {"400"});
        auto pointer = value_argument(value);
        pointer.kind = PI_ARGUMENT_SAMPLER;
        refused(with({pointer, value_argument(value)}), PI_ERROR_INVALID_ARGUMENTS,
                {"arguments[0]"});
        pointer.kind = 77;
        refused(with({pointer, value_argument(value)}), PI_ERROR_INVALID_ARGUMENTS, {"77"});
        auto reserved = buffer_argument(mem);
        reserved.reserved = 1;
        refused(with({reserved, value_argument(value)}), PI_ERROR_UNSUPPORTED_FEATURE,
                {"reserved"});
        // The kernel is still usable.
        const std::vector<pi_kernel_argument> right = {buffer_argument(mem), value_argument(value)};
        wait(launch(place.queue, store, 100, right));
        CHECK(kernels.ints(mem) == std::vector<int32_t>(100, 3));
    }
}

TEST_CASE("invalid work sizes are refused by the call, with the limit") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Kernels kernels(place);
        const Kernel store = kernels.get("store"), fours = kernels.get("fours");
        const Mem mem = place.buffer(400);
        const int32_t value = 3;
        const std::vector<pi_kernel_argument> arguments = {buffer_argument(mem),
                                                           value_argument(value)};
        const auto good = launch_desc(store, arguments, 100);
        auto desc = good;
        desc.dimensions = 0;
        refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"dimensions is 0"});
        desc.dimensions = 4;
        refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"dimensions is 4"});
        desc = good;
        desc.global_size[0] = 0;
        refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"global_size[0] is 0"});
        desc = good;
        desc.dimensions = 2;
        desc.global_size[1] = 1;
        desc.local_size[0] = 10;
        refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"local_size[1] is 0"});
        desc = good;
        desc.local_size[0] = uint64_t{1} << 40;
        refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"local_size[0]", "at most"});
        desc = good;
        desc.local_size[0] = 7;
        const bool uneven =
            info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_LAUNCH_FEATURES) &
            PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS;
        if (!uneven)
            refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"100", "7"});
        desc = good;
        desc.cluster_size[0] = 2;
        refused(kernels.try_launch(desc), PI_ERROR_UNSUPPORTED_FEATURE, {"cluster_size"});
        desc = good;
        desc.local_memory_size = 64;
        refused(kernels.try_launch(desc), PI_ERROR_UNSUPPORTED_FEATURE, {"local_memory_size"});
        desc = good;
        desc.flags = PI_LAUNCH_COOPERATIVE;
        refused(kernels.try_launch(desc), PI_ERROR_UNSUPPORTED_FEATURE);

        const std::vector<pi_kernel_argument> one = {buffer_argument(mem)};
        desc = launch_desc(fours, one, 100, 5);
        refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"compiled for 4"});
        uint64_t compiled[3] = {};
        OK(piKernelGetGroupInfo(fours, device, PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE,
                                sizeof compiled, compiled, nullptr));
        CHECK(compiled[0] == 4);
        desc = launch_desc(fours, one, 100, 4);
        desc.flags = PI_COMMAND_BLOCKING;
        OK(kernels.try_launch(desc));
        CHECK(kernels.ints(mem) == std::vector<int32_t>(100, 4));
    }
}
