// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks.hpp"

#include <optional>
#include <set>

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

bool is_utf8(const std::string &text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto at = [&](std::size_t index) {
            return index < text.size() ? static_cast<unsigned char>(text[index]) : 0u;
        };
        const unsigned first = at(i);
        const std::size_t more = first < 0x80                    ? 0
                                 : first >= 0xC2 && first < 0xE0 ? 1
                                 : first >= 0xE0 && first < 0xF0 ? 2
                                 : first >= 0xF0 && first < 0xF5 ? 3
                                                                 : 4;
        if (more == 4)
            return false;
        for (std::size_t k = 1; k <= more; ++k)
            if ((at(i + k) & 0xC0) != 0x80)
                return false;
        // Too long for its value, half of a surrogate pair, or beyond Unicode.
        if ((first == 0xE0 && at(i + 1) < 0xA0) || (first == 0xED && at(i + 1) > 0x9F) ||
            (first == 0xF0 && at(i + 1) < 0x90) || (first == 0xF4 && at(i + 1) > 0x8F))
            return false;
        i += more + 1;
    }
    return true;
}

void check_size(const std::string &what, const InfoType &type, uint64_t size) {
    require(size <= max_info_size, what, ": a size of ", size, " bytes");
    switch (type.shape) {
    case InfoType::value:
        require_equal(size, type.size, what + ": the size");
        break;
    case InfoType::array:
    case InfoType::outputs:
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
    require(is_utf8(text), what, ": the string is not UTF-8: \"", text, "\"");
}

void check_too_small(const std::string &what, const InfoFunction &function, uint32_t name,
                     uint64_t size) {
    for (const uint64_t small : {uint64_t{0}, size / 2, size - 1}) {
        std::vector<unsigned char> bytes(size + guard_size, guard_byte);
        uint64_t reported = poisoned_size;
        require_error(function(name, small, bytes.data(), &reported), PI_ERROR_INVALID_SIZE, what,
                      " of ", size, " bytes into ", small);
        require_text_names(join(what, " into ", small, " bytes"), {join(small), join(size)});
        require(untouched(bytes, 0), what, ": into ", small, " bytes: failed, but wrote the value");
        require(reported == poisoned_size, what, ": into ", small,
                " bytes: failed, but wrote out_size");
    }
}

} // namespace

void check_answer(const std::string &what, const InfoFunction &function, const InfoName &row) {
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
    if (row.type.shape == InfoType::outputs)
        return; // the tests of the query have its value
    // Values that change (a reference count, a status) keep their sizes; strings and lists do not
    // change.
    std::string text;
    for (const uint64_t room : {size, size + 13, uint64_t{1} << 32, UINT64_MAX}) {
        std::vector<unsigned char> bytes(size + guard_size, guard_byte);
        uint64_t reported = poisoned_size;
        require_success(function(row.name, room, bytes.data(), &reported), what, " into ", room,
                        " bytes");
        require_equal(reported, size, what + ": the size returned with the value");
        require(untouched(bytes, size), what, ": more than its ", size, " bytes are written");
        if (row.type.shape == InfoType::string) {
            check_string(what, bytes, size);
            const std::string now(reinterpret_cast<const char *>(bytes.data()));
            require(room == size || now == text, what, ": the string was \"", text, "\" and is \"",
                    now, "\"");
            text = now;
        }
        require_success(function(row.name, room, bytes.data(), nullptr), what, " without out_size");
    }
    if (size != 0)
        check_too_small(what, function, row.name, size);
}

void check_info(const std::string &what, const InfoFunction &function,
                std::span<const InfoName> names) {
    std::set<uint32_t> known;
    // A plugin of an older version knows none of the names that came after it, and one of this
    // version all of them.
    std::optional<bool> newer_known;
    for (const InfoName &row : names) {
        if (row.since != 0 && !newer_known) {
            uint64_t size = 0;
            newer_known = function(row.name, 0, nullptr, &size) != PI_ERROR_INVALID_ENUMERATION;
        }
        if (row.since == 0 || *newer_known)
            known.insert(row.name);
    }
    for (const InfoName &row : names)
        if (known.contains(row.name))
            check_answer(join(what, ", ", row.text), function, row);
    const uint32_t last = *known.rbegin();
    std::vector<uint32_t> unknowns{last + 1000, UINT32_MAX};
    for (uint32_t gap = 0; gap < last; ++gap)
        if (!known.contains(gap))
            unknowns.push_back(gap);
    for (const InfoName &row : names)
        if (!known.contains(row.name) && row.name > last)
            unknowns.push_back(row.name);
    for (const uint32_t name : known)
        unknowns.push_back(vendor_value(name));
    for (const uint32_t unknown : unknowns) {
        std::vector<unsigned char> bytes(256, guard_byte);
        uint64_t reported = poisoned_size;
        require_error(function(unknown, bytes.size(), bytes.data(), &reported),
                      PI_ERROR_INVALID_ENUMERATION, what, ", the name ", unknown,
                      ", which is not in the list");
        require_text_names(join(what, ", the name ", unknown), {join(unknown), hex(unknown)});
        require(untouched(bytes, 0) && reported == poisoned_size, what, ", the name ", unknown,
                ": failed, but wrote an output");
    }
}

// ----- Descriptors -----

namespace {

pi_struct_header &header_of(std::byte *bytes) {
    return *reinterpret_cast<pi_struct_header *>(bytes);
}

} // namespace

