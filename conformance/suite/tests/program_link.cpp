// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that are compiled in parts and linked.

#include "checks.hpp"
#include "fixture.hpp"
#include "launch_fixture.hpp"
#include "part_texts.hpp"
#include "partition.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

constexpr const char *factor_option = "-DFACTOR=3";

Program create(pi_context context, const Text &text) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = text.format;
    desc.data = text.text.data();
    desc.size = text.text.size();
    Program program;
    require_success(piProgramCreate(context, &desc, program.out()), "piProgramCreate of a part");
    return program;
}

pi_program_build_desc build_desc(const char *options, const std::vector<pi_device> &devices = {}) {
    auto desc = pi::desc<pi_program_build_desc>();
    desc.options = options;
    desc.device_count = static_cast<uint32_t>(devices.size());
    desc.devices = devices.data();
    return desc;
}

Program compile(pi_context context, const Text &text, const char *options = nullptr,
                const std::vector<pi_device> &devices = {}) {
    Program program = create(context, text);
    const pi_program_build_desc desc = build_desc(options, devices);
    require_success(piProgramCompile(program, &desc), "piProgramCompile");
    return program;
}

using Parts = std::vector<pi_program>;

pi_program_link_desc link_desc(const Parts &parts, const std::vector<pi_device> &devices = {}) {
    auto desc = pi::desc<pi_program_link_desc>();
    desc.program_count = static_cast<uint32_t>(parts.size());
    desc.programs = parts.data();
    desc.device_count = static_cast<uint32_t>(devices.size());
    desc.devices = devices.data();
    return desc;
}

Program link(pi_context context, const Parts &parts, const char *options = nullptr,
             const std::vector<pi_device> &devices = {}) {
    pi_program_link_desc desc = link_desc(parts, devices);
    desc.options = options;
    Program program;
    require_success(piProgramLink(context, &desc, program.out()), "piProgramLink");
    require(program.get() != nullptr, "piProgramLink succeeded, but returned no program");
    return program;
}

std::string text_of(pi_program program, pi_device device, pi_program_build_info name) {
    uint64_t size = 0;
    require_success(piProgramGetBuildInfo(program, device, name, 0, nullptr, &size),
                    "the size of build info ", name);
    std::string text(size, '\0');
    require_success(piProgramGetBuildInfo(program, device, name, size, text.data(), nullptr),
                    "build info ", name);
    return text.c_str();
}

void require_status(pi_program program, pi_device device, uint32_t expected, const char *when) {
    require_equal(build_status(program, device), expected, join("the build status ", when));
}

std::vector<pi_device> devices_of(pi_program program) {
    return get_info_list<pi_device>(&piProgramGetInfo, program, PI_PROGRAM_INFO_DEVICES);
}

// Runs "change" on a few numbers.
void require_changes(Fixture &fixture, pi_program program, uint32_t factor, const Place &place) {
    const Kernel kernel = make_kernel(program, "change");
    const Mem mem = fixture.make_buffer(place, bytes_of({1, 2, 3, 4}));
    const Queue queue = fixture.make_queue(place);
    Arguments arguments;
    arguments.buffer(mem);
    fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 4)), "a launch of change");
    fixture.require_contents(queue, mem,
                             bytes_of({factor + 1, factor * 2 + 1, factor * 3 + 1, factor * 4 + 1}),
                             "what a linked kernel has made");
}
void require_changes(Fixture &fixture, pi_program program, uint32_t factor) {
    require_changes(fixture, program, factor, fixture.place());
}

