// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "chain.hpp"

#include "kernels.hpp"
#include "place_kernels.hpp"

#include <pi/runtime/error.hpp>
#include <pi/runtime/storage.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

namespace tensor_io {
namespace {

using namespace pi::runtime;

/// A wait longer than this is an error.
constexpr std::chrono::seconds patience(120);
constexpr uint64_t offset_if_unaligned = 20;

/// A storage, and the part of it in use; the rest of a page follows.
struct Tensor {
    std::string name;
    Storage storage;
    Buffer buffer;
};

/// The storages of one slot of the rings.
struct SlotState {
    Slot input, labels, histogram;
    Tensor input_tensor, labels_tensor, histogram_tensor;
};

struct Stage {
    const char *name; ///< and the kernel's
    std::vector<const Tensor *> reads, writes;
    const Tensor *from_zero; ///< one of those that it writes, or none
    std::vector<int32_t> values;
};

void add(Counters &sum, const Counters &more) {
    sum.bytes_required += more.bytes_required;
    sum.bytes_delivered += more.bytes_delivered;
    sum.bytes_copy_in_copy_out += more.bytes_copy_in_copy_out;
    sum.coherence_syncs += more.coherence_syncs;
    sum.uses_elsewhere += more.uses_elsewhere;
    sum.bytes_elsewhere += more.bytes_elsewhere;
    for (const auto &[link, bytes] : more.link_bytes) {
        sum.link_bytes[link] += bytes;
    }
    for (size_t i = 0; i < sum.transfers.size(); ++i) {
        sum.transfers.at(i) += more.transfers.at(i);
        sum.bytes.at(i) += more.bytes.at(i);
    }
}

pi_native_function function_of(const std::string &kernel) {
    const pi_native_program &program = native_kernels();
    for (uint32_t i = 0; i < program.kernel_count; ++i) {
        if (kernel == program.kernels[i].name) {
            return program.kernels[i].function;
        }
    }
    throw std::logic_error("no kernel " + kernel);
}

} // namespace

Slot::Slot(uint64_t size, SlotMemory kind)
    : begin_(kind == SlotMemory::unaligned ? offset_if_unaligned : 0), size_(size),
      memory_(begin_ + size) {}

class Chain::State {
public:
    State(const Work &work, ChainOptions options)
        : work_(work), options_(std::move(options)),
          runtime_(work.topology, {.log_up_to_date = true}),
          plane_(between("plane", 4 * options_.shape.pixels())),
          features_(between("features", 4ULL * filter_count * options_.shape.pixels())) {
        // Verifies now, so that the first frame takes no longer than the others.
        runtime_.verify_connections();
        const uint64_t pixels = options_.shape.pixels();
        slots_.reserve(options_.ring); // stages point into it
        for (uint32_t i = 0; i < options_.ring; ++i) {
            Slot input(pixels, options_.memory);
            Slot labels(pixels, options_.memory);
            Slot histogram(label_count * sizeof(uint32_t), options_.memory);
            Tensor input_tensor = over("input", input);
            Tensor labels_tensor = over("labels", labels);
            Tensor histogram_tensor = over("histogram", histogram);
            slots_.push_back({std::move(input), std::move(labels), std::move(histogram),
                              std::move(input_tensor), std::move(labels_tensor),
                              std::move(histogram_tensor)});
        }
        for (const DeviceEntry &entry : work.devices) {
            const auto place = static_cast<PlaceIndex>(kernels_.size() + 1);
            kernels_.emplace_back(work.topology->context(place), entry, native_kernels());
        }
    }
    ~State() {
        try {
            runtime_.finish(patience);
        } catch (const std::exception &) {
        }
    }
    State(const State &) = delete;
    State &operator=(const State &) = delete;

    StageReport fill(uint32_t frame);
    FrameReport run(uint32_t frame, Results &out_results);
    ChainCounters counters() const;

private:
    Tensor over(const char *name, const Slot &slot);
    Tensor between(const char *name, uint64_t size);
    Acquisition acquire(StageReport &report, const Tensor &tensor, PlaceIndex place, Access access);
    StageReport run_stage(const Stage &stage, PlaceIndex place);
    void launch(const Stage &stage, PlaceIndex place, std::vector<Acquisition> &acquisitions);
    void compute(const Stage &stage, std::vector<Acquisition> &acquisitions) const;
    StageReport copy_in(const SlotState &slot);
    StageReport copy_out(const SlotState &slot);
    StageReport use_in_place(const SlotState &slot, std::vector<Acquisition> &held);
    double settle();
    void finish();
    void attribute_transfers(std::span<StageReport> reports);

