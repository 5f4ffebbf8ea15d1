// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "actor.hpp"

#include <algorithm>
#include <cstring>

namespace random_programs {
namespace {

/// The largest flush atom: flush and invalidate work on whole atoms.
constexpr uint64_t largest_atom = 64;
Range in_atoms(const Range &range) {
    return {range.begin / largest_atom * largest_atom,
            (range.end + largest_atom - 1) / largest_atom * largest_atom};
}

} // namespace

Actor::Actor(const Setting &setting, std::vector<std::shared_ptr<Area>> areas)
    : setting_(setting), areas_(std::move(areas)), queues_(setting.file.places()), case_(setting) {
    for (const std::shared_ptr<Area> &area : areas_) {
        case_.add(*area);
    }
    for (PlaceIndex place = 1; place < queues_.size(); ++place) {
        queues_[place] = setting.machine.make_queue(place);
    }
}

Actor::~Actor() {
    holds_.clear();
    bool over = true;
    for (const Use &use : uses_) { // commands use memory of the uses
        over = over && (use.event.get() == nullptr ||
                        piEventWait(use.event.get(), std::chrono::nanoseconds(patience).count()) !=
                            PI_ERROR_TIMEOUT);
    }
    over = setting_.runtime.finish(patience) && over;
    if (!over) {
        static_cast<void>(new std::deque<Use>(std::move(uses_))); // a command hangs: leak
    }
}

std::string Actor::case_text() const {
    const std::string text = case_.text();
    return text.empty() ? "" : "\nas a case for pi-run:\n-----\n" + text + "-----";
}

void Actor::step(Draw draw, std::size_t number) {
    number_ = number;
    text_ << "\n  " << number << ". ";
    const uint64_t kind = draw(0, 31);
    if (kind <= 19) {
        run(choose(draw), draw, false);
    } else if (kind <= 22) {
        run(choose(draw, true), draw, setting_.may_hold);
    } else if (kind <= 24) {
        prefetch(choose(draw, true));
    } else if (kind <= 26) {
        broadcast(choose(draw, true), draw);
    } else if (kind == 27) {
        abandon(choose(draw));
    } else if (kind == 28) {
        text_ << "wait for all";
        settle();
    } else if (kind == 29) {
        const uint64_t bytes = draw(0, 1) * draw(0, UINT16_MAX);
        text_ << "trim to " << bytes << " bytes";
        setting_.runtime.trim(bytes);
    } else if (kind == 30) {
        replace(draw);
    } else {
        const Choice choice = choose(draw, true);
        log("explain", choice);
        choice.area->storage.buffer().explain(choice.place, choice.range.begin,
                                              choice.range.size());
    }
    if (setting_.patient) {
        settle();
        if (!setting_.runtime.finish(patience)) { // idle memory can be evicted from here on
            throw Failure{"the runtime is never finished"};
        }
    }
}

Actor::Choice Actor::choose(Draw &draw, bool only_read) {
    static constexpr Access accesses[] = {Access::read, Access::write, Access::read_write,
                                          Access::discard_write};
    Choice choice{draw.one_of(areas_),
                  static_cast<PlaceIndex>(draw(0, setting_.file.places() - 1)),
                  draw.one_of(accesses),
                  {}};
    if (only_read || choice.area->read_only) {
        choice.access = Access::read;
    }
    const Range &all = choice.area->range;
    choice.range.begin = draw(all.begin, all.end - 1);
    choice.range.end = choice.range.begin + 1;
    const uint64_t most = all.end - choice.range.begin;
    switch (draw(0, 3)) {
    case 0:
        choice.range.end += draw(0, std::min<uint64_t>(most, 300) - 1);
        break;
    case 1:
        choice.range.end += draw(0, most - 1);
        break;
    default:
        choice.range = all;
        break;
    }
    return choice;
}

void Actor::log(const std::string &what, const Choice &choice) {
    text_ << what << " " << to_string(choice.range) << " of " << choice.area->name << " at "
          << setting_.file.name(choice.place);
}

bool Actor::may_fail(pi_result result) const {
    switch (setting_.trouble) {
    case Trouble::none:
        return false;
    case Trouble::pressure:
        return result == PI_ERROR_OUT_OF_DEVICE_MEMORY && !setting_.patient;
    default:
        return result != PI_ERROR_TIMEOUT && result != PI_ERROR_INVALID_OPERATION;
    }
}

/// Acquires from a buffer that contains the range, possibly a small one.
std::optional<Acquisition> Actor::acquire(const Choice &choice, Draw &draw, Use &use) {
    const Range &all = choice.area->range;
    const Range &range = choice.range;
    const uint64_t begin = draw(0, 1) == 0 ? all.begin : draw(all.begin, range.begin);
    const Buffer view = choice.area->storage.buffer(begin, all.end - begin);
    try {
        note(choice, choice.access);
        return view.acquire(choice.place, choice.access, range.begin - begin, range.size());
    } catch (const Error &error) {
        use.result = error.code();
        use.error = error.what();
        return {};
    }
}

void Actor::run(const Choice &choice, Draw &draw, bool hold) {
    log(hold ? "hold for read" : to_string(choice.access), choice);
    release_holds(*choice.area, choice.range);
    Use &use = uses_.emplace_back(Use{number_,
                                      choice.area,
                                      choice.place,
                                      choice.range,
                                      choice.access,
                                      {},
                                      {},
                                      PI_SUCCESS,
                                      false,
                                      {}});
    const uint64_t size = choice.range.size();
    if (is_fetching(choice.access)) {
        use.job.seen.resize(size);
    }
    if (is_writing(choice.access)) {
        use.job.fresh_offset = choice.access == Access::write ? draw(0, size - 1) : 0;
        use.job.fresh = fresh_bytes(size - use.job.fresh_offset, number_);
    }
    case_.use(*choice.area, choice.place, choice.range, choice.access, use.job.fresh.size(),
              number_);
    std::optional<Acquisition> acquisition = acquire(choice, draw, use);
    if (!acquisition) {
        return;
    }
    try {
        if (choice.place == host_place) {
            run_at_host(*acquisition, use);
        } else {
            run_at_device(*acquisition, use);
        }
        if (hold) {
            holds_.push_back({std::move(*acquisition), &use});
        } else {
            acquisition->release(use.event.get());
        }
    } catch (const Error &error) {
        use.result = error.code();
        use.error = error.what();
        if (use.event.get() != nullptr) { // it must end before its acquisition is abandoned
            piEventWait(use.event.get(), std::chrono::nanoseconds(patience).count());
            use.event.reset();
        }
    }
}

void Actor::run_at_host(Acquisition &acquisition, Use &use) {
    acquisition.wait(patience);
    auto *const bytes = reinterpret_cast<uint8_t *>(acquisition.pointer());
    std::copy_n(bytes, use.job.seen.size(), use.job.seen.begin());
    std::copy(use.job.fresh.begin(), use.job.fresh.end(), bytes + use.job.fresh_offset);
    use.has_run = true;
}

void Actor::run_at_device(Acquisition &acquisition, Use &use) {
    use.event = setting_.machine.launch(queues_[use.place].get(), acquisition, use.job);
    use.has_run = true;
}

/// Reports a use to the models.
void Actor::note(const Choice &choice, Access access) const {
    choice.area->acquired(choice.place, choice.range, access,
                          setting_.patient ? Validity::Choice::cheapest : Validity::Choice::any);
}

void Actor::prefetch(const Choice &choice) {
    log("prefetch", choice);
    case_.prefetch(*choice.area, choice.place, choice.range);
    release_holds(*choice.area, choice.range);
    note(choice, Access::read);
    try {
        choice.area->storage.buffer().prefetch(choice.place, choice.range.begin,
                                               choice.range.size());
    } catch (const Error &error) {
        if (!may_fail(error.code())) {
            throw Failure{std::string("prefetch: ") + error.what()};
        }
    }
}

/// Broadcasts to the chosen place and others. The model accepts any source that has the bytes,
/// since a sender is busy for the next place.
void Actor::broadcast(const Choice &choice, Draw &draw) {
    log("broadcast", choice);
    release_holds(*choice.area, choice.range);
    std::vector<PlaceIndex> places{choice.place};
    const uint64_t others = draw(0, UINT16_MAX);
    for (uint32_t offset = 1; offset < setting_.file.places(); ++offset) {
        if ((others >> offset % 16 & 1) != 0) {
            places.push_back((choice.place + offset) % setting_.file.places());
            text_ << ", " << setting_.file.name(places.back());
        }
    }
    case_.broadcast(*choice.area, places, choice.range);
    for (const PlaceIndex place : places) {
        choice.area->acquired(place, choice.range, Access::read, Validity::Choice::any);
    }
    try {
        choice.area->storage.buffer().broadcast(places, choice.range.begin, choice.range.size());
    } catch (const Error &error) {
        if (!may_fail(error.code())) {
            throw Failure{std::string("broadcast: ") + error.what()};
        }
    }
}

/// Destroys an acquisition without a release. Earlier uses end first, so that each byte's place is
/// known.
void Actor::abandon(const Choice &choice) {
    log(std::string("abandon ") + to_string(choice.access), choice);
    settle();
    if (is_fetching(choice.access)) { // and the write never ends
        note(choice, Access::read);
    }
    const PlaceIndex home = choice.area->memories->of(choice.place);
    case_.abandon(*choice.area, choice.place, choice.range, choice.access);
    try {
        Acquisition use = choice.area->storage.buffer().acquire(
            choice.place, choice.access, choice.range.begin, choice.range.size());
        use.wait(patience);
        // With other threads, the rest may wait for this acquisition.
        if (setting_.may_hold && !choice.area->storage.finish(patience)) {
            throw Failure{"a storage is never finished"};
        }
    } catch (const Error &error) {
        if (!may_fail(error.code())) {
            throw Failure{std::string("abandon: ") + error.what()};
        }
    }
    if (is_writing(choice.access)) {
        const std::lock_guard lock(choice.area->mutex);
        choice.area->validity.abandoned(home, choice.range);
        choice.area->contents.fail_write(choice.place, choice.range, false);
    }
}

/// Replaces a storage by another, possibly with work in flight.
void Actor::replace(Draw &draw) {
    std::shared_ptr<Area> &old = draw.one_of(areas_);
    if (old->range.size() != old->storage.size()) { // it is a slice
        text_ << "nothing";
        return;
    }
    release_holds(*old, old->range);
    const std::string name = old->name + "'";
    if (draw.coin()) {
        settle();
    }
    demand_ += old->demand;
    case_.remove(*old);
    old->storage = Storage(setting_.runtime, {.size = 1}); // destroys the old one
    replaced_.push_back(old);
    old = make_area(setting_, draw, name);
    case_.add(*old);
    text_ << "replace a storage by " << name << " of " << old->range.size() << " bytes, routes "
          << old->routes << (old->host_memory ? ", of the application's memory" : "");
}

void Actor::release_holds(const Area &area, const Range &range) {
    for (std::size_t index = holds_.size(); index-- > 0;) {
        const Use &use = *holds_[index].use;
        if (use.area.get() == &area &&
            (in_atoms(use.range).overlaps(in_atoms(range)) || holds_.size() > 4)) {
            Hold hold = std::move(holds_[index]);
            holds_.erase(holds_.begin() + static_cast<ptrdiff_t>(index));
            release(std::move(hold));
        }
    }
}

void Actor::release(Hold hold) {
    Use &use = *hold.use;
    if (use.place == host_place) {
        const auto *bytes = reinterpret_cast<const uint8_t *>(hold.acquisition.pointer());
        if (!std::equal(use.job.seen.begin(), use.job.seen.end(), bytes)) {
            throw Failure{"step " + std::to_string(use.step) +
                          ": the bytes changed while they were held"};
        }
    }
    try {
        hold.acquisition.release(use.event.get());
    } catch (const Error &error) {
        if (!may_fail(error.code())) {
            throw Failure{"step " + std::to_string(use.step) + ", at its release: " + error.what()};
        }
        // It must end before its acquisition is abandoned.
        piEventWait(use.event.get(), std::chrono::nanoseconds(patience).count());
    }
}

void Actor::settle() {
    while (!holds_.empty()) {
        Hold hold = std::move(holds_.back());
        holds_.pop_back();
        release(std::move(hold));
    }
    for (; !uses_.empty(); uses_.pop_front()) {
        end(uses_.front());
    }
}

void Actor::end(Use &use) {
    if (use.event.get() != nullptr) {
        use.result = piEventWait(use.event.get(), std::chrono::nanoseconds(patience).count());
    }
    const auto fail = [&use](const std::string &text) {
        throw Failure{"step " + std::to_string(use.step) + ": " + text};
    };
    const PlaceIndex place = use.place;
    const Range &range = use.range;
    pi_test::ByteModel &contents = use.area->contents;
    if (use.result != PI_SUCCESS) {
        if (!may_fail(use.result)) {
            fail("fails with " + std::string(result_name(use.result)) + ": " + use.error);
        }
        if (is_writing(use.access)) {
            contents.fail_write(place, range, use.has_run);
        }
        return;
    }
    if (is_fetching(use.access)) {
        const std::string wrong = contents.compare(range, use.job.seen);
        if (!wrong.empty()) {
            fail(wrong);
        }
        if (!use.area->read_only && place == host_place) { // a device's copy may be evicted
            contents.read(place, range);
        }
    }
    if (is_writing(use.access)) {
        contents.write(place, range, use.job.fresh);
    }
}

} // namespace random_programs