CONFORMANCE_TEST("program",
                 "two parts are compiled, each with its options, and linked to one program") {
    const PartTexts texts = part_texts(fixture);
    const Program caller = create(fixture.context(), texts.caller);
    require_status(caller, fixture.device(), PI_PROGRAM_NOT_BUILT, "before compiling");
    require_success(piProgramCompile(caller, nullptr), "piProgramCompile with desc NULL");
    const Program callee = compile(fixture.context(), texts.callee, factor_option);
    for (pi_program part : {caller.get(), callee.get()}) {
        require_status(part, fixture.device(), PI_PROGRAM_COMPILED, "after compiling");
        require(devices_of(part).empty(), "a part that is only compiled is built for devices");
    }
    require_options(callee, fixture.device(), factor_option, "the options of a compiled part");
    const Program linked = link(fixture.context(), {caller, callee});
    require_status(linked, fixture.device(), PI_PROGRAM_BUILT, "of what was linked");
    require(devices_of(linked) == std::vector<pi_device>{fixture.device()},
            "the linked program is built for other devices than the context's one");
    require_equal(
        get_info<pi_program_format>(&piProgramGetInfo, linked.get(), PI_PROGRAM_INFO_FORMAT),
        texts.caller.format, "the linked program's format");
    require(get_info<pi_context>(&piProgramGetInfo, linked.get(), PI_PROGRAM_INFO_CONTEXT) ==
                fixture.context(),
            "the linked program reports another context");
    const std::string names = "change";
    require_equal(text_or(&piProgramGetInfo, linked.get(), PI_PROGRAM_INFO_KERNEL_NAMES, names),
                  names, "the linked program's kernels");
    uint64_t log = 0;
    require_success(piProgramGetBuildInfo(linked, fixture.device(), PI_PROGRAM_BUILD_INFO_LOG, 0,
                                          nullptr, &log),
                    "the log of a linked program");
    require_changes(fixture, linked, 3);
}

CONFORMANCE_TEST("program", "parts may be released, compiled otherwise and linked again") {
    const PartTexts texts = part_texts(fixture);
    Program caller = compile(fixture.context(), texts.caller);
    Program callee = compile(fixture.context(), texts.callee, factor_option);
    const Program first = link(fixture.context(), {caller, callee});
    const Program second = link(fixture.context(), {callee, caller});
    const pi_program_build_desc other = build_desc("-DFACTOR=7");
    require_success(piProgramCompile(callee, &other), "compiling a part again");
    const Program third = link(fixture.context(), {caller, callee});
    caller.reset();
    callee.reset();
    require_changes(fixture, first, 3);
    require_changes(fixture, second, 3);
    require_changes(fixture, third, 7);
}

CONFORMANCE_TEST("program",
                 "a program that is only compiled has no kernels, and can still be built") {
    const PartTexts texts = part_texts(fixture);
    const Program program = compile(fixture.context(), texts.whole, factor_option);
    require_untouched<pi_kernel>(
        "a kernel of a program that is only compiled", {PI_ERROR_INVALID_OPERATION},
        [&](pi_kernel *out) { return piKernelCreate(program, "change", nullptr, out); });
    uint64_t size = poison<uint64_t>();
    require_error(piProgramGetInfo(program, PI_PROGRAM_INFO_KERNEL_NAMES, 0, nullptr, &size),
                  {PI_ERROR_INVALID_OPERATION, PI_ERROR_UNSUPPORTED_FEATURE},
                  "the kernel names of what is only compiled");
    const std::string options = "-DFACTOR=7";
    const pi_program_build_desc desc = build_desc(options.c_str());
    require_success(piProgramBuild(program, &desc), "building what was compiled");
    require_status(program, fixture.device(), PI_PROGRAM_BUILT, "after building");
    require_options(program, fixture.device(), options,
                    "the options of a build after a compilation with others");
    require_changes(fixture, program, 7);
}

CONFORMANCE_TEST("program", "a part that does not compile fails with a log, and is not linked") {
    const PartTexts texts = part_texts(fixture);
    const Program broken = create(fixture.context(), texts.broken);
    require_error(piProgramCompile(broken, nullptr), PI_ERROR_BUILD_FAILED,
                  "compiling a part with an undeclared name");
    require_status(broken, fixture.device(), PI_PROGRAM_FAILED, "after a failed compilation");
    const std::string log = text_of(broken, fixture.device(), PI_PROGRAM_BUILD_INFO_LOG);
    require(log.find("nonsense") != std::string::npos,
            "the log of a compilation that failed does not name what is wrong: \"", log, "\"");
    const Program caller = compile(fixture.context(), texts.caller);
    const Parts parts{caller, broken};
    const pi_program_link_desc desc = link_desc(parts);
    require_untouched<pi_program>(
        "linking a part that failed to compile", {PI_ERROR_INVALID_OPERATION},
        [&](pi_program *out) { return piProgramLink(fixture.context(), &desc, out); });
    const pi_program_build_desc nonsense = build_desc("-Dnonsense=7");
    require_success(piProgramCompile(broken, &nonsense), "compiling what failed, with an option");
    require_status(broken, fixture.device(), PI_PROGRAM_COMPILED, "after compiling again");
}

