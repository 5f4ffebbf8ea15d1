// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"

#include "functions.hpp"
#include "info.hpp"
#include "native.hpp"

#include <pi/describe/descriptor.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

using namespace pi::unified_runtime;

namespace pi::unified_runtime {

using runtime::check;

namespace {

// ----- Formats ----------------------------------------------------------------------------------

bool begins_with(std::span<const uint8_t> bytes, std::initializer_list<uint8_t> magic) {
    return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

/// UR does not name the format of what it passes: SYCL's images are SPIR-V, PTX or binaries.
pi_program_format format_of(std::span<const uint8_t> bytes, pi_program_format otherwise) {
    if (begins_with(bytes, {0x03, 0x02, 0x23, 0x07}) ||
        begins_with(bytes, {0x07, 0x23, 0x02, 0x03})) {
        return PI_PROGRAM_FORMAT_SPIRV;
    }
    if (begins_with(bytes, {0x50, 0xed, 0x55, 0xba}) ||
        begins_with(bytes, {0xb1, 0x43, 0x62, 0x46})) {
        return PI_PROGRAM_FORMAT_CUBIN; // a fat binary, and its wrapper
    }
    constexpr std::string_view word = ".version";
    const auto head = bytes.first(std::min<size_t>(bytes.size(), 4096));
    const bool is_text = std::find(head.begin(), head.end(), 0) == head.end();
    const bool has_word =
        std::search(head.begin(), head.end(), word.begin(), word.end()) != head.end();
    return is_text && has_word ? pi_program_format{PI_PROGRAM_FORMAT_PTX} : otherwise;
}

pi_program_desc desc_of(std::span<const uint8_t> bytes, pi_program_format otherwise) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = format_of(bytes, otherwise);
    desc.data = bytes.data();
    desc.size = bytes.size();
    return desc;
}

void check_properties(const ur_program_properties_t *properties) {
    if (properties == nullptr) {
        return;
    }
    if (properties->count > 0) {
        needed(properties->pMetadatas);
    } else {
        refuse_if(properties->pMetadatas != nullptr, UR_RESULT_ERROR_INVALID_SIZE,
                  "program: 0 metadata entries");
    }
}

void check_not_empty(size_t count, const char *what) {
    if (count == 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_SIZE, std::string("program: no ") + what);
    }
}

// ----- Building ---------------------------------------------------------------------------------

void check_flags(ur_exp_program_flags_t flags) {
    refuse_if((flags & UR_EXP_PROGRAM_FLAGS_MASK) != 0, UR_RESULT_ERROR_INVALID_ENUMERATION,
              "program: unknown flags");
    refuse_if(flags != 0, UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
              "program: symbols cannot stay unresolved");
}

std::vector<pi_device> devices_of(uint32_t count, const ur_device_handle_t *devices) {
    std::vector<pi_device> list;
    for (uint32_t i = 0; i < count; ++i) {
        list.push_back(deref(devices[i]).device);
    }
    return list;
}

void check_context(ur_context_handle_t context, const ur_program_handle_t_ &program) {
    refuse_if(&deref(context) != program.context.get(), UR_RESULT_ERROR_INVALID_CONTEXT,
              "program: it is of another context");
}

ur_program_handle_t link(ur_context_handle_t context, std::span<const ur_program_handle_t> programs,
                         std::span<const pi_device> devices, const char *options) {
    check_not_empty(programs.size(), "programs to link");
    std::vector<std::shared_ptr<facade::Program>> inputs;
    for (const ur_program_handle_t program : programs) {
        check_context(context, deref(program));
        inputs.push_back(program->core);
    }
    auto linked = with_codes({{PI_ERROR_BUILD_FAILED, UR_RESULT_ERROR_PROGRAM_LINK_FAILURE}}, [&] {
        return facade::Program::link(deref(context).core, inputs, devices, options);
    });
    auto program = std::make_unique<ur_program_handle_t_>(context, std::move(linked));
    if (!devices.empty()) {
        program->devices.clear();
        for (const pi_device device : devices) {
            program->devices.push_back(&context->device_of(device));
        }
    }
    return program.release();
}

// ----- Infos ------------------------------------------------------------------------------------

/// The first part that has a built program.
pi_program built_part(const ur_program_handle_t_ &program) {
    const auto built = program.core->built_devices();
    refuse_if(built.empty(), UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE,
              "the program is not built");
    return program.core->at(built.front());
}

std::string kernel_names(const ur_program_handle_t_ &program) {
    const pi_program part = built_part(program);
    uint64_t size = 0;
    if (piProgramGetInfo(part, PI_PROGRAM_INFO_KERNEL_NAMES, 0, nullptr, &size) != PI_SUCCESS) {
        unknown_info(UR_PROGRAM_INFO_KERNEL_NAMES);
    }
    return pi_info_text<piProgramGetInfo>(part, PI_PROGRAM_INFO_KERNEL_NAMES);
}

size_t count_names(std::string_view names) {
    return names.empty() ? 0 : static_cast<size_t>(std::count(names.begin(), names.end(), ';')) + 1;
}

/// What the parts of a program answer about their binaries, for each of the program's devices.
class Binaries {
public:
    explicit Binaries(const ur_program_handle_t_ &program) : program_(program) {
        sizes.resize(program.devices.size());
        if (!program.binaries.empty()) {
            std::transform(program.binaries.begin(), program.binaries.end(), sizes.begin(),
                           [](const auto &binary) { return binary.size(); });
            return;
        }
        for_each_part([&](pi_program, std::span<const pi_device> devices,
                          std::span<const uint64_t> part_sizes) {
            for (size_t i = 0; i < devices.size(); ++i) {
                if (const auto at = position(devices[i])) {
                    sizes[*at] = part_sizes[i];
                }
            }
        });
    }

