// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that a vendor could assign, and whose bit in a mask is that of a value of pi.h.

#include "checks.hpp"
#include "fixture.hpp"
#include "host_memory.hpp"
#include "image.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "partition.hpp"
#include "registry.hpp"
#include "usm.hpp"

namespace pi::suite {
namespace {

// Sets a member to the vendor's value, which the call must not take for the known one.
template <typename Handle, typename Desc, typename Value, typename Create>
void require_unknown(const std::string &what, Desc desc, Value Desc::*member, Create &&create) {
    const uint32_t value = vendor_value(desc.*member);
    desc.*member = value;
    require_untouched<Handle>(join(what, " ", value), {PI_ERROR_INVALID_ENUMERATION},
                              [&](Handle *out) { return create(&desc, out); });
    require_text_names(join(what, " ", value), {join(value), hex(value)});
}

CONFORMANCE_TEST("errors", "a value of a vendor is not taken for a known one with the same bit") {
    const Place place = fixture.place();
    if (has_kernels(fixture))
        require_unknown<pi_program>(
            "a program of format", kernel_program_desc(kernel_format(fixture)),
            &pi_program_desc::format,
            [&](auto *desc, pi_program *out) { return piProgramCreate(place.context, desc, out); });
    if (fixture.can(PI_CAPABILITY_USM))
        for (const pi_usm_kind kind : need_usm(fixture))
            require_unknown<void *>("USM of kind", usm_desc(kind, 64), &pi_usm_desc::kind,
                                    [&](auto *desc, void **out) {
                                        return piUsmAlloc(place.context, place.device, desc, out);
                                    });
    if (fixture.can(PI_CAPABILITY_USM_POOL)) {
        auto pool = pi::desc<pi_usm_pool_desc>();
        pool.kind = any_usm_kind(fixture);
        require_unknown<pi_usm_pool>(
            "a pool of kind", pool, &pi_usm_pool_desc::kind, [&](auto *desc, pi_usm_pool *out) {
                return piUsmPoolCreate(place.context, place.device, desc, out);
            });
    }
    const std::vector<uint32_t> one{1};
    if (fixture.can(PI_CAPABILITY_PARTITION))
        for (const pi_device_partition_desc &way : ways(place.device, one))
            require_unknown<uint32_t>("a partition of kind", way, &pi_device_partition_desc::kind,
                                      [&](auto *desc, uint32_t *out) {
                                          return piDevicePartition(place.device, desc, 0, nullptr,
                                                                   out);
                                      });
    if (fixture.can(PI_CAPABILITY_IMAGE)) {
        const pi_mem_image_desc image = any_image_desc(fixture);
        const auto create = [&](const pi_mem_image_desc *desc, pi_mem *out) {
            return piMemImageCreate(place.context, place.device, desc, out);
        };
        require_unknown<pi_mem>("an image of type", image, &pi_mem_image_desc::image_type, create);
        require_unknown<pi_mem>("an image of order", image, &pi_mem_image_desc::channel_order,
                                create);
        require_unknown<pi_mem>("an image of channel type", image, &pi_mem_image_desc::channel_type,
                                create);
        const auto sampler = pi::desc<pi_sampler_desc>();
        const auto create_sampler = [&](const pi_sampler_desc *desc, pi_sampler *out) {
            return piSamplerCreate(place.context, desc, out);
        };
        require_unknown<pi_sampler>("a sampler of addressing", sampler,
                                    &pi_sampler_desc::addressing, create_sampler);
        require_unknown<pi_sampler>("a sampler of filter", sampler, &pi_sampler_desc::filter,
                                    create_sampler);
    }
    if (const auto alignment = import_alignment(fixture, place.device)) {
        HostMemory memory(*alignment, *alignment);
        pi_mem_import_desc desc = import_desc(memory.data(), memory.size());
        desc.handle.type = vendor_value(desc.handle.type);
        require_untouched<pi_mem>(
            "an import of a vendor's type", {PI_ERROR_INVALID_ENUMERATION},
            [&](pi_mem *out) { return piMemImport(place.context, place.device, &desc, out); });
    }
    auto query = pi::desc<pi_memory_connection_query>();
    query.kind = PI_MEMORY_KIND_BUFFER;
    require_unknown<pi_memory_connection_info>(
        "a connection of kind", query, &pi_memory_connection_query::kind,
        [&](auto *desc, pi_memory_connection_info *out) {
            auto info = pi::desc<pi_memory_connection_info>();
            const pi_result result = piGetMemoryConnectionInfo(
                place.device, place.context, place.device, place.context, desc, &info);
            if (!same(info, pi::desc<pi_memory_connection_info>()))
                *out = info;
            return result;
        });
}

CONFORMANCE_TEST("errors",
                 "an argument or advice of a vendor's kind is not taken for a known one") {
    const Queue queue = fixture.make_queue();
    if (has_kernels(fixture)) {
        const Program program = make_program(fixture);
        const Kernel kernel = make_kernel(program, "add");
        const Mem mem = fixture.make_buffer(64);
        for (const std::size_t index : {0u, 1u}) {
            Arguments arguments;
            arguments.buffer(mem).value(uint32_t{1});
            arguments[index].kind = vendor_value(arguments[index].kind);
            const auto desc = launch_desc(kernel, arguments, 4);
            require_untouched<pi_event>(
                join("an argument of kind ", arguments[index].kind),
                {PI_ERROR_INVALID_ARGUMENTS, PI_ERROR_INVALID_ENUMERATION},
                [&](pi_event *out) { return try_enqueue(queue, desc, {}, out); });
        }
    }
    if (fixture.can(PI_CAPABILITY_USM)) {
        const Usm usm(fixture, any_usm_kind(fixture), 64);
        auto desc = pi::desc<pi_usm_advise_desc>();
        desc.pointer = usm.at();
        desc.size = 64;
        desc.advice = vendor_value(PI_USM_ADVICE_READ_MOSTLY);
        require_untouched<pi_event>(
            "an advice of a vendor", {PI_ERROR_INVALID_ENUMERATION},
            [&](pi_event *out) { return try_enqueue(queue, desc, {}, out); });
    }
}

CONFORMANCE_TEST("errors", "reserved words and flags of an imported handle must be zero") {
    const Place place = fixture.place();
    const auto alignment = need_import(fixture);
    HostMemory memory(alignment, alignment);
    const pi_mem_import_desc valid = import_desc(memory.data(), memory.size());
    const auto refused = [&](const std::string &what, const pi_mem_import_desc &desc) {
        require_untouched<pi_mem>(
            "an import of a handle with " + what, {PI_ERROR_UNSUPPORTED_FEATURE},
            [&](pi_mem *out) { return piMemImport(place.context, place.device, &desc, out); });
    };
    for (unsigned bit = 0; bit < 64; ++bit) {
        pi_mem_import_desc desc = valid;
        desc.handle.flags = uint64_t{1} << bit;
        refused(join("flag bit ", bit), desc);
    }
    for (std::size_t word = 0; word < std::size(valid.handle.reserved); ++word) {
        for (const uint64_t value : {uint64_t{1}, uint64_t{1} << 63}) {
            pi_mem_import_desc desc = valid;
            desc.handle.reserved[word] = value;
            refused(join("reserved word ", word, " of ", value), desc);
        }
    }
}

} // namespace
} // namespace pi::suite
