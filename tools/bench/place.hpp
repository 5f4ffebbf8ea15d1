// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device with context and queue, and the measured calls, as an application makes them.
#pragma once

#include <pi/pi.hpp>
#include <pi/runtime/handle.hpp>
#include <pi/runtime/topology.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace pi_bench {

/// All devices of the loader as places, each named by its selector; the devices of a platform share
/// a context.
std::shared_ptr<const pi::runtime::Topology> all_places(pi::LoaderRef loader);

struct Place {
    explicit Place(pi_device the_device);
    /// Whether the device is simulated, as its name says.
    bool simulated() const { return name.ends_with("(simulated)"); }
    /// Returns when all commands are complete.
    void finish() const;

    pi_device device;
    std::string name;     ///< the device's
    std::string platform; ///< its name
    pi::runtime::Context context;
    pi::runtime::Queue queue;
};

/// A buffer with all bytes set to `value`, so that its pages exist.
pi::runtime::Mem make_buffer(const Place &place, uint64_t size, unsigned char value);

/// These return when the command is complete. They throw pi::runtime::Error.
void write(const Place &place, pi_mem mem, const void *data, uint64_t size);
void write_with_event(const Place &place, pi_mem mem, const void *data, uint64_t size);
void read(const Place &place, pi_mem mem, void *data, uint64_t size);
void copy(const Place &place, pi_mem src, pi_mem dst, uint64_t size);
void fill(const Place &place, pi_mem mem, uint64_t size); ///< with a word of 4 bytes
void copy(const Place &place, pi_mem src, pi_mem dst, std::span<const pi_region> regions);

/// These do not wait, unless `flags` says so.
void enqueue_copy(const Place &place, pi_mem src, pi_mem dst, uint64_t size);
void enqueue_copy(const Place &place, pi_mem src, pi_mem dst, std::span<const pi_region> regions,
                  uint64_t flags);
void enqueue_fill(const Place &place, pi_mem mem, uint64_t size, uint64_t flags = 0);

/// Throws if a copy from src to dst loses bytes: a broken copy is not worth measuring.
void check_copy(const Place &place, pi_mem src, pi_mem dst, uint64_t size);

} // namespace pi_bench
