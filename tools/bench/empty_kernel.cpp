// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "empty_kernel.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

namespace pi_bench {

using pi::runtime::check;

EmptyKernel::EmptyKernel(const Place &place, pi_program_format format, const std::string &image)
    : place_(place), mem_(make_buffer(place, 64, 0)) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = format;
    desc.data = image.data();
    desc.size = image.size();
    pi::runtime::Program program;
    check(piProgramCreate(place.context.get(), &desc, program.out()), "piProgramCreate");
    check(piProgramBuild(program.get(), nullptr), "piProgramBuild");
    check(piKernelCreate(program.get(), "nothing", nullptr, kernel_.out()), "piKernelCreate");
}

void EmptyKernel::launch(pi_event *out_event) const {
    const uint32_t value = 1;
    pi_kernel_argument arguments[2]{};
    arguments[0].kind = PI_ARGUMENT_BUFFER;
    arguments[0].mem = mem_.get();
    arguments[1].kind = PI_ARGUMENT_VALUE;
    arguments[1].value = &value;
    arguments[1].size = sizeof value;
    auto desc = pi::desc<pi_kernel_launch_desc>();
    desc.kernel = kernel_.get();
    desc.dimensions = 1;
    desc.global_size[0] = 1;
    desc.local_size[0] = 1;
    desc.argument_count = 2;
    desc.arguments = arguments;
    check(piEnqueueKernelLaunch(place_.queue.get(), &desc, 0, nullptr, out_event),
          "piEnqueueKernelLaunch");
}

} // namespace pi_bench