    /// A target may be NULL.
    void write(uint8_t *const *targets) const {
        for (size_t i = 0; i < program_.binaries.size(); ++i) {
            if (targets[i] != nullptr) {
                std::memcpy(targets[i], program_.binaries[i].data(), program_.binaries[i].size());
            }
        }
        if (!program_.binaries.empty()) {
            return;
        }
        for_each_part(
            [&](pi_program part, std::span<const pi_device> devices, std::span<const uint64_t>) {
                std::vector<uint8_t *> part_targets;
                for (const pi_device device : devices) {
                    const auto at = position(device);
                    part_targets.push_back(at ? targets[*at] : nullptr);
                }
                check(piProgramGetInfo(part, PI_PROGRAM_INFO_BINARIES,
                                       part_targets.size() * sizeof(uint8_t *), part_targets.data(),
                                       nullptr),
                      "piProgramGetInfo(BINARIES)");
            });
    }

    std::vector<size_t> sizes;

private:
    std::optional<size_t> position(pi_device device) const {
        const auto &all = program_.devices;
        const auto found = std::find_if(
            all.begin(), all.end(), [device](const auto each) { return each->device == device; });
        return found == all.end() ? std::nullopt : std::optional(size_t(found - all.begin()));
    }
    template <class Use>
    void for_each_part(Use use) const {
        for (const auto &entry : program_.core->parts().entries()) {
            const pi_program part = entry.handle.get();
            if (part == nullptr) {
                continue;
            }
            const auto devices =
                pi_info_list<pi_device, piProgramGetInfo>(part, PI_PROGRAM_INFO_DEVICES);
            const auto part_sizes =
                pi_info_list<uint64_t, piProgramGetInfo>(part, PI_PROGRAM_INFO_BINARY_SIZES);
            if (devices.size() == part_sizes.size()) { // not so before a build
                use(part, devices, part_sizes);
            }
        }
    }

