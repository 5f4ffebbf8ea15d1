// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"
#include "entries.hpp"

#include <pi/sdk/program.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <sstream>

namespace pi::cuda {

using namespace sdk;

Module::~Module() {
    if (own_ && !*own_)
        return;
    primary_->instance().reap([primary = primary_, id = id_] {
        try {
            const Current current(*primary);
            primary->note(primary->api().cuModuleUnload(id));
        } catch (...) {
            // The context is lost, and with it the module.
        }
    });
}

namespace {

/// The options of cuModuleLoadDataEx, with places for the driver's logs.
class JitOptions {
public:
    explicit JitOptions(const std::string &words) {
        add(CU_JIT_ERROR_LOG_BUFFER, log_.data());
        add(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, log_.size());
        bool debug = false;
        std::optional<size_t> level;
        std::istringstream list(words);
        for (std::string word; list >> word;) {
            if (word == "-g")
                debug = true;
            else if (word.size() == 3 && word.compare(0, 2, "-O") == 0 && word[2] >= '0' &&
                     word[2] <= '4')
                level = static_cast<size_t>(word[2] - '0');
            else
                fail(PI_ERROR_BUILD_FAILED, "options has '", word,
                     "'; -O0 to -O4 and -g are understood");
        }
        if (debug && level.value_or(0) > 0)
            fail(PI_ERROR_BUILD_FAILED, "options has '-g' and '-O", *level,
                 "': CUDA compiles for a debugger at -O0 alone");
        if (debug)
            add(CU_JIT_GENERATE_DEBUG_INFO, size_t{1});
        if (debug || level) // without a word the driver's own is 4
            add(CU_JIT_OPTIMIZATION_LEVEL, level.value_or(0));
    }
    unsigned count() const { return static_cast<unsigned>(names_.size()); }
    CUjit_option *names() { return names_.data(); }
    void **values() { return values_.data(); }
    std::string log() const { return log_.data(); }

private:
    void add(CUjit_option name, void *value) {
        names_.push_back(name);
        values_.push_back(value);
    }
    void add(CUjit_option name, size_t value) { add(name, reinterpret_cast<void *>(value)); }

    std::vector<char> log_ = std::vector<char>(16384);
    std::vector<CUjit_option> names_;
    std::vector<void *> values_;
};

/// The begin of a log, for an error's text.
std::string first_lines(const std::string &log) {
    constexpr size_t most = 600;
    return log.size() > most ? log.substr(0, most) + "..." : log;
}

} // namespace

void Program::load(Build &build, const std::string &words) {
    Primary &primary = context_->primary(*build.device);
    build.status = PI_PROGRAM_FAILED;
    build.module.reset();
    build.log.clear();
    try {
        primary.require_alive();
        JitOptions options(words);
        const Current current(primary);
        CUmodule id = nullptr;
        const CUresult code = primary.api().cuModuleLoadDataEx(&id, image_.c_str(), options.count(),
                                                               options.names(), options.values());
        build.log = options.log();
        primary.note(code);
        if (code != CUDA_SUCCESS && to_result(code) != PI_ERROR_BACKEND)
            primary.check(code, "cuModuleLoadDataEx", "on ", build.device->name());
        if (code != CUDA_SUCCESS) {
            const std::string name = error_name(primary.api(), code);
            if (build.log.empty())
                build.log = text("cuModuleLoadDataEx: ", name, ", without a log");
            fail(PI_ERROR_BUILD_FAILED, "cuModuleLoadDataEx: ", name, " on ", build.device->name(),
                 ":\n", first_lines(build.log));
        }
        build.module = std::make_shared<Module>(primary, id);
        build.status = PI_PROGRAM_BUILT;
    } catch (const Error &error) {
        if (build.log.empty())
            build.log = error.text();
        throw;
    }
}

void Program::build(const pi_program_build_desc &desc) {
    check_flags(desc.flags, 0, "flags");
    if (image_.empty())
        fail(PI_ERROR_INVALID_OPERATION,
             "program was made around a CUmodule, which is built: it has nothing to build again");
    std::vector<Device *> devices =
        read_handles<Device>(host(), desc.device_count, desc.devices, "devices",
                             [&](Device &device, const ArgumentName &name) {
                                 context_->checked_device(device.handle(), name);
                             });
    if (devices.empty())
        devices = context_->devices();
    options_ = desc.options ? desc.options : "";
    builds_.clear();
    // In the context's order, whatever order they are named in.
    for (Device *device : context_->devices())
        if (std::find(devices.begin(), devices.end(), device) != devices.end())
            builds_.push_back({device, {}, {}, PI_PROGRAM_FAILED});
    try {
        for (Build &one : builds_)
            load(one, options_);
    } catch (...) {
        // It is built for all of them or for none.
        for (Build &one : builds_) {
            one.module.reset();
            one.status = PI_PROGRAM_FAILED;
        }
        throw;
    }
}

std::vector<Device *> Program::devices() const {
    std::vector<Device *> devices;
    for (Device *device : context().devices())
        if (module(*device))
            devices.push_back(device);
    return devices;
}

void Program::require_built() const {
    if (devices().empty())
        fail(PI_ERROR_INVALID_OPERATION, "program is not built; call piProgramBuild first");
}

const Program::Build &Program::build_of(const Device &device) const {
    static const Build none{};
    const auto found = std::find_if(builds_.begin(), builds_.end(),
                                    [&](const Build &build) { return build.device == &device; });
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

std::string Program::kernel_names() const {
    require_built();
    const Module &module = *this->module(*devices().front());
    Primary &primary = module.primary();
    const Api &cu = primary.api();
    if (!cu.cuModuleGetFunctionCount || !cu.cuModuleEnumerateFunctions || !cu.cuFuncGetName)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the driver, of CUDA ", version_text(cu.version()),
             ", does not tell what is in a module; one of 12.4 does");
    const Current current(primary);
    unsigned count = 0;
    primary.check(cu.cuModuleGetFunctionCount(&count, module.id()), "cuModuleGetFunctionCount");
    std::vector<CUfunction> functions(count);
    primary.check(cu.cuModuleEnumerateFunctions(functions.data(), count, module.id()),
                  "cuModuleEnumerateFunctions");
    std::string names;
    for (const CUfunction function : functions) {
        const char *name = nullptr;
        primary.check(cu.cuFuncGetName(&name, function), "cuFuncGetName");
        names += text(names.empty() ? "" : ";", name);
    }
    return names;
}

std::vector<uint64_t> Program::binary_sizes() const {
    require_built();
    return std::vector<uint64_t>(devices().size(), image_.size());
}

void Program::copy_binaries(uint8_t **targets) const {
    for (size_t i = 0; i < devices().size(); ++i)
        if (targets[i])
            std::memcpy(targets[i], image_.data(), image_.size());
}

namespace entries {

pi_result PI_CALL piProgramCreate(pi_context context, const pi_program_desc *desc,
                                  pi_program *out_program) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_program_desc(desc, out_program);
        if (known.format != PI_PROGRAM_FORMAT_PTX && known.format != PI_PROGRAM_FORMAT_CUBIN &&
            known.format != PI_PROGRAM_FORMAT_DEVICE_BINARY)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "format is ", known.format,
                 "; PI_PROGRAM_FORMAT_PTX, _CUBIN and _DEVICE_BINARY are supported");
        *out_program = make<Program>(self, known.format,
                                     std::string(static_cast<const char *>(known.data), known.size))
                           .give();
    });
}

} // namespace entries
} // namespace pi::cuda
