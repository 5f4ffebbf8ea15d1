// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "partition.hpp"

#include "checks.hpp"
#include "kernels.hpp"

namespace pi::suite {

// A plugin without sub-devices may not know the query.
uint32_t kinds_of(pi_device device) {
    uint32_t kinds = 0;
    const pi_result result =
        piDeviceGetInfo(device, PI_DEVICE_INFO_PARTITION_KINDS, sizeof kinds, &kinds, nullptr);
    if (result != PI_ERROR_UNSUPPORTED_FEATURE)
        require_success(result, "PI_DEVICE_INFO_PARTITION_KINDS");
    return kinds;
}
bool has_kind(pi_device device, pi_partition_kind kind) {
    return kinds_of(device) >> kind & 1;
}
uint32_t units_of(pi_device device) {
    return get_info<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_COMPUTE_UNITS);
}

pi_device_partition_desc partition_desc(pi_partition_kind kind, uint32_t count,
                                        const uint32_t *counts) {
    auto desc = pi::desc<pi_device_partition_desc>();
    desc.kind = kind;
    desc.count = count;
    desc.counts = counts;
    return desc;
}
pi_device_partition_desc by_counts(const std::vector<uint32_t> &counts) {
    return partition_desc(PI_PARTITION_BY_COUNTS, static_cast<uint32_t>(counts.size()),
                          counts.data());
}

uint32_t count_of(pi_device device, const pi_device_partition_desc &desc) {
    uint32_t count = poison<uint32_t>();
    require_success(piDevicePartition(device, &desc, 0, nullptr, &count),
                    "piDevicePartition by kind ", desc.kind, " for the count alone");
    require(count >= 1 && count <= 4096, "a partition by kind ", desc.kind, " of ", count,
            " sub-devices");
    return count;
}

Devices partition(pi_device device, const pi_device_partition_desc &desc) {
    std::vector<pi_device> made(count_of(device, desc));
    require_success(
        piDevicePartition(device, &desc, static_cast<uint32_t>(made.size()), made.data(), nullptr),
        "piDevicePartition by kind ", desc.kind);
    return {made.begin(), made.end()};
}

std::vector<pi_device_partition_desc> ways(pi_device device, const std::vector<uint32_t> &counts) {
    std::vector<pi_device_partition_desc> all;
    if (has_kind(device, PI_PARTITION_EQUALLY))
        all.push_back(partition_desc(PI_PARTITION_EQUALLY, counts.front()));
    if (has_kind(device, PI_PARTITION_BY_COUNTS))
        all.push_back(by_counts(counts));
    for (const pi_partition_kind kind : {PI_PARTITION_BY_NUMA, PI_PARTITION_BY_HARDWARE})
        if (has_kind(device, kind))
            all.push_back(partition_desc(kind));
    return all;
}

SeveralDevices::SeveralDevices(const Fixture &fixture) : vector(fixture.devices()) {
    if (size() > 1 || !fixture.can(PI_CAPABILITY_PARTITION) || units_of(front()) < 2)
        return;
    static const std::vector<uint32_t> one{1};
    const std::vector<pi_device_partition_desc> possible = ways(front(), one);
    if (possible.empty())
        return;
    parts_ = partition(front(), possible.front());
    push_back(parts_[0]);
}

TwoDevices::TwoDevices(Fixture &fixture) : devices(fixture.devices()) {
    if (devices.size() < 2 && has_kind(fixture.device(), PI_PARTITION_EQUALLY) &&
        units_of(fixture.device()) > 1) {
        parts_ = partition(fixture.device(), partition_desc(PI_PARTITION_EQUALLY, 1));
        devices = {parts_[0], parts_[1]};
    }
    if (devices.size() < 2)
        skip("there is one device, which has no parts");
    devices.resize(2);
}

void require_works(Fixture &fixture, const Place &place, const std::string &what) {
    const Queue queue = fixture.make_queue(place);
    std::vector<uint32_t> words(1000);
    for (uint32_t &word : words)
        word = static_cast<uint32_t>(fixture.random(0, UINT32_MAX / 2));
    const Mem mem = fixture.make_buffer(place, words.size() * sizeof(uint32_t));
    fixture.upload(queue, mem, bytes_of(words));
    fixture.require_contents(queue, mem, bytes_of(words), what + ": a buffer");
    if (!fixture.can(PI_CAPABILITY_PROGRAM, place.device))
        return;
    const Program program = make_program(fixture, place);
    const Kernel kernel = make_kernel(program, "add");
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{7});
    fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, words.size())));
    for (uint32_t &word : words)
        word += 7;
    fixture.require_contents(queue, mem, bytes_of(words), what + ": a buffer after a kernel");
}

} // namespace pi::suite
