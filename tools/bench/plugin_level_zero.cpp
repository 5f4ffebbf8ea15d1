// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Level Zero plugin compared with plain driver calls on the same device: the cost of calls, on
// few bytes.
#include "empty_kernel.hpp"
#include "equipment.hpp"
#include "level_zero.hpp"
#include "rectangles.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

namespace pi_bench {
namespace {

using pi::runtime::check;

constexpr const char *plain = "the same by plain calls of the driver";
constexpr size_t small_size = 64;

std::string row(const std::string &what) {
    return "Level Zero: " + what;
}

/// Both sides: PI has a context and a queue; plain calls have their own context, an immediate list,
/// and events, which are reset for reuse. A command that depends on an earlier one waits for its
/// event.
class Sides {
public:
    Sides(const LevelZero &functions, pi_device ours) : ze(functions), place(ours) {
        pi_native_handle handle{};
        check(piDeviceGetNativeHandle(ours, &handle), "piDeviceGetNativeHandle");
        device_ = reinterpret_cast<ze_device_handle_t>(handle.value[0]);
        pi_platform platform = nullptr;
        check(piDeviceGetInfo(ours, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, nullptr),
              "piDeviceGetInfo(PLATFORM)");
        check(piPlatformGetNativeHandle(platform, &handle), "piPlatformGetNativeHandle");
        make_context(reinterpret_cast<ze_driver_handle_t>(handle.value[0]));
        make_list();
        make_events();
    }
    Sides(const Sides &) = delete;

    /// Appends a command: append(signal, wait_count, waits) is the driver's call.
    template <class Append>
    void append(const char *call, Append &&call_driver) const {
        const size_t next = last_ + 1 == events_.size() ? 0 : last_ + 1;
        ze_event_handle_t before = events_[last_].get();
        check_ze(call_driver(events_[next].get(), busy_ ? 1U : 0U, busy_ ? &before : nullptr),
                 call);
        last_ = next;
        ++busy_;
    }
    /// Waits for everything that was appended, at most as many commands as there are events.
    void wait() const {
        if (busy_ == 0) {
            return;
        }
        check_ze(ze.zeEventHostSynchronize(events_[last_].get(), UINT64_MAX),
                 "zeEventHostSynchronize");
        for (size_t at = last_; busy_ > 0; --busy_) {
            check_ze(ze.zeEventHostReset(events_[at].get()), "zeEventHostReset");
            at = at == 0 ? events_.size() - 1 : at - 1;
        }
    }
    ZeOwned<void *> allocate(size_t size) const {
        ze_device_mem_alloc_desc_t desc{};
        desc.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
        void *memory = nullptr;
        check_ze(ze.zeMemAllocDevice(context(), &desc, size, 64, device_, &memory),
                 "zeMemAllocDevice");
        return {memory, [this](void *gone) { ze.zeMemFree(context(), gone); }};
    }
    ze_context_handle_t context() const { return context_.get(); }
    ze_device_handle_t device() const { return device_; }
    ze_command_list_handle_t list() const { return list_.get(); }

