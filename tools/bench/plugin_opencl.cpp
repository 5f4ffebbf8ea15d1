// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An OpenCL device through PI beside plain OpenCL calls on the same device: each side has a context, a
// queue and buffers of its own, made in the plainest way.
#include "equipment.hpp"
#include "opencl.hpp"
#include "place.hpp"
#include "session.hpp"
#include "sizes.hpp"

#include <pi/runtime/error.hpp>

#include <array>
#include <stdexcept>
#include <vector>

namespace pi_bench {
namespace {

using pi::runtime::check;

constexpr const char *limit_name = "the same by plain OpenCL calls";
constexpr size_t small_size = 64;
constexpr size_t kernel_items = 64;
constexpr const char *kernel_source = "kernel void add(global int *data, int value, int scale) {\n"
                                      "    data[get_global_id(0)] += value * scale;\n"
                                      "}\n";

/// The device that PI calls by the same names.
cl_device_id same_device(const OpenCl &cl, const Place &place) {
    for (const ClDevice &device : all_devices(cl)) {
        if (device.platform == place.platform && device.name == place.name) {
            return device.id;
        }
    }
    throw std::runtime_error("OpenCL has no device \"" + place.name + "\" of a platform \"" +
                             place.platform + "\"");
}

/// Both sides of the comparison.
struct Sides {
    Sides(const OpenCl &functions, pi_device ours)
        : cl(functions), place(ours), device(same_device(cl, place)) {
        cl_int code = CL_SUCCESS;
        context.reset(cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
        check_cl(code, "clCreateContext");
        queue.reset(cl.clCreateCommandQueue(context.get(), device, 0, &code));
        check_cl(code, "clCreateCommandQueue");
    }
    /// As make_buffer of ours.
    Owned<cl_mem> make_cl_buffer(uint64_t size, unsigned char value) const {
        cl_int code = CL_SUCCESS;
        Owned<cl_mem> mem(cl.clCreateBuffer(context.get(), CL_MEM_READ_WRITE, size, nullptr, &code),
                          cl.clReleaseMemObject);
        check_cl(code, "clCreateBuffer");
        const std::vector<unsigned char> bytes(size, value);
        check_cl(cl.clEnqueueWriteBuffer(queue.get(), mem.get(), CL_TRUE, 0, size, bytes.data(), 0,
                                         nullptr, nullptr),
                 "clEnqueueWriteBuffer");
        return mem;
    }

    const OpenCl &cl;
    Place place;
    cl_device_id device;
    Owned<cl_context> context{nullptr, cl.clReleaseContext};
    Owned<cl_command_queue> queue{nullptr, cl.clReleaseCommandQueue};
};

std::string row(const std::string &what) {
    return "OpenCL: " + what;
}

template <class Operation>
Batch repeat(Operation operation) {
    return [operation](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            operation();
        }
    };
}

void compare_writes(Session &session, const Sides &sides) {
    const pi::runtime::Mem mem = make_buffer(sides.place, small_size, 0);
    const Owned<cl_mem> owned = sides.make_cl_buffer(small_size, 0);
    cl_mem buffer = owned.get();
    const std::array<char, small_size> data{1};
    const OpenCl &cl = sides.cl;
    cl_command_queue queue = sides.queue.get();
    session.compare(row("blocking write of 64 bytes"), limit_name, Unit::nanoseconds,
                    repeat([&] { write(sides.place, mem.get(), data.data(), data.size()); }),
                    repeat([&] {
                        check_cl(cl.clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, data.size(),
                                                         data.data(), 0, nullptr, nullptr),
                                 "clEnqueueWriteBuffer");
                    }));
    session.compare(
        row("blocking write of 64 bytes, with an event"), limit_name, Unit::nanoseconds,
        repeat([&] { write_with_event(sides.place, mem.get(), data.data(), data.size()); }),
        repeat([&] {
            cl_event event = nullptr;
            check_cl(cl.clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, data.size(), data.data(), 0,
                                             nullptr, &event),
                     "clEnqueueWriteBuffer");
            check_cl(cl.clReleaseEvent(event), "clReleaseEvent");
        }));
}

void compare_copy(Session &session, const Sides &sides, const Size &size) {
    const std::string name = row(std::string("copy of ") + size.name + ", and wait");
    if (!session.wants(name)) {
        return;
    }
    const pi::runtime::Mem src = make_buffer(sides.place, size.bytes, 0x5a);
    const pi::runtime::Mem dst = make_buffer(sides.place, size.bytes, 0);
    check_copy(sides.place, src.get(), dst.get(), size.bytes);
    const Owned<cl_mem> cl_src = sides.make_cl_buffer(size.bytes, 0x5a);
    const Owned<cl_mem> cl_dst = sides.make_cl_buffer(size.bytes, 0);
    cl_mem from = cl_src.get();
    cl_mem to = cl_dst.get();
    const OpenCl &cl = sides.cl;
    cl_command_queue queue = sides.queue.get();
    session.compare(
        name, limit_name, Unit::microseconds,
        repeat([&] { copy(sides.place, src.get(), dst.get(), size.bytes); }), repeat([&] {
            check_cl(cl.clEnqueueCopyBuffer(queue, from, to, 0, 0, size.bytes, 0, nullptr, nullptr),
                     "clEnqueueCopyBuffer");
            check_cl(cl.clFinish(queue), "clFinish");
        }));
}

