// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel launches: arguments are copied at the call, groups run in parallel on the device's arena.
#include "cooperative.hpp"
#include "entries.hpp"
#include "geometry.hpp"
#include "kernel.hpp"
#include "memory.hpp"
#include "queue.hpp"
#include "sampler.hpp"

#include <pi/sdk/descriptor.hpp>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <atomic>
#include <cstring>
#include <new>

namespace pi::host {

using sdk::fail;
using sdk::Ref;

namespace {

/// Values and local memory begin at multiples of this, as the native kernel header promises.
constexpr uint64_t slot_alignment = 64;
/// A value that is larger is taken for a mistake.
constexpr uint64_t max_value_size = 64 * 1024;

constexpr uint64_t align_up(uint64_t size) {
    return (size + slot_alignment - 1) / slot_alignment * slot_alignment;
}

struct AlignedDelete {
    void operator()(std::byte *bytes) const {
        ::operator delete(bytes, std::align_val_t(slot_alignment));
    }
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

AlignedBytes allocate(uint64_t size) {
    return AlignedBytes(
        static_cast<std::byte *>(::operator new(size, std::align_val_t(slot_alignment))));
}

/// The arguments of one launch, as the kernel gets them.
class Arguments {
public:
    Arguments(const Context &context, const NativeKernel &kernel,
              const pi_kernel_launch_desc &desc);

    uint64_t local_size() const { return local_size_; }
    /// The array that a group is called with, whose local memory begins at `scratch`.
    std::vector<void *> for_group(std::byte *scratch) const;

private:
    struct Local {
        uint32_t index;
        uint64_t offset;
    };
    void add(const Context &context, const pi_kernel_argument &argument, uint32_t index);
    void *keep(const void *bytes, uint64_t size);
    const void *keep(Sampler &sampler);
    void add_value(const pi_kernel_argument &argument, uint32_t index);
    void add_buffer(const pi_host *host, const pi_kernel_argument &argument, uint32_t index);
    void add_image(const Context &context, const pi_kernel_argument &argument, uint32_t index);
    void add_sampler(const Context &context, const pi_kernel_argument &argument, uint32_t index);
    void add_local(const pi_kernel_argument &argument, uint32_t index);

