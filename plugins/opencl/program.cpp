// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"
#include "entries.hpp"

#include <pi/sdk/build_log.hpp>
#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/program.hpp>
#include <pi/sdk/program_link.hpp>

#include <algorithm>
#include <span>

namespace pi::opencl {

using namespace sdk;

namespace {

bool has(const std::vector<Device *> &devices, const Device &device) {
    return std::find(devices.begin(), devices.end(), &device) != devices.end();
}

} // namespace

std::vector<Device *> link_devices(const std::vector<Device *> &devices,
                                   const std::vector<Device *> &candidates) {
    if (devices.front()->quirk(QUIRK_LINKS_FOR_ALL))
        return candidates;
    std::vector<Device *> sorted;
    for (Device *device : candidates)
        if (has(devices, *device))
            sorted.push_back(device);
    return sorted;
}

// ----- Program -----------------------------------------------------------------------------------

Program::Program(Context &context, pi_program_format format, ProgramOwner vendor,
                 std::vector<Device *> candidates)
    : Object(context.host()), context_(context), format_(format), vendor_(std::move(vendor)),
      candidates_(std::move(candidates)) {}

std::vector<Device *> Program::read_devices(const pi_program_build_desc &desc) const {
    std::vector<Device *> devices = sdk::read_devices<Device>(*context_, desc);
    if (!desc.device_count)
        return candidates_;
    for (const Device *device : devices)
        if (!has(candidates_, *device))
            fail(PI_ERROR_INVALID_BINARY, "the program's binary is not for ", device->name());
    return devices;
}

// The parameters' kinds are needed to check a launch's arguments.
std::string Program::vendor_options(const Device &device, const std::string &options) const {
    std::string words = options;
    if (can_compile())
        words += " -cl-kernel-arg-info";
    // By the standard, programs have non-uniform groups from OpenCL C 2.0 on.
    if (format_ == PI_PROGRAM_FORMAT_OPENCL_C && device.quirk(QUIRK_STANDARD_FOR_NON_UNIFORM) &&
        device.non_uniform_groups() && options.find("-cl-std=") == std::string::npos)
        words += " -cl-std=CL3.0";
    return words;
}

bool Program::needs_new_vendor(const Device &device) const {
    const bool tried = !built_.empty() || !compiled_.empty() || !failed_.empty();
    return used_ || (tried && device.quirk(QUIRK_BUILDS_ONCE));
}

// OpenCL does not rebuild a program that has kernels. Some drivers do, and break the kernels;
// others release a kernel some time after the commands that run it. So id() is not rebuilt once it
// had kernels. The application may also have created kernels from the native handle. A binary is
// built once: PoCL 3.1 aborts when it is built again.
template <class Build>
cl_int Program::build_vendor(const Device &device, Build &&build) {
    if (format_ == PI_PROGRAM_FORMAT_DEVICE_BINARY) {
        if (!built_.empty() || !failed_.empty())
            vendor_ = create_again();
        return build();
    }
    if (adopted_ || !needs_new_vendor(device)) {
        const cl_int code = build_by(device, build);
        if (code != CL_INVALID_OPERATION || adopted_)
            return code;
    }
    ProgramOwner before = std::exchange(vendor_, create_again());
    const cl_int code = build_by(device, build);
    if (code == CL_INVALID_OPERATION)
        std::swap(vendor_, before);
    else
        used_ = false;
    return code;
}

void Program::finish(const Attempt &attempt, cl_int code) {
    // The program is unchanged.
    if (code == CL_INVALID_OPERATION)
        check(code, attempt.call,
              adopted_ ? "the application's cl_program has kernels"
                       : "the plugin had created a new cl_program for it");
    aim_ = attempt.aim;
    compiled_elsewhere_ = false;
    options_ = attempt.options;
    built_.clear();
    compiled_.clear();
    failed_ = attempt.devices;
    if (code == CL_BUILD_PROGRAM_FAILURE || code == CL_COMPILE_PROGRAM_FAILURE) {
        std::string words = error_text(attempt.call, code);
        for (const Device *device : failed_)
            if (status(*device) == PI_PROGRAM_FAILED)
                words += " on " + device->name() + ":\n" + build_log_excerpt(log(*device));
        throw Error(PI_ERROR_BUILD_FAILED, words);
    }
    check(code, attempt.call, "options '", options_, "'");
    (aim_ == PI_PROGRAM_BUILT ? built_ : compiled_) = std::exchange(failed_, {});
}

void Program::build(const pi_program_build_desc &desc) {
    if (linked_)
        fail(PI_ERROR_INVALID_OPERATION, "program was linked: it is built already");
    const std::vector<Device *> devices = read_devices(desc);
    const std::vector<cl_device_id> ids = ids_of(devices);
    const std::string options = desc.options ? desc.options : "";
    finish({PI_PROGRAM_BUILT, "clBuildProgram", devices, options},
           build_vendor(*devices.front(), [&] {
               return api().clBuildProgram(id(), static_cast<cl_uint>(ids.size()), ids.data(),
                                           vendor_options(*devices.front(), options).c_str(),
                                           nullptr, nullptr);
           }));
}

void Program::compile(const pi_program_build_desc &desc) {
    if (linked_ || !can_compile())
        fail(PI_ERROR_INVALID_OPERATION, "program ", linked_ ? "was linked" : "is a binary",
             ": it has no source to compile");
    const std::vector<Device *> devices = read_devices(desc);
    const std::vector<cl_device_id> ids = ids_of(link_devices(devices, candidates_));
    const std::string options = desc.options ? desc.options : "";
    finish({PI_PROGRAM_COMPILED, "clCompileProgram", devices, options},
           build_vendor(*devices.front(), [&] {
               return api().clCompileProgram(id(), static_cast<cl_uint>(ids.size()), ids.data(),
                                             vendor_options(*devices.front(), options).c_str(), 0,
                                             nullptr, nullptr, nullptr, nullptr);
           }));
}

void Program::read_builds() {
    for (Device *device : candidates_) {
        cl_build_status vendor = CL_BUILD_NONE;
        const cl_int code = api().clGetProgramBuildInfo(id(), device->id(), CL_PROGRAM_BUILD_STATUS,
                                                        sizeof vendor, &vendor, nullptr);
        if (code == CL_INVALID_DEVICE)
            continue; // not one of those that it was linked for
        check(code, "clGetProgramBuildInfo");
        if (vendor == CL_BUILD_ERROR)
            failed_.push_back(device);
        if (vendor != CL_BUILD_SUCCESS)
            continue;
        // Compiled objects and libraries have no kernels.
        const auto type =
            query<cl_program_binary_type>(api().clGetProgramBuildInfo, "clGetProgramBuildInfo",
                                          id(), device->id(), CL_PROGRAM_BINARY_TYPE);
        const bool executable = type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
        (executable ? built_ : compiled_).push_back(device);
    }
    const std::vector<Device *> &tried = built_.empty() ? failed_ : built_;
    if (!tried.empty())
        options_ = query_text(api().clGetProgramBuildInfo, "clGetProgramBuildInfo", id(),
                              tried.front()->id(), CL_PROGRAM_BUILD_OPTIONS);
}

void Program::adopt() {
    read_builds();
    adopted_ = compiled_elsewhere_ = true;
}

void Program::read_link(const std::vector<Device *> &devices, std::string options) {
    read_builds();
    linked_ = true;
    options_ = std::move(options);
    for (std::vector<Device *> *list : {&built_, &compiled_, &failed_})
        std::erase_if(*list, [&](Device *device) { return !has(devices, *device); });
}

bool Program::is_built_for(const Device &device) const {
    return has(built_, device);
}

bool Program::is_compiled_for(const Device &device) const {
    return has(compiled_, device);
}

void Program::require_built() const {
    if (built_.empty())
        fail(PI_ERROR_INVALID_OPERATION, compiled_.empty()
                                             ? "program is not built; call piProgramBuild first"
                                             : "program is only compiled; call piProgramLink");
}

std::string Program::kernel_names() const {
    require_built();
    return query_text(api().clGetProgramInfo, "clGetProgramInfo", id(), CL_PROGRAM_KERNEL_NAMES);
}

uint32_t Program::status(const Device &device) const {
    if (is_built_for(device))
        return PI_PROGRAM_BUILT;
    if (is_compiled_for(device))
        return PI_PROGRAM_COMPILED;
    if (!has(failed_, device))
        return PI_PROGRAM_NOT_BUILT;
    const auto vendor = query<cl_build_status>(api().clGetProgramBuildInfo, "clGetProgramBuildInfo",
                                               id(), device.id(), CL_PROGRAM_BUILD_STATUS);
    return vendor == CL_BUILD_SUCCESS ? aim_ : uint32_t{PI_PROGRAM_FAILED};
}

std::string Program::log(const Device &device) const {
    if (status(device) == PI_PROGRAM_NOT_BUILT)
        return {}; // PoCL refuses the query
    return query_text(api().clGetProgramBuildInfo, "clGetProgramBuildInfo", id(), device.id(),
                      CL_PROGRAM_BUILD_LOG);
}

// ----- entry points ------------------------------------------------------------------------------

namespace {

ProgramOwner create_vendor_source(const Context &context, const char *source, size_t size) {
    cl_int code = CL_SUCCESS;
    ProgramOwner vendor(context.api(), context.api().clCreateProgramWithSource(
                                           context.id(), 1, &source, &size, &code));
    check(code, "clCreateProgramWithSource");
    return vendor;
}

/// One binary for each device.
ProgramOwner create_vendor_binary(const Context &context, const std::vector<Device *> &devices,
                                  std::vector<const unsigned char *> binaries,
                                  const std::vector<size_t> &sizes) {
    const std::vector<cl_device_id> ids = ids_of(devices);
    std::vector<cl_int> statuses(ids.size(), CL_SUCCESS);
    cl_int code = CL_SUCCESS;
    ProgramOwner vendor(context.api(),
                        context.api().clCreateProgramWithBinary(
                            context.id(), static_cast<cl_uint>(ids.size()), ids.data(),
                            sizes.data(), binaries.data(), statuses.data(), &code));
    check(code, "clCreateProgramWithBinary", sizes.front(), " bytes");
    return vendor;
}

/// One binary for all devices.
ProgramOwner create_vendor_binary(const Context &context, const std::vector<Device *> &devices,
                                  std::span<const unsigned char> binary) {
    return create_vendor_binary(context, devices,
                                std::vector<const unsigned char *>(devices.size(), binary.data()),
                                std::vector<size_t>(devices.size(), binary.size()));
}

Ref<Program> create_from_source(Context &context, const pi_program_desc &desc) {
    for (const Device *device : context.devices())
        if (!device->has_compiler())
            fail(PI_ERROR_UNSUPPORTED_FEATURE, device->name(), " has no compiler for OpenCL C");
    ProgramOwner vendor =
        create_vendor_source(context, static_cast<const char *>(desc.data), desc.size);
    return make<Program>(context, desc.format, std::move(vendor), context.devices());
}

Ref<Program> create_from_binary(Context &context, const pi_program_desc &desc) {
    const std::span binary(static_cast<const unsigned char *>(desc.data), desc.size);
    std::vector<Device *> takers;
    for (const Device *device : context.devices())
        if (device->quirk(QUIRK_NO_BINARIES))
            fail(PI_ERROR_UNSUPPORTED_FEATURE, device->name(),
                 " does not accept binaries: its driver does not check them");
    // The binary was made for one device; the context's others may or may not accept it.
    std::string reasons;
    for (Device *device : context.devices()) {
        try {
            create_vendor_binary(context, {device}, binary);
            takers.push_back(device);
        } catch (const Error &error) {
            reasons += " " + error.text();
        }
    }
    if (takers.empty())
        fail(PI_ERROR_INVALID_BINARY,
             "data is not a binary for any device of the context:", reasons);
    ProgramOwner vendor = create_vendor_binary(context, takers, binary);
    auto program = make<Program>(context, desc.format, std::move(vendor), std::move(takers));
    program->set_binary({binary.begin(), binary.end()});
    return program;
}

// The binaries of a built program, in the driver's order.
struct VendorBinaries {
    explicit VendorBinaries(const Program &program)
        : devices(query_list<cl_device_id>(program.api().clGetProgramInfo, "clGetProgramInfo",
                                           program.id(), CL_PROGRAM_DEVICES)),
          sizes(query_list<size_t>(program.api().clGetProgramInfo, "clGetProgramInfo", program.id(),
                                   CL_PROGRAM_BINARY_SIZES)) {}

