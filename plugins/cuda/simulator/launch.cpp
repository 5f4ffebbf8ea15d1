// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "simulator/grid.hpp"
#include "simulator/lost_pages.hpp"
#include "texture.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace pi::cuda::simulated {

namespace {

using drivers::Grid;

constexpr int most_threads = 1024, threads_of_processor = 2048;
constexpr int most_shared = 227 * 1024;

/// A launch as the stream's thread will run it: values are copied.
struct Launch {
    std::shared_ptr<Function> function;
    std::shared_ptr<Context> context;
    Grid grid;
    size_t shared_size = 0;
    bool cooperative = false;
    std::vector<std::vector<char>> values; ///< per parameter
};

/// The native function's arguments, except those in shared memory, which each block has for itself.
struct Arguments {
    std::vector<void *> pointers;
    std::vector<std::shared_ptr<Allocation>> owners;
    std::vector<std::vector<std::uint64_t>> copies; ///< copies of memory that contains addresses
    std::vector<std::shared_ptr<ImageRecord>> images;
};

std::uint64_t word_of(const std::vector<char> &value) {
    std::uint64_t word = 0;
    std::copy_n(value.data(), std::min(value.size(), sizeof word), reinterpret_cast<char *>(&word));
    return word;
}

/// The driver's address of a device address, for a launch of the context.
char *reach_for(Arguments &arguments, CUdeviceptr address, const Context &context) {
    const Bytes bytes = reach(address, 1, context, false);
    arguments.owners.insert(arguments.owners.end(), bytes.owners.begin(), bytes.owners.end());
    return bytes.data;
}

/// A copy of the memory from the address to its end, in which each word that is an address of known
/// memory is replaced by the driver's.
void *follow(Arguments &arguments, CUdeviceptr address, const Context &context) {
    char *const bytes = reach_for(arguments, address, context);
    if (!find_allocation(address))
        return bytes; // pageable memory, whose end is unknown
    const Allocation &memory = *arguments.owners.back();
    std::vector<std::uint64_t> words((memory.address + memory.size - address) / 8);
    std::memcpy(words.data(), bytes, words.size() * 8);
    for (std::uint64_t &word : words)
        if (find_allocation(word))
            word = reinterpret_cast<std::uint64_t>(reach_for(arguments, word, context));
    return arguments.copies.emplace_back(std::move(words)).data();
}

/// A native kernel runs on a thread of this process, where the caller's device addresses are not
/// accessible: they are replaced by the driver's. Memory that the context may not use is an illegal
/// address.
Arguments resolve(Launch &launch) {
    const Lock lock(driver().mutex);
    Arguments arguments;
    for (size_t i = 0; i < launch.values.size(); ++i) {
        void *pointer = launch.values[i].data();
        const Pass pass = launch.function->parameters[i].pass;
        if (pass == Pass::texture || pass == Pass::surface) {
            const std::uint64_t handle = word_of(launch.values[i]);
            arguments.images.push_back(pass == Pass::texture
                                           ? texture_record(handle, *launch.context)
                                           : surface_record(handle, *launch.context));
            pointer = &arguments.images.back()->image;
        } else if (pass == Pass::pointer || pass == Pass::addresses) {
            const CUdeviceptr address = word_of(launch.values[i]);
            pointer = !address                ? nullptr
                      : pass == Pass::pointer ? reach_for(arguments, address, *launch.context)
                                              : follow(arguments, address, *launch.context);
        }
        arguments.pointers.push_back(pointer);
    }
    return arguments;
}

void run_block(const Launch &launch, const Arguments &arguments, const pi_native_group &group) {
    std::vector<void *> pointers = arguments.pointers;
    struct alignas(64) Line {
        char bytes[64];
    };
    std::vector<Line> shared(launch.shared_size / sizeof(Line) + 1);
    std::memset(static_cast<void *>(shared.data()), drivers::poison, shared.size() * sizeof(Line));
    for (size_t i = 0; i < pointers.size(); ++i) {
        const Pass pass = launch.function->parameters[i].pass;
        if (pass == Pass::shared || pass == Pass::area)
            pointers[i] = reinterpret_cast<char *>(shared.data()) + word_of(launch.values[i]);
    }
    launch.function->native(&group, pointers.data());
}

void run(Launch &launch) {
    const Arguments arguments = resolve(launch);
    drivers::HiddenPages hidden;
    for (const std::shared_ptr<Allocation> &memory : arguments.owners)
        if (driver().machine.kernel_loses_pages(device_index(*memory),
                                                size_t(launch.context->device->ordinal)))
            hidden.add(memory->bytes, memory->size);
    drivers::run_groups(launch.grid, launch.cooperative,
                        [&](const pi_native_group &group) { run_block(launch, arguments, group); });
}

/// The values, from an array of pointers to them, or from one buffer that has all of them at their
/// offsets.
std::vector<std::vector<char>> values_of(const Function &function, void **parameters,
                                         void **extra) {
    std::vector<std::vector<char>> values;
    const char *buffer = nullptr;
    size_t size = 0;
    for (void **option = extra; option && *option; option += 2) {
        const auto which = reinterpret_cast<std::uintptr_t>(option[0]);
        need(which == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT ||
                 which == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT,
             CUDA_ERROR_INVALID_VALUE);
        if (which == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT)
            buffer = static_cast<const char *>(option[1]);
        else
            size = *static_cast<size_t *>(option[1]);
    }
    need(!(parameters && extra), CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < function.parameters.size(); ++i) {
        const Parameter &parameter = function.parameters[i];
        if (parameter.pass == Pass::area) { // the caller passes nothing for it
            values.emplace_back();
            continue;
        }
        const char *from = parameters ? static_cast<const char *>(parameters[i])
                           : buffer && parameter.offset + parameter.size <= size
                               ? buffer + parameter.offset
                               : nullptr;
        need(from, CUDA_ERROR_INVALID_VALUE);
        values.emplace_back(from, from + parameter.size);
    }
    return values;
}

int blocks_of_processor(int threads, size_t shared) {
    need(threads > 0, CUDA_ERROR_INVALID_VALUE);
    if (threads > most_threads || shared > size_t(most_shared))
        return 0;
    const int whole = (threads + 31) / 32 * 32;
    const int by_shared = shared ? static_cast<int>(size_t(228 * 1024) / (shared + 1024)) : 32;
    return std::min({threads_of_processor / whole, by_shared, 32});
}

void check_shape(const Grid &grid, const Function &function, size_t shared) {
    const std::array<unsigned, 3> most_grid = {2147483647, 65535, 65535};
    const std::array<unsigned, 3> most_block = {1024, 1024, 64};
    for (size_t axis = 0; axis < 3; ++axis)
        need(grid.count[axis] > 0 && grid.count[axis] <= most_grid[axis] && grid.size[axis] > 0 &&
                 grid.size[axis] <= most_block[axis],
             CUDA_ERROR_INVALID_VALUE);
    need(grid.items() <= most_threads, CUDA_ERROR_INVALID_VALUE);
    need(shared <= size_t(function.max_dynamic_shared), CUDA_ERROR_INVALID_VALUE);
}

std::shared_ptr<Function> function_of(CUfunction handle) {
    std::shared_ptr<Function> function = driver().functions.find(handle);
    need(function != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return function;
}

CUresult launch(CUfunction handle, const Grid &grid, unsigned shared, CUstream stream_handle,
                void **parameters, void **extra, bool cooperative) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        const std::shared_ptr<Function> function = function_of(handle);
        const std::shared_ptr<Stream> stream = stream_of(stream_handle, context);
        need(stream->context == context, CUDA_ERROR_INVALID_HANDLE);
        need(function->context == context, CUDA_ERROR_INVALID_CONTEXT);
        check_shape(grid, *function, shared);
        if (cooperative) {
            const int fit = blocks_of_processor(static_cast<int>(grid.items()), shared) *
                            context->device->model.compute_units;
            need(grid.groups() <= size_t(fit), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        auto made = std::make_shared<Launch>();
        made->function = function;
        made->context = context;
        made->grid = grid;
        made->shared_size = shared;
        made->cooperative = cooperative;
        made->values = values_of(*function, parameters, extra);
        for (size_t i = 0; i < made->values.size(); ++i)
            if (function->parameters[i].pass == Pass::shared)
                need(word_of(made->values[i]) <= shared, CUDA_ERROR_INVALID_VALUE);
        enqueue(*stream, {.work = [made](CUresult) {
            run(*made);
            return CUDA_SUCCESS;
        }});
        return CUDA_SUCCESS;
    });
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuLaunchKernel(CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz,
                        unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                        CUstream stream, void **parameters, void **extra) {
    return launch(function, {{gx, gy, gz}, {bx, by, bz}}, shared, stream, parameters, extra, false);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int gx, unsigned int gy,
                                   unsigned int gz, unsigned int bx, unsigned int by,
                                   unsigned int bz, unsigned int shared, CUstream stream,
                                   void **parameters) {
    return launch(function, {{gx, gy, gz}, {bx, by, bz}}, shared, stream, parameters, nullptr,
                  true);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **parameters,
                          void **extra) {
    if (!c || (c->numAttrs > 0 && !c->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    bool cooperative = false;
    for (unsigned i = 0; i < c->numAttrs; ++i) {
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            cooperative = c->attrs[i].value.cooperative != 0;
        else if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            return CUDA_ERROR_NOT_SUPPORTED;
    }
    return launch(
        function,
        {{c->gridDimX, c->gridDimY, c->gridDimZ}, {c->blockDimX, c->blockDimY, c->blockDimZ}},
        c->sharedMemBytes, c->hStream, parameters, extra, cooperative);
}

CUresult cuFuncGetAttribute(int *out, CUfunction_attribute attribute, CUfunction handle) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Function> function = function_of(handle);
        need(out, CUDA_ERROR_INVALID_VALUE);
        switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *out = most_threads;
            break;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            *out = function->max_dynamic_shared;
            break;
        case CU_FUNC_ATTRIBUTE_NUM_REGS:
            *out = 32;
            break;
        case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
            *out = 90;
            break;
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
            *out = 0;
            break;
        case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
            *out = -1;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Function> function = function_of(handle);
        if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
            return CUDA_SUCCESS;
        need(attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value >= 0 &&
                 value <= most_shared,
             CUDA_ERROR_INVALID_VALUE);
        function->max_dynamic_shared = value;
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Function> function = function_of(handle);
        need(offset && index < function->parameters.size() &&
                 function->parameters[index].pass != Pass::area,
             CUDA_ERROR_INVALID_VALUE);
        *offset = function->parameters[index].offset;
        if (size)
            *size = function->parameters[index].size;
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetModule(CUmodule *out, CUfunction handle) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Module> module = function_of(handle)->module.lock();
        need(out && module, CUDA_ERROR_INVALID_VALUE);
        *out = module->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetName(const char **out, CUfunction handle) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Function> function = function_of(handle);
        need(out, CUDA_ERROR_INVALID_VALUE);
        *out = function->name.c_str();
        return CUDA_SUCCESS;
    });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction handle, int threads,
                                                     size_t shared) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        function_of(handle);
        need(out, CUDA_ERROR_INVALID_VALUE);
        *out = blocks_of_processor(threads, shared);
        return CUDA_SUCCESS;
    });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, CUfunction function,
                                                              int threads, size_t shared,
                                                              unsigned int) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(out, function, threads, shared);
}

CUresult cuOccupancyMaxPotentialBlockSize(int *least_grid, int *block, CUfunction handle,
                                          CUoccupancyB2DSize, size_t, int limit) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        function_of(handle);
        need(least_grid && block && limit >= 0, CUDA_ERROR_INVALID_VALUE);
        *block = limit == 0 ? most_threads : std::min(limit, most_threads);
        *least_grid = context->device->model.compute_units * blocks_of_processor(*block, 0);
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
