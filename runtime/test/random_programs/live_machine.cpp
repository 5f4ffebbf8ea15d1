// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "live_machine.hpp"
#include "objects.hpp"
#include "temporary.hpp"

#include <pi/pi_native_kernel.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace random_programs {
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
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    desc.data = &table;
    desc.size = sizeof table;
    pi_program program = nullptr;
    pi_kernel kernel = nullptr;
    check(piProgramCreate(context, &desc, &program), "piProgramCreate");
    check(piProgramBuild(program, nullptr), "piProgramBuild");
    check(piKernelCreate(program, "job", nullptr, &kernel), "piKernelCreate");
    check(piProgramRelease(program), "piProgramRelease");
    return kernel;
}

pi_loader make_loader(const std::vector<const char *> &plugins,
                      std::vector<pi_loader_option> options, const std::string &trace,
                      uint64_t flags = PI_LOADER_IGNORE_ENVIRONMENT) {
    const char *const layers[] = {"trace"};
    if (!trace.empty()) {
        options.push_back({"PI_TRACE_FILE", trace.c_str()});
    }
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = flags | PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = plugins.data();
    desc.plugin_count = static_cast<uint32_t>(plugins.size());
    desc.layers = layers;
    desc.layer_count = trace.empty() ? 0 : 1;
    desc.options = options.data();
    desc.option_count = static_cast<uint32_t>(options.size());
    desc.log = [](uint32_t, const char *, void *) {};
    desc.teardown_timeout = 60'000;
    pi_loader loader = nullptr;
    check(piLoaderCreate(&desc, &loader), "piLoaderCreate");
    return loader;
}

pi_loader make_sim_loader(const MachineFile &file, const std::string &trace) {
    const pi_test::TextFile machine(file.text());
    std::vector<const char *> plugins{PI_TEST_SIM_PLUGIN};
    if (file.has_host_plugin()) {
        plugins.push_back(PI_TEST_HOST_PLUGIN);
    }
    return make_loader(plugins, {{"PI_SIM_MACHINE", machine.path().c_str()}}, trace);
}

/// The devices of all plugins, in the order of the plugins and of their reports.
std::vector<pi_device> find_devices(const std::vector<pi_plugin> &plugins) {
    std::vector<pi_device> devices;
    for (pi_plugin plugin : plugins) {
        pi_platform platforms[16];
        uint32_t platform_count = 0;
        check(piPlatformsGet(plugin, 16, platforms, &platform_count), "piPlatformsGet");
        for (uint32_t platform = 0; platform < platform_count; ++platform) {
            pi_device found[16];
            uint32_t count = 0;
            check(piDevicesGet(platforms[platform], PI_DEVICE_TYPE_ALL, 16, found, &count),
                  "piDevicesGet");
            devices.insert(devices.end(), found, found + count);
        }
    }
    return devices;
}

/// All plugins; the one with that name comes first.
std::vector<pi_plugin> find_plugins(pi_loader loader, const std::string &first) {
    pi_plugin_report reports[2];
    uint32_t count = 0;
    check(piLoaderGetReports(loader, 2, reports, &count), "piLoaderGetReports");
    std::vector<pi_plugin> plugins;
    for (uint32_t index = 0; index < count; ++index) {
        if (reports[index].status != PI_PLUGIN_LOADED) {
            throw Failure{std::string(reports[index].name) + ": " + reports[index].reason};
        }
        plugins.insert(reports[index].name == first ? plugins.begin() : plugins.end(),
                       reports[index].plugin);
    }
    return plugins;
}

pi_region region(uint64_t pi_region::*side, uint64_t offset, uint64_t size) {
    pi_region one{};
    one.*side = offset; // the other side begins at the pointer
    one.extent[0] = size;
    return one;
}

/// A read or a write of one region.
template <class Desc, class Function, class Pointer>
Event enqueue(Function function, pi_queue queue, const std::vector<pi_event> &waits, pi_mem mem,
              Pointer host, const pi_region &region) {
    auto desc = pi::desc<Desc>();
    desc.mem = mem;
    desc.host_ptr = host;
    desc.region_count = 1;
    desc.regions = &region;
    Event event;
    check(function(queue, &desc, static_cast<uint32_t>(waits.size()),
                   waits.empty() ? nullptr : waits.data(), event.out()),
          "a command of the application");
    return event;
}

} // namespace

LiveMachine::LiveMachine(const MachineFile &file, const std::string &trace)
    : loader_(make_sim_loader(file, trace)) {
    const std::vector<pi_plugin> plugins = find_plugins(loader_, "sim");
    const std::vector<pi_device> devices = find_devices(plugins);
    if (devices.size() * file.contexts() + 1 != file.places()) {
        throw Failure{"the machine has " + std::to_string(devices.size()) + " devices, not " +
                      std::to_string((file.places() - 1) / file.contexts())};
    }
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
    plugin_ = plugins.front();
    const void *table = nullptr;
    check(piPluginGetExtension(plugin_, PI_SIM_V1, sizeof *sim_, &table), "piPluginGetExtension");
    sim_ = static_cast<const pi_sim_v1 *>(table);
}

LiveMachine::LiveMachine(const std::string &plugin, uint32_t contexts, const std::string &trace)
    : loader_(make_loader({plugin.c_str()}, {}, trace, 0)) {
    const std::vector<pi_device> devices = find_devices(find_plugins(loader_, ""));
    topology_ = Topology::from_groups(std::vector<std::vector<pi_device>>(contexts, devices));
    kernels_.resize(topology_->size());
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
    if (kernels_[use.place()] != nullptr) {
        return run_kernel(queue, use, job);
    }
    Event seen;
    if (!job.seen.empty()) {
        seen = enqueue<pi_buffer_read_desc>(
            &piEnqueueMemBufferRead, queue, use.events(), use.mem(), job.seen.data(),
            region(&pi_region::src_offset, use.offset(), job.seen.size()));
        application_bytes_ += job.seen.size();
    }
    if (job.fresh.empty()) {
        return seen;
    }
    const std::vector<pi_event> waits = seen ? std::vector<pi_event>{seen.get()} : use.events();
    Event written = enqueue<pi_buffer_write_desc>(
        &piEnqueueMemBufferWrite, queue, waits, use.mem(), job.fresh.data(),
        region(&pi_region::dst_offset, use.offset() + job.fresh_offset, job.fresh.size()));
    application_bytes_ += job.fresh.size();
    return written;
}

Event LiveMachine::run_kernel(pi_queue queue, const Acquisition &use, Job &job) const {
    Job *const pointer = &job;
    job.offset = use.lead();
    pi_kernel_argument arguments[2]{};
    arguments[0] = use.argument();
    arguments[1].kind = PI_ARGUMENT_VALUE;
    arguments[1].value = &pointer;
    arguments[1].size = sizeof pointer;
    auto desc = pi::desc<pi_kernel_launch_desc>();
    desc.kernel = kernels_[use.place()];
    desc.dimensions = 1;
    desc.global_size[0] = 1;
    desc.argument_count = 2;
    desc.arguments = arguments;
    Event event;
    const std::vector<pi_event> &waits = use.events(queue);
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
        if (name == "MemBufferRead" || name == "MemBufferWrite" || name == "MemBufferCopy") {
            bytes += event["args"]["bytes"].get<uint64_t>();
        }
    }
    return bytes;
}

} // namespace random_programs
