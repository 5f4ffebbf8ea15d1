// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// USM for plugins that keep a table of their allocations: the entries, which are the same in all
// backends, and the checks of commands on pointers.
//
// `Usm` is the plugin's side, a class of static members:
//   using Context, Device, Queue, Memory
//       Its objects; Memory as in usm_memory.hpp.
//   constexpr bool across_contexts
//       Whether commands can use USM of every context of the instance.
//   constexpr uint64_t known_requirements
//       The supported PI_MEM_REQUIRE_ flags.
//   UsmTable<Memory> &table(const Context &)
//       The instance's table.
//   void require(const Context &)
//   void require(const Queue &)
//       PI_ERROR_UNSUPPORTED_FEATURE unless a device of the context, or the queue's, has USM.
//   Device &owner(const Context &, pi_device, pi_usm_kind)
//       The device, checked to be of the context and to support the kind. For NULL, which only
//       comes with PI_USM_HOST, any device that supports it.
//   std::string name(const Device &)
//       For messages.
//   void check_scope(const Device &, uint32_t)
//       PI_ERROR_INVALID_VALUE unless the device has the scope.
//   void check_requirements(uint64_t requirements, uint32_t scope)
//       Optional. PI_ERROR_UNSUPPORTED_FEATURE for requirements that the scope cannot meet.
//   void check_poolable(uint32_t scope)
//       Optional. PI_ERROR_UNSUPPORTED_FEATURE for a scope without PI_SCOPE_POOLABLE.
//   uint64_t alignment(const Device &, uint64_t)
//       The alignment of memory for which this one, 0 or a power of two, is requested.
//       PI_ERROR_INVALID_ALIGNMENT.
//   uint64_t min_alignment(const Device &), max_alignment(const Device &)
//       The smallest and the largest result of alignment().
//   Memory allocate(Context &, Device &, pi_usm_kind, uint64_t size, uint64_t alignment,
//                   uint64_t requirements)
//   Memory allocate_pooled(Context &, Device &, pi_usm_kind, uint64_t size, uint64_t alignment)
//       Optional. As allocate, for pools and for allocations by command, if the vendor can allocate
//       and free without waiting.
//   const void *source(const Device &, pi_usm_kind)
//       Optional. Identifies the physical memory that such USM comes from, the same for devices
//       that share it. By default the whole instance shares one.
//   void enqueue(Queue &, const EnqueueArguments &, run)
//       Enqueues a command that only calls run() once, in its order. `run` is movable and is
//       destroyed, called or not, before the command's event is complete.
#pragma once

#include <pi/sdk/enqueue.hpp>
#include <pi/sdk/region.hpp>
#include <pi/sdk/usm_table.hpp>

namespace pi::sdk {

/// The key of a memory in UsmPools.
template <class Usm>
const void *usm_source(const typename Usm::Device &device, pi_usm_kind kind) {
    if constexpr (requires { Usm::source(device, kind); })
        return Usm::source(device, kind);
    else
        return nullptr;
}

/// Allocates memory for a pool, or for an allocation by command.
template <class Usm>
typename Usm::Memory allocate_pooled(typename Usm::Context &context, typename Usm::Device &device,
                                     pi_usm_kind kind, uint64_t size, uint64_t alignment) {
    if constexpr (requires { Usm::allocate_pooled(context, device, kind, size, alignment); })
        return Usm::allocate_pooled(context, device, kind, size, alignment);
    else
        return Usm::allocate(context, device, kind, size, alignment, 0);
}

/// A pool's handle. The pool's allocations do not depend on it.
template <class Usm>
class UsmPool : public Object<UsmPool<Usm>, pi_usm_pool> {
public:
    using Context = typename Usm::Context;
    using Device = typename Usm::Device;
    using Memory = typename Usm::Memory;

    UsmPool(Context &context, Device &device, const pi_usm_pool_desc &desc)
        : Object<UsmPool, pi_usm_pool>(context.host()), context_(context), device_(device),
          usm_kind_(desc.kind),
          memory_(std::make_shared<UsmPoolMemory<Memory>>(
              [&context, &device, kind = desc.kind](uint64_t bytes, uint64_t alignment) {
                  return Usm::table(context).pools().with_room(usm_source<Usm>(device, kind), [&] {
                      return sdk::allocate_pooled<Usm>(context, device, kind, bytes, alignment);
                  });
              },
              limits(device, desc))) {
        Usm::table(context).pools().add(usm_source<Usm>(device, desc.kind), memory_);
        memory_->open(this->handle());
    }
    ~UsmPool() { memory_->close(); }

