// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "module.hpp"
#include "driver.hpp"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sstream>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace pi::cuda::simulated {

Library::Library(const std::string &path) {
    // A copy under a name of its own: dlopen of the same file would give the same variables.
    const int original = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (original < 0 || fstat(original, &status) != 0) {
        if (original >= 0)
            close(original);
        throw std::runtime_error(path + ": cannot be read");
    }
    file_ = memfd_create("pi_simulated_cuda_module", MFD_CLOEXEC);
    off_t done = 0;
    while (file_ >= 0 && done < status.st_size &&
           sendfile(file_, original, &done, static_cast<size_t>(status.st_size - done)) > 0) {
    }
    close(original);
    const std::string copy = "/proc/self/fd/" + std::to_string(file_);
    handle_ = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) {
        const std::string why = dlerror();
        close(file_);
        throw std::runtime_error(path + ": " + why);
    }
}

Library::~Library() {
    dlclose(handle_);
    close(file_);
}

void *Library::symbol(const char *name) const {
    return dlsym(handle_, name);
}

namespace {

constexpr const char *magic = "PI simulated CUDA module 1\n";

/// Why an image is none of ours, with the code that the real driver has for it.
struct WrongImage {
    CUresult code;
    std::string log;
};

Parameter read_parameter(const std::string &word, size_t offset) {
    Parameter parameter;
    if (word == "pointer" || word == "addresses" || word == "shared") {
        parameter.pass = word == "pointer"     ? Pass::pointer
                         : word == "addresses" ? Pass::addresses
                                               : Pass::shared;
        parameter.size = 8;
    } else {
        parameter.size = std::strtoul(word.c_str(), nullptr, 10);
        if (parameter.size == 0 || parameter.size > 4096)
            throw WrongImage{CUDA_ERROR_INVALID_IMAGE,
                             "'" + word +
                                 "' is no parameter: pointer, addresses, shared, or a size"};
    }
    const bool power = (parameter.size & (parameter.size - 1)) == 0;
    const size_t alignment = power ? std::min<size_t>(parameter.size, 16) : 8;
    parameter.offset = (offset + alignment - 1) / alignment * alignment;
    return parameter;
}

/// The lines of an image; README.md has the format.
class Image {
public:
    explicit Image(const char *text) {
        std::istringstream lines(text + std::strlen(magic));
        for (std::string line; std::getline(lines, line);)
            read_line(line);
    }
    std::string library;
    std::vector<std::pair<std::string, std::vector<Parameter>>> functions;
    std::vector<std::pair<std::string, size_t>> variables;

private:
    void read_line(const std::string &line) {
        std::istringstream words(line);
        std::string kind, name;
        words >> kind;
        if (kind == "library") {
            std::getline(words >> std::ws, library);
        } else if (kind == "function" && words >> name) {
            std::vector<Parameter> parameters;
            for (std::string word; words >> word;) {
                const size_t offset =
                    parameters.empty() ? 0 : parameters.back().offset + parameters.back().size;
                parameters.push_back(read_parameter(word, offset));
            }
            functions.emplace_back(name, std::move(parameters));
        } else if (size_t size = 0; kind == "variable" && words >> name >> size) {
            variables.emplace_back(name, size);
        } else if (!kind.empty()) {
            throw WrongImage{CUDA_ERROR_INVALID_IMAGE, "not understood: " + line};
        }
    }
};

void check_kind(const char *image) {
    if (std::strncmp(image, magic, std::strlen(magic)) == 0)
        return;
    const unsigned char fat_binary[4] = {0x50, 0xed, 0x55, 0xba};
    if (std::memcmp(image,
                    "\x7f"
                    "ELF",
                    std::min<size_t>(4, std::strlen(image) + 1)) == 0)
        throw WrongImage{CUDA_ERROR_NO_BINARY_FOR_GPU,
                         "a simulated device runs no code of a real one: the image is a cubin"};
    if (std::memcmp(image, fat_binary, std::min<size_t>(4, std::strlen(image) + 1)) == 0)
        throw WrongImage{
            CUDA_ERROR_NO_BINARY_FOR_GPU,
            "a simulated device runs no code of a real one: the image is a fat binary"};
    if (std::strstr(image, ".version"))
        throw WrongImage{CUDA_ERROR_INVALID_PTX,
                         "a simulated device has no compiler for PTX; it takes native libraries"};
    throw WrongImage{CUDA_ERROR_INVALID_IMAGE, "the image is of no known form"};
}

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
    function->library = module->library;
    return function;
}

/// The bytes of a variable are the library's; the address that the caller gets is as unreachable as all device memory.
std::shared_ptr<Allocation> make_variable(const Module &module, const std::string &name,
                                          size_t size) {
    void *const bytes = module.library->symbol(name.c_str());
    if (!bytes || size == 0)
        throw WrongImage{CUDA_ERROR_INVALID_IMAGE, "the library has no variable '" + name + "'"};
    auto memory = std::make_shared<Allocation>();
    memory->kind = Kind::variable;
    memory->size = size;
    memory->bytes = static_cast<char *>(bytes);
    memory->owner = module.library;
    memory->context = module.context;
    memory->address = reinterpret_cast<CUdeviceptr>(Mapping(size, true).release());
    return memory;
}

std::shared_ptr<Module> load(const std::shared_ptr<Context> &context, const char *text) {
    check_kind(text);
    const Image image(text);
    auto module = std::make_shared<Module>();
    module->context = context;
    try {
        module->library = std::make_shared<Library>(image.library);
    } catch (const std::runtime_error &error) {
        throw WrongImage{CUDA_ERROR_INVALID_IMAGE, error.what()};
    }
    using Entry = const pi_native_program *(*)();
    const auto entry = reinterpret_cast<Entry>(module->library->symbol("piNativeProgram"));
    if (!entry && !image.functions.empty())
        throw WrongImage{CUDA_ERROR_INVALID_IMAGE, image.library + " exports no piNativeProgram"};
    for (const auto &[name, parameters] : image.functions)
        module->functions.push_back(make_function(module, *entry(), name, parameters));
    for (const auto &[name, size] : image.variables)
        module->variables[name] = make_variable(*module, name, size);
    for (const auto &function : module->functions)
        driver().functions.add(function);
    for (const auto &[name, memory] : module->variables)
        remember(memory);
    return module;
}

/// Where the caller wants the log of an error.
struct Log {
    char *buffer = nullptr;
    void **size = nullptr; ///< the option's value, the number itself
};

Log log_of(unsigned count, const CUjit_option *options, void **values) {
    Log log;
    for (unsigned i = 0; i < count; ++i) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            log.buffer = static_cast<char *>(values[i]);
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            log.size = &values[i];
    }
    return log;
}

void write_log(const Log &log, const std::string &text) {
    if (!log.size)
        return;
    const auto room = static_cast<size_t>(reinterpret_cast<std::uintptr_t>(*log.size));
    const size_t length = room == 0 ? 0 : std::min(room - 1, text.size());
    if (log.buffer && room > 0) {
        std::memcpy(log.buffer, text.data(), length);
        log.buffer[length] = 0;
    }
    *log.size = reinterpret_cast<void *>(length);
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
        const Log log = log_of(count, options, values);
        try {
            *out = driver().modules.add(load(context, static_cast<const char *>(image)));
        } catch (const WrongImage &wrong) {
            write_log(log, wrong.log);
            return wrong.code;
        }
        write_log(log, "");
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
        need(out && name, CUDA_ERROR_INVALID_VALUE);
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
        need(name, CUDA_ERROR_INVALID_VALUE);
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
