// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocking commands. A plugin may run them within the call, without its queue; the effect must be
// the same.

#include "regions.hpp"
#include "registry.hpp"

#include <algorithm>
#include <atomic>
#include <deque>

namespace pi::suite {
namespace {

/// Two buffers, and their expected bytes once everything is done.
class Model {
public:
    Model(Fixture &fixture, uint64_t size) : fixture_(fixture) {
        for (Bytes &bytes : bytes_)
            bytes = fixture.random_bytes(size);
        for (size_t i = 0; i < 2; ++i)
            mems_[i] = fixture.make_buffer(fixture.place(), bytes_[i]);
    }

    /// One command at random, with or without PI_COMMAND_BLOCKING and out_event.
    void step(pi_queue queue) {
        const size_t to = fixture_.random(0, 1);
        const uint64_t size = fixture_.random(1, bytes_[to].size());
        const uint64_t from_offset = fixture_.random(0, bytes_[to].size() - size);
        const uint64_t to_offset = fixture_.random(0, bytes_[to].size() - size);
        const Regions regions{linear(from_offset, to_offset, size)};
        switch (fixture_.random(0, 3)) {
        case 0: {
            const Bytes &source = keep(fixture_.random_bytes(bytes_[to].size()));
            apply(regions, source, bytes_[to]);
            return enqueue(queue, write_desc(mems_[to], source, regions));
        }
        case 1:
            apply(regions, bytes_[1 - to], bytes_[to]);
            return enqueue(queue, copy_desc(mems_[1 - to], mems_[to], regions));
        case 2: {
            const Bytes &pattern = keep(fixture_.random_bytes(1));
            std::fill_n(bytes_[to].begin() + static_cast<std::ptrdiff_t>(to_offset), size,
                        pattern[0]);
            auto desc = pi::desc<pi_buffer_fill_desc>();
            desc.mem = mems_[to];
            desc.pattern = pattern.data();
            desc.pattern_size = 1;
            desc.offset = to_offset;
            desc.size = size;
            return enqueue(queue, desc);
        }
        default:
            return read(queue, to, regions);
        }
    }

    /// Every enqueued command has ended.
    void require_all(pi_queue queue) {
        require_success(piQueueFinish(queue), "piQueueFinish");
        for (const Read &read : reads_)
            require_read(read);
        for (size_t i = 0; i < 2; ++i)
            fixture_.require_contents(queue, mems_[i], bytes_[i], join("buffer ", i, story_));
    }

private:
    struct Read {
        Bytes into, expected;
        std::string story;
    };

    void read(pi_queue queue, size_t from, const Regions &regions) {
        Read &read = reads_.emplace_back();
        read.into = fixture_.random_bytes(bytes_[from].size());
        read.expected = read.into;
        apply(regions, bytes_[from], read.expected);
        enqueue(queue, read_desc(mems_[from], read.into, regions));
        read.story = story_;
        if (blocking_)
            require_read(read); // it is done when the call returns
    }
    static void require_read(const Read &read) {
        require(read.into == read.expected, "a read returned other bytes", read.story);
    }
    const Bytes &keep(Bytes bytes) { return sources_.emplace_back(std::move(bytes)); }

    template <typename Desc>
    void enqueue(pi_queue queue, Desc desc) {
        blocking_ = fixture_.random(0, 1) == 1;
        desc.flags |= blocking_ ? PI_COMMAND_BLOCKING : 0;
        const bool wants_event = fixture_.random(0, 1) == 1;
        story_ = join(" after ", Description<Desc>::name, blocking_ ? ", blocking" : "",
                      wants_event ? ", with an event" : "");
        Event event;
        require_success(try_enqueue(queue, desc, {}, wants_event ? event.out() : nullptr),
                        Description<Desc>::name);
        require(!wants_event || !blocking_ || fixture_.is_complete(event), Description<Desc>::name,
                " is not complete when a blocking call returns");
    }

    Fixture &fixture_;
    Bytes bytes_[2];
    Mem mems_[2];
    std::deque<Bytes> sources_; ///< of pending commands
    std::deque<Read> reads_;
    bool blocking_ = false;
    std::string story_;
};

CONFORMANCE_TEST("enqueue", "blocking and other commands of one queue run in order") {
    const Queue queue = fixture.make_queue();
    for (int round = 0; round < 10; ++round) {
        Model model(fixture, fixture.random(1, 3000));
        for (int step = 0; step < 30; ++step)
            model.step(queue);
        model.require_all(queue);
    }
}

CONFORMANCE_TEST("enqueue", "a blocking command runs after pending commands of its queue") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(64, std::byte{1}));
    const Event gate = fixture.make_host_event();
    const Event held = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{2}), {gate});
    Bytes seen(64);
    const Regions all{linear(0, 0, 64)};
    fixture.run_threads(2, [&](unsigned thread) {
        if (thread == 0) {
            auto desc = read_desc(mem, seen, all);
            desc.flags |= PI_COMMAND_BLOCKING;
            require_success(try_enqueue(queue, desc), "a blocking read");
            return;
        }
        fixture.signal_after(gate, [&] {
            fixture.require_contents(other, mem, Bytes(64, std::byte{1}),
                                     "while the fill is held back");
        });
    });
    require(seen == Bytes(64, std::byte{2}), "a blocking read passed a command before it");
    fixture.wait(held);
}