    Work work_;
    ChainOptions options_;
    Runtime runtime_;
    Tensor plane_;
    Tensor features_;
    std::vector<SlotState> slots_;
    std::vector<PlaceKernels> kernels_; // [place - 1]
    uint64_t acquired_ = 0;             // counts as the runtime does, to find records in its log
};

/// Over the application's memory, or with its own.
Tensor Chain::State::over(const char *name, const Slot &slot) {
    StorageDescriptor description;
    description.name = name;
    description.size = slot.size();
    if (options_.way == Way::zero_copy) {
        description.size = slot.room();
        description.host_memory = slot.data();
        description.host_memory_valid = false; // the camera's first frame comes later
    }
    if (options_.way == Way::copy_in_copy_out || options_.memory == SlotMemory::unimportable) {
        description.routes = all_routes & ~mask_of(RouteKind::import);
    }
    Storage storage(runtime_, description);
    Buffer buffer = storage.buffer(0, slot.size());
    return {name, std::move(storage), std::move(buffer)};
}

Tensor Chain::State::between(const char *name, uint64_t size) {
    Storage storage(runtime_, {.size = size, .name = name});
    Buffer buffer = storage.buffer();
    return {name, std::move(storage), std::move(buffer)};
}

Acquisition Chain::State::acquire(StageReport &report, const Tensor &tensor, PlaceIndex place,
                                  Access access) {
    Acquisition acquisition = tensor.buffer.acquire(place, access);
    ++acquired_;
    if (options_.simulated) {
        acquisition.wait(patience);
        settle();
    }
    report.uses.push_back({tensor.name, access != Access::read, tensor.buffer.size(), {}});
    return acquisition;
}

StageReport Chain::State::fill(uint32_t frame) {
    const SlotState &slot = slots_[frame % slots_.size()];
    StageReport report{"camera", host_place, 0, {}};
    if (options_.way ==
        Way::copy_in_copy_out) { // the runtime does not know the application's memory
        tensor_io::take_picture(options_.shape, frame, slot.input.data());
        return report;
    }
    Acquisition use = acquire(report, slot.input_tensor, host_place, Access::discard_write);
    use.wait(patience); // until no stage reads the previous frame
    tensor_io::take_picture(options_.shape, frame, slot.input.data());
    use.release();
    attribute_transfers({&report, 1});
    return report;
}

StageReport Chain::State::copy_in(const SlotState &slot) {
    StageReport report{"copy in", host_place, slot.input.size(), {}};
    Acquisition use = acquire(report, slot.input_tensor, host_place, Access::discard_write);
    use.wait(patience);
    std::memcpy(use.pointer(), slot.input.data(), slot.input.size());
    use.release();
    return report;
}

StageReport Chain::State::copy_out(const SlotState &slot) {
    StageReport report{"copy out", host_place, slot.labels.size() + slot.histogram.size(), {}};
    Acquisition labels = acquire(report, slot.labels_tensor, host_place, Access::read);
    Acquisition histogram = acquire(report, slot.histogram_tensor, host_place, Access::read);
    labels.wait(patience);
    histogram.wait(patience);
    std::memcpy(slot.labels.data(), labels.pointer(), slot.labels.size());
    std::memcpy(slot.histogram.data(), histogram.pointer(), slot.histogram.size());
    return report;
}

/// While it is held the application may read the results in its memory.
StageReport Chain::State::use_in_place(const SlotState &slot, std::vector<Acquisition> &held) {
    StageReport report{"use", host_place, 0, {}};
    held.push_back(acquire(report, slot.labels_tensor, host_place, Access::read));
    held.push_back(acquire(report, slot.histogram_tensor, host_place, Access::read));
    for (const Acquisition &one : held) {
        one.wait(patience);
    }
    return report;
}

/// Launches the stage's kernel after the acquisitions' events, and releases with the kernel's
/// event. Does not wait.
void Chain::State::launch(const Stage &stage, PlaceIndex place,
                          std::vector<Acquisition> &acquisitions) {
    const PlaceKernels &kernels = kernels_[place - 1];
    std::vector<pi_event> waits;
    std::vector<pi_kernel_argument> arguments;
    for (const Acquisition &acquisition : acquisitions) {
        const std::vector<pi_event> &events = acquisition.events(kernels.queue());
        waits.insert(waits.end(), events.begin(), events.end());
        arguments.push_back(acquisition.argument());
    }
    for (const int32_t &value : stage.values) {
        arguments.push_back(value_argument(value));
    }
    Event zeroed;
    Event done;
    Unreleased fill(zeroed, patience);
    Unreleased launch(done, patience);
    if (stage.from_zero != nullptr) {
        const Acquisition &written = acquisitions.back();
        zeroed =
            kernels.fill_with_zeros(written.mem(), written.offset(), written.range().size(), waits);
        waits.push_back(zeroed.get());
    }
    done = kernels.launch(stage.name, arguments, static_cast<uint64_t>(options_.shape.width),
                          static_cast<uint64_t>(options_.shape.height), waits);
    kernels.flush();
    for (Acquisition &acquisition : acquisitions) {
        acquisition.release(done.get());
    }
    fill.released(); // the kernel waits for it
    launch.released();
}

/// The same in the application itself, through pointers.
void Chain::State::compute(const Stage &stage, std::vector<Acquisition> &acquisitions) const {
    std::vector<void *> arguments;
    for (const Acquisition &acquisition : acquisitions) {
        acquisition.wait(patience);
        arguments.push_back(acquisition.pointer());
    }
    if (stage.from_zero != nullptr) {
        std::memset(arguments.back(), 0, acquisitions.back().range().size());
    }
    std::vector<int32_t> values = stage.values;
    for (int32_t &value : values) {
        arguments.push_back(&value);
    }
    pi_native_group all{};
    all.struct_size = sizeof all;
    all.dimensions = 2;
    const uint64_t size[3] = {static_cast<uint64_t>(options_.shape.width),
                              static_cast<uint64_t>(options_.shape.height), 1};
    for (size_t axis = 0; axis < 3; ++axis) {
        all.end[axis] = all.global_size[axis] = all.local_size[axis] = size[axis];
        all.group_count[axis] = 1;
    }
    function_of(stage.name)(&all, arguments.data());
    for (Acquisition &acquisition : acquisitions) {
        acquisition.release();
    }
}

StageReport Chain::State::run_stage(const Stage &stage, PlaceIndex place) {
    StageReport report{stage.name, place, 0, {}};
    std::vector<Acquisition> acquisitions;
    for (const Tensor *tensor : stage.reads) {
        acquisitions.push_back(acquire(report, *tensor, place, Access::read));
    }
    for (const Tensor *tensor : stage.writes) {
        acquisitions.push_back(acquire(report, *tensor, place, Access::discard_write));
    }
    if (place == host_place) {
        compute(stage, acquisitions);
    } else {
        launch(stage, place, acquisitions);
    }
    settle();
    return report;
}

/// On a simulated machine the program waits for each transfer and each stage, so that it has the
/// machine for itself: times are the same in every run.
double Chain::State::settle() {
    if (options_.simulated) {
        finish();
    }
    return options_.clock();
}

void Chain::State::finish() {
    if (!runtime_.finish(patience)) {
        throw Error(PI_ERROR_TIMEOUT, "transfers did not end in two minutes");
    }
}

FrameReport Chain::State::run(uint32_t frame, Results &out_results) {
    const SlotState &slot = slots_[frame % slots_.size()];
    const int32_t width = options_.shape.width;
    const int32_t height = options_.shape.height;
    const Stage stages[] = {
        {"normalise", {&slot.input_tensor}, {&plane_}, nullptr, {width}},
        {"convolve", {&plane_}, {&features_}, nullptr, {width, height}},
        {"classify",
         {&features_},
         {&slot.labels_tensor, &slot.histogram_tensor},
         &slot.histogram_tensor,
         {width, height}},
    };
    FrameReport report;
    std::vector<Acquisition> held;
    const double begin = settle();
    if (options_.way == Way::copy_in_copy_out) {
        report.stages.push_back(copy_in(slot));
    }
    for (size_t i = 0; i < std::size(stages); ++i) {
        const PlaceIndex place = work_.order[(i + frame) % work_.order.size()];
        report.stages.push_back(run_stage(stages[i], place));
    }
    report.stages.push_back(options_.way == Way::copy_in_copy_out ? copy_out(slot)
                                                                  : use_in_place(slot, held));
    // Rounded to nanoseconds, the resolution of clocks.
    report.milliseconds = std::round((settle() - begin) * 1e6) / 1e6;

    out_results.labels.assign(slot.labels.data(), slot.labels.data() + slot.labels.size());
    out_results.histogram.resize(label_count);
    std::memcpy(out_results.histogram.data(), slot.histogram.data(), slot.histogram.size());
    for (Acquisition &one : held) {
        one.release();
    }
    attribute_transfers(report.stages);
    return report;
}

/// Assigns the log's records to their uses: acquisitions are counted from 1.
void Chain::State::attribute_transfers(std::span<StageReport> reports) {
    finish();
    std::map<uint64_t, UseReport *> uses;
    uint64_t number = acquired_;
    for (auto stage = reports.rbegin(); stage != reports.rend(); ++stage) {
        for (auto use = stage->uses.rbegin(); use != stage->uses.rend(); ++use) {
            uses[number--] = &*use;
        }
    }
    for (const TransferRecord &record : runtime_.log()) {
        if (const auto use = uses.find(record.acquisition); use != uses.end()) {
            use->second->transfers.push_back(record);
        }
    }
    runtime_.clear_log();
}

ChainCounters Chain::State::counters() const {
    ChainCounters counters;
    for (const SlotState &slot : slots_) {
        add(counters.input, slot.input_tensor.storage.counters());
        add(counters.output, slot.labels_tensor.storage.counters());
        add(counters.output, slot.histogram_tensor.storage.counters());
    }
    add(counters.between, plane_.storage.counters());
    add(counters.between, features_.storage.counters());
    return counters;
}

Chain::Chain(const Work &work, ChainOptions options)
    : state_(std::make_unique<State>(work, std::move(options))) {}

Chain::~Chain() = default;

StageReport Chain::fill(uint32_t frame) {
    return state_->fill(frame);
}

FrameReport Chain::run(uint32_t frame, Results &out_results) {
    return state_->run(frame, out_results);
}

ChainCounters Chain::counters() const {
    return state_->counters();
}

} // namespace tensor_io