    size_t position(const Device &device) const {
        const auto index = device.position_in(devices);
        if (!index || *index >= sizes.size())
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "the driver returned no binary for ", device.name());
        return *index;
    }

    std::vector<std::vector<unsigned char>> read(const Program &program) const {
        std::vector<std::vector<unsigned char>> contents;
        std::vector<unsigned char *> pointers;
        pointers.reserve(sizes.size());
        for (const size_t one : sizes)
            contents.emplace_back(one);
        for (auto &content : contents)
            pointers.push_back(content.data());
        check(program.api().clGetProgramInfo(program.id(), CL_PROGRAM_BINARIES,
                                             pointers.size() * sizeof(pointers[0]), pointers.data(),
                                             nullptr),
              "clGetProgramInfo");
        return contents;
    }

    std::vector<cl_device_id> devices;
    std::vector<size_t> sizes;
};

/// From the driver's binary of the application's program, whose source the plugin lacks.
ProgramOwner create_binary_again(const Program &program, const std::vector<Device *> &devices) {
    const VendorBinaries vendor(program);
    const auto contents = vendor.read(program);
    std::vector<const unsigned char *> binaries;
    std::vector<size_t> sizes;
    for (const Device *device : devices) {
        const auto &content = contents[vendor.position(*device)];
        binaries.push_back(content.data());
        sizes.push_back(content.size());
    }
    return create_vendor_binary(program.context(), devices, std::move(binaries), sizes);
}

} // namespace

