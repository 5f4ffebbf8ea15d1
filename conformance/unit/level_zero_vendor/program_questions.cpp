// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "questions.hpp"

#include <array>
#include <cstddef>
#include <span>

/// The suite's programs in SPIR-V (pi_suite_programs).
namespace pi::suite {
extern const unsigned char embedded_kernels[], embedded_broken[];
extern const std::size_t embedded_kernels_size, embedded_broken_size;
} // namespace pi::suite

namespace level_zero_vendor_test {

namespace {

std::span<const unsigned char> kernels() {
    return {pi::suite::embedded_kernels, pi::suite::embedded_kernels_size};
}

/// A module, without a log: Debian's loader does not wrap one of a module that failed, where there are two drivers.
struct Module {
    Module(const Driver &driver, ze_module_format_t format, const void *bytes, size_t size) {
        const ze_module_desc_t description{
            ZE_STRUCTURE_TYPE_MODULE_DESC,       nullptr, format, size,
            static_cast<const uint8_t *>(bytes), nullptr, nullptr};
        result = zeModuleCreate(driver.context, driver.device, &description, &handle, nullptr);
    }
    Module(const Driver &driver, std::span<const unsigned char> bytes)
        : Module(driver, ZE_MODULE_FORMAT_IL_SPIRV, bytes.data(), bytes.size()) {}
    Module(const Module &) = delete;
    ~Module() {
        if (result == ZE_RESULT_SUCCESS) {
            zeModuleDestroy(handle);
        }
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

uint32_t arguments_of(const Driver &driver, const char *name) {
    const Kernel kernel(driver, name);
    ze_kernel_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    zeKernelGetProperties(kernel.handle, &properties);
    return properties.numKernelArgs;
}

} // namespace

const std::vector<Question> &program_questions() {
    static const std::vector<Question> questions{
        {"the suite's kernels in SPIR-V",
         [](const Driver &driver) { return name_of(Module(driver, kernels()).result); }},
        {"a module whose function nobody has",
         [](const Driver &driver) {
             return name_of(
                 Module(driver, {pi::suite::embedded_broken, pi::suite::embedded_broken_size})
                     .result);
         },
         "the vendor's fails when the module is linked, ours at once"},
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
    return questions;
}

} // namespace level_zero_vendor_test
