// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The core for adapters of other runtimes (Unified Runtime, OpenCL, TVM): one context, program,
// kernel, buffer and event over the devices of several plugin instances. An adapter translates
// names and codes; everything that needs more than one PI object is here.
//
// Functions throw Error, as all of the runtime, and may be called from any thread, except where a
// comment says otherwise.
#pragma once

#include <pi/pi.h>
#include <pi/runtime/buffer.hpp>
#include <pi/runtime/export.hpp>
#include <pi/runtime/handle.hpp>
#include <pi/runtime/runtime.hpp>
#include <pi/runtime/storage.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pi::runtime::facade {

// ===== USM ranges =============================================================================

/// An allocation that an adapter's users know by its address.
struct UsmRange {
    uintptr_t base = 0;
    uint64_t size = 0;
    pi_usm_kind kind = 0;
    pi_device device = nullptr; ///< NULL for host memory
    void *owner = nullptr;      ///< the adapter's own (its pool)

    bool contains(uintptr_t address) const noexcept {
        return base <= address && address - base < size;
    }
};

/// The live allocations of a context, found by any address in them. Thread-safe.
class PI_RUNTIME_EXPORT UsmRanges {
public:
    void add(const UsmRange &range);
    /// The removed range; empty if no range begins at the address.
    std::optional<UsmRange> remove(const void *base);
    std::optional<UsmRange> find(const void *address) const;
    /// The owner is gone: its ranges have none.
    void disown(const void *owner);
    std::size_t size() const;

private:
    mutable std::shared_mutex mutex_;
    std::map<uintptr_t, UsmRange> ranges_; // by base
};

// ===== Contexts and queues ====================================================================

/// The devices of one platform in a context. Parts of one plugin instance can wait for each other's
/// events.
struct Part {
    runtime::Context context{};
    pi_platform platform = nullptr;
    pi_plugin plugin = nullptr;
    std::vector<pi_device> devices{};

    bool has(pi_device device) const noexcept {
        return std::find(devices.begin(), devices.end(), device) != devices.end();
    }
};

struct ContextOptions {
    /// Buffers are storages even if the context has one device.
    bool always_storages = false;
    RuntimeOptions runtime{};
};

struct UsmOwner;

/// Devices that a program uses together, of any number of plugin instances.
class PI_RUNTIME_EXPORT Context : public std::enable_shared_from_this<Context> {
public:
    /// Creates one pi_context for each platform of the devices, which are retained.
    /// PI_ERROR_INVALID_SIZE: no device. PI_ERROR_INVALID_DEVICE: NULL, or a device twice.
    explicit Context(std::span<const pi_device> devices, ContextOptions options = {});
    /// Around an existing context, with its devices.
    explicit Context(runtime::Context context, ContextOptions options = {});
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;
    ~Context();

    std::span<const pi_device> devices() const noexcept { return devices_; }
    std::span<const Part> parts() const noexcept { return parts_; }
    /// PI_ERROR_INVALID_DEVICE: the device is not in the context.
    const Part &part_of(pi_device device) const { return parts_[part_index(device)]; }
    std::size_t part_index(pi_device device) const;
    bool has(pi_device device) const noexcept;

    /// Whether buffers are storages: with several devices, or by the options. With one device they
    /// are a pi_mem.
    bool uses_storages() const noexcept { return always_storages_ || devices_.size() > 1; }
    /// The runtime over the devices, made at the first call.
    const Runtime &runtime() const;
    /// The device's place in runtime().
    PlaceIndex place_of(pi_device device) const;

    UsmRanges &usm() noexcept { return usm_; }
    const UsmRanges &usm() const noexcept { return usm_; }
    /// The allocation that contains the address, in any context of the process.
    static std::optional<UsmOwner> find_usm(const void *address);

    /// Blocks until all commands enqueued so far on the context's queues are complete, successful
    /// or not, also on queues that were destroyed since. False inside a callback, where nothing may
    /// block.
    bool finish_queues() const;
    /// Calls the function once these commands are complete, on any thread, under the rules of PI's
    /// callbacks; it must not throw.
    void after_queues(std::function<void()> function) const;

private:
    friend class Command;
    friend class Memory;
    friend class Queue;
    /// What finish_queues() needs of a queue that may be destroyed meanwhile.
    struct QueueState {
        runtime::Queue queue;
        std::atomic<uint64_t> enqueued{0}; ///< commands, counted when their enqueue has returned
        std::atomic<uint64_t> finished{0}; ///< of them, those known to be complete
        std::atomic<bool> destroyed{false};
        void finish();
        bool is_empty();
        /// Whether finish_queues() has to wait for it. Asks the plugin only about destroyed queues.
        bool is_busy() noexcept;