    const ur_program_handle_t_ &program_;
};

/// The value is an array of pointers, to which the bytes go.
void write_binaries(const ur_program_handle_t_ &program, size_t size, void *value,
                    size_t *out_size) {
    const size_t needed_size = program.devices.size() * sizeof(uint8_t *);
    if (value != nullptr) {
        if (size < needed_size) {
            throw Refusal(UR_RESULT_ERROR_INVALID_SIZE,
                          "urProgramGetInfo: the program has binaries for " +
                              std::to_string(program.devices.size()) + " devices");
        }
        Binaries(program).write(static_cast<uint8_t *const *>(value));
    }
    if (out_size != nullptr) {
        *out_size = needed_size;
    }
}

// ----- Infos of builds --------------------------------------------------------------------------

uint32_t status_of(pi_program program, pi_device device) {
    uint32_t status = PI_PROGRAM_NOT_BUILT;
    check(piProgramGetBuildInfo(program, device, PI_PROGRAM_BUILD_INFO_STATUS, sizeof status,
                                &status, nullptr),
          "piProgramGetBuildInfo(STATUS)");
    return status;
}

/// "" if the plugin has no such text.
std::string build_text(pi_program program, pi_device device, pi_program_build_info name) {
    uint64_t size = 0;
    if (piProgramGetBuildInfo(program, device, name, 0, nullptr, &size) != PI_SUCCESS) {
        return {};
    }
    std::string text(size, '\0');
    check(piProgramGetBuildInfo(program, device, name, size, text.data(), nullptr),
          "piProgramGetBuildInfo");
    return text.c_str();
}

constexpr std::array<std::pair<uint32_t, ur_program_build_status_t>, 3> build_statuses{{
    {PI_PROGRAM_COMPILED, UR_PROGRAM_BUILD_STATUS_SUCCESS},
    {PI_PROGRAM_BUILT, UR_PROGRAM_BUILD_STATUS_SUCCESS},
    {PI_PROGRAM_FAILED, UR_PROGRAM_BUILD_STATUS_ERROR},
}};
constexpr std::array<std::pair<uint32_t, ur_program_binary_type_t>, 2> binary_types{{
    {PI_PROGRAM_COMPILED, UR_PROGRAM_BINARY_TYPE_COMPILED_OBJECT},
    {PI_PROGRAM_BUILT, UR_PROGRAM_BINARY_TYPE_EXECUTABLE},
}};

// ----- Native handles ---------------------------------------------------------------------------

/// Programs that live. Never destroyed: programs may outlive static objects.
struct Registry {
    std::mutex mutex;
    std::vector<ur_program_handle_t> programs;
};
Registry &registry() {
    static Registry &the_registry = *new Registry;
    return the_registry;
}

/// False if the last reference is gone.
bool try_retain(ur_program_handle_t program) noexcept {
    uint32_t count = program->references.load(std::memory_order_relaxed);
    while (count != 0 && !program->references.compare_exchange_weak(count, count + 1)) {
    }
    return count != 0;
}

} // namespace

std::vector<Ref<ur_program_handle_t_>> programs_of(ur_context_handle_t context) {
    std::vector<Ref<ur_program_handle_t_>> found;
    Registry &all = registry();
    const std::lock_guard lock(all.mutex);
    found.reserve(all.programs.size());
    for (const ur_program_handle_t program : all.programs) {
        if (program->context.get() == context && try_retain(program)) {
            found.emplace_back(program);
            release(program);
        }
    }
    return found;
}

// ----- Entry points -----------------------------------------------------------------------------

ur_result_t UR_APICALL urProgramCreateWithIL(ur_context_handle_t context, const void *il,
                                             size_t length,
                                             const ur_program_properties_t *properties,
                                             ur_program_handle_t *out_program) {
    return boundary([&] {
        deref(context);
        needed(il);
        needed(out_program);
        check_properties(properties);
        check_not_empty(length, "IL");
        const std::span bytes(static_cast<const uint8_t *>(il), length);
        auto core = with_codes(
            {{PI_ERROR_UNSUPPORTED_FEATURE, UR_RESULT_ERROR_COMPILER_NOT_AVAILABLE}}, [&] {
                return facade::Program::create(context->core,
                                               desc_of(bytes, PI_PROGRAM_FORMAT_SPIRV));
            });
        auto program = std::make_unique<ur_program_handle_t_>(context, std::move(core));
        program->il.assign(bytes.begin(), bytes.end());
        *out_program = program.release();
    });
}

