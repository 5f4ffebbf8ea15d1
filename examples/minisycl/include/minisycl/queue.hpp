// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <minisycl/handler.hpp>

#include <pi/runtime/handle.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace minisycl {

/// The end of a command group.
class event {
public:
    explicit event(pi::runtime::Event raw) : raw_(std::move(raw)) {}
    /// Throws the kernel's error.
    void wait() const { pi::runtime::check(piEventWait(raw_.get(), UINT64_MAX), "event::wait"); }
    /// Complete, with success or failure.
    bool is_complete() const {
        pi_event_status status = 0;
        pi::runtime::check(
            piEventGetInfo(raw_.get(), PI_EVENT_INFO_STATUS, sizeof status, &status, nullptr),
            "piEventGetInfo");
        return status == PI_EVENT_COMPLETE;
    }

private:
    pi::runtime::Event raw_;
};

/// Accepts command groups for one device. They may run in any order with the result of the order of
/// submission, over all queues of the context. Not thread-safe.
class queue {
public:
    /// A queue of a context's device, by number.
    explicit queue(context &context, std::size_t device = 0)
        : context_(context), device_(device), place_(minisycl::context::place(device)) {
        if (device >= context.size()) {
            throw exception(PI_ERROR_INVALID_VALUE,
                            "queue: device " + std::to_string(device) + " of a context with " +
                                std::to_string(context.size()) + " devices");
        }
        const pi::runtime::Topology &topology = context_.runtime().topology();
        uint64_t flags = 0;
        piDeviceGetInfo(topology.device(place_), PI_DEVICE_INFO_QUEUE_FLAGS, sizeof flags, &flags,
                        nullptr);
        piDeviceGetInfo(topology.device(place_), PI_DEVICE_INFO_PROGRAM_FORMATS, sizeof formats_,
                        &formats_, nullptr); // unsupported: none
        auto desc = pi::desc<pi_queue_desc>();
        desc.flags = flags & PI_QUEUE_OUT_OF_ORDER; // accessors order
        pi::runtime::check(
            piQueueCreate(topology.context(place_), topology.device(place_), &desc, queue_.out()),
            "piQueueCreate");
    }
    /// Waits; the context keeps failures that were not thrown.
    ~queue() {
        try {
            wait_and_throw();
        } catch (...) {
            context_.report(std::current_exception());
        }
    }
    queue(const queue &) = delete;
    queue &operator=(const queue &) = delete;

    context &get_context() const { return context_; }
    const std::string &name() const { return context_.name(device_); }

    /// Calls `group(handler &)`, which creates accessors and calls parallel_for, and launches the
    /// kernel. Does not wait for kernels. Throws kernel_not_supported, without effect, if the
    /// device accepts none of its forms.
    template <class Group>
    event submit(Group group) {
        handler commands(place_);
        group(commands);
        if (!commands.forms_.has_value()) {
            throw exception(PI_ERROR_INVALID_OPERATION,
                            "queue: a command group without parallel_for");
        }
        pi::runtime::Event done = launch(commands);
        try {
            for (handler::held &slot : commands.slots_) {
                slot.use.release(done.get());
            }
        } catch (...) {
            piEventWait(done.get(), UINT64_MAX); // it uses memory that is released now
            throw;
        }
        pi::runtime::check(piQueueFlush(queue_.get()), "piQueueFlush");
        keep(event(done));
        return event(std::move(done));
    }

    /// Waits for all submitted groups, and throws the first failure of them or of a destructor of
    /// the context.
    void wait_and_throw() {
        std::exception_ptr failure;
        for (; !pending_.empty(); pending_.pop_front()) {
            try {
                pending_.front().wait();
            } catch (...) {
                failure = failure ? failure : std::current_exception();
            }
        }
        if (failure) {
            std::rethrow_exception(failure);
        }
        context_.throw_asynchronous();
    }

    /// The form in which the device runs a kernel: NATIVE_TABLE for C++, else one of its forms, or
    /// an empty one.
    form form_of(const kernel &kernel) const {
        if (takes(PI_PROGRAM_FORMAT_NATIVE_TABLE)) {
            return {PI_PROGRAM_FORMAT_NATIVE_TABLE};
        }
        const auto found = std::find_if(kernel.forms.begin(), kernel.forms.end(),
                                        [&](const form &form) { return takes(form.format); });
        return found == kernel.forms.end() ? form{} : *found;
    }

private:
    /// A built kernel. The program of a native kernel refers to this object.
    struct built {
        std::string name;
        pi_native_kernel native{};
        pi_native_program table{};
        pi::runtime::Kernel kernel;
    };
    /// The function, its number of arguments; or the code, 0 and the name.
    using key = std::tuple<const void *, std::size_t, std::string>;

    bool takes(pi_program_format format) const { return (formats_ & (1U << format)) != 0; }