    std::vector<void *> pointers_;     ///< NULL where it is local memory
    std::vector<AlignedBytes> values_; ///< and the records of images and samplers
    std::vector<Ref<Mem>> memory_;
    std::vector<Ref<Sampler>> samplers_;
    std::vector<Local> locals_;
    uint64_t local_size_ = 0;
};

template <class... Parts>
[[noreturn]] void refuse(uint32_t index, const Parts &...parts) {
    fail(PI_ERROR_INVALID_ARGUMENTS, "arguments[", index, "] ", parts...);
}

Arguments::Arguments(const Context &context, const NativeKernel &kernel,
                     const pi_kernel_launch_desc &desc) {
    if (desc.argument_count != kernel.argument_count)
        fail(PI_ERROR_INVALID_ARGUMENTS, "argument_count is ", desc.argument_count, "; kernel \"",
             kernel.name, "\" has ", kernel.argument_count);
    for (const pi_kernel_argument &argument :
         sdk::read_array(desc.argument_count, desc.arguments, "arguments"))
        add(context, argument, static_cast<uint32_t>(pointers_.size()));
}

void Arguments::add(const Context &context, const pi_kernel_argument &argument, uint32_t index) {
    if (argument.reserved)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "arguments[", index,
             "] has a reserved word that is not 0");
    switch (argument.kind) {
    case PI_ARGUMENT_VALUE:
        return add_value(argument, index);
    case PI_ARGUMENT_BUFFER:
        return add_buffer(context.host(), argument, index);
    case PI_ARGUMENT_POINTER:
        return pointers_.push_back(const_cast<void *>(argument.pointer));
    case PI_ARGUMENT_LOCAL:
        return add_local(argument, index);
    case PI_ARGUMENT_IMAGE:
        return add_image(context, argument, index);
    case PI_ARGUMENT_SAMPLER:
        return add_sampler(context, argument, index);
    default:
        refuse(index, "has kind ", argument.kind, ", which is no PI_ARGUMENT_ kind");
    }
}

void *Arguments::keep(const void *bytes, uint64_t size) {
    values_.push_back(allocate(size));
    return std::memcpy(values_.back().get(), bytes, size);
}

void Arguments::add_value(const pi_kernel_argument &argument, uint32_t index) {
    if (!argument.value)
        refuse(index, "is a value, but value is NULL");
    if (!argument.size || argument.size > max_value_size)
        refuse(index, "is a value of ", argument.size, " bytes; 1 to ", max_value_size,
               " are possible");
    pointers_.push_back(keep(argument.value, argument.size));
}

void Arguments::add_buffer(const pi_host *host, const pi_kernel_argument &argument,
                           uint32_t index) {
    if (!argument.mem) {
        if (argument.offset || argument.size)
            refuse(index, "is a NULL buffer, but has offset ", argument.offset, " and size ",
                   argument.size, "; both must be 0");
        return pointers_.push_back(nullptr);
    }
    Mem &mem = checked_buffer(host, argument.mem, {"arguments", index});
    if (argument.offset >= mem.size() || argument.size > mem.size() - argument.offset)
        refuse(index, "is ", argument.size, " bytes from offset ", argument.offset,
               " of a buffer of ", mem.size());
    memory_.emplace_back(mem);
    pointers_.push_back(mem.bytes().at(argument.offset));
}

const void *Arguments::keep(Sampler &sampler) {
    const pi_sampler_desc &desc = sampler.desc();
    const pi_native_sampler record = {sizeof record, desc.normalized_coordinates, desc.addressing,
                                      desc.filter};
    samplers_.emplace_back(sampler);
    return keep(&record, sizeof record);
}

void Arguments::add_image(const Context &context, const pi_kernel_argument &argument,
                          uint32_t index) {
    if (argument.offset || argument.size)
        refuse(index, "is an image, but has offset ", argument.offset, " and size ", argument.size,
               "; both must be 0");
    Mem &mem = checked_image(context.host(), argument.mem, {"arguments", index});
    const sdk::ImageShape &shape = mem.image()->shape;
    const sdk::Rectangle &pixels = mem.image()->pixels;
    pi_native_image record{};
    record.struct_size = sizeof record;
    record.image_type = shape.type->type;
    record.channel_order = shape.format.order();
    record.channel_type = shape.format.type();
    record.data = mem.data();
    std::copy(shape.extent.begin(), shape.extent.end(), record.extent);
    record.row_pitch = pixels.row_pitch;
    record.slice_pitch = pixels.slice_pitch;
    record.pixel_size = shape.format.bytes();
    if (argument.image_sampler)
        record.sampler = static_cast<const pi_native_sampler *>(keep(checked_sampler(
            context, argument.image_sampler, {"arguments", index, ".image_sampler"})));
    memory_.emplace_back(mem);
    pointers_.push_back(keep(&record, sizeof record));
}

void Arguments::add_sampler(const Context &context, const pi_kernel_argument &argument,
                            uint32_t index) {
    if (argument.offset || argument.size)
        refuse(index, "is a sampler, but has offset ", argument.offset, " and size ", argument.size,
               "; both must be 0");
    pointers_.push_back(
        const_cast<void *>(keep(checked_sampler(context, argument.sampler, {"arguments", index}))));
}

void Arguments::add_local(const pi_kernel_argument &argument, uint32_t index) {
    if (!argument.size || argument.size > local_memory_size)
        refuse(index, "asks for ", argument.size, " bytes of local memory; 1 to ",
               local_memory_size, " are possible");
    locals_.push_back({index, local_size_});
    local_size_ += align_up(argument.size);
    if (local_size_ > local_memory_size)
        refuse(index, "brings the local memory to ", local_size_, " bytes; a work-group has ",
               local_memory_size);
    pointers_.push_back(nullptr);
}

std::vector<void *> Arguments::for_group(std::byte *scratch) const {
    std::vector<void *> pointers = pointers_;
    for (const Local &local : locals_)
        pointers[local.index] = scratch + local.offset;
    return pointers;
}

/// One launch, ready to run.
class Launch {
public:
    Launch(Device &device, Kernel &kernel, const Geometry &geometry, Arguments arguments,
           bool cooperative)
        : device_(device), kernel_(kernel), geometry_(geometry), arguments_(std::move(arguments)),
          cooperative_(cooperative) {}

    void operator()() {
        const uint64_t total = geometry_.group_total();
        if (cooperative_)
            return run_cooperatively(total);
        if (total == 1 && !device_.binds_threads())
            return run({0, 1});
        // oneTBB orders the groups behind this thread and this thread behind them, but thread sanitizers cannot see
        // into it: the counter tells them, at the cost of two additions for many groups.
        std::atomic<uint64_t> order{0};
        order.store(1, std::memory_order_release);
        device_.arena().execute([&] {
            tbb::parallel_for(tbb::blocked_range<uint64_t>(0, total),
                              [&](const tbb::blocked_range<uint64_t> &range) {
                                  order.fetch_add(1, std::memory_order_acq_rel);
                                  run(range);
                                  order.fetch_add(1, std::memory_order_acq_rel);
                              });
        });
        order.load(std::memory_order_acquire);
    }

private:
    /// Each group has a thread, arguments and local memory of its own; all are there before the first begins.
    void run_cooperatively(uint64_t total) const {
        std::vector<AlignedBytes> scratch(total);
        std::vector<std::vector<void *>> pointers;
        for (AlignedBytes &bytes : scratch) {
            if (arguments_.local_size())
                bytes = allocate(arguments_.local_size());
            pointers.push_back(arguments_.for_group(bytes.get()));
        }
        run_together(device_, total, [&](uint64_t number) {
            const pi_native_group group = geometry_.group(number);
            kernel_->native().function(&group, pointers[number].data());
        });
    }

