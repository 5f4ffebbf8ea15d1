// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"
#include "entries.hpp"

#include <pi/sdk/build_log.hpp>
#include <pi/sdk/program.hpp>
#include <pi/sdk/program_link.hpp>

#include <algorithm>

namespace pi::level_zero {

using namespace sdk;

Module::~Module() {
    if (!own_ || *own_)
        place_.note(place_.api().zeModuleDestroy(id_));
}

namespace {

/// Returns the text of a build log and destroys the log.
std::string take_log(const Api &ze, ze_module_build_log_handle_t log) {
    if (!log)
        return {};
    size_t size = 0;
    std::string words;
    if (ze.zeModuleBuildLogGetString(log, &size, nullptr) == ZE_RESULT_SUCCESS && size) {
        words.resize(size);
        if (ze.zeModuleBuildLogGetString(log, &size, words.data()) != ZE_RESULT_SUCCESS)
            words.clear();
        words.resize(std::min(words.find('\0'), words.size()));
    }
    ze.zeModuleBuildLogDestroy(log);
    return words;
}

/// Codes that mean that the program is at fault.
bool is_build_failure(ze_result_t code) {
    return code == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE ||
           code == ZE_RESULT_ERROR_MODULE_LINK_FAILURE ||
           code == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY ||
           code == ZE_RESULT_ERROR_INVALID_ARGUMENT || code == ZE_RESULT_ERROR_INVALID_SIZE;
}

} // namespace

Program::Program(Context &context, pi_program_format format, std::string source)
    : Object(context.host()), context_(context), format_(format), source_(std::move(source)) {
    if (format_ == PI_PROGRAM_FORMAT_SPIRV)
        spirv_.emplace(source_.data(), source_.size());
}

Program::Program(Context &context, Device &device, std::shared_ptr<Module> module)
    : Object(context.host()), context_(context), format_(PI_PROGRAM_FORMAT_DEVICE_BINARY) {
    builds_.push_back({&device, std::move(module), {}, PI_PROGRAM_BUILT});
}

Program::Program(Context &context, std::vector<Build> builds, std::string options)
    : Object(context.host()), context_(context), format_(PI_PROGRAM_FORMAT_SPIRV),
      builds_(std::move(builds)), options_(std::move(options)) {}

void Program::specialize(uint32_t count, const pi_specialization_constant *constants) {
    if (format_ != PI_PROGRAM_FORMAT_SPIRV)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "program is of format ", format_,
             "; only SPIR-V has specialization constants");
    require_source();
    for (const pi_specialization_constant &one : spirv_->check(count, constants))
        constants_[one.id] = std::string(static_cast<const char *>(one.value), one.size);
}

void Program::require_source() const {
    if (source_.empty())
        fail(PI_ERROR_INVALID_OPERATION,
             "program was linked or created from a ze_module_handle_t: it is built already");
}

DriverConstants::DriverConstants(const ConstantValues &values) {
    for (const auto &[id, value] : values) {
        ids_.push_back(id);
        values_.push_back(value.data());
    }
    constants_ = {static_cast<uint32_t>(ids_.size()), ids_.data(), values_.data()};
}

namespace {

/// `call` creates an object and may return its log.
template <class Call>
void with_log(Place &place, const char *name, std::string &log, Call &&call) {
    ze_module_build_log_handle_t words = nullptr;
    const ze_result_t code = call(place.device().platform().has_build_logs() ? &words : nullptr);
    log += take_log(place.api(), words);
    if (is_build_failure(code))
        fail(PI_ERROR_BUILD_FAILED, name, ": ", error_name(code), " on ", place.device().name(),
             log.empty() ? "" : ": ", build_log_excerpt(log));
    place.check(code, name, "on ", place.device().name());
}

std::shared_ptr<Module> create_module(Place &place, const ze_module_desc_t &desc,
                                      std::string &log) {
    place.require_alive();
    ze_module_handle_t id = nullptr;
    with_log(place, "zeModuleCreate", log, [&](ze_module_build_log_handle_t *words) {
        return place.api().zeModuleCreate(place.context().id(), place.device().id(), &desc, &id,
                                          words);
    });
    try {
        return std::make_shared<Module>(place, id);
    } catch (...) {
        place.api().zeModuleDestroy(id);
        throw;
    }
}

} // namespace

