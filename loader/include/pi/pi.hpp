// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PI in C++17: owning handles, spans and typed info over pi.h and pi_loader.h. Programs link only
// libpi_loader. The contracts of the functions are in the C headers; this header describes their
// C++ form.
//
//     pi::Loader loader = pi::Loader::create();
//     for (pi::DeviceRef device : loader.select_devices())
//         std::puts(device.info<PI_DEVICE_INFO_NAME>().c_str());
//
// NAMES. Each object type of the C interface is a noun. pi<Noun><Verb> becomes the function `verb`
// of the class `Noun`, in lower case and without "get": piQueueFlush is queue.flush(). Functions
// that create an object are static, with the arguments of the C function: piMemBufferCreate is
// pi::Mem::buffer_create(context, device, desc). Three names differ because of C++: piMemImport and
// piMemExport are import_handle and export_handle, and piXGetInfo is x.info<NAME>(). Queries belong
// to the object that they query: piDevicesGet is platform.devices(), piGetMemoryConnection is
// src_device.memory_connection(...). All commands are queue.enqueue(desc, wait_list): the type of
// the descriptor selects the command. Descriptors are the C structs: pi::desc<pi_queue_desc>()
// returns one with size and type set and everything else zero.
//
// OWNERSHIP. `QueueRef` is a borrowed handle: a value of the size of a pointer, convertible from
// pi_queue. `Queue` owns one reference: it can be used as a QueueRef, can be moved, and releases
// its reference when it is destroyed. It cannot be copied, since a retain can fail: retain()
// returns another owner. Plugins and platforms are not reference counted; `Plugin` and `Platform`
// are values. As in C, a null handle is an error of the call, never undefined behaviour, and a
// borrowed handle must not outlive its object.
//
// ERRORS. A template, `Api<Errors>`, defines each noun once for each way to report errors:
//
//     pi::Queue            returns results, and throws pi::Error
//     pi::nothrow::Queue   returns pi::Result<...>, a value or a code; works without exceptions
//
// The error policy is part of the type, so that a program can use both, even in the same file, and
// a file compiled with -fno-exceptions agrees with all others about every name (the throwing names
// of pi:: do not exist there). References, descriptors and wait lists of one policy can be passed
// to the other. A program may define a third policy: see the requirements at Throw and Nothrow.
// Strings and vectors are those of the standard library, and so is their behaviour when memory runs
// out.
//
// COST. That of the C call: classes hold the handle alone, functions are inline, and none allocates
// except those that return a string or a vector or accept a closure. The destructor of an owner
// checks whether it was moved from. Threads and callbacks follow the rules of pi.h.
#pragma once

#include <pi/describe/descriptor.hpp>
#include <pi/pi_loader.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define PI_HPP_EXCEPTIONS 1
#include <stdexcept>
#else
#define PI_HPP_EXCEPTIONS 0
#endif

#if __cplusplus >= 202002L
#include <span>
#endif

namespace pi {

// ===== Spans ==================================================================================

/// Elements that another object owns. This type is the same in every language standard, so that
/// C++17 and C++20 files can be linked; it converts from and to C++20's std::span.
template <class T>
class span {
    template <class Container>
    using DataOf = decltype(std::declval<Container &>().data());
    // As for std::span: only the conversion from T to const T is allowed.
    template <class Container>
    using IfOfT = std::enable_if_t<
        !std::is_same_v<std::remove_cv_t<Container>, span> &&
        std::is_convertible_v<std::remove_pointer_t<DataOf<Container>> (*)[], T (*)[]>>;

public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;

    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t N>
    constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    /// From a container with data() and size(), which must outlive the span.
    template <class Container, class = IfOfT<Container>>
    constexpr span(Container &container) noexcept
        : data_(container.data()), size_(container.size()) {}
    template <class Container, class = IfOfT<const Container>>
    constexpr span(const Container &container) noexcept
        : data_(container.data()), size_(container.size()) {}
    /// From a span of non-const elements.
    template <class U, class = std::enable_if_t<!std::is_same_v<U, T> &&
                                                std::is_convertible_v<U (*)[], T (*)[]>>>
    constexpr span(span<U> other) noexcept : data_(other.data()), size_(other.size()) {}

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t index) const noexcept { return data_[index]; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};
template <class Container>
span(Container &) -> span<std::remove_pointer_t<decltype(std::declval<Container &>().data())>>;

} // namespace pi

#if defined(__cpp_lib_span)
/// Allows a std::span to be created from a temporary pi::span.
template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<pi::span<T>> = true;
#endif

namespace pi {

// ===== Results ================================================================================

/// "PI_ERROR_OUT_OF_DEVICE_MEMORY"; "unknown result" for a code that is not in the list.
constexpr const char *result_name(pi_result result) noexcept {
    switch (result) {
#define PI_HPP_RESULT(name)                                                                        \
    case name:                                                                                     \
        return #name;
        PI_HPP_RESULT(PI_SUCCESS)
        PI_HPP_RESULT(PI_ERROR_INVALID_VALUE)
        PI_HPP_RESULT(PI_ERROR_INVALID_NULL_POINTER)
        PI_HPP_RESULT(PI_ERROR_INVALID_SIZE)
        PI_HPP_RESULT(PI_ERROR_INVALID_ENUMERATION)
        PI_HPP_RESULT(PI_ERROR_INVALID_DESCRIPTOR)
        PI_HPP_RESULT(PI_ERROR_MISALIGNED_OFFSET)
        PI_HPP_RESULT(PI_ERROR_MISALIGNED_POINTER)
        PI_HPP_RESULT(PI_ERROR_INVALID_ALIGNMENT)
        PI_HPP_RESULT(PI_ERROR_MEM_COPY_OVERLAP)
        PI_HPP_RESULT(PI_ERROR_INVALID_WAIT_LIST)
        PI_HPP_RESULT(PI_ERROR_INVALID_WORK_SIZE)
        PI_HPP_RESULT(PI_ERROR_INVALID_ARGUMENTS)
        PI_HPP_RESULT(PI_ERROR_INVALID_NAME)
        PI_HPP_RESULT(PI_ERROR_INVALID_BINARY)
        PI_HPP_RESULT(PI_ERROR_INVALID_OPERATION)
        PI_HPP_RESULT(PI_ERROR_INVALID_NATIVE_HANDLE)
        PI_HPP_RESULT(PI_ERROR_INVALID_LOADER)
        PI_HPP_RESULT(PI_ERROR_INVALID_PLUGIN)
        PI_HPP_RESULT(PI_ERROR_INVALID_PLATFORM)
        PI_HPP_RESULT(PI_ERROR_INVALID_DEVICE)
        PI_HPP_RESULT(PI_ERROR_INVALID_CONTEXT)
        PI_HPP_RESULT(PI_ERROR_INVALID_QUEUE)
        PI_HPP_RESULT(PI_ERROR_INVALID_MEM_OBJECT)
        PI_HPP_RESULT(PI_ERROR_INVALID_EVENT)
        PI_HPP_RESULT(PI_ERROR_INVALID_PROGRAM)
        PI_HPP_RESULT(PI_ERROR_INVALID_KERNEL)
        PI_HPP_RESULT(PI_ERROR_INVALID_SAMPLER)
        PI_HPP_RESULT(PI_ERROR_INVALID_USM_POOL)
        PI_HPP_RESULT(PI_ERROR_INVALID_USM_POINTER)
        PI_HPP_RESULT(PI_ERROR_UNSUPPORTED_FEATURE)
        PI_HPP_RESULT(PI_ERROR_OUT_OF_HOST_MEMORY)
        PI_HPP_RESULT(PI_ERROR_OUT_OF_DEVICE_MEMORY)
        PI_HPP_RESULT(PI_ERROR_OUT_OF_RESOURCES)
        PI_HPP_RESULT(PI_ERROR_DEVICE_LOST)
        PI_HPP_RESULT(PI_ERROR_UNAVAILABLE)
        PI_HPP_RESULT(PI_ERROR_BUILD_FAILED)
        PI_HPP_RESULT(PI_ERROR_DEPENDENCY_FAILED)
        PI_HPP_RESULT(PI_ERROR_ABANDONED)
        PI_HPP_RESULT(PI_ERROR_TIMEOUT)
        PI_HPP_RESULT(PI_ERROR_WOULD_BLOCK)
        PI_HPP_RESULT(PI_ERROR_PROFILING_UNAVAILABLE)
        PI_HPP_RESULT(PI_ERROR_BACKEND)
        PI_HPP_RESULT(PI_ERROR_INTERNAL)
#undef PI_HPP_RESULT
    default:
        return "unknown result";
    }
}

/// The calling thread's most recent failed call: piGetLastError.
struct LastError {
    pi_result code = PI_SUCCESS;
    const char *message = ""; ///< valid until the thread's next failing call
};
inline LastError last_error() noexcept {
    LastError last;
    piGetLastError(&last.code, &last.message);
    return last;
}

/// "PI_ERROR_INVALID_SIZE: <the text of the call>"; the text is added only if this thread's most
/// recent failed call has that code. Call it on the thread of the failed call, before its next
/// call.
inline std::string error_message(pi_result code) {
    std::string message = result_name(code);
    const LastError last = last_error();
    if (last.code == code && *last.message != '\0') {
        message.append(": ").append(last.message);
    }
    return message;
}

#if PI_HPP_EXCEPTIONS
/// Thrown by the classes of pi::. what() is "piMemBufferCreate: PI_ERROR_INVALID_SIZE: <text of the
/// call>".
class PI_EXPORT Error : public std::runtime_error {
public:
    /// function: the name of a C function, or NULL if unknown.
    Error(pi_result code, const char *function)
        : std::runtime_error(text(code, function)), code_(code) {}
    pi_result code() const noexcept { return code_; }

private:
    static std::string text(pi_result code, const char *function) {
        std::string message = error_message(code);
        if (function) {
            const std::string name = std::string(function) + ": ";
            const std::size_t begin = std::strlen(result_name(code)) + 2;
            if (message.compare(std::min(begin, message.size()), name.size(), name) == 0) {
                message.erase(begin, name.size()); // the loader's own texts contain it, too
            }
            message.insert(0, name);
        }
        return message;
    }