// ----- launch -------------------------------------------------------------------------------------

pi::runtime::Kernel make_kernel(const Place &place) {
    pi_program_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_PROGRAM_DESC;
    desc.format = PI_PROGRAM_FORMAT_OPENCL_C;
    desc.data = kernel_source;
    desc.size = std::char_traits<char>::length(kernel_source);
    pi::runtime::Program program;
    check(piProgramCreate(place.context.get(), &desc, program.out()), "piProgramCreate");
    check(piProgramBuild(program.get(), nullptr), "piProgramBuild");
    pi::runtime::Kernel kernel;
    check(piKernelCreate(program.get(), "add", kernel.out()), "piKernelCreate");
    return kernel;
}

Owned<cl_kernel> make_kernel(const Sides &sides) {
    const OpenCl &cl = sides.cl;
    cl_int code = CL_SUCCESS;
    const char *source = kernel_source;
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

/// `data`: a pi_mem or an address of USM.
template <class Data>
void launch(const Place &place, pi_kernel kernel, Data data, cl_int value, cl_int scale) {
    std::array<pi_kernel_argument, 3> arguments{};
    arguments[0] = data_argument(data);
    for (const auto &[index, integer] : {std::pair(1, &value), std::pair(2, &scale)}) {
        pi_kernel_argument &argument = arguments.at(static_cast<size_t>(index));
        argument.kind = PI_ARGUMENT_VALUE;
        argument.value = integer;
        argument.size = sizeof *integer;
    }
    pi_kernel_launch_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_KERNEL_LAUNCH_DESC;
    desc.flags = PI_COMMAND_BLOCKING;
    desc.kernel = kernel;
    desc.dimensions = 1;
    desc.argument_count = static_cast<uint32_t>(arguments.size());
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

/// Arguments are part of a launch in PI, so the other side sets them each time, too. `data`: a cl_mem or an address.
template <class Data>
void launch(const OpenCl &cl, cl_command_queue queue, cl_kernel kernel, Data data, cl_int value,
            cl_int scale) {
    set_first_argument(cl, kernel, data);
    check_cl(cl.clSetKernelArg(kernel, 1, sizeof value, &value), "clSetKernelArg");
    check_cl(cl.clSetKernelArg(kernel, 2, sizeof scale, &scale), "clSetKernelArg");
    const size_t items = kernel_items;
    check_cl(
        cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &items, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
    check_cl(cl.clFinish(queue), "clFinish");
}

void check_computed(const Place &place, const std::array<cl_int, kernel_items> &result) {
    for (const cl_int number : result) {
        if (number != 15) {
            throw std::runtime_error("the kernel computed " + std::to_string(number) +
                                     " instead of 15 on " + place.name);
        }
    }
}

void compare_launch(Session &session, const Sides &sides) {
    const std::string name = row("launch of 64 work-items, and wait");
    if (!session.wants(name)) {
        return;
    }
    constexpr uint64_t size = kernel_items * sizeof(cl_int);
    const pi::runtime::Mem mem = make_buffer(sides.place, size, 0);
    const Owned<cl_mem> buffer = sides.make_cl_buffer(size, 0);
    const pi::runtime::Kernel ours = make_kernel(sides.place);
    const Owned<cl_kernel> theirs = make_kernel(sides);

    launch(sides.place, ours.get(), mem.get(), 3, 5);
    std::array<cl_int, kernel_items> result{};
    read(sides.place, mem.get(), result.data(), sizeof result);
    check_computed(sides.place, result);
    session.compare(name, limit_name, Unit::nanoseconds,
                    repeat([&] { launch(sides.place, ours.get(), mem.get(), 1, 1); }), repeat([&] {
                        launch(sides.cl, sides.queue.get(), theirs.get(), buffer.get(), 1, 1);
                    }));
}

// ----- USM ----------------------------------------------------------------------------------------

/// Both sides' USM of kind DEVICE: coarse-grain SVM.
class UsmPair {
public:
    UsmPair(const Sides &sides, uint64_t size) : sides_(sides) {
        pi_usm_desc desc{};
        desc.struct_size = sizeof desc;
        desc.type = PI_TYPE_USM_DESC;
        desc.kind = PI_USM_DEVICE;
        desc.size = size;
        check(piUsmAlloc(sides.place.context.get(), sides.place.device, &desc, &ours_),
              "piUsmAlloc");
        theirs_ = sides.cl.clSVMAlloc(sides.context.get(), CL_MEM_READ_WRITE, size, 0);
        if (theirs_ == nullptr) {
            piUsmFree(sides.place.context.get(), ours_);
            throw std::runtime_error("clSVMAlloc gives none");
        }
    }
    UsmPair(const UsmPair &) = delete;
    ~UsmPair() {
        piUsmFree(sides_.place.context.get(), ours_);
        sides_.cl.clSVMFree(sides_.context.get(), theirs_);
    }
    void *ours() const { return ours_; }
    void *theirs() const { return theirs_; }

private:
    const Sides &sides_;
    void *ours_ = nullptr;
    void *theirs_ = nullptr;
};

/// One end may be host memory.
void copy_usm(const Place &place, const void *src, void *dst, uint64_t size) {
    const pi_region region = {.extent = {size}};
    pi_usm_copy_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_USM_COPY_DESC;
    desc.flags = PI_COMMAND_BLOCKING;
    desc.src = src;
    desc.dst = dst;
    desc.region_count = 1;
    desc.regions = &region;
    check(piEnqueueUsmCopy(place.queue.get(), &desc, 0, nullptr, nullptr), "piEnqueueUsmCopy");
}

void copy_usm(const Sides &sides, const void *src, void *dst, uint64_t size) {
    check_cl(sides.cl.clEnqueueSVMMemcpy(sides.queue.get(), CL_TRUE, dst, src, size, 0, nullptr,
                                         nullptr),
             "clEnqueueSVMMemcpy");
}

void compare_usm_copy(Session &session, const Sides &sides, const Size &size) {
    const std::string name = row(std::string("copy of USM, ") + size.name + ", and wait");
    if (!session.wants(name)) {
        return;
    }
    const UsmPair src(sides, size.bytes);
    const UsmPair dst(sides, size.bytes);
    const std::vector<char> bytes(size.bytes, 'x');
    std::vector<char> arrived(size.bytes);
    copy_usm(sides.place, bytes.data(), src.ours(), size.bytes);
    copy_usm(sides.place, src.ours(), dst.ours(), size.bytes);
    copy_usm(sides.place, dst.ours(), arrived.data(), size.bytes);
    if (arrived != bytes) {
        throw std::runtime_error("a copy of USM does not arrive on " + sides.place.name);
    }
    copy_usm(sides, bytes.data(), src.theirs(), size.bytes);
    session.compare(name, limit_name, Unit::microseconds,
                    repeat([&] { copy_usm(sides.place, src.ours(), dst.ours(), size.bytes); }),
                    repeat([&] { copy_usm(sides, src.theirs(), dst.theirs(), size.bytes); }));
}

void compare_usm_launch(Session &session, const Sides &sides) {
    const std::string name = row("launch of 64 work-items on USM, and wait");
    if (!session.wants(name)) {
        return;
    }
    std::array<cl_int, kernel_items> numbers{};
    const UsmPair data(sides, sizeof numbers);
    copy_usm(sides.place, numbers.data(), data.ours(), sizeof numbers);
    copy_usm(sides, numbers.data(), data.theirs(), sizeof numbers);
    const pi::runtime::Kernel ours = make_kernel(sides.place);
    const Owned<cl_kernel> theirs = make_kernel(sides);
    launch<const void *>(sides.place, ours.get(), data.ours(), 3, 5);
    copy_usm(sides.place, data.ours(), numbers.data(), sizeof numbers);
    check_computed(sides.place, numbers);
    session.compare(
        name, limit_name, Unit::nanoseconds,
        repeat([&] { launch<const void *>(sides.place, ours.get(), data.ours(), 1, 1); }),
        repeat([&] {
            launch<const void *>(sides.cl, sides.queue.get(), theirs.get(), data.theirs(), 1, 1);
        }));
}

void compare_usm(Session &session, const Sides &sides) {
    uint64_t capabilities = 0;
    check(piDeviceGetInfo(sides.place.device, PI_DEVICE_INFO_CAPABILITIES, sizeof capabilities,
                          &capabilities, nullptr),
          "piDeviceGetInfo");
    if ((capabilities & PI_CAPABILITY_USM) == 0) {
        return;
    }
    for (const Size &size : copy_sizes) {
        compare_usm_copy(session, sides, size);
    }
    compare_usm_launch(session, sides);
}

} // namespace

void bench_plugin_opencl(Session &session) {
    session.attempt("OpenCL", [&] {
        const Loader loader;
        const std::string library = loader.variable("PI_OPENCL_LIBRARY");
        const OpenCl cl(library.empty() ? "libOpenCL.so.1" : library);
        const Sides sides(cl, loader.devices(session.device()).at(0));
        compare_writes(session, sides);
        for (const Size &size : copy_sizes) {
            session.attempt(row(std::string("copy of ") + size.name),
                            [&] { compare_copy(session, sides, size); });
        }
        session.attempt(row("launch"), [&] { compare_launch(session, sides); });
        session.attempt(row("USM"), [&] { compare_usm(session, sides); });
    });
}

} // namespace pi_bench
