// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps and unmaps. Pinned memory is mapped in place; device memory through staging, or through the
// host_ptr that the buffer was created with.
#include "commands.hpp"
#include "entries.hpp"
#include "memory.hpp"
#include "pageable.hpp"
#include "submission.hpp"
#include "transfer.hpp"

#include <pi/sdk/region.hpp>

#include <utility>

namespace pi::cuda {

using namespace sdk;

namespace {

End end_of(const Map &map) {
    auto *const begin = static_cast<std::byte *>(map.pointer);
    return {reinterpret_cast<CUdeviceptr>(begin), nullptr, begin};
}

/// Copies between a device and staging, or maps in place.
class MapCommand final : public StreamCommand {
public:
    MapCommand(const Target &target, Mem &mem, const pi_buffer_map_desc &desc)
        : StreamCommand(target.queue, mem.in_host() || !map_reads(desc.flags)), mem_(mem),
          out_pointer_(desc.out_pointer) {
        Map &map = map_.emplace_back(Map{nullptr, desc.offset, desc.size, desc.flags});
        if (mem.in_host()) {
            map.pointer = mem.host_pointer() + desc.offset;
        } else {
            map.staging = Staging(mem.primary(), desc.size);
            map.pointer = map.staging.begin();
        }
    }

private:
    void issue(Submission &submission) override {
        const Map &map = map_.front();
        if (map.staging && map_reads(map.flags))
            copy_regions(
                submission, cuda::end_of(*mem_), end_of(map),
                physical_regions(range_regions(map.offset, 0, map.size), mem_->range(), {}));
    }
    void completed() override {
        void *const pointer = map_.front().pointer;
        mem_->maps().add(map_);
        *out_pointer_ = pointer;
    }

    const Ref<Mem> mem_;
    void **const out_pointer_;
    OneMap<Map> map_;
};

using TakenMap = sdk::TakenMap<Mem, Map>;

class UnmapCommand final : public StreamCommand {
public:
    UnmapCommand(const Target &target, TakenMap &&taken)
        : StreamCommand(target.queue, !copies(taken)), taken_(std::move(taken)) {}

private:
    static bool copies(const TakenMap &taken) {
        return taken.map().staging && map_writes(taken.map().flags);
    }
    void issue(Submission &submission) override {
        const Map &map = taken_.map();
        if (copies(taken_))
            copy_regions(
                submission, end_of(map), cuda::end_of(taken_.mem()),
                physical_regions(range_regions(0, map.offset, map.size), {}, taken_.mem().range()));
    }
    void completed() override { taken_.done(); }
    TakenMap taken_;
};

// Buffers with PI_MEM_USE_HOST_PTR are mapped and unmapped on a thread that may wait.

void map_host_ptr(Queue &queue, const EnqueueArguments &arguments, Mem &mem,
                  const pi_buffer_map_desc &desc) {
    std::byte *const pointer = mem.map_pointer() + desc.offset;
    OneMap<Map> map;
    map.emplace_back(Map{pointer, desc.offset, desc.size, desc.flags});
    enqueue_on_thread(queue, arguments,
                      [&queue, mem = Ref<Mem>(mem), desc, pointer, map = std::move(map)]() mutable {
                          if (map_reads(desc.flags))
                              transfer(queue.primary(), Direction::TO_HOST,
                                       mem->address() + desc.offset, pointer,
                                       range_regions(0, 0, desc.size));
                          mem->maps().add(map);
                          *desc.out_pointer = pointer;
                      });
}

void unmap_host_ptr(Queue &queue, const EnqueueArguments &arguments, TakenMap &&taken) {
    enqueue_on_thread(queue, arguments, [&queue, taken = std::move(taken)]() mutable {
        const Map &map = taken.map();
        if (map_writes(map.flags))
            transfer(queue.primary(), Direction::TO_DEVICE, taken.mem().address() + map.offset,
                     static_cast<std::byte *>(map.pointer), range_regions(0, 0, map.size));
        taken.done();
    });
}

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueMemBufferMap(pi_queue queue, const pi_buffer_map_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_MAP_DESC);
        check_map_flags(known.flags);
        Mem &mem = checked_buffer(self.primary(), self.host(), known.mem, "mem");
        require(known.out_pointer, "out_pointer");
        check_range(known.offset, known.size, mem.size(), "mem");
        const EnqueueArguments arguments{known.flags, known.type, wait_count, wait_list, out_event};
        if (mem.map_pointer())
            map_host_ptr(self, arguments, mem, known);
        else
            enqueue_stream<MapCommand>(self, arguments, mem, known);
    });
}

pi_result PI_CALL piEnqueueMemUnmap(pi_queue queue, const pi_unmap_desc *desc, uint32_t wait_count,
                                    const pi_event *wait_list, pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_UNMAP_DESC);
        Mem &mem = checked_buffer(self.primary(), self.host(), known.mem, "mem");
        require(known.pointer, "pointer");
        const EnqueueArguments arguments{known.flags, known.type, wait_count, wait_list, out_event};
        TakenMap taken(mem, known.pointer);
        if (mem.map_pointer())
            unmap_host_ptr(self, arguments, std::move(taken));
        else
            enqueue_stream<UnmapCommand>(self, arguments, std::move(taken));
    });
}

} // namespace entries
} // namespace pi::cuda
