// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uses every name of pi.hpp; compile_test.sh compiles it with each compiler, standard and error
// variant. It is not run.
#include <pi/pi.hpp> // alone, and first

template class pi::HandleList<pi_event>;
template class pi::Result<uint32_t>;
template class pi::Result<pi::nothrow::Event>;
template class pi::Result<std::string>;
#if PI_HPP_EXCEPTIONS
template struct pi::Api<pi::Throw>;
#endif
template struct pi::Api<pi::Nothrow>;

namespace {

// A handle costs no more than the C one, and is passed like it.
static_assert(sizeof(pi::nothrow::Event) == sizeof(pi_event));
static_assert(std::is_trivially_copyable_v<pi::nothrow::EventRef>);
static_assert(std::is_standard_layout_v<pi::nothrow::Event>);

// Owners are movable and not copyable; references are values, of either variant, and are created
// from C handles.
using pi::nothrow::Event;
using pi::nothrow::EventRef;
static_assert(std::is_nothrow_move_constructible_v<Event> &&
              std::is_nothrow_move_assignable_v<Event>);
static_assert(!std::is_copy_constructible_v<Event> && !std::is_copy_assignable_v<Event>);
static_assert(std::is_convertible_v<Event, EventRef> && std::is_convertible_v<pi_event, EventRef>);
static_assert(!std::is_convertible_v<pi_event, Event>, "who takes a reference over says adopt");
static_assert(!std::is_convertible_v<Event, pi_event>, "who gives a C handle says get");
static_assert(!std::is_convertible_v<pi::nothrow::Queue, EventRef>);
static_assert(!std::is_copy_constructible_v<pi::nothrow::Usm>);

// The types that a list of handles accepts.
template <class From>
constexpr bool waits = std::is_convertible_v<From, pi::WaitList>;
static_assert(waits<pi_event> && waits<Event> && waits<EventRef>);
static_assert(waits<std::vector<pi_event>> && waits<std::vector<Event>>);
static_assert(waits<pi_event[2]> && waits<Event[2]> && !waits<pi_queue[2]>);
static_assert(waits<std::array<EventRef, 2>> && waits<pi::span<const Event>>);
static_assert(!waits<pi::nothrow::Queue> && !waits<std::vector<pi::nothrow::Queue>>);
static_assert(!waits<std::string>);

// Spans.
static_assert(std::is_convertible_v<std::vector<int> &, pi::span<const int>>);
static_assert(std::is_convertible_v<const std::array<int, 3> &, pi::span<const int>>);
static_assert(std::is_convertible_v<pi::span<int>, pi::span<const int>>);
static_assert(!std::is_convertible_v<pi::span<const int>, pi::span<int>>);
static_assert(!std::is_convertible_v<std::vector<double> &, pi::span<int>>);
constexpr int numbers[] = {1, 2, 3};
constexpr pi::span<const int> all(numbers);
static_assert(all.size() == 3 && all.data() == numbers && all[2] == 3 && !all.empty());
static_assert(pi::span<const int>(numbers, 2).size() == 2 && pi::span<int>().empty());
static_assert(
    std::is_same_v<decltype(pi::span(std::declval<std::vector<int> &>())), pi::span<int>>);
#if defined(__cpp_lib_span)
// A distinct type as in C++17, convertible both ways.
static_assert(!std::is_same_v<pi::span<int>, std::span<int>>);
static_assert(std::is_convertible_v<std::span<int>, pi::span<int>> &&
              std::is_convertible_v<std::span<int>, pi::span<const int>> &&
              !std::is_convertible_v<std::span<const int>, pi::span<int>>);
static_assert(std::is_convertible_v<pi::span<int>, std::span<int>> &&
              std::is_convertible_v<pi::span<int>, std::span<const int>> &&
              !std::is_convertible_v<pi::span<const int>, std::span<int>>);
#endif

static_assert(pi::desc<pi_queue_desc>().struct_size == sizeof(pi_queue_desc));
static_assert(pi::desc<pi_barrier_desc>().type == PI_TYPE_BARRIER_DESC);

} // namespace

/// All templates.
template <class Nouns>
void use_templates(typename Nouns::DeviceRef device, typename Nouns::ContextRef context,
                   typename Nouns::QueueRef queue, typename Nouns::KernelRef kernel,
                   typename Nouns::ProgramRef program, typename Nouns::Event event) {
    static_cast<void>(device.template info<PI_DEVICE_INFO_NAME>());
    static_cast<void>(device.template info<PI_DEVICE_INFO_PARENT>());
    static_cast<void>(device.template find_info<PI_DEVICE_INFO_SUB_GROUP_SIZES>());
    static_cast<void>(device.template info_as<uint32_t>(PI_VENDOR_BIT | 1));
    static_cast<void>(context.template info<PI_CONTEXT_INFO_DEVICES>());
    // No flags, one, several, and a plain number.
    static_cast<void>(Nouns::QueueRef::create(context, device));
    static_cast<void>(Nouns::QueueRef::create(context, device, 0));
    static_cast<void>(Nouns::QueueRef::create(context, device, PI_QUEUE_PROFILING));
    static_cast<void>(
        Nouns::QueueRef::create(context, device, PI_QUEUE_PROFILING | PI_QUEUE_OUT_OF_ORDER));
    static_cast<void>(Nouns::QueueRef::create(context, device, uint64_t{1}));
    static_cast<void>(kernel.template group_info<PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE>(device));
    static_cast<void>(kernel.template sub_group_info<PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE>(device));
    static_cast<void>(program.template build_info<PI_PROGRAM_BUILD_INFO_LOG>(device));
    static_cast<void>(event.template profiling_info<PI_PROFILING_END>());
    static_cast<void>(Nouns::Usm::template info<PI_USM_INFO_POOL>(context, nullptr));
    const typename Nouns::Plugin plugin;
    static_cast<void>(plugin.template extension<pi_native_handle>("none"));
    static_cast<void>(event.retain());
    static_cast<void>(event.set_callback([](typename Nouns::EventRef, pi_result) {}));
    static_cast<void>(queue.enqueue(pi::desc<pi_barrier_desc>()));
    static_cast<void>(queue.enqueue(pi::desc<pi_barrier_desc>(), {event, event.get()}));
    static_cast<void>(queue.enqueue(pi::desc<pi_timestamp_desc>(), event));
    static_cast<void>(queue.enqueue(pi::desc<pi_unmap_desc>(), {}, pi::no_event));
    event = typename Nouns::Event();
    *event.out() = event.detach();
}
template void use_templates<pi::Api<pi::Nothrow>>(pi::nothrow::DeviceRef, pi::nothrow::ContextRef,
                                                  pi::nothrow::QueueRef, pi::nothrow::KernelRef,
                                                  pi::nothrow::ProgramRef, pi::nothrow::Event);
#if PI_HPP_EXCEPTIONS
template void use_templates<pi::Api<pi::Throw>>(pi::DeviceRef, pi::ContextRef, pi::QueueRef,
                                                pi::KernelRef, pi::ProgramRef, pi::Event);
static_assert(std::is_convertible_v<pi::nothrow::Queue, pi::QueueRef>);
static_assert(std::is_convertible_v<std::vector<pi::Event>, pi::WaitList>);
#endif
