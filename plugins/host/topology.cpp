// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "topology.hpp"

#include <pi/sdk/error.hpp>

#include <hwloc/cpukinds.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>

namespace pi::host {

namespace {

uint64_t pages(int name) {
    const long count = sysconf(name), size = sysconf(_SC_PAGESIZE);
    return count > 0 && size > 0 ? static_cast<uint64_t>(count) * static_cast<uint64_t>(size) : 0;
}

/// hwloc's information about an object's processor: some machines have it at the package, others at
/// the machine.
std::string find_info(hwloc_obj_t object, const char *name, const char *otherwise) {
    for (; object; object = object->parent)
        if (const char *value = hwloc_obj_get_info_by_name(object, name))
            return value;
    return otherwise;
}

/// The number behind `key` in a file of lines like "MemFree: 123 kB", in bytes.
std::optional<uint64_t> find_bytes(const std::string &path, const char *key) {
    std::ifstream file(path);
    uint64_t kilobytes = 0;
    for (std::string word; file >> word;)
        if (word == key)
            return file >> kilobytes ? std::optional(kilobytes * 1024) : std::nullopt;
    return std::nullopt;
}

} // namespace

uint64_t free_memory() {
    return pages(_SC_AVPHYS_PAGES);
}

Topology::Topology() {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) == 0) {
        topology_.reset(topology);
        // Without this flag a backend moves the calling thread over all processors.
        hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
        if (hwloc_topology_load(topology) == 0)
            read_usable();
        if (usable_)
            read_nodes();
    }
    if (nodes_.empty())
        nodes_.push_back({.number = 0,
                          .index = 0,
                          .units = std::max(1u, std::thread::hardware_concurrency()),
                          .capacity = pages(_SC_PHYS_PAGES),
                          .cpu_model = "CPU",
                          .cpu_vendor = "unknown"});
}

void Topology::read_usable() {
    hwloc_topology_t topology = topology_.get();
    usable_.reset(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
    const Cores bound(hwloc_bitmap_alloc());
    if (usable_ && bound && hwloc_topology_is_thissystem(topology) &&
        hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) == 0 &&
        hwloc_bitmap_intersects(usable_.get(), bound.get()))
        hwloc_bitmap_and(usable_.get(), usable_.get(), bound.get());
}

void Topology::read_nodes() {
    hwloc_topology_t topology = topology_.get();
    std::vector<hwloc_const_bitmap_t> seen;
    for (hwloc_obj_t object = nullptr;
         (object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object));) {
        Cores units(hwloc_bitmap_dup(object->cpuset));
        if (!units)
            return;
        hwloc_bitmap_and(units.get(), units.get(), usable_.get());
        const int count = hwloc_bitmap_weight(units.get());
        // A second memory of the same processors (HBM besides DDR) is not a device.
        const bool known = std::any_of(seen.begin(), seen.end(), [&](hwloc_const_bitmap_t set) {
            return hwloc_bitmap_isequal(set, object->cpuset);
        });
        if (count < 1 || known)
            continue;
        seen.push_back(object->cpuset);
        const hwloc_obj_t unit = hwloc_get_next_obj_covering_cpuset_by_type(topology, units.get(),
                                                                            HWLOC_OBJ_PU, nullptr);
        // Memory added to a running machine is not always counted at its node.
        const bool only = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) == 1;
        const uint64_t memory = only ? 0 : object->attr->numanode.local_memory;
        nodes_.push_back({.number = object->os_index,
                          .index = object->logical_index,
                          .units = static_cast<uint32_t>(count),
                          .capacity = memory ? memory : pages(_SC_PHYS_PAGES),
                          .cpu_model = find_info(unit, "CPUModel", "CPU"),
                          .cpu_vendor = find_info(unit, "CPUVendor", "unknown")});
    }
}

