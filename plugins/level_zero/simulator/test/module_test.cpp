// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"
#include "skip.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstring>

using namespace pi_level_zero_test;

namespace {

template <class T>
ze_result_t set(ze_kernel_handle_t kernel, unsigned index, const T &value) {
    return zeKernelSetArgumentValue(kernel, index, sizeof value, &value);
}

std::vector<std::uint32_t> words(const List &list, const Memory &memory, size_t count) {
    const std::vector<std::uint8_t> bytes = read(list, memory.address, count * 4);
    std::vector<std::uint32_t> numbers(count);
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
}

/// SPIR-V of "count_up(global uint *, uint)", without a body.
std::string spirv() {
    const std::uint32_t module[] = {0x07230203,
                                    0x00010200,
                                    0,
                                    20,
                                    0,
                                    6 << 16 | 15, // entry point: kernel, function 10
                                    6,
                                    10,
                                    0x6e756f63,
                                    0x70755f74,
                                    0,
                                    4 << 16 | 21, // 1: int of 32 bits
                                    1,
                                    32,
                                    0,
                                    2 << 16 | 19, // 2: void
                                    2,
                                    4 << 16 | 32, // 3: pointer to global 1
                                    3,
                                    5,
                                    1,
                                    5 << 16 | 33, // 4: function
                                    4,
                                    2,
                                    3,
                                    1,
                                    5 << 16 | 54,
                                    2,
                                    10,
                                    0,
                                    4,
                                    3 << 16 | 55,
                                    3,
                                    11,
                                    3 << 16 | 55,
                                    1,
                                    12,
                                    1 << 16 | 56};
    std::string bytes(sizeof module, '\0');
    std::memcpy(bytes.data(), module, sizeof module);
    return bytes;
}

void check_count_up(const Context &context, ze_module_handle_t module) {
    ze_kernel_handle_t kernel = nullptr;
    const ze_kernel_desc_t description{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "count_up"};
    REQUIRE(zeKernelCreate(module, &description, &kernel) == ZE_RESULT_SUCCESS);
    {
        const List list(context);
        const Memory memory(context, 40);
        CHECK(zeKernelSetGroupSize(kernel, 5, 1, 1) == ZE_RESULT_SUCCESS);
        CHECK(set(kernel, 0, memory.address) == ZE_RESULT_SUCCESS);
        CHECK(set(kernel, 1, 100u) == ZE_RESULT_SUCCESS);
        run(list, kernel, 2);
        CHECK(words(list, memory, 10)[9] == 109);
    }
    CHECK(zeKernelDestroy(kernel) == ZE_RESULT_SUCCESS);
}

/// The result of zeModuleCreate; a created module is destroyed again.
ze_result_t try_module(const Context &context, const ze_module_desc_t &description) {
    ze_module_handle_t module = nullptr;
    const ze_result_t result =
        zeModuleCreate(context, devices()[0], &description, &module, nullptr);
    if (result == ZE_RESULT_SUCCESS)
        CHECK(zeModuleDestroy(module) == ZE_RESULT_SUCCESS);
    return result;
}

} // namespace

TEST_CASE("A native image becomes a module whose kernels run on device memory") {
    const Context context;
    Module module(context, "function count_up pointer 4\nfunction meet pointer\n");
    check_count_up(context, module.handle);
    std::uint32_t count = 2;
    const char *names[2] = {};
    CHECK(zeModuleGetKernelNames(module.handle, &count, names) == ZE_RESULT_SUCCESS);
    CHECK(std::string(names[1]) == "meet");
    ze_kernel_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    CHECK(zeKernelGetProperties(module.kernel("count_up"), &properties) == ZE_RESULT_SUCCESS);
    CHECK(properties.numKernelArgs == 2);
    size_t size = 0;
    CHECK(zeKernelGetName(module.kernel("meet"), &size, nullptr) == ZE_RESULT_SUCCESS);
    CHECK(size == 5);
}

TEST_CASE("SPIR-V kernels run as the library's; the module's native binary is a module as well") {
    const Context context;
    ze_module_handle_t module = nullptr, copy = nullptr;
    std::string log;
    const ze_result_t result = build(context, ZE_MODULE_FORMAT_IL_SPIRV, spirv(), &module, &log);
    INFO(log);
    REQUIRE(result == ZE_RESULT_SUCCESS);
    check_count_up(context, module);
    size_t size = 0;
    CHECK(zeModuleGetNativeBinary(module, &size, nullptr) == ZE_RESULT_SUCCESS);
    std::vector<std::uint8_t> binary(size);
    CHECK(zeModuleGetNativeBinary(module, &size, binary.data()) == ZE_RESULT_SUCCESS);
    REQUIRE(build(context, ZE_MODULE_FORMAT_NATIVE, std::string(binary.begin(), binary.end()),
                  &copy) == ZE_RESULT_SUCCESS);
    check_count_up(context, copy);
    CHECK(zeModuleDestroy(module) == ZE_RESULT_SUCCESS);
    CHECK(zeModuleDestroy(copy) == ZE_RESULT_SUCCESS);
}