    Context &context() const { return *context_; }
    Device &device() const { return device_; }
    pi_usm_kind usm_kind() const { return usm_kind_; }
    UsmPoolMemory<Memory> &memory() const { return *memory_; }

private:
    static UsmPoolLimits limits(const Device &device, const pi_usm_pool_desc &desc) {
        constexpr uint64_t default_threshold = uint64_t{64} * 1024 * 1024;
        return {desc.release_threshold ? desc.release_threshold : default_threshold, desc.limit,
                Usm::min_alignment(device), Usm::max_alignment(device)};
    }

    const Ref<Context> context_;
    Device &device_;
    const pi_usm_kind usm_kind_;
    const std::shared_ptr<UsmPoolMemory<Memory>> memory_;
};

// ----- Checks of the commands --------------------------------------------------------------------

/// PI_ERROR_INVALID_USM_POINTER if the range is of a context whose USM this context's commands
/// cannot use.
template <class Usm>
void check_usm_context(const typename Usm::Context &context,
                       const UsmRange<typename Usm::Memory> &range, const void *pointer,
                       const ArgumentName &name) {
    if (!Usm::across_contexts && range.context != &context)
        fail(PI_ERROR_INVALID_USM_POINTER, name, ' ', pointer,
             " is USM of another context; commands use that of their queue's context");
}

/// Checks `size` bytes at an address within an allocation.
template <class Usm>
void check_usm_range(const typename Usm::Context &context, const void *pointer, uint64_t size) {
    const auto range = Usm::table(context).get(require(pointer, "pointer"), "pointer");
    check_usm_context<Usm>(context, range, pointer, "pointer");
    check_range(range.offset_of(pointer), size, range.size, "the USM allocation");
}

/// Reads the regions of a copy; one end may be plain host memory.
template <class Usm>
Regions read_usm_regions(const typename Usm::Context &context, const pi_usm_copy_desc &desc) {
    const auto end = [&](const void *pointer, const checks::End &names) -> checks::RegionEnd {
        const auto range = Usm::table(context).find(require(pointer, names.memory));
        if (range)
            check_usm_context<Usm>(context, *range, pointer, names.memory);
        return {names, pointer, range ? range->left(pointer) : UINT64_MAX};
    };
    const checks::RegionEnd src = end(desc.src, checks::src_end("desc->src"));
    const checks::RegionEnd dst = end(desc.dst, checks::dst_end("desc->dst"));
    if (src.size == UINT64_MAX && dst.size == UINT64_MAX)
        fail(PI_ERROR_INVALID_USM_POINTER, "desc->src is ", desc.src, " and desc->dst ", desc.dst,
             "; an address in a live USM allocation is needed for one of them");
    auto regions = read_regions(desc.region_count, desc.regions, src, dst);
    check_overlap(regions, desc.src, desc.dst);
    return regions;
}

/// Checks a fill and returns its pattern.
template <class Usm>
std::vector<std::byte> read_usm_pattern(const typename Usm::Context &context,
                                        const pi_usm_fill_desc &desc) {
    check_usm_range<Usm>(context, desc.pointer, desc.size);
    auto pattern = read_pattern(desc.pattern, desc.pattern_size, 0, desc.size);
    enforce<checks::check_usm_pattern>(desc);
    return pattern;
}

inline void check_advice(pi_usm_advice advice) {
    enforce<checks::check_advice>(advice);
}

// ----- Entries -----------------------------------------------------------------------------------

namespace usm_entries {

/// The device of an allocation, or any device with host USM where none is named.
template <class Usm>
typename Usm::Device &owner(const typename Usm::Context &context, pi_device device,
                            pi_usm_kind kind) {
    enforce<checks::check_usm_kind>(static_cast<const void *>(device), kind);
    return Usm::owner(context, device, kind);
}

/// The pool argument, NULL for NULL. PI_ERROR_INVALID_USM_POOL unless it is of this context.
template <class Usm>
UsmPool<Usm> *pool_of(const typename Usm::Context &context, pi_usm_pool pool) {
    if (!pool)
        return nullptr;
    UsmPool<Usm> &found = checked<UsmPool<Usm>>(context.host(), pool, "pool");
    if (&found.context() != &context)
        fail(PI_ERROR_INVALID_USM_POOL, "pool is of another context");
    return &found;
}

/// Checks that the arguments of an allocation match its pool's. `device` is NULL where the call
/// names none.
template <class Usm>
void check_pool(const UsmPool<Usm> &pool, const pi_usm_desc &desc,
                const typename Usm::Device *device) {
    if (pool.usm_kind() != desc.kind)
        fail(PI_ERROR_INVALID_USM_POOL, "pool has memory of kind ", pool.usm_kind(),
             ", but kind is ", desc.kind);
    if (device && &pool.device() != device)
        fail(PI_ERROR_INVALID_USM_POOL, "pool is of another device (", Usm::name(pool.device()),
             ") than device");
    if (desc.flags)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "flags is 0x", std::hex, desc.flags,
             ": pools have ordinary memory; an allocation without a pool may meet the requirement");
}

/// Makes an allocation, not yet in the table. Without a pool, its memory is take(alignment).
template <class Usm, class Take>
UsmAllocation<typename Usm::Memory>
allocate(typename Usm::Context &context, typename Usm::Device &device, pi_usm_kind kind,
         uint64_t size, uint64_t alignment, UsmPool<Usm> *pool, Take take) {
    using Block = UsmBlock<typename Usm::Memory>;
    enforce<checks::check_allocation>(size, alignment);
    alignment = Usm::alignment(device, alignment);
    Block block = pool ? pool->memory().take(size, alignment)
                       : Block(Usm::table(context).pools().with_room(
                             usm_source<Usm>(device, kind), [&] { return take(alignment); }));
    return {.block = std::move(block),
            .size = size,
            .kind = kind,
            .device = kind == PI_USM_HOST ? nullptr : device.handle(),
            .context = &context};
}

template <class Usm>
pi_result PI_CALL alloc(pi_context context, pi_device device, const pi_usm_desc *desc,
                        void **out_pointer) {
    return call<typename Usm::Context>(context, [&](typename Usm::Context &self) {
        Usm::require(self);
        const pi_usm_desc known = read_desc(desc, PI_TYPE_USM_DESC);
        sdk::require(out_pointer, "out_pointer");
        check_flags(known.flags, Usm::known_requirements, "flags");
        auto &on = owner<Usm>(self, device, known.kind);
        Usm::check_scope(on, known.scope);
        if constexpr (requires { Usm::check_requirements(known.flags, known.scope); })
            Usm::check_requirements(known.flags, known.scope);
        UsmPool<Usm> *pool = pool_of<Usm>(self, known.pool);
        if (pool)
            check_pool(*pool, known, device ? &on : nullptr);
        *out_pointer = Usm::table(self).add(allocate<Usm>(
            self, on, known.kind, known.size, known.alignment, pool, [&](uint64_t alignment) {
                return Usm::allocate(self, on, known.kind, known.size, alignment, known.flags);
            }));
    });
}

template <class Usm>
pi_result PI_CALL free(pi_context context, void *pointer) {
    return call<typename Usm::Context>(context, [&](typename Usm::Context &self) {
        Usm::require(self);
        if (pointer)
            Usm::table(self).free(&self, pointer);
    });
}

template <class Usm>
pi_result PI_CALL get_info(pi_context context, const void *pointer, pi_usm_info name, uint64_t size,
                           void *value, uint64_t *out_size) {
    return call<typename Usm::Context>(context, [&](typename Usm::Context &self) {
        Usm::require(self);
        const auto range = Usm::table(self).get(sdk::require(pointer, "pointer"), "pointer");
        if (range.context != &self)
            fail(PI_ERROR_INVALID_USM_POINTER, "pointer ", pointer, " is USM of another context");
        const InfoWriter write(size, value, out_size);
        switch (name) {
        case PI_USM_INFO_KIND:
            return write(range.kind);
        case PI_USM_INFO_BASE:
            return write(static_cast<void *>(range.base));
        case PI_USM_INFO_SIZE:
            return write(range.size);
        case PI_USM_INFO_DEVICE:
            return write(range.device);
        case PI_USM_INFO_POOL:
            return write(range.pool ? range.pool->handle() : pi_usm_pool{nullptr});
        default:
            fail(PI_ERROR_INVALID_ENUMERATION, "name ", name, " is not a query of USM");
        }
    });
}

template <class Usm>
pi_result PI_CALL pool_create(pi_context context, pi_device device, const pi_usm_pool_desc *desc,
                              pi_usm_pool *out_pool) {
    return call<typename Usm::Context>(context, [&](typename Usm::Context &self) {
        Usm::require(self);
        const pi_usm_pool_desc known = read_desc(desc, PI_TYPE_USM_POOL_DESC);
        sdk::require(out_pool, "out_pool");
        auto &on = owner<Usm>(self, device, known.kind);
        Usm::check_scope(on, known.scope);
        if constexpr (requires { Usm::check_poolable(known.scope); })
            Usm::check_poolable(known.scope);
        *out_pool = make<UsmPool<Usm>>(self, on, known).give();
    });
}

template <class Usm>
pi_result PI_CALL pool_get_info(pi_usm_pool pool, pi_usm_pool_info name, uint64_t size, void *value,
                                uint64_t *out_size) {
    using Pool = UsmPool<Usm>;
    static constexpr InfoRow<Pool> rows[] = {
        {PI_USM_POOL_INFO_CONTEXT,
         [](Pool &p, const InfoWriter &write) { write(p.context().handle()); }},
        {PI_USM_POOL_INFO_RESERVED,
         [](Pool &p, const InfoWriter &write) { write(p.memory().reserved()); }},
        {PI_USM_POOL_INFO_USED, [](Pool &p, const InfoWriter &write) { write(p.memory().used()); }},
        {PI_USM_POOL_INFO_REFERENCE_COUNT,
         [](Pool &p, const InfoWriter &write) { write(p.reference_count()); }},
    };
    return call<Pool>(pool,
                      [&](Pool &self) { answer_info(self, rows, name, size, value, out_size); });
}

/// An allocation in the table that is freed again unless it is committed.
template <class Memory>
class Reservation {
public:
    Reservation(UsmTable<Memory> &table, UsmAllocation<Memory> allocation)
        : table_(table), context_(allocation.context), pointer_(table.add(std::move(allocation))) {}
    Reservation(const Reservation &) = delete;
    ~Reservation() {
        if (pointer_)
            table_.free(context_, pointer_);
    }
    void *keep() { return std::exchange(pointer_, nullptr); }

private:
    UsmTable<Memory> &table_;
    const void *context_;
    void *pointer_;
};

/// An enqueued free: withdrawn if the command never runs.
template <class Memory>
class FreePromise {
public:
    FreePromise(UsmTable<Memory> &table, const void *context, void *pointer)
        : table_(table), pointer_(pointer) {
        table_.promise_free(context, pointer);
    }
    FreePromise(FreePromise &&other) noexcept
        : table_(other.table_), pointer_(std::exchange(other.pointer_, nullptr)) {}
    ~FreePromise() {
        if (pointer_)
            table_.withdraw_free(pointer_);
    }
    void fulfil() { table_.fulfil_free(std::exchange(pointer_, nullptr)); }

private:
    UsmTable<Memory> &table_;
    void *pointer_;
};

template <class Usm>
pi_result PI_CALL enqueue_alloc(pi_queue queue, const pi_usm_alloc_desc *desc, uint32_t wait_count,
                                const pi_event *wait_list, pi_event *out_event) {
    using Queue = typename Usm::Queue;
    return call<Queue>(queue, [&](Queue &self) {
        Usm::require(self);
        const auto known = read_desc(desc, PI_TYPE_USM_ALLOC_DESC);
        sdk::require(known.out_pointer, "out_pointer");
        auto &context = self.context();
        UsmPool<Usm> *pool = pool_of<Usm>(context, known.pool);
        auto &on = pool ? pool->device() : self.device();
        const pi_usm_kind kind = pool ? pool->usm_kind() : pi_usm_kind{PI_USM_DEVICE};
        // The memory exists from now on; the command only marks its place in the order.
        Reservation reserved(Usm::table(context),
                             allocate<Usm>(context, on, kind, known.size, known.alignment, pool,
                                           [&](uint64_t alignment) {
                                               return sdk::allocate_pooled<Usm>(
                                                   context, on, kind, known.size, alignment);
                                           }));
        Usm::enqueue(self, {known.flags, known.type, wait_count, wait_list, out_event},
                     [keep_alive = pool ? Ref<UsmPool<Usm>>(*pool) : nullptr] {});
        *known.out_pointer = reserved.keep();
    });
}

template <class Usm>
pi_result PI_CALL enqueue_free(pi_queue queue, const pi_usm_free_desc *desc, uint32_t wait_count,
                               const pi_event *wait_list, pi_event *out_event) {
    using Queue = typename Usm::Queue;
    return call<Queue>(queue, [&](Queue &self) {
        Usm::require(self);
        const auto known = read_desc(desc, PI_TYPE_USM_FREE_DESC);
        const EnqueueArguments arguments{known.flags, known.type, wait_count, wait_list, out_event};
        if (!known.pointer)
            return Usm::enqueue(self, arguments, [] {});
        Usm::enqueue(self, arguments,
                     [promise = FreePromise(Usm::table(self.context()), &self.context(),
                                            known.pointer)]() mutable { promise.fulfil(); });
    });
}

/// Fills the USM slots of a plugin's table except those of commands that move or touch bytes.
template <class Usm>
constexpr void fill(pi_dispatch &table) {
    table.piUsmAlloc = alloc<Usm>;
    table.piUsmFree = free<Usm>;
    table.piUsmGetInfo = get_info<Usm>;
    table.piUsmPoolCreate = pool_create<Usm>;
    table.piUsmPoolRetain = retain_entry<UsmPool<Usm>>;
    table.piUsmPoolRelease = release_entry<UsmPool<Usm>>;
    table.piUsmPoolGetInfo = pool_get_info<Usm>;
    table.piEnqueueUsmAlloc = enqueue_alloc<Usm>;
    table.piEnqueueUsmFree = enqueue_free<Usm>;
}

} // namespace usm_entries

} // namespace pi::sdk