    pi_result code_;
};
#endif

namespace detail {

// The way in which value() fails is a template argument, and so part of its name: files with and
// without exceptions get separate functions. Never inlined, so that callers contain only a jump to
// it.
#if defined(__GNUC__)
#define PI_HPP_COLD [[gnu::cold, gnu::noinline]]
#else
#define PI_HPP_COLD
#endif
#if PI_HPP_EXCEPTIONS
struct FailByThrow {
    PI_HPP_COLD [[noreturn]] static void fail(pi_result code, const char *function) {
        throw Error(code, function);
    }
};
using Fail = FailByThrow;
#else
struct FailByAbort {
    PI_HPP_COLD [[noreturn]] static void fail(pi_result code, const char *) {
        std::fprintf(stderr, "pi::Result::value: %s\n", error_message(code).c_str());
        std::abort();
    }
};
using Fail = FailByAbort;
#endif
#undef PI_HPP_COLD

} // namespace detail

/// A value or an error code, like std::expected<T, pi_result> of C++23. After a failure the value
/// is empty (a null handle), so there is nothing to destroy. The text of a failure belongs to the
/// thread, as in C: call message() before the next failing call.
template <class T>
class [[nodiscard]] Result {
public:
    using value_type = T;

    Result(T value) noexcept : value_(std::move(value)) {}
    /// From the result and the output of a call; the value of a failure must be empty.
    Result(pi_result code, T value) noexcept : value_(std::move(value)), code_(code) {}
    static Result failure(pi_result code) noexcept { return Result(code, T()); }

    bool has_value() const noexcept { return code_ == PI_SUCCESS; }
    explicit operator bool() const noexcept { return has_value(); }
    /// PI_SUCCESS if there is a value.
    pi_result error() const noexcept { return code_; }
    std::string message() const { return error_message(code_); }

    /// After a failure: throws Error; without exceptions, writes the message to stderr and aborts.
    template <class Fail = detail::Fail>
    T &value() & {
        return check<Fail>(), value_;
    }
    template <class Fail = detail::Fail>
    const T &value() const & {
        return check<Fail>(), value_;
    }
    template <class Fail = detail::Fail>
    T &&value() && {
        return check<Fail>(), std::move(value_);
    }
    T value_or(T other) && { return has_value() ? std::move(value_) : std::move(other); }

    /// Unchecked: after a failure this is the empty value.
    T &operator*() &noexcept { return value_; }
    const T &operator*() const &noexcept { return value_; }
    T &&operator*() &&noexcept { return std::move(value_); }
    T *operator->() noexcept { return &value_; }
    const T *operator->() const noexcept { return &value_; }

private:
    template <class Fail>
    void check() const {
        if (code_ != PI_SUCCESS) {
            Fail::fail(code_, nullptr);
        }
    }

    T value_;
    pi_result code_ = PI_SUCCESS;
};

template <>
class [[nodiscard]] Result<void> {
public:
    using value_type = void;

    Result() noexcept = default;
    static Result failure(pi_result code) noexcept {
        Result result;
        result.code_ = code;
        return result;
    }

    bool has_value() const noexcept { return code_ == PI_SUCCESS; }
    explicit operator bool() const noexcept { return has_value(); }
    pi_result error() const noexcept { return code_; }
    std::string message() const { return error_message(code_); }
    template <class Fail = detail::Fail>
    void value() const {
        if (code_ != PI_SUCCESS) {
            Fail::fail(code_, nullptr);
        }
    }

private:
    pi_result code_ = PI_SUCCESS;
};

#if PI_HPP_EXCEPTIONS
/// Policy: throw errors. A policy has two members: Returns<T>, the return type of a function that
/// returns T (which may be void), and give(), which creates it from the result of the C function,
/// the function's name, and make(). make() returns the T, which is empty after a failure.
struct Throw {
    template <class T>
    using Returns = T;
    template <class T, class Make>
    static T give(pi_result result, const char *function, Make make) {
        if (result != PI_SUCCESS) {
            detail::FailByThrow::fail(result, function);
        }
        return make();
    }
};
#endif

/// Policy: return errors.
struct Nothrow {
    template <class T>
    using Returns = Result<T>;
    template <class T, class Make>
    static Result<T> give(pi_result result, const char *, Make make) noexcept {
        if constexpr (std::is_void_v<T>) {
            return Result<void>::failure(result);
        } else {
            return Result<T>(result, make());
        }
    }
};

// ===== Handles and what functions take ==========================================================

/// A borrowed handle: the base class of all nouns of all error policies, and the parameter type of
/// functions that accept a handle.
template <class Handle>
class Borrowed {
public:
    using Raw = Handle; ///< "pi_queue"

    constexpr Borrowed() noexcept = default;
    constexpr Borrowed(Handle handle) noexcept : handle_(handle) {}

    /// The C handle, for descriptors and C functions.
    constexpr Handle get() const noexcept { return handle_; }
    constexpr explicit operator bool() const noexcept { return handle_ != nullptr; }

    friend constexpr bool operator==(Borrowed a, Borrowed b) noexcept {
        return a.handle_ == b.handle_;
    }
    friend constexpr bool operator!=(Borrowed a, Borrowed b) noexcept {
        return a.handle_ != b.handle_;
    }

protected:
    Handle handle_ = nullptr;
};

namespace detail {

template <class Noun, class Handle>
inline constexpr bool is_noun_of = std::is_base_of_v<Borrowed<Handle>, std::remove_cv_t<Noun>>;

/// An array of nouns is an array of handles, since each noun consists of its handle.
template <class Handle, class Noun>
const Handle *handles(const Noun *nouns) noexcept {
    static_assert(sizeof(Noun) == sizeof(Handle) && std::is_standard_layout_v<Noun>);
    return reinterpret_cast<const Handle *>(nouns);
}

} // namespace detail

/// A parameter type for lists of handles: empty, one handle, {a, b}, or a container with data() and
/// size() (vector, array, span) of C handles, borrowed handles or owners. It copies nothing and is
/// valid only during the call.
template <class Handle>
class HandleList {
    template <class Container>
    using ElementOf =
        std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<const Container &>().data())>>;
    template <class Element>
    static constexpr bool fits =
        std::is_same_v<Element, Handle> || detail::is_noun_of<Element, Handle>;

public:
    constexpr HandleList() noexcept = default;
    HandleList(const Handle *handles, std::size_t size) noexcept
        : data_(handles), size_(static_cast<uint32_t>(size)) {}
    HandleList(const Handle &one) noexcept : HandleList(&one, 1) {}
    template <class Noun, std::enable_if_t<detail::is_noun_of<Noun, Handle>, int> = 0>
    HandleList(const Noun &one) noexcept : HandleList(detail::handles<Handle>(&one), 1) {}
    HandleList(std::initializer_list<Borrowed<Handle>> list) noexcept
        : HandleList(detail::handles<Handle>(list.begin()), list.size()) {}
    template <class Element, std::size_t N, std::enable_if_t<fits<Element>, int> = 0>
    HandleList(const Element (&array)[N]) noexcept
        : HandleList(detail::handles<Handle>(array), N) {}
    template <class Container, std::enable_if_t<fits<ElementOf<Container>>, int> = 0>
    HandleList(const Container &container) noexcept
        : HandleList(detail::handles<Handle>(container.data()), container.size()) {}

    const Handle *data() const noexcept { return data_; }
    uint32_t size() const noexcept { return size_; }

private:
    const Handle *data_ = nullptr;
    uint32_t size_ = 0;
};
using WaitList = HandleList<pi_event>;
using DeviceList = HandleList<pi_device>;
using ProgramList = HandleList<pi_program>;

/// A parameter type for null-terminated strings.
class CString {
public:
    constexpr CString(const char *text) noexcept : text_(text) {}
    CString(const std::string &text) noexcept : text_(text.c_str()) {}
    constexpr const char *get() const noexcept { return text_; }

private:
    const char *text_;
};

/// The last argument of a command without an event.
struct NoEvent {
    constexpr explicit NoEvent(int) noexcept {}
};
inline constexpr NoEvent no_event{0};

// ===== Descriptors ============================================================================

/// The command of a descriptor.
template <class Desc>
struct Command;
#define PI_HPP_COMMAND(desc, function)                                                             \
    template <>                                                                                    \
    struct Command<desc> {                                                                         \
        static constexpr const char *name = #function;                                             \
        static pi_result enqueue(pi_queue queue, const desc &command, WaitList wait_list,          \
                                 pi_event *out_event) {                                            \
            return function(queue, &command, wait_list.size(), wait_list.data(), out_event);       \
        }                                                                                          \
    };
PI_HPP_COMMAND(pi_buffer_read_desc, piEnqueueMemBufferRead)
PI_HPP_COMMAND(pi_buffer_write_desc, piEnqueueMemBufferWrite)
PI_HPP_COMMAND(pi_buffer_copy_desc, piEnqueueMemBufferCopy)
PI_HPP_COMMAND(pi_buffer_fill_desc, piEnqueueMemBufferFill)
PI_HPP_COMMAND(pi_buffer_map_desc, piEnqueueMemBufferMap)
PI_HPP_COMMAND(pi_unmap_desc, piEnqueueMemUnmap)
PI_HPP_COMMAND(pi_image_read_desc, piEnqueueMemImageRead)
PI_HPP_COMMAND(pi_image_write_desc, piEnqueueMemImageWrite)
PI_HPP_COMMAND(pi_image_copy_desc, piEnqueueMemImageCopy)
PI_HPP_COMMAND(pi_image_fill_desc, piEnqueueMemImageFill)
PI_HPP_COMMAND(pi_usm_copy_desc, piEnqueueUsmCopy)
PI_HPP_COMMAND(pi_usm_fill_desc, piEnqueueUsmFill)
PI_HPP_COMMAND(pi_usm_prefetch_desc, piEnqueueUsmPrefetch)
PI_HPP_COMMAND(pi_usm_advise_desc, piEnqueueUsmAdvise)
PI_HPP_COMMAND(pi_usm_alloc_desc, piEnqueueUsmAlloc)
PI_HPP_COMMAND(pi_usm_free_desc, piEnqueueUsmFree)
PI_HPP_COMMAND(pi_kernel_launch_desc, piEnqueueKernelLaunch)
PI_HPP_COMMAND(pi_host_function_desc, piEnqueueHostFunction)
PI_HPP_COMMAND(pi_events_wait_desc, piEnqueueEventsWait)
PI_HPP_COMMAND(pi_barrier_desc, piEnqueueBarrier)
PI_HPP_COMMAND(pi_timestamp_desc, piEnqueueTimestamp)
PI_HPP_COMMAND(pi_device_global_read_desc, piEnqueueDeviceGlobalRead)
PI_HPP_COMMAND(pi_device_global_write_desc, piEnqueueDeviceGlobalWrite)
#undef PI_HPP_COMMAND

