// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptions of the functions that take a descriptor: one row per function, two if it takes two
// or one in several ways. The members of a descriptor are found by their names.
#pragma once

#include "equipment.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pi::fuzz {

/// Objects of one place for descriptors, created once. Objects that its device lacks are NULL.
struct Fixture {
    explicit Fixture(const Place &place);
    ~Fixture();
    Fixture(const Fixture &) = delete;

    Place place;
    pi_queue queue = nullptr;
    pi_mem buffer = nullptr, other = nullptr;      ///< of `bytes`
    pi_mem exportable = nullptr;                   ///< as a file descriptor
    pi_mem image = nullptr, other_image = nullptr; ///< of 8 by 8 pixels of 4 bytes
    void *usm = nullptr;                           ///< `bytes` of the host's kind
    pi_usm_pool pool = nullptr;
    pi_program program = nullptr, unbuilt = nullptr;
    pi_kernel kernel = nullptr;
    static constexpr uint64_t bytes = 4096;
};

/// Good descriptors, of an image like the fixture's and of a program of native functions.
void fill_image(pi_mem_image_desc &desc);
void fill_program(pi_program_desc &desc);

/// One call: the memory that its descriptor names, and its other arguments.
class Trial {
public:
    explicit Trial(const Fixture &fixture) : at(fixture) {}
    ~Trial();
    Trial(const Trial &) = delete;

    /// Memory of zeros that is valid during the call.
    template <class T>
    T *keep(size_t count) {
        memory_.push_back(std::make_unique<uint64_t[]>((count * sizeof(T) + 7) / 8));
        return reinterpret_cast<T *>(memory_.back().get());
    }
    /// An array of one element, whose reserved words may be filled in.
    template <class T>
    T *element() {
        T *const made = keep<T>(1);
        reserved = {reinterpret_cast<uint8_t *>(&made->reserved), sizeof made->reserved};
        return made;
    }
    const pi_region *region(uint64_t size) {
        auto *const made = element<pi_region>();
        made->extent[0] = size;
        return made;
    }

    /// Calls a function that creates an object, and releases it.
    template <class Handle, class Release, class Call>
    pi_result make(Release &&release, Call &&call) {
        Handle made = unwritten<Handle>();
        const pi_result result = call(no_output ? nullptr : &made);
        judge_output(result, made);
        if (result == PI_SUCCESS) {
            must(release(made), "a release");
        }
        return result;
    }
    /// Calls a function with another output.
    template <class Output, class Call>
    pi_result answer(Output &output, Call &&call) {
        const Output before = output;
        const pi_result result = call(no_output ? nullptr : &output);
        if (result != PI_SUCCESS && std::memcmp(&before, &output, sizeof output) != 0) {
            finding("a call that fails writes its output");
        }
        return result;
    }
    /// Calls a command, and waits for it.
    template <class Desc>
    pi_result command(pi_result (*function)(pi_queue, const Desc *, uint32_t, const pi_event *,
                                            pi_event *),
                      const Desc *desc) {
        pi_event event = unwritten<pi_event>();
        pi_result result =
            function(at.queue, desc, wait_count, wait_list, no_output ? nullptr : &event);
        if (no_output && result == PI_SUCCESS) {
            must(piQueueFinish(at.queue), "piQueueFinish");
            return result;
        }
        judge_output(result, event);
        if (result == PI_SUCCESS) {
            result = piEventWait(event, PI_TIMEOUT_NEVER);
            must(piEventRelease(event), "piEventRelease");
        }
        return result;
    }

    const Fixture &at;
    bool no_output = false; ///< out_ arguments are NULL
    uint32_t wait_count = 0;
    const pi_event *wait_list = nullptr;
    std::span<uint8_t> reserved; ///< words of an array's element
    int file = -1;               ///< closed after the call
    void **written = nullptr;    ///< an output or input pointer of the command

private:
    template <class T>
    static T unwritten() {
        return reinterpret_cast<T>(uintptr_t{0x5A5A5A5A5A5A5A5A});
    }
    template <class T>
    void judge_output(pi_result result, T made) const {
        if (result != PI_SUCCESS && made != unwritten<T>()) {
            finding("a call that fails writes its output: ", result);
        }
        if (result == PI_SUCCESS && (no_output || made == unwritten<T>() || made == nullptr)) {
            finding("a call that succeeds makes nothing");
        }
    }

    std::deque<std::unique_ptr<uint64_t[]>> memory_;
};

/// A member of a descriptor.
struct Member {
    uint32_t offset = 0, size = 0;
};

