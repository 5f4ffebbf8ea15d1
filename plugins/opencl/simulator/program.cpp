// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SPIR-V programs: creation, specialization, build, compilation and linking. Calls for the driver's
// own programs pass through.
#include "layer.hpp"
#include "tools.hpp"

#include <algorithm>

namespace simulated {

namespace {

const cl_icd_dispatch &below() {
    return *layer().below;
}

/// Registers the program; the caller has the first reference.
cl_program publish(const std::shared_ptr<Program> &program) {
    const std::lock_guard lock(layer().mutex);
    layer().programs[program->handle()] = program;
    return program->handle();
}

struct Targets {
    cl_int code = CL_SUCCESS;
    std::vector<cl_device_id> devices;
};

Targets read_targets(const Program &program, cl_uint count, const cl_device_id *devices) {
    if (!count != !devices)
        return {CL_INVALID_VALUE, {}};
    const std::vector<cl_device_id> &known = program.devices;
    Targets targets{CL_SUCCESS, devices ? std::vector<cl_device_id>() : known};
    for (cl_uint i = 0; i < count; ++i) {
        const cl_device_id root = root_of(devices[i]);
        if (std::find(known.begin(), known.end(), root) == known.end())
            return {CL_INVALID_DEVICE, {}};
        std::erase(targets.devices, root);
        targets.devices.push_back(root);
    }
    if (!std::all_of(targets.devices.begin(), targets.devices.end(), takes_il))
        return {CL_INVALID_OPERATION, {}};
    return targets;
}

/// Begins an attempt to make `type` of the program, which discards its previous state.
void begin(Program &program, const std::vector<cl_device_id> &targets, const char *options) {
    if (program.vendor)
        below().clReleaseProgram(program.vendor);
    program.vendor = nullptr;
    program.compiled.clear();
    program.targets = targets;
    program.options = options ? options : "";
    program.log.clear();
    program.attempt = CL_BUILD_ERROR;
    program.type = CL_PROGRAM_BINARY_TYPE_NONE;
}

/// Creates a program of the driver below from a module, and builds it.
cl_int make_vendor(Program &program, const Module &module) {
    const Made<Bytes> bitcode = translate(module.words());
    program.log = bitcode.log;
    if (!bitcode.success)
        return CL_BUILD_PROGRAM_FAILURE;
    const std::vector<size_t> sizes(program.targets.size(), bitcode.result.size());
    std::vector<const unsigned char *> binaries;
    for (size_t i = 0; i < sizes.size(); ++i)
        binaries.push_back(bitcode.result.data());
    const auto count = static_cast<cl_uint>(program.targets.size());
    cl_int code = CL_SUCCESS;
    program.vendor =
        below().clCreateProgramWithBinary(program.context, count, program.targets.data(),
                                          sizes.data(), binaries.data(), nullptr, &code);
    if (code != CL_SUCCESS)
        return code;
    code = below().clBuildProgram(program.vendor, count, program.targets.data(),
                                  program.options.c_str(), nullptr, nullptr);
    for (cl_device_id device : program.targets)
        program.log +=
            ask_text(below().clGetProgramBuildInfo, program.vendor, device, CL_PROGRAM_BUILD_LOG);
    if (code == CL_SUCCESS) {
        program.built = module;
        program.attempt = CL_BUILD_SUCCESS;
        program.type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    }
    return code;
}

using Notify = void(CL_CALLBACK *)(cl_program, void *);

/// The common part of building and compiling; runs `work(program)` under the program's lock.
template <class Work>
cl_int attempt(Program &program, cl_uint count, const cl_device_id *devices, const char *options,
               Notify notify, void *user_data, Work &&work) {
    const auto [code, targets] = read_targets(program, count, devices);
    if (code != CL_SUCCESS)
        return code;
    if (layer().kernels_of(program))
        return CL_INVALID_OPERATION;
    cl_int made = CL_SUCCESS;
    {
        const std::lock_guard lock(program.mutex);
        begin(program, targets, options);
        made = work(program);
    }
    if (notify)
        notify(program.handle(), user_data);
    return made;
}

cl_context context_of(cl_program program) {
    cl_context context = nullptr;
    below().clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof context, &context, nullptr);
    return context;
}

bool lacks_compiler(cl_program program) {
    return layer().mode == Mode::ONLY && is_changed(context_of(program)) &&
           !ask_text(below().clGetProgramInfo, program, CL_PROGRAM_SOURCE).empty();
}

cl_int CL_API_CALL build_program(cl_program handle, cl_uint count, const cl_device_id *devices,
                                 const char *options, Notify notify, void *user_data) {
    const auto program = layer().find(handle);
    if (!program)
        return lacks_compiler(handle)
                   ? CL_COMPILER_NOT_AVAILABLE
                   : below().clBuildProgram(handle, count, devices, options, notify, user_data);
    return attempt(*program, count, devices, options, notify, user_data,
                   [](Program &self) { return make_vendor(self, self.module); });
}

cl_int CL_API_CALL compile_program(cl_program handle, cl_uint count, const cl_device_id *devices,
                                   const char *options, cl_uint header_count,
                                   const cl_program *headers, const char **header_names,
                                   Notify notify, void *user_data) {
    const auto program = layer().find(handle);
    if (!program)
        return lacks_compiler(handle)
                   ? CL_COMPILER_NOT_AVAILABLE
                   : below().clCompileProgram(handle, count, devices, options, header_count,
                                              headers, header_names, notify, user_data);
    if (program->il.empty())
        return CL_INVALID_OPERATION;
    return attempt(*program, count, devices, options, notify, user_data, [](Program &self) {
        // Only a check that it is a valid module.
        const Made<Bytes> bitcode = translate(self.module.words());
        self.log = bitcode.log;
        if (!bitcode.success)
            return CL_COMPILE_PROGRAM_FAILURE;
        self.compiled = self.module.words();
        self.attempt = CL_BUILD_SUCCESS;
        self.type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
        return CL_SUCCESS;
    });
}

cl_program CL_API_CALL link_program(cl_context context, cl_uint count, const cl_device_id *devices,
                                    const char *options, cl_uint input_count,
                                    const cl_program *inputs, Notify notify, void *user_data,
                                    cl_int *out_code) {
    std::vector<std::vector<uint32_t>> modules;
    for (cl_uint i = 0; inputs && i < input_count; ++i)
        if (const auto part = layer().find(inputs[i])) {
            const std::lock_guard lock(part->mutex);
            modules.push_back(part->compiled);
        }
    if (modules.empty())
        return below().clLinkProgram(context, count, devices, options, input_count, inputs, notify,
                                     user_data, out_code);
    // PoCL cannot link its own objects with modules.
    const bool all_compiled = std::none_of(modules.begin(), modules.end(),
                                           [](const auto &words) { return words.empty(); });
    if (modules.size() != input_count || !all_compiled) {
        set_code(out_code, CL_INVALID_OPERATION);
        return nullptr;
    }
    const Made<std::vector<uint32_t>> linked = link(modules);
    const size_t bytes = linked.result.size() * sizeof(uint32_t);
    const auto module = Module::read(linked.result.data(), bytes);
    const auto program = std::make_shared<Program>(context, module.value_or(Module()));
    program->il.clear();
    const auto [code, targets] = read_targets(*program, count, devices);
    if (code != CL_SUCCESS) {
        set_code(out_code, code);
        return nullptr;
    }
    begin(*program, targets, options);
    program->log = linked.log;
    const bool made = module && make_vendor(*program, *module) == CL_SUCCESS;
    set_code(out_code, made ? CL_SUCCESS : CL_LINK_PROGRAM_FAILURE);
    const cl_program handle = publish(program);
    if (notify)
        notify(handle, user_data);
    return handle;
}

cl_program CL_API_CALL create_core(cl_context context, const void *il, size_t length,
                                   cl_int *out_code) {
    if (!is_changed(context))
        return below().clCreateProgramWithIL(context, il, length, out_code);
    if (layer().mode != Mode::KHR)
        return create_program_with_il(context, il, length, out_code);
    set_code(out_code, CL_INVALID_OPERATION);
    return nullptr;
}

cl_int CL_API_CALL set_constant(cl_program handle, cl_uint id, size_t size, const void *value) {
    const auto program = layer().find(handle);
    if (!program && !is_changed(context_of(handle)))
        return below().clSetProgramSpecializationConstant(handle, id, size, value);
    if (layer().mode == Mode::KHR)
        return CL_INVALID_OPERATION;
    if (!program || program->il.empty())
        return CL_INVALID_PROGRAM;
    const std::lock_guard lock(program->mutex);
    const auto needed = program->module.constant_size(id);
    if (!needed)
        return CL_INVALID_SPEC_ID;
    if (!value || size != *needed)
        return CL_INVALID_VALUE;
    program->module.set_constant(id, value);
    return CL_SUCCESS;
}

cl_int CL_API_CALL retain_program(cl_program handle) {
    const auto program = layer().find(handle);
    if (!program)
        return below().clRetainProgram(handle);
    const std::lock_guard lock(layer().mutex);
    ++program->references;
    return CL_SUCCESS;
}

cl_int CL_API_CALL release_program(cl_program handle) {
    // Destroyed after the lock is released, if this is the last reference.
    const auto program = layer().find(handle);
    if (!program)
        return below().clReleaseProgram(handle);
    const std::lock_guard lock(layer().mutex);
    if (!--program->references)
        layer().programs.erase(handle);
    return CL_SUCCESS;
}

} // namespace