/// Contiguous bytes from one offset to another: a region for reads, writes and copies.
constexpr pi_region region(uint64_t size, uint64_t src_offset = 0,
                           uint64_t dst_offset = 0) noexcept {
    pi_region out{};
    out.src_offset = src_offset;
    out.dst_offset = dst_offset;
    out.extent[0] = size;
    return out;
}

/// Arguments of a launch. The call of the launch reads the bytes of a value: the value must live
/// until then.
template <class T>
pi_kernel_argument value_argument(const T &value) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_base_of_v<Borrowed<pi_mem>, T>,
                  "a value's bytes are copied; memory is a buffer_argument");
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_VALUE;
    argument.value = &value;
    argument.size = sizeof value;
    return argument;
}
template <class T>
pi_kernel_argument value_argument(const T &&value) = delete;
/// `size` bytes from `offset`; 0 = to the end.
inline pi_kernel_argument buffer_argument(Borrowed<pi_mem> mem, uint64_t offset = 0,
                                          uint64_t size = 0) noexcept {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = mem.get();
    argument.offset = offset;
    argument.size = size;
    return argument;
}
inline pi_kernel_argument image_argument(Borrowed<pi_mem> image,
                                         Borrowed<pi_sampler> read_through = {}) noexcept {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_IMAGE;
    argument.mem = image.get();
    argument.image_sampler = read_through.get();
    return argument;
}
inline pi_kernel_argument sampler_argument(Borrowed<pi_sampler> sampler) noexcept {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_SAMPLER;
    argument.sampler = sampler.get();
    return argument;
}
/// A USM address.
inline pi_kernel_argument pointer_argument(const void *pointer) noexcept {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_POINTER;
    argument.pointer = pointer;
    return argument;
}
inline pi_kernel_argument local_argument(uint64_t size) noexcept {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_LOCAL;
    argument.size = size;
    return argument;
}

// ===== Info ===================================================================================

/// The type of an info name. For a handle it is the noun that borrows it. Names without a row
/// cannot be queried with info<NAME>(): for the binaries of a program use program.binaries(), for a
/// vendor's names info_as.
template <auto Name>
struct Info;
#define PI_HPP_INFO(name, ...)                                                                     \
    template <>                                                                                    \
    struct Info<name> {                                                                            \
        using Type = __VA_ARGS__;                                                                  \
    };
PI_HPP_INFO(PI_PLUGIN_INFO_NAME, std::string)
PI_HPP_INFO(PI_PLUGIN_INFO_VERSION, std::string)
PI_HPP_INFO(PI_PLUGIN_INFO_CAPABILITIES, uint64_t)

PI_HPP_INFO(PI_PLATFORM_INFO_NAME, std::string)
PI_HPP_INFO(PI_PLATFORM_INFO_VENDOR, std::string)
PI_HPP_INFO(PI_PLATFORM_INFO_VERSION, std::string)
PI_HPP_INFO(PI_PLATFORM_INFO_PLUGIN, pi_plugin)
PI_HPP_INFO(PI_PLATFORM_INFO_BACKEND, uint32_t)

PI_HPP_INFO(PI_DEVICE_INFO_TYPE, pi_device_type)
PI_HPP_INFO(PI_DEVICE_INFO_NAME, std::string)
PI_HPP_INFO(PI_DEVICE_INFO_VENDOR, std::string)
PI_HPP_INFO(PI_DEVICE_INFO_VERSION, std::string)
PI_HPP_INFO(PI_DEVICE_INFO_DRIVER_VERSION, std::string)
PI_HPP_INFO(PI_DEVICE_INFO_PLATFORM, pi_platform)
PI_HPP_INFO(PI_DEVICE_INFO_PARENT, pi_device)
PI_HPP_INFO(PI_DEVICE_INFO_REFERENCE_COUNT, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_UUID, std::array<uint8_t, 16>)
PI_HPP_INFO(PI_DEVICE_INFO_LUID, std::array<uint8_t, 8>)
PI_HPP_INFO(PI_DEVICE_INFO_PCI_ADDRESS, std::string)
PI_HPP_INFO(PI_DEVICE_INFO_NUMA_NODE, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_COMPUTE_UNITS, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES, std::array<uint64_t, 3>)
PI_HPP_INFO(PI_DEVICE_INFO_LOCAL_MEMORY_SIZE, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_ALLOCATION_SIZE, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_ADDRESS_BITS, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_FP16, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_FP64, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_IMAGES, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_SUB_GROUP_SIZES, std::vector<uint32_t>)
PI_HPP_INFO(PI_DEVICE_INFO_BUFFER_OFFSET_MODE, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_HOST_POINTER_IMPORT, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_INTEGRATED, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_USM_CAPABILITIES, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_PROGRAM_FORMATS, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_QUEUE_FLAGS, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_TIMER_RESOLUTION, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_PARTITION_KINDS, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_EXPORT_HANDLE_TYPES, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_CAPABILITIES, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_LAUNCH_FEATURES, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE, std::array<uint64_t, 2>)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE, std::array<uint64_t, 3>)
PI_HPP_INFO(PI_DEVICE_INFO_IMAGE_VIEW_OFFSET_ALIGNMENT, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_IMAGE_VIEW_PITCH_ALIGNMENT, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_HOST_READ_SPEED, std::array<uint64_t, 2>)
PI_HPP_INFO(PI_DEVICE_INFO_HOST_WRITE_SPEED, std::array<uint64_t, 2>)
PI_HPP_INFO(PI_DEVICE_INFO_MAP_SPEED, std::array<uint64_t, 2>)
PI_HPP_INFO(PI_DEVICE_INFO_CALLBACK_LATENCY, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_HOST_READ_CHANNELS, std::vector<uint64_t>)
PI_HPP_INFO(PI_DEVICE_INFO_HOST_WRITE_CHANNELS, std::vector<uint64_t>)
PI_HPP_INFO(PI_DEVICE_INFO_VENDOR_ID, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_DEVICE_ID, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_CLOCK_RATE, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_MEMORY_CLOCK_RATE, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_MEMORY_BUS_WIDTH, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_FREE_MEMORY, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, std::array<uint32_t, 7>)
PI_HPP_INFO(PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, std::array<uint32_t, 7>)
PI_HPP_INFO(PI_DEVICE_INFO_FP_CONFIGS, std::array<uint32_t, 3>)
PI_HPP_INFO(PI_DEVICE_INFO_CACHE_SIZE, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_CACHE_LINE_SIZE, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_CACHE_TYPE, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_LOCAL_MEMORY_TYPE, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_SUB_GROUP_COUNT, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_SUB_GROUP_INDEPENDENT_PROGRESS, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_ATOMIC_64, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_ATOMIC_CAPABILITIES, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_FENCE_CAPABILITIES, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_USM_ACCESS, std::array<uint32_t, 5>)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_PARAMETER_SIZE, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_CONSTANT_SIZE, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_CONSTANT_ARGUMENTS, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_READ_IMAGE_ARGUMENTS, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_WRITE_IMAGE_ARGUMENTS, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_SAMPLERS, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_IMAGE_ARRAY_SIZE, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_IMAGE_BUFFER_SIZE, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_IL_VERSIONS, std::string)
PI_HPP_INFO(PI_DEVICE_INFO_EXTENSIONS, std::string)
PI_HPP_INFO(PI_DEVICE_INFO_ERROR_CORRECTION, uint32_t)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_GRID_SIZES, std::array<uint64_t, 3>)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_PRINTF_SIZE, uint64_t)
PI_HPP_INFO(PI_DEVICE_INFO_PARTITION_KIND, pi_partition_kind)
PI_HPP_INFO(PI_DEVICE_INFO_MAX_SUB_DEVICES, uint32_t)

PI_HPP_INFO(PI_CONTEXT_INFO_DEVICES, std::vector<pi_device>)
PI_HPP_INFO(PI_CONTEXT_INFO_PLATFORM, pi_platform)
PI_HPP_INFO(PI_CONTEXT_INFO_REFERENCE_COUNT, uint32_t)

PI_HPP_INFO(PI_QUEUE_INFO_CONTEXT, pi_context)
PI_HPP_INFO(PI_QUEUE_INFO_DEVICE, pi_device)
PI_HPP_INFO(PI_QUEUE_INFO_FLAGS, uint64_t)
PI_HPP_INFO(PI_QUEUE_INFO_REFERENCE_COUNT, uint32_t)

PI_HPP_INFO(PI_MEM_INFO_SIZE, uint64_t)
PI_HPP_INFO(PI_MEM_INFO_CONTEXT, pi_context)
PI_HPP_INFO(PI_MEM_INFO_DEVICE, pi_device)
PI_HPP_INFO(PI_MEM_INFO_FLAGS, uint64_t)
PI_HPP_INFO(PI_MEM_INFO_SCOPE, uint32_t)
PI_HPP_INFO(PI_MEM_INFO_ALIGNMENT, uint64_t)
PI_HPP_INFO(PI_MEM_INFO_PARENT, pi_mem)
PI_HPP_INFO(PI_MEM_INFO_OFFSET, uint64_t)
PI_HPP_INFO(PI_MEM_INFO_COHERENCE, pi_coherence)
PI_HPP_INFO(PI_MEM_INFO_DEVICE_ADDRESS, uint64_t)
PI_HPP_INFO(PI_MEM_INFO_BUS_ADDRESS, uint64_t)
PI_HPP_INFO(PI_MEM_INFO_PITCHES, std::vector<uint64_t>)
PI_HPP_INFO(PI_MEM_INFO_KIND, pi_memory_kind)
PI_HPP_INFO(PI_MEM_INFO_REFERENCE_COUNT, uint32_t)

PI_HPP_INFO(PI_USM_INFO_KIND, pi_usm_kind)
PI_HPP_INFO(PI_USM_INFO_BASE, void *)
PI_HPP_INFO(PI_USM_INFO_SIZE, uint64_t)
PI_HPP_INFO(PI_USM_INFO_DEVICE, pi_device)
PI_HPP_INFO(PI_USM_INFO_POOL, pi_usm_pool)

