// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "random_program.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <sstream>

namespace rc {
template <>
struct Arbitrary<pi::suite::Step> {
    static Gen<pi::suite::Step> arbitrary() {
        using pi::suite::Step;
        // Sizes vary from the first program on; only the length grows.
        return gen::build<Step>(gen::set(
            &Step::numbers, gen::resize(kNominalSize, gen::arbitrary<decltype(Step::numbers)>())));
    }
};
} // namespace rc

namespace pi::suite {

uint64_t Draw::operator()(uint64_t low, uint64_t high) {
    const uint64_t number = next_ < step_.numbers.size() ? step_.numbers[next_++] : 0;
    return low + number % (high - low + 1);
}

namespace {

constexpr std::size_t gate_count = 2;

bool share(const std::vector<Model> &some, const std::vector<Model> &others) {
    return std::any_of(some.begin(), some.end(), [&](const Model &model) {
        return std::find(others.begin(), others.end(), model) != others.end();
    });
}

// The actions of a program: enqueued one after another, on queues that may run them together.
class Schedule {
public:
    Schedule(Fixture &fixture, const std::vector<uint64_t> &queue_flags)
        : fixture_(fixture), flags_(queue_flags) {
        for (const uint64_t flags : flags_)
            queues_.push_back(fixture.make_queue(flags));
    }
    Schedule(const Schedule &) = delete;
    Schedule &operator=(const Schedule &) = delete;
    // Commands use memory of the actions.
    ~Schedule() {
        for (const Event &gate : gates_)
            piEventSignalHost(gate, PI_SUCCESS);
        for (const Item &item : items_) {
            const pi_event event = item.event;
            if (event != nullptr)
                piEventWait(event, fixture_.patience_ns());
        }
    }

    pi_queue first_queue() const { return queues_.front(); }

    void add(Action action, Draw &draw) {
        Item item{std::move(action), draw(0, queues_.size() - 1), {}, {}};
        item.before.resize(items_.size());
        if (item.action.on_host)
            end_all();
        while (flags_.size() > 1 && gates_.size() < gate_count)
            gates_.push_back(fixture_.make_host_event());
        const Waits waits = waits_of(item, draw);
        item.event = item.action.enqueue(queues_[item.queue], waits);
        item.action.apply();
        if (item.event.get() == nullptr) {
            // It has no event, and needed none.
            item.action.reads.clear();
            item.action.writes.clear();
            item.before.clear();
        }
        items_.push_back(std::move(item));
    }

    // Waits for all commands, and runs the checks of the actions.
    void end() {
        end_all();
        for (const Item &item : items_)
            item.action.check();
    }

    std::string text_of_last() const {
        const Item &last = items_.back();
        return join(last.action.text, queues_.size() > 1 ? join(", on queue ", last.queue) : "",
                    last.waits_text);
    }

private:
    struct Item {
        Action action;
        std::size_t queue;
        Event event;
        std::vector<bool> before; ///< the items that are ordered before it
        std::string waits_text = {};
    };

    static void note(Item &item, const Item &other, std::size_t index) {
        item.before[index] = true;
        for (std::size_t i = 0; i < other.before.size(); ++i)
            item.before[i] = item.before[i] || other.before[i];
    }

    // The fewest events that order it after the actions before it, and some more at random.
    Waits waits_of(Item &item, Draw &draw) {
        const bool in_order = (flags_[item.queue] & PI_QUEUE_OUT_OF_ORDER) == 0;
        for (std::size_t i = items_.size(); in_order && i-- > 0;)
            if (items_[i].queue == item.queue)
                note(item, items_[i], i);
        Waits waits;
        const auto wait_for = [&](std::size_t i) {
            note(item, items_[i], i);
            if (items_[i].event.get() == nullptr)
                return;
            waits.push_back(items_[i].event);
            item.waits_text += join(item.waits_text.empty() ? ", behind step " : " and ", i + 1);
        };
        const Action &mine = item.action;
        for (std::size_t i = items_.size(); i-- > ended_;) {
            const Action &other = items_[i].action;
            if (!item.before[i] &&
                (share(mine.writes, other.writes) || share(mine.writes, other.reads) ||
                 share(mine.reads, other.writes)))
                wait_for(i);
        }
        if (gates_.empty() || mine.on_host)
            return waits;
        if (const uint64_t gate = draw(0, 2 * gate_count); gate > 0 && gate <= gate_count) {
            waits.insert(waits.begin(), gates_[gate - 1]);
            item.waits_text += join(", held by host event ", gate);
        }
        if (draw(0, 3) == 1 && !items_.empty())
            wait_for(draw(0, items_.size() - 1));
        return waits;
    }

