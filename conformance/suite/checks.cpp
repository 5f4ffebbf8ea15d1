// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks.hpp"

namespace pi::suite {
namespace {

constexpr std::size_t guard_size = 64;
constexpr unsigned char guard_byte = 0xA5;
constexpr uint64_t poisoned_size = 0xA5A5A5A5A5A5A5A5u;
// More than any string or list of a sane plugin.
constexpr uint64_t max_info_size = 1 << 20;

bool untouched(const std::vector<unsigned char> &bytes, std::size_t from) {
    return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.end(),
                       [](unsigned char byte) { return byte == guard_byte; });
}

void check_size(const std::string &what, const InfoType &type, uint64_t size) {
    require(size <= max_info_size, what, ": a size of ", size, " bytes");
    switch (type.shape) {
    case InfoType::value:
        require_equal(size, type.size, what + ": the size");
        break;
    case InfoType::array:
        require(size % type.size == 0, what, ": the size is ", size,
                ", should be a multiple of its elements' ", type.size);
        break;
    case InfoType::string:
        require(size >= 1, what, ": the size is 0, without the final 0");
        break;
    }
}

void check_string(const std::string &what, const std::vector<unsigned char> &bytes, uint64_t size) {
    const auto *text = reinterpret_cast<const char *>(bytes.data());
    require(text[size - 1] == '\0', what, ": the last byte is not 0");
    require_equal(std::strlen(text) + 1, size, what + ": the length of the string with its 0");
}

void check_too_small(const std::string &what, const InfoFunction &function, uint32_t name,
                     uint64_t size) {
    for (const uint64_t small : {uint64_t{0}, size / 2, size - 1}) {
        std::vector<unsigned char> bytes(size + guard_size, guard_byte);
        uint64_t told = poisoned_size;
        require_error(function(name, small, bytes.data(), &told), PI_ERROR_INVALID_SIZE, what,
                      " of ", size, " bytes into ", small);
        require(untouched(bytes, 0), what, ": into ", small, " bytes: failed, but wrote the value");
        require(told == poisoned_size, what, ": into ", small,
                " bytes: failed, but wrote out_size");
    }
}

void check_name(const std::string &what, const InfoFunction &function, const InfoName &row) {
    uint64_t size = poisoned_size;
    const pi_result asked = function(row.name, 0, nullptr, &size);
    if (asked == PI_ERROR_UNSUPPORTED_FEATURE && !row.required) {
        require(size == poisoned_size, what, ": failed, but wrote out_size");
        require_error(asked, PI_ERROR_UNSUPPORTED_FEATURE, what, ": the size");
        std::vector<unsigned char> bytes(256, guard_byte);
        require_error(function(row.name, bytes.size(), bytes.data(), &size),
                      PI_ERROR_UNSUPPORTED_FEATURE, what, ": the value");
        require(untouched(bytes, 0), what, ": failed, but wrote the value");
        return;
    }
    require_success(asked, what, ": the size");
    check_size(what, row.type, size);
    // Values that change (a reference count, a status) keep their sizes; strings and lists do not change.
    for (const uint64_t room : {size, size + 13}) {
        std::vector<unsigned char> bytes(room + guard_size, guard_byte);
        uint64_t told = poisoned_size;
        require_success(function(row.name, room, bytes.data(), &told), what, " into ", room,
                        " bytes");
        require_equal(told, size, what + ": the size told with the value");
        require(untouched(bytes, size), what, ": more than its ", size, " bytes are written");
        if (row.type.shape == InfoType::string)
            check_string(what, bytes, size);
        require_success(function(row.name, room, bytes.data(), nullptr), what, " without out_size");
    }
    if (size != 0)
        check_too_small(what, function, row.name, size);
}

constexpr InfoName plugin_names[] = {
    {PI_PLUGIN_INFO_NAME, "PI_PLUGIN_INFO_NAME", string_info, true},
    {PI_PLUGIN_INFO_VERSION, "PI_PLUGIN_INFO_VERSION", string_info, true},
    {PI_PLUGIN_INFO_CAPABILITIES, "PI_PLUGIN_INFO_CAPABILITIES", value_of<uint64_t>, true},
};

constexpr InfoName platform_names[] = {
    {PI_PLATFORM_INFO_NAME, "PI_PLATFORM_INFO_NAME", string_info, true},
    {PI_PLATFORM_INFO_VENDOR, "PI_PLATFORM_INFO_VENDOR", string_info},
    {PI_PLATFORM_INFO_VERSION, "PI_PLATFORM_INFO_VERSION", string_info},
    {PI_PLATFORM_INFO_PLUGIN, "PI_PLATFORM_INFO_PLUGIN", value_of<pi_plugin>, true},
    {PI_PLATFORM_INFO_BACKEND, "PI_PLATFORM_INFO_BACKEND", value_of<uint32_t>, true},
};

#define PI_SUITE_DEVICE(name, ...)                                                                 \
    { PI_DEVICE_INFO_##name, "PI_DEVICE_INFO_" #name, __VA_ARGS__ }
constexpr InfoName device_names[] = {
    PI_SUITE_DEVICE(TYPE, value_of<pi_device_type>, true),
    PI_SUITE_DEVICE(NAME, string_info, true),
    PI_SUITE_DEVICE(VENDOR, string_info),
    PI_SUITE_DEVICE(VERSION, string_info),
    PI_SUITE_DEVICE(DRIVER_VERSION, string_info),
    PI_SUITE_DEVICE(PLATFORM, value_of<pi_platform>, true),
    PI_SUITE_DEVICE(PARENT, value_of<pi_device>, true),
    PI_SUITE_DEVICE(REFERENCE_COUNT, value_of<uint32_t>),
    PI_SUITE_DEVICE(UUID, value_of<uint8_t[16]>),
    PI_SUITE_DEVICE(LUID, value_of<uint8_t[8]>),
    PI_SUITE_DEVICE(PCI_ADDRESS, string_info),
    PI_SUITE_DEVICE(NUMA_NODE, value_of<uint32_t>),
    PI_SUITE_DEVICE(COMPUTE_UNITS, value_of<uint32_t>),
    PI_SUITE_DEVICE(MAX_WORK_GROUP_SIZE, value_of<uint64_t>),
    PI_SUITE_DEVICE(MAX_WORK_ITEM_SIZES, value_of<uint64_t[3]>),
    PI_SUITE_DEVICE(LOCAL_MEMORY_SIZE, value_of<uint64_t>),
    PI_SUITE_DEVICE(GLOBAL_MEMORY_SIZE, value_of<uint64_t>),
    PI_SUITE_DEVICE(MAX_ALLOCATION_SIZE, value_of<uint64_t>),
    PI_SUITE_DEVICE(ADDRESS_BITS, value_of<uint32_t>),
    PI_SUITE_DEVICE(FP16, value_of<uint32_t>),
    PI_SUITE_DEVICE(FP64, value_of<uint32_t>),
    PI_SUITE_DEVICE(IMAGES, value_of<uint32_t>),
    PI_SUITE_DEVICE(SUB_GROUP_SIZES, array_of<uint32_t>),
    PI_SUITE_DEVICE(BUFFER_OFFSET_MODE, value_of<uint32_t>),
    PI_SUITE_DEVICE(HOST_POINTER_IMPORT, value_of<uint32_t>),
    PI_SUITE_DEVICE(HOST_POINTER_ALIGNMENT, value_of<uint64_t>),
    PI_SUITE_DEVICE(INTEGRATED, value_of<uint32_t>),
    PI_SUITE_DEVICE(USM_CAPABILITIES, value_of<uint32_t>),
    PI_SUITE_DEVICE(PROGRAM_FORMATS, value_of<uint32_t>),
    PI_SUITE_DEVICE(QUEUE_FLAGS, value_of<uint64_t>, true),
    PI_SUITE_DEVICE(TIMER_RESOLUTION, value_of<uint64_t>),
    PI_SUITE_DEVICE(PARTITION_KINDS, value_of<uint32_t>),
    PI_SUITE_DEVICE(EXTERNAL_HANDLE_TYPES, value_of<uint32_t>),
    PI_SUITE_DEVICE(EXPORT_HANDLE_TYPES, value_of<uint32_t>),
    PI_SUITE_DEVICE(CAPABILITIES, value_of<uint64_t>, true),
    PI_SUITE_DEVICE(LAUNCH_FEATURES, value_of<uint32_t>),
    PI_SUITE_DEVICE(MAX_IMAGE_2D_SIZE, value_of<uint64_t[2]>),
    PI_SUITE_DEVICE(MAX_IMAGE_3D_SIZE, value_of<uint64_t[3]>),
    PI_SUITE_DEVICE(IMAGE_VIEW_OFFSET_ALIGNMENT, value_of<uint64_t>),
    PI_SUITE_DEVICE(IMAGE_VIEW_PITCH_ALIGNMENT, value_of<uint64_t>),
    PI_SUITE_DEVICE(HOST_READ_SPEED, value_of<uint64_t[2]>),
    PI_SUITE_DEVICE(HOST_WRITE_SPEED, value_of<uint64_t[2]>),
    PI_SUITE_DEVICE(MAP_SPEED, value_of<uint64_t[2]>),
    PI_SUITE_DEVICE(CALLBACK_LATENCY, value_of<uint64_t>),
    PI_SUITE_DEVICE(HOST_READ_CHANNELS, array_of<uint64_t>),
    PI_SUITE_DEVICE(HOST_WRITE_CHANNELS, array_of<uint64_t>),
};
#undef PI_SUITE_DEVICE

constexpr InfoName context_names[] = {
    {PI_CONTEXT_INFO_DEVICES, "PI_CONTEXT_INFO_DEVICES", array_of<pi_device>, true},
    {PI_CONTEXT_INFO_PLATFORM, "PI_CONTEXT_INFO_PLATFORM", value_of<pi_platform>, true},
    {PI_CONTEXT_INFO_REFERENCE_COUNT, "PI_CONTEXT_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

constexpr InfoName queue_names[] = {
    {PI_QUEUE_INFO_CONTEXT, "PI_QUEUE_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_QUEUE_INFO_DEVICE, "PI_QUEUE_INFO_DEVICE", value_of<pi_device>, true},
    {PI_QUEUE_INFO_FLAGS, "PI_QUEUE_INFO_FLAGS", value_of<uint64_t>, true},
    {PI_QUEUE_INFO_REFERENCE_COUNT, "PI_QUEUE_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

constexpr InfoName mem_names[] = {
    {PI_MEM_INFO_SIZE, "PI_MEM_INFO_SIZE", value_of<uint64_t>, true},
    {PI_MEM_INFO_CONTEXT, "PI_MEM_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_MEM_INFO_DEVICE, "PI_MEM_INFO_DEVICE", value_of<pi_device>, true},
    {PI_MEM_INFO_FLAGS, "PI_MEM_INFO_FLAGS", value_of<uint64_t>, true},
    {PI_MEM_INFO_SCOPE, "PI_MEM_INFO_SCOPE", value_of<uint32_t>, true},
    {PI_MEM_INFO_ALIGNMENT, "PI_MEM_INFO_ALIGNMENT", value_of<uint64_t>},
    {PI_MEM_INFO_PARENT, "PI_MEM_INFO_PARENT", value_of<pi_mem>, true},
    {PI_MEM_INFO_OFFSET, "PI_MEM_INFO_OFFSET", value_of<uint64_t>, true},
    {PI_MEM_INFO_COHERENCE, "PI_MEM_INFO_COHERENCE", value_of<pi_coherence>, true},
    {PI_MEM_INFO_DEVICE_ADDRESS, "PI_MEM_INFO_DEVICE_ADDRESS", value_of<uint64_t>},
    {PI_MEM_INFO_BUS_ADDRESS, "PI_MEM_INFO_BUS_ADDRESS", value_of<uint64_t>},
    {PI_MEM_INFO_PITCHES, "PI_MEM_INFO_PITCHES", array_of<uint64_t>},
    {PI_MEM_INFO_KIND, "PI_MEM_INFO_KIND", value_of<pi_memory_kind>, true},
    {PI_MEM_INFO_REFERENCE_COUNT, "PI_MEM_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

// PI_PROGRAM_INFO_BINARIES has pointers of the caller's in its value: it has a law of its own.
constexpr InfoName program_names[] = {
    {PI_PROGRAM_INFO_CONTEXT, "PI_PROGRAM_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_PROGRAM_INFO_DEVICES, "PI_PROGRAM_INFO_DEVICES", array_of<pi_device>, true},
    {PI_PROGRAM_INFO_FORMAT, "PI_PROGRAM_INFO_FORMAT", value_of<pi_program_format>, true},
    {PI_PROGRAM_INFO_KERNEL_NAMES, "PI_PROGRAM_INFO_KERNEL_NAMES", string_info},
    {PI_PROGRAM_INFO_BINARY_SIZES, "PI_PROGRAM_INFO_BINARY_SIZES", array_of<uint64_t>},
    {PI_PROGRAM_INFO_REFERENCE_COUNT, "PI_PROGRAM_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

constexpr InfoName program_build_names[] = {
    {PI_PROGRAM_BUILD_INFO_STATUS, "PI_PROGRAM_BUILD_INFO_STATUS", value_of<uint32_t>, true},
    {PI_PROGRAM_BUILD_INFO_LOG, "PI_PROGRAM_BUILD_INFO_LOG", string_info, true},
    {PI_PROGRAM_BUILD_INFO_OPTIONS, "PI_PROGRAM_BUILD_INFO_OPTIONS", string_info},
};

constexpr InfoName kernel_names[] = {
    {PI_KERNEL_INFO_NAME, "PI_KERNEL_INFO_NAME", string_info, true},
    {PI_KERNEL_INFO_ARGUMENT_COUNT, "PI_KERNEL_INFO_ARGUMENT_COUNT", value_of<uint32_t>},
    {PI_KERNEL_INFO_PROGRAM, "PI_KERNEL_INFO_PROGRAM", value_of<pi_program>, true},
    {PI_KERNEL_INFO_CONTEXT, "PI_KERNEL_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_KERNEL_INFO_REFERENCE_COUNT, "PI_KERNEL_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

#define PI_SUITE_GROUP(name, type)                                                                 \
    { PI_KERNEL_GROUP_INFO_##name, "PI_KERNEL_GROUP_INFO_" #name, type }
constexpr InfoName kernel_group_names[] = {
    PI_SUITE_GROUP(MAX_WORK_GROUP_SIZE, value_of<uint64_t>),
    PI_SUITE_GROUP(COMPILE_WORK_GROUP_SIZE, value_of<uint64_t[3]>),
    PI_SUITE_GROUP(LOCAL_MEMORY_SIZE, value_of<uint64_t>),
    PI_SUITE_GROUP(PRIVATE_MEMORY_SIZE, value_of<uint64_t>),
    PI_SUITE_GROUP(PREFERRED_GROUP_MULTIPLE, value_of<uint64_t>),
};
#undef PI_SUITE_GROUP

constexpr InfoName kernel_sub_group_names[] = {
    {PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE, "PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE", value_of<uint32_t>},
    {PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT, "PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT", value_of<uint32_t>},
    {PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE, "PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE",
     value_of<uint32_t>},
};

constexpr InfoName sampler_names[] = {
    {PI_SAMPLER_INFO_CONTEXT, "PI_SAMPLER_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_SAMPLER_INFO_NORMALIZED_COORDINATES, "PI_SAMPLER_INFO_NORMALIZED_COORDINATES",
     value_of<uint32_t>, true},
    {PI_SAMPLER_INFO_ADDRESSING, "PI_SAMPLER_INFO_ADDRESSING", value_of<pi_addressing_mode>, true},
    {PI_SAMPLER_INFO_FILTER, "PI_SAMPLER_INFO_FILTER", value_of<pi_filter_mode>, true},
    {PI_SAMPLER_INFO_REFERENCE_COUNT, "PI_SAMPLER_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

constexpr InfoName event_names[] = {
    {PI_EVENT_INFO_STATUS, "PI_EVENT_INFO_STATUS", value_of<pi_event_status>, true},
    {PI_EVENT_INFO_RESULT, "PI_EVENT_INFO_RESULT", value_of<pi_result>, true},
    {PI_EVENT_INFO_ERROR_TEXT, "PI_EVENT_INFO_ERROR_TEXT", string_info, true},
    {PI_EVENT_INFO_CONTEXT, "PI_EVENT_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_EVENT_INFO_QUEUE, "PI_EVENT_INFO_QUEUE", value_of<pi_queue>, true},
    {PI_EVENT_INFO_COMMAND, "PI_EVENT_INFO_COMMAND", value_of<uint32_t>, true},
    {PI_EVENT_INFO_REFERENCE_COUNT, "PI_EVENT_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

} // namespace

void check_info(const std::string &what, const InfoFunction &function,
                std::span<const InfoName> names) {
    for (const InfoName &row : names)
        check_name(join(what, ", ", row.text), function, row);
    uint32_t last = 0;
    for (const InfoName &row : names)
        last = std::max(last, row.name);
    for (const uint32_t unknown : {uint32_t{0}, last + 1000, UINT32_MAX}) {
        std::vector<unsigned char> bytes(256, guard_byte);
        uint64_t told = poisoned_size;
        require_error(function(unknown, bytes.size(), bytes.data(), &told),
                      PI_ERROR_INVALID_ENUMERATION, what, ", the name ", unknown,
                      ", which is not in the list");
        require(untouched(bytes, 0) && told == poisoned_size, what, ", the name ", unknown,
                ": failed, but wrote an output");
    }
}

std::span<const InfoName> plugin_info_names() {
    return plugin_names;
}
std::span<const InfoName> platform_info_names() {
    return platform_names;
}
std::span<const InfoName> device_info_names() {
    return device_names;
}
std::span<const InfoName> context_info_names() {
    return context_names;
}
std::span<const InfoName> queue_info_names() {
    return queue_names;
}
std::span<const InfoName> mem_info_names() {
    return mem_names;
}
std::span<const InfoName> program_info_names() {
    return program_names;
}
std::span<const InfoName> program_build_info_names() {
    return program_build_names;
}
std::span<const InfoName> kernel_info_names() {
    return kernel_names;
}
std::span<const InfoName> kernel_group_info_names() {
    return kernel_group_names;
}
std::span<const InfoName> kernel_sub_group_info_names() {
    return kernel_sub_group_names;
}
std::span<const InfoName> sampler_info_names() {
    return sampler_names;
}
std::span<const InfoName> event_info_names() {
    return event_names;
}

// ----- Descriptors -----

void DescriptorVariants::add_headers() {
    constexpr std::size_t longer = 24;
    const std::size_t size = size_;
    unknown_ = {sizeof unknown_, 0x7FFF0000u, nullptr};
    ignorable_ = {sizeof ignorable_, 0x7FFF0000u | PI_TYPE_MAY_IGNORE_BIT, nullptr};
    before_unknown_ = {sizeof before_unknown_, ignorable_.type, &unknown_};
    const auto header = [](std::byte *bytes) -> pi_struct_header & {
        return *reinterpret_cast<pi_struct_header *>(bytes);
    };

    add("a desc as it should be", {}, size);
    header(add("a longer desc whose tail is zero", {}, size + longer)).struct_size =
        static_cast<uint32_t>(size + longer);
    std::byte *tail = add("a longer desc whose last byte is not zero",
                          {PI_ERROR_UNSUPPORTED_FEATURE}, size + longer);
    header(tail).struct_size = static_cast<uint32_t>(size + longer);
    tail[size + longer - 1] = std::byte{1};

    // What ends in zeros may as well end before them: an older caller's struct.
    std::size_t needed = size;
    while (needed > sizeof(pi_struct_header) && valid_[needed - 1] == std::byte{0})
        --needed;
    needed = (needed + 7) / 8 * 8;
    if (needed < size) {
        std::byte *shorter = add("a shorter desc, without its last zeros", {}, needed);
        header(shorter).struct_size = static_cast<uint32_t>(needed);
    }
    for (const uint32_t bad : {uint32_t{0}, uint32_t{8}})
        header(add(join("struct_size ", bad), {PI_ERROR_INVALID_DESCRIPTOR}, size)).struct_size =
            bad;
    header(add("type 0", {PI_ERROR_INVALID_DESCRIPTOR}, size)).type = PI_TYPE_NONE;
    header(add("the type of a loader's desc", {PI_ERROR_INVALID_DESCRIPTOR}, size)).type =
        PI_TYPE_LOADER_DESC;
    header(add("an unknown chained desc", {PI_ERROR_UNSUPPORTED_FEATURE}, size)).next = &unknown_;
    header(add("an unknown chained desc that may be ignored", {}, size)).next = &ignorable_;
    header(add("an unknown chained desc behind one that may be ignored",
               {PI_ERROR_UNSUPPORTED_FEATURE}, size))
        .next = &before_unknown_;
}

void DescriptorVariants::add_flags(std::size_t offset, uint64_t known) {
    for (unsigned bit = 0; bit < 64; ++bit) {
        if ((known >> bit & 1) != 0)
            continue;
        std::byte *flags =
            add(join("the unknown flag bit ", bit), {PI_ERROR_UNSUPPORTED_FEATURE}, size_);
        flags[offset + bit / 8] |= std::byte{1} << bit % 8;
    }
}

std::byte *DescriptorVariants::add(const std::string &what, std::vector<pi_result> allowed,
                                   std::size_t size) {
    // Exactly as large as it says, so that a sanitizer sees what is read behind it.
    storage_.push_back(std::make_unique<std::byte[]>(std::max(size, sizeof(pi_struct_header))));
    std::memcpy(storage_.back().get(), valid_, std::min(size, size_));
    variants_.push_back({what, std::move(allowed), storage_.back().get()});
    return storage_.back().get();
}

} // namespace pi::suite
