// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "state.hpp"

#include "layers/layers.hpp"

#include <pi/describe/rows.hpp>

#include <cstring>
#include <iterator>
#include <new>

namespace pi_run {
namespace {

template <typename Handle>
void release_all(std::map<uint64_t, Object> &objects) {
    for (auto &[id, object] : objects) {
        for (; object.kind == HandleTraits<Handle>::kind && !object.root && object.references > 0;
             --object.references)
            release(static_cast<Handle>(object.handle));
    }
}

} // namespace

void check(pi_result result, const char *function) {
    const char *text = "";
    if (result == PI_SUCCESS)
        return;
    piGetLastError(nullptr, &text);
    throw Refusal(fmt::format("{}: {}", function, text));
}

unsigned char *Storage::bytes(uint64_t size) {
    if (size > max_bytes)
        throw CannotRun(fmt::format("needs {} bytes of host memory, more than 4 GiB", size));
    const std::size_t whole = (static_cast<std::size_t>(size) + 4095) / 4096 * 4096;
    memory_.emplace_back(std::aligned_alloc(4096, whole != 0 ? whole : 4096));
    if (memory_.back() == nullptr)
        throw std::bad_alloc();
    size_ += whole;
    return static_cast<unsigned char *>(std::memset(memory_.back().get(), 0, whole));
}

void Commands::add(pi_queue queue, Event event, std::shared_ptr<Storage> memory) {
    size_ += memory->size();
    commands_.push_back({queue, std::move(event), std::move(memory)});
    if (size_ >= looks_from_)
        forget_final();
}

std::vector<Event> Commands::of(pi_queue queue) const {
    std::vector<Event> events;
    for (const Command &command : commands_) {
        if (command.queue == queue)
            events.push_back(command.event);
    }
    return events;
}

void Commands::forget_final() {
    std::erase_if(commands_, [](const Command &command) {
        const pi_event event = command.event.get();
        pi_event_status status = PI_EVENT_QUEUED;
        // Behind the layers: the log's program did not query, and for the layer race every query
        // that sees an end orders commands.
        queries_of(event).piEventGetInfo(event, PI_EVENT_INFO_STATUS, sizeof status, &status,
                                         nullptr);
        return status == PI_EVENT_COMPLETE;
    });
    size_ = 0;
    for (const Command &command : commands_)
        size_ += command.memory->size();
    // So that each event is queried seldom, even if there are many.
    looks_from_ = 2 * size_ + (UINT64_C(16) << 20);
}

Replay::State::~State() {
    // Fails what waits for the log's program, so that all commands end and their memory can be
    // freed.
    release_all<pi_event>(objects);
    for (const auto &[id, object] : objects) {
        if (object.kind == PI_KIND_QUEUE)
            piQueueFinish(static_cast<pi_queue>(object.handle));
    }
    commands.clear();
    enqueued.clear();
    maps.clear();
    release_all<pi_mem>(objects);
    release_all<pi_sampler>(objects);
    release_all<pi_usm_pool>(objects);
    release_all<pi_kernel>(objects);
    release_all<pi_program>(objects);
    release_all<pi_queue>(objects);
    release_all<pi_context>(objects);
    release_all<pi_device>(objects);
    if (loader != nullptr)
        piLoaderRelease(loader);
}

unsigned char *Replay::State::find_usm(const Json &place) {
    if (place.is_null())
        return nullptr;
    if (!place.is_object())
        throw CannotRun("an address is in no known allocation");
    const uint64_t id = as_number(member(place, "usm"), "usm");
    const uint64_t offset = as_number(member(place, "offset"), "offset");
    const auto found = usm.find(id);
    if (found != usm.end())
        return reinterpret_cast<unsigned char *>(reinterpret_cast<std::uintptr_t>(found->second) +
                                                 offset);
    const auto why = unmade.find(id);
    throw CannotRun(fmt::format("needs allocation {}, which {}", id,
                                why != unmade.end() ? why->second : "no earlier line created"));
}

unsigned char *Replay::State::shared_memory_at(uint64_t address, uint64_t size,
                                               const std::basic_string<unsigned char> *bytes) {
    const auto in_use = [&](const HostMemory &memory) {
        return objects.count(memory.last_import) != 0;
    };
    // The first that ends behind the address.
    auto found = host_memory.upper_bound(address);
    if (found != host_memory.begin() &&
        address - std::prev(found)->first < std::prev(found)->second.size)
        --found;
    while (found != host_memory.end() && found->first < pi::describe::plus(address, size) &&
           (address < found->first || address - found->first + size > found->second.size)) {
        if (in_use(found->second))
            throw CannotRun("an earlier import uses part of this memory");
        found = host_memory.erase(found);
    }
    if (found == host_memory.end() || found->first > address) {
        constexpr uint64_t page = 4096;
        const auto storage = std::make_shared<Storage>();
        unsigned char *const begin = storage->bytes(pi::describe::plus(size, page));
        shared_memory.push_back(storage);
        found = host_memory.insert_or_assign(address, HostMemory{begin + address % page, size, 0})
                    .first;
    }
    unsigned char *const memory = found->second.bytes + (address - found->first);
    if (bytes != nullptr && !in_use(found->second))
        std::memcpy(memory, bytes->data(), bytes->size());
    return memory;
}

unsigned char *Replay::State::find_memory(const Json &place, uint64_t size) {
    const auto found = named_memory.find(as_number(member(place, "memory"), "memory"));
    const uint64_t offset = as_number(member(place, "offset"), "offset");
    if (found == named_memory.end())
        throw Refusal("no such host memory");
    const HostMemory &memory = found->second;
    if (offset > memory.size || size > memory.size - offset)
        throw Refusal(
            fmt::format("the command needs {} bytes of host memory from byte {} on; there "
                        "are {}",
                        size, offset, memory.size));
    return memory.bytes + offset;
}

void Replay::State::note_import(const void *memory, uint64_t id) {
    for (auto &[address, host] : host_memory) {
        if (memory >= host.bytes && memory < host.bytes + host.size)
            host.last_import = id;
    }
}

std::string Replay::State::name_of(uint64_t id) const {
    const auto found = names.find(id);
    return found != names.end() ? found->second : fmt::format("object {}", id);
}

const char *Replay::State::word_of(pi_kind kind) {
    constexpr const char *words[] = {"",        "loader",  "plugin",  "platform", "device",
                                     "context", "queue",   "mem",     "event",    "program",
                                     "kernel",  "sampler", "usm pool"};
    return words[kind];
}

pi_device Replay::State::use_device(uint64_t id) {
    if (devices_used == devices.size())
        throw Refusal(
            fmt::format("the log uses more devices than the selector's {}", devices.size()));
    const pi_device device = devices[devices_used++];
    objects[id] = {device, PI_KIND_DEVICE, 1, true};
    return device;
}

void Replay::State::use_platform(uint64_t id, pi_platform platform) {
    Object &object =
        objects.try_emplace(id, Object{platform, PI_KIND_PLATFORM, 1, true}).first->second;
    if (object.kind != PI_KIND_PLATFORM)
        throw Refusal(
            fmt::format("object {} is a {}, should be a platform", id, word_of(object.kind)));
    object.handle = platform;
}

} // namespace pi_run