CONFORMANCE_TEST("program", "an unknown option fails a compilation or is ignored") {
    const PartTexts texts = part_texts(fixture);
    const Program program = create(fixture.context(), texts.callee);
    const pi_program_build_desc desc = build_desc("-DFACTOR=3 --no-such-option");
    const pi_result result = piProgramCompile(program, &desc);
    if (result == PI_SUCCESS) {
        const Program caller = compile(fixture.context(), texts.caller);
        require_changes(fixture, link(fixture.context(), {caller, program}), 3);
        return;
    }
    require_error(result, {PI_ERROR_INVALID_VALUE, PI_ERROR_BUILD_FAILED},
                  "compiling with an option that there is not");
    require_status(program, fixture.device(), PI_PROGRAM_FAILED, "after a failed compilation");
}

CONFORMANCE_TEST("program", "linking parts that do not fit together fails") {
    const PartTexts texts = part_texts(fixture);
    const Program caller = compile(fixture.context(), texts.caller);
    const Program callee = compile(fixture.context(), texts.callee, factor_option);
    const Program twin = compile(fixture.context(), texts.callee, "-DFACTOR=5");
    const auto refused = [&](const std::string &what, const Parts &parts) {
        const pi_program_link_desc desc = link_desc(parts);
        require_untouched<pi_program>(what, {PI_ERROR_BUILD_FAILED}, [&](pi_program *out) {
            return piProgramLink(fixture.context(), &desc, out);
        });
        const std::string text = last_error_text();
        require(text.size() > 20, what, ": the text is only \"", text, "\"");
        // CUDA's linker has a log.
        if (is_of_cuda(texts.caller.format))
            require(text.find("changed") != std::string::npos, what,
                    ": the text does not name the function \"changed\": \"", text, "\"");
    };
    // Some linkers leave it to the launch to find that a function is missing.
    const Parts alone{caller};
    const pi_program_link_desc incomplete = link_desc(alone);
    Program late;
    if (piProgramLink(fixture.context(), &incomplete, late.out()) != PI_SUCCESS)
        refused("linking without a function that is called", alone);
    // Two functions of one name end the process in some drivers, so no test links them.
    require_changes(fixture, link(fixture.context(), {caller, callee}), 3);
    require_changes(fixture, link(fixture.context(), {caller, twin}), 5);
}

CONFORMANCE_TEST("program", "only compiled programs are linked") {
    const PartTexts texts = part_texts(fixture);
    const Program caller = compile(fixture.context(), texts.caller);
    const Program callee = compile(fixture.context(), texts.callee, factor_option);
    const Program unbuilt = create(fixture.context(), texts.callee);
    const Program built = make_program(fixture);
    const Program linked = link(fixture.context(), {caller, callee});
    const Context context = fixture.make_context({fixture.device()});
    const Program another = compile(context, texts.callee, factor_option);
    const auto refused = [&](const std::string &what, pi_result error, const Parts &parts) {
        const pi_program_link_desc desc = link_desc(parts);
        require_untouched<pi_program>(what, {error}, [&](pi_program *out) {
            return piProgramLink(fixture.context(), &desc, out);
        });
    };
    refused("linking no programs", PI_ERROR_INVALID_SIZE, {});
    refused("linking NULL", PI_ERROR_INVALID_PROGRAM, {caller, nullptr});
    refused("linking a context", PI_ERROR_INVALID_PROGRAM,
            {caller, reinterpret_cast<pi_program>(fixture.context())});
    refused("linking a program twice", PI_ERROR_INVALID_PROGRAM, {caller, callee, callee});
    refused("linking another context's program", PI_ERROR_INVALID_PROGRAM, {caller, another});
    refused("linking what is not compiled", PI_ERROR_INVALID_OPERATION, {caller, unbuilt});
    refused("linking what is built", PI_ERROR_INVALID_OPERATION, {built});
    refused("linking what is linked", PI_ERROR_INVALID_OPERATION, {linked});
    pi_program_link_desc desc = link_desc({});
    desc.program_count = 1;
    desc.programs = nullptr;
    require_untouched<pi_program>(
        "one program at NULL", {PI_ERROR_INVALID_NULL_POINTER},
        [&](pi_program *out) { return piProgramLink(fixture.context(), &desc, out); });
    const pi_program before = caller;
    desc.programs = &before;
    require_untouched<pi_program>(
        "linking in no context", {PI_ERROR_INVALID_CONTEXT},
        [&](pi_program *out) { return piProgramLink(nullptr, &desc, out); });
    require_changes(fixture, linked, 3);
}