    const LevelZero &ze;
    const Place place;

private:
    void make_context(ze_driver_handle_t driver) {
        ze_context_desc_t desc{};
        desc.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
        ze_context_handle_t made = nullptr;
        check_ze(ze.zeContextCreate(driver, &desc, &made), "zeContextCreate");
        context_ = {made, [this](auto gone) { ze.zeContextDestroy(gone); }};
    }
    void make_list() {
        ze_command_queue_desc_t desc{};
        desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
        desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
        ze_command_list_handle_t made = nullptr;
        check_ze(ze.zeCommandListCreateImmediate(context(), device_, &desc, &made),
                 "zeCommandListCreateImmediate");
        list_ = {made, [this](auto gone) { ze.zeCommandListDestroy(gone); }};
    }
    void make_events() {
        ze_event_pool_desc_t desc{};
        desc.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC;
        desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
        desc.count = static_cast<uint32_t>(events_.size());
        ze_event_pool_handle_t made = nullptr;
        check_ze(ze.zeEventPoolCreate(context(), &desc, 0, nullptr, &made), "zeEventPoolCreate");
        pool_ = {made, [this](auto gone) { ze.zeEventPoolDestroy(gone); }};
        for (ZeOwned<ze_event_handle_t> &event : events_) {
            ze_event_desc_t one{};
            one.stype = ZE_STRUCTURE_TYPE_EVENT_DESC;
            one.index = static_cast<uint32_t>(&event - events_.data());
            one.signal = one.wait = ZE_EVENT_SCOPE_FLAG_HOST;
            ze_event_handle_t id = nullptr;
            check_ze(ze.zeEventCreate(made, &one, &id), "zeEventCreate");
            event = {id, [this](auto gone) { ze.zeEventDestroy(gone); }};
        }
    }

    ze_device_handle_t device_ = nullptr;
    ZeOwned<ze_context_handle_t> context_;
    ZeOwned<ze_command_list_handle_t> list_;
    ZeOwned<ze_event_pool_handle_t> pool_;
    std::array<ZeOwned<ze_event_handle_t>, most_in_a_row + 1> events_;
    mutable size_t last_ = 0, busy_ = 0;
};

// ----- launches -----

/// void nothing(global uint *data, uint value) {}
constexpr std::array<uint32_t, 47> empty_module{
    0x07230203,
    0x00010000,
    0,
    9,
    0, // SPIR-V 1.0, names below 9
    2 << 16 | 17,
    4, // OpCapability Addresses
    2 << 16 | 17,
    6, // OpCapability Kernel
    3 << 16 | 14,
    2,
    2, // OpMemoryModel Physical64 OpenCL
    5 << 16 | 15,
    6,
    1,
    0x68746f6e,
    0x00676e69, // OpEntryPoint Kernel %1 "nothing"
    2 << 16 | 19,
    2, // %2 = OpTypeVoid
    4 << 16 | 21,
    3,
    32,
    0, // %3 = OpTypeInt 32 0
    4 << 16 | 32,
    4,
    5,
    3, // %4 = OpTypePointer CrossWorkgroup %3
    5 << 16 | 33,
    5,
    2,
    4,
    3, // %5 = OpTypeFunction %2 %4 %3
    5 << 16 | 54,
    2,
    1,
    0,
    5, // %1 = OpFunction %2 None %5
    3 << 16 | 55,
    4,
    6, // %6 = OpFunctionParameter %4
    3 << 16 | 55,
    3,
    7, // %7 = OpFunctionParameter %3
    2 << 16 | 248,
    8,
    1 << 16 | 253,
    1 << 16 | 56, // OpLabel, OpReturn, OpFunctionEnd
};

/// The kernel of plain calls; a launch sets its arguments.
class PlainKernel {
public:
    explicit PlainKernel(const Sides &sides) : sides_(sides), memory_(sides.allocate(small_size)) {
        const LevelZero &ze = sides.ze;
        ze_module_desc_t desc{};
        desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
        desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
        desc.inputSize = sizeof empty_module;
        desc.pInputModule = reinterpret_cast<const uint8_t *>(empty_module.data());
        ze_module_handle_t module = nullptr;
        check_ze(ze.zeModuleCreate(sides.context(), sides.device(), &desc, &module, nullptr),
                 "zeModuleCreate");
        module_ = {module, [&ze](auto gone) { ze.zeModuleDestroy(gone); }};
        ze_kernel_desc_t named{};
        named.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
        named.pKernelName = "nothing";
        ze_kernel_handle_t kernel = nullptr;
        check_ze(ze.zeKernelCreate(module, &named, &kernel), "zeKernelCreate");
        kernel_ = {kernel, [&ze](auto gone) { ze.zeKernelDestroy(gone); }};
        check_ze(ze.zeKernelSetGroupSize(kernel, 1, 1, 1), "zeKernelSetGroupSize");
    }

