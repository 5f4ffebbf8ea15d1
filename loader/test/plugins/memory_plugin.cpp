// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plugin whose buffers can only be mapped: the loader implements read, write and fill. Commands
// run in one worker thread. A map returns a copy of the bytes (or garbage, if they are to be
// discarded) at an address that is known only after the command has run, and an unmap copies them
// back; so the tests see a default that forgets one, reads the address too early or writes outside
// its range.

#include "memory_plugin.hpp"
#include "plugin_common.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct Instance;

// Objects begin with the common words of all handles, so they have no virtual functions.
struct Object {
    pi_object_header header;
    Instance *instance;
    std::atomic<uint32_t> references{1};
    void (*destroy)(Object *) = nullptr;
};

struct Command;

struct Event : Object {
    bool final = false;
    bool host = false;
    pi_result result = PI_SUCCESS;
    std::string text;
    std::vector<std::pair<pi_event_callback, void *>> callbacks;
    std::vector<std::pair<Command *, bool>> dependents; // and whether they inherit errors
};

struct Context : Object {};

struct Queue : Object {
    Context *context = nullptr;
    bool out_of_order = false;
    Event *last = nullptr; // a reference, for in-order queues
};

struct Mapping {
    uint64_t offset;
    uint64_t flags;
    std::vector<unsigned char> bytes;
};

struct Mem : Object {
    std::vector<unsigned char> bytes;
    std::map<void *, std::unique_ptr<Mapping>> mappings; // used only by the worker
};

struct Command {
    Event *event;
    uint32_t pending = 1;
    pi_result dependency = PI_SUCCESS;
    std::string text;
    std::function<pi_result(std::string &)> run;
    std::vector<Object *> command_refs;
};

struct Instance {
    pi_object_header header;
    const pi_host *host;
    Object platform;
    Object device;
    pi_dispatch table{};
    memory_plugin_table extension{};
    std::atomic<uint32_t> fail_maps{0}, fail_unmaps{0}, fail_waits{0}, fail_callbacks{0},
        fail_queues{0};
    std::atomic<uint64_t> mapped{0}, map_calls{0};

    std::mutex mutex; // for all events, last events of queues, and commands
    std::condition_variable changed;
    std::deque<Command *> ready;
    bool stop = false;
    std::thread worker;
};

thread_local bool in_callback = false;

bool take(std::atomic<uint32_t> &count) {
    uint32_t value = count.load();
    while (value != 0 && !count.compare_exchange_weak(value, value - 1)) {
    }
    return value != 0;
}

template <typename Type, typename Handle>
Type *as(Handle handle) {
    return reinterpret_cast<Type *>(handle);
}
Instance *instance_of(pi_plugin plugin) {
    return reinterpret_cast<Instance *>(plugin);
}

pi_result fail(const Instance *instance, pi_result code, const std::string &text) {
    instance->host->set_error(instance->host, code, text.c_str());
    return code;
}

template <typename Type>
Type *make(Instance *instance, pi_kind kind) {
    auto *object = new Type();
    object->header = {instance->host->dispatch, kind, 0};
    object->instance = instance;
    object->destroy = [](Object *base) { delete static_cast<Type *>(base); };
    instance->host->object_count(instance->host, 1);
    return object;
}

void retain(Object *object) {
    object->references.fetch_add(1);
}
void release(Object *object) {
    if (object->references.fetch_sub(1) != 1)
        return;
    const pi_host *host = object->instance->host;
    object->destroy(object);
    host->object_count(host, -1);
}
template <typename Handle>
pi_result retain_handle(Handle handle) {
    retain(as<Object>(handle));
    return PI_SUCCESS;
}
template <typename Handle>
pi_result release_handle(Handle handle) {
    release(as<Object>(handle));
    return PI_SUCCESS;
}

template <typename Handle>
bool mine(Instance *instance, Handle handle, pi_kind kind) {
    return handle != nullptr && as<Object>(handle)->header.dispatch == instance->host->dispatch &&
           as<Object>(handle)->header.kind == kind;
}

// ---- Events ---------------------------------------------------------------------------------

