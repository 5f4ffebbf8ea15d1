// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks.hpp"

namespace pi::suite {
namespace {

constexpr std::size_t guard_size = 64;
constexpr unsigned char guard_byte = 0xA5;
constexpr uint64_t poisoned_size = 0xA5A5A5A5A5A5A5A5u;
// More than any string or list of a correct plugin.
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
        require(size >= 1, what, ": the size is 0, without the terminating 0");
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
        uint64_t reported = poisoned_size;
        require_error(function(name, small, bytes.data(), &reported), PI_ERROR_INVALID_SIZE, what,
                      " of ", size, " bytes into ", small);
        require(untouched(bytes, 0), what, ": into ", small, " bytes: failed, but wrote the value");
        require(reported == poisoned_size, what, ": into ", small,
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
    // Values that change (a reference count, a status) keep their sizes; strings and lists do not
    // change.
    for (const uint64_t room : {size, size + 13}) {
        std::vector<unsigned char> bytes(room + guard_size, guard_byte);
        uint64_t reported = poisoned_size;
        require_success(function(row.name, room, bytes.data(), &reported), what, " into ", room,
                        " bytes");
        require_equal(reported, size, what + ": the size returned with the value");
        require(untouched(bytes, size), what, ": more than its ", size, " bytes are written");
        if (row.type.shape == InfoType::string)
            check_string(what, bytes, size);
        require_success(function(row.name, room, bytes.data(), nullptr), what, " without out_size");
    }
    if (size != 0)
        check_too_small(what, function, row.name, size);
}

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
        uint64_t reported = poisoned_size;
        require_error(function(unknown, bytes.size(), bytes.data(), &reported),
                      PI_ERROR_INVALID_ENUMERATION, what, ", the name ", unknown,
                      ", which is not in the list");
        require(untouched(bytes, 0) && reported == poisoned_size, what, ", the name ", unknown,
                ": failed, but wrote an output");
    }
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

    // A descriptor that ends in zeros may be shorter: as of an older caller.
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
    // Exactly struct_size bytes, so that a sanitizer sees reads beyond it.
    storage_.push_back(std::make_unique<std::byte[]>(std::max(size, sizeof(pi_struct_header))));
    std::memcpy(storage_.back().get(), valid_, std::min(size, size_));
    variants_.push_back({what, std::move(allowed), storage_.back().get()});
    return storage_.back().get();
}

} // namespace pi::suite
