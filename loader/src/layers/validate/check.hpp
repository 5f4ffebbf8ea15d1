// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check of one call: it is refused for its first error, with a text that names the argument,
// its value, and what would be right.
#pragma once

#include "enumerators.hpp"
#include "layers/validate/validator.hpp"

namespace pi::loader::validate {

/// "desc->regions[2].src_pitch[1]": the position of a value in a call.
struct Name {
    const char *argument;
    int64_t index = -1;
    const char *member = "";
    int64_t member_index = -1;

    Name at(const char *of_element, int64_t of_member = -1) const noexcept {
        return {argument, index, of_element, of_member};
    }
};
std::string text_of(const Name &name);

inline constexpr uint64_t access_flags = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY;

/// Facts from a call's first arguments.
struct Place {
    pi_context context = nullptr; ///< nullptr: none, or unknown
    pi_device device = nullptr;
    const QueueFacts *queue = nullptr;   ///< for commands; nullptr: unknown
    const void *queue_handle = nullptr;  ///< for commands
    bool view = false;                   ///< the call creates a view
    const MemoryFacts *memory = nullptr; ///< for views: the viewed memory; nullptr: unknown
    uint32_t wait_count = 0;
    const pi_event *wait_list = nullptr;
};

class Check {
public:
    Check(Validator &validator, const char *function) noexcept
        : validator_(validator), function_(function) {}

    Validator &validator() const noexcept { return validator_; }
    pi_result result() const noexcept { return result_; }
    bool failed() const noexcept { return result_ != PI_SUCCESS; }

    /// The text continues the argument's name: "is 0; at least 1 is needed". Only the first refusal
    /// counts.
    template <typename... Parts>
    [[gnu::cold, gnu::noinline]] void refuse(pi_result code, const Name &name,
                                             fmt::format_string<Parts...> format,
                                             Parts &&...parts) noexcept {
        if (failed())
            return;
        result_ = code; // even without memory for the text
        result_ = guarded(function_, [&] {
            return validator_.refuse(
                code, fmt::format("{}: {} {}", function_, text_of(name),
                                  fmt::format(format, std::forward<Parts>(parts)...)));
        });
    }