PI_HPP_INFO(PI_USM_POOL_INFO_CONTEXT, pi_context)
PI_HPP_INFO(PI_USM_POOL_INFO_RESERVED, uint64_t)
PI_HPP_INFO(PI_USM_POOL_INFO_USED, uint64_t)
PI_HPP_INFO(PI_USM_POOL_INFO_REFERENCE_COUNT, uint32_t)

PI_HPP_INFO(PI_PROGRAM_INFO_CONTEXT, pi_context)
PI_HPP_INFO(PI_PROGRAM_INFO_DEVICES, std::vector<pi_device>)
PI_HPP_INFO(PI_PROGRAM_INFO_FORMAT, pi_program_format)
PI_HPP_INFO(PI_PROGRAM_INFO_KERNEL_NAMES, std::string)
PI_HPP_INFO(PI_PROGRAM_INFO_BINARY_SIZES, std::vector<uint64_t>)
PI_HPP_INFO(PI_PROGRAM_INFO_REFERENCE_COUNT, uint32_t)
PI_HPP_INFO(PI_PROGRAM_BUILD_INFO_STATUS, uint32_t)
PI_HPP_INFO(PI_PROGRAM_BUILD_INFO_LOG, std::string)
PI_HPP_INFO(PI_PROGRAM_BUILD_INFO_OPTIONS, std::string)

PI_HPP_INFO(PI_KERNEL_INFO_NAME, std::string)
PI_HPP_INFO(PI_KERNEL_INFO_ARGUMENT_COUNT, uint32_t)
PI_HPP_INFO(PI_KERNEL_INFO_PROGRAM, pi_program)
PI_HPP_INFO(PI_KERNEL_INFO_CONTEXT, pi_context)
PI_HPP_INFO(PI_KERNEL_INFO_REFERENCE_COUNT, uint32_t)
PI_HPP_INFO(PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE, uint64_t)
PI_HPP_INFO(PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE, std::array<uint64_t, 3>)
PI_HPP_INFO(PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE, uint64_t)
PI_HPP_INFO(PI_KERNEL_GROUP_INFO_PRIVATE_MEMORY_SIZE, uint64_t)
PI_HPP_INFO(PI_KERNEL_GROUP_INFO_PREFERRED_GROUP_MULTIPLE, uint64_t)
PI_HPP_INFO(PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE, uint32_t)
PI_HPP_INFO(PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT, uint32_t)
PI_HPP_INFO(PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE, uint32_t)

PI_HPP_INFO(PI_SAMPLER_INFO_CONTEXT, pi_context)
PI_HPP_INFO(PI_SAMPLER_INFO_NORMALIZED_COORDINATES, uint32_t)
PI_HPP_INFO(PI_SAMPLER_INFO_ADDRESSING, pi_addressing_mode)
PI_HPP_INFO(PI_SAMPLER_INFO_FILTER, pi_filter_mode)
PI_HPP_INFO(PI_SAMPLER_INFO_REFERENCE_COUNT, uint32_t)

PI_HPP_INFO(PI_EVENT_INFO_STATUS, pi_event_status)
PI_HPP_INFO(PI_EVENT_INFO_RESULT, pi_result)
PI_HPP_INFO(PI_EVENT_INFO_ERROR_TEXT, std::string)
PI_HPP_INFO(PI_EVENT_INFO_CONTEXT, pi_context)
PI_HPP_INFO(PI_EVENT_INFO_QUEUE, pi_queue)
PI_HPP_INFO(PI_EVENT_INFO_COMMAND, uint32_t)
PI_HPP_INFO(PI_EVENT_INFO_REFERENCE_COUNT, uint32_t)
PI_HPP_INFO(PI_PROFILING_QUEUED, uint64_t)
PI_HPP_INFO(PI_PROFILING_SUBMIT, uint64_t)
PI_HPP_INFO(PI_PROFILING_START, uint64_t)
PI_HPP_INFO(PI_PROFILING_END, uint64_t)
#undef PI_HPP_INFO

namespace detail {

/// The info function of an object and the type of its names.
template <class Handle>
struct InfoCall;
#define PI_HPP_INFO_CALL(handle, function, first_name)                                             \
    template <>                                                                                    \
    struct InfoCall<handle> {                                                                      \
        using Names = decltype(first_name);                                                        \
        static constexpr const char *name = #function;                                             \
        static pi_result get(handle object, uint32_t info, uint64_t size, void *value,             \
                             uint64_t *out_size) {                                                 \
            return function(object, info, size, value, out_size);                                  \
        }                                                                                          \
    };
PI_HPP_INFO_CALL(pi_plugin, piPluginGetInfo, PI_PLUGIN_INFO_NAME)
PI_HPP_INFO_CALL(pi_platform, piPlatformGetInfo, PI_PLATFORM_INFO_NAME)
PI_HPP_INFO_CALL(pi_device, piDeviceGetInfo, PI_DEVICE_INFO_NAME)
PI_HPP_INFO_CALL(pi_context, piContextGetInfo, PI_CONTEXT_INFO_DEVICES)
PI_HPP_INFO_CALL(pi_queue, piQueueGetInfo, PI_QUEUE_INFO_CONTEXT)
PI_HPP_INFO_CALL(pi_mem, piMemGetInfo, PI_MEM_INFO_SIZE)
PI_HPP_INFO_CALL(pi_usm_pool, piUsmPoolGetInfo, PI_USM_POOL_INFO_CONTEXT)
PI_HPP_INFO_CALL(pi_program, piProgramGetInfo, PI_PROGRAM_INFO_CONTEXT)
PI_HPP_INFO_CALL(pi_kernel, piKernelGetInfo, PI_KERNEL_INFO_NAME)
PI_HPP_INFO_CALL(pi_sampler, piSamplerGetInfo, PI_SAMPLER_INFO_CONTEXT)
PI_HPP_INFO_CALL(pi_event, piEventGetInfo, PI_EVENT_INFO_STATUS)
#undef PI_HPP_INFO_CALL

/// The retain and release functions of an object.
template <class Handle>
struct Count;
#define PI_HPP_COUNT(handle, retain_function, release_function)                                    \
    template <>                                                                                    \
    struct Count<handle> {                                                                         \
        static constexpr const char *name = #retain_function;                                      \
        static pi_result retain(handle object) { return retain_function(object); }                 \
        static void release(handle object) noexcept { release_function(object); }                  \
    };
PI_HPP_COUNT(pi_loader, piLoaderRetain, piLoaderRelease)
PI_HPP_COUNT(pi_device, piDeviceRetain, piDeviceRelease)
PI_HPP_COUNT(pi_context, piContextRetain, piContextRelease)
PI_HPP_COUNT(pi_queue, piQueueRetain, piQueueRelease)
PI_HPP_COUNT(pi_mem, piMemRetain, piMemRelease)
PI_HPP_COUNT(pi_usm_pool, piUsmPoolRetain, piUsmPoolRelease)
PI_HPP_COUNT(pi_program, piProgramRetain, piProgramRelease)
PI_HPP_COUNT(pi_kernel, piKernelRetain, piKernelRelease)
PI_HPP_COUNT(pi_sampler, piSamplerRetain, piSamplerRelease)
PI_HPP_COUNT(pi_event, piEventRetain, piEventRelease)
#undef PI_HPP_COUNT

/// Queries a value with get(size, value, out_size): one call for a fixed size, two for others.
template <class T, class Get>
pi_result read(T &value, Get get) {
    static_assert(std::is_trivially_copyable_v<T>);
    return get(sizeof value, &value, nullptr);
}
template <class Get>
pi_result read(std::string &text, Get get) {
    uint64_t size = 0;
    pi_result result = get(0, nullptr, &size);
    if (result == PI_SUCCESS && size > 0) {
        text.resize(size);
        result = get(size, text.data(), nullptr);
        text.resize(result == PI_SUCCESS ? size - 1 : 0); // without the terminating 0
    }
    return result;
}
template <class T, class Get>
pi_result read(std::vector<T> &values, Get get) {
    static_assert(std::is_trivially_copyable_v<T>);
    uint64_t size = 0;
    pi_result result = get(0, nullptr, &size);
    if (result == PI_SUCCESS && size > 0) {
        values.resize(size / sizeof(T));
        result = get(size, values.data(), nullptr);
        if (result != PI_SUCCESS) {
            values.clear();
        }
    }
    return result;
}

/// Queries a list with list(capacity, out_array, out_count). The second call may return fewer.
template <class T, class List>
pi_result read_list(std::vector<T> &elements, List list) {
    uint32_t count = 0;
    pi_result result = list(0, nullptr, &count);
    if (result == PI_SUCCESS && count > 0) {
        elements.resize(count);
        result = list(static_cast<uint32_t>(elements.size()), elements.data(), &count);
        if (result != PI_SUCCESS) {
            elements.clear();
        } else if (count < elements.size()) {
            elements.resize(count);
        }
    }
    return result;
}

template <class T>
struct Type {};

} // namespace detail

// ===== The nouns ==============================================================================

/// All nouns with one error policy: Throw, Nothrow, or a program's own. Programs use the names
/// pi::Queue or pi::nothrow::Queue. A descriptor that may be NULL in C is NULL by default.
template <class Errors>
struct Api {
    template <class T>
    using Returns = typename Errors::template Returns<T>;

    class Plugin;
    class Platform;
    class LoaderRef;
    class DeviceRef;
    class ContextRef;
    class QueueRef;
    class MemRef;
    class UsmPoolRef;
    class ProgramRef;
    class KernelRef;
    class SamplerRef;
    class EventRef;
    template <class Ref>
    class Owned;
    using Loader = Owned<LoaderRef>;
    using Device = Owned<DeviceRef>;
    using Context = Owned<ContextRef>;
    using Queue = Owned<QueueRef>;
    using Mem = Owned<MemRef>;
    using UsmPool = Owned<UsmPoolRef>;
    using Program = Owned<ProgramRef>;
    using Kernel = Owned<KernelRef>;
    using Sampler = Owned<SamplerRef>;
    using Event = Owned<EventRef>;

private:
    /// Converts the result of a C function.
    static Returns<void> done(pi_result result, const char *function) {
        return Errors::template give<void>(result, function, [] {});
    }
    /// By reference: the caller's own value, which is read only if the call succeeded.
    template <class T, class Value = std::decay_t<T>>
    static Returns<Value> give(pi_result result, const char *function, T &&value) {
        return Errors::template give<Value>(result, function,
                                            // NOLINTNEXTLINE(bugprone-move-forwarding-reference)
                                            [&]() -> Value { return std::move(value); });
    }
    /// The handles inside nouns, as outputs of C functions.
    template <class Noun>
    static typename Noun::Raw *places(Noun *nouns) noexcept {
        static_assert(sizeof(Noun) == sizeof(typename Noun::Raw) &&
                      std::is_standard_layout_v<Noun>);
        return reinterpret_cast<typename Noun::Raw *>(nouns);
    }
    /// Creates an owner. After a failed call the output is ignored: it is not a reference.
    template <class Noun>
    static Returns<Noun> own(pi_result result, const char *function,
                             const typename Noun::Raw &handle) {
        return Errors::template give<Noun>(
            result, function, [&] { return Noun::adopt(result == PI_SUCCESS ? handle : nullptr); });
    }
    template <class T, class Get>
    static Returns<T> read(const char *function, Get get) {
        T value{};
        const pi_result result = detail::read(value, get);
        return give(result, function, value);
    }
    template <class T, class List>
    static Returns<std::vector<T>> read_list(const char *function, List list) {
        std::vector<T> elements;
        const pi_result result = detail::read_list(elements, list);
        return give(result, function, elements);
    }