Program::Program(cl_context in, Module of)
    : dispatch(*reinterpret_cast<const cl_icd_dispatch *const *>(in)), context(in),
      module(std::move(of)), il(module.words()) {
    below().clRetainContext(context);
    devices = ask_list<cl_device_id>(below().clGetContextInfo, context, CL_CONTEXT_DEVICES);
}

Program::~Program() {
    if (vendor)
        below().clReleaseProgram(vendor);
    below().clReleaseContext(context);
}

cl_build_status Program::status(cl_device_id device) const {
    return std::find(targets.begin(), targets.end(), root_of(device)) == targets.end()
               ? CL_BUILD_NONE
               : attempt;
}

cl_program CL_API_CALL create_program_with_il(cl_context context, const void *il, size_t length,
                                              cl_int *out_code) {
    const auto devices =
        ask_list<cl_device_id>(below().clGetContextInfo, context, CL_CONTEXT_DEVICES);
    cl_int code = CL_SUCCESS;
    if (devices.empty())
        code = CL_INVALID_CONTEXT;
    else if (std::none_of(devices.begin(), devices.end(), takes_il))
        code = CL_INVALID_OPERATION;
    else if (!il || !length)
        code = CL_INVALID_VALUE;
    auto module = code == CL_SUCCESS ? Module::read(il, length) : std::nullopt;
    set_code(out_code, code == CL_SUCCESS && !module ? CL_INVALID_VALUE : code);
    return module ? publish(std::make_shared<Program>(context, std::move(*module))) : nullptr;
}

void add_program_functions(cl_icd_dispatch &table) {
    table.clCreateProgramWithIL = create_core;
    table.clSetProgramSpecializationConstant = set_constant;
    table.clBuildProgram = build_program;
    table.clCompileProgram = compile_program;
    table.clLinkProgram = link_program;
    table.clRetainProgram = retain_program;
    table.clReleaseProgram = release_program;
}

} // namespace simulated
