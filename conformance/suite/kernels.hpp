// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite's own kernels, in each program format that it can write, and the launches of them.
// (OpenCL C and SPIR-V: spirv/kernels.cl; native functions, which simulated devices of CUDA run,
// too: native_kernels.cpp.)
//
//   add(global uint *data, uint value)            data[i] += value, one dimension
//   combine(global uint *dst, global const uint *a,
//           global const uint *b, uint factor)    dst[i] = a[i] * factor + b[i]
//   visit(global uint *visits, ulong size_x,
//         ulong size_y)                           visits[((z * size_y) + y) * size_x + x] += 1
//   reverse(global uint *data,
//           local uint *scratch)                  reverses each work-group's part of data
//   butterfly(global uint *data, local uint *sums,
//             local uint *differences)            of two words that mirror each other in a
//                                                 work-group the first becomes the sum, the second
//                                                 the first less the second
//   is_null(global uint *out,
//           global const uint *a)                 out[0] = whether a is a null pointer, 1 or 0
#pragma once

#include "fixture.hpp"

#include <array>
#include <deque>
#include <string>
#include <vector>

namespace pi::suite {

/// The best format of the suite's kernels that this device runs; skips the test if it runs none.
pi_program_format kernel_format(Fixture &fixture, pi_device device = nullptr);

/// Skips the test unless this device runs programs of the format: the second of two may not.
void need_program_format(Fixture &fixture, pi_program_format format, pi_device device);

/// Whether there is such a format.
bool has_kernels(Fixture &fixture);

/// A descriptor of the suite's kernels; its pointers are valid as long as the process.
pi_program_desc kernel_program_desc(pi_program_format format);

/// A program of text or SPIR-V that cannot be built, or of an invalid table.
pi_program_desc broken_program_desc(pi_program_format format);

/// The suite's kernels, built for the context's devices; skips where there is no format.
Program make_program(Fixture &fixture);
Program make_program(Fixture &fixture, const Place &place);
/// A program of other bytes, not built, and one that is built for the context's devices.
Program create_program(pi_context context, pi_program_format format, const void *data,
                       uint64_t size);
Program make_program(pi_context context, pi_program_format format, const void *data, uint64_t size);
/// A program, not built, whose kernel "set" writes VALUE, which is for an option to define. Skips
/// where no text is compiled.
Program create_valued(Fixture &fixture);
/// PI_PROGRAM_BUILD_INFO_STATUS.
uint32_t build_status(pi_program program, pi_device device);
/// PI_PROGRAM_BUILD_INFO_OPTIONS, if the program reports them.
void require_options(pi_program program, pi_device device, const std::string &expected,
                     const std::string &what);
Kernel make_kernel(pi_program program, const std::string &name);

/// The arguments of a launch, in the order of the kernel's parameters:
///
///     Arguments arguments;
///     arguments.buffer(mem).value(uint32_t{3});
class Arguments {
public:
    Arguments() = default;
    Arguments(const Arguments &) = delete;
    Arguments &operator=(const Arguments &) = delete;

    Arguments &buffer(pi_mem mem, uint64_t offset = 0, uint64_t size = 0);
    template <typename Value>
    Arguments &value(const Value &value) {
        return bytes(&value, sizeof value);
    }
    Arguments &bytes(const void *data, std::size_t size);
    Arguments &pointer(const void *address);
    Arguments &local(uint64_t size);
    Arguments &image(pi_mem image, pi_sampler image_sampler = nullptr);
    Arguments &sampler(pi_sampler sampler);

    const pi_kernel_argument *data() const { return arguments_.data(); }
    uint32_t count() const { return static_cast<uint32_t>(arguments_.size()); }
    pi_kernel_argument &operator[](std::size_t index) { return arguments_[index]; }

private:
    std::vector<pi_kernel_argument> arguments_;
    std::deque<Bytes> values_;
};

using Size3 = std::array<uint64_t, 3>;

/// A launch of `dimensions` axes; the arguments are borrowed.
pi_kernel_launch_desc launch_desc(pi_kernel kernel, const Arguments &arguments, uint32_t dimensions,
                                  const Size3 &global_size, const Size3 &local_size = {});

/// The usual case: one axis.
pi_kernel_launch_desc launch_desc(pi_kernel kernel, const Arguments &arguments,
                                  uint64_t global_size, uint64_t local_size = 0);

/// The most work-items of a group: of the kernel, where that is known, or of the device.
uint64_t largest_group(Fixture &fixture, pi_kernel kernel);

/// Groups of `wanted` work-items in a row, or the largest that there are.
uint32_t group_size(Fixture &fixture, pi_kernel kernel, uint32_t wanted);

/// CUDA's kernels have a single area of work-group memory: an argument is an offset into it.
bool is_of_cuda(pi_program_format format);

/// The work-group memory in bytes; 0 if the device reports none.
uint64_t local_memory_size(Fixture &fixture);

/// Skips the test if a work-group cannot have so many bytes of memory.
void need_local_memory(Fixture &fixture, uint64_t size);

/// uint32_t values as bytes and back.
Bytes bytes_of(const std::vector<uint32_t> &values);
std::vector<uint32_t> words_of(const Bytes &bytes);

} // namespace pi::suite
