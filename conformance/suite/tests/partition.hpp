// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sub-devices for the tests: parts of a device, which are devices themselves.
#pragma once

#include "fixture.hpp"

#include <string>
#include <vector>

namespace pi::suite {

using Device = Owner<pi_device>;
using Devices = std::vector<Device>;

bool has_kind(pi_device device, pi_partition_kind kind);
/// 1 << PI_PARTITION_ bits; 0 if the device reports none.
uint32_t kinds_of(pi_device device);
uint32_t units_of(pi_device device);

/// The counts are borrowed.
pi_device_partition_desc partition_desc(pi_partition_kind kind, uint32_t count = 0,
                                        const uint32_t *counts = nullptr);
pi_device_partition_desc by_counts(const std::vector<uint32_t> &counts);

/// How many parts there are.
uint32_t count_of(pi_device device, const pi_device_partition_desc &desc);
/// All of them.
Devices partition(pi_device device, const pi_device_partition_desc &desc);
/// One way of partitioning for each kind that the device has.
std::vector<pi_device_partition_desc> ways(pi_device device, const std::vector<uint32_t> &counts);

/// Bytes go through a buffer of the device's own, and, where there are programs, through a kernel.
void require_works(Fixture &fixture, const Place &place, const std::string &what);

/// The devices of the platform, the device under test first. If it is the only one, a part of it is
/// the second, where it has parts.
class SeveralDevices : public std::vector<pi_device> {
public:
    explicit SeveralDevices(const Fixture &fixture);

private:
    Devices parts_;
};

/// Two devices for one context: the device under test and another of its platform, or else two
/// parts of it. Skips the test where there are neither.
struct TwoDevices {
    explicit TwoDevices(Fixture &fixture);

    std::vector<pi_device> devices;

private:
    Devices parts_;
};

} // namespace pi::suite
