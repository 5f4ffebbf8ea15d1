// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "module.hpp"
#include "driver.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace pi::cuda::simulated {

namespace {

std::shared_ptr<Function> make_function(const std::shared_ptr<Module> &module,
                                        const pi_native_program &program, const std::string &name,
                                        const std::vector<Parameter> &parameters) {
    const pi_native_kernel *const end = program.kernels + program.kernel_count;
    const pi_native_kernel *const kernel =
        std::find_if(program.kernels, end, [&](const auto &k) { return name == k.name; });
    if (kernel == end || kernel->argument_count != parameters.size())
        throw WrongImage{CUDA_ERROR_INVALID_IMAGE,
                         "the library has no kernel '" + name + "' with " +
                             std::to_string(parameters.size()) + " arguments"};
    auto function = std::make_shared<Function>();
    function->name = name;
    function->native = kernel->function;
    function->parameters = parameters;
    function->module = module;
    function->context = module->context;
    function->libraries = module->libraries;
    return function;
}

/// The address of a variable or exported function in the library.
void *find(const Library &library, const std::string &name) {
    void *const found = library.symbol(name.c_str());
    if (!found)
        throw WrongImage{CUDA_ERROR_INVALID_IMAGE, "the library has no '" + name + "'"};
    return found;
}

/// The variable's bytes are in the library; the address that callers get is without access, like
/// all device memory.
std::shared_ptr<Allocation> make_variable(const Module &module, void *bytes, size_t size) {
    auto memory = std::make_shared<Allocation>();
    memory->kind = Kind::variable;
    memory->size = size;
    memory->bytes = static_cast<char *>(bytes);
    memory->owner = module.libraries;
    memory->context = module.context;
    memory->address = reinterpret_cast<CUdeviceptr>(MmapRegion(size, true).release());
    return memory;
}

/// Adds the library's contents, as the image lists them, to the module.
void add_part(const std::shared_ptr<Module> &module, const Part &part, const Library &library) {
    using Entry = const pi_native_program *(*)();
    const auto entry = reinterpret_cast<Entry>(library.symbol("piNativeProgram"));
    if (!entry && !part.functions.empty())
        throw WrongImage{CUDA_ERROR_INVALID_IMAGE, part.library + " exports no piNativeProgram"};
    for (const auto &[name, parameters] : part.functions)
        module->functions.push_back(make_function(module, *entry(), name, parameters));
    for (const auto &[name, size] : part.variables) {
        if (size == 0)
            throw WrongImage{CUDA_ERROR_INVALID_IMAGE,
                             "the variable '" + name + "' has a size of 0"};
        module->variables[name] = make_variable(*module, find(library, name), size);
    }
    for (const auto &[name, value] : part.constants) {
        find(library, name);
        library.set(name.c_str(), value);
    }
}

/// Passes each library the addresses of the functions that it imports.
void connect(const Image &image, const Libraries &libraries) {
    for (size_t to = 0; to < image.size(); ++to)
        for (const auto &[name, pointer] : image[to].imports)
            for (size_t from = 0; from < image.size(); ++from)
                if (const auto &exports = image[from].exports;
                    std::find(exports.begin(), exports.end(), name) != exports.end()) {
                    void *const address = find(*libraries[from], name);
                    std::memcpy(find(*libraries[to], pointer), &address, sizeof address);
                }
}

std::shared_ptr<Module> load(const std::shared_ptr<Context> &context, const std::string &text) {
    const Image image = read_image(text);
    link_images({text}, CUDA_ERROR_INVALID_PTX);
    auto module = std::make_shared<Module>();
    module->context = context;
    auto libraries = std::make_shared<Libraries>();
    try {
        for (const Part &part : image)
            libraries->push_back(std::make_shared<Library>(part.library));
    } catch (const std::runtime_error &error) {
        throw WrongImage{CUDA_ERROR_INVALID_IMAGE, error.what()};
    }
    module->libraries = libraries;
    for (size_t i = 0; i < image.size(); ++i)
        add_part(module, image[i], *(*libraries)[i]);
    connect(image, *libraries);
    for (const auto &function : module->functions)
        driver().functions.add(function);
    for (const auto &[name, memory] : module->variables)
        remember(memory);
    return module;
}

std::shared_ptr<Module> module_of(CUmodule handle) {
    std::shared_ptr<Module> module = driver().modules.find(handle);
    need(module != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return module;
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned int count,
                            CUjit_option *options, void **values) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(out && image && (count == 0 || (options && values)), CUDA_ERROR_INVALID_VALUE);
        Log log(count, options, values);
        try {
            const Device &device = *context->device;
            const int capability =
                attribute_of(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                attribute_of(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
            *out = driver().modules.add(load(context, translate(text_of(image, capability))));
        } catch (const WrongImage &wrong) {
            log.write(wrong.log);
            return wrong.code;
        }
        log.write("");
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleLoadData(CUmodule *out, const void *image) {
    return cuModuleLoadDataEx(out, image, 0, nullptr, nullptr);
}

CUresult cuModuleUnload(CUmodule handle) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &lock) {
        const std::shared_ptr<Module> module = module_of(handle);
        driver().wait(lock, work_of(*module->context));
        for (const auto &function : module->functions)
            driver().functions.erase(function->handle);
        for (const auto &[name, memory] : module->variables)
            forget(*memory);
        driver().modules.erase(handle);
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Module> module = module_of(handle);
        need(out && name && *name, CUDA_ERROR_INVALID_VALUE);
        for (const auto &function : module->functions)
            if (function->name == name) {
                *out = function->handle;
                return CUDA_SUCCESS;
            }
        return CUDA_ERROR_NOT_FOUND;
    });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule handle,
                              const char *name) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Module> module = module_of(handle);
        need(name && *name, CUDA_ERROR_INVALID_VALUE);
        const auto found = module->variables.find(name);
        need(found != module->variables.end(), CUDA_ERROR_NOT_FOUND);
        if (address)
            *address = found->second->address;
        if (size)
            *size = found->second->size;
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule handle) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        need(count, CUDA_ERROR_INVALID_VALUE);
        *count = static_cast<unsigned>(module_of(handle)->functions.size());
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned int count, CUmodule handle) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Module> module = module_of(handle);
        need(out, CUDA_ERROR_INVALID_VALUE);
        for (size_t i = 0; i < std::min<size_t>(count, module->functions.size()); ++i)
            out[i] = module->functions[i]->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

} // namespace pi::cuda
