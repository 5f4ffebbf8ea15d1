// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sub-devices: parts of a device, which are devices themselves.

#include "bench.hpp"
#include "checks.hpp"
#include "kernels.hpp"
#include "registry.hpp"

#include <numeric>
#include <set>

namespace pi::suite {
namespace {

using Device = Owner<pi_device>;
using Devices = std::vector<Device>;

// 0 where the device tells none: a plugin without sub-devices need not know the name.
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

// The counts are borrowed.
pi_device_partition_desc partition_desc(pi_partition_kind kind, uint32_t count = 0,
                                        const uint32_t *counts = nullptr) {
    auto desc = describe<pi_device_partition_desc>();
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

// One way of partitioning each kind of the device's.
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

// Two sub-devices of one device, as small as can be.
Devices make_siblings(Bench &bench) {
    bench.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    if (units_of(bench.device()) < 2)
        skip("the device has one compute unit");
    static const std::vector<uint32_t> ones{1, 1};
    Devices siblings = partition(bench.device(), ways(bench.device(), ones).front());
    if (siblings.size() < 2)
        skip("the device's only partition has one part");
    siblings.resize(2);
    return siblings;
}

// Bytes through a buffer of the device's own, and, where there are programs, through a kernel.
void require_works(Bench &bench, const Place &place, const std::string &what) {
    const Queue queue = bench.make_queue(place);
    std::vector<uint32_t> words(1000);
    for (uint32_t &word : words)
        word = static_cast<uint32_t>(bench.random(0, UINT32_MAX / 2));
    const Mem mem = bench.make_buffer(place, words.size() * sizeof(uint32_t));
    bench.upload(queue, mem, bytes_of(words));
    bench.require_contents(queue, mem, bytes_of(words), what + ": a buffer");
    if (!bench.can(PI_CAPABILITY_PROGRAM, place.device))
        return;
    const Program program = make_program(bench, place);
    const Kernel kernel = make_kernel(program, "add");
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{7});
    bench.wait(bench.enqueue(queue, launch_desc(kernel, arguments, words.size())));
    for (uint32_t &word : words)
        word += 7;
    bench.require_contents(queue, mem, bytes_of(words), what + ": a buffer after a kernel");
}

LAW("device", "a device that can be partitioned tells how, and another one cannot") {
    const auto kinds = kinds_of(bench.device());
    require((kinds & ~0x1Eu) == 0, "PI_DEVICE_INFO_PARTITION_KINDS is ", kinds,
            ", with bits that are no PI_PARTITION_");
    require_equal(kinds != 0, bench.can(PI_CAPABILITY_PARTITION),
                  "whether the device has partition kinds, beside PI_CAPABILITY_PARTITION");
    if (kinds != 0)
        return;
    const std::vector<uint32_t> one{1};
    for (const pi_device_partition_desc &desc :
         {partition_desc(PI_PARTITION_EQUALLY, 1), by_counts(one),
          partition_desc(PI_PARTITION_BY_NUMA), partition_desc(PI_PARTITION_BY_HARDWARE)})
        require_untouched<uint32_t>("a partition of a device that has none",
                                    {PI_ERROR_UNSUPPORTED_FEATURE}, [&](uint32_t *out) {
                                        return piDevicePartition(bench.device(), &desc, 0, nullptr,
                                                                 out);
                                    });
}

LAW("device", "a partition's compute units are those that were asked for") {
    bench.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const pi_device device = bench.device();
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
        for (const Device &one : partition(device, partition_desc(kind)))
            sum += units_of(one);
        require(sum >= 1 && sum <= units, "the parts by kind ", kind, " have ", sum,
                " compute units in all, the device ", units);
    }
}

LAW("device", "a partition is a list, of which as many are made as there is room for") {
    bench.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    for (const pi_device_partition_desc &desc : ways(bench.device(), one)) {
        const uint32_t count = count_of(bench.device(), desc);
        for (const uint32_t capacity : {0u, 1u, count, count + 1}) {
            std::vector<pi_device> out(count + 2, poison<pi_device>());
            uint32_t told = poison<uint32_t>();
            require_success(piDevicePartition(bench.device(), &desc, capacity, out.data(), &told),
                            "piDevicePartition with capacity ", capacity);
            const uint32_t written = std::min(capacity, count);
            // What is left would be told as a leak.
            const Devices made(out.begin(), out.begin() + written);
            require_equal(told, count, join("the count with capacity ", capacity));
            require_equal(std::set<pi_device>(out.begin(), out.begin() + written).size(), written,
                          "how many of the sub-devices differ");
            for (uint32_t i = 0; i < out.size(); ++i)
                require(same(out[i], poison<pi_device>()) == (i >= written),
                        "piDevicePartition with capacity ", capacity, ": element ", i,
                        i < written ? " is not written" : " is written");
        }
        require_error(piDevicePartition(bench.device(), &desc, 1, nullptr, nullptr),
                      PI_ERROR_INVALID_NULL_POINTER, "piDevicePartition without any output");
    }
}

LAW("device", "a sub-device is a device of its parent's platform, and in no list of it") {
    bench.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const pi_device parent = bench.device();
    const std::vector<uint32_t> counts{1};
    for (const pi_device_partition_desc &desc : ways(parent, counts)) {
        const Devices made = partition(parent, desc);
        const pi_device device = made.front();
        require(get_info<pi_device>(&piDeviceGetInfo, device, PI_DEVICE_INFO_PARENT) == parent,
                "a sub-device's parent is another device");
        require(get_info<pi_platform>(&piDeviceGetInfo, device, PI_DEVICE_INFO_PLATFORM) ==
                    bench.platform(),
                "a sub-device's platform is not its parent's");
        require_equal(get_info<pi_device_type>(&piDeviceGetInfo, device, PI_DEVICE_INFO_TYPE),
                      get_info<pi_device_type>(&piDeviceGetInfo, parent, PI_DEVICE_INFO_TYPE),
                      "a sub-device's type");
        require((bench.capabilities(device) & ~bench.capabilities(parent)) == 0,
                "a sub-device has capabilities that its parent lacks");
        require(!bench.scopes(device).empty(), "a sub-device has no memory scope");
        check_info(
            "piDeviceGetInfo of a sub-device",
            [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
                return piDeviceGetInfo(device, name, size, value, out_size);
            },
            device_info_names());
        for (const pi_device root : bench.devices())
            require(root != device, "piDevicesGet lists a sub-device");
    }
}

LAW("device", "a sub-device works like any device, alone and beside its siblings") {
    bench.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    for (const pi_device_partition_desc &desc : ways(bench.device(), one)) {
        const Devices made = partition(bench.device(), desc);
        std::vector<pi_device> all(made.begin(), made.end());
        const Context shared = bench.make_context(all);
        for (const pi_device device : all) {
            const Context own = bench.make_context({device});
            require_works(bench, {device, own}, "a sub-device in a context of its own");
            require_works(bench, {device, shared}, "a sub-device in its siblings' context");
        }
    }
}

LAW("device", "a parent and its sub-device can share a context") {
    bench.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    const Devices made = partition(bench.device(), ways(bench.device(), one).front());
    const Context context = bench.make_context({bench.device(), made[0]});
    require_works(bench, {bench.device(), context}, "the parent in its sub-device's context");
    require_works(bench, {made[0], context}, "the sub-device in its parent's context");
}

// What a law of pairs asks of two devices it asks of two sub-devices, too.
LAW("connection", "all laws of pairs hold for sub-devices of one device") {
    const Devices siblings = make_siblings(bench);
    for (const Law &law : all_laws()) {
        if (!law.of_pairs)
            continue;
        for (const bool one_context : {true, false}) {
            Setup setup = bench.setup();
            setup.device = siblings[0];
            setup.peer = siblings[1];
            setup.one_context = one_context;
            try {
                Bench pair(setup);
                law.function(pair);
            } catch (const Skip &) {
            } catch (const Failure &failure) {
                throw Failure{join("between siblings in ", one_context ? "one context" : "two",
                                   ": ", law.name, ": ", failure.text)};
            }
        }
    }
}

LAW("device", "a context has the sub-devices that are listed, and no parent or sibling of theirs") {
    const Devices siblings = make_siblings(bench);
    const Context of_first = bench.make_context({siblings[0]});
    const auto refused = [](pi_context context, pi_device device, const std::string &what) {
        require_untouched<pi_queue>(
            "a queue on " + what, {PI_ERROR_INVALID_DEVICE},
            [&](pi_queue *out) { return piQueueCreate(context, device, nullptr, out); });
        require_untouched<pi_mem>("a buffer of " + what, {PI_ERROR_INVALID_DEVICE},
                                  [&](pi_mem *out) {
                                      auto desc = describe<pi_mem_buffer_desc>();
                                      desc.size = 64;
                                      return piMemBufferCreate(context, device, &desc, out);
                                  });
    };
    refused(of_first, bench.device(), "the parent of the context's device");
    refused(of_first, siblings[1], "a sibling of the context's device");
    refused(bench.context(), siblings[0], "a sub-device of the context's device");
    require(get_info_list<pi_device>(&piContextGetInfo, of_first.get(), PI_CONTEXT_INFO_DEVICES) ==
                std::vector<pi_device>{siblings[0]},
            "PI_CONTEXT_INFO_DEVICES is not the one sub-device that was listed");
}

LAW("lifetime", "a sub-device lives until as many releases as references") {
    bench.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    Devices made = partition(bench.device(), ways(bench.device(), one).front());
    const pi_device device = made[0];
    const auto references = [&] {
        return get_info<uint32_t>(&piDeviceGetInfo, device, PI_DEVICE_INFO_REFERENCE_COUNT);
    };
    const uint32_t before = references();
    for (int round = 0; round < 5; ++round)
        require_success(piDeviceRetain(device), "piDeviceRetain of a sub-device");
    require_equal(references(), before + 5, "the reference count of a sub-device, retained");
    for (int round = 0; round < 5; ++round) {
        require_success(piDeviceRelease(device), "piDeviceRelease of a sub-device");
        require_equal(units_of(device), 1u, "the compute units of a sub-device that is still held");
    }
    require_equal(references(), before, "the reference count of a sub-device, released");
    bench.run_threads(4, [&](unsigned) {
        for (int i = 0; i < 1000; ++i) {
            require_success(piDeviceRetain(device), "piDeviceRetain");
            require_success(piDeviceRelease(device), "piDeviceRelease");
        }
    });
    const Context context = bench.make_context({device});
    require_works(bench, {device, context}, "a sub-device that was retained and released");
}

LAW("lifetime", "a context keeps its sub-devices, and what it has goes on") {
    const Devices siblings = make_siblings(bench);
    std::vector<pi_device> handles;
    Context context;
    {
        const std::vector<uint32_t> one{1};
        Devices made = partition(bench.device(), ways(bench.device(), one).front());
        handles.assign(made.begin(), made.end());
        context = bench.make_context(handles);
    }
    for (const pi_device device : handles)
        require_works(bench, {device, context}, "a sub-device that only its context holds");
    // Commands keep the queue, and with it the context and the sub-device.
    const Bytes bytes = bench.random_bytes(4096);
    const Event gate = bench.make_host_event(bench.context());
    Bytes read(bytes.size());
    Event last;
    {
        const Place place{handles[0], context};
        const Queue queue = bench.make_queue(place);
        const Mem mem = bench.make_buffer(place, bytes.size());
        bench.write(queue, mem, 0, bytes, {gate});
        last = bench.read(queue, mem, 0, read);
    }
    context.reset();
    bench.signal(gate);
    bench.wait(last);
    require_same_bytes(read.data(), bytes.data(), bytes.size(),
                       "what went through a sub-device that only commands hold");
}

LAW("device", "a sub-device can be partitioned as its kinds say, and keeps its parent") {
    bench.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const pi_device root = bench.device();
    const uint32_t units = units_of(root);
    const std::vector<uint32_t> whole{units}, one{1};
    Device parent;
    for (const pi_device_partition_desc &desc : ways(root, whole))
        if (Devices made = partition(root, desc); bench.can(PI_CAPABILITY_PARTITION, made[0]))
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
        const Context context = bench.make_context({device});
        require_works(bench, {device, context}, "a sub-device of a sub-device");
    }
}