    void end_all() {
        // The first gate last, as its commands are before most others.
        for (; !gates_.empty(); gates_.pop_back())
            fixture_.signal(gates_.back());
        for (; ended_ < items_.size(); ++ended_)
            if (items_[ended_].event.get() != nullptr)
                fixture_.wait(items_[ended_].event, join("waiting for step ", ended_ + 1));
    }

    Fixture &fixture_;
    const std::vector<uint64_t> flags_;
    std::vector<Queue> queues_;
    std::vector<Event> gates_; ///< not signalled
    std::vector<Item> items_;
    std::size_t ended_ = 0;
};

// Throws Failure with the program's text.
void run_program(Fixture &fixture, const std::vector<uint64_t> &queue_flags, World &world,
                 const std::vector<Step> &steps) {
    std::ostringstream program;
    try {
        Schedule schedule(fixture, queue_flags);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            Draw draw(steps[i]);
            Action action = world.lay_out(draw);
            const std::string text = action.text;
            program << "\n  " << i + 1 << ". ";
            const auto reported = program.tellp();
            program << text; // the text of the failure if it is not accepted
            schedule.add(std::move(action), draw);
            program.seekp(reported);
            program << schedule.text_of_last();
        }
        schedule.end();
        world.require_models(schedule.first_queue());
    } catch (const Failure &failure) {
        throw Failure{
            join("the shortest program found that differs:", program.str(), "\n", failure.text)};
    }
}

class Silent final : public rc::detail::TestListener {
    void onTestCaseFinished(const rc::detail::CaseDescription &) override {}
    void onShrinkTried(const rc::detail::CaseDescription &, bool) override {}
    void onTestFinished(const rc::detail::TestMetadata &, const rc::detail::TestResult &) override {
    }
};

} // namespace

std::vector<uint64_t> several_queues(Fixture &fixture) {
    std::vector<uint64_t> queues(2, 0);
    const auto flags =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_QUEUE_FLAGS);
    if ((flags & PI_QUEUE_OUT_OF_ORDER) != 0)
        queues.insert(queues.end(), 2, PI_QUEUE_OUT_OF_ORDER);
    return queues;
}

void require_programs(Fixture &fixture, const std::vector<uint64_t> &queue_flags,
                      const std::function<std::unique_ptr<World>(Draw &)> &make_world) {
    rc::detail::TestParams params;
    params.seed = fixture.random(0, UINT64_MAX);
    params.maxSuccess = 40;
    params.maxSize = 60;
    Silent silent;
    std::string shortest; // a failing program is shrunk: the last failure is of the shortest
    const auto result = rc::detail::checkTestable(
        [&](const Step &shape, const std::vector<Step> &steps) {
            try {
                Draw draw(shape);
                run_program(fixture, queue_flags, *make_world(draw), steps);
            } catch (const Failure &failure) {
                shortest = failure.text;
                RC_FAIL();
            }
        },
        rc::detail::TestMetadata{}, params, silent,
        std::unordered_map<std::string, rc::detail::Reproduce>{});
    if (result.is<rc::detail::SuccessResult>())
        return;
    std::ostringstream text;
    if (shortest.empty())
        rc::detail::printResultMessage(result, text);
    fail_at({nullptr, 0}, shortest + text.str());
}

} // namespace pi::suite
