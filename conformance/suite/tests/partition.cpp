// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Partitions: which there are, queries of sub-devices, and refusals.

#include "partition.hpp"

#include "checks.hpp"
#include "registry.hpp"

#include <set>

namespace pi::suite {
namespace {

CONFORMANCE_TEST("device", "a device reports how it can be partitioned, and others refuse") {
    const auto kinds = kinds_of(fixture.device());
    require((kinds & ~0x1Eu) == 0, "PI_DEVICE_INFO_PARTITION_KINDS is ", kinds,
            ", with bits that are no PI_PARTITION_");
    require_equal(kinds != 0, fixture.can(PI_CAPABILITY_PARTITION),
                  "whether the device has partition kinds, as PI_CAPABILITY_PARTITION says");
    if (kinds != 0)
        return;
    const std::vector<uint32_t> one{1};
    for (const pi_device_partition_desc &desc :
         {partition_desc(PI_PARTITION_EQUALLY, 1), by_counts(one),
          partition_desc(PI_PARTITION_BY_NUMA), partition_desc(PI_PARTITION_BY_HARDWARE)})
        require_untouched<uint32_t>("a partition of a device that has none",
                                    {PI_ERROR_UNSUPPORTED_FEATURE}, [&](uint32_t *out) {
                                        return piDevicePartition(fixture.device(), &desc, 0,
                                                                 nullptr, out);
                                    });
}

CONFORMANCE_TEST("device", "a partition has the requested compute units") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const pi_device device = fixture.device();
    const uint32_t units = units_of(device);
    const auto check = [&](const pi_device_partition_desc &desc, const std::string &what,
                           const std::vector<uint32_t> &expected) {
        const Devices made = partition(device, desc);
        require_equal(made.size(), expected.size(), "how many sub-devices there are ", what);
        for (std::size_t i = 0; i < made.size(); ++i)
            require_equal(units_of(made[i]), expected[i],
                          join("the compute units of sub-device ", i, " ", what));
    };
    for (uint32_t each : {1u, 2u, units / 2, units})
        if (has_kind(device, PI_PARTITION_EQUALLY) && each >= 1 && each <= units)
            check(partition_desc(PI_PARTITION_EQUALLY, each), join("of ", each, " each"),
                  std::vector<uint32_t>(units / each, each));
    std::vector<std::vector<uint32_t>> lists{{1}, {units}};
    if (units > 1)
        lists.insert(lists.end(),
                     {{units - 1, 1}, {1, units - 1}, std::vector<uint32_t>(units, 1)});
    for (const auto &counts : lists)
        if (has_kind(device, PI_PARTITION_BY_COUNTS))
            check(by_counts(counts), join("by counts of which the first is ", counts[0]), counts);
    for (const pi_partition_kind kind : {PI_PARTITION_BY_NUMA, PI_PARTITION_BY_HARDWARE}) {
        if (!has_kind(device, kind))
            continue;
        uint32_t sum = 0;
        std::set<uint32_t> nodes;
        for (const Device &one : partition(device, partition_desc(kind))) {
            sum += units_of(one);
            const auto node =
                info_or(&piDeviceGetInfo, one.get(), PI_DEVICE_INFO_NUMA_NODE, UINT32_MAX);
            require(kind != PI_PARTITION_BY_NUMA || node == UINT32_MAX || nodes.insert(node).second,
                    "two parts by NUMA node are on node ", node);
        }
        require(sum >= 1 && sum <= units, "the parts by kind ", kind, " have ", sum,
                " compute units in all, the device ", units);
    }
}

CONFORMANCE_TEST(
    "device", "a partition obeys the rules of lists, and no more sub-devices are made than fit") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    for (const pi_device_partition_desc &desc : ways(fixture.device(), one)) {
        const uint32_t count = count_of(fixture.device(), desc);
        for (const uint32_t capacity : {0u, 1u, count, count + 1}) {
            std::vector<pi_device> out(count + 2, poison<pi_device>());
            uint32_t reported = poison<uint32_t>();
            require_success(
                piDevicePartition(fixture.device(), &desc, capacity, out.data(), &reported),
                "piDevicePartition with capacity ", capacity);
            const uint32_t written = std::min(capacity, count);
            // Owned, so that they are not reported as leaks.
            const Devices made(out.begin(), out.begin() + written);
            require_equal(reported, count, join("the count with capacity ", capacity));
            require_equal(std::set<pi_device>(out.begin(), out.begin() + written).size(), written,
                          "how many of the sub-devices differ");
            for (uint32_t i = 0; i < out.size(); ++i)
                require(same(out[i], poison<pi_device>()) == (i >= written),
                        "piDevicePartition with capacity ", capacity, ": element ", i,
                        i < written ? " is not written" : " is written");
        }
        // Without an array the call only counts: what it created would be reported as a leak.
        for (const uint32_t capacity : {1u, count, UINT32_MAX}) {
            uint32_t reported = poison<uint32_t>();
            require_success(
                piDevicePartition(fixture.device(), &desc, capacity, nullptr, &reported),
                "piDevicePartition with capacity ", capacity, " and out_devices NULL");
            require_equal(reported, count,
                          join("the count with capacity ", capacity, " and out_devices NULL"));
        }
        require_error(piDevicePartition(fixture.device(), &desc, 1, nullptr, nullptr),
                      PI_ERROR_INVALID_NULL_POINTER, "piDevicePartition without any output");
    }
}