    private:
        void set_finished(uint64_t count);
        std::mutex mutex_;
        runtime::Event marker_; // behind the first marked_ commands
        uint64_t marked_ = 0;
    };
    /// Also forgets destroyed queues whose commands are complete.
    std::vector<std::shared_ptr<QueueState>> busy_queues() const;

    std::vector<pi_device> devices_;
    std::vector<runtime::Device> references_;
    std::vector<Part> parts_;
    bool always_storages_ = false;
    RuntimeOptions options_;
    mutable std::once_flag runtime_made_;
    mutable std::unique_ptr<Runtime> runtime_;
    UsmRanges usm_;
    mutable std::mutex queues_mutex_;
    mutable std::vector<std::shared_ptr<QueueState>> queues_;
    /// Held from a command's acquires to its enqueue, which never blocks. Acquires do not wait for
    /// each other: with those of two commands interleaved, each command could wait for the other,
    /// or for one that is behind it in an in-order queue.
    /// Recursive: a callback that an acquire runs within the call may enqueue, too. If its command
    /// then needs what this thread has acquired, it is refused, as every such acquire.
    mutable std::recursive_mutex order_mutex_;
};

/// An allocation and the context that it belongs to.
struct UsmOwner {
    std::shared_ptr<Context> context{};
    UsmRange range{};
};

/// A queue of one device of a context.
class PI_RUNTIME_EXPORT Queue {
public:
    Queue(std::shared_ptr<Context> context, pi_device device, uint64_t flags);
    /// Around an existing queue of the part's context.
    Queue(std::shared_ptr<Context> context, pi_device device, runtime::Queue queue);
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;
    ~Queue();

    pi_queue get() const noexcept { return state_->queue.get(); }
    /// Blocks until all commands are complete. Context::finish_queues() then knows that they are.
    void finish() const { state_->finish(); }
    /// Whether all commands are complete. Of commands that others submit to a native queue it knows
    /// nothing.
    bool is_empty() const { return state_->is_empty(); }
    pi_device device() const noexcept { return device_; }
    Context &context() const noexcept { return *context_; }
    const std::shared_ptr<Context> &shared_context() const noexcept { return context_; }
    const Part &part() const noexcept { return *part_; }

private:
    friend class Command;
    void count_command() const noexcept { state_->enqueued.fetch_add(1); }

    std::shared_ptr<Context> context_;
    pi_device device_ = nullptr;
    const Part *part_ = nullptr;
    std::shared_ptr<Context::QueueState> state_;
};

// ===== Events =================================================================================

/// The end of a command of any plugin instance, for wait lists of every instance. Copies denote the
/// same event.
class PI_RUNTIME_EXPORT Event {
public:
    Event() noexcept = default;
    Event(runtime::Event event, pi_plugin plugin) noexcept
        : event_(std::move(event)), plugin_(plugin) {}

    pi_event get() const noexcept { return event_.get(); }
    explicit operator bool() const noexcept { return static_cast<bool>(event_); }
    pi_plugin plugin() const noexcept { return plugin_; }
    /// An event of the part's plugin instance that completes with this one, and fails if it fails:
    /// this one, or a host event that a callback signals. Flushes this event's queue in that case.
    runtime::Event in(const Part &part) const;
    bool is_complete() const;
    /// Blocks. Throws the error of a failed command.
    void wait() const;

private:
    runtime::Event event_;
    pi_plugin plugin_ = nullptr;
};

// ===== Memory =================================================================================

class Command;

/// A buffer of a context: a pi_mem where the context has one device, a range of a Storage where it
/// has several. Also memory that exists already, and images, which belong to one device.
class PI_RUNTIME_EXPORT Memory : public std::enable_shared_from_this<Memory> {
public:
    struct Descriptor {
        uint64_t flags = 0; ///< PI_MEM_
        uint64_t size = 0;
        void *host_ptr = nullptr; ///< with COPY or USE, as for pi_mem_buffer_desc
    };
    static std::shared_ptr<Memory> create(std::shared_ptr<Context> context,
                                          const Descriptor &descriptor);
    /// Around memory of one of the context's devices: a buffer or an image.
    static std::shared_ptr<Memory> adopt(std::shared_ptr<Context> context, pi_device device,
                                         runtime::Mem mem);
    ~Memory();

    /// The bytes of a range; keeps the root alive. flags: access flags, or 0 for those of the root.
    /// PI_ERROR_MISALIGNED_OFFSET: a device's offset_alignment does not allow the offset; the text
    /// names both numbers.
    std::shared_ptr<Memory> view(uint64_t offset, uint64_t size, uint64_t flags) const;

