// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random commands on USM of all kinds, also allocated and freed in the order of a queue.

#include "linear_world.hpp"

#include "checks.hpp"
#include "registry.hpp"

#include <algorithm>

namespace pi::suite {
namespace {

class UsmWorld final : public LinearWorld {
public:
    UsmWorld(Fixture &fixture, const std::vector<pi_usm_kind> &kinds, Draw &draw)
        : LinearWorld(fixture) {
        for (const pi_usm_kind kind : kinds)
            add(join(name_of_kind(kind), " USM"), kind, draw(1, 4099));
    }

    /// Memory that a step allocates or frees.
    void add_coming_and_going(const std::string &name, uint64_t size) {
        things_.push_back({name, {}, std::make_shared<Bytes>(size), 0, size});
        coming_and_going_.push_back(&things_.back());
    }

    Action lay_out(Draw &draw) override {
        if (coming_and_going_.empty() || draw(0, 3) != 1)
            return LinearWorld::lay_out(draw);
        Thing &thing = *draw.one_of(coming_and_going_);
        return std::holds_alternative<Usm>(thing.object) ? free(thing) : allocate(thing, draw);
    }

private:
    void add(const std::string &name, pi_usm_kind kind, uint64_t size) {
        Thing thing{name, Usm(fixture_, kind, size), std::make_shared<Bytes>(size), 0, size};
        thing.host_visible = kind != PI_USM_DEVICE;
        usm_upload(fixture_, fixture_.make_queue(), std::get<Usm>(thing.object).at(), *thing.model);
        things_.push_back(std::move(thing));
    }

    // And fills it: the content of new memory is undefined.
    Action allocate(Thing &thing, Draw &draw) {
        const Bytes pattern = counted_bytes(1, draw(1, 255));
        return {join("an allocation of ", thing.name, ", filled with ", int(pattern[0])),
                {},
                {thing.model},
                false,
                [=, this, &thing](pi_queue queue, const Waits &waits) {
                    void *pointer = nullptr;
                    auto desc = pi::desc<pi_usm_alloc_desc>();
                    desc.size = thing.size;
                    desc.out_pointer = &pointer;
                    const Event allocated = fixture_.enqueue(queue, desc, waits);
                    require(pointer != nullptr, "no address was written during the call");
                    thing.object = Usm(fixture_.context(), pointer, thing.size);
                    return fixture_.enqueue(queue, usm_fill_desc(pointer, pattern, thing.size),
                                            {allocated});
                },
                [=, &thing] { std::fill_n(thing.bytes(), thing.size, pattern[0]); }};
    }

    Action free(Thing &thing) {
        return {join("a free of ", thing.name),
                {},
                {thing.model},
                false,
                [this, &thing](pi_queue queue, const Waits &waits) {
                    auto desc = pi::desc<pi_usm_free_desc>();
                    desc.pointer = std::get<Usm>(thing.object).take();
                    thing.object = std::monostate();
                    return fixture_.enqueue(queue, desc, waits);
                }};
    }

    std::vector<Thing *> coming_and_going_;
};

CONFORMANCE_TEST("enqueue",
                 "random commands on USM have the effect that they have on plain bytes") {
    const std::vector<pi_usm_kind> kinds = need_usm(fixture);
    const bool by_commands = fixture.can(PI_CAPABILITY_USM_ASYNC);
    require_programs(fixture, several_queues(fixture), [&](Draw &draw) {
        auto world = std::make_unique<UsmWorld>(fixture, kinds, draw);
        // Equal sizes, so that memory that is freed too early is reused.
        const uint64_t size = draw(1, 999);
        for (const char *name : {"USM A of a queue's order", "USM B of a queue's order"})
            if (by_commands)
                world->add_coming_and_going(name, size);
        return world;
    });
}

} // namespace
} // namespace pi::suite