ur_result_t UR_APICALL urProgramCreateWithBinary(ur_context_handle_t context, uint32_t count,
                                                 ur_device_handle_t *devices, size_t *lengths,
                                                 const uint8_t **binaries,
                                                 const ur_program_properties_t *properties,
                                                 ur_program_handle_t *out_program) {
    return boundary([&] {
        deref(context);
        needed(devices);
        needed(lengths);
        needed(binaries);
        needed(out_program);
        check_properties(properties);
        check_not_empty(count, "devices");
        std::vector<pi_device> pi_devices;
        std::vector<pi_program_desc> descs;
        for (uint32_t i = 0; i < count; ++i) {
            context->check_device(devices[i]);
            if (binaries[i] == nullptr || lengths[i] == 0) {
                throw Refusal(UR_RESULT_ERROR_INVALID_VALUE, "urProgramCreateWithBinary: binary " +
                                                                 std::to_string(i) +
                                                                 " is NULL or empty");
            }
            pi_devices.push_back(devices[i]->device);
            descs.push_back(desc_of({binaries[i], lengths[i]}, PI_PROGRAM_FORMAT_DEVICE_BINARY));
        }
        auto program = std::make_unique<ur_program_handle_t_>(
            context, facade::Program::create_from_binaries(context->core, pi_devices, descs));
        program->devices.clear();
        for (uint32_t i = 0; i < count; ++i) {
            program->devices.push_back(&context->device_of(pi_devices[i]));
            program->binaries.emplace_back(binaries[i], binaries[i] + lengths[i]);
        }
        *out_program = program.release();
    });
}

namespace {

using Build = void (facade::Program::*)(std::span<const pi_device>, const char *);

ur_result_t build_whole(Build build, ur_context_handle_t context, ur_program_handle_t program,
                        const char *options) {
    return boundary([&] {
        check_context(context, deref(program));
        const std::lock_guard lock(program->mutex);
        (*program->core.*build)(program->named_devices(), options);
    });
}

ur_result_t build_for(Build build, ur_program_handle_t program, uint32_t count,
                      ur_device_handle_t *devices, ur_exp_program_flags_t flags,
                      const char *options) {
    return boundary([&] {
        deref(program);
        check_flags(flags);
        const std::vector<pi_device> list = devices_of(count, needed(devices));
        const std::lock_guard lock(program->mutex);
        (*program->core.*build)(list, options);
    });
}

} // namespace

ur_result_t UR_APICALL urProgramBuild(ur_context_handle_t context, ur_program_handle_t program,
                                      const char *options) {
    return build_whole(&facade::Program::build, context, program, options);
}

ur_result_t UR_APICALL urProgramBuildExp(ur_program_handle_t program, uint32_t count,
                                         ur_device_handle_t *devices, ur_exp_program_flags_t flags,
                                         const char *options) {
    return build_for(&facade::Program::build, program, count, devices, flags, options);
}

ur_result_t UR_APICALL urProgramCompile(ur_context_handle_t context, ur_program_handle_t program,
                                        const char *options) {
    return build_whole(&facade::Program::compile, context, program, options);
}

ur_result_t UR_APICALL urProgramCompileExp(ur_program_handle_t program, uint32_t count,
                                           ur_device_handle_t *devices,
                                           ur_exp_program_flags_t flags, const char *options) {
    return build_for(&facade::Program::compile, program, count, devices, flags, options);
}

// A failed link leaves no program; the text of the error contains its log.
ur_result_t UR_APICALL urProgramLink(ur_context_handle_t context, uint32_t count,
                                     const ur_program_handle_t *programs, const char *options,
                                     ur_program_handle_t *out_program) {
    return boundary([&] {
        *needed(out_program) = nullptr;
        *out_program = link(&deref(context), {needed(programs), count}, {}, options);
    });
}

ur_result_t UR_APICALL urProgramLinkExp(ur_context_handle_t context, uint32_t device_count,
                                        ur_device_handle_t *devices, ur_exp_program_flags_t flags,
                                        uint32_t count, const ur_program_handle_t *programs,
                                        const char *options, ur_program_handle_t *out_program) {
    return boundary([&] {
        *needed(out_program) = nullptr;
        check_flags(flags);
        *out_program = link(&deref(context), {needed(programs), count},
                            devices_of(device_count, needed(devices)), options);
    });
}

