// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer as a whole: what lies below it, and the objects that it has made. A layer's functions get no context of
// their own, so there is one of it in a process.
#pragma once

#include "answer.hpp"
#include "config.hpp"
#include "spirv.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace simulated {

/// A program that was made of SPIR-V, or linked of such. The driver below has one only once it is built: until then
/// the values of specialization constants may change.
struct Program {
    Program(cl_context in, Module of);
    Program(const Program &) = delete;
    ~Program();

    cl_program handle() { return reinterpret_cast<cl_program>(this); }
    /// Of the newest attempt to make something of it.
    cl_build_status status(cl_device_id device) const;

    const cl_icd_dispatch *const dispatch; ///< first, as in every object of OpenCL
    const cl_context context;
    std::vector<cl_device_id> devices; ///< of the context, as it tells them: roots
    Module module;                     ///< with the values that are set
    std::vector<uint32_t> il;          ///< as it was given; empty when linked
    cl_uint references = 1;            ///< guarded by the layer's mutex
    std::mutex mutex;                  ///< of what follows
    cl_program vendor = nullptr;
    std::vector<cl_device_id> targets; ///< of the newest attempt; roots
    cl_build_status attempt = CL_BUILD_NONE;
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    std::vector<uint32_t> compiled; ///< with the values that were set when it was compiled
    Module built;                   ///< of which the vendor's program is
    std::string options, log;
};

struct Layer {
    const cl_icd_dispatch *below = nullptr;
    cl_icd_dispatch table{};
    Mode mode = Mode::IL;

    /// The program, if it is one of ours.
    std::shared_ptr<Program> find(cl_program program);
    /// How many kernels of it there are.
    size_t kernels_of(const Program &program);

    struct Kernel {
        std::shared_ptr<Program> program;
        cl_uint references = 1;
    };
    std::mutex mutex; ///< of the maps
    std::map<cl_program, std::shared_ptr<Program>> programs;
    std::map<cl_kernel, Kernel> kernels; ///< of our programs
};
Layer &layer();

/// Whether the device below is one that gets SPIR-V, and whether this is a device of the driver that is changed at all.
bool takes_il(cl_device_id device);
bool is_changed(cl_device_id device);

/// The device itself, or that which a sub-device is of: PoCL's contexts and programs know only those.
cl_device_id root_of(cl_device_id device);

/// The parts of the layer put their functions into its table (device.cpp, program.cpp, kernel.cpp).
void add_device_functions(cl_icd_dispatch &table);
void add_program_functions(cl_icd_dispatch &table);
void add_program_info_functions(cl_icd_dispatch &table);
void add_kernel_functions(cl_icd_dispatch &table);

/// The extensions' functions.
cl_program CL_API_CALL create_program_with_il(cl_context context, const void *il, size_t length,
                                              cl_int *out_code);
cl_int CL_API_CALL get_sub_group_info_khr(cl_kernel kernel, cl_device_id device,
                                          cl_kernel_sub_group_info name, size_t input_size,
                                          const void *input, size_t size, void *value,
                                          size_t *out_size);

/// The model of sub-groups: all have this many work-items, unless the kernel demands another of the sizes.
inline constexpr size_t sub_group_size = 8;
inline constexpr size_t sub_group_sizes[] = {8, 16};

} // namespace simulated
