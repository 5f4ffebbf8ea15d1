// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random commands on buffers: ordinary ones and n-D ones, views of views, one queue and several.

#include "linear_world.hpp"
#include "memory.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

constexpr uint64_t in_order = 0;

CONFORMANCE_TEST("enqueue",
                 "random commands on buffers have the effect that they have on plain bytes") {
    const auto scopes = static_cast<uint32_t>(fixture.scopes().size());
    const bool views = fixture.can(PI_CAPABILITY_VIEW);
    require_programs(fixture, {in_order}, [&](Draw &draw) {
        auto world = std::make_unique<LinearWorld>(fixture);
        for (const uint64_t size : {17, 256, 4099}) {
            pi_mem_buffer_desc desc = buffer_desc(size);
            desc.scope = static_cast<uint32_t>(draw(0, scopes - 1));
            world->add_buffer(join("buffer of ", size, " bytes in scope ", desc.scope), desc);
        }
        world->add_views(draw, views ? 2 : 0);
        return world;
    });
}

CONFORMANCE_TEST(
    "enqueue",
    "random commands on views and their buffer have the effect that they have on plain bytes") {
    fixture.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW");
    const uint64_t unit = fixture.scopes().at(0).offset_alignment;
    require_programs(fixture, {in_order}, [&](Draw &draw) {
        auto world = std::make_unique<LinearWorld>(fixture);
        world->add_buffer("the buffer", buffer_desc(6 * unit + 77));
        world->add_views(draw, draw(1, 6));
        return world;
    });
}

CONFORMANCE_TEST(
    "enqueue", "random commands on n-D allocations have the effect that they have on plain bytes") {
    const std::vector<uint32_t> scopes = scopes_with(fixture, PI_SCOPE_LAYOUT, "PI_SCOPE_LAYOUT");
    require_programs(fixture, {in_order}, [&](Draw &draw) {
        auto world = std::make_unique<LinearWorld>(fixture);
        world->add_buffer("an ordinary buffer", buffer_desc(1001));
        const Shape shape(draw);
        const pi_mem_layout_desc layout = shape.desc();
        pi_mem_buffer_desc desc = buffer_desc(shape.size());
        desc.next = &layout;
        desc.scope = draw.one_of(scopes);
        world->add_buffer(shape.text(), desc);
        world->add_views(draw, fixture.can(PI_CAPABILITY_VIEW) ? 2 : 0);
        return world;
    });
}

CONFORMANCE_TEST("enqueue", "random commands on several queues run in the order of their events") {
    require_programs(fixture, several_queues(fixture), [&](Draw &draw) {
        auto world = std::make_unique<LinearWorld>(fixture);
        for (const char *name : {"buffer A", "buffer B", "buffer C"})
            world->add_buffer(name, buffer_desc(draw(1, 999)));
        return world;
    });
}

} // namespace
} // namespace pi::suite
