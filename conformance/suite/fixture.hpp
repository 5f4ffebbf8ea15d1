// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixture of every test: the plugin and device under test; functions that create objects, which
// must succeed and release themselves; commands that must be accepted; and waits with a timeout. A
// test of a failure calls the interface directly and require_error().
#pragma once

#include "callbacks.hpp"
#include "describe.hpp"
#include "info_names.hpp"
#include "owner.hpp"
#include "require.hpp"
#include "signal.hpp"

#include <pi/pi_loader.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace pi::suite {

using Bytes = std::vector<std::byte>;
using Waits = std::vector<pi_event>;

/// Where memory and queues live.
struct Place {
    pi_device device = nullptr;
    pi_context context = nullptr;
};

/// How the two places of a CONFORMANCE_TEST_PAIRS are related.
enum class Relation { one_place, two_contexts, two_devices, two_devices_two_contexts };

/// The plugin and device of a test; a test of pairs has a peer device, which may be the device
/// itself.
struct Setup {
    pi_loader loader = nullptr;
    pi_plugin plugin = nullptr;
    pi_device device = nullptr;
    pi_device peer = nullptr;
    bool one_context = true;
    Callbacks *callbacks = nullptr;
    uint64_t seed = 0;
    std::chrono::seconds patience{60};
};

class Fixture {
public:
    explicit Fixture(const Setup &setup);
    Fixture(const Fixture &) = delete;
    Fixture &operator=(const Fixture &) = delete;

    // ----- Plugin and device under test -----
    pi_loader loader() const { return setup_.loader; }
    pi_plugin plugin() const { return setup_.plugin; }
    pi_platform platform() const { return platform_; }
    pi_device device() const { return setup_.device; }
    /// The device itself, which may be a sub-device, then all other root devices of its platform.
    std::vector<pi_device> devices() const;
    /// PI_CAPABILITY_ bits of the device, or of another one.
    uint64_t capabilities(pi_device device = nullptr) const;
    bool can(uint64_t capability, pi_device device = nullptr) const;
    /// Skips the test unless the device has the capability; `name` is for the text.
    void need(uint64_t capability, const std::string &name, pi_device device = nullptr) const;
    std::vector<pi_memory_scope> scopes(pi_device device = nullptr) const;

    /// `size` bytes, or less if the device has too little memory for several such buffers.
    uint64_t at_most(uint64_t size, pi_device device = nullptr) const;

    // ----- Tests of pairs -----
    const Place &src() const { return src_; }
    const Place &dst() const { return dst_; }
    Relation relation() const;
    pi_memory_connection connection(const Place &src, const Place &dst) const;

    // ----- Random values, on the test's own thread; every failure reports the seed -----
    std::mt19937_64 &random() { return random_; }
    /// Uniform from low to high, both included.
    uint64_t random(uint64_t low, uint64_t high);
    Bytes random_bytes(std::size_t size);

    // ----- Objects; a failure fails the test -----
    /// The test's context of the device (in a test of pairs, of src). Created by the first call,
    /// which must come before threads call it.
    pi_context context();
    /// The device in that context.
    Place place() { return {device(), context()}; }
    Context make_context(const std::vector<pi_device> &devices);
    Queue make_queue(uint64_t flags = 0);
    Queue make_queue(const Place &place, uint64_t flags = 0);
    /// Skips the test if the device has no such queues.
    Queue make_out_of_order_queue();
    Mem make_buffer(uint64_t size);
    Mem make_buffer(const Place &place, uint64_t size);
    Mem make_buffer(const Place &place, const pi_mem_buffer_desc &desc);
    /// A buffer with these bytes in it.
    Mem make_buffer(const Place &place, const Bytes &bytes);
    Mem make_view(pi_mem mem, uint64_t offset, uint64_t size);
    Event make_host_event();
    Event make_host_event(pi_context context);
    /// A refused signal is sent once more before the test fails, so that waiting threads return.
    void signal(pi_event event, pi_result result = PI_SUCCESS);
    /// Signals after the body, also if it fails.
    void signal_after(pi_event event, const std::function<void()> &body);

    // ----- Commands: they must be accepted; waits as {gate, other} -----
    template <typename Desc>
    Event enqueue(pi_queue queue, const Desc &desc, const Waits &waits = {});
    /// Host memory must stay valid until the event is complete.
    Event write(pi_queue queue, pi_mem mem, uint64_t offset, const Bytes &bytes,
                const Waits &waits = {});
    Event read(pi_queue queue, pi_mem mem, uint64_t offset, Bytes &into, const Waits &waits = {});
    Event copy(pi_queue queue, pi_mem src, uint64_t src_offset, pi_mem dst, uint64_t dst_offset,
               uint64_t size, const Waits &waits = {});
    Event fill(pi_queue queue, pi_mem mem, uint64_t offset, uint64_t size, const Bytes &pattern,
               const Waits &waits = {});
    Event map(pi_queue queue, pi_mem mem, uint64_t map_flags, uint64_t offset, uint64_t size,
              void **out_pointer, const Waits &waits = {});
    Event unmap(pi_queue queue, pi_mem mem, void *pointer, const Waits &waits = {});
    Event barrier(pi_queue queue, const Waits &waits = {});
    Event events_wait(pi_queue queue, const Waits &waits = {});