    Context &context() const noexcept { return *context_; }
    const std::shared_ptr<Context> &shared_context() const noexcept { return context_; }
    uint64_t size() const noexcept { return size_; }
    uint64_t offset() const noexcept { return offset_; } ///< into the root
    uint64_t flags() const noexcept { return flags_; }
    bool is_view() const noexcept { return root_ != nullptr; }
    /// NULL for a storage.
    pi_mem mem() const noexcept { return mem_.get(); }
    /// The owner of mem(); NULL for a storage.
    pi_device device() const noexcept { return device_; }
    const Storage *storage() const noexcept { return storage_ ? &*storage_ : nullptr; }
    /// The memory that the device uses, for its native handle. For a storage the call brings the
    /// bytes there and waits for them. Until the next command or map that uses them, others may
    /// read and write them at the device; they must have finished by then. The memory itself stays
    /// the same for as long as the storage's root lives, except when it was evicted meanwhile.
    pi_mem held_at(pi_device device);
    /// The caller's accesses to memory that held_at() returned end with the event.
    void release_held(const Event &event) const;

    /// Makes a range accessible to the host. The address is known on return; the bytes are ready
    /// when the event is complete. flags: PI_MAP_.
    void *map(Command &command, uint64_t flags, uint64_t offset, uint64_t size, Event &out_event);
    /// Ends the newest map of this address. PI_ERROR_INVALID_VALUE: there is none.
    void unmap(Command &command, void *address, Event &out_event);

private:
    friend class Command;
    struct Map;
    struct Hold;

    Memory() = default;
    void check_range(uint64_t offset, uint64_t size) const;
    Buffer buffer(uint64_t offset, uint64_t size) const;
    const Memory &root() const noexcept { return root_ != nullptr ? *root_ : *this; }
    void end_holds(uint64_t begin, uint64_t end, pi_event event = nullptr) const;

    std::shared_ptr<Context> context_;
    std::shared_ptr<const Memory> root_; // of a view
    pi_device device_ = nullptr;         // of mem_
    uint64_t size_ = 0;
    uint64_t offset_ = 0;
    uint64_t flags_ = 0;
    runtime::Mem mem_;
    std::optional<Storage> storage_;
    std::byte *host_bytes_ = nullptr; // byte 0 of the storage
    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<Map>> maps_;
    mutable std::mutex hold_mutex_;                    // one held_at() of a root at a time
    mutable std::vector<std::unique_ptr<Hold>> holds_; // of a root
};

// ===== Commands ===============================================================================

/// A command while it is being enqueued: the events that it waits for, and the memory that it uses.
///
///     Command command(queue);
///     command.wait_for(event);
///     const auto use = command.use(memory, Access::read, offset, size);
///     desc.mem = command.operand(use).mem; // acquires all memory at the first call
///     Event end = command.enqueue("piEnqueueMemBufferRead", piEnqueueMemBufferRead, desc, true);
///
/// One thread uses it, one at a time between operand() and enqueue(): until then the context's
/// other commands on storages wait. If it is destroyed without an enqueue, or the enqueue fails,
/// nothing happened.
class PI_RUNTIME_EXPORT Command {
public:
    explicit Command(const Queue &queue) : queue_(queue) {}
    Command(const Command &) = delete;
    Command &operator=(const Command &) = delete;

    const Queue &queue() const noexcept { return queue_; }
    /// The event must live until the enqueue.
    void wait_for(const Event &event);
    void wait_for(Event &&event);
    void wait_for(runtime::Event event);

    /// PI_ERROR_INVALID_CONTEXT: a storage of another context than the queue's.
    /// PI_ERROR_UNSUPPORTED_FEATURE: an image or imported memory of another platform's device.
    void check_reachable(const Memory &memory) const;
    /// Declares a use of a range of the memory, before the first operand() or enqueue(). Uses of
    /// one storage that overlap become one, so a command may name a buffer several times.
    /// PI_ERROR_INVALID_SIZE: past the end. Also the errors of check_reachable().
    std::size_t use(const Memory &memory, Access access, uint64_t offset, uint64_t size);
    struct Operand {
        pi_mem mem = nullptr;
        uint64_t offset = 0; ///< of the range in mem, bytes
    };
    Operand operand(std::size_t use);