ProgramOwner Program::create_again() const {
    if (format_ == PI_PROGRAM_FORMAT_SPIRV)
        return create_il_again();
    if (format_ == PI_PROGRAM_FORMAT_DEVICE_BINARY)
        return binary_.empty() ? create_binary_again(*this, candidates_)
                               : create_vendor_binary(*context_, candidates_, binary_);
    const std::string source =
        query_text(api().clGetProgramInfo, "clGetProgramInfo", id(), CL_PROGRAM_SOURCE);
    return create_vendor_source(*context_, source.c_str(), source.size());
}

void Program::copy_binaries(uint8_t **targets) const {
    const VendorBinaries vendor(*this);
    const auto copies = vendor.read(*this);
    for (const Device *device : devices()) {
        const auto &copy = copies[vendor.position(*device)];
        if (uint8_t *target = *targets++)
            std::copy(copy.begin(), copy.end(), target);
    }
}

std::vector<uint64_t> Program::binary_sizes() const {
    require_built();
    const VendorBinaries vendor(*this);
    std::vector<uint64_t> out;
    for (const Device *device : devices())
        out.push_back(vendor.sizes[vendor.position(*device)]);
    return out;
}

namespace entries {

pi_result PI_CALL piProgramCreate(pi_context context, const pi_program_desc *desc,
                                  pi_program *out_program) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_program_desc(desc, out_program);
        if (known.format == PI_PROGRAM_FORMAT_OPENCL_C)
            *out_program = create_from_source(self, known).give();
        else if (known.format == PI_PROGRAM_FORMAT_DEVICE_BINARY)
            *out_program = create_from_binary(self, known).give();
        else if (known.format == PI_PROGRAM_FORMAT_SPIRV)
            *out_program = create_from_il(self, known).give();
        else
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "format is ", known.format,
                 "; PI_PROGRAM_FORMAT_OPENCL_C, _SPIRV and _DEVICE_BINARY are supported");
    });
}

} // namespace entries
} // namespace pi::opencl
