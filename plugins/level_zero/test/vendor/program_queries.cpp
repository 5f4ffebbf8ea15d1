// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queries.hpp"

#include <array>
#include <cstddef>
#include <span>

/// The suite's programs in SPIR-V (pi_suite_programs).
namespace pi::suite {
extern const unsigned char embedded_kernels[], embedded_broken[], embedded_caller[],
    embedded_callee[];
extern const std::size_t embedded_kernels_size, embedded_broken_size, embedded_caller_size,
    embedded_callee_size;
} // namespace pi::suite

namespace level_zero_vendor_test {

namespace {

std::span<const unsigned char> kernels() {
    return {pi::suite::embedded_kernels, pi::suite::embedded_kernels_size};
}

/// A module, without a log: with two drivers, Debian's loader does not wrap the log of a failed
/// module.
struct Module {
    Module(const Driver &driver, ze_module_format_t format, const void *bytes, size_t size) {
        const ze_module_desc_t description{
            ZE_STRUCTURE_TYPE_MODULE_DESC,       nullptr, format, size,
            static_cast<const uint8_t *>(bytes), nullptr, nullptr};
        result = zeModuleCreate(driver.context, driver.device, &description, &handle, nullptr);
    }
    Module(const Driver &driver, std::span<const unsigned char> bytes)
        : Module(driver, ZE_MODULE_FORMAT_IL_SPIRV, bytes.data(), bytes.size()) {}
    /// From parts in SPIR-V, each with its constants, which may be NULL.
    Module(const Driver &driver, const std::vector<std::span<const unsigned char>> &parts,
           const std::vector<const ze_module_constants_t *> &constants) {
        std::vector<size_t> sizes;
        std::vector<const uint8_t *> sources;
        const std::vector<const char *> options(parts.size(), "");
        for (const auto part : parts) {
            sizes.push_back(part.size());
            sources.push_back(part.data());
        }
        ze_module_program_exp_desc_t program{};
        program.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC;
        program.count = static_cast<uint32_t>(parts.size());
        program.inputSizes = sizes.data();
        program.pInputModules = sources.data();
        program.pBuildFlags = const_cast<const char **>(options.data());
        program.pConstants = const_cast<const ze_module_constants_t **>(constants.data());
        const ze_module_desc_t description{ZE_STRUCTURE_TYPE_MODULE_DESC,
                                           &program,
                                           ZE_MODULE_FORMAT_IL_SPIRV,
                                           sizes.front(),
                                           sources.front(),
                                           nullptr,
                                           nullptr};
        result = zeModuleCreate(driver.context, driver.device, &description, &handle, nullptr);
    }
    Module(const Module &) = delete;
    ~Module() {
        if (result == ZE_RESULT_SUCCESS) {
            zeModuleDestroy(handle);
        }
    }
    /// Whether the module calls an undefined function, and the result of creating its kernel
    /// `change`.
    std::string missing_and_change() const {
        ze_module_properties_t properties{};
        properties.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES;
        zeModuleGetProperties(handle, &properties);
        const ze_kernel_desc_t description{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "change"};
        ze_kernel_handle_t kernel = nullptr;
        const ze_result_t made = zeKernelCreate(handle, &description, &kernel);
        if (made == ZE_RESULT_SUCCESS) {
            zeKernelDestroy(kernel);
        }
        return name_of(result) + (properties.flags ? ", imports, " : ", whole, ") +
               (made == ZE_RESULT_SUCCESS ? "a kernel" : "no kernel");
    }
    ze_module_handle_t handle = nullptr;
    ze_result_t result;
};

/// The suite's kernel of that name.
struct Kernel {
    Kernel(const Driver &driver, const char *name) : module(driver, kernels()) {
        const ze_kernel_desc_t description{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, name};
        result = zeKernelCreate(module.handle, &description, &handle);
    }
    Kernel(const Kernel &) = delete;
    ~Kernel() {
        if (result == ZE_RESULT_SUCCESS) {
            zeKernelDestroy(handle);
        }
    }
    Module module;
    ze_kernel_handle_t handle = nullptr;
    ze_result_t result;
};

std::span<const unsigned char> caller() {
    return {pi::suite::embedded_caller, pi::suite::embedded_caller_size};
}
std::span<const unsigned char> callee() {
    return {pi::suite::embedded_callee, pi::suite::embedded_callee_size};
}

uint32_t arguments_of(const Driver &driver, const char *name) {
    const Kernel kernel(driver, name);
    ze_kernel_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    zeKernelGetProperties(kernel.handle, &properties);
    return properties.numKernelArgs;
}

} // namespace

const std::vector<Query> &program_queries() {
    static const std::vector<Query> queries{
        {"the suite's kernels in SPIR-V",
         [](const Driver &driver) { return name_of(Module(driver, kernels()).result); }},
        {"a module whose function nobody has",
         [](const Driver &driver) {
             return name_of(
                 Module(driver, {pi::suite::embedded_broken, pi::suite::embedded_broken_size})
                     .result);
         }},
        {"one module of two parts in SPIR-V, in either order",
         [](const Driver &driver) {
             return Module(driver, {caller(), callee()}, {nullptr, nullptr}).missing_and_change() +
                    "; " +
                    Module(driver, {callee(), caller()}, {nullptr, nullptr}).missing_and_change();
         }},
        {"one module of two parts, one of which has a value for its specialization constant",
         [](const Driver &driver) {
             const uint32_t id = 1;
             const uint32_t factor = 7;
             const void *value = &factor;
             const ze_module_constants_t constants{1, &id, &value};
             return Module(driver, {caller(), callee()}, {nullptr, &constants})
                 .missing_and_change();
         }},
        {"a part in SPIR-V that calls another one, alone",
         [](const Driver &driver) { return Module(driver, caller()).missing_and_change(); }},
        {"a part in SPIR-V without kernels, alone",
         [](const Driver &driver) { return Module(driver, callee()).missing_and_change(); }},
        {"SPIR-V that ends too early",
         [](const Driver &driver) {
             return name_of(Module(driver, kernels().first(kernels().size() / 8 * 4)).result);
         },
         "the vendor's makes a module without kernels of it"},
        {"native code that is none",
         [](const Driver &driver) {
             const std::array<uint32_t, 8> words{1, 2, 3, 4, 5, 6, 7, 8};
             return name_of(
                 Module(driver, ZE_MODULE_FORMAT_NATIVE, words.data(), sizeof words).result);
         }},
        {"a kernel that there is, one that there is not, and none",
         [](const Driver &driver) {
             return names_of({Kernel(driver, "add").result, Kernel(driver, "subtract").result,
                              Kernel(driver, "").result});
         }},
        {"how many arguments kernels have",
         [](const Driver &driver) {
             std::string text;
             for (const char *name : {"add", "combine", "visit", "reverse"}) {
                 text += std::to_string(arguments_of(driver, name)) + " ";
             }
             return text;
         }},
        {"arguments: a null pointer, a value, local memory",
         [](const Driver &driver) {
             const Kernel add(driver, "add");
             const Kernel reverse(driver, "reverse");
             const void *null = nullptr;
             const uint32_t value = 3;
             return names_of({zeKernelSetArgumentValue(add.handle, 0, sizeof null, &null),
                              zeKernelSetArgumentValue(add.handle, 0, sizeof null, nullptr),
                              zeKernelSetArgumentValue(add.handle, 1, sizeof value, &value),
                              zeKernelSetArgumentValue(reverse.handle, 1, 64, nullptr)});
         }},
        {"an argument that there is not",
         [](const Driver &driver) {
             const Kernel add(driver, "add");
             const uint32_t value = 3;
             return name_of(zeKernelSetArgumentValue(add.handle, 7, sizeof value, &value));
         },
         as_specified},
        {"an argument with too many bytes",
         [](const Driver &driver) {
             const Kernel add(driver, "add");
             const std::array<uint32_t, 4> value{};
             return name_of(zeKernelSetArgumentValue(add.handle, 1, sizeof value, value.data()));
         },
         as_specified},
        {"groups of 8, of none, of a million",
         [](const Driver &driver) {
             const Kernel add(driver, "add");
             return names_of({zeKernelSetGroupSize(add.handle, 8, 1, 1),
                              zeKernelSetGroupSize(add.handle, 0, 1, 1),
                              zeKernelSetGroupSize(add.handle, 1 << 20, 1, 1)});
         },
         as_specified},
        {"a suggested size of groups for 1000 items",
         [](const Driver &driver) {
             const Kernel add(driver, "add");
             uint32_t x = 0;
             uint32_t y = 0;
             uint32_t z = 0;
             const ze_result_t result =
                 zeKernelSuggestGroupSize(add.handle, 1000, 1, 1, &x, &y, &z);
             return name_of(result) + (x != 0 && 1000 % x == 0 && y == 1 && z == 1
                                           ? ", groups that fit"
                                           : ", groups that do not fit");
         }},
        {"a variable and a function that there is not",
         [](const Driver &driver) {
             const Module module(driver, kernels());
             void *address = nullptr;
             size_t size = 0;
             return names_of({zeModuleGetGlobalPointer(module.handle, "nothing", &size, &address),
                              zeModuleGetFunctionPointer(module.handle, "nothing", &address)});
         },
         as_specified},
    };
    return queries;
}

} // namespace level_zero_vendor_test