std::shared_ptr<Module> make_module(Place &place, const ze_module_desc_t &desc, std::string &log) {
    std::shared_ptr<Module> module = create_module(place, desc, log);
    // Drivers report unresolved functions only here.
    if (place.device().platform().has_build_logs()) {
        ze_module_handle_t id = module->id();
        with_log(place, "zeModuleDynamicLink", log, [&](ze_module_build_log_handle_t *words) {
            return place.api().zeModuleDynamicLink(1, &id, words);
        });
        return module;
    }
    auto properties = typed<ze_module_properties_t>(ZE_STRUCTURE_TYPE_MODULE_PROPERTIES);
    place.check(place.api().zeModuleGetProperties(module->id(), &properties),
                "zeModuleGetProperties");
    if (properties.flags & ZE_MODULE_PROPERTY_FLAG_IMPORTS)
        fail(PI_ERROR_BUILD_FAILED, "the program calls undefined functions, on ",
             place.device().name(), "; with several drivers the loader reports no names");
    return module;
}

std::shared_ptr<Module> Program::make(Build &build, bool part) const {
    const DriverConstants constants(constants_);
    auto desc = typed<ze_module_desc_t>(ZE_STRUCTURE_TYPE_MODULE_DESC);
    desc.format =
        format_ == PI_PROGRAM_FORMAT_SPIRV ? ZE_MODULE_FORMAT_IL_SPIRV : ZE_MODULE_FORMAT_NATIVE;
    desc.inputSize = source_.size();
    desc.pInputModule = reinterpret_cast<const uint8_t *>(source_.data());
    desc.pBuildFlags = options_.c_str();
    desc.pConstants = constants.get();
    Place &place = context_->place(*build.device);
    return part ? create_module(place, desc, build.log) : make_module(place, desc, build.log);
}

void Program::build_for(const pi_program_build_desc &desc, uint32_t aim) {
    require_source();
    const std::vector<Device *> devices = read_devices<Device>(*context_, desc);
    options_ = desc.options ? desc.options : "";
    builds_.clear();
    for (Device *device : devices)
        builds_.push_back({device, {}, {}, PI_PROGRAM_FAILED});
    const bool part = aim == PI_PROGRAM_COMPILED;
    for (Build &one : builds_) {
        try {
            std::shared_ptr<Module> module = make(one, part);
            if (!part)
                one.module = std::move(module);
        } catch (const Error &error) {
            // Fail for all devices, also those after the failing one, which were not tried.
            for (Build &each : builds_) {
                each.module.reset();
                if (each.log.empty())
                    each.log = error.text();
            }
            throw;
        }
    }
    // Only now: the step must have succeeded on all devices.
    for (Build &one : builds_)
        one.status = aim;
}

void Program::build(const pi_program_build_desc &desc) {
    build_for(desc, PI_PROGRAM_BUILT);
}

void Program::compile(const pi_program_build_desc &desc) {
    require_linker(*context_);
    require_source();
    if (format_ != PI_PROGRAM_FORMAT_SPIRV)
        fail(PI_ERROR_INVALID_OPERATION, "program is a binary, which cannot be compiled");
    build_for(desc, PI_PROGRAM_COMPILED);
    compiled_constants_ = constants_;
}

bool Program::is_compiled_for(const Device &device) const {
    return status(device) == PI_PROGRAM_COMPILED;
}

std::vector<Device *> Program::devices() const {
    std::vector<Device *> devices;
    for (const Build &build : builds_)
        if (build.status == PI_PROGRAM_BUILT)
            devices.push_back(build.device);
    return devices;
}

void Program::require_built() const {
    if (devices().empty())
        fail(PI_ERROR_INVALID_OPERATION,
             !builds_.empty() && builds_.front().status == PI_PROGRAM_COMPILED
                 ? "program is only compiled; call piProgramLink"
                 : "program is not built; call piProgramBuild first");
}