void require_refused(pi_result result, const DescriptorVariant &variant, const std::string &what) {
    require_error(result, {variant.allowed.front(), variant.allowed.back()}, what);
    require_text_names(what, {variant.argument});
    if (!variant.values.empty())
        require_text_names(what, variant.values);
}

void DescriptorVariants::add_headers() {
    ignorable_.struct_size = sizeof ignorable_;
    ignorable_.type = vendor_value(PI_TYPE_NONE) | PI_TYPE_MAY_IGNORE_BIT;
    const pi_struct_type type = header_of(const_cast<std::byte *>(valid_)).type;

    add("a desc as it should be", {}, size_);
    add_longer();
    add_shorter();
    for (const uint32_t bad : {0u, 8u, static_cast<uint32_t>(sizeof(pi_struct_header)) - 1}) {
        header_of(add(join("struct_size ", bad), {PI_ERROR_INVALID_DESCRIPTOR}, size_))
            .struct_size = bad;
        named("struct_size", {join(bad)});
    }
    for (const pi_struct_type bad :
         {pi_struct_type{PI_TYPE_NONE}, pi_struct_type{PI_TYPE_LOADER_DESC}, vendor_value(type),
          type | PI_TYPE_MAY_IGNORE_BIT}) {
        header_of(add(join("type ", bad), {PI_ERROR_INVALID_DESCRIPTOR}, size_)).type = bad;
        named("type", {join(bad), hex(bad)});
    }
    for (const pi_struct_type known :
         {pi_struct_type{PI_TYPE_NONE}, type, pi_struct_type{PI_TYPE_MEM_LAYOUT_DESC},
          pi_struct_type{PI_TYPE_MEMORY_VERIFICATION_DESC}})
        add_chained(join("a chained desc of type ", vendor_value(known)), vendor_value(known));
    add_chained("a chained loader's desc", PI_TYPE_LOADER_DESC);
    header_of(add("an unknown chained desc that may be ignored", {}, size_)).next = &ignorable_;
}

void DescriptorVariants::add_chained(const std::string &what, pi_struct_type type) {
    auto &chained = *chained_.emplace_back(std::make_unique<pi_mem_layout_desc>());
    chained.struct_size = sizeof chained;
    chained.type = type;
    for (const bool behind : {false, true}) {
        auto &first = *chained_.emplace_back(std::make_unique<pi_mem_layout_desc>(ignorable_));
        first.next = &chained;
        const void *const next = behind ? &first : &chained;
        header_of(add(join(what, behind ? " behind one that may be ignored" : ""),
                      {PI_ERROR_UNSUPPORTED_FEATURE}, size_))
            .next = next;
        named("", {join(type), hex(type)});
    }
}

void DescriptorVariants::add_longer() {
    constexpr std::size_t longer = 24;
    const auto add_long = [&](const std::string &what, std::vector<pi_result> allowed) {
        std::byte *const bytes = add(what, std::move(allowed), size_ + longer);
        header_of(bytes).struct_size = static_cast<uint32_t>(size_ + longer);
        return bytes + size_;
    };
    add_long("a longer desc whose tail is zero", {});
    for (std::size_t i = 0; i < longer; ++i)
        add_long(join("a longer desc of which byte ", i, " of the tail is not zero"),
                 {PI_ERROR_UNSUPPORTED_FEATURE})[i] = std::byte{1};
}

// A descriptor that ends in zeros may be shorter: as of an older caller.
void DescriptorVariants::add_shorter() {
    std::size_t needed = size_;
    while (needed > sizeof(pi_struct_header) && valid_[needed - 1] == std::byte{0})
        --needed;
    needed = (needed + 7) / 8 * 8;
    if (needed >= size_)
        return;
    // Exactly so many bytes, for a sanitizer; with other bytes behind, for a plugin without one.
    for (const std::size_t size : {needed, size_}) {
        std::byte *const shorter = add("a shorter desc, without its last zeros", {}, size);
        std::fill(shorter + needed, shorter + size, std::byte{0xA5});
        header_of(shorter).struct_size = static_cast<uint32_t>(needed);
    }
    variants_.back().what += ", and other bytes behind";
}

void DescriptorVariants::add_flags(std::size_t offset, uint64_t known) {
    for (unsigned bit = 0; bit < 64; ++bit) {
        if ((known >> bit & 1) != 0)
            continue;
        std::byte *flags =
            add(join("the unknown flag bit ", bit), {PI_ERROR_UNSUPPORTED_FEATURE}, size_);
        flags[offset + bit / 8] |= std::byte{1} << bit % 8;
        uint64_t all = 0;
        std::memcpy(&all, flags + offset, sizeof all);
        named("flags", {hex(uint64_t{1} << bit), hex(all)});
    }
}

void DescriptorVariants::named(const char *argument, std::vector<std::string> values) {
    variants_.back().argument = argument;
    variants_.back().values = std::move(values);
}

std::byte *DescriptorVariants::add(const std::string &what, std::vector<pi_result> allowed,
                                   std::size_t size) {
    storage_.push_back(std::make_unique<std::byte[]>(std::max(size, sizeof(pi_struct_header))));
    std::memcpy(storage_.back().get(), valid_, std::min(size, size_));
    variants_.push_back({what, std::move(allowed), storage_.back().get()});
    return storage_.back().get();
}

// ----- Texts -----

void require_text_names(const std::string &what, const std::vector<std::string> &words) {
    const std::string text = last_error_text();
    const auto has = [&](const std::string &word) { return text.find(word) != std::string::npos; };
    require(std::any_of(words.begin(), words.end(), has), what, ": the text \"", text,
            "\" does not name ", words.front());
}

} // namespace pi::suite