struct Traits {
    uint64_t known_flags = 0;
    bool optional = false;         ///< NULL is a default
    bool output = false;           ///< an output struct
    bool outputs_optional = false; ///< without out_ arguments the call does the same
    pi_struct_type chained = 0;    ///< a type that `next` may have
    pi_result wrong_type = PI_ERROR_INVALID_DESCRIPTOR; ///< the result of another type
};

struct Row {
    const char *function;
    pi_struct_type type;
    uint32_t size; ///< of the descriptor
    Traits traits;
    Member flags, reserved;
    struct Array {
        Member count, pointer;
    };
    std::vector<Array> arrays;
    bool has_elements = false; ///< an array's elements have a reserved word
    struct Handle {
        Member member;
        pi_result wrong;
        bool optional;
        bool is_memory;
    };
    std::vector<Handle> handles;
    std::vector<Member> words; ///< which may be any number
    bool is_command = false;
    /// Fills in a good descriptor after its header.
    std::function<void(Trial &, void *)> fill;
    /// Calls the function with the descriptor, and undoes what it did.
    std::function<pi_result(Trial &, const void *)> call;
};

/// All of them.
const std::vector<Row> &rows();

namespace detail {

template <class Desc, class T>
Member member_of(T Desc::*member) {
    static const Desc desc{};
    return {static_cast<uint32_t>(reinterpret_cast<const char *>(&(desc.*member)) -
                                  reinterpret_cast<const char *>(&desc)),
            sizeof(T)};
}

template <class T>
constexpr pi_result wrong_handle = PI_SUCCESS;
template <>
inline constexpr pi_result wrong_handle<pi_mem> = PI_ERROR_INVALID_MEM_OBJECT;
template <>
inline constexpr pi_result wrong_handle<pi_kernel> = PI_ERROR_INVALID_KERNEL;
template <>
inline constexpr pi_result wrong_handle<pi_program> = PI_ERROR_INVALID_PROGRAM;
template <>
inline constexpr pi_result wrong_handle<pi_usm_pool> = PI_ERROR_INVALID_USM_POOL;
template <>
inline constexpr pi_result wrong_handle<pi_device> = PI_ERROR_INVALID_DEVICE;

template <class Desc>
void find_members(Row &row) {
    if constexpr (requires(Desc desc) { desc.flags; }) {
        row.flags = member_of(&Desc::flags);
    }
    if constexpr (requires(Desc desc) { desc.reserved; }) {
        row.reserved = member_of(&Desc::reserved);
    }
#define PI_FUZZ_HANDLE(name, optional)                                                             \
    if constexpr (requires(Desc desc) { desc.name; }) {                                            \
        using Handle = std::remove_cvref_t<decltype(Desc::name)>;                                  \
        if constexpr (wrong_handle<Handle> != PI_SUCCESS) {                                        \
            row.handles.push_back({member_of(&Desc::name), wrong_handle<Handle>, optional,         \
                                   std::is_same_v<Handle, pi_mem>});                               \
        }                                                                                          \
    }
    PI_FUZZ_HANDLE(mem, false)
    PI_FUZZ_HANDLE(image, false)
    PI_FUZZ_HANDLE(src, false)
    PI_FUZZ_HANDLE(dst, false)
    PI_FUZZ_HANDLE(kernel, false)
    PI_FUZZ_HANDLE(program, false)
    PI_FUZZ_HANDLE(pool, true)
    PI_FUZZ_HANDLE(device, true)
#undef PI_FUZZ_HANDLE
#define PI_FUZZ_ARRAY(count, pointer)                                                              \
    if constexpr (requires(Desc desc) { desc.count, desc.pointer; }) {                             \
        row.arrays.push_back({member_of(&Desc::count), member_of(&Desc::pointer)});                \
    }
    PI_FUZZ_ARRAY(region_count, regions)
    PI_FUZZ_ARRAY(argument_count, arguments)
    PI_FUZZ_ARRAY(device_count, devices)
    PI_FUZZ_ARRAY(program_count, programs)
    PI_FUZZ_ARRAY(count, counts)
    PI_FUZZ_ARRAY(rank, extents)
    PI_FUZZ_ARRAY(axis_separator_count, axis_separators)
    PI_FUZZ_ARRAY(plugin_count, plugins)
    PI_FUZZ_ARRAY(directory_count, directories)
    PI_FUZZ_ARRAY(layer_count, layers)
    PI_FUZZ_ARRAY(option_count, options)
#undef PI_FUZZ_ARRAY
#define PI_FUZZ_WORD(name)                                                                         \
    if constexpr (requires(Desc desc) { desc.name; }) {                                            \
        row.words.push_back(member_of(&Desc::name));                                               \
    }
    PI_FUZZ_WORD(kind)
    PI_FUZZ_WORD(scope)
    PI_FUZZ_WORD(src_scope)
    PI_FUZZ_WORD(dst_scope)
    PI_FUZZ_WORD(alignment)
    PI_FUZZ_WORD(export_types)
    PI_FUZZ_WORD(external_type)
    PI_FUZZ_WORD(image_type)
    PI_FUZZ_WORD(channel_order)
    PI_FUZZ_WORD(channel_type)
    PI_FUZZ_WORD(width)
    PI_FUZZ_WORD(height)
    PI_FUZZ_WORD(depth)
    PI_FUZZ_WORD(array_size)
    PI_FUZZ_WORD(row_pitch)
    PI_FUZZ_WORD(slice_pitch)
    PI_FUZZ_WORD(mip_levels)
    PI_FUZZ_WORD(samples)
    PI_FUZZ_WORD(offset)
    PI_FUZZ_WORD(own)
    PI_FUZZ_WORD(element_size)
    PI_FUZZ_WORD(release_threshold)
    PI_FUZZ_WORD(limit)
    PI_FUZZ_WORD(pattern_size)
    PI_FUZZ_WORD(advice)
    PI_FUZZ_WORD(dimensions)
    PI_FUZZ_WORD(local_memory_size)
    PI_FUZZ_WORD(format)
    PI_FUZZ_WORD(normalized_coordinates)
    PI_FUZZ_WORD(addressing)
    PI_FUZZ_WORD(filter)
    PI_FUZZ_WORD(log_level)
#undef PI_FUZZ_WORD
    // The callee cannot check the size of memory behind a pointer.
    if constexpr (
        requires(Desc desc) { desc.size; } && !requires(Desc desc) { desc.data; }) {
        row.words.push_back(member_of(&Desc::size));
    }
    // Arrays with a count in the descriptor.
    if constexpr (requires(Desc desc) { desc.local_size; }) {
        for (const Member array : {member_of(&Desc::global_offset), member_of(&Desc::local_size),
                                   member_of(&Desc::cluster_size)}) {
            for (uint32_t i = 0; i < 3; ++i) {
                row.words.push_back({array.offset + i * 8, 8});
            }
        }
    }
    if constexpr (requires(Desc desc) { desc.origin; }) {
        for (const Member array : {member_of(&Desc::origin), member_of(&Desc::extent)}) {
            for (uint32_t i = 0; i < 3; ++i) {
                row.words.push_back({array.offset + i * 8, 8});
            }
        }
    }
    if constexpr (requires(Desc desc) { desc.handle.native; }) {
        row.words.push_back({member_of(&Desc::handle).offset, sizeof(pi_external_type)});
    }
}

} // namespace detail

