// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects know their plugin instance and their kind: the words at their beginning, and handles of
// another instance of the plugin in calls of this one.

#include "checks.hpp"
#include "everything.hpp"
#include "fixture.hpp"
#include "image.hpp"
#include "registry.hpp"
#include "samples.hpp"
#include "second_loader.hpp"

#include <pi/pi_plugin.h>

#include <any>
#include <map>
#include <typeindex>

namespace pi::suite {
namespace {

// ----- Headers -----

CONFORMANCE_TEST("errors", "every object begins with its plugin's dispatch table and its kind") {
    const auto header_of = [](const void *handle) {
        return *static_cast<const pi_object_header *>(handle);
    };
    const pi_object_header plugin = header_of(fixture.plugin());
    const auto check = [&](const void *handle, pi_kind kind, const char *what) {
        if (handle == nullptr)
            return;
        const pi_object_header header = header_of(handle);
        require(header.dispatch == plugin.dispatch, what,
                ": its first word is not the plugin's dispatch table");
        require_equal(header.kind, kind, join(what, ": its kind"));
        require_equal(header.reserved, plugin.reserved, join(what, ": its reserved word"));
    };
    Everything all(fixture, fixture.place());
    const Event gate = fixture.make_host_event();
    const Event held = fixture.barrier(all.queue, {gate});
    check(fixture.plugin(), PI_KIND_PLUGIN, "the plugin");
    check(fixture.platform(), PI_KIND_PLATFORM, "the platform");
    check(fixture.device(), PI_KIND_DEVICE, "the device");
    check(fixture.context(), PI_KIND_CONTEXT, "a context");
    check(all.queue.get(), PI_KIND_QUEUE, "a queue");
    for (const Mem *const mem : {&all.mem, &all.view, &all.image})
        check(mem->get(), PI_KIND_MEM, "a buffer, a view or an image");
    check(gate.get(), PI_KIND_EVENT, "a host event");
    check(held.get(), PI_KIND_EVENT, "a command's event");
    check(all.program.get(), PI_KIND_PROGRAM, "a program");
    check(all.kernel.get(), PI_KIND_KERNEL, "a kernel");
    check(all.sampler.get(), PI_KIND_SAMPLER, "a sampler");
    check(all.pool.get(), PI_KIND_USM_POOL, "a pool");
    for (const Device &part : all.parts)
        check(part.get(), PI_KIND_DEVICE, "a sub-device");
    fixture.signal(gate);
    fixture.wait(held);
}

// ----- Another instance -----

Setup setup_of(Fixture &fixture, const SecondLoader &second) {
    Setup setup = fixture.setup();
    setup.device = second.place().device;
    setup.peer = nullptr;
    const auto platform =
        get_info<pi_platform>(&piDeviceGetInfo, setup.device, PI_DEVICE_INFO_PLATFORM);
    setup.plugin = get_info<pi_plugin>(&piPlatformGetInfo, platform, PI_PLATFORM_INFO_PLUGIN);
    return setup;
}

// Calls check(name, member, error) for each handle of a descriptor.
template <typename Desc>
void for_each_handle(const auto &check) {
    const pi_result mem = PI_ERROR_INVALID_MEM_OBJECT;
    if constexpr (requires(Desc desc) { desc.mem; })
        check("mem", &Desc::mem, mem);
    if constexpr (requires(Desc desc) { desc.image; })
        check("image", &Desc::image, mem);
    if constexpr (std::is_same_v<Desc, pi_buffer_copy_desc> ||
                  std::is_same_v<Desc, pi_image_copy_desc>) {
        check("src", &Desc::src, mem);
        check("dst", &Desc::dst, mem);
    }
    if constexpr (std::is_same_v<Desc, pi_kernel_launch_desc>)
        check("kernel", &Desc::kernel, PI_ERROR_INVALID_KERNEL);
    if constexpr (requires(Desc desc) { desc.program; })
        check("program", &Desc::program, PI_ERROR_INVALID_PROGRAM);
}

CONFORMANCE_TEST("errors", "every command refuses objects of another plugin instance") {
    const SecondLoader second(fixture);
    Fixture other_fixture(setup_of(fixture, second));
    Samples own(fixture);
    Samples other(other_fixture);
    std::map<std::type_index, std::any> others;
    other.for_each([&](const auto &desc) { others[typeid(desc)] = desc; });
    own.for_each([&](const auto &desc) {
        using Desc = std::decay_t<decltype(desc)>;
        if (!others.contains(typeid(desc)))
            return; // the other instance chose another device
        const auto other_desc = std::any_cast<Desc>(others[typeid(desc)]);
        const auto refused = [&](const std::string &what, pi_result error, const Desc &wrong) {
            require_untouched<pi_event>(
                join(Description<Desc>::name, " with ", what, " of another plugin instance"),
                {error}, [&](pi_event *out) { return try_enqueue(own.queue(), wrong, {}, out); });
        };
        for_each_handle<Desc>([&](const char *name, auto member, pi_result error) {
            Desc wrong = desc;
            wrong.*member = other_desc.*member;
            refused(name, error, wrong);
        });
        if constexpr (std::is_same_v<Desc, pi_kernel_launch_desc>) {
            Desc wrong = desc;
            wrong.arguments = other_desc.arguments;
            refused("an argument", PI_ERROR_INVALID_MEM_OBJECT, wrong);
        }
    });
}

CONFORMANCE_TEST("errors", "objects are not created from objects of another plugin instance") {
    const SecondLoader second(fixture);
    const Place place = fixture.place(), other = second.place();
    require_untouched<pi_queue>(
        "a queue of another instance's device", {PI_ERROR_INVALID_DEVICE},
        [&](pi_queue *out) { return piQueueCreate(place.context, other.device, nullptr, out); });
    auto buffer = pi::desc<pi_mem_buffer_desc>();
    buffer.size = 64;
    require_untouched<pi_mem>(
        "a buffer of another instance's device", {PI_ERROR_INVALID_DEVICE},
        [&](pi_mem *out) { return piMemBufferCreate(place.context, other.device, &buffer, out); });
    if (fixture.can(PI_CAPABILITY_IMAGE)) {
        const pi_mem_image_desc image = any_image_desc(fixture);
        require_untouched<pi_mem>(
            "an image of another instance's device", {PI_ERROR_INVALID_DEVICE}, [&](pi_mem *out) {
                return piMemImageCreate(place.context, other.device, &image, out);
            });
    }
    if (fixture.can(PI_CAPABILITY_USM)) {
        const pi_usm_desc usm = usm_desc(any_usm_kind(fixture), 64);
        require_untouched<void *>(
            "USM of another instance's device", {PI_ERROR_INVALID_DEVICE},
            [&](void **out) { return piUsmAlloc(place.context, other.device, &usm, out); });
    }
    if (fixture.can(PI_CAPABILITY_USM_POOL)) {
        auto pool = pi::desc<pi_usm_pool_desc>();
        pool.kind = any_usm_kind(fixture);
        require_untouched<pi_usm_pool>("a pool of another instance's device",
                                       {PI_ERROR_INVALID_DEVICE}, [&](pi_usm_pool *out) {
                                           return piUsmPoolCreate(place.context, other.device,
                                                                  &pool, out);
                                       });
        Owner<pi_usm_pool> others;
        require_success(piUsmPoolCreate(other.context, other.device, &pool, others.out()),
                        "piUsmPoolCreate");
        pi_usm_desc usm = usm_desc(pool.kind, 64);
        usm.pool = others;
        require_untouched<void *>(
            "USM of another instance's pool", {PI_ERROR_INVALID_USM_POOL},
            [&](void **out) { return piUsmAlloc(place.context, place.device, &usm, out); });
    }
    if (has_kernels(fixture)) {
        const pi_program_desc program_desc = kernel_program_desc(kernel_format(fixture));
        Program program;
        require_success(piProgramCreate(place.context, &program_desc, program.out()),
                        "piProgramCreate");
        auto build = pi::desc<pi_program_build_desc>();
        build.device_count = 1;
        build.devices = &other.device;
        require_error(piProgramBuild(program, &build), PI_ERROR_INVALID_DEVICE,
                      "building for another instance's device");
    }
}

CONFORMANCE_TEST("errors", "a launch refuses images and samplers of another plugin instance") {
    need_images(fixture);
    const SecondLoader second(fixture);
    Fixture other_fixture(setup_of(fixture, second));
    if (!has_kernels(fixture) || !other_fixture.can(PI_CAPABILITY_IMAGE))
        skip("the device has no kernels, or the other instance's device no images");
    const Program program = make_program(fixture);
    const Kernel kernel = make_kernel(program, "add");
    const Queue queue = fixture.make_queue();
    const Everything own(fixture, fixture.place()), other(other_fixture, other_fixture.place());
    const auto refused = [&](const char *what, const Arguments &arguments,
                             std::initializer_list<pi_result> allowed) {
        const auto desc = launch_desc(kernel, arguments, 4);
        require_untouched<pi_event>(join("a launch with ", what), allowed, [&](pi_event *out) {
            return try_enqueue(queue, desc, {}, out);
        });
    };
    // The kernel has other parameters: their kind may be checked first.
    const pi_result kind = PI_ERROR_INVALID_ARGUMENTS;
    Arguments image, sampler, sampled;
    refused("an image of another plugin instance", image.image(other.image).value(uint32_t{0}),
            {PI_ERROR_INVALID_MEM_OBJECT, kind});
    refused("a sampler of another plugin instance",
            sampler.sampler(other.sampler).value(uint32_t{0}), {PI_ERROR_INVALID_SAMPLER, kind});
    refused("an image's sampler of another plugin instance",
            sampled.image(own.image, other.sampler).value(uint32_t{0}),
            {PI_ERROR_INVALID_SAMPLER, kind});
}

} // namespace
} // namespace pi::suite
