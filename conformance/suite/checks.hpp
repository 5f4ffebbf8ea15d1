// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of the interface's common rules: lists, info functions, descriptors. The tests of many
// objects call these with their functions and tables.
#pragma once

#include "fixture.hpp"
#include "info_names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pi::suite {

// ----- Lists -----

/// A value that no function under test writes: an output that still has it was not written.
template <typename T>
T poison() {
    T value;
    std::memset(static_cast<void *>(&value), 0xA5, sizeof value);
    return value;
}

template <typename T>
bool same(const T &a, const T &b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/// (capacity, out_array, out_count): each output may be NULL, the count is that of all, the array
/// receives the first `capacity` and nothing is written behind. Returns the list.
template <typename T, typename Ask>
std::vector<T> check_list(const std::string &name, Ask &&ask) {
    uint32_t count = poison<uint32_t>();
    require_success(ask(0, nullptr, &count), name, " for the count alone");
    require(count <= 4096, name, ": a count of ", count);
    // One element more than there are: it must stay as it is.
    std::vector<T> all(count + 1, poison<T>());
    uint32_t again = poison<uint32_t>();
    require_success(ask(count + 1, all.data(), &again), name, " with room for one more");
    require_equal(again, count, name + ": the count when asked for again");
    require(same(all[count], poison<T>()), name, ": something is written behind the last element");
    for (uint32_t i = 0; i < count; ++i)
        require(!same(all[i], poison<T>()), name, ": element ", i, " is not written");
    for (uint32_t capacity = 0; capacity < count; ++capacity) {
        std::vector<T> some(count, poison<T>());
        uint32_t reported = poison<uint32_t>();
        require_success(ask(capacity, some.data(), &reported), name, " with capacity ", capacity);
        require_equal(reported, count, join(name, ": the count with capacity ", capacity));
        for (uint32_t i = 0; i < count; ++i)
            require(same(some[i], i < capacity ? all[i] : poison<T>()), name, " with capacity ",
                    capacity, ": element ", i, i < capacity ? " is another one" : " is written");
    }
    std::vector<T> without_count(count + 1, poison<T>());
    require_success(ask(count, without_count.data(), nullptr), name, " without a count");
    require(std::memcmp(without_count.data(), all.data(), count * sizeof(T)) == 0, name,
            " without a count: other elements");
    all.pop_back();
    return all;
}

// ----- Values -----

/// A value that a vendor could assign, and that no plugin has; a mask that is shifted by it, as by
/// the known value, has the same bit.
constexpr uint32_t vendor_value(uint32_t known) {
    return 0x7FFF0000u + known;
}

// ----- Info -----

/// function(name, size, value, out_size) of one object.
using InfoFunction = std::function<pi_result(uint32_t, uint64_t, void *, uint64_t *)>;

/// Each name of the table returns a value of its type, or PI_ERROR_UNSUPPORTED_FEATURE. Sizes are
/// returned, respected and refused as pi.h requires. Strings are UTF-8, and the same each time.
/// Unknown names are PI_ERROR_INVALID_ENUMERATION. Texts of errors have the name or the size.
void check_info(const std::string &what, const InfoFunction &function,
                std::span<const InfoName> names);
/// The same for one name.
void check_answer(const std::string &what, const InfoFunction &function, const InfoName &row);

// ----- Descriptors -----

/// A variant of a descriptor, and the results that it may have.
struct DescriptorVariant {
    std::string what;
    std::vector<pi_result> allowed; // empty: it must succeed
    const void *desc;
    std::string argument{};            // the text of a refusal has it,
    std::vector<std::string> values{}; // and one of these
};

/// The variant is refused with a text that names what is wrong.
void require_refused(pi_result result, const DescriptorVariant &variant, const std::string &what);

/// Variants of a descriptor: shorter, longer, of another type, with chains, flags and a reserved
/// word.
class DescriptorVariants {
public:
    /// `flags_offset` is where its flags are, or 0 when it has none; `optional`: NULL is legal.
    template <typename Desc>
    DescriptorVariants(const Desc &valid, std::size_t flags_offset, bool optional = false)
        : valid_(reinterpret_cast<const std::byte *>(&valid)), size_(sizeof valid) {
        add_headers();
        if (flags_offset != 0)
            add_flags(flags_offset, known_flags<Desc>);
        // Only buffers have layouts.
        if constexpr (!std::is_same_v<Desc, pi_mem_buffer_desc> &&
                      !std::is_same_v<Desc, pi_mem_layout_desc>)
            add_chained("a chained layout", PI_TYPE_MEM_LAYOUT_DESC);
        if constexpr (requires { valid.reserved; })
            for (const std::size_t byte : {std::size_t{0}, sizeof valid.reserved - 1})
                add(join("a reserved word whose byte ", byte, " is not 0"),
                    {PI_ERROR_UNSUPPORTED_FEATURE}, size_)[offsetof(Desc, reserved) + byte] =
                    std::byte{1};
        if (!optional)
            variants_.push_back({"desc NULL", {PI_ERROR_INVALID_NULL_POINTER}, nullptr, "desc"});
    }
    const std::vector<DescriptorVariant> &all() const { return variants_; }

private:
    void add_headers();
    void add_shorter();
    void add_longer();
    /// An unknown struct.
    void add_chained(const std::string &what, pi_struct_type type);
    void add_flags(std::size_t offset, uint64_t known);
    /// What the text of the last one's refusal names.
    void named(const char *argument, std::vector<std::string> values);
    std::byte *add(const std::string &what, std::vector<pi_result> allowed, std::size_t size);

    const std::byte *valid_;
    std::size_t size_;
    std::vector<DescriptorVariant> variants_;
    std::vector<std::unique_ptr<std::byte[]>> storage_;
    pi_mem_layout_desc ignorable_{};
    std::vector<std::unique_ptr<pi_mem_layout_desc>> chained_;
};

/// Passes each variant of a valid descriptor to call(const Desc *) and checks the result. done()
/// cleans up after a call that succeeded.
template <typename Desc, typename Call>
void check_descriptor(const std::string &name, const Desc &valid, std::size_t flags_offset,
                      Call &&call, bool optional = false) {
    const DescriptorVariants variants(valid, flags_offset, optional);
    for (const DescriptorVariant &variant : variants.all()) {
        const pi_result result = call(static_cast<const Desc *>(variant.desc));
        const std::string what = join(name, " with ", variant.what);
        if (variant.allowed.empty())
            require_success(result, what);
        else
            require_refused(result, variant, what);
    }
}

/// The address of an array of no elements, which may not be read.
template <typename T>
T *nowhere() {
    return reinterpret_cast<T *>(alignof(T));
}

// ----- Texts -----

/// The text of piGetLastError has one of these words.
void require_text_names(const std::string &what, const std::vector<std::string> &words);

// ----- Outputs -----

/// Calls create(handle **) with a poisoned output, requires the error, and that the output is as
/// before.
template <typename Handle, typename Create>
void require_untouched(const std::string &what, std::initializer_list<pi_result> allowed,
                       Create &&create) {
    Handle out = poison<Handle>();
    const pi_result result = create(&out);
    // An object that was created by mistake must not be reported as a leak, too.
    if constexpr (requires { Counted<Handle>::release; }) {
        if (result == PI_SUCCESS && out != nullptr && !same(out, poison<Handle>()))
            Counted<Handle>::release(out);
    }
    require_error(result, allowed, what);
    require(same(out, poison<Handle>()), what, ": failed, but wrote its output");
}

/// Calls create(handle **) with a poisoned output; a failure must not write it. Releases a created
/// object.
template <typename Handle, typename Create>
pi_result try_create(Create &&create) {
    Handle out = poison<Handle>();
    const pi_result result = create(&out);
    if (result == PI_SUCCESS)
        Counted<Handle>::release(out);
    else
        require(same(out, poison<Handle>()), "the call failed with ", result_name(result),
                ", but wrote its output");
    return result;
}

} // namespace pi::suite
