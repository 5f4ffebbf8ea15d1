// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracer.hpp"

#include "error.hpp"
#include "layers/json_text.hpp"
#include "layers/layers.hpp"
#include "plugin.hpp"

#include <algorithm>

namespace pi::loader::trace {
namespace {

template <typename Key, typename Value>
void remember(std::unordered_map<Key, Value> &map, Key key, Value value, std::size_t most) {
    // Addresses are reused; a forgotten object is at worst not shown.
    if (map.size() >= most && map.find(key) == map.end())
        map.clear();
    map.insert_or_assign(key, std::move(value));
}

uint64_t pixel_size_of(const pi_mem_image_desc &desc) noexcept {
    constexpr uint64_t channels[] = {0, 1, 2, 4, 4};
    constexpr uint64_t bytes[] = {0, 1, 2, 1, 2, 1, 2, 4, 1, 2, 4, 2, 4};
    return desc.channel_order < std::size(channels) && desc.channel_type < std::size(bytes)
               ? channels[desc.channel_order] * bytes[desc.channel_type]
               : 0;
}

std::string result_text(pi_result result) {
    const char *name = result_name(result);
    return fmt::format("\"result\":{}", json_text(name != nullptr ? name : std::to_string(result)));
}

} // namespace

/// Passed to an event's callback.
struct Tracer::Completion {
    Tracer &tracer;
    std::shared_ptr<Command> command;
};

Tracer::Tracer(PluginInstance &instance, std::shared_ptr<TraceFile> file)
    : next_(instance.chain().next(trace_layer)), base_(instance.chain().base()),
      outermost_(&instance.table()),
      file_(std::move(file)), process_{file_->add_process(
                                  fmt::format("plugin \"{}\": queues", instance.name()))} {}

void Tracer::call(const char *function, uint64_t begin, pi_result result) noexcept {
    const uint64_t end = now();
    try {
        std::string arguments = result_text(result);
        const LastError error = last_error();
        if (result != PI_SUCCESS && error.code == result)
            arguments += fmt::format(",\"error\":{}", json_text(error.message));
        file_->slice(file_->host_track(), function, "call", begin, end, arguments);
    } catch (const std::bad_alloc &) {
        // Loses one call.
    }
    file_->report_failure();
}

std::shared_ptr<QueueTrack> Tracer::add_queue(pi_queue queue) {
    const ErrorScope scope;
    uint64_t flags = 0;
    pi_device device = nullptr;
    char name[200] = "a device";
    base_.piQueueGetInfo(queue, PI_QUEUE_INFO_FLAGS, sizeof flags, &flags, nullptr);
    base_.piQueueGetInfo(queue, PI_QUEUE_INFO_DEVICE, sizeof device, &device, nullptr);
    if (device != nullptr)
        base_.piDeviceGetInfo(device, PI_DEVICE_INFO_NAME, sizeof name, name, nullptr);
    const std::scoped_lock lock(mutex_);
    Lanes lanes(*file_, process_,
                fmt::format("queue {} of {}{}", ++queue_count_, name,
                            (flags & PI_QUEUE_OUT_OF_ORDER) == 0 ? "" : ", out of order"));
    auto track = std::make_shared<QueueTrack>(std::move(lanes), flags, device);
    remember(queues_, queue, track, max_known);
    return track;
}

std::shared_ptr<QueueTrack> Tracer::find_queue(pi_queue queue) {
    {
        const std::scoped_lock lock(mutex_);
        const auto found = queues_.find(queue);
        if (found != queues_.end())
            return found->second;
    }
    return add_queue(queue);
}

void Tracer::add_event(pi_event event) {
    const std::scoped_lock lock(mutex_);
    events_.erase(event);
}

void Tracer::add_image(pi_mem image, const pi_mem_image_desc *desc) {
    pi_mem_image_desc own;
    if (!copy_descriptor(desc, PI_TYPE_MEM_IMAGE_DESC, own))
        return;
    const std::scoped_lock lock(mutex_);
    remember(pixel_sizes_, image, pixel_size_of(own), max_known);
}

uint64_t Tracer::pixel_size(pi_mem image) {
    const std::scoped_lock lock(mutex_);
    const auto found = pixel_sizes_.find(image);
    return found != pixel_sizes_.end() ? found->second : 0;
}

const char *Tracer::route(pi_mem src, pi_mem dst) const {
    const ErrorScope scope;
    pi_device devices[2] = {};
    pi_context contexts[2] = {};
    for (int i = 0; i < 2; ++i) {
        const pi_mem mem = i == 0 ? src : dst;
        if (!belongs_to(mem, outermost_)) // the plugin refuses it
            return "unknown";
        base_.piMemGetInfo(mem, PI_MEM_INFO_DEVICE, sizeof devices[i], &devices[i], nullptr);
        base_.piMemGetInfo(mem, PI_MEM_INFO_CONTEXT, sizeof contexts[i], &contexts[i], nullptr);
    }
    if (devices[0] != devices[1])
        return "device to device";
    return contexts[0] == contexts[1] ? "within the device" : "context to context";
}

std::string Tracer::kernel_name(pi_kernel kernel) const {
    if (!belongs_to(kernel, outermost_))
        return ""; // the plugin refuses it
    const ErrorScope scope;
    uint64_t size = 0;
    if (base_.piKernelGetInfo(kernel, PI_KERNEL_INFO_NAME, 0, nullptr, &size) != PI_SUCCESS ||
        size == 0)
        return "";
    std::string name(size, '\0');
    if (base_.piKernelGetInfo(kernel, PI_KERNEL_INFO_NAME, size, name.data(), nullptr) !=
        PI_SUCCESS)
        return "";
    name.resize(size - 1);
    return name;
}

std::shared_ptr<Command> Tracer::begin(const char *function, pi_queue queue, uint32_t wait_count,
                                       const pi_event *wait_list) {
    auto command = std::make_shared<Command>();
    command->function = function;
    command->id = file_->new_id();
    command->queue = find_queue(queue);
    command->caller = file_->host_track();
    command->enqueued = now();
    const std::scoped_lock lock(mutex_);
    for (uint32_t i = 0; wait_list != nullptr && i < wait_count; ++i) {
        const auto found = events_.find(wait_list[i]);
        if (found != events_.end())
            command->waits.push_back(found->second);
    }
    command->queue->pending.push_back(command);
    return command;
}

void Tracer::withdraw(const std::shared_ptr<Command> &command) noexcept {
    try {
        const std::scoped_lock lock(mutex_);
        Commands behind;
        settle(command, behind);
        show_due(std::move(behind));
    } catch (const std::bad_alloc &) {
        lose_pending();
    }
}

void Tracer::lose_pending() noexcept {
    const std::scoped_lock lock(mutex_);
    for (const auto &[queue, track] : queues_) {
        for (const std::shared_ptr<Command> &command : track->pending) {
            command->state = Command::State::settled;
            command->waits.clear();
            command->followers.clear();
        }
        track->pending.clear();
    }
}

void Tracer::follow(const std::shared_ptr<Command> &command, pi_event event, bool wanted) {
    const ErrorScope scope;
    if (wanted) {
        const std::scoped_lock lock(mutex_);
        remember(events_, event, command, max_known);
    }
    auto completion = std::make_unique<Completion>(Completion{*this, command});
    if (base_.piEventSetCallback(event, on_complete, completion.get()) == PI_SUCCESS)
        static_cast<void>(completion.release());
    else
        finish(command, event, PI_SUCCESS);
}

void PI_CALL Tracer::on_complete(pi_event event, pi_result result, void *user_data) {
    const std::unique_ptr<Completion> completion(static_cast<Completion *>(user_data));
    const ErrorScope scope;
    try {
        completion->tracer.finish(completion->command, event, result);
    } catch (const std::bad_alloc &) {
        completion->tracer.lose_pending();
    }
}

Tracer::Times Tracer::times_of(const Command &command, pi_event event) const {
    const QueueTrack &queue = *command.queue;
    const uint64_t end = now();
    uint64_t times[2] = {};
    if (!queue.profiling ||
        base_.piEventGetProfilingInfo(event, PI_PROFILING_START, sizeof times[0], &times[0],
                                      nullptr) != PI_SUCCESS ||
        base_.piEventGetProfilingInfo(event, PI_PROFILING_END, sizeof times[1], &times[1],
                                      nullptr) != PI_SUCCESS)
        return {0, end};
    uint64_t device_time = 0;
    uint64_t host_time = 0;
    // Without a common clock, the duration is still the device's.
    const bool common_clock =
        base_.piDeviceGetGlobalTimestamps(queue.device, &device_time, &host_time) == PI_SUCCESS;
    const uint64_t ended = common_clock ? std::min(end, times[1] + (host_time - device_time)) : end;
    const uint64_t start = ended - std::min(ended, times[1] - std::min(times[0], times[1]));
    return {std::max(start, command.enqueued), ended};
}

void Tracer::finish(const std::shared_ptr<Command> &command, pi_event event, pi_result result) {
    const Times times = times_of(*command, event);
    const std::scoped_lock lock(mutex_);
    if (command->state == Command::State::settled)
        return; // lost
    command->state = Command::State::complete;
    command->result = result;
    command->started = times.start;
    command->ended = times.end;
    show_due({command});
}

// Callbacks come in any order, but commands are shown after those that they wait for, and those of
// a queue in the queue's order: the begin of one, and of an arrow to it, depends on those.
void Tracer::show_due(Commands commands) {
    while (!commands.empty()) {
        const std::shared_ptr<Command> command = std::move(commands.back());
        commands.pop_back();
        const QueueTrack &queue = *command->queue;
        if (command->state != Command::State::complete ||
            (queue.in_order && queue.pending.front() != command))
            continue;
        const auto open =
            std::find_if(command->waits.begin(), command->waits.end(),
                         [](const auto &wait) { return wait->state != Command::State::settled; });
        if (open != command->waits.end()) {
            (*open)->followers.push_back(command);
            continue;
        }
        show(*command);
        settle(command, commands);
    }
}

void Tracer::settle(const std::shared_ptr<Command> &command, Commands &next) {
    command->state = Command::State::settled;
    command->waits.clear(); // or chains of commands would grow without end
    QueueTrack &queue = *command->queue;
    const auto found = std::find(queue.pending.begin(), queue.pending.end(), command);
    if (found != queue.pending.end()) // not lost
        queue.pending.erase(found);
    if (queue.in_order && !queue.pending.empty())
        next.push_back(queue.pending.front());
    const Commands followers = std::move(command->followers);
    next.insert(next.end(), followers.begin(), followers.end());
}

void Tracer::show(Command &command) noexcept {
    QueueTrack &queue = *command.queue;
    // Devices with separate clocks may report a begin before the end of those, but not before their
    // begin.
    const bool has_begin = command.started != 0;
    command.started = has_begin ? command.started : command.enqueued;
    for (const auto &wait : command.waits)
        command.started = std::max(command.started, has_begin ? wait->started : wait->ended);
    if (queue.in_order)
        command.started = std::max(command.started, queue.lanes.free_from());
    // An arrow attaches only to slices with a length.
    command.ended = std::max(command.ended, command.started + 1);
    try {
        command.track = queue.lanes.take(command.started, command.ended);
        std::string arguments =
            fmt::format("\"command\":{},{}", command.id, result_text(command.result));
        if (command.route != nullptr)
            arguments +=
                fmt::format(",\"bytes\":{},\"route\":\"{}\"", command.bytes, command.route);
        if (!command.kernel.empty())
            arguments += fmt::format(",\"kernel\":{}", json_text(command.kernel));
        constexpr std::string_view prefix = "piEnqueue";
        file_->slice(command.track, std::string_view(command.function).substr(prefix.size()),
                     "command", command.started, command.ended, arguments);
        file_->arrow("submit", command.id, command.caller, command.enqueued, command.track,
                     command.started);
        for (const auto &wait : command.waits) {
            // The next one begins where this one ends.
            if (wait->ended != 0)
                file_->arrow("wait", file_->new_id(), wait->track,
                             std::min(wait->ended - 1, command.started), command.track,
                             command.started);
        }
    } catch (const std::bad_alloc &) {
        command.ended = 0; // loses one command
    }
}

} // namespace pi::loader::trace
