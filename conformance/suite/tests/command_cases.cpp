// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "command_cases.hpp"

#include "checks.hpp"
#include "kernels.hpp"

#include <atomic>

namespace pi::suite {
namespace {

constexpr uint64_t size = 4096;

// Common base of the cases on buffers. `now_` is the content when the command runs at the right
// time.
class BufferCase : public CommandCase {
public:
    BufferCase(Fixture &fixture, std::string name)
        : CommandCase(std::move(name)), fixture_(fixture), now_(fixture.random_bytes(size)),
          mem_(fixture.make_buffer(fixture.place(), now_)) {}

    void disturb(pi_queue other) override {
        now_ = fixture_.random_bytes(size);
        fixture_.upload(other, mem_, now_);
    }

protected:
    template <typename Desc>
    pi_result pass(pi_queue queue, Desc desc, uint64_t flags, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event) {
        desc.flags |= flags;
        return Description<Desc>::enqueue(queue, &desc, wait_count, wait_list, out_event);
    }
    void require_buffer(pi_queue other, pi_mem mem, const Bytes &expected, const char *when) {
        fixture_.require_contents(other, mem, expected, join(name(), ": the buffer ", when));
    }

    Fixture &fixture_;
    Bytes now_;
    Mem mem_;
};

class Read final : public BufferCase {
public:
    explicit Read(Fixture &fixture)
        : BufferCase(fixture, "piEnqueueMemBufferRead"), before_(fixture.random_bytes(size)),
          into_(before_) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        const pi_region region = linear(0, 0, size);
        auto desc = pi::desc<pi_buffer_read_desc>();
        desc.mem = mem_;
        desc.host_ptr = into_.data();
        desc.region_count = 1;
        desc.regions = &region;
        return pass(queue, desc, flags, wait_count, wait_list, out_event);
    }
    void require_undone(pi_queue) override {
        require_same_bytes(into_.data(), before_.data(), size,
                           name() + ": the host's bytes before it runs");
    }
    void require_done(pi_queue) override {
        require_same_bytes(into_.data(), now_.data(), size, name() + ": what was read");
    }
    void release(bool) override { mem_.reset(); }

private:
    Bytes before_;
    Bytes into_;
};

class Write final : public BufferCase {
public:
    explicit Write(Fixture &fixture)
        : BufferCase(fixture, "piEnqueueMemBufferWrite"), from_(fixture.random_bytes(size)) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        const pi_region region = linear(0, 0, size);
        auto desc = pi::desc<pi_buffer_write_desc>();
        desc.mem = mem_;
        desc.host_ptr = from_.data();
        desc.region_count = 1;
        desc.regions = &region;
        return pass(queue, desc, flags, wait_count, wait_list, out_event);
    }
    void require_undone(pi_queue other) override {
        require_buffer(other, mem_, now_, "before it runs");
    }
    void require_done(pi_queue other) override {
        require_buffer(other, mem_, from_, "that was written");
    }
    void release(bool changed) override {
        if (changed)
            mem_.reset();
    }

private:
    Bytes from_;
};

class Copy final : public BufferCase {
public:
    explicit Copy(Fixture &fixture)
        : BufferCase(fixture, "piEnqueueMemBufferCopy"), before_(fixture.random_bytes(size)),
          dst_(fixture.make_buffer(fixture.place(), before_)) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        const pi_region region = linear(0, 0, size);
        auto desc = pi::desc<pi_buffer_copy_desc>();
        desc.src = mem_;
        desc.dst = dst_;
        desc.region_count = 1;
        desc.regions = &region;
        return pass(queue, desc, flags, wait_count, wait_list, out_event);
    }
    void require_undone(pi_queue other) override {
        require_buffer(other, dst_, before_, "before it runs");
    }
    void require_done(pi_queue other) override {
        require_buffer(other, dst_, now_, "that was copied to");
        if (mem_.get() != nullptr)
            require_buffer(other, mem_, now_, "that was copied from");
    }
    void release(bool changed) override {
        mem_.reset();
        if (changed)
            dst_.reset();
    }

private:
    Bytes before_;
    Mem dst_;
};

class Fill final : public BufferCase {
public:
    explicit Fill(Fixture &fixture)
        : BufferCase(fixture, "piEnqueueMemBufferFill"), pattern_(fixture.random_bytes(8)) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        auto desc = pi::desc<pi_buffer_fill_desc>();
        desc.mem = mem_;
        desc.pattern = pattern_.data();
        desc.pattern_size = pattern_.size();
        desc.size = size;
        return pass(queue, desc, flags, wait_count, wait_list, out_event);
    }
    void require_undone(pi_queue other) override {
        require_buffer(other, mem_, now_, "before it runs");
    }
    void require_done(pi_queue other) override {
        Bytes expected;
        while (expected.size() < size)
            expected.insert(expected.end(), pattern_.begin(), pattern_.end());
        require_buffer(other, mem_, expected, "that was filled");
    }
    void release(bool changed) override {
        if (changed)
            mem_.reset();
    }

private:
    Bytes pattern_;
};

class Map final : public BufferCase {
public:
    explicit Map(Fixture &fixture) : BufferCase(fixture, "piEnqueueMemBufferMap") {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        auto desc = pi::desc<pi_buffer_map_desc>();
        desc.flags = PI_MAP_READ;
        desc.mem = mem_;
        desc.size = size;
        desc.out_pointer = &pointer_;
        return pass(queue, desc, flags, wait_count, wait_list, out_event);
    }
    void require_done(pi_queue) override {
        require(!same(pointer_, poison<void *>()), name(), ": no address was written");
        require_same_bytes(pointer_, now_.data(), size, name() + ": what is mapped");
        mapped_ = true;
    }
    void clean_up(pi_queue other) override {
        if (mem_.get() == nullptr)
            return;
        if (mapped_)
            fixture_.wait(fixture_.unmap(other, mem_, pointer_), "unmapping");
        else // the address may be written early, but not by a command that failed
            require(same(pointer_, poison<void *>()), name(),
                    ": an address was written, although the command never ran");
    }
    void release(bool changed) override {
        if (changed)
            mem_.reset();
    }

private:
    void *pointer_ = poison<void *>();
    bool mapped_ = false;
};