void finish(Event *event, pi_result result, const std::string &text) {
    std::vector<std::pair<pi_event_callback, void *>> callbacks;
    {
        const std::scoped_lock lock(event->instance->mutex);
        event->final = true;
        event->result = result;
        event->text = text;
        callbacks.swap(event->callbacks);
        for (auto [command, errors] : event->dependents) {
            if (errors && result != PI_SUCCESS) {
                command->dependency = PI_ERROR_DEPENDENCY_FAILED;
                command->text = text;
            }
            if (--command->pending == 0)
                event->instance->ready.push_back(command);
        }
        event->dependents.clear();
        event->instance->changed.notify_all();
    }
    const bool nested = std::exchange(in_callback, true);
    for (auto [callback, user_data] : callbacks)
        callback(reinterpret_cast<pi_event>(event), result, user_data);
    in_callback = nested;
}

void work(Instance *instance) {
    std::unique_lock lock(instance->mutex);
    for (;;) {
        instance->changed.wait(lock, [&] { return instance->stop || !instance->ready.empty(); });
        if (instance->ready.empty())
            return;
        const std::unique_ptr<Command> command(instance->ready.front());
        instance->ready.pop_front();
        lock.unlock();
        pi_result result = command->dependency;
        std::string text = command->text;
        if (result == PI_SUCCESS)
            result = command->run(text);
        finish(command->event, result, text);
        for (Object *object : command->command_refs)
            release(object);
        release(command->event);
        lock.lock();
    }
}

// The caller holds the lock.
void depend(Command *command, Event *event, bool errors) {
    if (!event->final) {
        event->dependents.emplace_back(command, errors);
        ++command->pending;
    } else if (errors && event->result != PI_SUCCESS) {
        command->dependency = PI_ERROR_DEPENDENCY_FAILED;
        command->text = event->text;
    }
}

pi_result enqueue(Queue *queue, uint32_t count, const pi_event *list,
                  std::vector<Object *> command_refs, std::function<pi_result(std::string &)> run,
                  pi_event *out_event) {
    Instance *instance = queue->instance;
    if ((count == 0) != (list == nullptr))
        return fail(instance, PI_ERROR_INVALID_WAIT_LIST, "wait_count and wait_list disagree");
    for (uint32_t i = 0; i < count; ++i) {
        if (!mine(instance, list[i], PI_KIND_EVENT))
            return fail(instance, PI_ERROR_INVALID_EVENT,
                        "wait_list has an event of another plugin");
    }
    auto *event = make<Event>(instance, PI_KIND_EVENT);
    auto *command = new Command{event, 1, PI_SUCCESS, "", std::move(run), std::move(command_refs)};
    command->command_refs.push_back(queue);
    for (uint32_t i = 0; i < count; ++i)
        command->command_refs.push_back(as<Object>(list[i]));
    for (Object *object : command->command_refs)
        retain(object);
    if (out_event != nullptr) {
        retain(event);
        *out_event = reinterpret_cast<pi_event>(event);
    }
    Event *before = nullptr;
    {
        const std::scoped_lock lock(instance->mutex);
        for (uint32_t i = 0; i < count; ++i)
            depend(command, as<Event>(list[i]), true);
        if (!queue->out_of_order) {
            if (queue->last != nullptr)
                depend(command, queue->last, false);
            before = std::exchange(queue->last, event);
            retain(event);
        }
        if (--command->pending == 0)
            instance->ready.push_back(command);
        instance->changed.notify_all();
    }
    if (before != nullptr)
        release(before);
    return PI_SUCCESS;
}

pi_result event_wait(pi_event handle, uint64_t timeout) {
    auto *event = as<Event>(handle);
    Instance *instance = event->instance;
    std::unique_lock lock(instance->mutex);
    const auto final = [&] { return event->final; };
    if (!event->final && timeout != 0 && in_callback)
        return fail(instance, PI_ERROR_WOULD_BLOCK, "piEventWait inside a callback");
    if (timeout == PI_TIMEOUT_NEVER)
        instance->changed.wait(lock, final);
    else if (!instance->changed.wait_for(lock, std::chrono::nanoseconds(timeout), final))
        return fail(instance, PI_ERROR_TIMEOUT, "the time is over");
    return event->result == PI_SUCCESS ? PI_SUCCESS : fail(instance, event->result, event->text);
}

