// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps: what the host sees of a range, and what is left of what it writes there.

#include "fixture.hpp"
#include "registry.hpp"

#include <algorithm>
#include <cstring>

namespace pi::suite {
namespace {

// A buffer, its bytes, and a queue to map it on.
struct Mapped {
    Fixture &fixture;
    Bytes model;
    Mem mem;
    Queue queue;

    explicit Mapped(Fixture &on, uint64_t size = 5000)
        : fixture(on), model(on.random_bytes(size)), mem(on.make_buffer(on.place(), model)),
          queue(on.make_queue()) {}

    std::byte *map(uint64_t flags, uint64_t offset, uint64_t size) {
        void *pointer = nullptr;
        fixture.wait(fixture.map(queue, mem, flags, offset, size, &pointer), "mapping");
        require(pointer != nullptr, "a map succeeded, but returned NULL");
        return static_cast<std::byte *>(pointer);
    }
    void unmap(void *pointer) { fixture.wait(fixture.unmap(queue, mem, pointer), "unmapping"); }
    void require_model(const std::string &what) {
        fixture.require_contents(queue, mem, model, what);
    }
    struct Range {
        uint64_t offset;
        uint64_t size;
    };
    Range random_range() {
        const uint64_t size = fixture.random(1, model.size());
        return {fixture.random(0, model.size() - size), size};
    }
};

CONFORMANCE_TEST("memory", "a range mapped for reading has the buffer's bytes and changes none") {
    Mapped mapped(fixture);
    for (int round = 0; round < 10; ++round) {
        const auto [offset, size] = mapped.random_range();
        const std::byte *pointer = mapped.map(PI_MAP_READ, offset, size);
        require_same_bytes(pointer, mapped.model.data() + offset, size,
                           join(size, " mapped bytes at ", offset));
        mapped.unmap(const_cast<std::byte *>(pointer));
        mapped.require_model("the buffer after a map for reading");
        mapped.model = fixture.random_bytes(mapped.model.size());
        fixture.upload(mapped.queue, mapped.mem, mapped.model);
    }
}

CONFORMANCE_TEST("memory",
                 "bytes written into a mapped range are in the buffer, and no other byte changes") {
    Mapped mapped(fixture);
    for (const uint64_t flags :
         {PI_MAP_WRITE + 0, PI_MAP_READ | PI_MAP_WRITE, PI_MAP_READ | PI_MAP_WRITE_DISCARD}) {
        for (int round = 0; round < 8; ++round) {
            const auto [offset, size] = mapped.random_range();
            std::byte *pointer = mapped.map(flags, offset, size);
            if ((flags & PI_MAP_READ) != 0)
                require_same_bytes(pointer, mapped.model.data() + offset, size,
                                   "a range mapped for reading and writing");
            // Only a part of it: the rest of the range keeps its bytes.
            const uint64_t length = fixture.random(1, size);
            const uint64_t at = fixture.random(0, size - length);
            const Bytes bytes = fixture.random_bytes(length);
            std::memcpy(pointer + at, bytes.data(), length);
            std::memcpy(mapped.model.data() + offset + at, bytes.data(), length);
            mapped.unmap(pointer);
            mapped.require_model(join("the buffer after ", length, " of ", size,
                                      " mapped bytes at ", offset, " were written"));
        }
    }
}

CONFORMANCE_TEST("memory",
                 "a range mapped for overwriting has its new bytes, and no other byte changes") {
    Mapped mapped(fixture);
    for (int round = 0; round < 10; ++round) {
        const auto [offset, size] = mapped.random_range();
        std::byte *pointer = mapped.map(PI_MAP_WRITE_DISCARD, offset, size);
        const Bytes bytes = fixture.random_bytes(size);
        std::memcpy(pointer, bytes.data(), size);
        std::memcpy(mapped.model.data() + offset, bytes.data(), size);
        mapped.unmap(pointer);
        mapped.require_model(join("the buffer after ", size, " bytes at ", offset,
                                  " were mapped with PI_MAP_WRITE_DISCARD"));
    }
}

CONFORMANCE_TEST("memory",
                 "overlapping ranges may be mapped for reading, each with an unmap of its own") {
    Mapped mapped(fixture);
    const uint64_t size = mapped.model.size();
    const std::byte *first = mapped.map(PI_MAP_READ, 0, size);
    const std::byte *second = mapped.map(PI_MAP_READ, size / 2, size - size / 2);
    const std::byte *again = mapped.map(PI_MAP_READ, 0, size);
    // While it is mapped for reading, commands may read it.
    mapped.require_model("the buffer while it is mapped for reading");
    mapped.unmap(const_cast<std::byte *>(first));
    require_same_bytes(second, mapped.model.data() + size / 2, size - size / 2,
                       "a range that is mapped still");
    require_same_bytes(again, mapped.model.data(), size, "another range that is mapped still");
    mapped.unmap(const_cast<std::byte *>(again));
    require_same_bytes(second, mapped.model.data() + size / 2, size - size / 2,
                       "the last mapped range");
    mapped.unmap(const_cast<std::byte *>(second));
    const Bytes bytes = fixture.random_bytes(size);
    fixture.upload(mapped.queue, mapped.mem, bytes);
    fixture.require_contents(mapped.queue, mapped.mem, bytes, "the buffer after all unmaps");
}

CONFORMANCE_TEST("memory", "disjoint ranges may be mapped for writing at the same time") {
    Mapped mapped(fixture, 4096);
    std::byte *parts[4];
    for (uint64_t i = 0; i < 4; ++i)
        parts[i] = mapped.map(PI_MAP_WRITE, i * 1024, 1000);
    for (uint64_t i = 0; i < 4; ++i) {
        const Bytes bytes = fixture.random_bytes(1000);
        std::memcpy(parts[i], bytes.data(), 1000);
        std::memcpy(mapped.model.data() + i * 1024, bytes.data(), 1000);
    }
    for (const uint64_t i : {2, 0, 3, 1})
        mapped.unmap(parts[i]);
    mapped.require_model("the buffer after four ranges were written");
}

CONFORMANCE_TEST("memory",
                 "commands write the rest of a buffer while a range is mapped for writing") {
    for (const uint64_t flags :
         {PI_MAP_WRITE + 0, PI_MAP_READ | PI_MAP_WRITE, PI_MAP_WRITE_DISCARD + 0}) {
        for (const bool of_view : {false, true}) {
            if (of_view && !fixture.can(PI_CAPABILITY_VIEW))
                continue;
            Mapped mapped(fixture);
            const uint64_t begin = of_view ? fixture.scopes().front().offset_alignment : 0;
            if (begin + 2 >= mapped.model.size())
                continue;
            const uint64_t room = mapped.model.size() - begin;
            const Mem view = of_view ? fixture.make_view(mapped.mem, begin, room) : Mem{};
            const pi_mem mem = of_view ? view.get() : mapped.mem.get();
            for (int round = 0; round < 4; ++round) {
                const uint64_t size = fixture.random(1, room - 1);
                const uint64_t offset = fixture.random(0, room - size);
                void *pointer = nullptr;
                fixture.wait(fixture.map(mapped.queue, mem, flags, offset, size, &pointer));
                const Bytes before = fixture.random_bytes(begin + offset);
                const Bytes behind = fixture.random_bytes(room - offset - size);
                const Bytes bytes = fixture.random_bytes(size);
                std::memcpy(pointer, bytes.data(), size);
                if (!before.empty())
                    fixture.upload(mapped.queue, mapped.mem, before);
                if (!behind.empty())
                    fixture.upload(mapped.queue, mapped.mem, behind, begin + offset + size);
                fixture.wait(fixture.unmap(mapped.queue, mem, pointer), "unmapping");
                mapped.model = before;
                mapped.model.insert(mapped.model.end(), bytes.begin(), bytes.end());
                mapped.model.insert(mapped.model.end(), behind.begin(), behind.end());
                mapped.require_model(join("the buffer whose bytes but ", size, " at ",
                                          begin + offset, " were written while these were mapped"));
            }
        }
    }
}

CONFORMANCE_TEST("memory", "a map and its unmap may be of different queues") {
    Mapped mapped(fixture);
    const Queue other = fixture.make_queue();
    std::byte *pointer = mapped.map(PI_MAP_WRITE_DISCARD, 0, mapped.model.size());
    mapped.model = fixture.random_bytes(mapped.model.size());
    std::memcpy(pointer, mapped.model.data(), mapped.model.size());
    fixture.wait(fixture.unmap(other, mapped.mem, pointer), "unmapping on another queue");
    mapped.require_model("the buffer that was unmapped on another queue");
}

CONFORMANCE_TEST("memory", "many buffers may be mapped at once, and unmapped in any order") {
    constexpr std::size_t count = 40;
    const Queue queue = fixture.make_queue();
    std::vector<Mem> mems;
    std::vector<Bytes> bytes;
    std::vector<void *> pointers(count, nullptr);
    for (std::size_t i = 0; i < count; ++i) {
        mems.push_back(fixture.make_buffer(300));
        bytes.push_back(fixture.random_bytes(300));
    }
    Event last;
    for (std::size_t i = 0; i < count; ++i)
        last = fixture.map(queue, mems[i], PI_MAP_WRITE_DISCARD, 0, 300, &pointers[i]);
    fixture.wait(last);
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(pointers[i], bytes[i].data(), 300);
        order[i] = i;
    }
    std::shuffle(order.begin(), order.end(), fixture.random());
    for (const std::size_t i : order)
        last = fixture.unmap(queue, mems[i], pointers[i]);
    fixture.wait(last);
    for (std::size_t i = 0; i < count; ++i)
        fixture.require_contents(queue, mems[i], bytes[i], join("buffer ", i, " of 40"));
}

CONFORMANCE_TEST("memory", "buffers are mapped and unmapped from many threads at once") {
    fixture.context(); // made here: the threads share it
    fixture.run_threads(6, [&](unsigned thread) {
        const Queue queue = fixture.make_queue();
        const Mem mem = fixture.make_buffer(2000);
        for (unsigned round = 0; round < 20; ++round) {
            const Bytes bytes(2000, static_cast<std::byte>(thread * 20 + round));
            void *pointer = nullptr;
            fixture.wait(fixture.map(queue, mem, PI_MAP_WRITE_DISCARD, 0, 2000, &pointer));
            std::memcpy(pointer, bytes.data(), 2000);
            fixture.wait(fixture.unmap(queue, mem, pointer));
            fixture.require_contents(queue, mem, bytes, "a thread's buffer");
        }
    });
}

CONFORMANCE_TEST("memory", "one buffer is mapped for reading by many threads at once") {
    constexpr uint64_t size = 16 * 1024, part = 256;
    const Bytes bytes = fixture.random_bytes(size);
    const Mem mem = fixture.make_buffer(fixture.place(), bytes);
    fixture.run_threads(4, [&](unsigned thread) {
        const Queue queue = fixture.make_queue();
        for (unsigned round = 0; round < 300; ++round) {
            const uint64_t offset = (thread + round) % 3 * 4096; // often that of another thread
            void *pointer = nullptr;
            fixture.wait(fixture.map(queue, mem, PI_MAP_READ, offset, part, &pointer));
            require_same_bytes(pointer, bytes.data() + offset, part, "what a thread has mapped");
            fixture.wait(fixture.unmap(queue, mem, pointer));
        }
    });
    const Queue queue = fixture.make_queue();
    fixture.require_contents(queue, mem, bytes, "a buffer that many threads have mapped");
}

CONFORMANCE_TEST("memory",
                 "a range may be mapped again with any flags while its unmap is pending") {
    Mapped mapped(fixture);
    const uint64_t flags[] = {PI_MAP_WRITE, PI_MAP_READ | PI_MAP_WRITE, PI_MAP_WRITE_DISCARD};
    for (const uint64_t again : flags) {
        const auto [offset, size] = mapped.random_range();
        std::byte *first = mapped.map(PI_MAP_READ, offset, size);
        const Event gate = fixture.make_host_event();
        const Event unmapped = fixture.unmap(mapped.queue, mapped.mem, first, {gate});
        void *second = nullptr;
        const Event done =
            fixture.map(mapped.queue, mapped.mem, again, offset, size, &second, {unmapped});
        fixture.signal(gate);
        fixture.wait(done, "mapping again");
        const Bytes bytes = fixture.random_bytes(size);
        std::memcpy(second, bytes.data(), size);
        std::memcpy(mapped.model.data() + offset, bytes.data(), size);
        mapped.unmap(second);
        mapped.require_model(join("the buffer after a map for reading, and one with the flags ",
                                  again, " before the unmap of that had run"));
    }
}

CONFORMANCE_TEST(
    "memory", "an unmap is of its own map's range while the unmap of an earlier map is pending") {
    Mapped mapped(fixture);
    const uint64_t size = mapped.model.size();
    std::byte *first = mapped.map(PI_MAP_WRITE, 0, size);
    mapped.model = fixture.random_bytes(size);
    std::memcpy(first, mapped.model.data(), size);
    const Event gate = fixture.make_host_event();
    const Event unmapped = fixture.unmap(mapped.queue, mapped.mem, first, {gate});
    void *second = nullptr;
    const Event done =
        fixture.map(mapped.queue, mapped.mem, PI_MAP_READ, 0, 64, &second, {unmapped});
    fixture.signal(gate);
    fixture.wait(done, "mapping again");
    require_same_bytes(static_cast<std::byte *>(second), mapped.model.data(), 64,
                       "the begin, which is mapped for reading");
    const Bytes bytes = fixture.random_bytes(size / 2);
    fixture.upload(mapped.queue, mapped.mem, bytes, size - size / 2);
    std::copy(bytes.begin(), bytes.end(),
              mapped.model.end() - static_cast<std::ptrdiff_t>(size / 2));
    mapped.unmap(second);
    mapped.require_model("the buffer after a write behind what was mapped for reading");
}

CONFORMANCE_TEST("memory", "a mapped buffer may be released after its unmap is enqueued") {
    Mapped mapped(fixture);
    std::byte *pointer = mapped.map(PI_MAP_READ, 0, mapped.model.size());
    const Event gate = fixture.make_host_event();
    const Event unmapped = fixture.unmap(mapped.queue, mapped.mem, pointer, {gate});
    mapped.mem.reset();
    fixture.signal(gate);
    fixture.wait(unmapped);
}

} // namespace
} // namespace pi::suite
