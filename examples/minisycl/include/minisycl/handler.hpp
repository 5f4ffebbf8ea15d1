// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <minisycl/buffer.hpp>
#include <minisycl/kernel.hpp>

#include <cstring>
#include <deque>
#include <optional>
#include <type_traits>
#include <vector>

namespace minisycl {

template <class T, int Dimensions, access_mode Mode>
class accessor;

/// A command group: one kernel and its arguments. queue::submit creates it.
class handler {
public:
    /// The arguments of device forms, in order: accessors (the parameter is the address of the
    /// element accessor::first()) and values. Not needed for kernels in C++ only.
    template <class... Arguments>
    void set_args(const Arguments &...arguments) {
        (set_arg(arguments), ...);
    }

    /// Calls the kernel, a C++ function object, for each id of the range. Captured accessors find
    /// their elements.
    template <int Dimensions, class Kernel>
    void parallel_for(const range<Dimensions> &items, const Kernel &kernel) {
        parallel_for(items, minisycl::kernel{"(C++)", {}}, kernel);
    }
    /// Likewise; a device that does not run C++ runs `forms` instead.
    template <int Dimensions, class Kernel>
    void parallel_for(const range<Dimensions> &items, const minisycl::kernel &forms,
                      const Kernel &kernel) {
        static_assert(std::is_trivially_copyable_v<Kernel>,
                      "kernels travel as bytes: capture accessors and values, nothing that owns");
        if (forms_.has_value()) {
            throw exception(PI_ERROR_INVALID_OPERATION,
                            "handler: a command group has one parallel_for, this one has two");
        }
        forms_ = forms;
        dimensions_ = Dimensions;
        for (int dimension = 0; dimension < Dimensions; ++dimension) {
            // Devices count from the fastest dimension on.
            size_[dimension] = items[Dimensions - 1 - dimension];
        }
        function_ = &detail::run_native<Dimensions, Kernel>;
        bytes_.resize(sizeof kernel);
        std::memcpy(bytes_.data(), &kernel, sizeof kernel);
    }

private:
    friend class queue;
    template <class T, int Dimensions, access_mode Mode>
    friend class accessor;

    /// An accessor's acquisition. Until the kernel runs, the accessor holds this object's address.
    struct alignas(std::max_align_t) held {
        pi::runtime::Acquisition use;
    };
    struct argument {
        const void *slot = nullptr; ///< or the value
        std::vector<std::byte> value{};
    };

    explicit handler(pi::runtime::PlaceIndex place) : place_(place) {}

    held &use(pi::runtime::Acquisition acquisition) {
        return slots_.emplace_back(held{std::move(acquisition)});
    }

    template <class T, int Dimensions, access_mode Mode>
    void set_arg(const accessor<T, Dimensions, Mode> &used) {
        arguments_.push_back({used.slot()});
    }
    template <class Value>
    void set_arg(const Value &value) {
        static_assert(std::is_trivially_copyable_v<Value>, "values travel as bytes");
        arguments_.push_back({});
        arguments_.back().value.resize(sizeof value);
        std::memcpy(arguments_.back().value.data(), &value, sizeof value);
    }

    std::size_t number_of(const void *address) const {
        std::size_t number = 0;
        while (number < slots_.size() && &slots_[number] != address) {
            ++number;
        }
        return number;
    }

    /// The offsets of the accessors in the kernel's bytes. A SYCL compiler writes them into a
    /// header; without one they are found by the addresses of their slots, which nothing else in a
    /// kernel contains.
    std::vector<detail::binding> bindings() const {
        std::vector<detail::binding> found;
        for (std::size_t at = 0; at + sizeof(void *) <= bytes_.size(); at += sizeof(void *)) {
            const void *word = nullptr;
            std::memcpy(&word, &bytes_[at], sizeof word);
            const std::size_t number = number_of(word);
            if (number < slots_.size()) {
                found.push_back({at, number, slots_[number].use.lead()});
            }
        }
        found.push_back({}); // the end
        return found;
    }

    pi::runtime::PlaceIndex place_;
    std::deque<held> slots_;
    std::vector<argument> arguments_;
    std::optional<minisycl::kernel> forms_;
    uint32_t dimensions_ = 0;
    uint64_t size_[3]{};
    pi_native_function function_ = nullptr;
    std::vector<std::byte> bytes_;
};

/// The right of a command group to use elements of a buffer, or of a part of it; elements are named
/// by the buffer's ids. It starts transfers of elements that are stale at the queue's device.
///
/// A command group uses an element through one accessor: two accessors of which one writes are
/// PI_ERROR_INVALID_OPERATION.
template <class T, int Dimensions, access_mode Mode>
class accessor : public detail::elements<T, Dimensions, Mode> {
    using base = detail::elements<T, Dimensions, Mode>;

public:
    explicit accessor(buffer<T, Dimensions> &from, handler &group, mode_tag<Mode> = {})
        : accessor(from, group, from.get_range(), {}) {}
    accessor(buffer<T, Dimensions> &from, handler &group, mode_tag<access_mode::write>, no_init_tag)
        : accessor(from, group, from.get_range(), {}) {}
    accessor(buffer<T, Dimensions> &from, handler &group, const range<Dimensions> &part,
             const id<Dimensions> &first, mode_tag<Mode>)
        : accessor(from, group, part, first) {}
    accessor(buffer<T, Dimensions> &from, handler &group, const range<Dimensions> &part,
             const id<Dimensions> &first, mode_tag<access_mode::write>, no_init_tag)
        : accessor(from, group, part, first) {}

    /// The index in the buffer of the element that a device form's pointer addresses. 0 for a whole
    /// buffer. For a part it may be before the part, if the device needs aligned arguments.
    uint32_t first() const {
        return static_cast<uint32_t>(this->first_ - slot()->use.lead() / sizeof(T));
    }

private:
    friend class handler;
    accessor(buffer<T, Dimensions> &from, handler &group, const range<Dimensions> &part,
             const id<Dimensions> &first)
        : accessor(group.use(from.acquire(group.place_, Mode, part, first)), from.get_range(),
                   linear(first, from.get_range())) {}
    accessor(handler::held &held, const range<Dimensions> &all, std::size_t first)
        : base(reinterpret_cast<T *>(&held), all, first) {}

    const handler::held *slot() const {
        return reinterpret_cast<const handler::held *>(this->data_);
    }
};
template <class T, int Dimensions>
accessor(buffer<T, Dimensions> &, handler &) -> accessor<T, Dimensions, access_mode::read_write>;
template <class T, int Dimensions, access_mode Mode>
accessor(buffer<T, Dimensions> &, handler &, mode_tag<Mode>) -> accessor<T, Dimensions, Mode>;
template <class T, int Dimensions>
accessor(buffer<T, Dimensions> &, handler &, mode_tag<access_mode::write>, no_init_tag)
    -> accessor<T, Dimensions, access_mode::discard_write>;
template <class T, int Dimensions, access_mode Mode>
accessor(buffer<T, Dimensions> &, handler &, range<Dimensions>, id<Dimensions>, mode_tag<Mode>)
    -> accessor<T, Dimensions, Mode>;
template <class T, int Dimensions>
accessor(buffer<T, Dimensions> &, handler &, range<Dimensions>, id<Dimensions>,
         mode_tag<access_mode::write>, no_init_tag)
    -> accessor<T, Dimensions, access_mode::discard_write>;

} // namespace minisycl
