// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace pi::level_zero::simulated {

namespace {

constexpr char magic[] = "PI simulated Level Zero module 1\n";

drivers::Words words() {
    return {{"pointer", {Pass::pointer}},
            {"addresses", {Pass::addresses}},
            {"image", {Pass::surface}},
            {"sampler", {Pass::sampler}},
            {"local", {Pass::shared}}};
}

/// One of a module's inputs.
struct Input {
    const uint8_t *bytes;
    size_t size;
    const char *flags;
    const ze_module_constants_t *constants;
};

/// The parts of ZE_experimental_module_program, or else the descriptor's own input.
std::vector<Input> inputs_of(const ze_module_desc_t &descriptor) {
    const auto *program = static_cast<const ze_module_program_exp_desc_t *>(descriptor.pNext);
    if (!program || program->stype != ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC)
        return {{descriptor.pInputModule, descriptor.inputSize, descriptor.pBuildFlags,
                 descriptor.pConstants}};
    need(descriptor.format == ZE_MODULE_FORMAT_IL_SPIRV, ZE_RESULT_ERROR_INVALID_ENUMERATION);
    need(program->count > 0, ZE_RESULT_ERROR_INVALID_SIZE);
    need_pointers(program->inputSizes, program->pInputModules);
    std::vector<Input> inputs;
    for (uint32_t i = 0; i < program->count; ++i)
        inputs.push_back({program->pInputModules[i], program->inputSizes[i],
                          program->pBuildFlags ? program->pBuildFlags[i] : nullptr,
                          program->pConstants ? program->pConstants[i] : nullptr});
    return inputs;
}

/// The text of a native image, or that for a SPIR-V module, without its first line. Throws Failure
/// for invalid input, and std::runtime_error with the text of the build log.
std::string text_of(const Input &input, ze_module_format_t format) {
    const auto *bytes = reinterpret_cast<const char *>(input.bytes);
    if (format == ZE_MODULE_FORMAT_IL_SPIRV)
        return translate(bytes, input.size, driver().config.kernels);
    const std::string text(bytes, strnlen(bytes, input.size));
    need(text.rfind(magic, 0) == 0, ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    return text.substr(sizeof magic - 1);
}

/// The address of a symbol of the library.
void *symbol(const Library &library, const std::string &name) {
    void *const found = library.symbol(name.c_str());
    if (!found)
        throw std::runtime_error("the library has no '" + name + "'");
    return found;
}

Function make_function(const pi_native_program &program, const std::string &name,
                       const std::vector<Parameter> &parameters) {
    const pi_native_kernel *const end = program.kernels + program.kernel_count;
    const pi_native_kernel *const kernel =
        std::find_if(program.kernels, end, [&](const auto &k) { return name == k.name; });
    if (kernel == end || kernel->argument_count != parameters.size())
        throw std::runtime_error("the library has no kernel '" + name + "' with " +
                                 std::to_string(parameters.size()) + " arguments");
    return {name, kernel->function, parameters, {}};
}

/// The variable's bytes are in the library; the address that callers get is without access, like
/// all device memory.
std::shared_ptr<Allocation> make_variable(const Module &module,
                                          const std::shared_ptr<Library> &library,
                                          const std::string &name, size_t size) {
    if (size == 0)
        throw std::runtime_error("the variable '" + name + "' has a size of 0");
    auto memory = std::make_shared<Allocation>();
    memory->type = ZE_MEMORY_TYPE_DEVICE;
    memory->variable = true;
    memory->size = size;
    memory->bytes = static_cast<char *>(symbol(*library, name));
    memory->owner = library;
    memory->context = module.context;
    memory->device = module.device;
    memory->address = reserve(size, 0);
    memory->id = driver().next_id++;
    return memory;
}

void add_part(Module &module, const drivers::Part &part) {
    module.libraries.push_back(std::make_shared<Library>(part.library));
    const std::shared_ptr<Library> &library = module.libraries.back();
    using Entry = const pi_native_program *(*)();
    const auto entry = reinterpret_cast<Entry>(library->symbol("piNativeProgram"));
    if (!entry && !part.functions.empty())
        throw std::runtime_error(part.library + " exports no piNativeProgram");
    for (const auto &[name, parameters] : part.functions) {
        module.functions.push_back(make_function(*entry(), name, parameters));
        if (const auto requirements = part.requirements.find(name);
            requirements != part.requirements.end())
            module.functions.back().requirements = requirements->second;
    }
    for (const auto &[name, size] : part.variables)
        module.variables[name] = make_variable(module, library, name, size);
    for (const auto &[name, value] : part.constants) {
        symbol(*library, name);
        library->set(name.c_str(), value);
    }
    for (const auto &[name, pointer] : part.imports)
        module.unresolved[name] = pointer;
}

/// The address of a function that the module exports; null if it does not.
void *exported(const Module &module, const std::string &name) {
    for (size_t i = 0; i < module.image.size(); ++i) {
        const std::vector<std::string> &names = module.image[i].exports;
        if (std::find(names.begin(), names.end(), name) != names.end())
            return symbol(*module.libraries[i], name);
    }
    return nullptr;
}

/// Resolves the module's imports with the other's exports.
void connect(Module &module, const Module &from) {
    for (auto import = module.unresolved.begin(); import != module.unresolved.end();) {
        void *const address = exported(from, import->first);
        if (!address) {
            ++import;
            continue;
        }
        for (const std::shared_ptr<Library> &library : module.libraries)
            if (void *const pointer = library->symbol(import->second.c_str()))
                std::memcpy(pointer, &address, sizeof address);
        import = module.unresolved.erase(import);
    }
}

/// Specialization constants are variables with special names in an input's last library. The
/// returned lines are for the binary, which contains the values.
std::string specialize(const Library &library, const ze_module_constants_t *constants) {
    std::string lines;
    for (uint32_t i = 0; constants && i < constants->numConstants; ++i) {
        const std::string name = "specialization_" + std::to_string(constants->pConstantIds[i]);
        uint64_t value = 0;
        const size_t size = std::min(library.size_of(name.c_str()), sizeof value);
        std::memcpy(&value, constants->pConstantValues[i], size);
        if (size == 0)
            continue;
        library.set(name.c_str(), value);
        lines += "constant " + name + " " + std::to_string(value) + "\n";
    }
    return lines;
}

/// Accepts Level Zero's options and -g; a number is the value of the previous option.
void check_flags(const char *flags) {
    std::istringstream options(flags ? flags : "");
    for (std::string word; options >> word;)
        if (word != "-g" && word.rfind("-ze-", 0) != 0 &&
            word.find_first_not_of("0123456789") != std::string::npos)
            throw std::runtime_error("error: unknown option: " + word);
}

void build(Module &module, const ze_module_desc_t &descriptor) {
    module.text = magic;
    for (const Input &input : inputs_of(descriptor)) {
        need_pointers(input.bytes);
        need(input.size > 0, ZE_RESULT_ERROR_INVALID_SIZE);
        check_flags(input.flags);
        const std::string text = text_of(input, descriptor.format);
        module.text += text;
        for (const drivers::Part &part : drivers::read_image(text, words())) {
            module.image.push_back(part);
            add_part(module, part);
        }
        module.text += specialize(*module.libraries.back(), input.constants);
    }
    connect(module, module);
    for (const auto &[name, memory] : module.variables)
        driver().allocations[memory->address] = memory;
}

void write_log(ze_module_build_log_handle_t *out, const std::string &text) {
    if (!out)
        return;
    auto log = std::make_shared<BuildLog>();
    log->text = text;
    *out = driver().logs.add(log);
}

std::shared_ptr<Module> module_of(ze_module_handle_t handle) {
    return find(driver().modules, handle);
}

std::vector<std::shared_ptr<Module>> modules_of(uint32_t count, ze_module_handle_t *handles) {
    need_pointers(handles);
    std::vector<std::shared_ptr<Module>> modules;
    for (uint32_t i = 0; i < count; ++i)
        modules.push_back(module_of(handles[i]));
    return modules;
}

} // namespace

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device,
                                      const ze_module_desc_t *descriptor, ze_module_handle_t *out,
                                      ze_module_build_log_handle_t *log) {
    return call([&](Lock &) {
        auto module = std::make_shared<Module>();
        module->context = driver().context(context);
        module->device = &driver().device(device);
        need_pointers(descriptor, out);
        need(descriptor->stype == ZE_STRUCTURE_TYPE_MODULE_DESC, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        need(descriptor->format <= ZE_MODULE_FORMAT_NATIVE, ZE_RESULT_ERROR_INVALID_ENUMERATION);
        try {
            build(*module, *descriptor);
        } catch (const std::runtime_error &error) {
            write_log(log, error.what());
            throw Failure{ZE_RESULT_ERROR_MODULE_BUILD_FAILURE};
        }
        write_log(log, "");
        *out = driver().modules.add(module);
    });
}

ze_result_t ZE_APICALL zeModuleDestroy(ze_module_handle_t handle) {
    return call([&](Lock &) {
        const std::shared_ptr<Module> module = module_of(handle);
        module->need_idle();
        for (const auto &[key, kernel] : driver().kernels)
            need(kernel->module != module, ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        for (const auto &[name, memory] : module->variables) {
            memory->need_idle();
            driver().allocations.erase(memory->address);
        }
        driver().modules.erase(handle);
    });
}

ze_result_t ZE_APICALL zeModuleDynamicLink(uint32_t count, ze_module_handle_t *handles,
                                           ze_module_build_log_handle_t *log) {
    return call([&](Lock &) {
        const std::vector<std::shared_ptr<Module>> modules = modules_of(count, handles);
        std::string missing;
        for (const std::shared_ptr<Module> &module : modules) {
            for (const std::shared_ptr<Module> &from : modules)
                connect(*module, *from);
            for (const auto &[name, pointer] : module->unresolved)
                missing += "undefined reference to '" + name + "'\n";
        }
        write_log(log, missing);
        need(missing.empty(), ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
    });
}

ze_result_t ZE_APICALL zeModuleInspectLinkageExt(ze_linkage_inspection_ext_desc_t *descriptor,
                                                 uint32_t count, ze_module_handle_t *handles,
                                                 ze_module_build_log_handle_t *log) {
    return call([&](Lock &) {
        need_pointers(descriptor, log);
        std::string text;
        for (const std::shared_ptr<Module> &module : modules_of(count, handles))
            for (const pi::drivers::Part &part : module->image) {
                if (descriptor->flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_IMPORTS)
                    for (const auto &[name, pointer] : part.imports)
                        text += "import " + name + "\n";
                if (descriptor->flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS)
                    for (const std::string &name : part.exports)
                        text += "export " + name + "\n";
            }
        write_log(log, text);
    });
}

ze_result_t ZE_APICALL zeModuleBuildLogDestroy(ze_module_build_log_handle_t handle) {
    return call([&](Lock &) {
        find(driver().logs, handle);
        driver().logs.erase(handle);
    });
}

ze_result_t ZE_APICALL zeModuleBuildLogGetString(ze_module_build_log_handle_t handle, size_t *size,
                                                 char *out) {
    return call([&](Lock &) { give_text(find(driver().logs, handle)->text, size, out); });
}

ze_result_t ZE_APICALL zeModuleGetNativeBinary(ze_module_handle_t handle, size_t *size,
                                               uint8_t *out) {
    return call(
        [&](Lock &) { give_text(module_of(handle)->text, size, reinterpret_cast<char *>(out)); });
}

ze_result_t ZE_APICALL zeModuleGetGlobalPointer(ze_module_handle_t handle, const char *name,
                                                size_t *size, void **out) {
    return call([&](Lock &) {
        const std::shared_ptr<Module> module = module_of(handle);
        need_pointers(name);
        const auto found = module->variables.find(name);
        need(found != module->variables.end(), ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
        if (size)
            *size = found->second->size;
        if (out)
            *out = reinterpret_cast<void *>(found->second->address);
    });
}

ze_result_t ZE_APICALL zeModuleGetFunctionPointer(ze_module_handle_t handle, const char *name,
                                                  void **out) {
    return call([&](Lock &) {
        const std::shared_ptr<Module> module = module_of(handle);
        need_pointers(name, out);
        void *const address = exported(*module, name);
        need(address != nullptr, ZE_RESULT_ERROR_INVALID_FUNCTION_NAME);
        *out = address;
    });
}

ze_result_t ZE_APICALL zeModuleGetKernelNames(ze_module_handle_t handle, uint32_t *count,
                                              const char **out) {
    return call([&](Lock &) {
        const std::shared_ptr<Module> module = module_of(handle);
        give(count, module->functions.size(), out,
             [&](size_t i) { out[i] = module->functions[i].name.c_str(); });
    });
}

ze_result_t ZE_APICALL zeModuleGetProperties(ze_module_handle_t handle,
                                             ze_module_properties_t *out) {
    return call([&](Lock &) {
        const std::shared_ptr<Module> module = module_of(handle);
        need_pointers(out);
        out->flags = 0;
        if (!module->unresolved.empty())
            out->flags |= ZE_MODULE_PROPERTY_FLAG_IMPORTS;
    });
}