pi_result event_info(pi_event handle, pi_event_info name, uint64_t size, void *value,
                     uint64_t *out_size) {
    auto *event = as<Event>(handle);
    const std::scoped_lock lock(event->instance->mutex);
    if (name == PI_EVENT_INFO_RESULT)
        return test_plugin::give(&event->result, sizeof event->result, size, value, out_size);
    if (name == PI_EVENT_INFO_ERROR_TEXT)
        return test_plugin::give(event->text.c_str(), event->text.size() + 1, size, value,
                                 out_size);
    return PI_ERROR_INVALID_ENUMERATION;
}

pi_result event_callback(pi_event handle, pi_event_callback callback, void *user_data) {
    auto *event = as<Event>(handle);
    if (take(event->instance->fail_callbacks))
        return fail(event->instance, PI_ERROR_OUT_OF_RESOURCES, "an injected failure: no callback");
    pi_result result = PI_SUCCESS;
    {
        const std::scoped_lock lock(event->instance->mutex);
        if (!event->final) {
            event->callbacks.emplace_back(callback, user_data);
            return PI_SUCCESS;
        }
        result = event->result;
    }
    const bool nested = std::exchange(in_callback, true);
    callback(handle, result, user_data);
    in_callback = nested;
    return PI_SUCCESS;
}

pi_result event_create_host(pi_context context, const pi_host_event_desc *, pi_event *out_event) {
    auto *event = make<Event>(as<Object>(context)->instance, PI_KIND_EVENT);
    event->host = true;
    *out_event = reinterpret_cast<pi_event>(event);
    return PI_SUCCESS;
}

pi_result event_signal_host(pi_event handle, pi_result result) {
    auto *event = as<Event>(handle);
    {
        const std::scoped_lock lock(event->instance->mutex);
        if (!event->host)
            return fail(event->instance, PI_ERROR_INVALID_OPERATION, "signalled twice");
        event->host = false;
    }
    // The callbacks may release the last other reference.
    retain(event);
    finish(event, result, result != PI_SUCCESS ? "a host event signalled with an error" : "");
    release(event);
    return PI_SUCCESS;
}

// ---- Places and queues ----------------------------------------------------------------------

pi_result plugin_info(pi_plugin, pi_plugin_info, uint64_t size, void *value, uint64_t *out_size) {
    return test_plugin::give("memory", sizeof "memory", size, value, out_size);
}

pi_result plugin_extension(pi_plugin plugin, const char *name, uint64_t, const void **out_table) {
    if (std::string_view(name) != memory_plugin_extension)
        return fail(instance_of(plugin), PI_ERROR_INVALID_NAME, "no such extension");
    *out_table = &instance_of(plugin)->extension;
    return PI_SUCCESS;
}

pi_result platforms(pi_plugin plugin, uint32_t capacity, pi_platform *out, uint32_t *out_count) {
    return test_plugin::give_one(as<pi_platform_s>(&instance_of(plugin)->platform), capacity, out,
                                 out_count);
}

pi_result devices(pi_platform platform, pi_device_type, uint32_t capacity, pi_device *out,
                  uint32_t *out_count) {
    return test_plugin::give_one(as<pi_device_s>(&as<Object>(platform)->instance->device), capacity,
                                 out, out_count);
}

pi_result context_create(pi_platform platform, const pi_context_desc *, pi_context *out) {
    *out = as<pi_context_s>(make<Context>(as<Object>(platform)->instance, PI_KIND_CONTEXT));
    return PI_SUCCESS;
}

pi_result queue_create(pi_context context, pi_device, const pi_queue_desc *desc, pi_queue *out) {
    Instance *instance = as<Object>(context)->instance;
    if (take(instance->fail_queues))
        return fail(instance, PI_ERROR_OUT_OF_RESOURCES, "an injected failure: no queue");
    auto *queue = make<Queue>(instance, PI_KIND_QUEUE);
    queue->context = as<Context>(context);
    retain(queue->context);
    queue->out_of_order = desc != nullptr && (desc->flags & PI_QUEUE_OUT_OF_ORDER) != 0;
    queue->destroy = [](Object *base) {
        auto *dead = static_cast<Queue *>(base);
        if (dead->last != nullptr)
            release(dead->last);
        release(dead->context);
        delete dead;
    };
    *out = as<pi_queue_s>(queue);
    return PI_SUCCESS;
}