// The range is mapped before; the host's bytes must be in the buffer after the unmap.
class Unmap final : public BufferCase {
public:
    explicit Unmap(Fixture &fixture) : BufferCase(fixture, "piEnqueueMemUnmap") {
        const Queue queue = fixture.make_queue();
        fixture.wait(fixture.map(queue, mem_, PI_MAP_READ | PI_MAP_WRITE, 0, size, &pointer_));
        now_ = fixture.random_bytes(size);
        std::memcpy(pointer_, now_.data(), size);
    }
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        auto desc = pi::desc<pi_unmap_desc>();
        desc.mem = mem_;
        desc.pointer = pointer_;
        return pass(queue, desc, flags, wait_count, wait_list, out_event);
    }
    void disturb(pi_queue) override {}
    void require_done(pi_queue other) override {
        require_buffer(other, mem_, now_, "that was unmapped");
        unmapped_ = true;
    }
    void clean_up(pi_queue other) override {
        if (unmapped_ || mem_.get() == nullptr)
            return;
        fixture_.wait(fixture_.unmap(other, mem_, pointer_), "unmapping what is mapped still");
        require_buffer(other, mem_, now_, "that was unmapped in the end");
    }
    void release(bool changed) override {
        if (changed)
            mem_.reset();
    }

private:
    void *pointer_ = nullptr;
    bool unmapped_ = false;
};

class Launch final : public BufferCase {
public:
    explicit Launch(Fixture &fixture)
        : BufferCase(fixture, "piEnqueueKernelLaunch"), program_(make_program(fixture)),
          kernel_(make_kernel(program_, "add")),
          value_(static_cast<uint32_t>(fixture.random(1, UINT32_MAX))) {
        arguments_.buffer(mem_).value(value_);
    }
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        return pass(queue, launch_desc(kernel_, arguments_, size / sizeof value_), flags,
                    wait_count, wait_list, out_event);
    }
    void require_undone(pi_queue other) override {
        require_buffer(other, mem_, now_, "before it runs");
    }
    void require_done(pi_queue other) override {
        std::vector<uint32_t> words = words_of(now_);
        for (uint32_t &word : words)
            word += value_;
        require_buffer(other, mem_, bytes_of(words), "that the kernel has changed");
    }
    void release(bool changed) override {
        kernel_.reset();
        program_.reset();
        if (changed)
            mem_.reset();
    }

private:
    Program program_;
    Kernel kernel_;
    uint32_t value_;
    Arguments arguments_;
};

class HostFunction final : public CommandCase {
public:
    HostFunction() : CommandCase("piEnqueueHostFunction") {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        auto desc = pi::desc<pi_host_function_desc>();
        desc.flags = flags;
        desc.function = [](void *calls) { ++*static_cast<std::atomic<int> *>(calls); };
        desc.user_data = &calls_;
        return piEnqueueHostFunction(queue, &desc, wait_count, wait_list, out_event);
    }
    void require_undone(pi_queue) override {
        require_equal(calls_.load(), 0, "piEnqueueHostFunction: the calls before it runs");
    }
    void require_done(pi_queue) override {
        require_equal(calls_.load(), 1, "piEnqueueHostFunction: the calls of the function");
    }

private:
    std::atomic<int> calls_{0};
};

// A command without an effect but its event.
template <typename Desc>
class Marker final : public CommandCase {
public:
    Marker() : CommandCase(Description<Desc>::name) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        auto desc = pi::desc<Desc>();
        desc.flags = flags;
        return Description<Desc>::enqueue(queue, &desc, wait_count, wait_list, out_event);
    }
};

bool runs_kernels(Fixture &fixture) {
    try {
        kernel_format(fixture);
        return true;
    } catch (const Skip &) {
        return false;
    }
}

} // namespace

Event CommandCase::start(pi_queue queue, const Waits &waits, uint64_t flags) {
    Event event;
    require_success(enqueue(queue, flags, static_cast<uint32_t>(waits.size()),
                            waits.empty() ? nullptr : waits.data(), event.out()),
                    name());
    require(event.get() != nullptr, name(), ": succeeded, but returned no event");
    return event;
}

CommandCases make_command_cases(Fixture &fixture) {
    CommandCases commands;
    commands.push_back(std::make_unique<Read>(fixture));
    commands.push_back(std::make_unique<Write>(fixture));
    commands.push_back(std::make_unique<Copy>(fixture));
    commands.push_back(std::make_unique<Fill>(fixture));
    commands.push_back(std::make_unique<Map>(fixture));
    commands.push_back(std::make_unique<Unmap>(fixture));
    commands.push_back(std::make_unique<Marker<pi_events_wait_desc>>());
    commands.push_back(std::make_unique<Marker<pi_barrier_desc>>());
    if (fixture.can(PI_CAPABILITY_TIMESTAMP))
        commands.push_back(std::make_unique<Marker<pi_timestamp_desc>>());
    if (fixture.can(PI_CAPABILITY_HOST_FUNCTION))
        commands.push_back(std::make_unique<HostFunction>());
    if (runs_kernels(fixture))
        commands.push_back(std::make_unique<Launch>(fixture));
    add_usm_command_cases(fixture, commands);
    add_image_command_cases(fixture, commands);
    add_global_command_cases(fixture, commands);
    return commands;
}

} // namespace pi::suite