    pi::runtime::Event launch(const handler &commands) {
        const form form = form_of(*commands.forms_);
        const bool native = form.format == PI_PROGRAM_FORMAT_NATIVE_TABLE;
        if (form.format == 0) {
            throw kernel_not_supported(not_supported(*commands.forms_));
        }

        const std::vector<detail::binding> bindings = commands.bindings();
        std::vector<pi_kernel_argument> arguments;
        if (native) {
            arguments.push_back(value(commands.bytes_.data(), commands.bytes_.size()));
            arguments.push_back(value(bindings.data(), bindings.size() * sizeof bindings[0]));
            for (const handler::held &slot : commands.slots_) {
                arguments.push_back(slot.use.argument());
            }
        }
        for (const handler::argument &argument : commands.arguments_) {
            if (!native && argument.slot != nullptr) {
                arguments.push_back(
                    commands.slots_.at(commands.number_of(argument.slot)).use.argument());
            } else if (!native) {
                arguments.push_back(value(argument.value.data(), argument.value.size()));
            }
        }

        std::vector<pi_event> waits;
        for (const handler::held &slot : commands.slots_) {
            const std::vector<pi_event> &events = slot.use.events(queue_.get());
            waits.insert(waits.end(), events.begin(), events.end());
        }
        auto desc = pi::desc<pi_kernel_launch_desc>();
        desc.kernel = native ? native_kernel(commands, arguments.size())
                             : device_kernel(form, commands.forms_->name);
        desc.dimensions = commands.dimensions_;
        std::copy(std::begin(commands.size_), std::end(commands.size_), desc.global_size);
        desc.argument_count = static_cast<uint32_t>(arguments.size());
        desc.arguments = arguments.data();
        pi::runtime::Event done;
        pi::runtime::check(piEnqueueKernelLaunch(queue_.get(), &desc,
                                                 static_cast<uint32_t>(waits.size()), waits.data(),
                                                 done.out()),
                           ("kernel " + commands.forms_->name + " on " + name()).c_str());
        return done;
    }

    static pi_kernel_argument value(const void *bytes, std::size_t size) {
        pi_kernel_argument argument{};
        argument.kind = PI_ARGUMENT_VALUE;
        argument.value = bytes;
        argument.size = size;
        return argument;
    }

    pi_kernel native_kernel(const handler &commands, std::size_t argument_count) {
        built &known =
            built_[{reinterpret_cast<const void *>(commands.function_), argument_count, {}}];
        if (!known.kernel) {
            known.name = commands.forms_->name;
            known.native = {known.name.c_str(),
                            commands.function_,
                            static_cast<uint32_t>(argument_count),
                            0,
                            {}};
            known.table = {sizeof known.table, 1, &known.native};
            known.kernel = build({PI_PROGRAM_FORMAT_NATIVE_TABLE, &known.table, sizeof known.table},
                                 commands.forms_->name);
        }
        return known.kernel.get();
    }

    pi_kernel device_kernel(const form &form, const std::string &name) {
        built &known = built_[{form.code, 0, name}];
        if (!known.kernel) {
            known.kernel = build(form, name);
        }
        return known.kernel.get();
    }

    pi::runtime::Kernel build(const form &form, const std::string &name) const {
        const pi::runtime::Topology &topology = context_.runtime().topology();
        auto desc = pi::desc<pi_program_desc>();
        desc.format = form.format;
        desc.data = form.code;
        desc.size = form.size;
        pi::runtime::Program program;
        pi::runtime::check(piProgramCreate(topology.context(place_), &desc, program.out()),
                           "piProgramCreate");
        const pi_device device = topology.device(place_);
        auto options = pi::desc<pi_program_build_desc>();
        options.device_count = 1;
        options.devices = &device;
        const pi_result result = piProgramBuild(program.get(), &options);
        if (result == PI_ERROR_BUILD_FAILED) {
            char log[4096] = "";
            const std::string text = pi::runtime::last_error_text(result);
            piProgramGetBuildInfo(program.get(), device, PI_PROGRAM_BUILD_INFO_LOG, sizeof log, log,
                                  nullptr);
            throw exception(result,
                            "kernel " + name + " on " + this->name() + ": " + text + "\n" + log);
        }
        pi::runtime::check(result, "piProgramBuild");
        pi::runtime::Kernel kernel;
        pi::runtime::check(piKernelCreate(program.get(), name.c_str(), nullptr, kernel.out()),
                           ("kernel " + name + " on " + this->name()).c_str());
        return kernel;
    }

    std::string not_supported(const kernel &kernel) const {
        std::string there = to_string(PI_PROGRAM_FORMAT_NATIVE_TABLE);
        for (const form &form : kernel.forms) {
            there += std::string(", ") + to_string(form.format);
        }
        std::string taken;
        for (pi_program_format format = 1; format < 9; ++format) {
            if (takes(format)) {
                taken += (taken.empty() ? "" : ", ") + std::string(to_string(format));
            }
        }
        return "kernel " + kernel.name + " is there as " + there + "; " + name() + " takes " +
               (taken.empty() ? "none" : taken);
    }

    /// Drops complete commands except failures, which wait_and_throw reports.
    void keep(event latest) {
        pending_.push_back(std::move(latest));
        for (; pending_.front().is_complete() && pending_.size() > 1; pending_.pop_front()) {
            try {
                pending_.front().wait();
            } catch (...) {
                context_.report(std::current_exception());
            }
        }
    }

    context &context_;
    std::size_t device_;
    pi::runtime::PlaceIndex place_;
    uint32_t formats_ = 0;
    std::map<key, built> built_;
    pi::runtime::Queue queue_;
    std::deque<event> pending_;
};

} // namespace minisycl
