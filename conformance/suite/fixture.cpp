// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fixture.hpp"

#include "describe.hpp"
#include "process.hpp"

#include <algorithm>
#include <exception>
#include <thread>

namespace pi::suite {
namespace {

// The function of a command by the PI_TYPE_ of its descriptor.
std::string command_name(uint32_t type) {
    struct CommandName {
        uint32_t type;
        const char *name;
    };
#define PI_SUITE_NAME(desc, function, group) {type_of<desc>, #function},
    constexpr CommandName names[] = {PI_SUITE_COMMANDS(PI_SUITE_NAME)};
#undef PI_SUITE_NAME
    for (const CommandName &row : names) {
        if (row.type == type)
            return row.name;
    }
    return type == 0 ? "a host event" : join("a command of the unknown type ", type);
}

std::string status_name(pi_event_status status) {
    constexpr const char *names[] = {"PI_EVENT_QUEUED", "PI_EVENT_SUBMITTED", "PI_EVENT_RUNNING",
                                     "PI_EVENT_COMPLETE"};
    return status >= PI_EVENT_QUEUED && status <= PI_EVENT_COMPLETE
               ? names[status - PI_EVENT_QUEUED]
               : join("the unknown status ", status);
}

// "piEnqueueMemBufferFill (PI_EVENT_RUNNING)", as far as the event answers.
std::string command_of_event(pi_event event) {
    uint32_t type = 0;
    pi_event_status status = 0;
    const pi_result result =
        piEventGetInfo(event, PI_EVENT_INFO_COMMAND, sizeof type, &type, nullptr);
    const pi_result asked =
        piEventGetInfo(event, PI_EVENT_INFO_STATUS, sizeof status, &status, nullptr);
    return join(result == PI_SUCCESS ? command_name(type) : "an unknown command", " (",
                asked == PI_SUCCESS ? status_name(status) : "no status", ")");
}

} // namespace

Fixture::Fixture(const Setup &setup) : setup_(setup), random_(setup.seed) {
    platform_ = get_info<pi_platform>(&piDeviceGetInfo, setup.device, PI_DEVICE_INFO_PLATFORM);
    if (setup.peer == nullptr)
        return;
    src_.device = setup.device;
    dst_.device = setup.peer;
    std::vector<pi_device> devices{setup.device};
    if (setup.one_context && setup.peer != setup.device)
        devices.push_back(setup.peer);
    own_context_ = make_context(devices);
    if (!setup.one_context)
        peer_context_ = make_context({setup.peer});
    src_.context = own_context_;
    dst_.context = setup.one_context ? own_context_ : peer_context_;
}

std::vector<pi_device> Fixture::devices() const {
    uint32_t count = 0;
    require_success(piDevicesGet(platform_, PI_DEVICE_TYPE_ALL, 0, nullptr, &count),
                    "piDevicesGet for the count");
    std::vector<pi_device> list(count);
    require_success(piDevicesGet(platform_, PI_DEVICE_TYPE_ALL, count, list.data(), &count),
                    "piDevicesGet");
    std::erase(list, setup_.device);
    list.insert(list.begin(), setup_.device);
    return list;
}

uint64_t Fixture::capabilities(pi_device device) const {
    return get_info<uint64_t>(&piDeviceGetInfo, device != nullptr ? device : setup_.device,
                              PI_DEVICE_INFO_CAPABILITIES);
}

bool Fixture::can(uint64_t capability, pi_device device) const {
    return (capabilities(device) & capability) == capability;
}

void Fixture::need(uint64_t capability, const std::string &name, pi_device device) const {
    if (!can(capability, device))
        skip("the device does not have " + name);
}

std::vector<pi_memory_scope> Fixture::scopes(pi_device device) const {
    const pi_device of = device != nullptr ? device : setup_.device;
    uint32_t count = 0;
    require_success(piDeviceGetMemoryScopes(of, 0, nullptr, &count), "piDeviceGetMemoryScopes");
    std::vector<pi_memory_scope> list(count);
    require_success(piDeviceGetMemoryScopes(of, count, list.data(), nullptr),
                    "piDeviceGetMemoryScopes");
    return list;
}

uint64_t Fixture::at_most(uint64_t size, pi_device device) const {
    const auto most = info_or(&piDeviceGetInfo, device != nullptr ? device : setup_.device,
                              PI_DEVICE_INFO_MAX_ALLOCATION_SIZE, UINT64_MAX);
    return std::min(size, std::max<uint64_t>(most / 4, 1));
}

Relation Fixture::relation() const {
    const bool one_device = src_.device == dst_.device;
    if (src_.context == dst_.context)
        return one_device ? Relation::one_place : Relation::two_devices;
    return one_device ? Relation::two_contexts : Relation::two_devices_two_contexts;
}

pi_memory_connection Fixture::connection(const Place &src, const Place &dst) const {
    pi_memory_connection answer = PI_MEMORY_CONNECTION_NONE;
    require_success(
        piGetMemoryConnection(src.device, src.context, dst.device, dst.context, &answer),
        "piGetMemoryConnection");
    require(answer <= PI_MEMORY_CONNECTION_UNIFIED, "piGetMemoryConnection answered ", answer,
            ", which is not in the list");
    return answer;
}

uint64_t Fixture::random(uint64_t low, uint64_t high) {
    return std::uniform_int_distribution<uint64_t>(low, high)(random_);
}

Bytes Fixture::random_bytes(std::size_t size) {
    Bytes bytes(size);
    for (std::byte &byte : bytes)
        byte = static_cast<std::byte>(random_() >> 24);
    return bytes;
}

pi_context Fixture::context() {
    if (own_context_ == nullptr)
        own_context_ = make_context({setup_.device});
    return own_context_;
}

Context Fixture::make_context(const std::vector<pi_device> &devices) {
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = static_cast<uint32_t>(devices.size());
    desc.devices = devices.data();
    const auto platform =
        get_info<pi_platform>(&piDeviceGetInfo, devices.at(0), PI_DEVICE_INFO_PLATFORM);
    Context context;
    require_success(piContextCreate(platform, &desc, context.out()), "piContextCreate with ",
                    devices.size(), " devices");
    return context;
}

Queue Fixture::make_queue(uint64_t flags) {
    return make_queue(place(), flags);
}

Queue Fixture::make_queue(const Place &place, uint64_t flags) {
    auto desc = pi::desc<pi_queue_desc>();
    desc.flags = flags;
    Queue queue;
    require_success(piQueueCreate(place.context, place.device, &desc, queue.out()),
                    "piQueueCreate with flags ", flags);
    return queue;
}

Queue Fixture::make_out_of_order_queue() {
    const auto flags =
        get_info<uint64_t>(&piDeviceGetInfo, setup_.device, PI_DEVICE_INFO_QUEUE_FLAGS);
    if ((flags & PI_QUEUE_OUT_OF_ORDER) == 0)
        skip("the device has no out-of-order queues");
    return make_queue(PI_QUEUE_OUT_OF_ORDER);
}

Mem Fixture::make_buffer(uint64_t size) {
    return make_buffer(place(), size);
}

Mem Fixture::make_buffer(const Place &place, uint64_t size) {
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = size;
    return make_buffer(place, desc);
}

Mem Fixture::make_buffer(const Place &place, const pi_mem_buffer_desc &desc) {
    Mem mem;
    require_success(piMemBufferCreate(place.context, place.device, &desc, mem.out()),
                    "piMemBufferCreate of ", desc.size, " bytes");
    return mem;
}

Mem Fixture::make_buffer(const Place &place, const Bytes &bytes) {
    Mem mem = make_buffer(place, bytes.size());
    const Queue queue = make_queue(place);
    upload(queue, mem, bytes);
    return mem;
}

Mem Fixture::make_view(pi_mem mem, uint64_t offset, uint64_t size) {
    auto desc = pi::desc<pi_mem_partition_desc>();
    desc.offset = offset;
    desc.size = size;
    Mem view;
    require_success(piMemBufferPartition(mem, &desc, view.out()), "piMemBufferPartition of ", size,
                    " bytes at ", offset);
    return view;
}

Event Fixture::make_host_event() {
    return make_host_event(context());
}

Event Fixture::make_host_event(pi_context context) {
    Event event;
    require_success(piEventCreateHost(context, nullptr, event.out()), "piEventCreateHost");
    return event;
}

void Fixture::signal(pi_event event, pi_result result) {
    try {
        require_success(piEventSignalHost(event, result), "piEventSignalHost with ",
                        result_name(result));
    } catch (...) {
        piEventSignalHost(event, result); // or its waiters would never return
        throw;
    }
}

void Fixture::signal_after(pi_event event, const std::function<void()> &body) {
    std::exception_ptr failure;
    try {
        body();
    } catch (...) {
        failure = std::current_exception();
    }
    signal(event);
    if (failure != nullptr)
        std::rethrow_exception(failure);
}

void Fixture::wait(pi_event event, const std::string &what) {
    const pi_result result = wait_result(event, what);
    require_success(result, what);
}

void Fixture::wait(const Waits &events, const std::string &what) {
    for (const pi_event event : events)
        wait(event, what);
}

pi_result Fixture::wait_result(pi_event event, const std::string &what) {
    const pi_result result = piEventWait(event, patience_ns());
    require(result != PI_ERROR_TIMEOUT, hang_mark, what, ": ",
            result == PI_ERROR_TIMEOUT ? command_of_event(event) : "", " is not complete after ",
            patience().count(), " seconds");
    // If the wait failed, the command may still use memory that the test releases now. Another
    // thread waits for it, which leaves this thread's last error to the test.
    if (result != PI_SUCCESS && result != PI_ERROR_WOULD_BLOCK)
        std::thread([&] { piEventWait(event, patience_ns()); }).join();
    return result;
}

void Fixture::require_result(pi_event event, pi_result expected, const std::string &what) {
    const pi_result result = wait_result(event, what);
    if (result != PI_SUCCESS && result != expected)
        fail_at({nullptr, 0}, join(what, " is ", result_name(result), " (", last_error_text(),
                                   "), should be ", result_name(expected)));
    require_equal(result, expected, what);
}

void Fixture::wait(Flag &flag, const std::string &what) {
    require(flag.wait_for(patience()), what, ": not within ", patience().count(), " seconds");
}

bool Fixture::is_complete(pi_event event) {
    return get_info<pi_event_status>(&piEventGetInfo, event, PI_EVENT_INFO_STATUS) ==
           PI_EVENT_COMPLETE;
}

void Fixture::upload(pi_queue queue, pi_mem mem, const Bytes &bytes, uint64_t offset) {
    wait(write(queue, mem, offset, bytes), "writing a buffer");
}

Bytes Fixture::download(pi_queue queue, pi_mem mem, uint64_t size, uint64_t offset) {
    Bytes bytes(size, std::byte{0xCD});
    wait(read(queue, mem, offset, bytes), "reading a buffer");
    return bytes;
}

void Fixture::require_contents(pi_queue queue, pi_mem mem, const Bytes &expected,
                               const std::string &what) {
    const Bytes is = download(queue, mem, expected.size());
    require_same_bytes(is.data(), expected.data(), expected.size(), what);
}

void Fixture::run_threads(unsigned count, const std::function<void(unsigned)> &function) {
    Flag begin;
    std::vector<std::exception_ptr> failures(count);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
            begin.wait_for(patience());
            try {
                function(i);
            } catch (...) {
                failures[i] = std::current_exception();
            }
        });
    }
    begin.set();
    for (std::thread &thread : threads)
        thread.join();
    for (const std::exception_ptr &failure : failures) {
        if (failure != nullptr)
            std::rethrow_exception(failure);
    }
}

std::shared_ptr<Flag> Fixture::on_complete(pi_event event,
                                           std::function<void(pi_event, pi_result)> function) {
    return setup_.callbacks->set(event, std::move(function));
}

void Fixture::check_callbacks() {
    const std::string problem = setup_.callbacks->problem();
    if (!problem.empty())
        throw Failure{problem};
}

} // namespace pi::suite