    void launch() const {
        const LevelZero &ze = sides_.ze;
        const void *const data = memory_.get();
        const uint32_t value = 1;
        check_ze(ze.zeKernelSetArgumentValue(kernel_.get(), 0, sizeof data, &data),
                 "zeKernelSetArgumentValue");
        check_ze(ze.zeKernelSetArgumentValue(kernel_.get(), 1, sizeof value, &value),
                 "zeKernelSetArgumentValue");
        const ze_group_count_t groups{1, 1, 1};
        sides_.append("zeCommandListAppendLaunchKernel", [&](auto... order) {
            return ze.zeCommandListAppendLaunchKernel(sides_.list(), kernel_.get(), &groups,
                                                      order...);
        });
    }

private:
    const Sides &sides_;
    const ZeOwned<void *> memory_;
    ZeOwned<ze_module_handle_t> module_;
    ZeOwned<ze_kernel_handle_t> kernel_;
};

void compare_kernels(Session &session, const Sides &sides) {
    const EmptyKernel ours(
        sides.place, PI_PROGRAM_FORMAT_SPIRV,
        std::string(reinterpret_cast<const char *>(empty_module.data()), sizeof empty_module));
    const PlainKernel theirs(sides);
    const auto launch = [&] { theirs.launch(); };
    const auto wait = [&] { sides.wait(); };
    compare_launches(session, row(""), plain, ours, launch, wait);
    session.compare(row("launch of an empty kernel with an event, and wait for that"), plain,
                    Unit::nanoseconds, repeat([&] {
                        pi::runtime::Event event;
                        ours.launch(event.out());
                        check(piEventWait(event.get(), PI_TIMEOUT_NEVER), "piEventWait");
                    }),
                    repeat([&] {
                        launch();
                        wait();
                    }));
}

// ----- few bytes -----

void compare_bytes(Session &session, const Sides &sides) {
    const LevelZero &ze = sides.ze;
    const Place &place = sides.place;
    const std::string of = " of " + std::to_string(small_size) + " bytes";
    const pi::runtime::Mem src = make_buffer(place, small_size, 1),
                           dst = make_buffer(place, small_size, 2);
    const ZeOwned<void *> from = sides.allocate(small_size), to = sides.allocate(small_size);
    std::array<unsigned char, small_size> bytes{1};
    const auto plain_copy = [&](void *out, const void *in) {
        sides.append("zeCommandListAppendMemoryCopy", [&](auto... order) {
            return ze.zeCommandListAppendMemoryCopy(sides.list(), out, in, small_size, order...);
        });
    };
    const auto plain_fill = [&] {
        const uint32_t word = 7;
        sides.append("zeCommandListAppendMemoryFill", [&](auto... order) {
            return ze.zeCommandListAppendMemoryFill(sides.list(), to.get(), &word, sizeof word,
                                                    small_size, order...);
        });
    };
    const auto compare = [&](const std::string &what, const Batch &ours, const Batch &theirs) {
        session.compare(row(what), plain, Unit::nanoseconds, ours, theirs);
    };
    const auto waited = [&](auto append, auto... arguments) {
        return repeat([=, &sides] {
            append(arguments...);
            sides.wait();
        });
    };
    const auto our_copy = [&] { enqueue_copy(place, src.get(), dst.get(), small_size); };
    compare("blocking write" + of,
            repeat([&] { write(place, dst.get(), bytes.data(), small_size); }),
            waited(plain_copy, to.get(), bytes.data()));
    compare("blocking read" + of, repeat([&] { read(place, src.get(), bytes.data(), small_size); }),
            waited(plain_copy, bytes.data(), from.get()));
    compare("blocking copy" + of, repeat([&] { copy(place, src.get(), dst.get(), small_size); }),
            waited(plain_copy, to.get(), from.get()));
    compare("copy" + of + ", and wait", repeat([&] {
                our_copy();
                place.finish();
            }),
            waited(plain_copy, to.get(), from.get()));
    compare("copy" + of + ", many in a row", repeat_in_a_row(our_copy, [&] { place.finish(); }),
            repeat_in_a_row([&] { plain_copy(to.get(), from.get()); }, [&] { sides.wait(); }));
    compare("fill" + of + ", and wait", repeat([&] {
                enqueue_fill(place, dst.get(), small_size);
                place.finish();
            }),
            waited(plain_fill));
}

// ----- memory -----

void compare_memory(Session &session, const Sides &sides) {
    constexpr uint64_t size = uint64_t{64} << 10;
    const Place &place = sides.place;
    const Batch theirs = repeat([&] { sides.allocate(size); });
    auto usm = pi::desc<pi_usm_desc>();
    usm.kind = PI_USM_DEVICE;
    usm.size = size;
    session.compare(
        row("USM of 64 KiB, allocated and freed"), plain, Unit::nanoseconds, repeat([&] {
            void *pointer = nullptr;
            check(piUsmAlloc(place.context.get(), place.device, &usm, &pointer), "piUsmAlloc");
            check(piUsmFree(place.context.get(), pointer), "piUsmFree");
        }),
        theirs);
    auto buffer = pi::desc<pi_mem_buffer_desc>();
    buffer.size = size;
    session.compare(
        row("buffer of 64 KiB, created and released"), plain, Unit::nanoseconds, repeat([&] {
            pi::runtime::Mem mem;
            check(piMemBufferCreate(place.context.get(), place.device, &buffer, mem.out()),
                  "piMemBufferCreate");
        }),
        theirs);
}

// ----- rectangles -----

void compare_rectangles(Session &session, const Sides &sides) {
    const LevelZero &ze = sides.ze;
    const ZeOwned<void *> from = sides.allocate(GoodCase::size),
                          to = sides.allocate(GoodCase::size);
    const pi_region region = GoodCase::region();
    const ze_copy_region_t box{
        0, 0, 0, static_cast<uint32_t>(region.extent[0]), static_cast<uint32_t>(region.extent[1]),
        0};
    const auto pitch = static_cast<uint32_t>(region.src_pitch[0]);
    const auto slice = static_cast<uint32_t>(region.src_pitch[0] * region.extent[1]);
    const GoodCase good{
        "such a rectangle between two buffers, one plain call of the driver", repeat([&] {
            sides.append("zeCommandListAppendMemoryCopyRegion", [&](auto... order) {
                return ze.zeCommandListAppendMemoryCopyRegion(sides.list(), to.get(), &box, pitch,
                                                              slice, from.get(), &box, pitch, slice,
                                                              order...);
            });
            sides.wait();
        })};
    pi_bench::compare_rectangles(session, sides.place, row(""), good);
    compare_rectangles_between(session, sides.place, Place(sides.place.device), row(""), good);
}

} // namespace

void bench_level_zero(Session &session) {
    session.attempt("Level Zero", [&] {
        // Simulated devices find the kernel's code there; others ignore it.
        setenv("PI_SIMULATED_LEVEL_ZERO_KERNELS", equipment("libpi_bench_kernels.so").c_str(), 0);
        const pi::Loader loader = pi::Loader::create();
        const std::string library = variable(loader, "PI_LEVEL_ZERO_LIBRARY");
        const LevelZero ze(library.empty() ? "libze_loader.so.1" : library);
        const Sides sides(ze, loader.select_devices("level_zero").at(0).get());
        session.attempt(row("rectangles"), [&] { compare_rectangles(session, sides); });
        session.attempt(row("launches"), [&] { compare_kernels(session, sides); });
        session.attempt(row("few bytes"), [&] { compare_bytes(session, sides); });
        session.attempt(row("memory"), [&] { compare_memory(session, sides); });
    });
}

} // namespace pi_bench