    /// Calls the C function. The event is empty if the caller wants none and no storage needs one.
    template <class Desc>
    Event enqueue(const char *name,
                  pi_result(PI_CALL *function)(pi_queue, const Desc *, uint32_t, const pi_event *,
                                               pi_event *),
                  const Desc *desc, bool wants_event) {
        begin();
        // Commands of other threads must not wait while this one blocks.
        const bool blocks =
            !acquisitions_.empty() && desc != nullptr && (desc->flags & PI_COMMAND_BLOCKING) != 0;
        std::optional<Desc> own;
        if (blocks) {
            own = *desc;
            own->flags &= ~uint64_t{PI_COMMAND_BLOCKING};
            desc = &*own;
        }
        runtime::Event event;
        try {
            check(function(queue_.get(), desc, wait_count(), wait_list(),
                           wants_event || !acquisitions_.empty() ? event.out() : nullptr),
                  name);
        } catch (...) {
            cancel();
            throw;
        }
        queue_.count_command();
        Event done = end(std::move(event));
        if (blocks) {
            done.wait();
        }
        return done;
    }
    template <class Desc>
    Event enqueue(const char *name,
                  pi_result(PI_CALL *function)(pi_queue, const Desc *, uint32_t, const pi_event *,
                                               pi_event *),
                  const Desc &desc, bool wants_event) {
        return enqueue(name, function, &desc, wants_event);
    }

    uint32_t wait_count() const noexcept { return static_cast<uint32_t>(waits_.size()); }
    const pi_event *wait_list() const noexcept { return waits_.empty() ? nullptr : waits_.data(); }

private:
    struct Use {
        const Memory *memory = nullptr;
        Access access = Access::read;
        uint64_t begin = 0, end = 0; // in bytes of the storage, or of mem
        std::size_t acquisition = 0; // of a storage
    };
    struct Joined {
        const Memory *memory = nullptr;
        Access access = Access::read;
        uint64_t begin = 0, end = 0;
    };

    void begin();
    std::vector<Joined> join_uses();
    Event end(runtime::Event event);
    void cancel();

    const Queue &queue_;
    std::vector<pi_event> waits_;
    std::vector<runtime::Event> owned_;
    std::vector<Use> uses_;
    std::unique_lock<std::recursive_mutex> order_; // of the context, longer than the acquisitions
    std::vector<Acquisition> acquisitions_;
    bool begun_ = false;
};

// ===== USM commands ===========================================================================

/// `rows` rows of `width` bytes. The pitches are the distances between rows; with one row they do
/// not matter.
struct UsmCopy {
    void *dst = nullptr;
    const void *src = nullptr;
    uint64_t width = 0;
    uint64_t rows = 1;
    uint64_t dst_pitch = 0;
    uint64_t src_pitch = 0;
};
/// As piEnqueueUsmCopy, and without its limits: both ends may be host memory, they may overlap (the
/// destination receives the bytes that the source had before), and may be USM of another part, or
/// of another context of the process. flags: PI_COMMAND_.
PI_RUNTIME_EXPORT Event enqueue_usm_copy(Command &command, const UsmCopy &copy, uint64_t flags,
                                         bool wants_event);

/// `rows` rows of `width` bytes; the pattern goes on from one row to the next.
struct UsmFill {
    void *pointer = nullptr;
    const void *pattern = nullptr; ///< copied during the call
    uint64_t pattern_size = 0;
    uint64_t width = 0;
    uint64_t rows = 1;
    uint64_t pitch = 0;
};
/// As piEnqueueUsmFill, and without its limits: any address, any pattern size of which the number
/// of bytes is a multiple, and host memory. PI_ERROR_INVALID_SIZE: 0 bytes, not a multiple, or past
/// the end of the allocation.
PI_RUNTIME_EXPORT Event enqueue_usm_fill(Command &command, const UsmFill &fill, uint64_t flags,
                                         bool wants_event);

/// Calls the function in the queue's order, under the rules of event callbacks. It is destroyed,
/// called or not, when the command is complete.
PI_RUNTIME_EXPORT Event enqueue_host_function(Command &command, std::function<void()> function,
                                              uint64_t flags);

// ===== Programs and kernels ===================================================================