ur_result_t UR_APICALL urProgramGetInfo(ur_program_handle_t handle, ur_program_info_t name,
                                        size_t size, void *value, size_t *out_size) {
    return boundary([&] {
        const ur_program_handle_t_ &program = deref(handle);
        const InfoAnswer answer(size, value, out_size);
        switch (name) {
        case UR_PROGRAM_INFO_REFERENCE_COUNT:
            return answer(program.references.load());
        case UR_PROGRAM_INFO_CONTEXT:
            return answer(program.context.get());
        case UR_PROGRAM_INFO_NUM_DEVICES:
            return answer(static_cast<uint32_t>(program.devices.size()));
        case UR_PROGRAM_INFO_DEVICES:
            return answer.list(program.devices);
        case UR_PROGRAM_INFO_IL:
            return answer.list(program.il);
        case UR_PROGRAM_INFO_BINARY_SIZES:
            return answer.list(Binaries(program).sizes);
        case UR_PROGRAM_INFO_BINARIES:
            return write_binaries(program, size, value, out_size);
        case UR_PROGRAM_INFO_NUM_KERNELS:
            return answer(count_names(kernel_names(program)));
        case UR_PROGRAM_INFO_KERNEL_NAMES:
            return answer.text(kernel_names(program));
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urProgramGetInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL urProgramGetBuildInfo(ur_program_handle_t handle, ur_device_handle_t device,
                                             ur_program_build_info_t name, size_t size, void *value,
                                             size_t *out_size) {
    return boundary([&] {
        const ur_program_handle_t_ &program = deref(handle);
        const pi_device on = deref(device).device;
        const InfoAnswer answer(size, value, out_size);
        // DPC++ asks about all devices of a context, also those that refused the program.
        const auto &entry = program.core->parts().entries()[program.core->context().part_index(on)];
        const pi_program part = entry.handle.get();
        const uint32_t status =
            part == nullptr ? uint32_t{PI_PROGRAM_NOT_BUILT} : status_of(part, on);
        switch (name) {
        case UR_PROGRAM_BUILD_INFO_STATUS:
            return answer(translate(build_statuses, status, UR_PROGRAM_BUILD_STATUS_NONE));
        case UR_PROGRAM_BUILD_INFO_OPTIONS:
            return answer.text(
                part == nullptr ? "" : build_text(part, on, PI_PROGRAM_BUILD_INFO_OPTIONS));
        case UR_PROGRAM_BUILD_INFO_LOG:
            return answer.text(part == nullptr ? entry.text
                                               : build_text(part, on, PI_PROGRAM_BUILD_INFO_LOG));
        case UR_PROGRAM_BUILD_INFO_BINARY_TYPE:
            return answer(translate(binary_types, status,
                                    part == nullptr || program.binaries.empty()
                                        ? UR_PROGRAM_BINARY_TYPE_NONE
                                        : UR_PROGRAM_BINARY_TYPE_COMPILED_OBJECT));
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION,
                          "urProgramGetBuildInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL
urProgramSetSpecializationConstants(ur_program_handle_t program, uint32_t count,
                                    const ur_specialization_constant_info_t *constants) {
    return boundary([&] {
        deref(program);
        needed(constants);
        check_not_empty(count, "specialization constants");
        std::vector<pi_specialization_constant> list;
        for (uint32_t i = 0; i < count; ++i) {
            if (constants[i].pValue == nullptr) {
                throw Refusal(UR_RESULT_ERROR_INVALID_VALUE,
                              "urProgramSetSpecializationConstants: the value of constant " +
                                  std::to_string(constants[i].id) + " is NULL");
            }
            list.push_back({constants[i].id, 0, constants[i].size, constants[i].pValue});
        }
        with_codes({{PI_ERROR_INVALID_VALUE, UR_RESULT_ERROR_INVALID_SPEC_ID},
                    {PI_ERROR_INVALID_SIZE, UR_RESULT_ERROR_INVALID_VALUE}},
                   [&] {
                       const std::lock_guard lock(program->mutex);
                       program->core->set_constants(list);
                   });
    });
}

ur_result_t UR_APICALL urProgramGetFunctionPointer(ur_device_handle_t device,
                                                   ur_program_handle_t program, const char *name,
                                                   void **out_pointer) {
    return boundary([&] {
        const pi_device on = deref(device).device;
        deref(program);
        needed(name);
        needed(out_pointer);
        uint64_t address = 0;
        with_codes({{PI_ERROR_INVALID_OPERATION, UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE}}, [&] {
            check(piProgramGetFunctionPointer(program->core->at(on), on, name, &address),
                  "piProgramGetFunctionPointer");
        });
        *out_pointer = reinterpret_cast<void *>(static_cast<uintptr_t>(address));
    });
}

ur_result_t UR_APICALL urProgramGetGlobalVariablePointer(ur_device_handle_t device,
                                                         ur_program_handle_t program,
                                                         const char *name, size_t *out_size,
                                                         void **out_pointer) {
    return boundary([&] {
        const pi_device on = deref(device).device;
        deref(program);
        needed(name);
        needed(out_pointer);
        uint64_t size = 0;
        with_codes({{PI_ERROR_INVALID_NAME, UR_RESULT_ERROR_INVALID_VALUE},
                    {PI_ERROR_INVALID_OPERATION, UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE}},
                   [&] {
                       check(piProgramGetGlobalVariablePointer(program->core->at(on), on, name,
                                                               out_pointer, &size),
                             "piProgramGetGlobalVariablePointer");
                   });
        if (out_size != nullptr) {
            *out_size = size;
        }
    });
}

// A program has a handle for each part; that of the first device counts.
ur_result_t UR_APICALL urProgramGetNativeHandle(ur_program_handle_t program,
                                                ur_native_handle_t *out_handle) {
    return boundary([&] {
        const pi_device device = deref(program).devices.front()->device;
        pi_native_handle native{};
        check(piProgramGetNativeHandle(program->core->at(device), device, &native),
              "piProgramGetNativeHandle");
        *needed(out_handle) = word_of(program->devices.front()->platform, native);
    });
}

ur_result_t UR_APICALL urProgramCreateWithNativeHandle(
    ur_native_handle_t native, ur_context_handle_t context,
    const ur_program_native_properties_t *properties, ur_program_handle_t *out_program) {
    return boundary([&] {
        deref(context);
        needed(out_program);
        refuse_if(context->core->parts().size() > 1, UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  "urProgramCreateWithNativeHandle: the context has several backends");
        auto desc = pi::desc<pi_native_desc>();
        desc.flags = properties != nullptr && properties->isNativeHandleOwned ? PI_NATIVE_OWN : 0;
        // A CUmodule does not know its device.
        const ur_platform_handle_t_ &platform = context->devices.front()->platform;
        desc.device =
            platform.backend == UR_BACKEND_CUDA ? context->devices.front()->device : nullptr;
        desc.handle = native_of_type(platform, PI_KIND_PROGRAM, native);
        runtime::Program made;
        check(piProgramCreateWithNativeHandle(context->core->parts().front().context.get(), &desc,
                                              made.out()),
              "piProgramCreateWithNativeHandle");
        *out_program = new ur_program_handle_t_(
            context, facade::Program::adopt(context->core, 0, std::move(made)));
    });
}

} // namespace pi::unified_runtime

ur_program_handle_t_::ur_program_handle_t_(ur_context_handle_t in,
                                           std::shared_ptr<facade::Program> of_pi)
    : context(in), core(std::move(of_pi)) {
    for (const auto &device : context->devices) {
        devices.push_back(device.get());
    }
    Registry &all = registry();
    const std::lock_guard lock(all.mutex);
    all.programs.push_back(this);
}

ur_program_handle_t_::~ur_program_handle_t_() {
    Registry &all = registry();
    const std::lock_guard lock(all.mutex);
    std::erase(all.programs, this);
}

std::vector<pi_device> ur_program_handle_t_::named_devices() const {
    std::vector<pi_device> named;
    for (size_t i = 0; i < binaries.size(); ++i) {
        named.push_back(devices[i]->device);
    }
    return named;
}
