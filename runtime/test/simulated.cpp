// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "simulated.hpp"

#include "fault_sweep.hpp"
#include "one_plugin.hpp"

#include <array>

namespace runtime_test {

std::string shipped_machine(const std::string &name) {
    return std::string(PI_TEST_MACHINES) + "/" + name + ".json";
}

namespace {

pi_test::Owned<pi_loader> load(const std::string &machine, const std::string &faults,
                               std::vector<const char *> layers, const char *plugin) {
    std::vector<pi_loader_option> options{{"PI_SIM_MACHINE", machine.c_str()}};
    if (faults.empty()) {
        return pi_test::load_one_plugin(plugin, options, {.layers = layers, .limit = 0});
    }
    options.push_back({"PI_FAULT", faults.c_str()});
    layers.push_back("fault");
    // Does not wait for what a fault leaves.
    return pi_test::load_one_plugin(plugin, options,
                                    {.layers = layers, .teardown_timeout = 1, .limit = 0});
}

} // namespace

Simulated::Simulated(const std::string &path, uint32_t contexts, const std::string &faults,
                     std::vector<const char *> layers, bool verified, const char *plugin)
    : loader_(load(path, faults, std::move(layers), plugin)) {
    std::array<pi_device, 32> devices{};
    uint32_t count = devices.size();
    check(piLoaderSelectDevices(loader_, nullptr, count, devices.data(), &count),
          "piLoaderSelectDevices");
    pi_platform platform = nullptr;
    check(piDeviceGetInfo(devices[0], PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, nullptr),
          "piDeviceGetInfo(PLATFORM)");
    check(piPlatformGetInfo(platform, PI_PLATFORM_INFO_PLUGIN, sizeof plugin_, &plugin_, nullptr),
          "piPlatformGetInfo(PLUGIN)");
    const void *table = nullptr;
    check(piPluginGetExtension(plugin_, PI_SIM_V1, sizeof(pi_sim_v1), &table),
          "piPluginGetExtension");
    sim_ = static_cast<const pi_sim_v1 *>(table);
    place_of_["host"] = host_place;
    std::vector<std::string> names;
    for (uint32_t index = 0; index < count; ++index) {
        char name[64] = "";
        check(piDeviceGetInfo(devices[index], PI_DEVICE_INFO_NAME, sizeof name, name, nullptr),
              "piDeviceGetInfo(NAME)");
        names.emplace_back(name);
        place_of_[name] = 1 + index;
    }
    for (uint32_t context = 1; context < contexts; ++context) {
        for (uint32_t index = 0; index < count; ++index) {
            names.push_back(names[index] + " (" + std::to_string(context + 1) + ")");
        }
    }
    const std::vector<std::vector<pi_device>> groups(
        contexts, std::vector<pi_device>(devices.begin(), devices.begin() + count));
    topology_ = Topology::from_groups(groups, names);
    queues_.resize(topology_->size());
    for (PlaceIndex place = 1; place < topology_->size(); ++place) {
        queues_[place] = make_queue(place);
    }
    if (verified) {
        code_of([&] { Runtime(topology_).verify_connections(); }); // as far as memory allows
        reset_links();
    }
}

std::vector<PlaceIndex> Simulated::places() const {
    std::vector<PlaceIndex> result;
    for (PlaceIndex place = 1; place < topology_->size(); ++place) {
        result.push_back(place);
    }
    return result;
}

uint64_t Simulated::calls_of(const std::string &function) const {
    return pi_test::calls_of(loader_, function);
}

Queue Simulated::make_queue(PlaceIndex place) const {
    auto desc = pi::desc<pi_queue_desc>();
    desc.flags = PI_QUEUE_PROFILING;
    Queue queue;
    check(piQueueCreate(topology_->context(place), topology_->device(place), &desc, queue.out()),
          "piQueueCreate");
    return queue;
}

std::map<std::pair<PlaceIndex, PlaceIndex>, uint64_t> Simulated::link_bytes() const {
    uint32_t count = 0;
    check(sim_->get_links(plugin_, 0, nullptr, &count), "get_links");
    std::vector<pi_sim_link> links(count);
    check(sim_->get_links(plugin_, count, links.data(), &count), "get_links");
    std::map<std::pair<PlaceIndex, PlaceIndex>, uint64_t> bytes;
    for (const pi_sim_link &link : links) {
        bytes[{place_of_.at(link.from), place_of_.at(link.to)}] += link.bytes;
    }
    return bytes;
}

uint64_t Simulated::moved() const {
    uint64_t sum = 0;
    for (const auto &[link, bytes] : link_bytes()) {
        sum += bytes;
    }
    return sum;
}

void Simulated::reset_links() const {
    check(sim_->reset_links(plugin_), "reset_links");
}

Event Simulated::fill(const Acquisition &acquisition, uint8_t value, pi_event after) const {
    std::vector<pi_event> waits = acquisition.events(queue(acquisition.place()));
    if (after != nullptr) {
        waits.push_back(after);
    }
    return enqueue_fill(queue(acquisition.place()), acquisition, value, waits);
}

Event Simulated::read(const Acquisition &acquisition, void *bytes) const {
    return enqueue_read(queue(acquisition.place()), acquisition, bytes);
}

Event Simulated::arrive(const Acquisition &acquisition, pi_queue queue) const {
    auto desc = pi::desc<pi_barrier_desc>();
    Event event;
    const std::vector<pi_event> &waits = acquisition.events(queue);
    check(piEnqueueBarrier(queue, &desc, static_cast<uint32_t>(waits.size()), waits.data(),
                           event.out()),
          "piEnqueueBarrier");
    return event;
}

uint64_t Simulated::arrival(const Acquisition &acquisition) const {
    const Event event = arrive(acquisition, queue(acquisition.place()));
    check(runtime_test::wait(event), "piEventWait");
    return end_of(event);
}

uint64_t Simulated::end_of(const Event &event) const {
    uint64_t time = 0;
    check(piEventGetProfilingInfo(event.get(), PI_PROFILING_END, sizeof time, &time, nullptr),
          "piEventGetProfilingInfo");
    return time;
}

uint64_t Simulated::pass_time() const {
    uint64_t time = 0;
    check(sim_->pass_time(plugin_, &time), "pass_time");
    return time;
}

} // namespace runtime_test