CONFORMANCE_TEST("program", "a linked program has no source to compile or build") {
    const PartTexts texts = part_texts(fixture);
    const Program caller = compile(fixture.context(), texts.caller);
    const Program callee = compile(fixture.context(), texts.callee, factor_option);
    const Program linked = link(fixture.context(), {caller, callee});
    require_error(piProgramCompile(linked, nullptr), PI_ERROR_INVALID_OPERATION,
                  "compiling what is linked");
    require_error(piProgramBuild(linked, nullptr), PI_ERROR_INVALID_OPERATION,
                  "building what is linked");
    require_status(linked, fixture.device(), PI_PROGRAM_BUILT, "afterwards");
    require_changes(fixture, linked, 3);
}

CONFORMANCE_TEST("program", "parts are compiled and linked for devices of their context only") {
    const PartTexts texts = part_texts(fixture);
    const Program program = create(fixture.context(), texts.callee);
    const Program caller = compile(fixture.context(), texts.caller);
    const Program callee = compile(fixture.context(), texts.callee, factor_option);
    const auto refused = [&](const std::string &what, pi_result error, uint32_t count,
                             const pi_device *devices) {
        pi_program_build_desc compile_desc = build_desc(factor_option);
        compile_desc.device_count = count;
        compile_desc.devices = devices;
        require_error(piProgramCompile(program, &compile_desc), error, "compiling for ", what);
        const Parts parts{caller, callee};
        pi_program_link_desc desc = link_desc(parts);
        desc.device_count = count;
        desc.devices = devices;
        require_untouched<pi_program>("linking for " + what, {error}, [&](pi_program *out) {
            return piProgramLink(fixture.context(), &desc, out);
        });
    };
    const pi_device null_device = nullptr;
    const SeveralDevices devices(fixture);
    const pi_device twice[] = {devices[0], devices[0]};
    refused("one device at NULL", PI_ERROR_INVALID_NULL_POINTER, 1, nullptr);
    refused("the device NULL", PI_ERROR_INVALID_DEVICE, 1, &null_device);
    refused("one device twice", PI_ERROR_INVALID_DEVICE, 2, twice);
    if (devices.size() > 1 && fixture.can(PI_CAPABILITY_PROGRAM_LINK, devices[1]))
        refused("a device that is not of the context", PI_ERROR_INVALID_DEVICE, 1, &devices[1]);
    require_status(program, fixture.device(), PI_PROGRAM_NOT_BUILT, "after no compilation");
    require_changes(fixture, link(fixture.context(), {caller, callee}, nullptr, {devices[0]}), 3);
}

CONFORMANCE_TEST("program", "a list of no devices to compile or link for is not read") {
    const PartTexts texts = part_texts(fixture);
    const Program caller = create(fixture.context(), texts.caller);
    pi_program_build_desc compile_desc = build_desc(nullptr);
    compile_desc.devices = nowhere<const pi_device>();
    require_success(piProgramCompile(caller, &compile_desc),
                    "compiling with a device_count of 0 and devices that are not NULL");
    const Program callee = compile(fixture.context(), texts.callee, factor_option);
    const Parts parts{caller, callee};
    pi_program_link_desc desc = link_desc(parts);
    desc.devices = nowhere<const pi_device>();
    Program linked;
    require_success(piProgramLink(fixture.context(), &desc, linked.out()),
                    "linking with a device_count of 0 and devices that are not NULL");
    require_changes(fixture, linked, 3);
}

