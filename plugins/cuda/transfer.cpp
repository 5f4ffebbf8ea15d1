// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transfer.hpp"
#include "copy.hpp"

#include <pi/sdk/lanes.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

namespace pi::cuda {

using namespace sdk;

namespace {

constexpr uint64_t most_staged = uint64_t{1} << 20;
/// For smaller copies, starting helpers costs as much as they save.
constexpr uint64_t least_shared = uint64_t{4} << 20;

/// Rows that pass through a block of staging together.
struct Piece {
    uint64_t device, device_pitch;
    uint64_t host, host_pitch;
    uint64_t row, rows;
    uint64_t bytes() const { return row * rows; }
};

uint64_t bytes_of(const Regions &regions) {
    uint64_t bytes = 0;
    for (const pi_region &region : regions)
        bytes += source(region).bytes();
    return bytes;
}

/// A lane: a stream of the pool and two blocks used in turn, by one thread.
class Pipeline {
public:
    Pipeline(Primary &primary, Direction direction, DeviceEnd device, std::byte *host,
             uint64_t bytes)
        : current_(primary), primary_(primary), direction_(direction), device_(device), host_(host),
          block_(std::min(bytes, most_staged)), stream_(primary) {}
    ~Pipeline() {
        // After a failure nothing may access the staging any more.
        if (slots_[0].busy || slots_[1].busy)
            primary_.note(primary_.api().cuStreamSynchronize(stream_.id()));
    }
    Pipeline(const Pipeline &) = delete;

    void add(const Piece &piece) {
        Slot &slot = slots_[next_];
        next_ = 1 - next_;
        finish(slot);
        if (!slot.staging) {
            slot.staging = Staging(primary_, block_);
            slot.done = std::make_shared<PooledEvent>(primary_, false);
        }
        slot.piece = piece;
        slot.busy = true;
        if (direction_ == Direction::TO_DEVICE)
            copy_rows(slot.staging.begin(), piece.row, host_ + piece.host, piece.host_pitch, piece);
        enqueue(slot);
    }
    void finish() {
        finish(slots_[next_]);
        finish(slots_[1 - next_]);
    }

private:
    struct Slot {
        Staging staging{};
        SharedEvent done{};
        Piece piece{};
        bool busy = false;
    };

    static void copy_rows(std::byte *to, uint64_t to_pitch, const std::byte *from,
                          uint64_t from_pitch, const Piece &piece) {
        if (to_pitch == from_pitch && from_pitch == piece.row) {
            std::memcpy(to, from, piece.bytes());
            return;
        }
        for (uint64_t row = 0; row < piece.rows; ++row)
            std::memcpy(to + row * to_pitch, from + row * from_pitch, piece.row);
    }

    void enqueue(const Slot &slot) {
        const Api &cu = primary_.api();
        const Piece &piece = slot.piece;
        const CUdeviceptr device = device_.address + piece.device;
        const auto staging = reinterpret_cast<CUdeviceptr>(slot.staging.begin());
        const bool up = direction_ == Direction::TO_DEVICE;
        if (device_.image) {
            const End image{0, nullptr, nullptr, device_.image}, block{staging};
            const Rectangle here{0, piece.row, piece.rows, 1, piece.row, piece.bytes()};
            const Rectangle there{piece.device, piece.row, piece.rows, 1, piece.device_pitch, 0};
            const CUDA_MEMCPY3D copy =
                up ? box_copy(block, here, image, there) : box_copy(image, there, block, here);
            primary_.check(cu.cuMemcpy3DAsync_v2(&copy, stream_.id()), "cuMemcpy3DAsync_v2");
        } else if (piece.rows == 1 || piece.device_pitch == piece.row) {
            primary_.check(cu.cuMemcpyAsync(up ? device : staging, up ? staging : device,
                                            piece.bytes(), stream_.id()),
                           "cuMemcpyAsync", piece.bytes(), " bytes");
        } else if (piece.device_pitch <= primary_.device().max_pitch()) {
            CUDA_MEMCPY2D copy{};
            copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
            copy.srcDevice = up ? staging : device;
            copy.srcPitch = up ? piece.row : piece.device_pitch;
            copy.dstDevice = up ? device : staging;
            copy.dstPitch = up ? piece.device_pitch : piece.row;
            copy.WidthInBytes = piece.row;
            copy.Height = piece.rows;
            primary_.check(cu.cuMemcpy2DAsync_v2(&copy, stream_.id()), "cuMemcpy2DAsync_v2");
        } else {
            for (uint64_t row = 0; row < piece.rows; ++row) {
                const CUdeviceptr there = device + row * piece.device_pitch;
                const CUdeviceptr here = staging + row * piece.row;
                primary_.check(
                    cu.cuMemcpyAsync(up ? there : here, up ? here : there, piece.row, stream_.id()),
                    "cuMemcpyAsync", piece.row, " bytes");
            }
        }
        primary_.check(cu.cuEventRecord(slot.done->id(), stream_.id()), "cuEventRecord");
    }

