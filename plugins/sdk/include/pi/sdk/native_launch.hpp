// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches of native functions: arguments, copied at the call, and work-groups.
//
// `Native` is the class of native_program.hpp and also has
//   constexpr uint64_t max_local_memory      bytes of PI_ARGUMENT_LOCAL memory of one work-group
//   uint32_t concurrency(const Device &)     work-groups that run at the same time
//   constexpr bool cooperative               whether launches may be cooperative
//   void *buffer(NativeArguments &, Queue &, const pi_kernel_argument &, const ArgumentName &)
//   void *image(...), *sampler(...)          likewise: the address for the kernel, of an object
//                                            that the arguments keep alive; throws an Error
//   void launch(Queue &, const EnqueueArguments &, NativeLaunch<Native>)
//                                            enqueues the launch
#pragma once

#include <pi/sdk/argument.hpp>
#include <pi/sdk/geometry.hpp>
#include <pi/sdk/launch.hpp>
#include <pi/sdk/native_program.hpp>

#include <memory>
#include <new>

namespace pi::sdk {

/// Bytes at a multiple of 64, as the native kernel header promises for values and local memory.
class NativeSlot {
public:
    static constexpr uint64_t alignment = 64;
    NativeSlot() = default;
    explicit NativeSlot(uint64_t size)
        : bytes_(static_cast<std::byte *>(::operator new(size, std::align_val_t(alignment)))) {}
    std::byte *get() const { return bytes_.get(); }

private:
    struct Delete {
        void operator()(std::byte *bytes) const {
            ::operator delete(bytes, std::align_val_t(alignment));
        }
    };
    std::unique_ptr<std::byte, Delete> bytes_;
};

/// The arguments of one launch, as they are passed to the kernel.
class NativeArguments {
public:
    template <class Native>
    static NativeArguments read(typename Native::Queue &queue, const NativeKernel &kernel,
                                const pi_kernel_launch_desc &desc);

    uint64_t local_size() const { return local_size_; }
    /// The argument array of a work-group whose local memory begins at `scratch`.
    std::vector<void *> for_group(std::byte *scratch) const {
        std::vector<void *> pointers = pointers_;
        for (const Local &local : locals_)
            pointers[local.index] = scratch + local.offset;
        return pointers;
    }

    /// Makes a copy that lives as long as the arguments.
    void *keep(const void *bytes, uint64_t size) {
        values_.emplace_back(size);
        return std::memcpy(values_.back().get(), bytes, size);
    }
    /// Keeps the object alive as long as the arguments.
    template <class T>
    void keep(T &object) {
        objects_.emplace_back(Ref<T>(object));
    }

    /// The objects that the arguments keep alive, in order.
    const std::vector<AnyRef> &objects() const { return objects_; }

    template <class... Parts>
    [[noreturn]] static void refuse(const ArgumentName &name, const Parts &...parts) {
        fail(PI_ERROR_INVALID_ARGUMENTS, name, ' ', parts...);
    }

private:
    struct Local {
        uint32_t index;
        uint64_t offset;
    };
    template <class Native>
    void *add(typename Native::Queue &queue, const pi_kernel_argument &argument,
              const ArgumentName &name);
    void *add_value(const pi_kernel_argument &argument, const ArgumentName &name);
    void *add_local(const pi_kernel_argument &argument, const ArgumentName &name, uint64_t most);

    std::vector<void *> pointers_;   ///< NULL for local memory
    std::vector<NativeSlot> values_; ///< and records of images and samplers
    std::vector<AnyRef> objects_;
    std::vector<Local> locals_;
    uint64_t local_size_ = 0;
};

template <class Native>
NativeArguments NativeArguments::read(typename Native::Queue &queue, const NativeKernel &kernel,
                                      const pi_kernel_launch_desc &desc) {
    NativeArguments arguments;
    if (desc.argument_count != kernel.argument_count)
        fail(PI_ERROR_INVALID_ARGUMENTS, "argument_count is ", desc.argument_count, "; kernel \"",
             kernel.name, "\" has ", kernel.argument_count);
    for (const pi_kernel_argument &argument :
         read_array(desc.argument_count, desc.arguments, "arguments")) {
        const ArgumentName name = argument_name(arguments.pointers_.size());
        check_argument(argument, arguments.pointers_.size());
        arguments.pointers_.push_back(arguments.add<Native>(queue, argument, name));
    }
    return arguments;
}

template <class Native>
void *NativeArguments::add(typename Native::Queue &queue, const pi_kernel_argument &argument,
                           const ArgumentName &name) {
    switch (argument.kind) {
    case PI_ARGUMENT_VALUE:
        return add_value(argument, name);
    case PI_ARGUMENT_BUFFER:
        return argument.mem ? Native::buffer(*this, queue, argument, name) : nullptr;
    case PI_ARGUMENT_POINTER:
        return const_cast<void *>(argument.pointer);
    case PI_ARGUMENT_IMAGE:
        return Native::image(*this, queue, argument, name);
    case PI_ARGUMENT_SAMPLER:
        return Native::sampler(*this, queue, argument, name);
    default:
        return add_local(argument, name, Native::max_local_memory);
    }
}

inline void *NativeArguments::add_value(const pi_kernel_argument &argument,
                                        const ArgumentName &name) {
    constexpr uint64_t most = uint64_t{64} * 1024; // larger values: an error of the caller
    if (argument.size > most)
        refuse(name, "is a value of ", argument.size, " bytes; 1 to ", most, " are possible");
    return keep(argument.value, argument.size);
}

inline void *NativeArguments::add_local(const pi_kernel_argument &argument,
                                        const ArgumentName &name, uint64_t most) {
    if (argument.size > most)
        refuse(name, "asks for ", argument.size, " bytes of local memory; 1 to ", most,
               " are possible");
    locals_.push_back({static_cast<uint32_t>(pointers_.size()), local_size_});
    local_size_ +=
        (argument.size + NativeSlot::alignment - 1) / NativeSlot::alignment * NativeSlot::alignment;
    if (local_size_ > most)
        refuse(name, "brings the local memory to ", local_size_, " bytes; a work-group has ", most);
    return nullptr;
}

/// One launch, ready to run.
template <class Native>
struct NativeLaunch {
    Ref<NativeKernelObject<Native>> kernel;
    Geometry geometry;
    NativeArguments arguments;
    bool cooperative;

