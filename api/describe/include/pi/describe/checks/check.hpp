// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check of a call's arguments. It is refused for its first error, with a text that names the
// argument, its value, and what would be right. Nothing here throws. C++20.
#pragma once

#include <pi/describe/checks/enumerators.hpp>

#include <array>
#include <charconv>
#include <concepts>
#include <iterator>
#include <string>
#include <string_view>

namespace pi::checks {

/// "desc->regions[2].src_pitch[1]": the position of a value in a call.
struct Name {
    constexpr Name(const char *plain) noexcept : argument(plain) {}
    template <std::integral Index>
    constexpr Name(const char *array, Index element, const char *of_element = "",
                   int64_t of_member = -1) noexcept
        : argument(array), index(static_cast<int64_t>(element)), member(of_element),
          member_index(of_member) {}

    constexpr Name at(const char *of_element, int64_t of_member = -1) const noexcept {
        return {argument, index, of_element, of_member};
    }

    const char *argument;
    int64_t index = -1;
    const char *member = "";
    int64_t member_index = -1;
};

inline std::string text_of(const Name &name) {
    std::string text = name.argument;
    if (name.index >= 0)
        ((text += '[') += std::to_string(name.index)) += ']';
    if (name.index >= 0 && name.member[0] != '\0' && name.member[0] != '.')
        text += '.';
    text += name.member;
    if (name.member_index >= 0)
        ((text += '[') += std::to_string(name.member_index)) += ']';
    return text;
}

/// A value that messages show in hexadecimal.
struct Hex {
    uint64_t value;
};

/// A value in a message.
class Value {
public:
    template <std::unsigned_integral Number>
    constexpr Value(Number number) noexcept : kind_(Kind::NUMBER), number_(number) {}
    template <std::signed_integral Number>
    constexpr Value(Number number) noexcept
        : kind_(number < 0 ? Kind::NEGATIVE : Kind::NUMBER),
          number_(number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number)) {}
    constexpr Value(Hex hex) noexcept : kind_(Kind::HEX), number_(hex.value) {}
    constexpr Value(const char *text) noexcept : kind_(Kind::TEXT), text_(text) {}
    constexpr Value(std::string_view text) noexcept : kind_(Kind::TEXT), text_(text) {}
    constexpr Value(const std::string &text) noexcept : kind_(Kind::TEXT), text_(text) {}
    constexpr Value(Enumerator enumerator) noexcept
        : kind_(enumerator.name != nullptr ? Kind::ENUMERATOR : Kind::NUMBER),
          number_(enumerator.value), text_(enumerator.name != nullptr ? enumerator.name : "") {}
    constexpr Value(const Name &name) noexcept : kind_(Kind::NAME), name_(&name) {}
    Value(const void *address) noexcept
        : kind_(Kind::HEX), number_(reinterpret_cast<uintptr_t>(address)) {}

    void append_to(std::string &out) const;

private:
    enum class Kind { NUMBER, NEGATIVE, HEX, TEXT, ENUMERATOR, NAME };

    Kind kind_;
    uint64_t number_ = 0;
    std::string_view text_;
    const Name *name_ = nullptr;
};

inline void Value::append_to(std::string &out) const {
    char digits[20];
    const std::string_view number(
        digits,
        static_cast<std::size_t>(
            std::to_chars(digits, std::end(digits), number_, kind_ == Kind::HEX ? 16 : 10).ptr -
            digits));
    switch (kind_) {
    case Kind::NUMBER:
        out += number;
        break;
    case Kind::NEGATIVE:
        (out += '-') += number;
        break;
    case Kind::HEX:
        (out += "0x") += number;
        break;
    case Kind::TEXT:
        out += text_;
        break;
    case Kind::NAME:
        out += text_of(*name_);
        break;
    case Kind::ENUMERATOR:
        (((out += text_) += " (") += number) += ')';
        break;
    }
}

/// The format with each "{}" replaced by the next value.
inline std::string format_text(std::string_view format, const Value *values) {
    std::string text;
    for (std::size_t end; (end = format.find("{}")) != std::string_view::npos;
         format.remove_prefix(end + 2)) {
        text += format.substr(0, end);
        values++->append_to(text);
    }
    return text += format;
}

/// The largest power of two, at most `most`, that divides the address.
inline uint64_t alignment_of(const void *pointer, uint64_t most) noexcept {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const uint64_t lowest = address & (0 - address);
    return address != 0 && lowest < most ? lowest : most;
}

/// Whether values with PI_VENDOR_BIT are left to the plugin, or refused like other unknown ones.
enum class VendorValues { REFUSED, ACCEPTED };

class Check {
public:
    explicit Check(VendorValues vendor_values = VendorValues::REFUSED) noexcept
        : vendor_values_(vendor_values) {}

    /// PI_SUCCESS unless it is refused.
    pi_result code() const noexcept { return code_; }
    bool failed() const noexcept { return code_ != PI_SUCCESS; }
    /// "desc->size is 0 bytes; at least 1 is needed"; "out of memory" without memory for it.
    std::string &text() noexcept { return text_; }

    /// `format` continues the argument's name: "is {}; at least {} is needed". Only the first
    /// refusal counts.
    template <typename... Values>
    [[gnu::cold, gnu::noinline]] void refuse(pi_result code, const Name &name, const char *format,
                                             const Values &...values) noexcept {
        note(code, name, format, std::array<Value, sizeof...(Values) + 1>{values..., 0}.data());
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
                   "is {}, with the unknown bits {}; known here are {}", Hex{given},
                   Hex{given & ~known}, Hex{known});
    }
    void reserved(uint64_t word, const Name &name) noexcept {
        if (word != 0)
            refuse(PI_ERROR_UNSUPPORTED_FEATURE, name, "is {}; reserved words must be 0", word);
    }
    /// PI_ERROR_INVALID_ENUMERATION unless it is from `first` to `last`, or an accepted vendor's.
    void enumeration(uint32_t value, const Enumerator &first, const Enumerator &last,
                     const Name &name) noexcept {
        const bool vendors =
            vendor_values_ == VendorValues::ACCEPTED && (value & PI_VENDOR_BIT) != 0;
        if ((value < first.value || value > last.value) && !vendors)
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
               const Name &size_name, const Name &whole) noexcept {
        some_bytes(size, size_name);
        if (offset > limit || size > limit - offset)
            refuse(PI_ERROR_INVALID_SIZE, offset_name,
                   "is {}; with size {} it goes past the end of {}, which has {} bytes", offset,
                   size, whole, limit);
    }
    /// The same for plain memory, which ends with the address space.
    void address_range(const void *pointer, uint64_t size, const Name &size_name,
                       const Name &whole) noexcept {
        if (size > UINTPTR_MAX - reinterpret_cast<uintptr_t>(pointer))
            refuse(PI_ERROR_INVALID_SIZE, size_name,
                   "is {}; with {} {} it goes past the end of the address space", size, whole,
                   pointer);
    }

private:
    void note(pi_result code, const Name &name, const char *format, const Value *values) noexcept {
        if (failed())
            return;
        code_ = code;
        try {
            text_ = (text_of(name) += ' ') += format_text(format, values);
        } catch (...) {
            text_ = "out of memory"; // short enough to need no allocation
        }
    }

    const VendorValues vendor_values_;
    pi_result code_ = PI_SUCCESS;
    std::string text_;
};

} // namespace pi::checks