CONFORMANCE_TEST("program", "parts are linked for any of the devices that they are compiled for") {
    const PartTexts texts = part_texts(fixture);
    const SeveralDevices devices(fixture);
    if (devices.size() < 2)
        skip("the platform has one device, which has no parts");
    fixture.need(PI_CAPABILITY_PROGRAM_LINK, "PI_CAPABILITY_PROGRAM_LINK", devices[1]);
    need_program_format(fixture, texts.whole.format, devices[1]);
    const std::vector<pi_device> both{devices[0], devices[1]};
    const std::vector<pi_device> turned{devices[1], devices[0]};
    const Context context = fixture.make_context(both);
    const Program caller = compile(context, texts.caller, nullptr, turned);
    const Program callee = compile(context, texts.callee, factor_option, both);
    const Program second = compile(context, texts.callee, "-DFACTOR=5", {devices[1]});
    require_status(second, devices[0], PI_PROGRAM_NOT_BUILT, "on a device it is not compiled for");
    require_status(second, devices[1], PI_PROGRAM_COMPILED, "on the device it is compiled for");
    for (const auto &order : {both, turned, std::vector<pi_device>{}}) {
        const Program linked = link(context, {caller, callee}, nullptr, order);
        require_equal(devices_of(linked).size(), std::size_t{2}, "the devices of the program");
        for (pi_device device : both)
            require_changes(fixture, linked, 3, {device, context});
    }
    const Program one = link(context, {caller, second}, nullptr, {devices[1]});
    require(devices_of(one) == std::vector<pi_device>{devices[1]},
            "PI_PROGRAM_INFO_DEVICES is not the one that it is linked for");
    require_status(one, devices[0], PI_PROGRAM_NOT_BUILT, "on a device it is not linked for");
    require_changes(fixture, one, 5, {devices[1], context});
    const Parts parts{caller, second};
    for (const auto &wrong : {std::vector<pi_device>{}, both, {devices[0]}}) {
        const pi_program_link_desc desc = link_desc(parts, wrong);
        require_untouched<pi_program>(
            "linking for a device that a part is not compiled for", {PI_ERROR_INVALID_OPERATION},
            [&](pi_program *out) { return piProgramLink(context, &desc, out); });
    }
}

CONFORMANCE_TEST("program",
                 "the descriptors of compiling and linking obey the rules of descriptors") {
    const PartTexts texts = part_texts(fixture);
    const Program program = create(fixture.context(), texts.caller);
    check_descriptor(
        "piProgramCompile", pi::desc<pi_program_build_desc>(),
        offsetof(pi_program_build_desc, flags),
        [&](const pi_program_build_desc *desc) { return piProgramCompile(program, desc); }, true);
    const Program caller = compile(fixture.context(), texts.caller);
    const Program callee = compile(fixture.context(), texts.callee, factor_option);
    const Parts parts{caller, callee};
    const pi_program_link_desc valid = link_desc(parts);
    check_descriptor("piProgramLink", valid, offsetof(pi_program_link_desc, flags),
                     [&](const pi_program_link_desc *desc) {
                         return try_create<pi_program>([&](pi_program *out) {
                             return piProgramLink(fixture.context(), desc, out);
                         });
                     });
    require_error(piProgramLink(fixture.context(), &valid, nullptr), PI_ERROR_INVALID_NULL_POINTER,
                  "piProgramLink with out_program NULL");
    require_error(piProgramCompile(nullptr, nullptr), PI_ERROR_INVALID_PROGRAM,
                  "piProgramCompile of NULL");
}

CONFORMANCE_TEST("program", "parts may be compiled and linked from many threads at once") {
    const PartTexts texts = part_texts(fixture);
    const pi_context context = fixture.context();
    const Program shared = compile(context, texts.caller);
    fixture.run_threads(4, [&](unsigned thread) {
        const std::string option = join("-DFACTOR=", thread + 2);
        const Program callee = compile(context, texts.callee, option.c_str());
        const Program linked = link(context, {shared, callee});
        require(make_kernel(linked, "change").get() != nullptr, "there is no kernel change");
    });
}

} // namespace
} // namespace pi::suite
