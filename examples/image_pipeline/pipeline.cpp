// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline.hpp"

#include "kernels.hpp"
#include "place_kernels.hpp"

#include <pi/runtime/error.hpp>
#include <pi/runtime/storage.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <map>
#include <span>
#include <utility>

namespace image_pipeline {
namespace {

using namespace pi::runtime;

using Clock = std::chrono::steady_clock;

/// A wait longer than this is an error, also with slow devices and large pictures.
std::chrono::seconds patience_for(uint64_t pixels) {
    return std::chrono::seconds(60 + pixels / 100'000);
}

/// The storages, by their index in the pipeline.
enum Data : size_t { picture, blurred, edges, histogram, overlay, chart, data_count };

struct Stage {
    const char *name; ///< and the kernel's
    const char *purpose;
    std::vector<Data> reads; ///< the kernel's first parameters
    Data writes;             ///< the next
    bool starts_from_zero;
    std::vector<int32_t> values; ///< the last
    uint64_t columns, rows;      ///< of work-items
};

std::vector<Stage> stages_for(int width, int height) {
    const auto w = static_cast<uint64_t>(width);
    const auto h = static_cast<uint64_t>(height);
    return {
        {"blur", "a 7 x 7 gaussian", {picture}, blurred, false, {width, height}, w, h},
        {"edges", "Sobel's gradient", {blurred}, edges, false, {width, height}, w, h},
        {"histogram", "brightness and steepness", {blurred, edges}, histogram, true, {width}, w, h},
        {"overlay",
         "edges glow over the dark",
         {picture, blurred, edges},
         overlay,
         false,
         {width},
         w,
         h},
        {"chart",
         "draws the histogram",
         {histogram},
         chart,
         false,
         {chart_width, chart_height},
         chart_width,
         chart_height},
    };
}

template <class T>
std::vector<T> copy_of(const Acquisition &at_host) {
    const auto *begin = reinterpret_cast<const T *>(at_host.pointer());
    return std::vector<T>(begin, begin + at_host.range().size() / sizeof(T));
}

pi_kernel_argument buffer_argument(const Acquisition &acquisition) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = acquisition.mem();
    argument.offset = acquisition.offset();
    argument.size = acquisition.range().size();
    return argument;
}

/// The time at which the event completed.
std::future<Clock::time_point> time_of(const Event &event) {
    auto promise = std::make_unique<std::promise<Clock::time_point>>();
    std::future<Clock::time_point> future = promise->get_future();
    const auto callback = [](pi_event, pi_result, void *user_data) {
        // A callback runs exactly once, so it frees this.
        std::unique_ptr<std::promise<Clock::time_point>>(
            static_cast<std::promise<Clock::time_point> *>(user_data))
            ->set_value(Clock::now());
    };
    check(piEventSetCallback(event.get(), callback, promise.get()), "piEventSetCallback");
    (void)promise.release();
    return future;
}

} // namespace

class Pipeline::State {
public:
    State(const Work &work, const Picture &source, PipelineOptions options)
        : work_(work), options_(std::move(options)),
          patience_(patience_for(source.memory.size() / 4)),
          runtime_(work.topology, {.costs = options_.costs, .log_up_to_date = true}),
          stages_(stages_for(source.width, source.height)), overlay_memory_(source.memory.size()),
          chart_memory_(4ULL * chart_width * chart_height) {
        // Verifies now, so that the first round takes no longer than the others.
        runtime_.verify_connections();
        const uint64_t pixels = source.memory.size() / 4;
        // By default the runtime lets CPU devices use host memory everywhere, and nothing moves. As
        // on GPUs, storages between the stages are in the devices' own memory.
        const RouteMask routes =
            options_.in_place ? all_routes : all_routes & ~mask_of(RouteKind::import);
        add("picture", 4 * pixels, &source.memory, true);
        add("blurred", 4 * pixels, nullptr, false, routes);
        add("edges", pixels, nullptr, false, routes);
        add("histogram", bin_count * sizeof(uint32_t), nullptr, false, routes);
        add("overlay", 4 * pixels, &overlay_memory_);
        add("chart", chart_memory_.size(), &chart_memory_);
        for (const DeviceEntry &entry : work.devices) {
            const auto place = static_cast<PlaceIndex>(kernels_.size() + 1);
            kernels_.emplace_back(work.topology->context(place), entry, native_kernels());
        }
    }
    // Memory that is used in place is freed after its last use.
    ~State() {
        try {
            runtime_.finish(patience_);
        } catch (const std::exception &) {
        }
    }
    State(const State &) = delete;
    State &operator=(const State &) = delete;

