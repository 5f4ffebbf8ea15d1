// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers and accessors. pi::runtime tracks the newest copy of each byte, transfers bytes before a
// kernel, and orders kernels; here a buffer is a storage, an accessor is an acquisition.
#pragma once

#include <minisycl/context.hpp>
#include <minisycl/range.hpp>

#include <pi/runtime/storage.hpp>

#include <string>
#include <type_traits>
#include <utility>

namespace minisycl {

enum class access_mode { read, write, read_write, discard_write };

/// An accessor's last arguments: read_only, write_only, read_write, and no_init after write_only,
/// which promises to write every element before reading it.
template <access_mode Mode>
struct mode_tag {};
inline constexpr mode_tag<access_mode::read> read_only;
inline constexpr mode_tag<access_mode::write> write_only;
inline constexpr mode_tag<access_mode::read_write> read_write;
inline constexpr struct no_init_tag {
} no_init;

namespace detail {

constexpr pi::runtime::Access access_of(access_mode mode) {
    switch (mode) {
    case access_mode::read:
        return pi::runtime::Access::read;
    case access_mode::write:
        return pi::runtime::Access::write;
    case access_mode::read_write:
        return pi::runtime::Access::read_write;
    case access_mode::discard_write:
        return pi::runtime::Access::discard_write;
    }
    return pi::runtime::Access::read_write;
}

} // namespace detail

/// Elements in one to three dimensions, at any place.
///
/// Not thread-safe: a thread's operations on a buffer happen in the order of its calls.
template <class T, int Dimensions = 1>
class buffer {
    static_assert(std::is_trivially_copyable_v<T>, "elements move as bytes");

public:
    /// Elements without a value.
    buffer(context &context, const range<Dimensions> &range, const std::string &name = "buffer")
        : context_(context), range_(range),
          storage_(context.runtime(), {.size = bytes(), .name = name}) {}
    /// The elements at `data`, used in place; it has the results when the buffer is destroyed.
    buffer(context &context, T *data, const range<Dimensions> &range,
           const std::string &name = "buffer")
        : context_(context), range_(range), data_(data),
          storage_(context.runtime(), {.size = bytes(), .host_memory = data, .name = name}) {}
    /// Transfers the results to the memory that the buffer was made of, after the commands that
    /// write them. context::throw_asynchronous() throws errors.
    ~buffer() {
        if (data_ != nullptr) {
            try {
                storage_.buffer()
                    .acquire(pi::runtime::host_place, pi::runtime::Access::read)
                    .wait();
                storage_.finish(std::chrono::nanoseconds::max());
            } catch (...) {
                context_.report(std::current_exception());
            }
        }
    }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;

    const range<Dimensions> &get_range() const { return range_; }
    std::size_t size() const { return range_.size(); }
    const pi::runtime::Storage &storage() const { return storage_; }

    /// `part` elements from `first` on, for use at a place. They must be contiguous: in all
    /// dimensions but the first, `part` has all elements.
    pi::runtime::Acquisition acquire(pi::runtime::PlaceIndex place, access_mode mode,
                                     const range<Dimensions> &part,
                                     const id<Dimensions> &first) const {
        for (int dimension = 1; dimension < Dimensions; ++dimension) {
            if (first[dimension] != 0 || part[dimension] != range_[dimension]) {
                throw exception(PI_ERROR_INVALID_VALUE,
                                "accessor: dimension " + std::to_string(dimension) + " has " +
                                    std::to_string(part[dimension]) + " elements from " +
                                    std::to_string(first[dimension]) + " on; all " +
                                    std::to_string(range_[dimension]) +
                                    " are needed, as only the first dimension can be divided");
            }
        }
        return storage_.buffer().acquire(place, detail::access_of(mode),
                                         linear(first, range_) * sizeof(T),
                                         part.size() * sizeof(T));
    }

private:
    uint64_t bytes() const { return range_.size() * sizeof(T); }

    context &context_;
    range<Dimensions> range_;
    T *data_ = nullptr;
    pi::runtime::Storage storage_;
};

namespace detail {

/// Common to accessors of devices and of the host: a pointer to their first element, and its place
/// in the buffer; elements are named by the buffer's ids.
template <class T, int Dimensions, access_mode Mode>
class elements {
public:
    using reference = std::conditional_t<Mode == access_mode::read, const T &, T &>;

    reference operator[](const id<Dimensions> &element) const {
        return data_[linear(element, range_) - first_];
    }
    const range<Dimensions> &get_range() const { return range_; }

protected:
    elements(T *data, const range<Dimensions> &range, std::size_t first)
        : data_(data), range_(range), first_(first) {}

    T *data_;
    range<Dimensions> range_;
    std::size_t first_;
};

} // namespace detail

/// The elements at the host, until it is destroyed. Waits for the commands that write them.
template <class T, int Dimensions, access_mode Mode>
class host_accessor : public detail::elements<T, Dimensions, Mode> {
    using base = detail::elements<T, Dimensions, Mode>;

public:
    explicit host_accessor(buffer<T, Dimensions> &from, mode_tag<Mode> = {})
        : host_accessor(from.acquire(pi::runtime::host_place, Mode, from.get_range(), {}), from) {}
    host_accessor(buffer<T, Dimensions> &from, mode_tag<access_mode::write>, no_init_tag)
        : host_accessor(from.acquire(pi::runtime::host_place, Mode, from.get_range(), {}), from) {}
    ~host_accessor() {
        try {
            use_.release();
        } catch (...) { // already released
        }
    }
    host_accessor(const host_accessor &) = delete;
    host_accessor &operator=(const host_accessor &) = delete;

    using pointer = std::remove_reference_t<typename base::reference> *;
    pointer begin() const { return this->data_; }
    pointer end() const { return this->data_ + this->range_.size(); }

private:
    host_accessor(pi::runtime::Acquisition use, buffer<T, Dimensions> &from)
        : base(reinterpret_cast<T *>(use.pointer()), from.get_range(), 0), use_(std::move(use)) {}

    pi::runtime::Acquisition use_;
};
template <class T, int Dimensions>
host_accessor(buffer<T, Dimensions> &) -> host_accessor<T, Dimensions, access_mode::read_write>;
template <class T, int Dimensions, access_mode Mode>
host_accessor(buffer<T, Dimensions> &, mode_tag<Mode>) -> host_accessor<T, Dimensions, Mode>;
template <class T, int Dimensions>
host_accessor(buffer<T, Dimensions> &, mode_tag<access_mode::write>, no_init_tag)
    -> host_accessor<T, Dimensions, access_mode::discard_write>;

} // namespace minisycl