const Program::Build &Program::build_of(const Device &device) const {
    static const Build &none = *new Build; // leaked: exit handlers may call this
    const auto found = std::find_if(builds_.begin(), builds_.end(), [&](const Build &build) {
        return build.device->id() == device.id();
    });
    return found == builds_.end() ? none : *found;
}

const std::shared_ptr<Module> &Program::module(const Device &device) const {
    return build_of(device).module;
}
uint32_t Program::status(const Device &device) const {
    return build_of(device).status;
}
const std::string &Program::log(const Device &device) const {
    return build_of(device).log;
}

Module &Program::built_module(const Device &device) const {
    const std::shared_ptr<Module> &module = this->module(device);
    if (!module)
        fail(PI_ERROR_INVALID_OPERATION, "program is not built for ", device.name());
    return *module;
}

namespace {

std::vector<std::string> names_in(const Module &module) {
    std::vector<std::string> names;
    for (const char *name : ask_list<const char *>(
             "zeModuleGetKernelNames", nullptr, [&](uint32_t *count, const char **items) {
                 return module.place().api().zeModuleGetKernelNames(module.id(), count, items);
             }))
        names.emplace_back(name ? name : "");
    return names;
}

} // namespace

std::string Program::kernel_names() const {
    require_built();
    std::string all;
    for (const std::string &name : names_in(*module(*devices().front())))
        all += text(all.empty() ? "" : ";", name);
    return all;
}

bool Program::has_kernel(const Device &device, std::string_view name) const {
    const std::vector<std::string> names = names_in(built_module(device));
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<uint64_t> Program::binary_sizes() const {
    require_built();
    std::vector<uint64_t> sizes;
    for (const Build &build : builds_) {
        Place &place = build.module->place();
        size_t size = 0;
        place.check(place.api().zeModuleGetNativeBinary(build.module->id(), &size, nullptr),
                    "zeModuleGetNativeBinary", "on ", build.device->name());
        sizes.push_back(size);
    }
    return sizes;
}

void Program::copy_binaries(uint8_t **targets) const {
    for (const Build &build : builds_)
        if (uint8_t *target = *targets++) {
            Place &place = build.module->place();
            size_t size = 0;
            place.check(place.api().zeModuleGetNativeBinary(build.module->id(), &size, nullptr),
                        "zeModuleGetNativeBinary", "on ", build.device->name());
            place.check(place.api().zeModuleGetNativeBinary(build.module->id(), &size, target),
                        "zeModuleGetNativeBinary", "on ", build.device->name());
        }
}

namespace entries {

pi_result PI_CALL piProgramCreate(pi_context context, const pi_program_desc *desc,
                                  pi_program *out_program) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_program_desc(desc, out_program);
        if (known.format != PI_PROGRAM_FORMAT_SPIRV &&
            known.format != PI_PROGRAM_FORMAT_DEVICE_BINARY)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "format is ", known.format,
                 "; PI_PROGRAM_FORMAT_SPIRV and _DEVICE_BINARY are supported");
        const auto takes_spirv = [](const Device *device) {
            return device->modules().spirvVersionSupported != 0;
        };
        if (known.format == PI_PROGRAM_FORMAT_SPIRV &&
            std::none_of(self.devices().begin(), self.devices().end(), takes_spirv))
            fail(PI_ERROR_UNSUPPORTED_FEATURE,
                 "format is PI_PROGRAM_FORMAT_SPIRV, which no device of the context accepts");
        *out_program = make<Program>(self, known.format,
                                     std::string(static_cast<const char *>(known.data), known.size))
                           .give();
    });
}

pi_result PI_CALL piProgramSetSpecializationConstants(pi_program program, uint32_t count,
                                                      const pi_specialization_constant *constants) {
    return call<Program>(program, [&](Program &self) { self.specialize(count, constants); });
}

} // namespace entries
} // namespace pi::level_zero
