// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on USM as cases.

#include "checks.hpp"
#include "command_cases.hpp"
#include "usm.hpp"

namespace pi::suite {
namespace {

constexpr uint64_t size = 4096;

template <typename Desc>
pi_result pass(pi_queue queue, Desc desc, uint64_t flags, uint32_t wait_count,
               const pi_event *wait_list, pi_event *out_event) {
    desc.flags |= flags;
    return Description<Desc>::enqueue(queue, &desc, wait_count, wait_list, out_event);
}

// Common base: USM, and the bytes that the command must leave there.
class UsmCase : public CommandCase {
public:
    UsmCase(Fixture &fixture, std::string name)
        : CommandCase(std::move(name)), fixture_(fixture), now_(fixture.random_bytes(size)),
          usm_(fixture, any_usm_kind(fixture), size) {
        usm_upload(fixture, fixture.make_queue(), usm_.at(), now_);
    }

protected:
    void require_usm(pi_queue other, const Bytes &expected, const char *when) {
        require_usm_contents(fixture_, other, usm_.at(), expected, join(name(), ": USM ", when));
    }

    Fixture &fixture_;
    Bytes now_;
    Usm usm_;
};

class UsmCopy final : public UsmCase {
public:
    explicit UsmCopy(Fixture &fixture)
        : UsmCase(fixture, "piEnqueueUsmCopy"), before_(fixture.random_bytes(size)),
          into_(before_) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        const Regions regions{linear(0, 0, size)};
        return pass(queue, usm_copy_desc(usm_.at(), into_.data(), regions), flags, wait_count,
                    wait_list, out_event);
    }
    void disturb(pi_queue other) override {
        now_ = fixture_.random_bytes(size);
        usm_upload(fixture_, other, usm_.at(), now_);
    }
    void require_undone(pi_queue) override {
        require_same_bytes(into_.data(), before_.data(), size,
                           name() + ": the host's bytes before it runs");
    }
    void require_done(pi_queue) override {
        require_same_bytes(into_.data(), now_.data(), size, name() + ": what was copied");
    }

private:
    Bytes before_;
    Bytes into_;
};

class UsmFill final : public UsmCase {
public:
    explicit UsmFill(Fixture &fixture)
        : UsmCase(fixture, "piEnqueueUsmFill"), pattern_(fixture.random_bytes(8)) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        return pass(queue, usm_fill_desc(usm_.at(), pattern_, size), flags, wait_count, wait_list,
                    out_event);
    }
    void disturb(pi_queue other) override {
        now_ = fixture_.random_bytes(size);
        usm_upload(fixture_, other, usm_.at(), now_);
    }
    void require_undone(pi_queue other) override { require_usm(other, now_, "before it runs"); }
    void require_done(pi_queue other) override {
        require_usm(other, repeated(pattern_, size), "that was filled");
    }

private:
    Bytes pattern_;
};

// Hints: only their events are observable.
template <typename Desc>
class UsmHint final : public UsmCase {
public:
    explicit UsmHint(Fixture &fixture) : UsmCase(fixture, Description<Desc>::name) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        auto desc = pi::desc<Desc>();
        desc.pointer = usm_.at();
        desc.size = size;
        if constexpr (requires { desc.advice; })
            desc.advice = PI_USM_ADVICE_READ_MOSTLY;
        return pass(queue, desc, flags, wait_count, wait_list, out_event);
    }
    void require_undone(pi_queue other) override { require_usm(other, now_, "before it runs"); }
    void require_done(pi_queue other) override { require_usm(other, now_, "after a hint"); }
};

class UsmAlloc final : public CommandCase {
public:
    explicit UsmAlloc(Fixture &fixture) : CommandCase("piEnqueueUsmAlloc"), fixture_(fixture) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        auto desc = pi::desc<pi_usm_alloc_desc>();
        desc.size = size;
        desc.out_pointer = &pointer_;
        return pass(queue, desc, flags, wait_count, wait_list, out_event);
    }
    void require_done(pi_queue other) override {
        require(!same(pointer_, poison<void *>()), name(), ": no address was written");
        const Bytes bytes = fixture_.random_bytes(size);
        usm_upload(fixture_, other, pointer_, bytes);
        require_usm_contents(fixture_, other, pointer_, bytes, name() + ": what was allocated");
    }
    void clean_up(pi_queue) override {
        if (!same(pointer_, poison<void *>()))
            require_success(piUsmFree(fixture_.context(), pointer_), name(), ": freeing it");
    }

private:
    Fixture &fixture_;
    void *pointer_ = poison<void *>();
};

class UsmFree final : public UsmCase {
public:
    explicit UsmFree(Fixture &fixture)
        : UsmCase(fixture, "piEnqueueUsmFree"), pointer_(usm_.take()) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        auto desc = pi::desc<pi_usm_free_desc>();
        desc.pointer = pointer_;
        return pass(queue, desc, flags, wait_count, wait_list, out_event);
    }
    void require_undone(pi_queue other) override {
        require(is_live_usm(fixture_.context(), pointer_), name(), ": freed before it runs");
        require_usm_contents(fixture_, other, pointer_, now_, name() + ": USM before it runs");
    }
    void require_done(pi_queue) override {
        require(!is_live_usm(fixture_.context(), pointer_), name(), ": USM is not freed");
        freed_ = true;
    }
    void clean_up(pi_queue) override {
        if (!freed_ && is_live_usm(fixture_.context(), pointer_))
            require_success(piUsmFree(fixture_.context(), pointer_), name(),
                            ": freeing what the command did not");
    }

private:
    void *pointer_;
    bool freed_ = false;
};

} // namespace

void add_usm_command_cases(Fixture &fixture, CommandCases &commands) {
    if (fixture.can(PI_CAPABILITY_USM)) {
        commands.push_back(std::make_unique<UsmCopy>(fixture));
        commands.push_back(std::make_unique<UsmFill>(fixture));
        commands.push_back(std::make_unique<UsmHint<pi_usm_prefetch_desc>>(fixture));
        commands.push_back(std::make_unique<UsmHint<pi_usm_advise_desc>>(fixture));
    }
    if (fixture.can(PI_CAPABILITY_USM) && fixture.can(PI_CAPABILITY_USM_ASYNC)) {
        commands.push_back(std::make_unique<UsmAlloc>(fixture));
        commands.push_back(std::make_unique<UsmFree>(fixture));
    }
}

} // namespace pi::suite