    /// The noun that borrows a handle; other types stay as they are.
    template <class T>
    static T noun(detail::Type<T>);
    static Plugin noun(detail::Type<pi_plugin>);
    static Platform noun(detail::Type<pi_platform>);
    static DeviceRef noun(detail::Type<pi_device>);
    static std::vector<DeviceRef> noun(detail::Type<std::vector<pi_device>>);
    static ContextRef noun(detail::Type<pi_context>);
    static QueueRef noun(detail::Type<pi_queue>);
    static MemRef noun(detail::Type<pi_mem>);
    static UsmPoolRef noun(detail::Type<pi_usm_pool>);
    static ProgramRef noun(detail::Type<pi_program>);
    template <auto Name>
    using InfoType = decltype(noun(detail::Type<typename Info<Name>::Type>()));

public:
    /// The base class of nouns with info.
    template <class Handle>
    class Object : public Borrowed<Handle> {
        using Call = detail::InfoCall<Handle>;
        auto asking(uint32_t name) const {
            return [object = this->handle_, name](uint64_t size, void *value, uint64_t *out_size) {
                return Call::get(object, name, size, value, out_size);
            };
        }

    public:
        constexpr Object() noexcept = default;
        constexpr Object(Handle handle) noexcept : Borrowed<Handle>(handle) {}
        /// From a noun of another error policy.
        template <class Other, std::enable_if_t<detail::is_noun_of<Other, Handle> &&
                                                    !std::is_base_of_v<Object, Other>,
                                                int> = 0>
        constexpr Object(const Other &other) noexcept : Borrowed<Handle>(other) {}

        /// device.info<PI_DEVICE_INFO_NAME>() returns a std::string. A name of another noun does
        /// not compile.
        template <auto Name>
        Returns<InfoType<Name>> info() const {
            static_assert(std::is_same_v<decltype(Name), typename Call::Names>,
                          "this is not an info name of this noun");
            return read<InfoType<Name>>(Call::name, asking(Name));
        }
        /// std::nullopt if the object does not answer: the feature is missing, or the plugin is
        /// older than the name.
        template <auto Name>
        Returns<std::optional<InfoType<Name>>> find_info() const {
            static_assert(std::is_same_v<decltype(Name), typename Call::Names>,
                          "this is not an info name of this noun");
            std::optional<InfoType<Name>> value{std::in_place};
            const pi_result result = detail::read(*value, asking(Name));
            if (result == PI_ERROR_UNSUPPORTED_FEATURE || result == PI_ERROR_INVALID_ENUMERATION) {
                value.reset();
                return give(PI_SUCCESS, Call::name, value);
            }
            if (result != PI_SUCCESS) {
                value.reset();
            }
            return give(result, Call::name, value);
        }
        /// For a vendor's name, or one that is known only at run time. T is a std::string, a
        /// std::vector, or a type of the size of the answer.
        template <class T>
        Returns<T> info_as(uint32_t name) const {
            return read<T>(Call::name, asking(name));
        }
    };

    /// The base class of reference-counted nouns.
    template <class Ref, class Handle>
    class Counted : public Object<Handle> {
        using Count = detail::Count<Handle>;

    public:
        using Object<Handle>::Object;

        /// Returns another owner.
        Returns<Owned<Ref>> retain() const {
            return own<Owned<Ref>>(Count::retain(this->handle_), Count::name, this->handle_);
        }
    };

    /// Owns one reference to the object of a Ref.
    template <class Ref>
    class Owned : public Ref {
    public:
        using Handle = typename Ref::Raw;

        constexpr Owned() noexcept = default;
        Owned(Owned &&other) noexcept : Ref(other.detach()) {}
        Owned &operator=(Owned &&other) noexcept {
            if (this != &other) {
                reset();
                this->handle_ = other.detach();
            }
            return *this;
        }
        ~Owned() {
            if (this->handle_ != nullptr) {
                detail::Count<Handle>::release(this->handle_);
            }
        }

        /// Takes over a reference of the caller.
        static Owned adopt(Handle handle) noexcept {
            Owned owned;
            owned.handle_ = handle;
            return owned;
        }
        /// Transfers the reference to the caller.
        [[nodiscard]] Handle detach() noexcept { return std::exchange(this->handle_, nullptr); }
        void reset() noexcept { const Owned ends(std::move(*this)); }
        /// For the output of a C function: releases the current reference and returns the address
        /// to write to.
        Handle *out() noexcept {
            reset();
            return &this->handle_;
        }
    };

    /// A plugin's instance in one loader; not reference counted.
    class Plugin : public Object<pi_plugin> {
    public:
        using Object<pi_plugin>::Object;

        /// A table of functions outside the core, of at least min_size bytes; lives as long as the
        /// plugin.
        Returns<const void *> extension(CString name, uint64_t min_size) const {
            const void *table = nullptr;
            const pi_result result =
                piPluginGetExtension(this->handle_, name.get(), min_size, &table);
            return give(result, "piPluginGetExtension", table);
        }
        /// The same with the type of the table; never NULL.
        template <class Table>
        Returns<const Table *> extension(CString name) const {
            const void *table = nullptr;
            const pi_result result =
                piPluginGetExtension(this->handle_, name.get(), sizeof(Table), &table);
            return give(result, "piPluginGetExtension", static_cast<const Table *>(table));
        }
        Returns<std::vector<Platform>> platforms() const {
            return read_list<Platform>(
                "piPlatformsGet", [&](uint32_t capacity, Platform *out, uint32_t *out_count) {
                    return piPlatformsGet(this->handle_, capacity, places(out), out_count);
                });
        }
    };

    /// One driver of a backend; lives as long as its plugin.
    class Platform : public Object<pi_platform> {
    public:
        using Object<pi_platform>::Object;

        static Returns<Platform> create_with_native_handle(Borrowed<pi_plugin> plugin,
                                                           const pi_native_desc &desc) {
            pi_platform platform = nullptr;
            const pi_result result =
                piPlatformCreateWithNativeHandle(plugin.get(), &desc, &platform);
            return give(result, "piPlatformCreateWithNativeHandle", Platform(platform));
        }
        /// The root devices of the given types.
        Returns<std::vector<DeviceRef>> devices(pi_device_type types = PI_DEVICE_TYPE_ALL) const {
            return read_list<DeviceRef>(
                "piDevicesGet", [&](uint32_t capacity, DeviceRef *out, uint32_t *out_count) {
                    return piDevicesGet(this->handle_, types, capacity, places(out), out_count);
                });
        }
        Returns<std::string> backend_option(CString frontend_option) const {
            return read<std::string>(
                "piPlatformGetBackendOption", [&](uint64_t size, void *value, uint64_t *out_size) {
                    return piPlatformGetBackendOption(this->handle_, frontend_option.get(), size,
                                                      static_cast<char *>(value), out_size);
                });
        }
        Returns<pi_native_handle> native_handle() const {
            pi_native_handle handle{};
            const pi_result result = piPlatformGetNativeHandle(this->handle_, &handle);
            return give(result, "piPlatformGetNativeHandle", handle);
        }
    };

    /// Loads plugins. Releasing the last reference waits for commands in flight: see
    /// piLoaderRelease.
    class LoaderRef : public Counted<LoaderRef, pi_loader> {
    public:
        using Counted<LoaderRef, pi_loader>::Counted;

        static Returns<Loader> create(const pi_loader_desc *desc = nullptr) {
            pi_loader loader = nullptr;
            const pi_result result = piLoaderCreate(desc, &loader);
            return own<Loader>(result, "piLoaderCreate", loader);
        }
        Returns<std::vector<Plugin>> plugins() const {
            return read_list<Plugin>(
                "piPluginsGet", [&](uint32_t capacity, Plugin *out, uint32_t *out_count) {
                    return piPluginsGet(this->handle_, capacity, places(out), out_count);
                });
        }
        /// What happened to each plugin.
        Returns<std::vector<pi_plugin_report>> reports() const {
            return read_list<pi_plugin_report>(
                "piLoaderGetReports",
                [&](uint32_t capacity, pi_plugin_report *out, uint32_t *out_count) {
                    return piLoaderGetReports(this->handle_, capacity, out, out_count);
                });
        }
        /// "opencl:0:1,host"; without a selector the value of PI_DEVICE_SELECTOR, or else all
        /// devices.
        Returns<std::vector<DeviceRef>> select_devices(CString selector = nullptr) const {
            return read_list<DeviceRef>(
                "piLoaderSelectDevices",
                [&](uint32_t capacity, DeviceRef *out, uint32_t *out_count) {
                    return piLoaderSelectDevices(this->handle_, selector.get(), capacity,
                                                 places(out), out_count);
                });
        }
        Returns<std::string> device_selector(Borrowed<pi_device> device) const {
            return read<std::string>(
                "piLoaderGetDeviceSelector", [&](uint64_t size, void *value, uint64_t *out_size) {
                    return piLoaderGetDeviceSelector(this->handle_, device.get(), size,
                                                     static_cast<char *>(value), out_size);
                });
        }
        /// Every environment variable that PI reads.
        Returns<std::vector<pi_environment_variable>> environment() const {
            return read_list<pi_environment_variable>(
                "piLoaderGetEnvironment",
                [&](uint32_t capacity, pi_environment_variable *out, uint32_t *out_count) {
                    return piLoaderGetEnvironment(this->handle_, capacity, out, out_count);
                });
        }
        /// Requires the layer "fault".
        Returns<std::vector<pi_call_count>> call_counts(Borrowed<pi_plugin> plugin) const {
            return read_list<pi_call_count>("piLoaderGetCallCounts", [&](uint32_t capacity,
                                                                         pi_call_count *out,
                                                                         uint32_t *out_count) {
                return piLoaderGetCallCounts(this->handle_, plugin.get(), capacity, out, out_count);
            });
        }
    };

