// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// UNIFIED USM: dst's queues use it by its address, whatever it was allocated from.

#include "kernels.hpp"
#include "link.hpp"
#include "registry.hpp"
#include "usm.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace pi::suite {
namespace {

constexpr uint64_t size = 8192;

// USM of src, of each kind that is UNIFIED, from each allocator, allocated before and after dst is
// granted access.
// Addresses belong to one context, so both places share it.
class Sources {
public:
    explicit Sources(Fixture &fixture)
        : fixture_(fixture), src_(fixture.src()), queue_(fixture.make_queue(src_)) {
        if (src_.context != fixture.dst().context)
            skip("the places have no context together");
        if (!has(PI_CAPABILITY_USM))
            skip("src does not have PI_CAPABILITY_USM");
        const auto kinds =
            get_info<uint32_t>(&piDeviceGetInfo, src_.device, PI_DEVICE_INFO_USM_CAPABILITIES);
        for (const auto &[usm, kind] : {std::pair{PI_USM_HOST, PI_MEMORY_KIND_USM_HOST},
                                        std::pair{PI_USM_DEVICE, PI_MEMORY_KIND_USM_DEVICE},
                                        std::pair{PI_USM_SHARED, PI_MEMORY_KIND_USM_SHARED}}) {
            if ((kinds & 1u << usm) == 0)
                continue;
            std::vector<std::pair<std::string, Usm>> allocated;
            allocate(usm, "before", allocated);
            auto query = pi::desc<pi_memory_connection_query>();
            query.kind = kind;
            pi_memory_connection_info info{};
            if (try_connection_info(src_, fixture.dst(), &query, info) != PI_SUCCESS ||
                info.connection != PI_MEMORY_CONNECTION_UNIFIED)
                continue;
            allocate(usm, "after", allocated);
            std::move(allocated.begin(), allocated.end(), std::back_inserter(all_));
        }
        if (all_.empty())
            skip("no USM of src is UNIFIED for dst");
    }
    const std::vector<std::pair<std::string, Usm>> &all() const { return all_; }
    pi_queue queue() const { return queue_; }

private:
    bool has(uint64_t capability) const {
        return (get_info<uint64_t>(&piDeviceGetInfo, src_.device, PI_DEVICE_INFO_CAPABILITIES) &
                capability) != 0;
    }
    void allocate(pi_usm_kind kind, const std::string &when,
                  std::vector<std::pair<std::string, Usm>> &into) {
        const std::string usm = join(name_of_kind(kind), " USM ");
        pi_usm_desc desc = usm_desc(kind, size);
        into.emplace_back(usm + "from " + when, Usm(src_, desc));
        if (has(PI_CAPABILITY_USM_POOL)) {
            auto pool = pi::desc<pi_usm_pool_desc>();
            pool.kind = kind;
            Owner<pi_usm_pool> &kept = pools_.emplace_back();
            require_success(piUsmPoolCreate(src_.context, src_.device, &pool, kept.out()),
                            "piUsmPoolCreate");
            desc.pool = kept;
            into.emplace_back(usm + "of a pool from " + when, Usm(src_, desc));
        }
        if (has(PI_CAPABILITY_USM_ASYNC) && kind == PI_USM_DEVICE) {
            void *pointer = nullptr;
            auto alloc = pi::desc<pi_usm_alloc_desc>();
            alloc.size = size;
            alloc.out_pointer = &pointer;
            fixture_.wait(fixture_.enqueue(queue_, alloc), "an allocation by command");
            into.emplace_back(usm + "by command from " + when, Usm(src_.context, pointer, size));
        }
    }

    Fixture &fixture_;
    const Place src_;
    const Queue queue_;
    std::vector<Owner<pi_usm_pool>> pools_;
    std::vector<std::pair<std::string, Usm>> all_;
};

CONFORMANCE_TEST_PAIRS(
    "connection", "dst's copies and fills accept unified USM, whatever it was allocated from") {
    const Sources sources(fixture);
    const Queue queue = fixture.make_queue(fixture.dst());
    for (const auto &[name, usm] : sources.all()) {
        const Bytes pattern = fixture.random_bytes(16);
        fixture.wait(fixture.enqueue(queue, usm_fill_desc(usm.at(), pattern, size)));
        require_usm_contents(fixture, sources.queue(), usm.at(), repeated(pattern, size),
                             name + ", filled by dst, at src");
        const Bytes bytes = fixture.random_bytes(size);
        usm_upload(fixture, sources.queue(), usm.at(), bytes);
        require_usm_contents(fixture, queue, usm.at(), bytes, name + ", written by src, at dst");
    }
}

CONFORMANCE_TEST_PAIRS("connection",
                       "dst's kernels accept unified USM, whatever it was allocated from") {
    const Sources sources(fixture);
    const Queue queue = fixture.make_queue(fixture.dst());
    const Program program = make_program(fixture, fixture.dst());
    const Kernel kernel = make_kernel(program, "add");
    for (const auto &[name, usm] : sources.all()) {
        usm_upload(fixture, sources.queue(), usm.at(), repeated(bytes_of({1000}), size));
        Arguments arguments;
        arguments.pointer(usm.at()).value(uint32_t{24});
        fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, size / 4)));
        require_usm_contents(fixture, sources.queue(), usm.at(), repeated(bytes_of({1024}), size),
                             name + ", after a kernel of dst, at src");
    }
}

} // namespace
} // namespace pi::suite