    /// Runs groups one after another, so they can share an array of arguments and local memory.
    void run(const tbb::blocked_range<uint64_t> &range) const {
        AlignedBytes scratch;
        if (arguments_.local_size())
            scratch = allocate(arguments_.local_size());
        const std::vector<void *> pointers = arguments_.for_group(scratch.get());
        for (uint64_t number = range.begin(); number != range.end(); ++number) {
            const pi_native_group group = geometry_.group(number);
            kernel_->native().function(&group, pointers.data());
        }
    }

    Device &device_;
    Ref<Kernel> kernel_;
    Geometry geometry_;
    Arguments arguments_;
    bool cooperative_;
};

constexpr uint64_t indirect_flags =
    PI_LAUNCH_INDIRECT_USM_HOST | PI_LAUNCH_INDIRECT_USM_DEVICE | PI_LAUNCH_INDIRECT_USM_SHARED;

/// Kernel, geometry and flags of a launch descriptor.
Kernel &check_launch(const Queue &queue, const pi_kernel_launch_desc &desc) {
    // Indirect access needs nothing here: every address of the process is at hand.
    sdk::check_flags(desc.flags,
                     uint64_t{PI_COMMAND_BLOCKING} | PI_LAUNCH_COOPERATIVE | indirect_flags,
                     "flags");
    for (const uint64_t size : desc.cluster_size)
        if (size)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "cluster_size is ", size,
                 ": the host plugin has no clusters of work-groups");
    if (desc.local_memory_size)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "local_memory_size is ", desc.local_memory_size,
             ": local memory of a native kernel is an argument (PI_ARGUMENT_LOCAL)");
    Kernel &kernel = sdk::checked<Kernel>(queue.host(), desc.kernel, "kernel");
    if (&kernel.program().context() != &queue.context())
        fail(PI_ERROR_INVALID_KERNEL, "kernel \"", kernel.native().name,
             "\" is of another context than the queue");
    if (!kernel.program().is_built(queue.device()))
        fail(PI_ERROR_INVALID_KERNEL, "the program of kernel \"", kernel.native().name,
             "\" is not built for the queue's device");
    return kernel;
}

} // namespace

namespace entries {

pi_result PI_CALL kernel_get_suggested_local_size(pi_queue queue, const pi_kernel_launch_desc *desc,
                                                  uint64_t out_local_size[3]) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        pi_kernel_launch_desc known = sdk::read_desc(desc, PI_TYPE_KERNEL_LAUNCH_DESC);
        sdk::require(out_local_size, "out_local_size");
        check_launch(self, known);
        std::memset(known.local_size, 0, sizeof known.local_size); // not read here
        const Geometry geometry = read_geometry(known, self.device().concurrency());
        std::copy(geometry.local.begin(), geometry.local.end(), out_local_size);
    });
}

pi_result PI_CALL kernel_get_max_cooperative_groups(pi_queue queue,
                                                    const pi_kernel_launch_desc *desc,
                                                    uint32_t *out_count) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const pi_kernel_launch_desc known = sdk::read_desc(desc, PI_TYPE_KERNEL_LAUNCH_DESC);
        sdk::require(out_count, "out_count");
        check_launch(self, known);
        check_local_size(known);
        *out_count = self.device().concurrency();
    });
}

pi_result PI_CALL enqueue_kernel_launch(pi_queue queue, const pi_kernel_launch_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const pi_kernel_launch_desc known = sdk::read_desc(desc, PI_TYPE_KERNEL_LAUNCH_DESC);
        Kernel &kernel = check_launch(self, known);
        const Geometry geometry = read_geometry(known, self.device().concurrency());
        Arguments arguments(self.context(), kernel.native(), known);
        // The application's thread must not be bound to a device's processors.
        const Cost cost = self.device().binds_threads() ? Cost::FOREIGN : Cost::UNKNOWN;
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     Launch(self.device(), kernel, geometry, std::move(arguments),
                            known.flags & PI_LAUNCH_COOPERATIVE));
    });
}

} // namespace entries

} // namespace pi::host