template <class Desc, class Fill, class Call>
Row row(const char *function, pi_struct_type type, const Traits &traits, Fill fill, Call call) {
    Row made{.function = function, .type = type, .size = sizeof(Desc), .traits = traits};
    detail::find_members<Desc>(made);
    made.is_command = std::string_view(function).starts_with("piEnqueue");
    // Queries about a launch do not read its arguments.
    if constexpr (requires(Desc desc) { desc.arguments; }) {
        if (!made.is_command) {
            made.arrays.clear();
        }
    }
    made.has_elements = made.is_command && (
                                               requires(Desc desc) { desc.regions->reserved; } ||
                                               requires(Desc desc) { desc.arguments->reserved; });
    made.fill = [fill](Trial &trial, void *desc) { fill(trial, *static_cast<Desc *>(desc)); };
    made.call = [call](Trial &trial, const void *desc) {
        return call(trial, static_cast<const Desc *>(desc));
    };
    return made;
}

/// A command, which the call waits for.
template <class Desc, class Fill>
Row command(const char *name,
            pi_result (*function)(pi_queue, const Desc *, uint32_t, const pi_event *, pi_event *),
            pi_struct_type type, Traits traits, Fill fill) {
    traits.known_flags |= PI_COMMAND_BLOCKING;
    traits.outputs_optional = true;
    return row<Desc>(name, type, traits, fill, [function](Trial &trial, const Desc *desc) {
        return trial.command(function, desc);
    });
}

/// The rows of two files.
std::vector<Row> object_rows();
std::vector<Row> command_rows();

} // namespace pi::fuzz
