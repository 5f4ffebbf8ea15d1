// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "live_machine.hpp"
#include "objects.hpp"
#include "text_file.hpp"

#include <pi/pi_native_kernel.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace law_test {
namespace {

void PI_CALL run_job(const pi_native_group *, void *const *arguments) {
    Job *job = nullptr;
    std::memcpy(&job, arguments[1], sizeof job);
    auto *const bytes = static_cast<uint8_t *>(arguments[0]) + job->offset;
    std::copy_n(bytes, job->seen.size(), job->seen.begin());
    std::copy(job->fresh.begin(), job->fresh.end(), bytes + job->fresh_offset);
}

pi_kernel make_kernel(pi_context context) {
    static constexpr pi_native_kernel kernels[] = {{"job", run_job, 2, 0}};
    static constexpr pi_native_program table = {sizeof table, 1, kernels};
    auto desc = pi_test::desc<pi_program_desc>(PI_TYPE_PROGRAM_DESC);
    desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    desc.data = &table;
    desc.size = sizeof table;
    pi_program program = nullptr;
    pi_kernel kernel = nullptr;
    check(piProgramCreate(context, &desc, &program), "piProgramCreate");
    check(piProgramBuild(program, nullptr), "piProgramBuild");
    check(piKernelCreate(program, "job", &kernel), "piKernelCreate");
    check(piProgramRelease(program), "piProgramRelease");
    return kernel;
}

pi_loader make_loader(const std::string &machine, bool host_plugin, const std::string &trace) {
    const char *const plugins[] = {PI_TEST_SIM_PLUGIN, PI_TEST_HOST_PLUGIN};
    const pi_loader_option options[] = {{"PI_SIM_MACHINE", machine.c_str()},
                                        {"PI_TRACE_FILE", trace.c_str()}};
    const char *const layers[] = {"trace"};
    auto desc = pi_test::desc<pi_loader_desc>(PI_TYPE_LOADER_DESC);
    desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = plugins;
    desc.plugin_count = host_plugin ? 2 : 1;
    desc.layers = layers;
    desc.layer_count = trace.empty() ? 0 : 1;
    desc.options = options;
    desc.option_count = trace.empty() ? 1 : 2;
    desc.log = [](uint32_t, const char *, void *) {};
    desc.teardown_timeout = 60'000;
    pi_loader loader = nullptr;
    check(piLoaderCreate(&desc, &loader), "piLoaderCreate");
    return loader;
}

/// sim's first, in the order of the file.
std::vector<pi_device> find_devices(pi_loader loader, uint32_t expected, pi_plugin &sim) {
    pi_plugin_report reports[2];
    uint32_t plugins = 0;
    check(piLoaderGetReports(loader, 2, reports, &plugins), "piLoaderGetReports");
    std::vector<pi_device> devices;
    for (uint32_t index = 0; index < plugins; ++index) {
        if (reports[index].status != PI_PLUGIN_LOADED) {
            throw Failure{std::string(reports[index].name) + ": " + reports[index].reason};
        }
        pi_platform platform = nullptr;
        uint32_t count = 0;
        check(piPlatformsGet(reports[index].plugin, 1, &platform, &count), "piPlatformsGet");
        pi_device found[16];
        check(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 16, found, &count), "piDevicesGet");
        const bool is_sim = reports[index].name == std::string("sim");
        devices.insert(is_sim ? devices.begin() : devices.end(), found, found + count);
        sim = is_sim ? reports[index].plugin : sim;
    }
    if (devices.size() != expected) {
        throw Failure{"the machine has " + std::to_string(devices.size()) + " devices, not " +
                      std::to_string(expected)};
    }
    return devices;
}

} // namespace

LiveMachine::LiveMachine(const MachineFile &file, const std::string &trace) {
    const pi_test::TextFile text(file.text());
    loader_ = make_loader(text.path(), file.has_host_plugin(), trace);
    const uint32_t each = (file.places() - 1) / file.contexts();
    const std::vector<pi_device> devices = find_devices(loader_, each, plugin_);
    const std::vector<std::vector<pi_device>> groups(file.contexts(), devices);
    std::vector<std::string> names;
    for (PlaceIndex place = 1; place < file.places(); ++place) {
        names.push_back(file.name(place));
    }
    topology_ = Topology::from_groups(groups, names);
    kernels_.resize(topology_->size());
    for (PlaceIndex place = 1; place < topology_->size(); ++place) {
        kernels_[place] = make_kernel(topology_->context(place));
    }
    const void *table = nullptr;
    check(piPluginGetExtension(plugin_, PI_SIM_V1, sizeof *sim_, &table), "piPluginGetExtension");
    sim_ = static_cast<const pi_sim_v1 *>(table);
}

LiveMachine::~LiveMachine() {
    for (pi_kernel kernel : kernels_) {
        if (kernel != nullptr) {
            piKernelRelease(kernel);
        }
    }
    topology_.reset();
    piLoaderRelease(loader_);
}

Queue LiveMachine::make_queue(PlaceIndex place) const {
    Queue queue;
    check(piQueueCreate(topology_->context(place), topology_->device(place), nullptr, queue.out()),
          "piQueueCreate");
    return queue;
}

Event LiveMachine::launch(pi_queue queue, const Acquisition &use, Job &job) const {
    Job *const pointer = &job;
    job.offset = use.offset();
    pi_kernel_argument arguments[2]{};
    arguments[0].kind = PI_ARGUMENT_BUFFER; // all of it: not every place takes any offset
    arguments[0].mem = use.mem();
    arguments[1].kind = PI_ARGUMENT_VALUE;
    arguments[1].value = &pointer;
    arguments[1].size = sizeof pointer;
    auto desc = pi_test::desc<pi_kernel_launch_desc>(PI_TYPE_KERNEL_LAUNCH_DESC);
    desc.kernel = kernels_[use.place()];
    desc.dimensions = 1;
    desc.global_size[0] = 1;
    desc.argument_count = 2;
    desc.arguments = arguments;
    Event event;
    const std::vector<pi_event> &waits = use.events();
    check(piEnqueueKernelLaunch(queue, &desc, static_cast<uint32_t>(waits.size()),
                                waits.empty() ? nullptr : waits.data(), event.out()),
          "piEnqueueKernelLaunch");
    return event;
}

uint64_t LiveMachine::link_bytes() const {
    uint32_t count = 0;
    check(sim_->get_links(plugin_, 0, nullptr, &count), "get_links");
    std::vector<pi_sim_link> links(count);
    check(sim_->get_links(plugin_, count, links.data(), &count), "get_links");
    uint64_t bytes = 0;
    for (const pi_sim_link &link : links) {
        bytes += link.bytes;
    }
    return bytes;
}

uint64_t traced_bytes(const std::string &trace) {
    std::ifstream file(trace);
    const auto events = nlohmann::json::parse(file);
    uint64_t bytes = 0;
    for (const auto &event : events.is_array() ? events : events.at("traceEvents")) {
        const std::string name = event.value("cat", "") == "command" ? event.value("name", "") : "";
        if ((name == "MemBufferRead" || name == "MemBufferWrite" || name == "MemBufferCopy") &&
            event.contains("args")) { // the end of a command has none
            bytes += event["args"]["bytes"].get<uint64_t>();
        }
    }
    return bytes;
}

} // namespace law_test