    /// Runs the work-groups from `begin` to before `end` one after another; they share an argument
    /// array and local memory.
    void run(uint64_t begin, uint64_t end) const {
        NativeSlot scratch;
        if (arguments.local_size())
            scratch = NativeSlot(arguments.local_size());
        const std::vector<void *> pointers = arguments.for_group(scratch.get());
        for (uint64_t number = begin; number != end; ++number) {
            const pi_native_group group = geometry.group(number);
            kernel->native().function(&group, pointers.data());
        }
    }
};

/// The entries of launches.
template <class Native>
struct native_launch_entries {
    using Queue = typename Native::Queue;
    using Kernel = NativeKernelObject<Native>;

    /// Checks a launch's kernel and flags.
    static Kernel &check_launch(Queue &queue, const pi_kernel_launch_desc &desc) {
        // Indirect access needs nothing here: kernels can access every address of the process.
        check_flags(desc.flags,
                    uint64_t{PI_COMMAND_BLOCKING} | PI_LAUNCH_INDIRECT_USM_HOST |
                        PI_LAUNCH_INDIRECT_USM_DEVICE | PI_LAUNCH_INDIRECT_USM_SHARED |
                        (Native::cooperative ? PI_LAUNCH_COOPERATIVE : 0),
                    "flags");
        for (const uint64_t size : desc.cluster_size)
            if (size)
                fail(PI_ERROR_UNSUPPORTED_FEATURE, "cluster_size is ", size, ": the ",
                     Native::plugin, " plugin has no clusters of work-groups");
        if (desc.local_memory_size)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "local_memory_size is ", desc.local_memory_size,
                 ": local memory of a native kernel is an argument (PI_ARGUMENT_LOCAL)");
        Kernel &kernel = checked<Kernel>(queue.host(), desc.kernel, "kernel");
        if (&kernel.program().context() != &queue.context())
            fail(PI_ERROR_INVALID_KERNEL, "kernel \"", kernel.native().name,
                 "\" is of another context than the queue");
        if (!kernel.is_built(queue.device()))
            fail(PI_ERROR_INVALID_KERNEL, "the program of kernel \"", kernel.native().name,
                 "\" is not built for the queue's device");
        return kernel;
    }

    static Geometry geometry(Queue &queue, const pi_kernel_launch_desc &desc) {
        return read_geometry(desc, Native::concurrency(queue.device()),
                             Native::max_work_group_size);
    }

    static pi_result PI_CALL get_suggested_local_size(pi_queue queue,
                                                      const pi_kernel_launch_desc *desc,
                                                      uint64_t out_local_size[3]) {
        return call<Queue>(queue, [&](Queue &self) {
            const pi_kernel_launch_desc known = read_size_query(desc);
            require(out_local_size, "out_local_size");
            check_launch(self, known);
            const Geometry chosen = geometry(self, known);
            std::copy(chosen.local.begin(), chosen.local.end(), out_local_size);
        });
    }

    static pi_result PI_CALL get_max_cooperative_groups(pi_queue queue,
                                                        const pi_kernel_launch_desc *desc,
                                                        uint32_t *out_count) {
        return call<Queue>(queue, [&](Queue &self) {
            const pi_kernel_launch_desc known = read_launch_desc(desc);
            require(out_count, "out_count");
            check_launch(self, known);
            check_local_size(known, Native::max_work_group_size);
            *out_count = Native::concurrency(self.device());
        });
    }

    static pi_result PI_CALL enqueue(pi_queue queue, const pi_kernel_launch_desc *desc,
                                     uint32_t wait_count, const pi_event *wait_list,
                                     pi_event *out_event) {
        return call<Queue>(queue, [&](Queue &self) {
            const pi_kernel_launch_desc known = read_launch_desc(desc);
            Kernel &kernel = check_launch(self, known);
            const Geometry checked_geometry = geometry(self, known);
            NativeLaunch<Native> launch{Ref<Kernel>(kernel), checked_geometry,
                                        NativeArguments::read<Native>(self, kernel.native(), known),
                                        (known.flags & PI_LAUNCH_COOPERATIVE) != 0};
            Native::launch(self, {known.flags, known.type, wait_count, wait_list, out_event},
                           std::move(launch));
        });
    }

    static constexpr void fill(pi_dispatch &table) {
        table.piKernelGetSuggestedLocalSize = get_suggested_local_size;
        table.piEnqueueKernelLaunch = enqueue;
        if (Native::cooperative)
            table.piKernelGetMaxCooperativeGroups = get_max_cooperative_groups;
    }
};

} // namespace pi::sdk
