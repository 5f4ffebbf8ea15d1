// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"
#include "simulator/grid.hpp"
#include "simulator/lost_pages.hpp"

#include <algorithm>
#include <cstring>

namespace pi::level_zero::simulated {

namespace {

using drivers::Grid;

/// A launch as its line will run it: values are copied, objects kept alive.
struct Launch {
    std::shared_ptr<Kernel> kernel;
    const Device *device = nullptr;
    Grid grid{};
    bool cooperative = false;
    ze_kernel_indirect_access_flags_t indirect = 0;
    std::vector<std::vector<char>> values;          ///< per parameter
    std::vector<std::shared_ptr<Reach>> reaches;    ///< of pointer parameters
    std::vector<std::shared_ptr<Image>> images;     ///< of image parameters
    std::vector<std::shared_ptr<Sampler>> samplers; ///< of sampler parameters
    std::optional<Reach> counts;                    ///< memory with the number of groups
};

/// The native function's arguments, except local memory, which each group has for itself.
struct Arguments {
    std::vector<void *> pointers;
    std::vector<std::shared_ptr<Allocation>> owners;
    std::vector<std::vector<std::uint64_t>> copies; ///< copies of memory that contains addresses
    std::vector<std::unique_ptr<pi_native_image>> images;
    std::vector<std::unique_ptr<pi_native_sampler>> samplers;
};

std::uint64_t word_of(const std::vector<char> &value) {
    std::uint64_t word;
    std::memcpy(&word, value.data(), sizeof word);
    return word;
}

ze_kernel_indirect_access_flags_t flag_of(const Allocation &memory) {
    return memory.type == ZE_MEMORY_TYPE_HOST     ? ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST
           : memory.type == ZE_MEMORY_TYPE_SHARED ? ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED
                                                  : ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE;
}

/// Memory passed as a parameter needs no right of indirect access.
bool is_argument(const Launch &launch, const Allocation &memory) {
    return std::any_of(launch.reaches.begin(), launch.reaches.end(), [&](const auto &reach) {
        return reach && reach->memory().get() == &memory;
    });
}

/// A copy of the memory from the address to its end, in which each word that is an address of known
/// memory is replaced by the driver's.
void *follow(Arguments &arguments, const Launch &launch, const Bytes &bytes) {
    const Allocation &memory = *bytes.owner;
    const auto offset = static_cast<size_t>(bytes.data - memory.bytes);
    std::vector<std::uint64_t> words((memory.size - offset) / 8);
    std::memcpy(words.data(), bytes.data, words.size() * 8);
    for (std::uint64_t &word : words) {
        const auto *const address = reinterpret_cast<const void *>(word);
        const std::shared_ptr<Allocation> found = find_allocation(address);
        if (!found)
            continue;
        if (!is_argument(launch, *found) && !(launch.indirect & flag_of(*found)))
            throw Lost("kernel '" + launch.kernel->function->name +
                       "' follows an address to memory outside its indirect access");
        arguments.owners.push_back(found);
        word = reinterpret_cast<std::uint64_t>(found->bytes + (word - found->address));
    }
    return arguments.copies.emplace_back(std::move(words)).data();
}

void *resolve(Arguments &arguments, Launch &launch, size_t index) {
    switch (launch.kernel->function->parameters[index].pass) {
    case Pass::surface:
    case Pass::texture:
        arguments.images.push_back(
            std::make_unique<pi_native_image>(record_of(*launch.images[index])));
        return arguments.images.back().get();
    case Pass::sampler:
        arguments.samplers.push_back(
            std::make_unique<pi_native_sampler>(record_of(*launch.samplers[index])));
        return arguments.samplers.back().get();
    case Pass::pointer:
    case Pass::addresses: {
        if (!launch.reaches[index])
            return nullptr;
        const Bytes bytes = launch.reaches[index]->now();
        arguments.owners.push_back(bytes.owner);
        return launch.kernel->function->parameters[index].pass == Pass::pointer
                   ? bytes.data
                   : follow(arguments, launch, bytes);
    }
    default:
        return launch.values[index].data();
    }
}

void run_group(const Launch &launch, const Arguments &arguments, const pi_native_group &group) {
    std::vector<void *> pointers = arguments.pointers;
    struct alignas(64) Piece {
        char bytes[64];
    };
    std::vector<std::vector<Piece>> local;
    for (size_t i = 0; i < pointers.size(); ++i) {
        if (launch.kernel->function->parameters[i].pass != Pass::shared)
            continue;
        std::vector<Piece> &memory =
            local.emplace_back(launch.values[i].size() / sizeof(Piece) + 1);
        std::memset(static_cast<void *>(memory.data()), drivers::poison,
                    memory.size() * sizeof(Piece));
        pointers[i] = memory.data();
    }
    launch.kernel->function->native(&group, pointers.data());
}

void run(Launch &launch) {
    Arguments arguments;
    {
        const Lock lock(driver().mutex);
        for (size_t i = 0; i < launch.values.size(); ++i)
            arguments.pointers.push_back(resolve(arguments, launch, i));
        if (launch.counts) {
            ze_group_count_t count;
            std::memcpy(&count, launch.counts->now().data, sizeof count);
            launch.grid.count = {count.groupCountX, count.groupCountY, count.groupCountZ};
        }
    }
    drivers::HiddenPages hidden;
    for (const std::shared_ptr<Allocation> &memory : arguments.owners)
        if (memory &&
            driver().machine.kernel_loses_pages(memory->device_index(), launch.device->index))
            hidden.add(memory->bytes, memory->size);
    drivers::run_groups(launch.grid, launch.cooperative,
                        [&](const pi_native_group &group) { run_group(launch, arguments, group); });
}

/// Checks the object of the parameter now, and keeps it until the kernel is done.
void take_argument(Launch &launch, Command &command, size_t index) {
    const std::optional<std::vector<char>> &value = launch.kernel->values[index];
    need(value.has_value(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    launch.values.push_back(*value);
    launch.reaches.emplace_back();
    launch.images.emplace_back();
    launch.samplers.emplace_back();
    const Pass pass = launch.kernel->function->parameters[index].pass;
    if (pass == Pass::surface || pass == Pass::texture) {
        launch.images.back() =
            find(driver().images, reinterpret_cast<ze_image_handle_t>(word_of(*value)));
        need(launch.images.back()->device == launch.device, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        command.uses.push_back(launch.images.back());
    } else if (pass == Pass::sampler) {
        launch.samplers.back() =
            find(driver().samplers, reinterpret_cast<ze_sampler_handle_t>(word_of(*value)));
        need(launch.samplers.back()->device == launch.device, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        command.uses.push_back(launch.samplers.back());
    } else if (pass == Pass::pointer || pass == Pass::addresses) {
        const auto *const address = reinterpret_cast<const void *>(word_of(*value));
        if (!address)
            return;
        // Devices cannot access memory that the driver did not allocate.
        need(find_allocation(address) != nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        launch.reaches.back() = std::make_shared<Reach>(address, 1, launch.device);
        launch.reaches.back()->keep(command);
    }
}

/// Copies the kernel's settings: later changes are for later launches.
std::shared_ptr<Launch> prepare(const List &list, Command &command, ze_kernel_handle_t handle) {
    auto launch = std::make_shared<Launch>();
    launch->kernel = find(driver().kernels, handle);
    launch->device = list.device;
    need(list.group == compute_group, ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    need(launch->kernel->module->device == list.device, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    launch->grid.size = launch->kernel->group_size;
    launch->grid.offset = launch->kernel->offset;
    launch->indirect = launch->kernel->indirect;
    command.uses = {launch->kernel, launch->kernel->module};
    for (size_t i = 0; i < launch->kernel->values.size(); ++i)
        take_argument(*launch, command, i);
    command.work = [launch] { run(*launch); };
    return launch;
}

ze_result_t append_launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                          const ze_group_count_t *count, const Order &order, bool cooperative) {
    if (!count)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return append(list, order, [&](List &target, Command &command) {
        const std::shared_ptr<Launch> launch = prepare(target, command, kernel);
        need(count->groupCountX && count->groupCountY && count->groupCountZ,
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
        launch->grid.count = {count->groupCountX, count->groupCountY, count->groupCountZ};
        launch->cooperative = cooperative;
        need(!cooperative || launch->grid.groups() <= most_groups_at_once(*target.device),
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
    });
}

} // namespace

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernel(ze_command_list_handle_t list,
                                                       ze_kernel_handle_t kernel,
                                                       const ze_group_count_t *groups,
                                                       ze_event_handle_t signal, uint32_t count,
                                                       ze_event_handle_t *waits) {
    return append_launch(list, kernel, groups, {signal, count, waits}, false);
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchCooperativeKernel(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
    ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    return append_launch(list, kernel, groups, {signal, count, waits}, true);
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernelIndirect(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *groups,
    ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    if (!groups)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return append(list, {signal, count, waits}, [&](List &target, Command &command) {
        const std::shared_ptr<Launch> launch = prepare(target, command, kernel);
        need(find_allocation(groups) != nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        launch->counts.emplace(groups, sizeof *groups, target.device);
        launch->counts->keep(command);
    });
}