    struct Timestamps {
        uint64_t device_time = 0; ///< nanoseconds of the device's clock
        uint64_t host_time = 0;   ///< nanoseconds of CLOCK_MONOTONIC
    };

    /// Root devices live as long as their plugin and need no owner; sub-devices do.
    class DeviceRef : public Counted<DeviceRef, pi_device> {
    public:
        using Counted<DeviceRef, pi_device>::Counted;

        static Returns<Device> create_with_native_handle(Borrowed<pi_platform> platform,
                                                         const pi_native_desc &desc) {
            pi_device device = nullptr;
            const pi_result result = piDeviceCreateWithNativeHandle(platform.get(), &desc, &device);
            return own<Device>(result, "piDeviceCreateWithNativeHandle", device);
        }
        Returns<std::vector<Device>> partition(const pi_device_partition_desc &desc) const {
            return read_list<Device>("piDevicePartition", [&](uint32_t capacity, Device *out,
                                                              uint32_t *out_count) {
                return piDevicePartition(this->handle_, &desc, capacity, places(out), out_count);
            });
        }
        Returns<Timestamps> global_timestamps() const {
            Timestamps times;
            const pi_result result =
                piDeviceGetGlobalTimestamps(this->handle_, &times.device_time, &times.host_time);
            return give(result, "piDeviceGetGlobalTimestamps", times);
        }
        /// The index of the binary that suits the device best.
        Returns<uint32_t> select_binary(span<const pi_program_binary> binaries) const {
            uint32_t index = 0;
            const pi_result result = piDeviceSelectBinary(
                this->handle_, static_cast<uint32_t>(binaries.size()), binaries.data(), &index);
            return give(result, "piDeviceSelectBinary", index);
        }
        Returns<std::vector<pi_memory_scope>> memory_scopes() const {
            return read_list<pi_memory_scope>(
                "piDeviceGetMemoryScopes",
                [&](uint32_t capacity, pi_memory_scope *out, uint32_t *out_count) {
                    return piDeviceGetMemoryScopes(this->handle_, capacity, out, out_count);
                });
        }
        /// How the other place can use memory of this device in src_context: PI_MEMORY_CONNECTION_.
        Returns<pi_memory_connection> memory_connection(Borrowed<pi_context> src_context,
                                                        Borrowed<pi_device> dst_device,
                                                        Borrowed<pi_context> dst_context) const {
            pi_memory_connection connection = PI_MEMORY_CONNECTION_NONE;
            const pi_result result = piGetMemoryConnection(
                this->handle_, src_context.get(), dst_device.get(), dst_context.get(), &connection);
            return give(result, "piGetMemoryConnection", connection);
        }
        /// query NULL: buffers in scope 0.
        Returns<pi_memory_connection_info>
        memory_connection_info(Borrowed<pi_context> src_context, Borrowed<pi_device> dst_device,
                               Borrowed<pi_context> dst_context,
                               const pi_memory_connection_query *query = nullptr) const {
            auto info = desc<pi_memory_connection_info>();
            const pi_result result =
                piGetMemoryConnectionInfo(this->handle_, src_context.get(), dst_device.get(),
                                          dst_context.get(), query, &info);
            return give(result, "piGetMemoryConnectionInfo", info);
        }
        /// Verifies the connection: piVerifyMemoryConnection. how NULL: buffers in scope 0.
        Returns<pi_memory_connection_info>
        verify_memory_connection(Borrowed<pi_context> src_context, Borrowed<pi_device> dst_device,
                                 Borrowed<pi_context> dst_context,
                                 const pi_memory_verification_desc *how = nullptr) const {
            auto info = desc<pi_memory_connection_info>();
            const pi_result result = piVerifyMemoryConnection(
                this->handle_, src_context.get(), dst_device.get(), dst_context.get(), how, &info);
            return give(result, "piVerifyMemoryConnection", info);
        }
        Returns<pi_native_handle> native_handle() const {
            pi_native_handle handle{};
            const pi_result result = piDeviceGetNativeHandle(this->handle_, &handle);
            return give(result, "piDeviceGetNativeHandle", handle);
        }
    };

    class ContextRef : public Counted<ContextRef, pi_context> {
    public:
        using Counted<ContextRef, pi_context>::Counted;

        static Returns<Context> create(Borrowed<pi_platform> platform,
                                       const pi_context_desc &desc) {
            pi_context context = nullptr;
            const pi_result result = piContextCreate(platform.get(), &desc, &context);
            return own<Context>(result, "piContextCreate", context);
        }
        static Returns<Context> create(Borrowed<pi_platform> platform, DeviceList devices) {
            auto what = desc<pi_context_desc>();
            what.device_count = devices.size();
            what.devices = devices.data();
            return create(platform, what);
        }
        static Returns<Context> create_with_native_handle(Borrowed<pi_platform> platform,
                                                          const pi_native_desc &desc) {
            pi_context context = nullptr;
            const pi_result result =
                piContextCreateWithNativeHandle(platform.get(), &desc, &context);
            return own<Context>(result, "piContextCreateWithNativeHandle", context);
        }
        /// Without a device if the backend has one handle for all devices.
        Returns<pi_native_handle> native_handle(Borrowed<pi_device> device = {}) const {
            pi_native_handle handle{};
            const pi_result result = piContextGetNativeHandle(this->handle_, device.get(), &handle);
            return give(result, "piContextGetNativeHandle", handle);
        }
    };

    class QueueRef : public Counted<QueueRef, pi_queue> {
    public:
        using Counted<QueueRef, pi_queue>::Counted;

        static Returns<Queue> create(Borrowed<pi_context> context, Borrowed<pi_device> device,
                                     const pi_queue_desc *desc = nullptr) {
            pi_queue queue = nullptr;
            const pi_result result = piQueueCreate(context.get(), device.get(), desc, &queue);
            return own<Queue>(result, "piQueueCreate", queue);
        }
        /// PI_QUEUE_ flags. A template, because a plain 0 would also be a null pointer.
        template <class Flags,
                  class = std::enable_if_t<std::is_integral_v<Flags> || std::is_enum_v<Flags>>>
        static Returns<Queue> create(Borrowed<pi_context> context, Borrowed<pi_device> device,
                                     Flags flags) {
            auto what = desc<pi_queue_desc>();
            what.flags = static_cast<uint64_t>(flags);
            return create(context, device, &what);
        }
        static Returns<Queue> create_with_native_handle(Borrowed<pi_context> context,
                                                        Borrowed<pi_device> device,
                                                        const pi_native_desc &desc) {
            pi_queue queue = nullptr;
            const pi_result result =
                piQueueCreateWithNativeHandle(context.get(), device.get(), &desc, &queue);
            return own<Queue>(result, "piQueueCreateWithNativeHandle", queue);
        }
        Returns<void> flush() const { return done(piQueueFlush(this->handle_), "piQueueFlush"); }
        Returns<void> finish() const { return done(piQueueFinish(this->handle_), "piQueueFinish"); }
        Returns<pi_native_handle> native_handle() const {
            pi_native_handle handle{};
            const pi_result result = piQueueGetNativeHandle(this->handle_, &handle);
            return give(result, "piQueueGetNativeHandle", handle);
        }

        /// Enqueues the command of the descriptor: a pi_kernel_launch_desc is
        /// piEnqueueKernelLaunch.
        ///
        ///     pi::Event copied = queue.enqueue(copy, {written, filled});
        ///     queue.enqueue(launch, copied, pi::no_event);
        ///
        /// Pass no_event if you do not need the event: events cost time on some backends, and the
        /// compiler warns about a discarded one.
        template <class Desc>
        [[nodiscard]] Returns<Event> enqueue(const Desc &command, WaitList wait_list = {}) const {
            pi_event event = nullptr;
            const pi_result result =
                Command<Desc>::enqueue(this->handle_, command, wait_list, &event);
            return own<Event>(result, Command<Desc>::name, event);
        }
        template <class Desc>
        Returns<void> enqueue(const Desc &command, WaitList wait_list, NoEvent) const {
            return done(Command<Desc>::enqueue(this->handle_, command, wait_list, nullptr),
                        Command<Desc>::name);
        }
        template <class Desc>
        Returns<void> enqueue(const Desc &command, NoEvent) const {
            return enqueue(command, WaitList(), no_event);
        }
    };

    /// A buffer, a view of a buffer, or an image.
    class MemRef : public Counted<MemRef, pi_mem> {
    public:
        using Counted<MemRef, pi_mem>::Counted;

