// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include "native_kernel.hpp"

#include <memory>

namespace sim_test {

Owned<pi_loader> make_loader(const std::string &machine_path) {
    return load_one_plugin(PI_TEST_SIM_PLUGIN, {{"PI_SIM_MACHINE", machine_path.c_str()}},
                           {.log = no_log});
}

std::string refusal(const std::string &machine_path) {
    return why_unavailable(make_loader(machine_path), "sim");
}

Simulation::Simulation(const std::string &json)
    : PlatformFixture(make_loader(TextFile(json).path())) {
    const void *table = nullptr;
    OK(piPluginGetExtension(plugin, PI_SIM_V1, sizeof(pi_sim_v1), &table));
    sim = static_cast<const pi_sim_v1 *>(table);
}

uint64_t Simulation::now() const {
    uint64_t time = 0;
    OK(sim->get_time(plugin, &time));
    return time;
}

pi_sim_link Simulation::link(const std::string &from, const std::string &to) const {
    uint32_t count = 0;
    OK(sim->get_links(plugin, 0, nullptr, &count));
    std::vector<pi_sim_link> links(count);
    OK(sim->get_links(plugin, count, links.data(), &count));
    for (const pi_sim_link &link : links)
        if (link.from == from && link.to == to)
            return link;
    FAIL("there is no link from " << from << " to " << to);
    return {};
}

Times times_of(pi_event event) {
    OK(piEventWait(event, patience));
    Times times{};
    OK(piEventGetProfilingInfo(event, PI_PROFILING_SUBMIT, 8, &times.submit, nullptr));
    OK(piEventGetProfilingInfo(event, PI_PROFILING_START, 8, &times.start, nullptr));
    OK(piEventGetProfilingInfo(event, PI_PROFILING_END, 8, &times.end, nullptr));
    return times;
}

Owned<pi_event> copy(pi_queue queue, pi_mem src, pi_mem dst, uint64_t size, const Waits &waits) {
    const pi_region region = range(0, 0, size);
    const auto d = copy_desc(src, dst, region);
    Owned<pi_event> event;
    OK(piEnqueueMemBufferCopy(queue, &d, static_cast<uint32_t>(waits.size()), waits.data(),
                              event.out()));
    return event;
}

Owned<pi_event> write(pi_queue queue, pi_mem mem, const Bytes &bytes, const Waits &waits) {
    auto kept = std::make_unique<Bytes>(bytes);
    const pi_region region = range(0, 0, bytes.size());
    const auto d = write_desc(mem, kept->data(), region);
    Owned<pi_event> event;
    OK(piEnqueueMemBufferWrite(queue, &d, static_cast<uint32_t>(waits.size()), waits.data(),
                               event.out()));
    OK(piEventSetCallback(
        event, [](pi_event, pi_result, void *user_data) { delete static_cast<Bytes *>(user_data); },
        kept.get()));
    static_cast<void>(kept.release()); // the callback's
    return event;
}

Bytes read(pi_queue queue, pi_mem mem, uint64_t size) {
    return read_items<std::byte>(queue, mem, size);
}

namespace {

void PI_CALL add_one(const pi_native_group *group, void *const *arguments) {
    auto *bytes = static_cast<uint8_t *>(arguments[0]);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        ++bytes[i];
}

constexpr pi_native_kernel kernels[] = {{"add_one", add_one, 1, 0}};
constexpr pi_native_program program = {sizeof program, 1, kernels};

} // namespace

Owned<pi_kernel> make_add_one(pi_context context) {
    return make_kernel(make_program(context, program), "add_one");
}

Owned<pi_event> launch(pi_queue queue, pi_kernel kernel, pi_mem mem, uint64_t items,
                       uint64_t offset, const Waits &waits) {
    const pi_kernel_argument argument = buffer_argument(mem, offset);
    const pi_kernel_launch_desc d = launch_desc(kernel, items, &argument, 1);
    Owned<pi_event> event;
    OK(piEnqueueKernelLaunch(queue, &d, static_cast<uint32_t>(waits.size()), waits.data(),
                             event.out()));
    return event;
}

std::string two_gpus(const std::string &more) {
    const auto gpu = [](const std::string &name) {
        return R"({"name": ")" + name + R"(", "type": "gpu", "bandwidth": "10 GB/s",
            "kernel": {"launch_time": 200, "item_time": 2}, "kernels": {"fast": {"launch_time": 7}},
            "scopes": [{"name": "global", "capacity": "1 MiB"}]})";
    };
    return R"({"pi_machine": 1, "name": "two gpus", "devices": [)" + gpu("a") + ", " + gpu("b") +
           R"(], "links": [
        {"from": "host", "to": "a", "bandwidth": "1 GB/s", "latency": 100},
        {"from": "a", "to": "host", "bandwidth": "1 GB/s", "latency": 100},
        {"from": "host", "to": "b", "bandwidth": "1 GB/s", "latency": 100},
        {"from": "b", "to": "host", "bandwidth": "1 GB/s", "latency": 100},
        {"between": ["a", "b"], "connection": "migratable", "bandwidth": "2 GB/s",
            "latency": 50}])" +
           (more.empty() ? "" : ", " + more) + "}";
}

} // namespace sim_test
