// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps and unmaps of buffers.
#include "entries.hpp"
#include "memory.hpp"
#include "submission.hpp"

#include <pi/sdk/region.hpp>

namespace pi::opencl {

using namespace sdk;

namespace {

class MapCommand final : public VendorCommand {
public:
    MapCommand(Queue &queue, Mem &mem, const pi_buffer_map_desc &desc)
        : VendorCommand(queue, map_queue(queue, mem), map_device(queue, mem)), mem_(mem),
          offset_(desc.offset), size_(desc.size), flags_(vendor_flags(desc.flags)),
          out_pointer_(desc.out_pointer), map_(1) {}

private:
    static bool is_private(Mem &mem) { return mem.device().quirk(QUIRK_MAPS_IN_ORDER); }
    static cl_command_queue map_queue(Queue &queue, Mem &mem) {
        return is_private(mem) ? mem.context().private_queue(mem.device(), Context::Purpose::MAP)
                               : queue.id();
    }
    static Device &map_device(Queue &queue, Mem &mem) {
        return is_private(mem) ? mem.device() : queue.device();
    }
    static cl_map_flags vendor_flags(uint64_t flags) {
        // With PI_MAP_READ the contents matter: discard only without it.
        if ((flags & PI_MAP_WRITE_DISCARD) && !(flags & PI_MAP_READ))
            return CL_MAP_WRITE_INVALIDATE_REGION;
        return (flags & PI_MAP_READ ? CL_MAP_READ : 0) |
               (flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD) ? CL_MAP_WRITE : 0);
    }

    void issue(Submission &submission) override {
        submission.add_with("clEnqueueMapBuffer", [&](cl_command_queue queue, cl_uint count,
                                                      const cl_event *waits, cl_event *event) {
            cl_int code = CL_SUCCESS;
            map_.front().pointer =
                map_vendor(*mem_, queue, flags_, offset_, size_, count, waits, event, &code);
            return code;
        });
    }
    void completed() override {
        void *const pointer = map_.front().pointer;
        mem_->maps().add(map_);
        *out_pointer_ = pointer;
    }

    const Ref<Mem> mem_;
    const uint64_t offset_, size_;
    const cl_map_flags flags_;
    void **const out_pointer_;
    OneMap<Map> map_;
};

class UnmapCommand final : public VendorCommand {
public:
    UnmapCommand(Queue &queue, Mem &mem, void *pointer)
        : VendorCommand(queue), taken_(mem, pointer) {}

private:
    void issue(Submission &submission) override {
        submission.add_with("clEnqueueUnmapMemObject", [&](cl_command_queue queue, cl_uint count,
                                                           const cl_event *waits, cl_event *event) {
            return unmap_vendor(taken_.mem(), queue, taken_.map().pointer, count, waits, event);
        });
        taken_.done(); // otherwise, as when a dependency fails, it is still mapped
    }

    TakenMap<Mem, Map> taken_;
};

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueMemBufferMap(pi_queue queue, const pi_buffer_map_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_BUFFER_MAP_DESC);
        check_map_flags(known.flags);
        Mem &mem = checked_buffer(self.context(), known.mem, "mem");
        require(known.out_pointer, "out_pointer");
        check_range(known.offset, known.size, mem.size(), "mem");
        enqueue_vendor<MapCommand>(
            self, {known.flags, known.type, wait_count, wait_list, out_event}, mem, known);
    });
}

pi_result PI_CALL piEnqueueMemUnmap(pi_queue queue, const pi_unmap_desc *desc, uint32_t wait_count,
                                    const pi_event *wait_list, pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_UNMAP_DESC);
        Mem &mem = checked_buffer(self.context(), known.mem, "mem");
        require(known.pointer, "pointer");
        enqueue_vendor<UnmapCommand>(
            self, {known.flags, known.type, wait_count, wait_list, out_event}, mem, known.pointer);
    });
}

} // namespace entries
} // namespace pi::opencl