LAW("device", "a partition that cannot be is refused, and nothing is written") {
    bench.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const pi_device device = bench.device();
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

LAW("device", "a partition obeys the rules of descriptors") {
    bench.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    for (const pi_device_partition_desc &valid : ways(bench.device(), one))
        check_descriptor("piDevicePartition", valid, 0, [&](const pi_device_partition_desc *desc) {
            uint32_t count = 0;
            return piDevicePartition(bench.device(), desc, 0, nullptr, &count);
        });
    const Queue queue = bench.make_queue();
    require_untouched<uint32_t>(
        "piDevicePartition of a queue", {PI_ERROR_INVALID_DEVICE}, [&](uint32_t *out) {
            return piDevicePartition(reinterpret_cast<pi_device>(queue.get()),
                                     &ways(bench.device(), one).front(), 0, nullptr, out);
        });
}

LAW("device", "a device may be partitioned from many threads at once") {
    bench.need(PI_CAPABILITY_PARTITION, "PI_CAPABILITY_PARTITION");
    const std::vector<uint32_t> one{1};
    const auto all = ways(bench.device(), one);
    bench.run_threads(4, [&](unsigned id) {
        for (unsigned round = 0; round < 20; ++round) {
            const Devices made = partition(bench.device(), all[(id + round) % all.size()]);
            const Context context = bench.make_context({made.back()});
            const Place place{made.back(), context};
            const Mem mem = bench.make_buffer(place, 256);
            const Queue queue = bench.make_queue(place);
            const Bytes bytes(256, static_cast<std::byte>(16 * id + round));
            bench.upload(queue, mem, bytes);
            bench.require_contents(queue, mem, bytes, "a sub-device's buffer");
        }
    });
}

} // namespace
} // namespace pi::suite
