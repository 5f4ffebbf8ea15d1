// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sized input descriptors, sized output structs, lists and info queries.
#pragma once

#include <pi/describe/checks/descriptor.hpp>
#include <pi/describe/checks/flags.hpp>
#include <pi/sdk/object.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pi::sdk {

/// Calls a function of the C half, which reports its failure through a host, and throws that
/// failure as an Error.
template <class Body>
void throwing(Body &&body) {
    std::string message;
    pi_host host{};
    host.context = &message;
    host.set_error = [](const pi_host *self, pi_result, const char *words) {
        *static_cast<std::string *>(self->context) = words;
    };
    const pi_result result = std::forward<Body>(body)(&host);
    if (result != PI_SUCCESS)
        throw Error(result, std::move(message));
}

namespace detail {
/// As read_desc, without flags and reserved words.
template <class Desc>
Desc read_struct(const Desc *desc, pi_struct_type type, pi_struct_type chained = PI_TYPE_NONE) {
    if (desc && desc->struct_size == sizeof(Desc) && desc->type == type && !desc->next)
        return *desc; // the common case
    Desc out;
    throwing([&](const pi_host *host) {
        return pi_sdk_read_desc(host, desc, type, chained, &out, sizeof out);
    });
    return out;
}
} // namespace detail

/// Reads the caller's descriptor into the struct that this plugin was compiled with. Errors as in
/// pi.h, also for flags and reserved words. `chained` is the only type that its `next` chain may
/// have, besides types that may be ignored.
template <class Desc>
Desc read_desc(const Desc *desc, pi_struct_type type, pi_struct_type chained = PI_TYPE_NONE) {
    const Desc out = detail::read_struct(desc, type, chained);
    enforce<checks::check_words<Desc>>(out, "desc");
    return out;
}

/// As read_desc; NULL means all defaults.
template <class Desc>
Desc read_optional_desc(const Desc *desc, pi_struct_type type) {
    return desc ? read_desc(desc, type) : Desc{};
}

/// Checks a descriptor that has only flags, none of which is defined yet; NULL is allowed.
template <class Desc>
void check_plain_desc(const Desc *desc, pi_struct_type type) {
    read_optional_desc(desc, type);
}

/// The chained descriptor of this type, or NULL. Call it after read_desc has checked the chain.
inline const pi_struct_header *find_chained(const void *next, pi_struct_type type) {
    for (auto *link = static_cast<const pi_struct_header *>(next); link;
         link = static_cast<const pi_struct_header *>(link->next))
        if (link->type == type)
            return link;
    return nullptr;
}

/// Writes an output struct as pi.h requires.
template <class Struct>
void write_struct(const Struct &known, pi_struct_type type, Struct *out) {
    throwing([&](const pi_host *host) {
        return pi_sdk_write_struct(host, &known, sizeof known, type, out);
    });
}

/// Answers (capacity, out_array, out_count).
template <class T>
void write_list(std::span<const T> items, uint32_t capacity, T *out_items, uint32_t *out_count) {
    if (!out_items && !out_count)
        fail(PI_ERROR_INVALID_NULL_POINTER,
             "the output array and out_count are both NULL: nothing to answer into");
    if (out_items)
        std::copy_n(items.begin(), std::min<size_t>(capacity, items.size()), out_items);
    if (out_count)
        *out_count = static_cast<uint32_t>(items.size());
}

/// Reads an array argument and its count; empty if the count is 0. PI_ERROR_INVALID_NULL_POINTER.
template <class T>
std::span<const T> read_array(uint32_t count, const T *items, const ArgumentName &name) {
    if (count && !items)
        enforce([&](checks::Check &check) { check.array(count, items, name); });
    return {items, count};
}

/// Reads a list of handles: each is of this instance and occurs once. `accept(object, name)` throws
/// for an object that is wrong for another reason.
template <class T, class Accept = decltype([](T &, const ArgumentName &) {})>
std::vector<T *> read_handles(const pi_host *host, uint32_t count,
                              const typename T::Handle *handles, const char *name,
                              Accept &&accept = {}) {
    enforce<checks::check_listed<typename T::Handle>>(count, handles, name,
                                                      pi_sdk_invalid(T::kind));
    std::vector<T *> objects;
    for (const typename T::Handle handle : std::span(handles, count)) {
        const ArgumentName element{name, objects.size()};
        T &object = checked<T>(host, handle, element);
        accept(object, element);
        objects.push_back(&object);
    }
    return objects;
}

/// Answers one info query.
class InfoWriter {
public:
    InfoWriter(uint64_t size, void *value, uint64_t *out_size)
        : size_(size), value_(value), out_size_(out_size) {}

    /// Writes a single value of exactly the type that the enumerator's comment names. An array of
    /// characters is a string.
    template <class T>
    requires(!std::is_array_v<T>) void operator()(const T &value) const {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes(&value, sizeof value);
    }
    void operator()(const std::string &string) const { bytes(string.c_str(), string.size() + 1); }
    void operator()(const char *string) const { bytes(string, std::strlen(string) + 1); }
    template <class T>
    void operator()(const std::vector<T> &values) const {
        bytes(values.data(), values.size() * sizeof(T));
    }
    void bytes(const void *data, uint64_t count) const {
        throwing([&](const pi_host *host) {
            return pi_sdk_write_info(host, data, count, size_, value_, out_size_);
        });
    }

private:
    uint64_t size_;
    void *value_;
    uint64_t *out_size_;
};

/// One row of an info table: a name and the function that answers it.
template <class T>
struct InfoRow {
    uint32_t name;
    void (*answer)(T &object, const InfoWriter &write);
};

/// Answers a query from `rows`, then from a second table (the rows that all plugins share, and this
/// plugin's own). A name that neither has is PI_ERROR_UNSUPPORTED_FEATURE if pi.h lists it for this
/// kind, else PI_ERROR_INVALID_ENUMERATION.
template <class T>
void answer_info(T &object, std::span<const InfoRow<T>> rows, std::span<const InfoRow<T>> more,
                 uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
    for (const auto &table : {rows, more})
        for (const InfoRow<T> &row : table)
            if (row.name == name)
                return row.answer(object, InfoWriter(size, value, out_size));
    if (pi_sdk_info_exists(T::kind, name))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "name ", name, ": this ", T::kind_name,
             " does not answer that query");
    fail(PI_ERROR_INVALID_ENUMERATION, "name ", name, " is not a query of a ", T::kind_name);
}
template <class T, size_t N>
void answer_info(T &object, const InfoRow<T> (&rows)[N], uint32_t name, uint64_t size, void *value,
                 uint64_t *out_size) {
    answer_info<T>(object, rows, {}, name, size, value, out_size);
}

} // namespace pi::sdk