    void finish(Slot &slot) {
        if (!std::exchange(slot.busy, false))
            return;
        primary_.check(primary_.api().cuEventSynchronize(slot.done->id()), "cuEventSynchronize",
                       "on ", primary_.device().name());
        if (direction_ == Direction::TO_HOST)
            copy_rows(host_ + slot.piece.host, slot.piece.host_pitch, slot.staging.begin(),
                      slot.piece.row, slot.piece);
    }

    const Current current_; ///< of the lane's thread
    Primary &primary_;
    const Direction direction_;
    const DeviceEnd device_;
    std::byte *const host_;
    const uint64_t block_;
    const PooledStream stream_;
    std::array<Slot, 2> slots_;
    size_t next_ = 0;
};

} // namespace

void transfer(Primary &primary, Direction direction, DeviceEnd device, std::byte *host,
              const Regions &regions) {
    const uint64_t bytes = bytes_of(regions);
    const PartLimits limits{
        most_staged, device.image ? std::min(primary.device().max_row(), most_staged) : most_staged,
        !device.image};
    const bool up = direction == Direction::TO_DEVICE;
    std::atomic<uint64_t> next{0}; // the first piece that no lane has taken
    const auto lane = [&] {
        std::optional<Pipeline> pipeline;
        uint64_t mine = next.fetch_add(1, std::memory_order_relaxed), number = 0;
        const auto add = [&](const Rectangle &from, const Rectangle &to) {
            if (number++ != mine)
                return;
            if (!pipeline)
                pipeline.emplace(primary, direction, device, host, bytes);
            const Rectangle &there = up ? to : from, &here = up ? from : to;
            pipeline->add({there.offset, there.row_pitch, here.offset, here.row_pitch, there.row,
                           there.rows});
            mine = next.fetch_add(1, std::memory_order_relaxed);
        };
        try {
            for (const pi_region &region : regions)
                for_each_part(source(region), destination(region), limits, add);
            if (pipeline)
                pipeline->finish();
        } catch (...) {
            next.store(uint64_t{1} << 63, std::memory_order_relaxed); // stops the other lanes
            throw;
        }
    };
    if (bytes < least_shared)
        return lane();
    sdk::run_in_lanes(primary.instance().copy_helpers(), Instance::copy_helper_count, lane);
}

bool is_pinned(const Api &api, const void *begin, uint64_t size) {
    const auto address = reinterpret_cast<CUdeviceptr>(begin);
    unsigned type = 0;
    if (api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) !=
            CUDA_SUCCESS ||
        type != CU_MEMORYTYPE_HOST)
        return false;
    CUdeviceptr start = 0;
    size_t bytes = 0;
    return api.cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) ==
               CUDA_SUCCESS &&
           api.cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) ==
               CUDA_SUCCESS &&
           address - start <= bytes && size <= bytes - (address - start);
}

} // namespace pi::cuda
