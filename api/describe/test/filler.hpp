// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The archive that fills descriptors and arguments with random contents.
#pragma once

#include <pi/describe/members.hpp>

#include <cstring>
#include <memory>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace describe_test {

using pi::describe::HostEnd;

/// Addresses from here on are USM. Nothing reads there.
constexpr uint64_t usm_begin = UINT64_C(1) << 60;
constexpr uint64_t pixel = 4;

class Filler {
public:
    /// `bare`: every address is NULL, so that any size is harmless.
    Filler(uint64_t seed, bool bare) : random_(seed), bare_(bare) {}

    /// The places of addresses within the structs.
    const std::vector<std::pair<const void *, std::size_t>> &addresses() const {
        return addresses_;
    }
    template <typename Type>
    void fill(Type &described) {
        if constexpr (pi::type_of<Type> != PI_TYPE_NONE) {
            described.struct_size = sizeof(Type);
            described.type = pi::type_of<Type>;
        }
        pi::describe::members(*this, described);
    }

    void cannot(const char *) {}
    template <typename Desc>
    void descriptor(const char *, const Desc *&desc) {
        if (!is_null(desc))
            desc = make<Desc>(1);
    }
    template <typename Type>
    void object(const char *, Type &object) {
        fill(object);
        if constexpr (std::is_same_v<Type, pi_external_handle>)
            object.type = PI_EXTERNAL_HOST_POINTER; // others cannot be read again
    }
    // Sizes are small, and enumerators valid where others have no size.
    template <typename Word>
    void number(std::string_view name, Word &word) {
        const uint64_t most = name == "kind" || name == "format" ? 6
                              : name == "channel_order"          ? 4
                              : name == "channel_type"           ? 12
                                                                 : 40;
        word = static_cast<Word>(1 + random_() % most);
    }
    template <typename Word, std::size_t Size>
    void numbers(const char *, Word (&words)[Size]) {
        for (Word &word : words)
            word = static_cast<Word>(1 + random_() % 5);
    }
    template <typename Word>
    void reserved(const char *name, Word &word) {
        if constexpr (std::is_array_v<Word>)
            numbers(name, word);
        else
            word = static_cast<Word>(random_() % 5);
    }
    template <std::size_t Size>
    void characters(const char *, char (&text)[Size]) {
        for (char &letter : text)
            letter = static_cast<char>('a' + random_() % 26);
    }
    template <typename Address>
    void stray(const char *, Address &address) {
        if (!is_null(address))
            address = reinterpret_cast<Address>(make_bytes(1));
    }
    template <typename Word>
    void list(const char *, uint32_t &count, const Word *&words, uint32_t most) {
        array(
            count, words, [&](Word &word) { word = static_cast<Word>(random_()); }, most);
    }
    template <typename Handle>
    void handle(const char *, Handle &handle) {
        handle = reinterpret_cast<Handle>(std::uintptr_t{random_() % 100});
    }
    template <typename Handle>
    void optional(const char *name, Handle &handle) {
        this->handle(name, handle);
    }
    template <typename Handle>
    void handles(const char *name, uint32_t &count, const Handle *&list) {
        array(count, list, [&](Handle &one) { handle(name, one); });
    }
    template <typename Element>
    void elements(const char *, uint32_t &count, const Element *&elements) {
        array(count, elements, [&](Element &element) { fill(element); });
    }
    void text(const char *, const char *&text) {
        if (is_null(text))
            return;
        auto *const own = reinterpret_cast<char *>(make_bytes(9));
        for (int i = 0; i < 8; ++i)
            own[i] = static_cast<char>('a' + random_() % 26);
        own[8] = '\0';
        text = own;
    }
    template <typename Address>
    void data(const char *, Address &address, uint64_t size) {
        if (!is_null(address))
            address = make_bytes(size);
    }
    void shared(const char *name, void *&address, uint64_t size) { data(name, address, size); }
    void layout(const void *&next) {
        const pi_mem_layout_desc *layout = nullptr;
        if (is_null(next))
            return;
        descriptor("next", layout);
        next = layout;
    }
    template <typename Address, typename Desc>
    void source(const char *, Address &host, Desc &desc) {
        if (!is_null(host))
            host = make_bytes(host_end(desc, HostEnd::source, pixel));
    }
    template <typename Address, typename Desc>
    void target(const char *, Address &host, Desc &desc) {
        if (!is_null(host))
            host = make_bytes(host_end(desc, HostEnd::destination, pixel));
    }
    void from(const char *name, const void *&address, pi_usm_copy_desc &desc) {
        random_() % 2 == 0 ? this->address(name, address) : source(name, address, desc);
    }
    void to(const char *name, void *&address, pi_usm_copy_desc &desc) {
        random_() % 2 == 0 ? this->address(name, address) : target(name, address, desc);
    }
    template <typename Address>
    void address(const char *, Address &address) {
        if (!is_null(address))
            address = reinterpret_cast<Address>(usm_begin + random_() % 1000);
    }
    void mapped(const char *name, void *&pointer) { address(name, pointer); }
    void place(const char *name, void **&out) { output(name, out, 1); }
    void allocated(const char *name, void **&out) { output(name, out, 1); }
    // No reader can have the program's own.
    template <typename Pointer>
    void mark(const char *, Pointer &pointer) {
        note(pointer);
    }
    template <typename Type>
    void made(const char *name, Type *&out, uint64_t count) {
        output(name, out, count);
    }
    template <typename Type>
    void output(const char *, Type *&out, uint64_t) {
        if (!is_null(out))
            out = reinterpret_cast<Type *>(make_bytes(64));
    }

private:
    template <typename Address>
    void note(Address &address) {
        addresses_.emplace_back(&address, sizeof address);
    }
    template <typename Address>
    bool is_null(Address &address) {
        note(address);
        return bare_ || random_() % 8 == 0;
    }
    unsigned char *make_bytes(uint64_t size) {
        memory_.push_back(
            std::make_unique<std::max_align_t[]>(size / sizeof(std::max_align_t) + 1));
        auto *const bytes = reinterpret_cast<unsigned char *>(memory_.back().get());
        for (uint64_t i = 0; i < size; ++i)
            bytes[i] = static_cast<unsigned char>(random_());
        return bytes;
    }
    template <typename Type>
    Type *make(uint32_t count) {
        auto *const own = reinterpret_cast<Type *>(make_bytes(count * sizeof(Type)));
        std::memset(static_cast<void *>(own), 0, count * sizeof(Type));
        if constexpr (pi::describe::described<Type>) {
            for (uint32_t i = 0; i < count; ++i)
                fill(own[i]);
        }
        return own;
    }
    template <typename Element, typename Fill>
    void array(uint32_t &count, const Element *&array, Fill &&fill, uint32_t most = 3) {
        count = static_cast<uint32_t>(1 + random_() % std::min<uint32_t>(most, 3));
        if (is_null(array))
            return;
        auto *const own = reinterpret_cast<Element *>(make_bytes(count * sizeof(Element)));
        std::memset(static_cast<void *>(own), 0, count * sizeof(Element));
        for (uint32_t i = 0; i < count; ++i)
            fill(own[i]);
        array = own;
    }

    std::mt19937_64 random_;
    const bool bare_;
    std::vector<std::unique_ptr<std::max_align_t[]>> memory_;
    std::vector<std::pair<const void *, std::size_t>> addresses_;
};

} // namespace describe_test