TEST_CASE("A failed build says why in its log") {
    const Context context;
    ze_module_handle_t module = nullptr;
    std::string log;
    // With two drivers the loader returns the driver's own handle of a failed build's log, and
    // crashes when it is read.
    const bool readable = drivers().size() == 1;
    const auto failing = [&](ze_module_format_t format, const std::string &bytes) {
        return build(context, format, bytes, &module, readable ? &log : nullptr);
    };
    const auto says = [&](const char *text) { return !readable || log == text; };
    CHECK(failing(ZE_MODULE_FORMAT_NATIVE, "\177ELF") == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    CHECK(failing(ZE_MODULE_FORMAT_NATIVE, image("function none pointer\n")) ==
          ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK(says("the library has no kernel 'none' with 1 arguments"));
    CHECK(failing(ZE_MODULE_FORMAT_NATIVE, image("function count_up pointer\n")) ==
          ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK(failing(ZE_MODULE_FORMAT_NATIVE, image("nonsense\n")) ==
          ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK(says("not understood: nonsense"));
    CHECK(failing(ZE_MODULE_FORMAT_IL_SPIRV, "no SPIR-V") == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK(says("error: the module is not SPIR-V"));
    CHECK(failing(ZE_MODULE_FORMAT_IL_SPIRV, spirv().substr(0, 28)) ==
          ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK(says("error: the SPIR-V is damaged"));
}

TEST_CASE("A module can be created from several in SPIR-V, and from no other format") {
    const Context context;
    const std::string text = spirv(), native = image("function meet pointer\n");
    const auto make = [&](ze_module_format_t format, std::vector<const std::string *> parts) {
        std::vector<std::size_t> sizes;
        std::vector<const std::uint8_t *> sources;
        for (const std::string *part : parts) {
            sizes.push_back(part->size());
            sources.push_back(reinterpret_cast<const std::uint8_t *>(part->data()));
        }
        ze_module_program_exp_desc_t program{};
        program.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC;
        program.count = static_cast<std::uint32_t>(parts.size());
        program.inputSizes = sizes.data();
        program.pInputModules = sources.data();
        ze_module_desc_t description{};
        description.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
        description.pNext = &program;
        description.format = format;
        description.inputSize = native.size(); // ignored
        description.pInputModule = reinterpret_cast<const std::uint8_t *>(native.data());
        return try_module(context, description);
    };
    CHECK(make(ZE_MODULE_FORMAT_IL_SPIRV, {&text}) == ZE_RESULT_SUCCESS);
    CHECK(make(ZE_MODULE_FORMAT_IL_SPIRV, {&text, &native}) ==
          ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    CHECK(make(ZE_MODULE_FORMAT_NATIVE, {&native}) == ZE_RESULT_ERROR_INVALID_ENUMERATION);
    CHECK(make(ZE_MODULE_FORMAT_IL_SPIRV, {}) == ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_CASE("Only Level Zero's options are accepted") {
    const Context context;
    const std::string bytes = image("function meet pointer\n");
    const auto with = [&](const char *flags) {
        const ze_module_desc_t description{ZE_STRUCTURE_TYPE_MODULE_DESC,
                                           nullptr,
                                           ZE_MODULE_FORMAT_NATIVE,
                                           bytes.size(),
                                           reinterpret_cast<const std::uint8_t *>(bytes.data()),
                                           flags,
                                           nullptr};
        return try_module(context, description);
    };
    CHECK(with("-ze-opt-disable -ze-opt-level 2 -g") == ZE_RESULT_SUCCESS);
    CHECK(with("-cl-fast-relaxed-math") == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
}

TEST_CASE("Unknown names, parameters, sizes, groups and devices of kernels are refused") {
    const Context context;
    const List list(context), right(context, 1), copies(context, 0, 1);
    Module module(context, "function count_up pointer 4\n");
    ze_kernel_handle_t kernel = nullptr;
    const ze_kernel_desc_t unknown{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "none"};
    CHECK(zeKernelCreate(module.handle, &unknown, &kernel) == ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    kernel = module.kernel("count_up");
    const ze_group_count_t one{1, 1, 1};
    const auto launch = [&](ze_command_list_handle_t where) {
        return zeCommandListAppendLaunchKernel(where, kernel, &one, nullptr, 0, nullptr);
    };
    CHECK(launch(list) == ZE_RESULT_ERROR_INVALID_ARGUMENT); // no argument is set
    CHECK(set(kernel, 2, 1u) == ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    CHECK(set(kernel, 1, std::uint64_t(1)) == ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    CHECK(set(kernel, 1, 1u) == ZE_RESULT_SUCCESS);
    CHECK(set(kernel, 0, static_cast<void *>(nullptr)) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), nullptr) == ZE_RESULT_SUCCESS);
    std::uint32_t plain = 0;
    CHECK(set(kernel, 0, &plain) == ZE_RESULT_SUCCESS);
    CHECK(launch(list) == ZE_RESULT_ERROR_INVALID_ARGUMENT); // not memory of the driver
    const Memory memory(context, 4);
    CHECK(set(kernel, 0, memory.address) == ZE_RESULT_SUCCESS);
    CHECK(launch(right) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(launch(copies) == ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    CHECK(zeKernelSetGroupSize(kernel, 1025, 1, 1) == ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    CHECK(zeKernelSetGroupSize(kernel, 0, 1, 1) == ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    CHECK(zeModuleDestroy(module.handle) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK(launch(list) == ZE_RESULT_SUCCESS);
    list.finish();
}

TEST_CASE("A function has only the group and sub-group sizes that it requires") {
    const Context context;
    Module module(context, "function count_up pointer 4\n"
                           "group count_up 4 2 1\n"
                           "sub_group count_up 16\n");
    const ze_kernel_handle_t kernel = module.kernel("count_up");
    ze_kernel_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    CHECK(zeKernelGetProperties(kernel, &properties) == ZE_RESULT_SUCCESS);
    CHECK(properties.requiredGroupSizeX == 4);
    CHECK(properties.requiredGroupSizeY == 2);
    CHECK(properties.requiredGroupSizeZ == 1);
    CHECK(properties.requiredSubgroupSize == 16);
    CHECK(properties.maxSubgroupSize == 16);
    std::uint32_t x = 0, y = 0, z = 0;
    CHECK(zeKernelSuggestGroupSize(kernel, 300, 7, 2, &x, &y, &z) == ZE_RESULT_SUCCESS);
    CHECK(std::array{x, y, z} == std::array<std::uint32_t, 3>{4, 2, 1});
    CHECK(zeKernelSetGroupSize(kernel, 4, 2, 1) == ZE_RESULT_SUCCESS);
    CHECK(zeKernelSetGroupSize(kernel, 4, 1, 1) == ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
}

TEST_CASE("Suggested groups divide the range") {
    const Context context;
    Module module(context, "function count_up pointer 4\n");
    const ze_kernel_handle_t kernel = module.kernel("count_up");
    std::uint32_t x = 0, y = 0, z = 0;
    CHECK(zeKernelSuggestGroupSize(kernel, 300, 7, 2, &x, &y, &z) == ZE_RESULT_SUCCESS);
    CHECK(x == 150);
    CHECK(y == 1);
    CHECK(z == 1);
}

TEST_CASE("A launch uses the arguments, sizes and offsets at the time of its append") {
    const Context context;
    const List list(context);
    const Events events(context, 1);
    Module module(context, "function count_up pointer 4\n");
    const ze_kernel_handle_t kernel = module.kernel("count_up");
    const Memory first(context, 16), second(context, 16);
    ze_event_handle_t go = events[0];
    const ze_group_count_t four{4, 1, 1};
    CHECK(set(kernel, 0, first.address) == ZE_RESULT_SUCCESS);
    CHECK(set(kernel, 1, 10u) == ZE_RESULT_SUCCESS);
    CHECK(zeCommandListAppendLaunchKernel(list, kernel, &four, nullptr, 1, &go) ==
          ZE_RESULT_SUCCESS);
    CHECK(zeKernelDestroy(kernel) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    CHECK(set(kernel, 0, second.address) == ZE_RESULT_SUCCESS);
    CHECK(set(kernel, 1, 20u) == ZE_RESULT_SUCCESS);
    CHECK(zeKernelSetGlobalOffsetExp(kernel, 2, 0, 0) == ZE_RESULT_SUCCESS);
    const ze_group_count_t two{2, 1, 1};
    CHECK(zeCommandListAppendLaunchKernel(list, kernel, &two, nullptr, 1, &go) ==
          ZE_RESULT_SUCCESS);
    CHECK(zeEventHostSignal(go) == ZE_RESULT_SUCCESS);
    list.finish();
    CHECK(words(list, first, 4) == std::vector<std::uint32_t>{10, 11, 12, 13});
    CHECK(words(list, second, 4) == std::vector<std::uint32_t>{0xcbcbcbcb, 0xcbcbcbcb, 22, 23});
    const Memory count(context, sizeof four, Kind::shared);
    *count.as<ze_group_count_t>() = {1, 1, 1};
    CHECK(set(kernel, 1, 30u) == ZE_RESULT_SUCCESS);
    CHECK(zeKernelSetGlobalOffsetExp(kernel, 0, 0, 0) == ZE_RESULT_SUCCESS);
    CHECK(zeCommandListAppendLaunchKernelIndirect(list, kernel, count.as<ze_group_count_t>(),
                                                  nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
    CHECK(words(list, second, 3) == std::vector<std::uint32_t>{30, 0xcbcbcbcb, 22});
}

TEST_CASE("Local memory is each group's own, and poisoned") {
    const Context context;
    const List list(context);
    Module module(context, "function look_at_local pointer local\n");
    const ze_kernel_handle_t kernel = module.kernel("look_at_local");
    const Memory memory(context, 8);
    CHECK(set(kernel, 0, memory.address) == ZE_RESULT_SUCCESS);
    CHECK(zeKernelSetArgumentValue(kernel, 1, 65 * 1024, nullptr) ==
          ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    CHECK(zeKernelSetArgumentValue(kernel, 1, 100, nullptr) == ZE_RESULT_SUCCESS);
    run(list, kernel, 8);
    CHECK(read(list, memory.address, 8) == std::vector<std::uint8_t>(8, 0xcb));
}

TEST_CASE("Groups of a cooperative launch run concurrently, as many as fit on the device") {
    const Context context;
    const List list(context);
    Module module(context, "function meet pointer\n");
    const ze_kernel_handle_t kernel = module.kernel("meet");
    const Memory arrived(context, 4, Kind::shared);
    *arrived.as<std::uint32_t>() = 0;
    CHECK(set(kernel, 0, arrived.address) == ZE_RESULT_SUCCESS);
    std::uint32_t most = 0;
    CHECK(zeKernelSuggestMaxCooperativeGroupCount(kernel, &most) == ZE_RESULT_SUCCESS);
    ze_group_count_t groups{most + 1, 1, 1};
    CHECK(zeCommandListAppendLaunchCooperativeKernel(list, kernel, &groups, nullptr, 0, nullptr) ==
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    groups.groupCountX = 3;
    CHECK(zeCommandListAppendLaunchCooperativeKernel(list, kernel, &groups, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
    list.finish();
    CHECK(*arrived.as<std::uint32_t>() == 3);
}

TEST_CASE("A kernel follows addresses only to the kinds of memory of its indirect access") {
    const Context context;
    const List list(context);
    Module module(context, "function follow addresses pointer\n");
    const ze_kernel_handle_t kernel = module.kernel("follow");
    const Memory table(context, 8, Kind::shared), number(context, 4, Kind::shared),
        out(context, 4, Kind::shared);
    *number.as<std::uint32_t>() = 77;
    // Memory that another parameter names, or the memory itself, needs no flag.
    *table.as<void *>() = out.address;
    *out.as<std::uint32_t>() = 66;
    CHECK(set(kernel, 0, table.address) == ZE_RESULT_SUCCESS);
    CHECK(set(kernel, 1, out.address) == ZE_RESULT_SUCCESS);
    run(list, kernel);
    CHECK(*out.as<std::uint32_t>() == 66);
    *table.as<void *>() = number.address;
    CHECK(set(kernel, 0, table.address) == ZE_RESULT_SUCCESS);
    CHECK(set(kernel, 1, out.address) == ZE_RESULT_SUCCESS);
    CHECK(zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED) ==
          ZE_RESULT_SUCCESS);
    run(list, kernel);
    CHECK(*out.as<std::uint32_t>() == 77);
    ze_kernel_indirect_access_flags_t flags = 0;
    CHECK(zeKernelGetIndirectAccess(kernel, &flags) == ZE_RESULT_SUCCESS);
    CHECK(flags == ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED);
}

TEST_CASE("Each module has its own variables, at device addresses") {
    const Context context;
    const List list(context);
    Module first(context, "function read_state pointer\nvariable counter 16\n"),
        second(context, "function read_state pointer\n");
    void *address = nullptr;
    size_t size = 0;
    CHECK(zeModuleGetGlobalPointer(first.handle, "none", &size, &address) ==
          ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
    REQUIRE(zeModuleGetGlobalPointer(first.handle, "counter", &size, &address) ==
            ZE_RESULT_SUCCESS);
    CHECK(size == 16);
    CHECK(zeMemFree(context, address) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    const std::uint32_t value = 50;
    CHECK(zeCommandListAppendMemoryCopy(list, address, &value, 4, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
    list.finish();
    const Memory out(context, 16);
    for (Module *module : {&first, &second}) {
        const ze_kernel_handle_t kernel = module->kernel("read_state");
        CHECK(set(kernel, 0, out.address) == ZE_RESULT_SUCCESS);
        run(list, kernel);
        CHECK(words(list, out, 1)[0] == (module == &first ? 50 : 1));
    }
    CHECK(read(list, address, 1)[0] == 51);
}

TEST_CASE("Modules are linked: kernels of a module with imports are created after that") {
    if (drivers().size() > 1) {
        pi_test::skip(
            "with two drivers the loader takes the array of modules for one of them, and dies");
        return;
    }
    const Context context;
    const List list(context);
    Module user(context, "function read_state pointer\nimport area compute_area\n"),
        other(context, "export area\n");
    ze_module_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES;
    CHECK(zeModuleGetProperties(user.handle, &properties) == ZE_RESULT_SUCCESS);
    CHECK(properties.flags == ZE_MODULE_PROPERTY_FLAG_IMPORTS);
    ze_kernel_handle_t kernel = nullptr;
    const ze_kernel_desc_t description{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "read_state"};
    CHECK(zeKernelCreate(user.handle, &description, &kernel) ==
          ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
    ze_module_handle_t both[2] = {user.handle, other.handle};
    ze_module_build_log_handle_t log = nullptr;
    CHECK(zeModuleDynamicLink(1, both, &log) == ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
    char text[100] = {};
    size_t size = sizeof text;
    CHECK(zeModuleBuildLogGetString(log, &size, text) == ZE_RESULT_SUCCESS);
    CHECK(std::string(text) == "undefined reference to 'area'\n");
    CHECK(zeModuleBuildLogDestroy(log) == ZE_RESULT_SUCCESS);
    CHECK(zeModuleDynamicLink(2, both, nullptr) == ZE_RESULT_SUCCESS);
    void *function = nullptr;
    CHECK(zeModuleGetFunctionPointer(other.handle, "area", &function) == ZE_RESULT_SUCCESS);
    CHECK(zeModuleGetFunctionPointer(user.handle, "area", &function) ==
          ZE_RESULT_ERROR_INVALID_FUNCTION_NAME);
    kernel = user.kernel("read_state");
    const Memory out(context, 16);
    CHECK(set(kernel, 0, out.address) == ZE_RESULT_SUCCESS);
    run(list, kernel);
    CHECK(words(list, out, 4)[3] == 12);
}

TEST_CASE("Specialization constants have the module's values, or their defaults") {
    const Context context;
    const List list(context);
    const Memory out(context, 16);
    const std::uint32_t ids[] = {7, 8, 9};
    const std::uint32_t seven = 700;
    const std::uint8_t eight = 80;
    const void *values[] = {&seven, &eight, &seven};
    for (const std::uint32_t count : {0, 1, 3}) {
        CAPTURE(count);
        const ze_module_constants_t constants{count, ids, values};
        ze_module_handle_t module = nullptr;
        REQUIRE(build(context, ZE_MODULE_FORMAT_NATIVE, image("function read_state pointer\n"),
                      &module, nullptr, &constants) == ZE_RESULT_SUCCESS);
        ze_kernel_handle_t kernel = nullptr;
        const ze_kernel_desc_t description{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "read_state"};
        REQUIRE(zeKernelCreate(module, &description, &kernel) == ZE_RESULT_SUCCESS);
        CHECK(set(kernel, 0, out.address) == ZE_RESULT_SUCCESS);
        run(list, kernel);
        CHECK(words(list, out, 3)[1] == (count > 0 ? 700 : 70));
        CHECK(words(list, out, 3)[2] == (count > 1 ? 80 : 8));
        size_t size = 0;
        CHECK(zeModuleGetNativeBinary(module, &size, nullptr) == ZE_RESULT_SUCCESS);
        std::string binary(size, '\0');
        CHECK(zeModuleGetNativeBinary(module, &size,
                                      reinterpret_cast<std::uint8_t *>(binary.data())) ==
              ZE_RESULT_SUCCESS);
        CHECK((binary.find("constant specialization_7 700\n") != binary.npos) == (count > 0));
        CHECK(zeKernelDestroy(kernel) == ZE_RESULT_SUCCESS);
        CHECK(zeModuleDestroy(module) == ZE_RESULT_SUCCESS);
    }
}
