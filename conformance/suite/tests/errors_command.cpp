// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors of every command.

#include "checks.hpp"
#include "fixture.hpp"
#include "kernels.hpp"
#include "registry.hpp"
#include "samples.hpp"

namespace pi::suite {
namespace {

template <typename Handle>
Handle as(void *object) {
    return reinterpret_cast<Handle>(object);
}

// Sets a handle of the descriptor to NULL and to an object of another kind; both are refused.
template <typename Desc, typename Handle>
void check_handle(Samples &samples, Desc desc, Handle Desc::*member, const char *name,
                  pi_result error) {
    for (void *wrong : {static_cast<void *>(nullptr), reinterpret_cast<void *>(samples.queue())}) {
        desc.*member = as<Handle>(wrong);
        const std::string what =
            join(Description<Desc>::name, " with ", name, wrong == nullptr ? " NULL" : " a queue");
        require_untouched<pi_event>(what, {error}, [&](pi_event *out) {
            return try_enqueue(samples.queue(), desc, {}, out);
        });
    }
}

CONFORMANCE_TEST("errors", "a command's memory is refused when NULL or of another kind") {
    Samples samples(fixture);
    const pi_result error = PI_ERROR_INVALID_MEM_OBJECT;
    samples.for_each([&](const auto &desc) {
        using Desc = std::decay_t<decltype(desc)>;
        if constexpr (requires { desc.mem; })
            check_handle(samples, desc, &Desc::mem, "mem", error);
        if constexpr (requires { desc.image; })
            check_handle(samples, desc, &Desc::image, "image", error);
        if constexpr (std::is_same_v<Desc, pi_buffer_copy_desc> ||
                      std::is_same_v<Desc, pi_image_copy_desc>) {
            check_handle(samples, desc, &Desc::src, "src", error);
            check_handle(samples, desc, &Desc::dst, "dst", error);
        }
        if constexpr (std::is_same_v<Desc, pi_kernel_launch_desc>)
            check_handle(samples, desc, &Desc::kernel, "kernel", PI_ERROR_INVALID_KERNEL);
        if constexpr (requires { desc.program; })
            check_handle(samples, desc, &Desc::program, "program", PI_ERROR_INVALID_PROGRAM);
    });
}

CONFORMANCE_TEST("errors", "a command on no queue is refused") {
    Samples samples(fixture);
    const Mem mem = fixture.make_buffer(64);
    samples.for_each([&](const auto &desc) {
        using Desc = std::decay_t<decltype(desc)>;
        for (void *wrong : {static_cast<void *>(nullptr), reinterpret_cast<void *>(mem.get())}) {
            require_untouched<pi_event>(
                join(Description<Desc>::name, wrong == nullptr ? " on NULL" : " on a buffer"),
                {PI_ERROR_INVALID_QUEUE},
                [&](pi_event *out) { return try_enqueue(as<pi_queue>(wrong), desc, {}, out); });
        }
    });
}

CONFORMANCE_TEST("errors", "every command refuses an invalid wait list") {
    Samples samples(fixture);
    const Event good = fixture.make_host_event();
    fixture.signal(good);
    const pi_event with_null[] = {good, nullptr};
    const pi_event with_queue[] = {good, as<pi_event>(samples.queue())};
    samples.for_each([&](const auto &desc) {
        using Desc = std::decay_t<decltype(desc)>;
        const auto refused = [&](const std::string &what, pi_result error, uint32_t count,
                                 const pi_event *list) {
            require_untouched<pi_event>(
                join(Description<Desc>::name, " with ", what), {error}, [&](pi_event *out) {
                    return Description<Desc>::enqueue(samples.queue(), &desc, count, list, out);
                });
        };
        refused("a wait_count of 1 and no list", PI_ERROR_INVALID_WAIT_LIST, 1, nullptr);
        refused("NULL in its wait list", PI_ERROR_INVALID_EVENT, 2, with_null);
        refused("a queue in its wait list", PI_ERROR_INVALID_EVENT, 2, with_queue);
    });
}

CONFORMANCE_TEST("errors", "every command's descriptor obeys the rules of descriptors") {
    Samples samples(fixture);
    samples.for_each([&](const auto &valid) {
        using Desc = std::decay_t<decltype(valid)>;
        constexpr bool optional =
            std::is_same_v<Desc, pi_events_wait_desc> || std::is_same_v<Desc, pi_barrier_desc>;
        const DescriptorVariants variants(valid, offsetof(Desc, flags), optional);
        for (const DescriptorVariant &variant : variants.all()) {
            if (Samples::only_once<Desc> && variant.allowed.empty())
                continue;
            const auto *desc = static_cast<const Desc *>(variant.desc);
            const std::string what = join(Description<Desc>::name, " with ", variant.what);
            pi_event event = poison<pi_event>();
            const pi_result result =
                Description<Desc>::enqueue(samples.queue(), desc, 0, nullptr, &event);
            if (variant.allowed.empty()) {
                require_success(result, what);
                const Event owned(event);
                samples.clean_up(valid, owned);
                continue;
            }
            if (result == PI_SUCCESS)
                piEventRelease(event);
            require_refused(result, variant, what);
            require(same(event, poison<pi_event>()), what, ": failed, but wrote out_event");
        }
    });
}

CONFORMANCE_TEST("errors",
                 "a command needs no event, and a blocking one is complete when the call returns") {
    Samples samples(fixture);
    samples.for_each([&](const auto &valid) {
        using Desc = std::decay_t<decltype(valid)>;
        if constexpr (!Samples::only_once<Desc>) {
            Desc desc = valid;
            desc.flags |= PI_COMMAND_BLOCKING;
            Event event;
            require_success(try_enqueue(samples.queue(), desc, {}, event.out()),
                            Description<Desc>::name, " with PI_COMMAND_BLOCKING");
            require(event.get() != nullptr, Description<Desc>::name, " returned no event");
            require(fixture.is_complete(event), Description<Desc>::name,
                    " is not complete when a blocking call returns");
            samples.clean_up(desc, event);
            if constexpr (!std::is_same_v<Desc, pi_buffer_map_desc>) {
                require_success(try_enqueue(samples.queue(), valid), Description<Desc>::name,
                                " without out_event");
            }
        }
    });
    require_success(piQueueFinish(samples.queue()), "piQueueFinish");
}

CONFORMANCE_TEST("errors", "every command's event reports its queue, context and descriptor type") {
    Samples samples(fixture);
    samples.for_each([&](const auto &desc) {
        using Desc = std::decay_t<decltype(desc)>;
        if constexpr (!Samples::only_once<Desc>) {
            // Where the loader emulates these, the event is that of its last command.
            constexpr bool may_be_emulated = std::is_same_v<Desc, pi_buffer_read_desc> ||
                                             std::is_same_v<Desc, pi_buffer_write_desc> ||
                                             std::is_same_v<Desc, pi_buffer_fill_desc>;
            const Event event = fixture.enqueue(samples.queue(), desc);
            if (!may_be_emulated || fixture.can(PI_CAPABILITY_BUFFER_COMMANDS))
                require_equal(
                    get_info<uint32_t>(&piEventGetInfo, event.get(), PI_EVENT_INFO_COMMAND),
                    desc.type, join("PI_EVENT_INFO_COMMAND of ", Description<Desc>::name));
            require(get_info<pi_queue>(&piEventGetInfo, event.get(), PI_EVENT_INFO_QUEUE) ==
                        samples.queue(),
                    Description<Desc>::name, ": the event reports another queue");
            require(get_info<pi_context>(&piEventGetInfo, event.get(), PI_EVENT_INFO_CONTEXT) ==
                        fixture.context(),
                    Description<Desc>::name, ": the event reports another context");
            samples.clean_up(desc, event);
        }
    });
}

CONFORMANCE_TEST("kernel", "a group is refused that is larger than an axis or the device allows") {
    const Program program = make_program(fixture);
    const Kernel kernel = make_kernel(program, "visit");
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(4096);
    const auto items =
        get_info<Size3>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES);
    const uint64_t group =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
    std::vector<Size3> sizes{{group, 2, 1},
                             {2, 1, group},
                             {uint64_t{1} << 32, uint64_t{1} << 32, 1},
                             {1, uint64_t{1} << 63, 2}};
    for (std::size_t axis = 0; axis < items.size(); ++axis) {
        Size3 size{1, 1, 1};
        size[axis] = items[axis] + 1;
        sizes.push_back(size);
    }
    for (const Size3 &size : sizes) {
        Arguments arguments;
        arguments.buffer(mem).value(uint64_t{1}).value(uint64_t{1});
        const auto desc = launch_desc(kernel, arguments, 3, size, size);
        require_untouched<pi_event>(
            join("a group of ", size[0], " x ", size[1], " x ", size[2], " work-items"),
            {PI_ERROR_INVALID_WORK_SIZE},
            [&](pi_event *out) { return try_enqueue(queue, desc, {}, out); });
    }
}

CONFORMANCE_TEST("errors", "a descriptor's memory may be overwritten right after the call") {
    Samples samples(fixture);
    const Event gate = fixture.make_host_event();
    std::vector<Event> events;
    samples.for_each([&](const auto &valid) {
        using Desc = std::decay_t<decltype(valid)>;
        if constexpr (!Samples::only_once<Desc> && !std::is_same_v<Desc, pi_buffer_map_desc>) {
            auto copy = std::make_unique<Desc>(valid);
            auto waits = std::make_unique<pi_event[]>(1);
            waits[0] = gate;
            pi_event event = nullptr;
            require_success(
                Description<Desc>::enqueue(samples.queue(), copy.get(), 1, waits.get(), &event),
                Description<Desc>::name);
            events.emplace_back(event);
            std::memset(static_cast<void *>(copy.get()), 0xA5, sizeof(Desc));
            std::memset(static_cast<void *>(waits.get()), 0xA5, sizeof(pi_event));
        }
    });
    fixture.signal(gate);
    for (const Event &event : events)
        fixture.wait(event, "a command whose descriptor is gone");
}

CONFORMANCE_TEST("errors", "the text of a refused size or range has its number") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(4096);
    const auto refused = [](pi_result result, const std::string &what, uint64_t number) {
        require(result != PI_SUCCESS, what, " succeeded");
        require_text_names(what, {join(number)});
    };
    static std::byte host[8192];
    const auto ranges = {std::pair{uint64_t{4000}, uint64_t{777}}, {uint64_t{5003}, uint64_t{1}}};
    for (const auto &[offset, size] : ranges) {
        const pi_region region = linear(0, offset, size);
        auto write = pi::desc<pi_buffer_write_desc>();
        write.mem = mem;
        write.host_ptr = host;
        write.region_count = 1;
        write.regions = &region;
        pi_event event = nullptr;
        refused(try_enqueue(queue, write, {}, &event), "a write past the end", offset);
        void *pointer = nullptr;
        auto map = pi::desc<pi_buffer_map_desc>();
        map.mem = mem;
        map.flags = PI_MAP_READ;
        map.offset = offset;
        map.size = size;
        map.out_pointer = &pointer;
        refused(try_enqueue(queue, map, {}, &event), "a map past the end", offset);
        if (!fixture.can(PI_CAPABILITY_VIEW))
            continue;
        auto part = pi::desc<pi_mem_partition_desc>();
        part.offset = 0;
        part.size = offset + 4097;
        pi_mem view = nullptr;
        refused(piMemBufferPartition(mem, &part, &view), "a view past the end", part.size);
    }
    auto scoped = pi::desc<pi_mem_buffer_desc>();
    scoped.size = 64;
    scoped.scope = 4711;
    pi_mem made = nullptr;
    refused(piMemBufferCreate(fixture.context(), fixture.device(), &scoped, &made),
            "a buffer of an unknown scope", 4711);
    scoped.scope = 0;
    scoped.alignment = 4711;
    refused(piMemBufferCreate(fixture.context(), fixture.device(), &scoped, &made),
            "a buffer with an alignment that is not a power of two", 4711);
    if (!has_kernels(fixture))
        return;
    const Program program = make_program(fixture);
    const Kernel kernel = make_kernel(program, "add");
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    pi_event event = nullptr;
    refused(try_enqueue(queue, launch_desc(kernel, arguments, 4711, {4, 1, 1}), {}, &event),
            "a launch of 4711 dimensions", 4711);
    Arguments beyond;
    beyond.buffer(mem, 4711 * 4).value(uint32_t{1});
    refused(try_enqueue(queue, launch_desc(kernel, beyond, 4), {}, &event),
            "a launch on a buffer from behind its end", 4711 * 4);
}

} // namespace
} // namespace pi::suite