        static Returns<Mem> buffer_create(Borrowed<pi_context> context, Borrowed<pi_device> device,
                                          const pi_mem_buffer_desc &desc) {
            pi_mem mem = nullptr;
            const pi_result result = piMemBufferCreate(context.get(), device.get(), &desc, &mem);
            return own<Mem>(result, "piMemBufferCreate", mem);
        }
        /// In scope 0, without requirements.
        static Returns<Mem> buffer_create(Borrowed<pi_context> context, Borrowed<pi_device> device,
                                          uint64_t size) {
            auto what = desc<pi_mem_buffer_desc>();
            what.size = size;
            return buffer_create(context, device, what);
        }
        static Returns<Mem> image_create(Borrowed<pi_context> context, Borrowed<pi_device> device,
                                         const pi_mem_image_desc &desc) {
            pi_mem mem = nullptr;
            const pi_result result = piMemImageCreate(context.get(), device.get(), &desc, &mem);
            return own<Mem>(result, "piMemImageCreate", mem);
        }
        /// piMemImport.
        static Returns<Mem> import_handle(Borrowed<pi_context> context, Borrowed<pi_device> device,
                                          const pi_mem_import_desc &desc) {
            pi_mem mem = nullptr;
            const pi_result result = piMemImport(context.get(), device.get(), &desc, &mem);
            return own<Mem>(result, "piMemImport", mem);
        }
        /// piMemExport. The caller closes a file descriptor that it receives.
        Returns<pi_external_handle> export_handle(const pi_mem_export_desc &desc) const {
            pi_external_handle handle{};
            const pi_result result = piMemExport(this->handle_, &desc, &handle);
            return give(result, "piMemExport", handle);
        }
        Returns<Mem> buffer_partition(const pi_mem_partition_desc &desc) const {
            pi_mem mem = nullptr;
            const pi_result result = piMemBufferPartition(this->handle_, &desc, &mem);
            return own<Mem>(result, "piMemBufferPartition", mem);
        }
        Returns<Mem> buffer_partition(uint64_t offset, uint64_t size) const {
            auto what = desc<pi_mem_partition_desc>();
            what.offset = offset;
            what.size = size;
            return buffer_partition(what);
        }
        Returns<Mem> image_view_create(const pi_mem_image_desc &desc) const {
            pi_mem mem = nullptr;
            const pi_result result = piMemImageViewCreate(this->handle_, &desc, &mem);
            return own<Mem>(result, "piMemImageViewCreate", mem);
        }
        Returns<void *> host_pointer() const {
            void *pointer = nullptr;
            const pi_result result = piMemGetHostPointer(this->handle_, &pointer);
            return give(result, "piMemGetHostPointer", pointer);
        }
        Returns<void> flush(uint64_t offset, uint64_t size) const {
            return done(piMemFlush(this->handle_, offset, size), "piMemFlush");
        }
        Returns<void> invalidate(uint64_t offset, uint64_t size) const {
            return done(piMemInvalidate(this->handle_, offset, size), "piMemInvalidate");
        }
        Returns<pi_native_handle> native_handle(Borrowed<pi_device> device) const {
            pi_native_handle handle{};
            const pi_result result = piMemGetNativeHandle(this->handle_, device.get(), &handle);
            return give(result, "piMemGetNativeHandle", handle);
        }
    };

    class UsmPoolRef : public Counted<UsmPoolRef, pi_usm_pool> {
    public:
        using Counted<UsmPoolRef, pi_usm_pool>::Counted;

        static Returns<UsmPool> create(Borrowed<pi_context> context, Borrowed<pi_device> device,
                                       const pi_usm_pool_desc &desc) {
            pi_usm_pool pool = nullptr;
            const pi_result result = piUsmPoolCreate(context.get(), device.get(), &desc, &pool);
            return own<UsmPool>(result, "piUsmPoolCreate", pool);
        }
    };

    /// Pinned application memory; its destructor calls piUsmHostUnregister.
    class UsmRegistration;

    /// Owns a USM allocation and frees it when destroyed; as in C, no command may use the memory
    /// then. The context is borrowed and must live longer.
    class Usm {
    public:
        /// Without a device for host memory.
        static Returns<Usm> alloc(Borrowed<pi_context> context, Borrowed<pi_device> device,
                                  const pi_usm_desc &desc) {
            void *pointer = nullptr;
            const pi_result result = piUsmAlloc(context.get(), device.get(), &desc, &pointer);
            return Errors::template give<Usm>(result, "piUsmAlloc", [&] {
                return adopt(context, result == PI_SUCCESS ? pointer : nullptr);
            });
        }
        static Returns<Usm> alloc(Borrowed<pi_context> context, Borrowed<pi_device> device,
                                  pi_usm_kind kind, uint64_t size) {
            auto what = desc<pi_usm_desc>();
            what.kind = kind;
            what.size = size;
            return alloc(context, device, what);
        }
        /// For any address within an allocation.
        template <auto Name>
        static Returns<InfoType<Name>> info(Borrowed<pi_context> context, const void *pointer) {
            static_assert(std::is_same_v<decltype(Name), decltype(PI_USM_INFO_KIND)>,
                          "this is not an info name of this noun");
            return read<InfoType<Name>>(
                "piUsmGetInfo", [&](uint64_t size, void *value, uint64_t *out_size) {
                    return piUsmGetInfo(context.get(), pointer, Name, size, value, out_size);
                });
        }
        /// Pins application memory until the registration is destroyed.
        static Returns<UsmRegistration> host_register(Borrowed<pi_context> context, void *pointer,
                                                      uint64_t size, uint64_t flags = 0) {
            const pi_result result = piUsmHostRegister(context.get(), pointer, size, flags);
            return Errors::template give<UsmRegistration>(result, "piUsmHostRegister", [&] {
                return UsmRegistration::adopt(context, result == PI_SUCCESS ? pointer : nullptr);
            });
        }

        Usm() noexcept = default;
        static Usm adopt(Borrowed<pi_context> context, void *pointer) noexcept {
            Usm usm;
            usm.context_ = context;
            usm.pointer_ = pointer;
            return usm;
        }
        Usm(Usm &&other) noexcept : context_(other.context_), pointer_(other.detach()) {}
        Usm &operator=(Usm &&other) noexcept {
            if (this != &other) {
                reset();
                context_ = other.context_;
                pointer_ = other.detach();
            }
            return *this;
        }
        ~Usm() { reset(); }

        void *get() const noexcept { return pointer_; }
        explicit operator bool() const noexcept { return pointer_ != nullptr; }
        template <auto Name>
        Returns<InfoType<Name>> info() const {
            return info<Name>(context_, pointer_);
        }
        /// Frees at once and returns the result. After a failure it still owns the memory.
        Returns<void> free() {
            const pi_result result = piUsmFree(context_.get(), pointer_);
            if (result == PI_SUCCESS) {
                pointer_ = nullptr;
            }
            return done(result, "piUsmFree");
        }
        /// For memory that is freed in another way, such as by a pi_usm_free_desc.
        [[nodiscard]] void *detach() noexcept { return std::exchange(pointer_, nullptr); }
        void reset() noexcept {
            if (pointer_ != nullptr) {
                piUsmFree(context_.get(), detach());
            }
        }

    private:
        Borrowed<pi_context> context_;
        void *pointer_ = nullptr;
    };

    class UsmRegistration {
    public:
        UsmRegistration() noexcept = default;
        static UsmRegistration adopt(Borrowed<pi_context> context, void *pointer) noexcept {
            UsmRegistration registration;
            registration.context_ = context;
            registration.pointer_ = pointer;
            return registration;
        }
        UsmRegistration(UsmRegistration &&other) noexcept
            : context_(other.context_), pointer_(std::exchange(other.pointer_, nullptr)) {}
        UsmRegistration &operator=(UsmRegistration &&other) noexcept {
            if (this != &other) {
                reset();
                context_ = other.context_;
                pointer_ = std::exchange(other.pointer_, nullptr);
            }
            return *this;
        }
        ~UsmRegistration() { reset(); }

        void *get() const noexcept { return pointer_; }
        explicit operator bool() const noexcept { return pointer_ != nullptr; }
        void reset() noexcept {
            if (pointer_ != nullptr) {
                piUsmHostUnregister(context_.get(), std::exchange(pointer_, nullptr));
            }
        }

    private:
        Borrowed<pi_context> context_;
        void *pointer_ = nullptr;
    };

    struct GlobalVariable {
        void *pointer = nullptr;
        uint64_t size = 0;
    };

    class ProgramRef : public Counted<ProgramRef, pi_program> {
    public:
        using Counted<ProgramRef, pi_program>::Counted;

        static Returns<Program> create(Borrowed<pi_context> context, const pi_program_desc &desc) {
            pi_program program = nullptr;
            const pi_result result = piProgramCreate(context.get(), &desc, &program);
            return own<Program>(result, "piProgramCreate", program);
        }
        /// From a source text, or from the bytes of a binary.
        static Returns<Program> create(Borrowed<pi_context> context, pi_program_format format,
                                       std::string_view data) {
            auto what = desc<pi_program_desc>();
            what.format = format;
            what.data = data.data();
            what.size = data.size();
            return create(context, what);
        }
        static Returns<Program> create_with_native_handle(Borrowed<pi_context> context,
                                                          const pi_native_desc &desc) {
            pi_program program = nullptr;
            const pi_result result =
                piProgramCreateWithNativeHandle(context.get(), &desc, &program);
            return own<Program>(result, "piProgramCreateWithNativeHandle", program);
        }
        static Returns<Program> link(Borrowed<pi_context> context,
                                     const pi_program_link_desc &desc) {
            pi_program program = nullptr;
            const pi_result result = piProgramLink(context.get(), &desc, &program);
            return own<Program>(result, "piProgramLink", program);
        }
        static Returns<Program> link(Borrowed<pi_context> context, ProgramList parts) {
            auto what = desc<pi_program_link_desc>();
            what.program_count = parts.size();
            what.programs = parts.data();
            return link(context, what);
        }
        Returns<void> compile(const pi_program_build_desc *desc = nullptr) const {
            return done(piProgramCompile(this->handle_, desc), "piProgramCompile");
        }
        Returns<void> build(const pi_program_build_desc *desc = nullptr) const {
            return done(piProgramBuild(this->handle_, desc), "piProgramBuild");
        }
        Returns<void>
        set_specialization_constants(span<const pi_specialization_constant> constants) const {
            return done(piProgramSetSpecializationConstants(this->handle_,
                                                            static_cast<uint32_t>(constants.size()),
                                                            constants.data()),
                        "piProgramSetSpecializationConstants");
        }
        template <auto Name>
        Returns<InfoType<Name>> build_info(Borrowed<pi_device> device) const {
            static_assert(std::is_same_v<decltype(Name), decltype(PI_PROGRAM_BUILD_INFO_STATUS)>,
                          "this is not a build info name of this noun");
            return read<InfoType<Name>>(
                "piProgramGetBuildInfo", [&](uint64_t size, void *value, uint64_t *out_size) {
                    return piProgramGetBuildInfo(this->handle_, device.get(), Name, size, value,
                                                 out_size);
                });
        }
        /// PI_PROGRAM_INFO_BINARIES: one for each device that the program is built for.
        Returns<std::vector<std::vector<uint8_t>>> binaries() const {
            std::vector<std::vector<uint8_t>> binaries;
            std::vector<uint64_t> sizes;
            pi_result result =
                detail::read(sizes, [&](uint64_t size, void *value, uint64_t *out_size) {
                    return piProgramGetInfo(this->handle_, PI_PROGRAM_INFO_BINARY_SIZES, size,
                                            value, out_size);
                });
            if (result == PI_SUCCESS && !sizes.empty()) {
                std::vector<uint8_t *> pointers;
                pointers.reserve(sizes.size());
                for (const uint64_t size : sizes) {
                    pointers.push_back(binaries.emplace_back(size).data());
                }
                result =
                    piProgramGetInfo(this->handle_, PI_PROGRAM_INFO_BINARIES,
                                     pointers.size() * sizeof(uint8_t *), pointers.data(), nullptr);
                if (result != PI_SUCCESS) {
                    binaries.clear();
                }
            }
            return give(result, "piProgramGetInfo", std::move(binaries));
        }
        Returns<uint64_t> function_pointer(Borrowed<pi_device> device, CString name) const {
            uint64_t address = 0;
            const pi_result result =
                piProgramGetFunctionPointer(this->handle_, device.get(), name.get(), &address);
            return give(result, "piProgramGetFunctionPointer", address);
        }
        Returns<GlobalVariable> global_variable_pointer(Borrowed<pi_device> device,
                                                        CString name) const {
            GlobalVariable variable;
            const pi_result result = piProgramGetGlobalVariablePointer(
                this->handle_, device.get(), name.get(), &variable.pointer, &variable.size);
            return give(result, "piProgramGetGlobalVariablePointer", variable);
        }
        /// Without a device if the backend has one handle for all devices.
        Returns<pi_native_handle> native_handle(Borrowed<pi_device> device = {}) const {
            pi_native_handle handle{};
            const pi_result result = piProgramGetNativeHandle(this->handle_, device.get(), &handle);
            return give(result, "piProgramGetNativeHandle", handle);
        }
    };