Cores Topology::cores(const Node &node) const {
    if (!usable_)
        return nullptr;
    const hwloc_obj_t object =
        hwloc_get_obj_by_type(topology_.get(), HWLOC_OBJ_NUMANODE, node.index);
    Cores units(hwloc_bitmap_dup(object->cpuset));
    if (units)
        hwloc_bitmap_and(units.get(), units.get(), usable_.get());
    return units;
}

std::vector<Cores> Topology::split(const Cores &from, std::span<const uint32_t> counts) const {
    std::vector<Cores> parts;
    hwloc_obj_t unit = nullptr;
    for (const uint32_t count : counts) {
        Cores part(hwloc_bitmap_alloc());
        if (!part)
            throw std::bad_alloc();
        // In hwloc's logical order, in which neighbours share caches.
        for (uint32_t i = 0; i < count; ++i) {
            unit = hwloc_get_next_obj_inside_cpuset_by_type(topology_.get(), from.get(),
                                                            HWLOC_OBJ_PU, unit);
            hwloc_bitmap_set(part.get(), unit->os_index);
        }
        parts.push_back(std::move(part));
    }
    return parts;
}

uint32_t Topology::clock_rate(const Cores &cores) const {
    if (!cores)
        return 0;
    unsigned long highest = 0;
    const int kinds = hwloc_cpukinds_get_nr(topology_.get(), 0);
    const Cores of_kind(hwloc_bitmap_alloc());
    for (int kind = 0; of_kind && kind < kinds; ++kind) {
        unsigned count = 0;
        hwloc_info_s *infos = nullptr;
        int efficiency = 0;
        if (hwloc_cpukinds_get_info(topology_.get(), static_cast<unsigned>(kind), of_kind.get(),
                                    &efficiency, &count, &infos, 0) != 0 ||
            !hwloc_bitmap_intersects(of_kind.get(), cores.get()))
            continue;
        for (const hwloc_info_s &info : std::span(infos, count))
            if (!std::strcmp(info.name, "FrequencyMaxMHz"))
                highest = std::max(highest, std::strtoul(info.value, nullptr, 10));
    }
    return static_cast<uint32_t>(highest);
}

Topology::Cache Topology::last_cache(const Cores &cores) const {
    if (!cores)
        return {};
    hwloc_obj_t object = hwloc_get_next_obj_inside_cpuset_by_type(topology_.get(), cores.get(),
                                                                  HWLOC_OBJ_PU, nullptr);
    Cache last{};
    for (; object; object = object->parent)
        if (hwloc_obj_type_is_dcache(object->type))
            last = {object->attr->cache.size, object->attr->cache.linesize};
    return last;
}

// Pages of files count as free: the system drops them when programs need memory.
std::optional<uint64_t> Topology::free_memory(const Node &node) const {
    if (nodes_.size() == 1)
        if (const auto bytes = find_bytes("/proc/meminfo", "MemAvailable:"))
            return bytes;
    const std::string path = sdk::text("/sys/devices/system/node/node", node.number, "/meminfo");
    const auto unused = find_bytes(path, "MemFree:");
    const auto files = find_bytes(path, "FilePages:"), shared = find_bytes(path, "Shmem:");
    if (!unused || !files || !shared)
        return std::nullopt;
    return *unused + (*files > *shared ? *files - *shared : 0);
}

void Topology::bind_thread(const Cores &cores) const {
    if (cores)
        hwloc_set_cpubind(topology_.get(), cores.get(), HWLOC_CPUBIND_THREAD);
}

void Topology::unbind_thread() const {
    if (usable_)
        hwloc_set_cpubind(topology_.get(), usable_.get(), HWLOC_CPUBIND_THREAD);
}

void Topology::bind_memory(const Node &node, void *begin, uint64_t size) const {
    if (!usable_)
        return;
    const hwloc_obj_t object =
        hwloc_get_obj_by_type(topology_.get(), HWLOC_OBJ_NUMANODE, node.index);
    hwloc_set_area_membind(topology_.get(), begin, size, object->nodeset, HWLOC_MEMBIND_BIND,
                           HWLOC_MEMBIND_BYNODESET);
}

} // namespace pi::host