CONFORMANCE_TEST("enqueue",
                 "a blocking write or read of few bytes moves all of them and no other") {
    const Queue queue = fixture.make_queue();
    constexpr uint64_t guard = 16;
    for (const uint64_t size :
         {1, 2, 3, 5, 7, 9, 15, 31, 65, 127, 1021, 4095, 4097, 65535, 65537}) {
        Bytes expected = fixture.random_bytes(size + 2 * guard);
        const Mem mem = fixture.make_buffer(fixture.place(), expected);
        const Bytes bytes = fixture.random_bytes(size);
        const Regions write_region{linear(0, guard, size)};
        auto write = write_desc(mem, bytes, write_region);
        write.flags |= PI_COMMAND_BLOCKING;
        require_success(try_enqueue(queue, write), "a blocking write of ", size, " bytes");
        std::copy(bytes.begin(), bytes.end(), expected.begin() + guard);

        Bytes seen = fixture.random_bytes(size + 2 * guard);
        Bytes around = seen;
        std::copy(bytes.begin(), bytes.end(), around.begin() + guard);
        const Regions read_region{linear(guard, guard, size)};
        auto read = read_desc(mem, seen, read_region);
        read.flags |= PI_COMMAND_BLOCKING;
        require_success(try_enqueue(queue, read), "a blocking read of ", size, " bytes");
        require(seen == around, "a blocking read of ", size, " bytes returned others");
        fixture.require_contents(queue, mem, expected,
                                 join("after a blocking write of ", size, " bytes"));
    }
}

CONFORMANCE_TEST("enqueue",
                 "a blocking command of an in-order queue does not run beside those that other "
                 "threads enqueue") {
    const uint64_t size = fixture.at_most(32 << 20);
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(size));
    std::atomic<bool> done{false};
    const auto fill_often = [&] {
        for (int round = 0; round < 20; ++round) {
            const auto pattern = static_cast<std::byte>(round + 1);
            auto desc = pi::desc<pi_buffer_fill_desc>();
            desc.flags = PI_COMMAND_BLOCKING;
            desc.mem = mem;
            desc.pattern = &pattern;
            desc.pattern_size = 1;
            desc.size = size;
            require_success(try_enqueue(queue, desc), "a blocking fill");
        }
    };
    fixture.run_threads(2, [&](unsigned thread) {
        if (thread == 0) {
            const struct Done {
                std::atomic<bool> &done;
                ~Done() { done = true; }
            } at_end{done};
            return fill_often();
        }
        while (!done) {
            Bytes ends(2);
            const Regions regions{linear(0, 0, 1), linear(size - 1, 1, 1)};
            fixture.wait(fixture.enqueue(queue, read_desc(mem, ends, regions)), "a read");
            require(ends[0] == ends[1], "a read saw a part of a fill of the same in-order queue");
        }
    });
}

CONFORMANCE_TEST("enqueue", "threads that block on one queue each get their own bytes") {
    for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_QUEUE_OUT_OF_ORDER}}) {
        const auto known =
            get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_QUEUE_FLAGS);
        if ((known & flags) != flags)
            continue;
        const Queue queue = fixture.make_queue(flags);
        const Mem mem = fixture.make_buffer(4 * 512);
        fixture.run_threads(4, [&](unsigned thread) {
            for (unsigned round = 0; round < 50; ++round) {
                const Bytes mine(512, static_cast<std::byte>(thread * 50 + round));
                Bytes seen(512);
                const Regions to{linear(0, thread * 512, 512)}, from{linear(thread * 512, 0, 512)};
                auto write = write_desc(mem, mine, to);
                auto read = read_desc(mem, seen, from);
                write.flags |= PI_COMMAND_BLOCKING;
                read.flags |= PI_COMMAND_BLOCKING;
                require_success(try_enqueue(queue, write), "a blocking write");
                require_success(try_enqueue(queue, read), "a blocking read");
                require(seen == mine, "thread ", thread, " read other bytes in round ", round);
            }
        });
    }
}

} // namespace
} // namespace pi::suite