    RoundReport run_round(uint32_t round, Results &out_results);
    Counters counters() const { return runtime_.counters(); }

private:
    RoundReport run_simulated(uint32_t round, Results &out_results);
    void add(const char *name, uint64_t size, const PageMemory *host_memory = nullptr,
             bool host_memory_valid = false, RouteMask routes = all_routes);
    Acquisition acquire(StageReport &report, Data data, PlaceIndex place, Access access);
    Event submit(StageReport &report, const Stage &stage, PlaceIndex place);
    Results save(StageReport &report);
    double settled_time();
    void finish();
    void attribute_transfers(RoundReport &report);

    Work work_;
    PipelineOptions options_;
    std::chrono::seconds patience_;
    Runtime runtime_;
    std::vector<Stage> stages_;
    PageMemory overlay_memory_;
    PageMemory chart_memory_;
    std::vector<std::string> names_;    // [Data]
    std::vector<Buffer> buffers_;       // likewise
    std::vector<Storage> storages_;     // likewise
    std::vector<PlaceKernels> kernels_; // [place - 1]
    uint64_t acquired_ = 0;             // counts as the runtime does, to find records in its log
};

void Pipeline::State::add(const char *name, uint64_t size, const PageMemory *host_memory,
                          bool host_memory_valid, RouteMask routes) {
    StorageDescriptor description;
    description.routes = routes;
    description.name = name;
    description.size = size;
    if (host_memory != nullptr) {
        description.size = host_memory->padded_size();
        description.host_memory = host_memory->data();
        description.host_memory_valid = host_memory_valid;
    }
    storages_.emplace_back(runtime_, description);
    buffers_.push_back(storages_.back().buffer(0, size));
    names_.emplace_back(name);
}

Acquisition Pipeline::State::acquire(StageReport &report, Data data, PlaceIndex place,
                                     Access access) {
    const Buffer &buffer = buffers_[data];
    UseReport use;
    use.storage = names_[data];
    use.writes = access != Access::read;
    use.bytes = buffer.size();
    if (options_.explain && access == Access::read) {
        use.explanation = buffer.explain(place).text;
    }
    const uint64_t required = buffer.counters().bytes_required;
    const double begin = settled_time();
    Acquisition acquisition = buffer.acquire(place, access);
    ++acquired_;
    use.required = buffer.counters().bytes_required - required;
    if (options_.virtual_time) {
        acquisition.wait(patience_);
        use.took = settled_time() - begin;
    }
    report.uses.push_back(std::move(use));
    return acquisition;
}

/// Acquires the stage's storages, launches its kernel after the acquisitions' events, and releases
/// with the kernel's event. Does not wait, except on a simulated machine.
Event Pipeline::State::submit(StageReport &report, const Stage &stage, PlaceIndex place) {
    const PlaceKernels &kernels = kernels_[place - 1];
    std::vector<Acquisition> acquisitions;
    for (const Data data : stage.reads) {
        acquisitions.push_back(acquire(report, data, place, Access::read));
    }
    acquisitions.push_back(acquire(report, stage.writes, place, Access::discard_write));

    std::vector<pi_event> waits;
    std::vector<pi_kernel_argument> arguments;
    for (const Acquisition &acquisition : acquisitions) {
        const std::vector<pi_event> &events = acquisition.events(kernels.queue());
        waits.insert(waits.end(), events.begin(), events.end());
        arguments.push_back(buffer_argument(acquisition));
    }
    for (const int32_t &value : stage.values) {
        arguments.push_back(value_argument(value));
    }

    Event zeroed;
    Event done;
    Unreleased fill(zeroed, patience_);
    Unreleased launch(done, patience_);
    if (stage.starts_from_zero) {
        const Acquisition &written = acquisitions.back();
        zeroed =
            kernels.fill_with_zeros(written.mem(), written.offset(), written.range().size(), waits);
        waits.push_back(zeroed.get());
    }
    done = kernels.launch(stage.name, arguments, stage.columns, stage.rows, waits);
    kernels.flush();
    for (Acquisition &acquisition : acquisitions) {
        acquisition.release(done.get());
    }
    fill.released(); // the kernel waits for it
    launch.released();
    return done;
}

/// Everything to the host. The pictures are made of it later.
Results Pipeline::State::save(StageReport &report) {
    std::array<Acquisition, data_count> at_host;
    for (const Data data : {blurred, edges, histogram, overlay, chart}) {
        at_host[data] = acquire(report, data, host_place, Access::read);
    }
    Results results;
    for (const Data data : {blurred, edges, histogram, overlay, chart}) {
        at_host[data].wait(patience_);
    }
    results.blurred = copy_of<uint8_t>(at_host[blurred]);
    results.edges = copy_of<uint8_t>(at_host[edges]);
    results.histogram = copy_of<uint32_t>(at_host[histogram]);
    results.overlay = copy_of<uint8_t>(at_host[overlay]);
    results.chart = copy_of<uint8_t>(at_host[chart]);
    for (const Data data : {blurred, edges, histogram, overlay, chart}) {
        at_host[data].release();
    }
    return results;
}

/// The virtual time when nothing is under way any more; 0 without a simulated machine.
double Pipeline::State::settled_time() {
    if (!options_.virtual_time) {
        return 0;
    }
    finish();
    return options_.virtual_time();
}

void Pipeline::State::finish() {
    if (!runtime_.finish(patience_)) {
        throw Error(PI_ERROR_TIMEOUT,
                    "transfers did not end in " + std::to_string(patience_.count()) + " seconds");
    }
}

/// Puts the log's records to the uses that they belong to: acquisitions are counted from 1.
void Pipeline::State::attribute_transfers(RoundReport &report) {
    finish();
    std::map<uint64_t, UseReport *> uses;
    uint64_t number = acquired_;
    for (auto stage = report.stages.rbegin(); stage != report.stages.rend(); ++stage) {
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

/// On a simulated machine: one stage after the other, each with the machine for itself.
RoundReport Pipeline::State::run_simulated(uint32_t round, Results &out_results) {
    const double begin = settled_time();
    RoundReport report;
    for (size_t i = 0; i < stages_.size(); ++i) {
        const PlaceIndex place = work_.order[(i + round) % work_.order.size()];
        StageReport stage{stages_[i].name, stages_[i].purpose, place, {}, 0};
        const Event done = submit(stage, stages_[i], place);
        check(piEventWait(done.get(), std::chrono::nanoseconds(patience_).count()),
              stages_[i].name);
        stage.done_at = settled_time() - begin;
        report.stages.push_back(std::move(stage));
    }
    StageReport last{"save", "all results to the host", host_place, {}, 0};
    out_results = save(last);
    last.done_at = settled_time() - begin;
    report.stages.push_back(std::move(last));
    attribute_transfers(report);
    return report;
}

RoundReport Pipeline::State::run_round(uint32_t round, Results &out_results) {
    if (options_.virtual_time) {
        return run_simulated(round, out_results);
    }
    const Clock::time_point begin = Clock::now();
    const auto since_begin = [begin](Clock::time_point now) {
        return std::chrono::duration<double, std::milli>(now - begin).count();
    };
    RoundReport report;
    std::vector<Event> done;
    std::vector<std::future<Clock::time_point>> times;
    for (size_t i = 0; i < stages_.size(); ++i) {
        const PlaceIndex place = work_.order[(i + round) % work_.order.size()];
        StageReport stage{stages_[i].name, stages_[i].purpose, place, {}, 0};
        done.push_back(submit(stage, stages_[i], place));
        times.push_back(time_of(done.back()));
        report.stages.push_back(std::move(stage));
    }
    StageReport last{"save", "all results to the host", host_place, {}, 0};
    out_results = save(last);
    last.done_at = since_begin(Clock::now());
    for (size_t i = 0; i < done.size(); ++i) {
        check(piEventWait(done[i].get(), std::chrono::nanoseconds(patience_).count()),
              stages_[i].name);
        if (times[i].wait_for(patience_) == std::future_status::ready) {
            report.stages[i].done_at = since_begin(times[i].get());
            // A callback may come after the host has seen the event.
            last.done_at = std::max(last.done_at, report.stages[i].done_at);
        }
    }
    report.stages.push_back(std::move(last));
    attribute_transfers(report);
    return report;
}

Pipeline::Pipeline(const Work &work, const Picture &picture, PipelineOptions options)
    : state_(std::make_unique<State>(work, picture, std::move(options))) {}

Pipeline::~Pipeline() = default;

RoundReport Pipeline::run_round(uint32_t round, Results &out_results) {
    return state_->run_round(round, out_results);
}

Counters Pipeline::counters() const {
    return state_->counters();
}

} // namespace image_pipeline
