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

/// How the application's bytes and the devices come together.
enum class Way : uint32_t {
    zero_copy, ///< the runtime's storages are over the application's memory
    copy_in_copy_out, ///< they have memory of their own: memcpy in before the first stage, memcpy out behind the last
};
inline constexpr size_t way_count = 2;

/// What the application's slots are like.
enum class SlotMemory : uint32_t {
    aligned,   ///< whole pages
    unaligned, ///< 20 bytes behind the begin of a page, and not a whole number of pages
    unimportable, ///< whole pages, but no device may have a mapping of them: the application forbids the route
};

/// A slot of a ring. The application allocates it, fills or reads it, and frees it.
class Slot {
public:
    Slot(uint64_t size, SlotMemory kind);
    uint8_t *data() const { return memory_.data() + begin_; }
    uint64_t size() const { return size_; }
    /// What may be given away of it: whole pages if it is aligned.
    uint64_t room() const { return begin_ == 0 ? PageMemory::padded(size_) : size_; }

private:
    uint64_t begin_;
    uint64_t size_;
    PageMemory memory_;
};

/// What one stage did with one storage.
struct UseReport {
    std::string storage; ///< "input", "plane", "features", "labels", "histogram"
    bool writes = false;
    uint64_t bytes = 0; ///< of the range that it used
    /// Usually one: how the bytes came, or why nothing had to.
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
    /// From when the frame lies in its slot until the results lie in theirs.
    double milliseconds = 0;
};

struct ChainOptions {
    Shape shape;
    Way way = Way::zero_copy;
    SlotMemory memory = SlotMemory::aligned;
    uint32_t ring = 4; ///< slots, at least one
    /// Milliseconds. Of a simulated machine: its clock, once the host has waited for all that has begun.
    std::function<double()> clock;
    /// Wait for each transfer and each stage.
    bool simulated = false;
};

/// What the runtime moved, by whose bytes they are.
struct ChainCounters {
    pi::runtime::Counters input, output, between;
};

/// Rings of slots for frames and for results, and the chain of stages from the one to the other: normalise, convolve,
/// classify, each at a device or in the application itself. What lies between the stages is the runtime's affair
/// in both ways.
class Chain {
public:
    /// Compiles the kernels for each place.
    Chain(const Work &work, ChainOptions options);
    /// Waits for what is in flight: only then may the slots go.
    ~Chain();
    Chain(const Chain &) = delete;
    Chain &operator=(const Chain &) = delete;

    /// The camera: a frame into the slot frame % ring of the input ring. Throws pi::runtime::Error.
    StageReport fill(uint32_t frame);
    /// The chain over the frame in that slot, and its results into the output ring's. Stage s runs at
    /// work.order[(s + frame) % size]. out_results are copies, made of the application's slots after the time was taken.
    FrameReport run(uint32_t frame, Results &out_results);

    ChainCounters counters() const;

private:
    class State;
    std::unique_ptr<State> state_;
};

} // namespace tensor_io
