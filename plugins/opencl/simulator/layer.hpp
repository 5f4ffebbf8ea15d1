// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of the layer: the driver below, and the objects that the layer has created. Layer
// functions receive no context of their own, so there is one per process.
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

/// A program created from SPIR-V, or linked from such programs. The driver below gets a program
/// only when it is built: until then specialization constants may change.
struct Program {
    Program(cl_context in, Module of);
    Program(const Program &) = delete;
    ~Program();

    cl_program handle() { return reinterpret_cast<cl_program>(this); }
    /// The status of the newest build, compilation or link.
    cl_build_status status(cl_device_id device) const;

    const cl_icd_dispatch *const dispatch; ///< first, as in every OpenCL object
    const cl_context context;
    std::vector<cl_device_id> devices; ///< of the context, as it lists them: roots
    Module module;                     ///< with the values that are set
    std::vector<uint32_t> il;          ///< as the application passed it; empty if linked
    cl_uint references = 1;            ///< guarded by the layer's mutex
    std::mutex mutex;                  ///< guards what follows
    cl_program vendor = nullptr;
    std::vector<cl_device_id> targets; ///< devices of the newest attempt; roots
    cl_build_status attempt = CL_BUILD_NONE;
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    std::vector<uint32_t> compiled; ///< with the values at the time of compilation
    Module built;                   ///< the module behind the vendor's program
    std::string options, log;
};

struct Layer {
    const cl_icd_dispatch *below = nullptr;
    cl_icd_dispatch table{};
    Mode mode = Mode::IL;

    /// The program, if it is one of the layer's.
    std::shared_ptr<Program> find(cl_program program);
    /// The number of its kernels.
    size_t kernels_of(const Program &program);

    struct Kernel {
        std::shared_ptr<Program> program;
        cl_uint references = 1;
    };
    std::mutex mutex; ///< guards the maps
    std::map<cl_program, std::shared_ptr<Program>> programs;
    std::map<cl_kernel, Kernel> kernels; ///< of the layer's programs
};
Layer &layer();

/// Whether the device gets SPIR-V, and whether it belongs to the driver that the layer changes.
bool takes_il(cl_device_id device);
bool is_changed(cl_device_id device);
/// Whether the context's devices do.
bool is_changed(cl_context context);

/// The device, or a sub-device's root: PoCL's contexts and programs know roots only.
cl_device_id root_of(cl_device_id device);

/// Each part of the layer puts its functions into the table (device.cpp, program.cpp, kernel.cpp).
void add_device_functions(cl_icd_dispatch &table);
void add_program_functions(cl_icd_dispatch &table);
void add_program_info_functions(cl_icd_dispatch &table);
void add_kernel_functions(cl_icd_dispatch &table);

/// Functions of extensions.
cl_program CL_API_CALL create_program_with_il(cl_context context, const void *il, size_t length,
                                              cl_int *out_code);
cl_int CL_API_CALL get_sub_group_info_khr(cl_kernel kernel, cl_device_id device,
                                          cl_kernel_sub_group_info name, size_t input_size,
                                          const void *input, size_t size, void *value,
                                          size_t *out_size);

/// The model of sub-groups: all have this many work-items, unless the kernel requires another of
/// the sizes.
inline constexpr size_t sub_group_size = 8;
inline constexpr size_t sub_group_sizes[] = {8, 16};

} // namespace simulated
