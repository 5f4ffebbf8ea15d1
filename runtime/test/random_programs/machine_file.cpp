// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine_file.hpp"

#include <algorithm>
#include <fstream>
#include <map>

namespace random_programs {
namespace {

using Json = nlohmann::json;

// Two latencies that every cost model orders the same way, over one link or two.
constexpr const char *fast = "10 us";
constexpr const char *slow = "10 ms";

/// What each command of a bounce costs in addition, in the runtime's cost table.
constexpr double callback_seconds = pi::runtime::CostModel{}.callback_latency;
/// The largest storage.
constexpr double largest_transfer = 32 << 10;

double number(const Json &value, const std::map<std::string, double> &units) {
    if (value.is_number()) {
        return value.get<double>();
    }
    const auto text = value.get<std::string>();
    std::size_t end = 0;
    const double figure = std::stod(text, &end);
    return figure * units.at(text.substr(text.find_first_not_of(' ', end)));
}

double seconds(const Json &object) {
    static const std::map<std::string, double> units{
        {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    return object.contains("latency") ? 1e-9 * number(object["latency"], units) : 0;
}

double bytes_a_second(const Json &object) {
    static const std::map<std::string, double> units{
        {"B/s", 1}, {"KB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
    return object.contains("bandwidth") ? number(object["bandwidth"], units) : 0;
}

Json shipped(const std::string &name) {
    std::ifstream file(std::string(PI_TEST_MACHINES "/") + name + ".json");
    return Json::parse(file);
}

Json made_up_device(Draw &draw, uint64_t index) {
    Json scope{{"name", "global"}, {"capacity", "1 GiB"}, {"flags", {"poolable"}}};
    scope["offset_alignment"] = draw.coin() ? 128 : 1;
    Json device{{"name", "device" + std::to_string(index)}, {"type", "gpu"}};
    const uint64_t kind = draw(0, 6);
    if (kind == 4) { // the host's memory, coherent; kind 6 needs map and unmap
        scope["flags"] = {"host_visible", "coherent"};
    } else if (kind == 5) { // needs flush and invalidate
        scope["flags"] = {"host_visible"};
        scope["flush_atom"] = draw.coin() ? 64 : 1;
    }
    device["integrated"] = kind >= 4;
    device["host_pointer_import"] = kind >= 3;
    device["host_pointer_alignment"] = draw.coin() ? 4096 : 1;
    device["other_context"] = draw.coin() ? "none" : "unified";
    device["scopes"] = {scope};
    return device;
}

Json made_up_link(const std::string &from, const std::string &to, const char *latency) {
    return {{"from", from}, {"to", to}, {"latency", latency}, {"bandwidth", "12 GB/s"}};
}

/// Some pairs of devices (of one team) use each other's memory, some copy over a fast or a slow
/// link, some have no connection.
Json made_up(Draw &draw) {
    Json machine{{"pi_machine", 1}, {"name", "made up"}};
    const uint64_t count = draw(1, 4);
    const uint64_t teams = draw(0, 15);
    const uint64_t pairs = draw(0, UINT16_MAX);
    for (uint64_t index = 0; index < count; ++index) {
        machine["devices"].push_back(made_up_device(draw, index));
        const std::string name = machine["devices"][index]["name"];
        machine["links"].push_back(made_up_link("host", name, fast));
        machine["links"].push_back(made_up_link(name, "host", fast));
        for (uint64_t other = 0; other < index; ++other) {
            const bool unified =
                (teams >> index & 1) != 0 && (teams >> other & 1) != 0 && teams < 8;
            const uint64_t kind = pairs >> 2 * (index + other) & 3;
            if (!unified && kind == 0) {
                continue;
            }
            Json link{{"between", {machine["devices"][other]["name"], name}},
                      {"latency", kind == 1 ? slow : fast},
                      {"bandwidth", "12 GB/s"},
                      {"connection", unified ? "unified" : "migratable"}};
            if (unified) {
                link["residency"] = "remote_access";
                link["coherence"] = "coherent";
                link["concurrent_writers"] = kind >= 2 ? "disjoint_bytes" : "none";
            }
            machine["links"].push_back(link);
        }
    }
    return machine;
}

} // namespace

MachineFile MachineFile::draw(Draw &draw, Trouble trouble, uint64_t capacity, uint64_t actors) {
    static const std::vector<std::string> names{"made up",     "made up",       "workstation",
                                                "switch-8gpu", "apu",           "dsp",
                                                "cma-board",   "bounce-faster", "dual-socket"};
    MachineFile file;
    const std::string &name = draw.one_of(names);
    file.json_ = name == "made up" ? made_up(draw) : shipped(name);
    if (has_pressure(trouble)) {
        for (Json &device : file.json_["devices"]) {
            device["scopes"][0]["capacity"] = capacity;
        }
    }
    if (trouble != Trouble::none) { // the models cannot predict these commands' bytes
        for (Json &device : file.json_["devices"]) {
            if (device.value("host_pointer_import", false)) {
                device["host_pointer_copies"] = draw.coin();
            }
        }
    }
    file.simulated_ = static_cast<uint32_t>(file.json_["devices"].size());
    file.others_ = draw(0, 3) == 1 ? 1 : 0;
    file.contexts_ = draw(0, 3) == 1 ? 2 : 1;
    file.words_ = name + (file.others_ != 0 ? ", and the host plugin" : "") +
                  (file.contexts_ > 1 ? ", in two contexts" : "");
    if (has_faults(trouble)) {
        file.add_faults(draw, actors);
    }
    if (name == "made up" || trouble != Trouble::none) {
        file.words_ += ": " + file.text();
    }
    file.read_links();
    file.find_sharing();
    return file;
}

MachineFile MachineFile::unknown(uint32_t devices, uint32_t contexts) {
    MachineFile file;
    file.others_ = devices;
    file.contexts_ = contexts;
    file.words_ =
        std::to_string(devices) + " real devices" + (contexts > 1 ? ", in two contexts" : "");
    file.find_sharing();
    return file;
}

void MachineFile::add_faults(Draw &draw, uint64_t actors) {
    static constexpr const char *functions[] = {"piMemBufferCreate",
                                                "piEnqueueMemBufferRead",
                                                "piEnqueueMemBufferWrite",
                                                "piEnqueueMemBufferCopy",
                                                "piEnqueueMemBufferMap",
                                                "piEnqueueMemUnmap",
                                                "piEnqueueKernelLaunch",
                                                "piMemImport",
                                                "piMemFlush",
                                                "piMemInvalidate",
                                                "piQueueFlush",
                                                "piEventCreateHost",
                                                "piEventSetCallback",
                                                "piQueueCreate"};
    static constexpr const char *results[] = {"backend", "out_of_device_memory",
                                              "out_of_host_memory", "device_lost"};
    json_["faults"] = Json::array();
    const uint64_t count = draw(0, 2);
    for (uint64_t index = 0; index < count; ++index) {
        const std::string function = draw.one_of(functions);
        // The test's own queues are created first.
        const uint64_t setup = function == "piQueueCreate" ? actors * simulated_ * contexts_ : 0;
        Json fault{{"function", function},
                   {"call", setup + draw(1, 60)},
                   {"count", draw(1, 3)},
                   {"result", draw.one_of(results)}};
        if (function.starts_with("piEnqueue") && draw.coin()) {
            fault["part"] = 0.5;
        }
        json_["faults"].push_back(fault);
    }
    if (const uint64_t lost = draw(0, 2 * simulated_); lost > 0 && lost <= simulated_) {
        json_["devices"][lost - 1]["lost_at"] = std::to_string(draw(1, 4000)) + " us";
    }
}

void MachineFile::read_links() {
    links_.resize(std::size_t{simulated_ + 1} * (simulated_ + 1));
    std::map<std::string, uint32_t> numbers{{"host", simulated_}};
    for (uint32_t index = 0; index < simulated_; ++index) {
        numbers[json_["devices"][index]["name"]] = index;
    }
    const auto add = [&](const std::string &from, const std::string &to, const Json &text) {
        Link &one = link(numbers.at(from), numbers.at(to));
        one.connection = text.value("connection", "none");
        one.imported = text.value("imported", one.connection);
        one.latency = seconds(text);
        one.bandwidth = bytes_a_second(text);
    };
    for (const Json &text : json_.value("links", Json::array())) {
        if (text.contains("from")) {
            add(text["from"], text["to"], text);
            continue;
        }
        for (const std::string from : text["between"]) {
            for (const std::string to : text["between"]) {
                if (from != to) {
                    add(from, to, text);
                }
            }
        }
    }
    for (uint32_t index = 0; index < simulated_; ++index) {
        for (Link *one : {&link(index, simulated_), &link(simulated_, index)}) {
            if (one->bandwidth == 0 && json_.contains("host")) {
                one->latency = seconds(json_["host"]);
                one->bandwidth = bytes_a_second(json_["host"]);
            }
        }
    }
}

std::string MachineFile::name(PlaceIndex place) const {
    if (place == host_place) {
        return "the host";
    }
    const std::string name = simulated(place) ? described(place)["name"].get<std::string>()
                             : is_known()     ? "the host plugin"
                                              : "device " + std::to_string(device(place));
    return name + (context(place) == 0 ? "" : "'");
}

bool MachineFile::simulated(PlaceIndex place) const {
    return place != host_place && device(place) < simulated_;
}

bool MachineFile::may_be_lost(PlaceIndex place) const {
    return simulated(place) && (described(place).contains("lost_at") || faults_may_convict());
}

/// When a command returns DEVICE_LOST, the runtime probes the device with a command on a new queue;
/// a second DEVICE_LOST means that the device is lost. No fault hits the probe command itself.
bool MachineFile::faults_may_convict() const {
    uint64_t answers = 0;
    bool of_queues = false;
    for (const Json &fault : json_.value("faults", Json::array())) {
        if (fault["result"] == "device_lost") {
            answers += fault["count"].get<uint64_t>();
            of_queues |= fault["function"] == "piQueueCreate";
        }
    }
    return of_queues && answers > 1;
}

std::string MachineFile::connection(PlaceIndex from, PlaceIndex to, bool imported) const {
    if (simulated(from) != simulated(to)) {
        return "none"; // of two plugins
    }
    if (!simulated(from)) {
        return "unified";
    }
    const Link &one = link(device(from), device(to));
    const std::string base = device(from) == device(to) ? "unified"
                             : imported                 ? one.imported
                                                        : one.connection;
    const std::string other = described(from).value("other_context", "unified");
    const auto rank = [](const std::string &name) {
        return name == "unified" ? 2 : name == "migratable" ? 1 : 0;
    };
    return context(from) == context(to) || rank(base) < rank(other) ? base : other;
}

bool MachineFile::unified(PlaceIndex from, PlaceIndex to, bool imported) const {
    return connection(from, to, imported) == "unified";
}

bool MachineFile::imports(PlaceIndex place) const {
    if (!simulated(place)) {
        return true;
    }
    const Json &one = described(place);
    return one.value("integrated", false) && one.value("host_pointer_import", false);
}

bool MachineFile::shares_host_memory(PlaceIndex place) const {
    return !simulated(place) || described(place).value("integrated", false) ||
           described(place).value("type", "gpu") == "cpu";
}

uint32_t MachineFile::safe_places() const {
    uint32_t lost = 0;
    for (PlaceIndex place = 0; place < places(); ++place) {
        lost |= may_be_lost(place) ? may_share_[place] : 0;
    }
    return ~lost;
}

void MachineFile::find_sharing() {
    for (PlaceIndex place = 0; place < places(); ++place) {
        may_share_.push_back(find_may_share(place));
    }
}

uint32_t MachineFile::find_may_share(PlaceIndex place) const {
    uint32_t found = 1U << place;
    for (uint32_t before = 0; before != found;) {
        before = found;
        for (PlaceIndex one = 0; one < places(); ++one) {
            for (PlaceIndex other = 0; other < places(); ++other) {
                const bool join = other == host_place
                                      ? one != host_place && imports(one)
                                      : one != host_place && (unified(one, other, false) ||
                                                              unified(one, other, true));
                if (join && ((found >> one | found >> other) & 1) != 0) {
                    found |= 1U << one | 1U << other;
                }
            }
        }
    }
    return found;
}

Way MachineFile::way(PlaceIndex from, PlaceIndex to, pi::runtime::RouteMask routes) const {
    if (from == host_place || to == host_place) {
        return {1, simulated(from) || simulated(to) ? 1U : 0U, false};
    }
    const bool may_copy = (routes & mask_of(pi::runtime::RouteKind::migrate)) != 0 &&
                          connection(from, to, false) != "none";
    if (may_copy && simulated(from) && device(from) != device(to)) {
        if (is_copy_cheaper(from, to)) {
            // A link without a bandwidth of its own goes over the host.
            return {1, link(device(from), device(to)).bandwidth > 0 ? 1U : 2U, false};
        }
    } else if (may_copy) {
        return {1, 0, false};
    }
    return {2, (simulated(from) ? 1U : 0U) + (simulated(to) ? 1U : 0U),
            !shares_host_memory(from) && !shares_host_memory(to), shares_host_memory(from)};
}

bool MachineFile::is_copy_cheaper(PlaceIndex from, PlaceIndex to) const {
    const Link copy = speed(from, to);
    const Link up = link(device(from), simulated_), down = link(simulated_, device(to));
    const auto cheaper = [&](double bytes) {
        const double bounce = 2 * callback_seconds + up.latency + bytes / up.bandwidth +
                              down.latency + bytes / down.bandwidth;
        return copy.latency + bytes / copy.bandwidth < bounce;
    };
    if (cheaper(1) != cheaper(largest_transfer)) {
        throw Failure{"the cheapest way from " + name(from) + " to " + name(to) +
                      " depends on the size: the model does not know it"};
    }
    return cheaper(1);
}

MachineFile::Link MachineFile::speed(PlaceIndex from, PlaceIndex to) const {
    const auto end = [this](PlaceIndex place) {
        return simulated(place) ? device(place) : simulated_;
    };
    if (end(from) == end(to)) {
        const Json &memory =
            end(from) == simulated_ ? json_.value("host", Json::object()) : described(from);
        return {"", "", seconds(memory), bytes_a_second(memory)};
    }
    Link one = link(end(from), end(to));
    if (one.bandwidth == 0) {
        const Link up = link(end(from), simulated_), down = link(simulated_, end(to));
        one.latency = up.latency + down.latency;
        one.bandwidth = 1 / (1 / up.bandwidth + 1 / down.bandwidth);
    }
    return one;
}

pi::runtime::CostTable MachineFile::costs() const {
    pi::runtime::CostTable table(places());
    for (PlaceIndex from = 0; from < places(); ++from) {
        for (PlaceIndex to = 0; to < places(); ++to) {
            const bool by_host = from == host_place || to == host_place;
            if (from == to || (!by_host && connection(from, to, false) == "none")) {
                continue;
            }
            const Link one = speed(from, to);
            table.set(from, to, {one.latency, one.bandwidth > 0 ? one.bandwidth : 1e12});
        }
    }
    return table;
}

} // namespace random_programs
