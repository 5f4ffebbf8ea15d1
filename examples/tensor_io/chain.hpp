// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "frame.hpp"
#include "places.hpp"

#include <pi/runtime/runtime.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tensor_io {

/// How devices use the application's bytes.
enum class Way : uint32_t {
    zero_copy,        ///< the runtime's storages are over the application's memory
    copy_in_copy_out, ///< they have their own memory: a memcpy first, and one last
};
inline constexpr size_t way_count = 2;

/// The kind of the application's slots.
enum class SlotMemory : uint32_t {
    aligned,      ///< whole pages
    unaligned,    ///< from byte 20 of a page on, and not a whole number of pages
    unimportable, ///< whole pages, but the application forbids the route import
};

/// A slot of a ring. The application allocates it, fills or reads it, and frees it.
class Slot {
public:
    Slot(uint64_t size, SlotMemory kind);
    uint8_t *data() const { return memory_.data() + begin_; }
    uint64_t size() const { return size_; }
    /// The bytes for the runtime: whole pages if it is aligned.
    uint64_t room() const { return begin_ == 0 ? PageMemory::padded(size_) : size_; }

private:
    uint64_t begin_;
    uint64_t size_;
    PageMemory memory_;
};

/// One stage's use of one storage.
struct UseReport {
    std::string storage; ///< "input", "plane", "features", "labels", "histogram"
    bool writes = false;
    uint64_t bytes = 0; ///< of the used range
    /// Usually one: the route of the bytes, or why none moved.
    std::vector<pi::runtime::TransferRecord> transfers;
};

struct StageReport {
    std::string name;
    pi::runtime::PlaceIndex place = pi::runtime::host_place;
    uint64_t copied = 0; ///< by the application's memcpy
    std::vector<UseReport> uses;
};

struct FrameReport {
    std::vector<StageReport> stages;
    /// From the frame in its slot to the results in theirs.
    double milliseconds = 0;
};

struct ChainOptions {
    Shape shape;
    Way way = Way::zero_copy;
    SlotMemory memory = SlotMemory::aligned;
    uint32_t ring = 4; ///< slots, at least one
    /// Milliseconds. On a simulated machine: its clock, after the host has waited for all work.
    std::function<double()> clock;
    /// Wait for each transfer and each stage.
    bool simulated = false;
};

/// The bytes that the runtime moved, by their owner.
struct ChainCounters {
    pi::runtime::Counters input, output, between;
};

/// Rings of slots for frames and for results, and the chain of stages between them: normalise,
/// convolve, classify, each at a device or in the application itself. Storages between the stages
/// belong to the runtime in both ways.
class Chain {
public:
    /// Compiles the kernels for each place.
    Chain(const Work &work, ChainOptions options);
    /// Waits for work in flight: after that the slots may be freed.
    ~Chain();
    Chain(const Chain &) = delete;
    Chain &operator=(const Chain &) = delete;

    /// The camera: a frame into the slot frame % ring of the input ring. Throws pi::runtime::Error.
    StageReport fill(uint32_t frame);
    /// Runs the chain over the frame in that slot, with results in the output ring's slot. Stage s
    /// runs at work.order[(s + frame) % size]. out_results are copies of the application's slots,
    /// made after the time was taken.
    FrameReport run(uint32_t frame, Results &out_results);

    ChainCounters counters() const;

private:
    class State;
    std::unique_ptr<State> state_;
};

} // namespace tensor_io
