// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracer.hpp"

#include "error.hpp"
#include "layers/layers.hpp"
#include "plugin.hpp"

#include <algorithm>

namespace pi::loader::trace {
namespace {

template <typename Key, typename Value>
void remember(std::unordered_map<Key, Value> &map, Key key, Value value, std::size_t most) {
    // Objects come and go at the same addresses; what is forgotten here is at worst not shown.
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

/// What an event's callback is given.
struct Tracer::Completion {
    Tracer &tracer;
    std::shared_ptr<Command> command;
};

Tracer::Tracer(PluginInstance &instance, std::shared_ptr<TraceFile> file)
    : next_(instance.chain().next(trace_layer)), base_(instance.chain().base()),
      outermost_(&instance.table()), file_(std::move(file)),
      process_(file_->add_process(fmt::format("plugin \"{}\": queues", instance.name()))) {}

void Tracer::call(const char *function, uint64_t begin, pi_result result) noexcept {
    const uint64_t end = now();
    try {
        std::string arguments = result_text(result);
        const LastError error = last_error();
        if (result != PI_SUCCESS && error.code == result)
            arguments += fmt::format(",\"error\":{}", json_text(error.message));
        file_->slice(file_->host_track(), function, "call", begin, end, arguments);
    } catch (const std::bad_alloc &) {
        // One call less.
    }
    file_->tell_failure();
}

void Tracer::add_queue(pi_queue queue) {
    const ErrorScope scope;
    uint64_t flags = 0;
    pi_device device = nullptr;
    char name[200] = "a device";
    base_.piQueueGetInfo(queue, PI_QUEUE_INFO_FLAGS, sizeof flags, &flags, nullptr);
    base_.piQueueGetInfo(queue, PI_QUEUE_INFO_DEVICE, sizeof device, &device, nullptr);
    if (device != nullptr)
        base_.piDeviceGetInfo(device, PI_DEVICE_INFO_NAME, sizeof name, name, nullptr);
    std::shared_ptr<QueueTrack> track;
    {
        const std::scoped_lock lock(mutex_);
        track = std::make_shared<QueueTrack>(Track{process_, ++queue_count_}, flags, device);
        remember(queues_, queue, track, max_known);
    }
    file_->name_track(track->track, fmt::format("queue {} of {}{}", track->track.thread, name,
                                                track->in_order ? "" : ", out of order"));
}

std::shared_ptr<QueueTrack> Tracer::find_queue(pi_queue queue) {
    {
        const std::scoped_lock lock(mutex_);
        const auto found = queues_.find(queue);
        if (found != queues_.end())
            return found->second;
    }
    add_queue(queue);
    const std::scoped_lock lock(mutex_);
    return queues_.at(queue);
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
    {
        const std::scoped_lock lock(mutex_);
        for (uint32_t i = 0; wait_list != nullptr && i < wait_count; ++i) {
            const auto found = events_.find(wait_list[i]);
            if (found != events_.end())
                command->waits.push_back(found->second);
        }
    }
    const std::scoped_lock lock(command->queue->mutex);
    command->queue->pending.push_back(command);
    return command;
}

void Tracer::withdraw(const std::shared_ptr<Command> &command) noexcept {
    QueueTrack &queue = *command->queue;
    const std::scoped_lock lock(queue.mutex);
    queue.pending.erase(std::remove(queue.pending.begin(), queue.pending.end(), command),
                        queue.pending.end());
    try {
        if (queue.in_order)
            show_front(queue); // what was behind it
    } catch (const std::bad_alloc &) {
        // One command less.
    }
}

void Tracer::follow(const std::shared_ptr<Command> &command, pi_event event, bool wanted) {
    const ErrorScope scope;
    if (wanted) {
        const std::scoped_lock lock(mutex_);
        remember<pi_event, std::shared_ptr<const Command>>(events_, event, command, max_known);
    }
    auto completion = std::make_unique<Completion>(Completion{*this, command});
    if (base_.piEventSetCallback(event, on_complete, completion.get()) == PI_SUCCESS)
        static_cast<void>(completion.release());
    else
        finish(*command, event, PI_SUCCESS);
}

void PI_CALL Tracer::on_complete(pi_event event, pi_result result, void *user_data) {
    const std::unique_ptr<Completion> completion(static_cast<Completion *>(user_data));
    const ErrorScope scope;
    try {
        completion->tracer.finish(*completion->command, event, result);
    } catch (const std::bad_alloc &) {
        // One command less.
    }
}

void Tracer::take_times(Command &command, pi_event event) const {
    const QueueTrack &queue = *command.queue;
    uint64_t end = now();
    uint64_t start = command.enqueued;
    uint64_t times[2] = {};
    if (queue.profiling &&
        base_.piEventGetProfilingInfo(event, PI_PROFILING_START, sizeof times[0], &times[0],
                                      nullptr) == PI_SUCCESS &&
        base_.piEventGetProfilingInfo(event, PI_PROFILING_END, sizeof times[1], &times[1],
                                      nullptr) == PI_SUCCESS) {
        uint64_t device_time = 0;
        uint64_t host_time = 0;
        // Without a clock that both know, how long it took is still the device's word.
        if (base_.piDeviceGetGlobalTimestamps(queue.device, &device_time, &host_time) == PI_SUCCESS)
            end = std::min(end, times[1] + (host_time - device_time));
        start = end - std::min(end, times[1] - std::min(times[0], times[1]));
        start = std::max(start, command.enqueued);
    }
    command.started = start;
    command.ended = std::max(start, end);
}

// Commands of an in-order queue are shown in their order, whichever callback came first.
void Tracer::finish(Command &command, pi_event event, pi_result result) {
    command.result = result;
    take_times(command, event);
    QueueTrack &queue = *command.queue;
    const std::scoped_lock lock(queue.mutex);
    command.complete = true;
    if (!queue.in_order) {
        const auto own = std::find_if(queue.pending.begin(), queue.pending.end(),
                                      [&](const auto &other) { return other.get() == &command; });
        if (own != queue.pending.end()) {
            const std::shared_ptr<Command> keep = *own;
            queue.pending.erase(own);
            show(*keep);
        }
        return;
    }
    show_front(queue);
}

void Tracer::show_front(QueueTrack &queue) {
    while (!queue.pending.empty() && queue.pending.front()->complete) {
        const std::shared_ptr<Command> first = queue.pending.front();
        queue.pending.pop_front();
        first->started = std::max(first->started, queue.last_end);
        first->ended = std::max(first->started, first->ended.load());
        queue.last_end = first->ended;
        show(*first);
    }
}

void Tracer::show(Command &command) {
    const Track &track = command.queue->track;
    std::string arguments =
        fmt::format("\"command\":{},{}", command.id, result_text(command.result));
    if (command.route != nullptr)
        arguments += fmt::format(",\"bytes\":{},\"route\":\"{}\"", command.bytes, command.route);
    if (!command.kernel.empty())
        arguments += fmt::format(",\"kernel\":{}", json_text(command.kernel));
    constexpr std::string_view prefix = "piEnqueue";
    const std::string_view name = std::string_view(command.function).substr(prefix.size());
    const uint64_t end = command.ended;
    if (command.queue->in_order)
        file_->slice(track, name, "command", command.started, end, arguments);
    else
        file_->overlapping(track, name, command.id, command.started, end, arguments);
    file_->arrow("submit", command.id, command.caller, command.enqueued, track, command.started);
    for (const auto &waited : command.waits) {
        const uint64_t ended = waited->ended;
        if (ended != 0 && ended <= command.started)
            file_->arrow("wait", file_->new_id(), waited->queue->track, ended, track,
                         command.started);
    }
    command.waits.clear(); // or chains of commands would grow without end
}

} // namespace pi::loader::trace
