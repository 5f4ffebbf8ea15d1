// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects and memory of the replayed calls.
#pragma once

#include "replay.hpp"
#include "values.hpp"

#include "functions.hpp"

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pi_run {

using namespace pi::loader;

/// The maximum memory of one call.
constexpr uint64_t max_bytes = UINT64_C(1) << 32;

struct Free {
    void operator()(void *memory) const noexcept { std::free(memory); }
};

/// Memory that lives as long as the object.
class Storage {
public:
    /// Zeros, aligned to a page.
    unsigned char *bytes(uint64_t size);
    template <typename Type>
    Type *array(std::size_t count) {
        return reinterpret_cast<Type *>(bytes(count * sizeof(Type)));
    }
    /// The size of all memory that it has allocated.
    uint64_t size() const noexcept { return size_; }

private:
    std::vector<std::unique_ptr<void, Free>> memory_;
    uint64_t size_ = 0;
};

/// A reference to an event.
using Event = std::shared_ptr<std::remove_pointer_t<pi_event>>;
inline Event take_over(pi_event event) {
    return {event, piEventRelease};
}

/// The commands that may still run: each has an event, and memory that it uses until it is
/// complete.
class Commands {
public:
    void add(pi_queue queue, Event event, std::shared_ptr<Storage> memory);
    std::vector<Event> of(pi_queue queue) const;
    void clear() noexcept { commands_.clear(); }

private:
    struct Command {
        pi_queue queue;
        Event event;
        std::shared_ptr<Storage> memory;
    };
    void forget_final();

    std::vector<Command> commands_;
    uint64_t size_ = 0;       ///< of their memory
    uint64_t looks_from_ = 0; ///< from that size on it checks for complete ones
};

/// Throws Refusal with the error's text unless the call of that function succeeded.
void check(pi_result result, const char *function);

template <typename Handle>
void release(Handle handle) {
    if constexpr (std::is_same_v<Handle, pi_event>)
        piEventRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_mem>)
        piMemRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_kernel>)
        piKernelRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_program>)
        piProgramRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_queue>)
        piQueueRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_context>)
        piContextRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_sampler>)
        piSamplerRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_usm_pool>)
        piUsmPoolRelease(handle);
    else if constexpr (std::is_same_v<Handle, pi_device>)
        piDeviceRelease(handle);
}

struct Object {
    void *handle;
    pi_kind kind;
    uint64_t references; ///< of the log's program
    bool root;           ///< not created by a call
};

struct OpenMap {
    Event event;
    std::shared_ptr<Storage> memory; ///< contains `place`
    void **place;
    uint64_t size;
    bool writes;
    bool over = false; ///< an unmap of a case's, which may do that again, was enqueued
    Event unmap{};     ///< unless it blocked

    /// An unmap that failed leaves the map.
    bool stands() const {
        if (!over || unmap == nullptr)
            return !over;
        const pi_result result = piEventWait(unmap.get(), 0);
        return result != PI_SUCCESS && result != PI_ERROR_TIMEOUT;
    }
};

/// Memory of the host in place of some that the log's program imported.
struct HostMemory {
    unsigned char *bytes;
    uint64_t size;
    uint64_t last_import; ///< an id; 0 before the first has succeeded
};

struct Replay::State {
    pi_loader loader = nullptr;
    std::vector<pi_device> devices;
    std::size_t devices_used = 0;
    std::map<uint64_t, Object> objects;
    std::map<uint64_t, std::string> unmade; ///< ids of objects that were not created, and why
    std::map<uint64_t, OpenMap> maps;
    Commands commands;
    std::vector<std::shared_ptr<Storage>> shared_memory; ///< of buffers and images that use it
    std::map<uint64_t, HostMemory> host_memory;          ///< by the log's address
    std::map<pi_mem, uint64_t> pixels;                   ///< bytes of an image's pixel
    std::map<uint64_t, unsigned char *> usm;             ///< allocations, by id
    std::map<uint64_t, HostMemory> named_memory;         ///< of a case, by id
    bool by_hand = false;                                ///< a person wrote the calls
    std::map<uint64_t, std::string> names;               ///< of their objects, by id
    /// Their commands that did not block, by line.
    std::vector<std::pair<uint64_t, Event>> enqueued;

    ~State();
    /// The object with the log's id, or NULL for null. Throws CannotRun for one that was not
    /// created here.
    template <typename Handle>
    Handle find(const Json &id) {
        if (id.is_null())
            return nullptr;
        const uint64_t number = as_number(id, "an id");
        const auto found = objects.find(number);
        if (found == objects.end()) {
            if constexpr (std::is_same_v<Handle, pi_device>) {
                if (unmade.count(number) == 0)
                    return use_device(number);
            }
            const auto why = unmade.find(number);
            throw CannotRun(
                why != unmade.end()
                    ? fmt::format("needs {}, which {}", name_of(number), why->second)
                    : fmt::format("needs {}, which no earlier line created", name_of(number)));
        }
        if (found->second.kind != HandleTraits<Handle>::kind)
            throw Refusal(fmt::format("{} is a {}, should be a {}", name_of(number),
                                      word_of(found->second.kind),
                                      word_of(HandleTraits<Handle>::kind)));
        return static_cast<Handle>(found->second.handle);
    }
    uint64_t pixel_bytes(pi_mem image) const {
        const auto found = pixels.find(image);
        return found != pixels.end() ? found->second : 0;
    }
    /// The address of {"usm", "offset"}. Throws CannotRun if there is no such allocation here.
    unsigned char *find_usm(const Json &place);
    /// The memory in place of the log's. It receives `bytes`, if not NULL, unless an earlier import
    /// still uses it: then it has them.
    unsigned char *shared_memory_at(uint64_t address, uint64_t size,
                                    const std::basic_string<unsigned char> *bytes);
    /// The address of {"memory", "offset"}. Throws Refusal unless `size` bytes follow it.
    unsigned char *find_memory(const Json &place, uint64_t size);
    void note_import(const void *memory, uint64_t id);
    static const char *word_of(pi_kind kind);
    /// "object 5", or the name that a case has given.
    std::string name_of(uint64_t id) const;
    /// The next of the selector's devices, for a new id of the log.
    pi_device use_device(uint64_t id);
    /// The platform that the log's now stands for.
    void use_platform(uint64_t id, pi_platform platform);
};

} // namespace pi_run