    // ----- Waits; all end after patience() -----
    std::chrono::seconds patience() const { return setup_.patience; }
    uint64_t patience_ns() const {
        return static_cast<uint64_t>(std::chrono::nanoseconds(setup_.patience).count());
    }
    /// The event completes with success.
    void wait(pi_event event, const std::string &what = "waiting for an event");
    void wait(const Waits &events, const std::string &what = "waiting for events");
    /// The event completes with this result; `what` is what the result is of.
    void require_result(pi_event event, pi_result expected, const std::string &what);
    /// Waits until the event completes; returns its result.
    pi_result wait_result(pi_event event, const std::string &what = "waiting for an event");
    /// Waits until the flag is set.
    void wait(Flag &flag, const std::string &what);
    bool is_complete(pi_event event);

    // ----- Transfers that wait -----
    void upload(pi_queue queue, pi_mem mem, const Bytes &bytes, uint64_t offset = 0);
    Bytes download(pi_queue queue, pi_mem mem, uint64_t size, uint64_t offset = 0);
    /// The buffer's first bytes are these.
    void require_contents(pi_queue queue, pi_mem mem, const Bytes &expected,
                          const std::string &what);

    // ----- Threads and callbacks; what fails there fails the test -----
    /// Runs function(0) to function(count - 1), each on a thread of its own, begun together.
    void run_threads(unsigned count, const std::function<void(unsigned)> &function);
    /// Sets a callback on the event. The flag is set when the function has returned or failed.
    /// Failures are reported at the test's end, or by check_callbacks().
    std::shared_ptr<Flag> on_complete(pi_event event,
                                      std::function<void(pi_event, pi_result)> function);
    void check_callbacks();

    uint64_t seed() const { return setup_.seed; }
    /// To construct a fixture of other devices of the same plugin.
    const Setup &setup() const { return setup_; }

private:
    Setup setup_;
    pi_platform platform_ = nullptr;
    Context own_context_;
    Context peer_context_;
    Place src_;
    Place dst_;
    std::mt19937_64 random_;
};

/// One linear region.
pi_region linear(uint64_t src_offset, uint64_t dst_offset, uint64_t size);

/// Calls a command's function and returns its result.
template <typename Desc>
pi_result try_enqueue(pi_queue queue, const Desc &desc, const Waits &waits = {},
                      pi_event *out_event = nullptr) {
    return Description<Desc>::enqueue(queue, &desc, static_cast<uint32_t>(waits.size()),
                                      waits.empty() ? nullptr : waits.data(), out_event);
}

template <typename Desc>
Event Fixture::enqueue(pi_queue queue, const Desc &desc, const Waits &waits) {
    Event event;
    require_success(try_enqueue(queue, desc, waits, event.out()), Description<Desc>::name);
    require(event.get() != nullptr, Description<Desc>::name, ": succeeded, but returned no event");
    return event;
}

/// "info PI_DEVICE_INFO_NAME", looked up when printed; with the number for functions of tests.
template <typename Function, typename Name>
struct InfoNamed {
    Function function;
    Name name;

    friend std::ostream &operator<<(std::ostream &stream, const InfoNamed &info) {
        if constexpr (std::is_pointer_v<Function>)
            return stream << "info "
                          << info_text(reinterpret_cast<AnyFunction>(info.function), info.name);
        else
            return stream << "info " << info.name;
    }
};
template <typename Function, typename Name>
InfoNamed<Function, Name> info_named(Function function, Name name) {
    return {function, name};
}

/// A value of type T: get_info<uint64_t>(piDeviceGetInfo, device, name).
template <typename T, typename Function, typename Object, typename Name>
T get_info(Function function, Object object, Name name) {
    T value{};
    require_success(function(object, name, sizeof value, &value, nullptr),
                    info_named(function, name));
    return value;
}

/// The same, or `absent` if the object does not support the query.
template <typename T, typename Function, typename Object, typename Name>
T info_or(Function function, Object object, Name name, T absent) {
    T value{};
    const pi_result result = function(object, name, sizeof value, &value, nullptr);
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        return absent;
    require_success(result, info_named(function, name));
    return value;
}

/// The same for lists and strings.
template <typename T, typename Function, typename Object, typename Name>
std::vector<T> get_info_list(Function function, Object object, Name name) {
    uint64_t size = 0;
    require_success(function(object, name, 0, nullptr, &size), "the size of ",
                    info_named(function, name));
    std::vector<T> values(size / sizeof(T));
    if (!values.empty())
        require_success(function(object, name, size, values.data(), nullptr),
                        info_named(function, name));
    return values;
}

/// A string, or `absent` if the object does not support the query.
template <typename Function, typename Object, typename Name>
std::string text_or(Function function, Object object, Name name, const std::string &absent) {
    uint64_t size = 0;
    if (function(object, name, 0, nullptr, &size) == PI_ERROR_UNSUPPORTED_FEATURE)
        return absent;
    return get_info_list<char>(function, object, name).data();
}

} // namespace pi::suite