    /// PI_ERROR_INVALID_NULL_POINTER. False if it is refused.
    bool not_null(const void *pointer, const Name &name) noexcept {
        if (pointer == nullptr)
            refuse(PI_ERROR_INVALID_NULL_POINTER, name, "is NULL; an address is needed");
        return pointer != nullptr;
    }
    /// The same for an array of `count` elements.
    bool array(uint32_t count, const void *elements, const Name &name) noexcept {
        if (count != 0 && elements == nullptr)
            refuse(PI_ERROR_INVALID_NULL_POINTER, name,
                   "is NULL, but its count is {}; an array, or a count of 0, is needed", count);
        return count == 0 || elements != nullptr;
    }
    void flags(uint64_t given, uint64_t known, const Name &name) noexcept {
        if ((given & ~known) != 0)
            refuse(PI_ERROR_UNSUPPORTED_FEATURE, name,
                   "is {:#x}, with the unknown bits {:#x}; known here are {:#x}", given,
                   given & ~known, known);
    }
    void reserved(uint64_t word, const Name &name) noexcept {
        if (word != 0)
            refuse(PI_ERROR_UNSUPPORTED_FEATURE, name, "is {}; reserved words must be 0", word);
    }
    /// PI_ERROR_INVALID_ENUMERATION unless it is from `first` to `last`, or a vendor's.
    void enumeration(uint32_t value, const Enumerator &first, const Enumerator &last,
                     const Name &name) noexcept {
        if ((value < first.value || value > last.value) && (value & PI_VENDOR_BIT) == 0)
            refuse(PI_ERROR_INVALID_ENUMERATION, name, "is {}; {} to {} are possible", value, first,
                   last);
    }
    void alignment(uint64_t bytes, const Name &name) noexcept {
        if ((bytes & (bytes - 1)) != 0)
            refuse(PI_ERROR_INVALID_ALIGNMENT, name,
                   "is {}; a power of two, or 0 for the scope's alignment, is needed", bytes);
    }
    void some_bytes(uint64_t size, const Name &name) noexcept {
        if (size == 0)
            refuse(PI_ERROR_INVALID_SIZE, name, "is 0 bytes; at least 1 is needed");
    }
    /// PI_ERROR_INVALID_SIZE unless the range is inside the memory that `whole` names, of `limit`
    /// bytes.
    void range(uint64_t offset, uint64_t size, uint64_t limit, const Name &offset_name,
               const Name &size_name, const char *whole) noexcept {
        some_bytes(size, size_name);
        if (offset > limit || size > limit - offset)
            refuse(PI_ERROR_INVALID_SIZE, offset_name,
                   "is {}; with size {} it goes past the end of {}, which has {} bytes", offset,
                   size, whole, limit);
    }
    /// The same for plain memory, which ends with the address space.
    void address_range(const void *pointer, uint64_t size, const Name &size_name,
                       const char *whole) noexcept {
        const auto begin = reinterpret_cast<uintptr_t>(pointer);
        if (size > UINTPTR_MAX - begin)
            refuse(PI_ERROR_INVALID_SIZE, size_name,
                   "is {}; with {} {} it goes past the end of the address space", size, whole,
                   pointer);
    }

private:
    Validator &validator_;
    const char *function_;
    pi_result result_ = PI_SUCCESS;
};

/// PI_ERROR_INVALID_DEVICE unless the device is one of the context's, as far as these are known.
void check_member(Check &check, pi_context context, pi_device device, const Name &name) noexcept;

/// The checks of each descriptor's members. `Place`: facts from the call's first arguments.
void check_members(Check &check, const Place &place, const pi_native_desc &desc);
void check_members(Check &check, const Place &place, const pi_device_partition_desc &desc);
void check_members(Check &check, const Place &place, const pi_context_desc &desc);
void check_members(Check &check, const Place &place, const pi_memory_connection_query &desc);
void check_members(Check &check, const Place &place, const pi_queue_desc &desc);
void check_members(Check &check, const Place &place, const pi_mem_buffer_desc &desc);
void check_members(Check &check, const Place &place, const pi_mem_image_desc &desc);
void check_members(Check &check, const Place &place, const pi_mem_partition_desc &desc);
void check_members(Check &check, const Place &place, const pi_mem_import_desc &desc);
void check_members(Check &check, const Place &place, const pi_mem_export_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_pool_desc &desc);
void check_members(Check &check, const Place &place, const pi_program_desc &desc);
void check_members(Check &check, const Place &place, const pi_program_build_desc &desc);
void check_members(Check &check, const Place &place, const pi_program_link_desc &desc);
void check_members(Check &check, const Place &place, const pi_sampler_desc &desc);
void check_members(Check &check, const Place &place, const pi_kernel_desc &desc);
void check_members(Check &check, const Place &place, const pi_host_event_desc &desc);

void check_members(Check &check, const Place &place, const pi_buffer_read_desc &desc);
void check_members(Check &check, const Place &place, const pi_buffer_write_desc &desc);
void check_members(Check &check, const Place &place, const pi_buffer_copy_desc &desc);
void check_members(Check &check, const Place &place, const pi_buffer_fill_desc &desc);
void check_members(Check &check, const Place &place, const pi_buffer_map_desc &desc);
void check_members(Check &check, const Place &place, const pi_unmap_desc &desc);
void check_members(Check &check, const Place &place, const pi_image_read_desc &desc);
void check_members(Check &check, const Place &place, const pi_image_write_desc &desc);
void check_members(Check &check, const Place &place, const pi_image_copy_desc &desc);
void check_members(Check &check, const Place &place, const pi_image_fill_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_copy_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_fill_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_prefetch_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_advise_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_alloc_desc &desc);
void check_members(Check &check, const Place &place, const pi_usm_free_desc &desc);
void check_members(Check &check, const Place &place, const pi_kernel_launch_desc &desc);
void check_members(Check &check, const Place &place, const pi_host_function_desc &desc);
void check_members(Check &check, const Place &place, const pi_events_wait_desc &desc);
void check_members(Check &check, const Place &place, const pi_barrier_desc &desc);
void check_members(Check &check, const Place &place, const pi_timestamp_desc &desc);
void check_members(Check &check, const Place &place, const pi_device_global_read_desc &desc);
void check_members(Check &check, const Place &place, const pi_device_global_write_desc &desc);

} // namespace pi::loader::validate
