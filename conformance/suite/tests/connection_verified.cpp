// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// UNIFIED and MIGRATABLE, as the loader verifies them before a runtime uses a pair; and the
// verification kernel of plugins that have one.

#include "checks.hpp"
#include "kernels.hpp"
#include "link.hpp"
#include "registry.hpp"

#include <pi/pi_loader.h>
#include <pi/pi_verification_kernel.h>

namespace pi::suite {
namespace {

pi_memory_verification_desc verification_of(const Link &link) {
    auto desc = pi::desc<pi_memory_verification_desc>();
    desc.flags = PI_VERIFY_AGAIN | PI_VERIFY_KERNELS;
    desc.kind = link.kind;
    desc.src_scope = link.src_scope;
    desc.dst_scope = link.dst_scope;
    return desc;
}

CONFORMANCE_TEST_PAIRS(
    "connection", "unified and migratable connections can be verified, for every kind and scope") {
    for (const Link &link : all_links(fixture)) {
        const pi_memory_verification_desc desc = verification_of(link);
        auto info = pi::desc<pi_memory_connection_info>();
        require_success(piVerifyMemoryConnection(link.src.device, link.src.context, link.dst.device,
                                                 link.dst.context, &desc, &info),
                        "piVerifyMemoryConnection for " + link.name());
        require_equal(info.connection, link.connection, link.name() + ": the verified connection");
        const bool one_place = fixture.relation() == Relation::one_place;
        const bool checked = link.connection != PI_MEMORY_CONNECTION_NONE &&
                             (!one_place || link.kind == PI_MEMORY_KIND_IMPORTED);
        require_equal(info.verified, pi_verified{checked ? PI_VERIFIED_YES : PI_VERIFIED_UNKNOWN},
                      join(link.name(), ": verified, where was seen \"", info.verified_text, '"'));
    }
}

CONFORMANCE_TEST("kernel",
                 "the verification kernel, if there is one, copies a word for each work-item") {
    const void *table = nullptr;
    if (piPluginGetExtension(fixture.plugin(), PI_VERIFICATION_KERNEL_V1,
                             sizeof(pi_verification_kernel_v1), &table) != PI_SUCCESS)
        skip("the plugin has no " PI_VERIFICATION_KERNEL_V1);
    pi_verification_kernel known{};
    const pi_result result =
        static_cast<const pi_verification_kernel_v1 *>(table)->get_kernel(fixture.device(), &known);
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the device has no verification kernel");
    require_success(result, "get_kernel");
    auto desc = pi::desc<pi_program_desc>();
    desc.format = known.format;
    desc.data = known.data;
    desc.size = known.size;
    Program program;
    require_success(piProgramCreate(fixture.context(), &desc, program.out()), "piProgramCreate");
    require_success(piProgramBuild(program, nullptr), "piProgramBuild");
    const Kernel kernel = make_kernel(program, known.name);
    const Queue queue = fixture.make_queue();
    for (const uint64_t words : {1, 255, 4096}) {
        Bytes expected = fixture.random_bytes(words * 4),
              before = fixture.random_bytes(words * 4 + 64);
        const Mem from = fixture.make_buffer(fixture.place(), expected);
        const Mem to = fixture.make_buffer(fixture.place(), before);
        Arguments arguments;
        arguments.buffer(from).buffer(to);
        fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, words)), "the launch");
        expected.insert(expected.end(), before.end() - 64, before.end());
        Bytes found(expected.size());
        fixture.wait(fixture.read(queue, to, 0, found), "a read");
        require_same_bytes(found.data(), expected.data(), found.size(), "the destination");
    }
}

} // namespace
} // namespace pi::suite