    class KernelRef : public Counted<KernelRef, pi_kernel> {
    public:
        using Counted<KernelRef, pi_kernel>::Counted;

        static Returns<Kernel> create(Borrowed<pi_program> program, CString name,
                                      const pi_kernel_desc *desc = nullptr) {
            pi_kernel kernel = nullptr;
            const pi_result result = piKernelCreate(program.get(), name.get(), desc, &kernel);
            return own<Kernel>(result, "piKernelCreate", kernel);
        }
        static Returns<Kernel> create_with_native_handle(Borrowed<pi_program> program,
                                                         const pi_native_desc &desc) {
            pi_kernel kernel = nullptr;
            const pi_result result = piKernelCreateWithNativeHandle(program.get(), &desc, &kernel);
            return own<Kernel>(result, "piKernelCreateWithNativeHandle", kernel);
        }
        template <auto Name>
        Returns<InfoType<Name>> group_info(Borrowed<pi_device> device) const {
            static_assert(
                std::is_same_v<decltype(Name), decltype(PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE)>,
                "this is not a group info name of this noun");
            return read<InfoType<Name>>(
                "piKernelGetGroupInfo", [&](uint64_t size, void *value, uint64_t *out_size) {
                    return piKernelGetGroupInfo(this->handle_, device.get(), Name, size, value,
                                                out_size);
                });
        }
        template <auto Name>
        Returns<InfoType<Name>> sub_group_info(Borrowed<pi_device> device) const {
            static_assert(
                std::is_same_v<decltype(Name), decltype(PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE)>,
                "this is not a sub-group info name of this noun");
            return read<InfoType<Name>>(
                "piKernelGetSubGroupInfo", [&](uint64_t size, void *value, uint64_t *out_size) {
                    return piKernelGetSubGroupInfo(this->handle_, device.get(), Name, size, value,
                                                   out_size);
                });
        }
        /// For the kernel of the launch on the device of the queue.
        static Returns<std::array<uint64_t, 3>>
        suggested_local_size(Borrowed<pi_queue> queue, const pi_kernel_launch_desc &desc) {
            std::array<uint64_t, 3> size{};
            const pi_result result = piKernelGetSuggestedLocalSize(queue.get(), &desc, size.data());
            return give(result, "piKernelGetSuggestedLocalSize", size);
        }
        static Returns<uint32_t> max_cooperative_groups(Borrowed<pi_queue> queue,
                                                        const pi_kernel_launch_desc &desc) {
            uint32_t count = 0;
            const pi_result result = piKernelGetMaxCooperativeGroups(queue.get(), &desc, &count);
            return give(result, "piKernelGetMaxCooperativeGroups", count);
        }
        /// Without a device if the backend has one handle for all devices.
        Returns<pi_native_handle> native_handle(Borrowed<pi_device> device = {}) const {
            pi_native_handle handle{};
            const pi_result result = piKernelGetNativeHandle(this->handle_, device.get(), &handle);
            return give(result, "piKernelGetNativeHandle", handle);
        }
    };

    class SamplerRef : public Counted<SamplerRef, pi_sampler> {
    public:
        using Counted<SamplerRef, pi_sampler>::Counted;

        static Returns<Sampler> create(Borrowed<pi_context> context, const pi_sampler_desc &desc) {
            pi_sampler sampler = nullptr;
            const pi_result result = piSamplerCreate(context.get(), &desc, &sampler);
            return own<Sampler>(result, "piSamplerCreate", sampler);
        }
        static Returns<Sampler> create_with_native_handle(Borrowed<pi_context> context,
                                                          const pi_native_desc &desc) {
            pi_sampler sampler = nullptr;
            const pi_result result =
                piSamplerCreateWithNativeHandle(context.get(), &desc, &sampler);
            return own<Sampler>(result, "piSamplerCreateWithNativeHandle", sampler);
        }
        Returns<pi_native_handle> native_handle() const {
            pi_native_handle handle{};
            const pi_result result = piSamplerGetNativeHandle(this->handle_, &handle);
            return give(result, "piSamplerGetNativeHandle", handle);
        }
    };

    class EventRef : public Counted<EventRef, pi_event> {
    public:
        using Counted<EventRef, pi_event>::Counted;

        static Returns<Event> create_host(Borrowed<pi_context> context,
                                          const pi_host_event_desc *desc = nullptr) {
            pi_event event = nullptr;
            const pi_result result = piEventCreateHost(context.get(), desc, &event);
            return own<Event>(result, "piEventCreateHost", event);
        }
        static Returns<Event> create_with_native_handle(Borrowed<pi_context> context,
                                                        const pi_native_desc &desc) {
            pi_event event = nullptr;
            const pi_result result = piEventCreateWithNativeHandle(context.get(), &desc, &event);
            return own<Event>(result, "piEventCreateWithNativeHandle", event);
        }
        /// Fails with the error of the command.
        Returns<void> wait() const {
            return done(piEventWait(this->handle_, PI_TIMEOUT_NEVER), "piEventWait");
        }
        /// False if the timeout (nanoseconds; 0 never blocks) elapsed first.
        Returns<bool> wait_for(uint64_t timeout) const {
            const pi_result result = piEventWait(this->handle_, timeout);
            return give(result == PI_ERROR_TIMEOUT ? PI_SUCCESS : result, "piEventWait",
                        result == PI_SUCCESS);
        }
        template <auto Name>
        Returns<InfoType<Name>> profiling_info() const {
            static_assert(std::is_same_v<decltype(Name), decltype(PI_PROFILING_START)>,
                          "this is not a profiling info name");
            return read<InfoType<Name>>(
                "piEventGetProfilingInfo", [&](uint64_t size, void *value, uint64_t *out_size) {
                    return piEventGetProfilingInfo(this->handle_, Name, size, value, out_size);
                });
        }
        Returns<void> set_callback(pi_event_callback callback, void *user_data) const {
            return done(piEventSetCallback(this->handle_, callback, user_data),
                        "piEventSetCallback");
        }
        /// Calls function(EventRef, pi_result) exactly once, on any thread, possibly during this
        /// call. It lives on the heap until then, and must not throw.
        template <class Function>
        Returns<void> set_callback(Function function) const {
            auto held = std::make_unique<Function>(std::move(function));
            const pi_event_callback call = [](pi_event event, pi_result result,
                                              void *user_data) noexcept {
                const std::unique_ptr<Function> called(static_cast<Function *>(user_data));
                (*called)(EventRef(event), result);
            };
            const pi_result result = piEventSetCallback(this->handle_, call, held.get());
            if (result == PI_SUCCESS) {
                static_cast<void>(
                    held.release()); // now owned by the callback, which may already have run
            }
            return done(result, "piEventSetCallback");
        }
        Returns<void> signal_host(pi_result result = PI_SUCCESS) const {
            return done(piEventSignalHost(this->handle_, result), "piEventSignalHost");
        }
        Returns<pi_native_handle> native_handle() const {
            pi_native_handle handle{};
            const pi_result result = piEventGetNativeHandle(this->handle_, &handle);
            return give(result, "piEventGetNativeHandle", handle);
        }
    };
};

// ===== Names ==================================================================================

#define PI_HPP_NOUNS(Errors)                                                                       \
    using Plugin = Api<Errors>::Plugin;                                                            \
    using Platform = Api<Errors>::Platform;                                                        \
    using LoaderRef = Api<Errors>::LoaderRef;                                                      \
    using Loader = Api<Errors>::Loader;                                                            \
    using DeviceRef = Api<Errors>::DeviceRef;                                                      \
    using Device = Api<Errors>::Device;                                                            \
    using ContextRef = Api<Errors>::ContextRef;                                                    \
    using Context = Api<Errors>::Context;                                                          \
    using QueueRef = Api<Errors>::QueueRef;                                                        \
    using Queue = Api<Errors>::Queue;                                                              \
    using MemRef = Api<Errors>::MemRef;                                                            \
    using Mem = Api<Errors>::Mem;                                                                  \
    using UsmPoolRef = Api<Errors>::UsmPoolRef;                                                    \
    using UsmPool = Api<Errors>::UsmPool;                                                          \
    using Usm = Api<Errors>::Usm;                                                                  \
    using UsmRegistration = Api<Errors>::UsmRegistration;                                          \
    using ProgramRef = Api<Errors>::ProgramRef;                                                    \
    using Program = Api<Errors>::Program;                                                          \
    using KernelRef = Api<Errors>::KernelRef;                                                      \
    using Kernel = Api<Errors>::Kernel;                                                            \
    using SamplerRef = Api<Errors>::SamplerRef;                                                    \
    using Sampler = Api<Errors>::Sampler;                                                          \
    using EventRef = Api<Errors>::EventRef;                                                        \
    using Event = Api<Errors>::Event

#if PI_HPP_EXCEPTIONS
PI_HPP_NOUNS(Throw);
#endif

/// The nouns whose functions return Result. The nouns of pi:: exist if PI_HPP_EXCEPTIONS is 1.
namespace nothrow {
PI_HPP_NOUNS(Nothrow);
} // namespace nothrow

#undef PI_HPP_NOUNS

} // namespace pi
