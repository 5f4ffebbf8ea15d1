// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps and unmaps. Host memory is mapped in place; device memory through staging, or through the
// host_ptr that the buffer was created with.
#include "commands.hpp"
#include "entries.hpp"

#include <pi/sdk/region.hpp>

namespace pi::level_zero {

using namespace sdk;

namespace {

/// Copies the mapped range between the memory and the staging that stands for it.
void append_mapped(Submission &submission, const End &memory, uint64_t offset, void *pointer,
                   uint64_t size, bool to_host) {
    const Rectangle there{offset, size, 1, 1, size, size}, here{0, size, 1, 1, size, size};
    const End host{static_cast<std::byte *>(pointer)};
    if (to_host)
        append_box(submission, memory, there, host, here);
    else
        append_box(submission, host, here, memory, there);
}

class MapCommand final : public ListCommand {
public:
    MapCommand(const Target &target, Mem &mem, const pi_buffer_map_desc &desc)
        : ListCommand(target.queue, mem.in_host() || !map_reads(desc.flags)), mem_(mem),
          out_pointer_(desc.out_pointer) {
        Map &map = map_.emplace_back(Map{nullptr, desc.offset, desc.size, desc.flags});
        if (mem.in_host()) {
            map.pointer = mem.host_pointer() + desc.offset;
        } else if (mem.map_pointer()) {
            map.pointer = mem.map_pointer() + desc.offset;
        } else {
            map.staging = Staging(mem.place().context(), desc.size);
            map.pointer = map.staging.begin();
        }
    }

private:
    void issue(Submission &submission) override {
        const Map &map = map_.front();
        if (!mem_->in_host() && map_reads(map.flags))
            append_mapped(submission, end_of(*mem_), map.offset, map.pointer, map.size, true);
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

using Taken = TakenMap<Mem, Map>;

class UnmapCommand final : public ListCommand {
public:
    UnmapCommand(const Target &target, Taken &&taken)
        : ListCommand(target.queue, !copies(taken)), taken_(std::move(taken)) {}

private:
    static bool copies(const Taken &taken) {
        return !taken.mem().in_host() && map_writes(taken.map().flags);
    }
    void issue(Submission &submission) override {
        const Map &map = taken_.map();
        if (copies(taken_))
            append_mapped(submission, end_of(taken_.mem()), map.offset, map.pointer, map.size,
                          false);
    }
    void completed() override { taken_.done(); }

    Taken taken_;
};

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueMemBufferMap(pi_queue queue, const pi_buffer_map_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_MAP_DESC);
        check_map_flags(known.flags);
        Mem &mem = checked_buffer(self.place(), self.host(), known.mem, "mem");
        require(known.out_pointer, "out_pointer");
        check_range(known.offset, known.size, mem.size(), "mem");
        enqueue_list<MapCommand>(self, {known.flags, known.type, wait_count, wait_list, out_event},
                                 mem, known);
    });
}

pi_result PI_CALL piEnqueueMemUnmap(pi_queue queue, const pi_unmap_desc *desc, uint32_t wait_count,
                                    const pi_event *wait_list, pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_UNMAP_DESC);
        Mem &mem = checked_buffer(self.place(), self.host(), known.mem, "mem");
        require(known.pointer, "pointer");
        enqueue_list<UnmapCommand>(self,
                                   {known.flags, known.type, wait_count, wait_list, out_event},
                                   Taken(mem, known.pointer));
    });
}

} // namespace entries
} // namespace pi::level_zero
