// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches of the OpenCL plugin compared with plain OpenCL: arguments are part of a launch in PI,
// so the plain side also sets them each time.
#include "usm_pair.hpp"

#include <pi/describe/descriptor.hpp>

#include <array>
#include <numeric>
#include <vector>

namespace pi_bench {
namespace {

using pi::runtime::check;

constexpr size_t kernel_items = 64;

/// A kernel that adds its values to each number of its first argument.
std::string kernel_source(size_t values) {
    std::string parameters;
    std::string sum = "0";
    for (size_t i = 0; i < values; ++i) {
        parameters += ", int value" + std::to_string(i);
        sum += " + value" + std::to_string(i);
    }
    return "kernel void add(global int *data" + parameters +
           ") { data[get_global_id(0)] += " + sum + "; }\n";
}

pi::runtime::Kernel make_kernel(const Place &place, const std::string &source) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_OPENCL_C;
    desc.data = source.data();
    desc.size = source.size();
    pi::runtime::Program program;
    check(piProgramCreate(place.context.get(), &desc, program.out()), "piProgramCreate");
    check(piProgramBuild(program.get(), nullptr), "piProgramBuild");
    pi::runtime::Kernel kernel;
    check(piKernelCreate(program.get(), "add", nullptr, kernel.out()), "piKernelCreate");
    return kernel;
}

Owned<cl_kernel> make_kernel(const Sides &sides, const std::string &text) {
    const OpenCl &cl = sides.cl;
    cl_int code = CL_SUCCESS;
    const char *source = text.c_str();
    const Owned<cl_program> program(
        cl.clCreateProgramWithSource(sides.context.get(), 1, &source, nullptr, &code),
        cl.clReleaseProgram);
    check_cl(code, "clCreateProgramWithSource");
    check_cl(cl.clBuildProgram(program.get(), 1, &sides.device, nullptr, nullptr, nullptr),
             "clBuildProgram");
    Owned<cl_kernel> kernel(cl.clCreateKernel(program.get(), "add", &code), cl.clReleaseKernel);
    check_cl(code, "clCreateKernel");
    return kernel;
}

pi_kernel_argument data_argument(pi_mem mem) {
    pi_kernel_argument made{};
    made.kind = PI_ARGUMENT_BUFFER;
    made.mem = mem;
    return made;
}

pi_kernel_argument data_argument(const void *usm) {
    pi_kernel_argument made{};
    made.kind = PI_ARGUMENT_POINTER;
    made.pointer = usm;
    return made;
}

/// `data`: a pi_mem or a USM address. The arguments are written each time, as in an application.
template <class Data>
void launch(const Place &place, pi_kernel kernel, Data data, const std::vector<cl_int> &values) {
    std::array<pi_kernel_argument, 64> arguments; // only the used ones are written
    arguments.at(0) = data_argument(data);
    for (size_t i = 0; i < values.size(); ++i) {
        pi_kernel_argument &argument = arguments.at(i + 1);
        argument.kind = PI_ARGUMENT_VALUE;
        argument.reserved = 0;
        argument.value = &values[i];
        argument.offset = 0;
        argument.size = sizeof values[i];
        argument.image_sampler = nullptr;
    }
    auto desc = pi::desc<pi_kernel_launch_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.kernel = kernel;
    desc.dimensions = 1;
    desc.argument_count = static_cast<uint32_t>(values.size() + 1);
    desc.arguments = arguments.data();
    desc.global_size[0] = kernel_items;
    desc.local_size[0] = kernel_items;
    check(piEnqueueKernelLaunch(place.queue.get(), &desc, 0, nullptr, nullptr),
          "piEnqueueKernelLaunch");
}

void set_first_argument(const OpenCl &cl, cl_kernel kernel, cl_mem mem) {
    check_cl(cl.clSetKernelArg(kernel, 0, sizeof mem, &mem), "clSetKernelArg");
}
void set_first_argument(const OpenCl &cl, cl_kernel kernel, const void *svm) {
    check_cl(cl.clSetKernelArgSVMPointer(kernel, 0, svm), "clSetKernelArgSVMPointer");
}

/// `data`: a cl_mem or an address.
template <class Data>
void launch(const Sides &sides, cl_kernel kernel, Data data, const std::vector<cl_int> &values) {
    const OpenCl &cl = sides.cl;
    set_first_argument(cl, kernel, data);
    for (size_t i = 0; i < values.size(); ++i) {
        check_cl(
            cl.clSetKernelArg(kernel, static_cast<cl_uint>(i + 1), sizeof values[i], &values[i]),
            "clSetKernelArg");
    }
    const size_t items = kernel_items;
    check_cl(cl.clEnqueueNDRangeKernel(sides.queue.get(), kernel, 1, nullptr, &items, &items, 0,
                                       nullptr, nullptr),
             "clEnqueueNDRangeKernel");
    check_cl(cl.clFinish(sides.queue.get()), "clFinish");
}

using Numbers = std::array<cl_int, kernel_items>;

void check_computed(const Place &place, const Numbers &result, const std::vector<cl_int> &values) {
    const cl_int expected = std::accumulate(values.begin(), values.end(), 0);
    for (const cl_int number : result) {
        if (number != expected) {
            throw std::runtime_error("the kernel computed " + std::to_string(number) +
                                     " instead of " + std::to_string(expected) + " on " +
                                     place.name);
        }
    }
}

/// `changing`: each launch has new values, so that nothing of the previous one can be reused.
void compare_launch(Session &session, const Sides &sides, size_t value_count, bool changing) {
    const std::string name =
        opencl_row("launch of 64 work-items with " + std::to_string(value_count + 1) +
                   " arguments" + (changing ? ", with new values each time" : "") + ", and wait");
    if (!session.wants(name)) {
        return;
    }
    const pi::runtime::Mem mem = make_buffer(sides.place, sizeof(Numbers), 0);
    const Owned<cl_mem> buffer = sides.make_cl_buffer(sizeof(Numbers), 0);
    const std::string source = kernel_source(value_count);
    const pi::runtime::Kernel ours = make_kernel(sides.place, source);
    const Owned<cl_kernel> theirs = make_kernel(sides, source);
    std::vector<cl_int> values(value_count);
    std::iota(values.begin(), values.end(), 1);

    launch(sides.place, ours.get(), mem.get(), values);
    Numbers result{};
    read(sides.place, mem.get(), result.data(), sizeof result);
    check_computed(sides.place, result, values);
    const auto change = [&] {
        if (changing) {
            for (cl_int &value : values) {
                value = (value + 1) % 1024;
            }
        }
    };
    session.compare(name, plain_opencl, Unit::nanoseconds, repeat([&] {
                        change();
                        launch(sides.place, ours.get(), mem.get(), values);
                    }),
                    repeat([&] {
                        change();
                        launch(sides, theirs.get(), buffer.get(), values);
                    }));
}

void compare_usm_launch(Session &session, const Sides &sides) {
    const std::string name = opencl_row("launch of 64 work-items on USM, and wait");
    if (!session.wants(name)) {
        return;
    }
    Numbers numbers{};
    const UsmPair data(sides, sizeof numbers);
    copy_usm(sides.place, numbers.data(), data.ours(), sizeof numbers);
    copy_usm(sides, numbers.data(), data.theirs(), sizeof numbers);
    const std::vector<cl_int> values{3, 5};
    const std::string source = kernel_source(values.size());
    const pi::runtime::Kernel ours = make_kernel(sides.place, source);
    const Owned<cl_kernel> theirs = make_kernel(sides, source);
    const auto launch_ours = [&] {
        launch<const void *>(sides.place, ours.get(), data.ours(), values);
    };
    launch_ours();
    copy_usm(sides.place, data.ours(), numbers.data(), sizeof numbers);
    check_computed(sides.place, numbers, values);
    session.compare(name, plain_opencl, Unit::nanoseconds, repeat(launch_ours), repeat([&] {
                        launch<const void *>(sides, theirs.get(), data.theirs(), values);
                    }));
}

} // namespace

void compare_launches(Session &session, const Sides &sides) {
    for (const size_t values : {size_t{2}, size_t{31}}) {
        for (const bool changing : {false, true}) {
            compare_launch(session, sides, values, changing);
        }
    }
    if (sides.can(PI_CAPABILITY_USM)) {
        compare_usm_launch(session, sides);
    }
}

} // namespace pi_bench
