// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "native.hpp"

#include "memory.hpp"
#include "migration.hpp"
#include "plugin.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace pi::sim {

namespace {

/// While a kernel runs over links that lose its pages: replaces these by other memory, of zeros.
class HiddenPages {
public:
    explicit HiddenPages(const std::vector<sdk::Ref<Mem>> &objects) {
        for (const sdk::Ref<Mem> &mem : objects) {
            const Storage &storage = mem->storage();
            const auto [entry, is_new] =
                saved_.try_emplace(storage.data(), storage.data(), storage.data() + storage.size());
            if (is_new)
                for_each_lost_page(*entry, [](std::byte *page, const std::byte *, uint64_t size) {
                    std::memset(page, 0, size);
                });
        }
    }
    HiddenPages(const HiddenPages &) = delete;
    ~HiddenPages() {
        for (const Saved &memory : saved_)
            for_each_lost_page(memory, [](std::byte *page, const std::byte *saved, uint64_t size) {
                std::memcpy(page, saved, size);
            });
    }

private:
    using Saved = std::pair<std::byte *const, std::vector<std::byte>>;

    template <class Visit>
    static void for_each_lost_page(const Saved &memory, const Visit &visit) {
        const uint64_t size = memory.second.size();
        for (uint64_t at = lost_page_size; at < size; at += 2 * lost_page_size)
            visit(memory.first + at, memory.second.data() + at,
                  std::min(lost_page_size, size - at));
    }

    std::map<std::byte *, std::vector<std::byte>> saved_;
};

} // namespace

void *Native::buffer(sdk::NativeArguments &arguments, Queue &queue,
                     const pi_kernel_argument &argument, const sdk::ArgumentName &name) {
    Mem &mem = checked_mem(queue.place(), argument.mem, name);
    sdk::check_buffer_argument(argument, name, mem.size());
    check_offset(mem, argument.offset, queue.device(), name);
    arguments.keep(mem);
    return mem.bytes().at(argument.offset);
}

void *Native::image(sdk::NativeArguments &, Queue &queue, const pi_kernel_argument &argument,
                    const sdk::ArgumentName &name) {
    // Check the handle first; whatever it is, it is not an image.
    sdk::checked<Mem>(queue.host(), argument.mem, name);
    sdk::fail(PI_ERROR_INVALID_MEM_OBJECT, name, " is a buffer; a simulated machine has no images");
}

void *Native::sampler(sdk::NativeArguments &, Queue &, const pi_kernel_argument &,
                      const sdk::ArgumentName &name) {
    sdk::fail(PI_ERROR_INVALID_SAMPLER, name, " is not a sampler: a simulated machine has none");
}

void Native::launch(Queue &queue, const sdk::EnqueueArguments &arguments,
                    sdk::NativeLaunch<Native> launch) {
    const Device &device = queue.device();
    const DeviceSpec &spec = device.spec();
    const auto own = spec.kernels.find(launch.kernel->native().name);
    const KernelSpec &time = own == spec.kernels.end() ? spec.kernel : own->second;
    const auto &size = launch.geometry.size;
    const double items =
        static_cast<double>(size[0]) * static_cast<double>(size[1]) * static_cast<double>(size[2]);
    Transfer transfer;
    transfer.task.duration = whole_time(time.launch_time + items * time.item_time);
    transfer.task.channels = {queue.links().processors(device.site())};
    std::vector<sdk::Ref<Mem>> lossy;
    std::vector<Mem *> written; // everything that it has and may write
    std::vector<Site> sites;
    for (const sdk::AnyRef &object : launch.arguments.objects()) {
        Mem &mem = Mem::from(static_cast<pi_mem>(object.handle()));
        sites.push_back(mem.site());
        if (queue.links().kernel_loses_pages(mem.site(), device.site()))
            lossy.emplace_back(mem);
        if (!(mem.flags() & PI_MEM_READ_ONLY))
            written.push_back(&mem);
    }
    queue.enqueue(arguments, std::move(transfer), sites,
                  writing(queue, std::move(written),
                          shared([launch = std::move(launch),
                                  lossy = std::move(lossy)](uint64_t, sdk::Event &) {
                              const HiddenPages hidden(lossy);
                              launch.run(0, launch.geometry.group_total());
                          })));
}

} // namespace pi::sim
