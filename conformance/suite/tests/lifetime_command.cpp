// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command keeps alive all that it names: each is held back while its objects are released.

#include "checks.hpp"
#include "command_cases.hpp"
#include "image.hpp"
#include "launch_fixture.hpp"
#include "registry.hpp"

#include <cstring>

namespace pi::suite {
namespace {

// New objects, which must not get the memory of those that are still in use.
class Others {
public:
    explicit Others(Fixture &fixture) : fixture_(fixture) {
        for (Mem &mem : mems_)
            mem = fixture.make_buffer(fixture.place(), bytes_);
        if (!fixture.can(PI_CAPABILITY_IMAGE))
            return;
        desc_ = any_image_desc(fixture, 32, 16);
        pixels_ = random_pixels(fixture, desc_);
        for (Mem &image : images_) {
            image = make_image(fixture, desc_);
            image_upload(fixture, fixture.make_queue(), image, desc_, pixels_);
        }
    }
    void require_unchanged(pi_queue queue, const std::string &what) {
        for (const Mem &mem : mems_)
            fixture_.require_contents(queue, mem, bytes_, what + ": a buffer of no command");
        for (const Mem &image : images_)
            if (image.get() != nullptr)
                require_pixels(fixture_, queue, image, desc_, pixels_,
                               what + ": an image of no command");
    }

private:
    Fixture &fixture_;
    Bytes bytes_ = Bytes(4096, std::byte{0xEE});
    Mem mems_[4];
    pi_mem_image_desc desc_{};
    Bytes pixels_;
    Mem images_[2];
};

// Holds the command back behind a command of another context, and releases everything.
void check_kept_alive(Fixture &fixture, CommandCase &command, bool changed, bool with_event) {
    const std::string what =
        join(command.name(), with_event ? "" : " without an event",
             changed ? ", all of whose objects are released" : ", whose sources are released");
    const Event gate = fixture.make_host_event();
    const Queue other = fixture.make_queue();
    Context context = fixture.make_context({fixture.device()});
    Queue first_queue = fixture.make_queue({fixture.device(), context});
    Event first = fixture.barrier(first_queue, {gate});
    Queue queue = fixture.make_queue();
    const pi_event waits[] = {first};
    Event event;
    require_success(command.enqueue(queue, 0, 1, waits, with_event ? event.out() : nullptr), what);
    first.reset();
    first_queue.reset();
    context.reset();
    command.release(changed);
    require_success(piQueueFlush(queue), "piQueueFlush");
    if (with_event)
        queue.reset();
    Others others(fixture);
    fixture.signal_after(
        gate, [&] { require(!with_event || !fixture.is_complete(event), what, ": did not wait"); });
    if (with_event)
        fixture.wait(event, what);
    else
        require_success(piQueueFinish(queue), what, ": piQueueFinish");
    others.require_unchanged(other, what);
    if (!changed)
        command.require_done(other);
    command.clean_up(other);
}

CONFORMANCE_TEST("lifetime",
                 "every command keeps alive what it names, with an event and without one") {
    for (const bool changed : {false, true})
        for (const bool with_event : {true, false})
            for (const auto &command : make_command_cases(fixture))
                check_kept_alive(fixture, *command, changed, with_event);
}

CONFORMANCE_TEST("lifetime", "a launch keeps the views of its arguments and their roots alive") {
    fixture.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW");
    LaunchFixture setup(fixture);
    constexpr uint32_t count = 1024;
    constexpr uint64_t size = count * sizeof(uint32_t);
    const uint64_t offset = std::max<uint64_t>(fixture.scopes().at(0).offset_alignment, 256);
    const Event gate = fixture.make_host_event();
    const Mem dst = fixture.make_buffer(size);
    const auto view_of = [&](uint32_t word) {
        Bytes bytes(offset);
        const Bytes words = bytes_of(std::vector<uint32_t>(count, word));
        bytes.insert(bytes.end(), words.begin(), words.end());
        const Mem root = fixture.make_buffer(fixture.place(), bytes);
        return fixture.make_view(root, offset, size);
    };
    Event launched;
    {
        const Kernel kernel = make_kernel(setup.program, "combine");
        const Mem a = view_of(5), b = view_of(7);
        Arguments arguments;
        arguments.buffer(dst).buffer(a).buffer(b).value(uint32_t{100});
        launched = fixture.enqueue(setup.queue, launch_desc(kernel, arguments, count), {gate});
    }
    Others others(fixture);
    fixture.signal(gate);
    fixture.wait(launched);
    fixture.require_contents(setup.queue, dst, bytes_of(std::vector<uint32_t>(count, 507)),
                             "what a launch has made of released views");
    others.require_unchanged(setup.queue, "a launch on released views");
}

} // namespace
} // namespace pi::suite