CONFORMANCE_TEST("device",
                 "a sub-device is a device of its parent's platform, and in no list of it") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const pi_device parent = fixture.device();
    const std::vector<uint32_t> counts{1};
    for (const pi_device_partition_desc &desc : ways(parent, counts)) {
        const Devices made = partition(parent, desc);
        const pi_device device = made.front();
        require(get_info<pi_device>(&piDeviceGetInfo, device, PI_DEVICE_INFO_PARENT) == parent,
                "a sub-device's parent is another device");
        require(get_info<pi_platform>(&piDeviceGetInfo, device, PI_DEVICE_INFO_PLATFORM) ==
                    fixture.platform(),
                "a sub-device's platform is not its parent's");
        require_equal(get_info<pi_device_type>(&piDeviceGetInfo, device, PI_DEVICE_INFO_TYPE),
                      get_info<pi_device_type>(&piDeviceGetInfo, parent, PI_DEVICE_INFO_TYPE),
                      "a sub-device's type");
        require((fixture.capabilities(device) & ~fixture.capabilities(parent)) == 0,
                "a sub-device has capabilities that its parent lacks");
        require(!fixture.scopes(device).empty(), "a sub-device has no memory scope");
        check_info(
            "piDeviceGetInfo of a sub-device",
            [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
                return piDeviceGetInfo(device, name, size, value, out_size);
            },
            device_info_names());
        for (const pi_device root : fixture.devices())
            require(root != device, "piDevicesGet lists a sub-device");
    }
}

CONFORMANCE_TEST("device",
                 "a sub-device can be partitioned as it reports, and keeps its parent alive") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const pi_device root = fixture.device();
    const uint32_t units = units_of(root);
    const std::vector<uint32_t> whole{units}, one{1};
    Device parent;
    for (const pi_device_partition_desc &desc : ways(root, whole))
        if (Devices made = partition(root, desc); fixture.can(PI_CAPABILITY_PARTITION, made[0]))
            parent = std::move(made[0]);
    if (parent.get() == nullptr)
        skip("the device's sub-devices cannot be partitioned");
    const pi_device middle = parent;
    Devices made = partition(middle, ways(middle, one).front());
    require(get_info<pi_device>(&piDeviceGetInfo, made[0].get(), PI_DEVICE_INFO_PARENT) == middle,
            "the parent of a sub-device's sub-device is another device");
    parent.reset();
    for (const Device &device : made) {
        require(get_info<pi_device>(&piDeviceGetInfo, device.get(), PI_DEVICE_INFO_PARENT) ==
                    middle,
                "the parent of a sub-device is another one when only its child holds it");
        require_equal(units_of(middle), units, "the compute units of a parent that is held");
        const Context context = fixture.make_context({device});
        require_works(fixture, {device, context}, "a sub-device of a sub-device");
    }
}