pi_result queue_info(pi_queue handle, pi_queue_info name, uint64_t size, void *value,
                     uint64_t *out_size) {
    auto *queue = as<Queue>(handle);
    const void *context = queue->context;
    const void *device = &queue->instance->device;
    const uint64_t flags = queue->out_of_order ? PI_QUEUE_OUT_OF_ORDER : 0;
    if (name == PI_QUEUE_INFO_CONTEXT)
        return test_plugin::give(&context, sizeof context, size, value, out_size);
    if (name == PI_QUEUE_INFO_DEVICE)
        return test_plugin::give(&device, sizeof device, size, value, out_size);
    if (name == PI_QUEUE_INFO_FLAGS)
        return test_plugin::give(&flags, sizeof flags, size, value, out_size);
    return PI_ERROR_INVALID_ENUMERATION;
}

pi_result queue_flush(pi_queue) {
    return PI_SUCCESS;
}

// ---- Memory ---------------------------------------------------------------------------------

pi_result mem_create(pi_context context, pi_device, const pi_mem_buffer_desc *desc, pi_mem *out) {
    auto *mem = make<Mem>(as<Object>(context)->instance, PI_KIND_MEM);
    mem->bytes.resize(desc->size);
    *out = as<pi_mem_s>(mem);
    return PI_SUCCESS;
}

pi_result enqueue_map(pi_queue queue, const pi_buffer_map_desc *desc, uint32_t count,
                      const pi_event *list, pi_event *out_event) {
    Instance *instance = as<Queue>(queue)->instance;
    ++instance->map_calls;
    if (!mine(instance, desc->mem, PI_KIND_MEM))
        return fail(instance, PI_ERROR_INVALID_MEM_OBJECT, "not my memory");
    auto *mem = as<Mem>(desc->mem);
    if (desc->size == 0 || desc->size > mem->bytes.size() ||
        desc->offset > mem->bytes.size() - desc->size)
        return fail(instance, PI_ERROR_INVALID_SIZE, "the range is past the end");
    const pi_buffer_map_desc map = *desc;
    const auto run = [instance, mem, map](std::string &text) {
        if (take(instance->fail_maps)) {
            text = "an injected failure: the map";
            return PI_ERROR_BACKEND;
        }
        auto mapping = std::make_unique<Mapping>(Mapping{map.offset, map.flags, {}});
        const auto begin = mem->bytes.begin() + static_cast<std::ptrdiff_t>(map.offset);
        mapping->bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(map.size));
        if ((map.flags & PI_MAP_WRITE_DISCARD) != 0)
            mapping->bytes.assign(map.size, 0xEE);
        *map.out_pointer = mapping->bytes.data();
        mem->mappings[mapping->bytes.data()] = std::move(mapping);
        ++instance->mapped;
        return PI_SUCCESS;
    };
    return enqueue(as<Queue>(queue), count, list, {mem}, run, out_event);
}

pi_result enqueue_unmap(pi_queue queue, const pi_unmap_desc *desc, uint32_t count,
                        const pi_event *list, pi_event *out_event) {
    Instance *instance = as<Queue>(queue)->instance;
    if (!mine(instance, desc->mem, PI_KIND_MEM))
        return fail(instance, PI_ERROR_INVALID_MEM_OBJECT, "not my memory");
    if (take(instance->fail_unmaps))
        return fail(instance, PI_ERROR_OUT_OF_RESOURCES, "an injected failure: no unmap");
    auto *mem = as<Mem>(desc->mem);
    void *pointer = desc->pointer;
    const auto run = [instance, mem, pointer](std::string &text) {
        const auto found = mem->mappings.find(pointer);
        if (found == mem->mappings.end()) {
            text = "no map gave this pointer";
            return PI_ERROR_INVALID_VALUE;
        }
        const Mapping &mapping = *found->second;
        if ((mapping.flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD)) != 0)
            std::memcpy(mem->bytes.data() + mapping.offset, mapping.bytes.data(),
                        mapping.bytes.size());
        mem->mappings.erase(found);
        --instance->mapped;
        return PI_SUCCESS;
    };
    return enqueue(as<Queue>(queue), count, list, {mem}, run, out_event);
}

