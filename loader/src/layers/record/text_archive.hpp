// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The archive that writes the arguments of a call as JSON, in the format of format.hpp.
#pragma once

#include "layers/json_text.hpp"
#include "layers/layers.hpp"
#include "layers/record/format.hpp"

#include <pi/describe/members.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/uio.h>
#include <unistd.h>

namespace pi::loader::record {

inline std::span<const unsigned char> bytes_at(const void *address, uint64_t size) {
    return {static_cast<const unsigned char *>(address), static_cast<std::size_t>(size)};
}

/// Reads from an address that may be invalid: an empty result instead of a fault.
template <typename Element>
std::optional<std::vector<Element>> copied(const Element *address, uint64_t count) {
    std::vector<Element> elements(count);
    const std::size_t size = count * sizeof(Element);
    auto *const into = reinterpret_cast<unsigned char *>(elements.data());
    auto *const out_of = reinterpret_cast<unsigned char *>(const_cast<Element *>(address));
    std::size_t done = 0;
    while (done < size) {
        const iovec to{into + done, size - done};
        const iovec from{out_of + done, size - done};
        const ssize_t got = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
        if (got <= 0)
            return std::nullopt;
        done += static_cast<std::size_t>(got);
    }
    return elements;
}

inline std::string base64(std::span<const unsigned char> bytes) {
    return '"' + encode(bytes) + '"';
}

/// An address in a USM allocation.
struct UsmPlace {
    uint64_t id; ///< as for an object
    uint64_t offset;
};

/// Ids has
///   uint64_t find(const void *handle)                the id of an object
///   std::optional<UsmPlace> find_usm(const void *)   empty: in no known allocation
///   uint64_t pixel_bytes(pi_mem image)               0: not known
template <typename Ids>
class TextWriter {
public:
    /// `trusted`: the callee read all that it was given; otherwise addresses may be invalid.
    /// `cannot` receives the first reason why the call cannot be run again.
    TextWriter(Ids &ids, bool trusted, std::string &cannot)
        : ids_(ids), trusted_(trusted), cannot_(cannot) {}

    /// The JSON of the last parameter.
    std::string take() { return std::exchange(parameter_, {}); }
    /// Of the bytes that a blocking call has written to the host.
    std::optional<uint64_t> hash() const { return hash_; }