CONFORMANCE_TEST("device", "an impossible partition is refused, and nothing is written") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const pi_device device = fixture.device();
    const uint32_t units = units_of(device);
    const auto refused = [&](const std::string &what, const pi_device_partition_desc &desc,
                             pi_result code) {
        require_untouched<uint32_t>("the count of a partition " + what, {code}, [&](uint32_t *out) {
            return piDevicePartition(device, &desc, 0, nullptr, out);
        });
        uint32_t count = poison<uint32_t>();
        require_untouched<pi_device>("a partition " + what, {code}, [&](pi_device *out) {
            return piDevicePartition(device, &desc, 1, out, &count);
        });
        require_equal(count, poison<uint32_t>(), "the count of a partition that failed");
    };
    for (const pi_partition_kind kind : {0u, PI_PARTITION_BY_HARDWARE + 1u, UINT32_MAX})
        refused(join("of kind ", kind), partition_desc(kind, 1), PI_ERROR_INVALID_ENUMERATION);
    const std::vector<uint32_t> one{1};
    for (const pi_partition_kind kind : {PI_PARTITION_EQUALLY, PI_PARTITION_BY_COUNTS,
                                         PI_PARTITION_BY_NUMA, PI_PARTITION_BY_HARDWARE})
        if (!has_kind(device, kind))
            refused(join("of kind ", kind, ", which the device does not have"),
                    partition_desc(kind, 1, one.data()), PI_ERROR_UNSUPPORTED_FEATURE);
    if (has_kind(device, PI_PARTITION_EQUALLY))
        for (const uint32_t each : {0u, units + 1, UINT32_MAX})
            refused(join("into parts of ", each), partition_desc(PI_PARTITION_EQUALLY, each),
                    PI_ERROR_INVALID_SIZE);
    if (!has_kind(device, PI_PARTITION_BY_COUNTS))
        return;
    refused("by counts at NULL", partition_desc(PI_PARTITION_BY_COUNTS, 1),
            PI_ERROR_INVALID_NULL_POINTER);
    refused("by no counts", partition_desc(PI_PARTITION_BY_COUNTS, 0, one.data()),
            PI_ERROR_INVALID_SIZE);
    for (const std::vector<uint32_t> &counts :
         {std::vector<uint32_t>{0}, {1, 0}, {units + 1}, {units, 1}, {UINT32_MAX, 2}})
        refused(join("by ", counts.size(), " counts of which the first is ", counts[0]),
                by_counts(counts), PI_ERROR_INVALID_SIZE);
}

CONFORMANCE_TEST("device", "a partition obeys the rules of descriptors") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    for (const pi_device_partition_desc &valid : ways(fixture.device(), one))
        check_descriptor("piDevicePartition", valid, 0, [&](const pi_device_partition_desc *desc) {
            uint32_t count = 0;
            return piDevicePartition(fixture.device(), desc, 0, nullptr, &count);
        });
    const Queue queue = fixture.make_queue();
    require_untouched<uint32_t>(
        "piDevicePartition of a queue", {PI_ERROR_INVALID_DEVICE}, [&](uint32_t *out) {
            return piDevicePartition(reinterpret_cast<pi_device>(queue.get()),
                                     &ways(fixture.device(), one).front(), 0, nullptr, out);
        });
}

CONFORMANCE_TEST("device", "a sub-device is not divided into more units than it has itself") {
    fixture.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    if (!has_kind(fixture.device(), PI_PARTITION_EQUALLY) || units_of(fixture.device()) < 2)
        skip("the device has no equal parts");
    const Devices parts = partition(fixture.device(), partition_desc(PI_PARTITION_EQUALLY, 1));
    const auto desc = partition_desc(PI_PARTITION_EQUALLY, 2);
    require_untouched<uint32_t>(
        "a part of one unit divided into parts of two",
        {PI_ERROR_INVALID_SIZE, PI_ERROR_UNSUPPORTED_FEATURE},
        [&](uint32_t *out) { return piDevicePartition(parts.front(), &desc, 0, nullptr, out); });
}

} // namespace
} // namespace pi::suite