/// One object for each part of a context, or the error with which the part refused it: a program
/// that some of the devices cannot run is an error only when they are to run it.
template <class Handle>
class PerPart {
public:
    struct Entry {
        Handle handle{};
        pi_result error = PI_SUCCESS;
        std::string text{};
    };
    explicit PerPart(std::size_t parts) : entries_(parts) {}
    std::span<Entry> entries() noexcept { return entries_; }
    std::span<const Entry> entries() const noexcept { return entries_; }
    /// Throws the part's error if it has no object.
    const Handle &at(std::size_t part) const {
        const Entry &entry = entries_[part];
        if (!entry.handle) {
            throw Error(entry.error, entry.text);
        }
        return entry.handle;
    }
    /// Calls make(part) -> Handle for each part, and keeps its errors. If every part fails, throws
    /// the first error.
    template <class Make>
    void make_each(Make make) {
        make_each(0, std::move(make));
    }
    /// Throws the error of this part instead.
    template <class Make>
    void make_each(std::size_t reporting, Make make) {
        bool any = false;
        for (std::size_t part = 0; part < entries_.size(); ++part) {
            try {
                entries_[part] = {make(part), PI_SUCCESS, {}};
                any = true;
            } catch (const Error &error) {
                entries_[part] = {{}, error.code(), error.what()};
            }
        }
        if (!any && !entries_.empty()) {
            throw Error(entries_[reporting].error, entries_[reporting].text);
        }
    }

private:
    std::vector<Entry> entries_;
};

/// A program of a context: one pi_program for each part.
class PI_RUNTIME_EXPORT Program {
public:
    /// PI_ERROR_UNSUPPORTED_FEATURE: no device of the context accepts the format.
    static std::shared_ptr<Program> create(std::shared_ptr<Context> context,
                                           const pi_program_desc &desc);
    /// A binary, of any format, for each of these devices. PI_ERROR_UNSUPPORTED_FEATURE: devices of
    /// one part have different binaries.
    static std::shared_ptr<Program> create_from_binaries(std::shared_ptr<Context> context,
                                                         std::span<const pi_device> devices,
                                                         std::span<const pi_program_desc> binaries);
    static std::shared_ptr<Program> adopt(std::shared_ptr<Context> context, std::size_t part,
                                          runtime::Program program);
    /// Links for the devices; none: for all of the context.
    static std::shared_ptr<Program> link(std::shared_ptr<Context> context,
                                         std::span<const std::shared_ptr<Program>> programs,
                                         std::span<const pi_device> devices, const char *options);

    Context &context() const noexcept { return *context_; }
    const std::shared_ptr<Context> &shared_context() const noexcept { return context_; }
    /// For these devices; none: for all that have the program. Externally synchronised.
    void build(std::span<const pi_device> devices, const char *options);
    void compile(std::span<const pi_device> devices, const char *options);
    void set_constants(std::span<const pi_specialization_constant> constants);

    /// Throws the error with which the device's part refused the program.
    pi_program at(pi_device device) const;
    const PerPart<runtime::Program> &parts() const noexcept { return parts_; }
    /// The devices that it is built for, in the context's order.
    std::vector<pi_device> built_devices() const;

private:
    Program(std::shared_ptr<Context> context, std::size_t parts)
        : context_(std::move(context)), parts_(parts) {}
    using Build = pi_result(PI_CALL *)(pi_program, const pi_program_build_desc *);
    void build_each(const char *name, Build function, std::span<const pi_device> devices,
                    const char *options);

    std::shared_ptr<Context> context_;
    PerPart<runtime::Program> parts_;
};

/// A kernel of a program: one pi_kernel for each part that the program is built for.
class PI_RUNTIME_EXPORT Kernel {
public:
    static std::shared_ptr<Kernel> create(std::shared_ptr<Program> program, const char *name);
    /// program may be empty: the kernel's own is used.
    static std::shared_ptr<Kernel> adopt(std::shared_ptr<Context> context,
                                         std::shared_ptr<Program> program, std::size_t part,
                                         runtime::Kernel kernel);

    const std::shared_ptr<Program> &program() const noexcept { return program_; }
    Context &context() const noexcept { return *context_; }
    /// Throws the error with which the device's part refused the kernel.
    pi_kernel at(pi_device device) const;
    /// The kernel of the first part that has one.
    pi_kernel any() const;

private:
    Kernel(std::shared_ptr<Context> context, std::shared_ptr<Program> program, std::size_t parts)
        : context_(std::move(context)), program_(std::move(program)), parts_(parts) {}

    std::shared_ptr<Context> context_;
    std::shared_ptr<Program> program_;
    PerPart<runtime::Kernel> parts_;
};

// ===== Infos ==================================================================================

/// Values of constant infos, by name, each computed once. Thread-safe.
class PI_RUNTIME_EXPORT InfoCache {
public:
    using Value = std::vector<std::byte>;
    /// `make` may run more than once if threads ask at the same time; the first value stays. The
    /// reference lives as long as the cache.
    const Value &get(uint32_t name, const std::function<Value()> &make);

private:
    std::shared_mutex mutex_;
    std::unordered_map<uint32_t, std::unique_ptr<const Value>> values_;
};

} // namespace pi::runtime::facade