    void cannot(std::string why) {
        if (cannot_.empty())
            cannot_ = std::move(why);
    }
    template <typename Desc>
    void descriptor(const char *name, const Desc *desc) {
        Desc own;
        if (desc == nullptr)
            return add(name, json_text(nullptr));
        if (!copy_descriptor(desc, type_of<Desc>, own)) {
            cannot("struct_size or type does not match the descriptor");
            return add(name, json_text(nullptr));
        }
        if (desc->struct_size > sizeof own) {
            const auto tail = copied(reinterpret_cast<const unsigned char *>(desc) + sizeof own,
                                     desc->struct_size - sizeof own);
            if (!tail ||
                std::any_of(tail->begin(), tail->end(), [](auto byte) { return byte != 0; }))
                cannot("the descriptor is larger than the log's format");
        }
        object(name, own);
        if constexpr (!std::is_same_v<Desc, pi_mem_buffer_desc>) {
            if (own.next != nullptr)
                cannot("the log's format lacks the chained descriptor");
        }
    }
    template <typename Type>
    void object(const char *name, Type &object) {
        add(name, text_of(object));
    }
    template <typename Word>
    void number(const char *name, Word word) {
        add(name, json_text(word));
    }
    template <typename Word, std::size_t Size>
    void numbers(const char *name, const Word (&words)[Size]) {
        add(name, json_array(words, [](Word word) { return json_text(word); }));
    }
    void reserved(const char *name, uint64_t word) {
        if (word != 0)
            number(name, word);
    }
    template <typename Word, std::size_t Size>
    void reserved(const char *name, const Word (&words)[Size]) {
        if (std::any_of(words, words + Size, [](Word word) { return word != 0; }))
            numbers(name, words);
    }
    template <std::size_t Size>
    void characters(const char *name, const char (&text)[Size]) {
        add(name, json_text(std::string_view(text, ::strnlen(text, Size))));
    }
    void stray(const char *name, const void *address) {
        if (address != nullptr)
            add(name, json_text(true));
    }
    template <typename Word>
    void list(const char *name, uint32_t count, const Word *words, uint32_t most) {
        array(
            name, count, words, [](Word word) { return json_text(word); }, most);
    }
    void handle(const char *name, const void *handle) { add(name, id(handle)); }
    void optional(const char *name, const void *handle) {
        if (handle != nullptr)
            this->handle(name, handle);
    }
    template <typename Handle>
    void handles(const char *name, uint32_t count, const Handle *list) {
        array(name, count, list, [&](Handle handle) { return id(handle); });
    }
    template <typename Element>
    void elements(const char *name, uint32_t count, const Element *elements) {
        array(name, count, elements, [&](Element element) { return text_of(element); });
    }
    void text(const char *name, const char *text) {
        if (text == nullptr || trusted_)
            return add(name, text != nullptr ? json_text(text) : json_text(nullptr));
        // Byte by byte: the memory may end behind its NUL character.
        std::string own;
        auto byte = copied(text, 1);
        for (; byte && byte->front() != '\0' && own.size() < 4096; byte = copied(++text, 1))
            own += byte->front();
        if (!byte)
            cannot(std::string(name) + " of the refused call is not readable");
        add(name, byte ? json_text(own) : json_text(nullptr));
    }
    void data(const char *name, const void *address, uint64_t size) {
        // If the call failed, the bytes may not exist.
        add(name, address == nullptr ? json_text(nullptr)
                  : trusted_         ? base64(bytes_at(address, size))
                                     : json_text(true));
    }
    // The address shows what several calls share.
    void shared(const char *name, const void *address, uint64_t size) {
        if (address == nullptr)
            return add(name, json_text(nullptr));
        JsonObject out;
        out.add("address", json_text(reinterpret_cast<std::uintptr_t>(address)));
        if (trusted_)
            out.add("bytes", base64(bytes_at(address, size)));
        add(name, out.text());
    }
    void layout(const void *next) {
        const auto *const header = static_cast<const pi_struct_header *>(next);
        if (header == nullptr)
            return;
        if (header->type != PI_TYPE_MEM_LAYOUT_DESC || header->next != nullptr)
            return cannot("the log's format lacks the chained descriptor");
        descriptor("next", static_cast<const pi_mem_layout_desc *>(next));
    }
    template <typename Desc>
    void source(const char *name, const void *host, const Desc &desc) {
        if (!trusted_ || host == nullptr)
            return mark(name, host);
        std::basic_string<unsigned char> bytes;
        rows(name, host, desc, describe::HostEnd::source,
             [&](std::span<const unsigned char> row) { bytes.append(row.data(), row.size()); });
        add(name, base64(bytes));
    }
    template <typename Desc>
    void target(const char *name, const void *host, const Desc &desc) {
        mark(name, host);
        if (!trusted_ || host == nullptr || (desc.flags & PI_COMMAND_BLOCKING) == 0)
            return;
        uint64_t hash = hash_bytes({});
        rows(name, host, desc, describe::HostEnd::destination,
             [&](std::span<const unsigned char> row) { hash = hash_bytes(row, hash); });
        hash_ = hash;
    }
    void from(const char *name, const void *address, const pi_usm_copy_desc &desc) {
        ids_.find_usm(address) ? this->address(name, address) : source(name, address, desc);
    }
    void to(const char *name, const void *address, const pi_usm_copy_desc &desc) {
        ids_.find_usm(address) ? this->address(name, address) : target(name, address, desc);
    }
    void address(const char *name, const void *address) {
        const auto place = ids_.find_usm(address);
        if (!place)
            mark(name, address);
        else
            add(name, JsonObject()
                          .add("usm", json_text(place->id))
                          .add("offset", json_text(place->offset))
                          .text());
        if (!place && address != nullptr)
            cannot(std::string(name) + " is not in memory that piUsmAlloc returned");
    }
    void place(const char *name, const void *out) { mark(name, out); }
    void allocated(const char *name, const void *out) { mark(name, out); }
    void mapped(const char *, const void *) {} // the data is written beside the arguments
    template <typename Pointer>
    void mark(const char *name, Pointer pointer) {
        add(name, pointer != nullptr ? json_text(true) : json_text(nullptr));
    }
    void made(const char *name, const void *out, uint64_t) { output(name, out, 1); }
    void output(const char *name, const void *out, uint64_t) {
        add(name, json_text(out != nullptr));
    }

private:
    void add(const char *name, const std::string &json) {
        if (object_ != nullptr)
            object_->add(name, json);
        else
            parameter_ = json;
    }
    template <typename Type>
    std::string text_of(Type &described) {
        JsonObject object;
        JsonObject *const outer = std::exchange(object_, &object);
        describe::members(*this, described);
        object_ = outer;
        return object.text();
    }
    std::string id(const void *handle) {
        return handle != nullptr ? json_text(ids_.find(handle)) : json_text(nullptr);
    }
    // Of an untrusted call nothing reads more elements than the maximum.
    template <typename Element, typename Write>
    void array(const char *name, uint32_t count, const Element *array, Write &&write,
               uint32_t most = 1 << 16) {
        if (array == nullptr || count == 0)
            return add(name, count != 0         ? json_text(count)
                             : array != nullptr ? "[]"
                                                : json_text(nullptr));
        if (trusted_)
            return add(name, json_array(std::span(array, count), write));
        const auto seen = count <= most ? copied(array, count) : std::nullopt;
        if (!seen)
            cannot(
                fmt::format("the refused call gives {} {}, which are not readable", count, name));
        add(name, seen ? json_array(*seen, write) : json_text(nullptr));
    }
    // Memory by address is copied with care, because it may be memory of a device.
    template <typename Desc, typename Visit>
    void rows(const char *name, const void *host, const Desc &desc, describe::HostEnd end,
              Visit &&visit) {
        constexpr bool by_pointer = std::is_same_v<Desc, pi_usm_copy_desc>;
        uint64_t pixel = 1;
        if constexpr (requires { desc.image; })
            pixel = ids_.pixel_bytes(desc.image);
        const bool complete =
            pixel != 0 &&
            describe::for_each_row(
                desc, end, pixel, UINT64_MAX, [&](uint64_t offset, uint64_t size) {
                    const auto row =
                        bytes_at(static_cast<const unsigned char *>(host) + offset, size);
                    const auto copy = by_pointer ? copied(row.data(), size) : std::nullopt;
                    if (by_pointer && !copy)
                        return false;
                    visit(copy ? std::span<const unsigned char>(*copy) : row);
                    return true;
                });
        if (!complete)
            cannot(std::string(name) + " has bytes that are not readable");
    }

    Ids &ids_;
    const bool trusted_;
    std::string &cannot_;
    JsonObject *object_ = nullptr; ///< of the members; nullptr for parameters
    std::string parameter_;
    std::optional<uint64_t> hash_;
};

} // namespace pi::loader::record