pi_result enqueue_nothing(pi_queue queue, uint32_t count, const pi_event *list,
                          pi_event *out_event) {
    return enqueue(
        as<Queue>(queue), count, list, {}, [](std::string &) { return PI_SUCCESS; }, out_event);
}

pi_result enqueue_events_wait(pi_queue queue, const pi_events_wait_desc *, uint32_t count,
                              const pi_event *list, pi_event *out_event) {
    Instance *instance = as<Queue>(queue)->instance;
    if (take(instance->fail_waits))
        return fail(instance, PI_ERROR_OUT_OF_RESOURCES, "an injected failure: no wait");
    return enqueue_nothing(queue, count, list, out_event);
}

// ---- The plugin -----------------------------------------------------------------------------

void fill(Instance &instance) {
    pi_dispatch &table = instance.table;
    table.piPluginGetInfo = plugin_info;
    table.piPluginGetExtension = plugin_extension;
    table.piPlatformsGet = platforms;
    table.piDevicesGet = devices;
    table.piContextCreate = context_create;
    table.piContextRetain = retain_handle<pi_context>;
    table.piContextRelease = release_handle<pi_context>;
    table.piQueueCreate = queue_create;
    table.piQueueRetain = retain_handle<pi_queue>;
    table.piQueueRelease = release_handle<pi_queue>;
    table.piQueueGetInfo = queue_info;
    table.piQueueFlush = queue_flush;
    table.piMemBufferCreate = mem_create;
    table.piMemRetain = retain_handle<pi_mem>;
    table.piMemRelease = release_handle<pi_mem>;
    table.piEnqueueMemBufferMap = enqueue_map;
    table.piEnqueueMemUnmap = enqueue_unmap;
    table.piEnqueueEventsWait = enqueue_events_wait;
    table.piEventWait = event_wait;
    table.piEventGetInfo = event_info;
    table.piEventSetCallback = event_callback;
    table.piEventCreateHost = event_create_host;
    table.piEventSignalHost = event_signal_host;
    table.piEventRetain = retain_handle<pi_event>;
    table.piEventRelease = release_handle<pi_event>;
    test_plugin::fill_required(table);

    instance.extension = {
        sizeof(memory_plugin_table),
        [](pi_plugin plugin, uint32_t count) { instance_of(plugin)->fail_maps = count; },
        [](pi_plugin plugin, uint32_t count) { instance_of(plugin)->fail_unmaps = count; },
        [](pi_plugin plugin, uint32_t count) { instance_of(plugin)->fail_waits = count; },
        [](pi_plugin plugin, uint32_t count) { instance_of(plugin)->fail_callbacks = count; },
        [](pi_plugin plugin, uint32_t count) { instance_of(plugin)->fail_queues = count; },
        [](pi_plugin plugin) { return instance_of(plugin)->mapped.load(); },
        [](pi_plugin plugin) { return instance_of(plugin)->map_calls.load(); }};
}

void teardown(pi_plugin plugin) {
    Instance *instance = instance_of(plugin);
    {
        const std::scoped_lock lock(instance->mutex);
        instance->stop = true;
        instance->changed.notify_all();
    }
    instance->worker.join();
    delete instance;
}

} // namespace

pi_result piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    auto *instance = new Instance();
    instance->header = {host->dispatch, PI_KIND_PLUGIN, 0};
    instance->host = host;
    instance->platform.header = {host->dispatch, PI_KIND_PLATFORM, 0};
    instance->platform.instance = instance;
    instance->device.header = {host->dispatch, PI_KIND_DEVICE, 0};
    instance->device.instance = instance;
    fill(*instance);
    instance->worker = std::thread(work, instance);
    out_desc->version_major = PI_VERSION_MAJOR;
    out_desc->version_minor = PI_VERSION_MINOR;
    out_desc->draft = PI_VERSION_DRAFT;
    out_desc->name = "memory";
    out_desc->version = "1";
    out_desc->functions = &instance->table;
    out_desc->instance = reinterpret_cast<pi_plugin>(instance);
    out_desc->teardown = teardown;
    return PI_SUCCESS;
}
