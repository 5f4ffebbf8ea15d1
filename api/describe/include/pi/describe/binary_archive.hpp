// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls as bytes, for files and wires. C++20. Members follow each other in the order of
// members.hpp, without names:
//  - A word has the bytes of its type, little endian. A handle is 8 bytes, an id; 0 is NULL.
//  - What an address leads to begins with one byte: 0 for NULL, 1 otherwise. For an end of a USM
//    copy it is 2 for an address of USM.
//  - An array is its count of 4 bytes, the byte of its address, and its elements. A text is its
//    byte, 4 bytes of length and its bytes. Other bytes have the size that earlier members give.
//  - An address of USM is 8 bytes. Memory that is used in place is its address modulo 4096 in 8
//    bytes, and its bytes. Outputs and marks are the byte only.
#pragma once

#include <pi/describe/members.hpp>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

namespace pi::describe {

/// Names has
///   uint64_t id(const void *handle)                            for a handle that is not NULL
///   std::optional<uint64_t> address(const void *pointer)       empty: not USM, and not mapped
///   uint64_t pixel_bytes(pi_mem image)                         0: not known
/// All that a call leads to must be readable, as for a call that succeeds.
template <typename Names>
class BinaryWriter {
public:
    /// Appends to `out`.
    BinaryWriter(std::vector<unsigned char> &out, Names &names) : out_(out), names_(names) {}

    /// Why the bytes are not the call; nullptr if they are.
    const char *error() const noexcept { return error_; }

    void cannot(const char *why) noexcept {
        if (error_ == nullptr)
            error_ = why;
    }
    template <typename Desc>
    void descriptor(const char *name, const Desc *desc) {
        if (!present(desc))
            return;
        Desc own{};
        if (desc->struct_size < sizeof(pi_struct_header) || desc->type != type_of<Desc>)
            return cannot("struct_size or type does not match the descriptor");
        std::memcpy(static_cast<void *>(&own), desc,
                    std::min<std::size_t>(desc->struct_size, sizeof own));
        const auto *const bytes = reinterpret_cast<const unsigned char *>(desc);
        for (std::size_t i = sizeof own; i < desc->struct_size; ++i) {
            if (bytes[i] != 0)
                cannot("the descriptor is larger than its members");
        }
        if constexpr (!std::is_same_v<Desc, pi_mem_buffer_desc>) {
            if (own.next != nullptr)
                cannot("a chained descriptor is unknown");
        }
        object(name, own);
    }
    template <typename Type>
    void object(const char *, Type &object) {
        members(*this, object);
    }
    template <typename Word>
    void number(const char *, Word word) {
        for (std::size_t i = 0; i < sizeof word; ++i)
            out_.push_back(static_cast<unsigned char>(static_cast<uint64_t>(word) >> 8 * i));
    }
    template <typename Word, std::size_t Size>
    void numbers(const char *name, const Word (&words)[Size]) {
        for (const Word word : words)
            number(name, word);
    }
    template <typename Word>
    void reserved(const char *name, const Word &word) {
        if constexpr (std::is_array_v<Word>)
            numbers(name, word);
        else
            number(name, word);
    }
    template <std::size_t Size>
    void characters(const char *name, const char (&text)[Size]) {
        numbers(name, text);
    }
    void stray(const char *, const void *address) { present(address); }
    template <typename Word>
    void list(const char *name, uint32_t count, const Word *words, uint32_t) {
        array(name, count, words, [&](Word word) { number(name, word); });
    }
    void handle(const char *name, const void *handle) {
        number(name, handle != nullptr ? names_.id(handle) : 0);
    }
    void optional(const char *name, const void *handle) { this->handle(name, handle); }
    template <typename Handle>
    void handles(const char *name, uint32_t count, const Handle *list) {
        array(name, count, list, [&](Handle one) { handle(name, one); });
    }
    template <typename Element>
    void elements(const char *name, uint32_t count, const Element *elements) {
        array(name, count, elements, [&](Element element) { object(name, element); });
    }
    void text(const char *name, const char *text) {
        if (!present(text))
            return;
        const std::size_t size = std::strlen(text);
        if (size > UINT32_MAX)
            return cannot("a text is longer than 4 GiB");
        number(name, static_cast<uint32_t>(size));
        append(text, size);
    }
    void data(const char *, const void *address, uint64_t size) {
        if (present(address))
            append(address, size);
    }
    void shared(const char *name, const void *address, uint64_t size) {
        if (!present(address))
            return;
        number(name, uint64_t{reinterpret_cast<std::uintptr_t>(address) % 4096});
        append(address, size);
    }
    void layout(const void *next) {
        const auto *const header = static_cast<const pi_struct_header *>(next);
        if (header != nullptr && header->type != PI_TYPE_MEM_LAYOUT_DESC)
            return cannot("a chained descriptor is unknown");
        descriptor("next", static_cast<const pi_mem_layout_desc *>(next));
    }
    template <typename Desc>
    void source(const char *, const void *host, const Desc &desc) {
        if (present(host))
            rows(host, desc);
    }
    template <typename Desc>
    void target(const char *, const void *host, const Desc &) {
        present(host);
    }
    void from(const char *name, const void *address, const pi_usm_copy_desc &desc) {
        if (!usm(name, address))
            source(name, address, desc);
    }
    void to(const char *name, const void *address, const pi_usm_copy_desc &desc) {
        if (!usm(name, address))
            target(name, address, desc);
    }
    void address(const char *name, const void *address) {
        if (!present(address))
            return;
        const std::optional<uint64_t> number = names_.address(address);
        if (!number)
            cannot("an address is not USM");
        this->number(name, number.value_or(0));
    }
    void mapped(const char *name, const void *address) { this->address(name, address); }
    void place(const char *, const void *out) { present(out); }
    void allocated(const char *, const void *out) { present(out); }
    template <typename Pointer>
    void mark(const char *, Pointer pointer) {
        present(pointer);
    }
    void made(const char *, const void *out, uint64_t) { present(out); }
    void output(const char *, const void *out, uint64_t) { present(out); }

private:
    template <typename Pointer>
    bool present(Pointer pointer) {
        out_.push_back(pointer != nullptr ? 1 : 0);
        return pointer != nullptr;
    }
    void append(const void *address, uint64_t size) {
        const auto *const bytes = static_cast<const unsigned char *>(address);
        out_.insert(out_.end(), bytes, bytes + size);
    }
    template <typename Element, typename Write>
    void array(const char *name, uint32_t count, const Element *array, Write &&write) {
        number(name, count);
        if (present(array))
            std::for_each(array, array + count, write);
    }
    bool usm(const char *name, const void *address) {
        const std::optional<uint64_t> place =
            address != nullptr ? names_.address(address) : std::nullopt;
        if (place) {
            out_.push_back(2);
            number(name, *place);
        }
        return place.has_value();
    }
    template <typename Desc>
    void rows(const void *host, const Desc &desc) {
        uint64_t pixel = 1;
        if constexpr (requires { desc.image; })
            pixel = names_.pixel_bytes(desc.image);
        const auto write = [&](uint64_t offset, uint64_t size) {
            append(static_cast<const unsigned char *>(host) + offset, size);
            return true;
        };
        if (pixel == 0 || !for_each_row(desc, HostEnd::source, pixel, UINT64_MAX, write))
            cannot("the rows of a region exceed 64 bits, or an image is unknown");
    }

    std::vector<unsigned char> &out_;
    Names &names_;
    const char *error_ = nullptr;
};

/// What a read call leads to. Zeros.
class Memory {
public:
    /// `limit` bounds its bytes.
    explicit Memory(uint64_t limit) : left_(limit) {}
    /// nullptr beyond the limit. The address modulo 4096 is `skew`, if that is given.
    unsigned char *bytes(uint64_t size, std::optional<uint64_t> skew = std::nullopt) {
        if (size > left_)
            return nullptr;
        left_ -= size;
        const uint64_t offset = skew.value_or(0);
        const std::size_t align = skew ? 4096 : alignof(std::max_align_t);
        const std::size_t all = (static_cast<std::size_t>(size + offset) / align + 1) * align;
        blocks_.emplace_back(static_cast<unsigned char *>(std::aligned_alloc(align, all)));
        if (blocks_.back() == nullptr)
            throw std::bad_alloc();
        return static_cast<unsigned char *>(std::memset(blocks_.back().get(), 0, all)) + offset;
    }

private:
    struct Free {
        void operator()(unsigned char *block) const noexcept { std::free(block); }
    };
    uint64_t left_;
    std::vector<std::unique_ptr<unsigned char, Free>> blocks_;
};

/// Reads any bytes: what is not a call is an error, never a fault, and nothing is allocated for
/// more elements than the bytes can contain. Names has
///   template <typename Handle> bool find(uint64_t id, Handle &out)
///   void *address(uint64_t number)                              nullptr: unknown
///   uint64_t pixel_bytes(pi_mem image)                          0: not known
template <typename Names>
class BinaryReader {
public:
    BinaryReader(std::span<const unsigned char> in, Memory &memory, Names &names)
        : in_(in), memory_(memory), names_(names) {}

    /// Why the bytes are not a call; nullptr as long as they are. Values read after an error are 0.
    const char *error() const noexcept { return error_; }
    /// Whether all bytes have been read.
    bool at_end() const noexcept { return in_.empty(); }

    void cannot(const char *why) noexcept {
        if (error_ == nullptr)
            error_ = why;
        in_ = {};
    }
    template <typename Desc>
    void descriptor(const char *name, const Desc *&desc) {
        if (!present())
            return;
        auto *const own = allocate<Desc>(1);
        if (own == nullptr)
            return;
        own->struct_size = sizeof(Desc);
        own->type = type_of<Desc>;
        object(name, *own);
        desc = own;
    }
    template <typename Type>
    void object(const char *, Type &object) {
        members(*this, object);
    }
    template <typename Word>
    void number(const char *, Word &word) {
        uint64_t value = 0;
        if (const unsigned char *const bytes = take(sizeof word)) {
            for (std::size_t i = 0; i < sizeof word; ++i)
                value |= uint64_t{bytes[i]} << 8 * i;
        }
        word = static_cast<Word>(value);
    }
    template <typename Word, std::size_t Size>
    void numbers(const char *name, Word (&words)[Size]) {
        for (Word &word : words)
            number(name, word);
    }
    template <typename Word>
    void reserved(const char *name, Word &word) {
        if constexpr (std::is_array_v<Word>)
            numbers(name, word);
        else
            number(name, word);
    }
    template <std::size_t Size>
    void characters(const char *name, char (&text)[Size]) {
        numbers(name, text);
    }
    template <typename Address>
    void stray(const char *, Address &address) {
        if (present())
            address = reinterpret_cast<Address>(allocate<std::max_align_t>(1));
    }
    template <typename Word>
    void list(const char *name, uint32_t &count, const Word *&words, uint32_t) {
        array(name, count, words, sizeof(Word), [&](Word &word) { number(name, word); });
    }
    template <typename Handle>
    void handle(const char *name, Handle &handle) {
        uint64_t id = 0;
        number(name, id);
        if (id != 0 && !names_.find(id, handle))
            cannot("a handle is unknown");
    }
    template <typename Handle>
    void optional(const char *name, Handle &handle) {
        this->handle(name, handle);
    }
    template <typename Handle>
    void handles(const char *name, uint32_t &count, const Handle *&list) {
        array(name, count, list, sizeof(uint64_t), [&](Handle &one) { handle(name, one); });
    }
    template <typename Element>
    void elements(const char *name, uint32_t &count, const Element *&elements) {
        // No element is shorter.
        array(name, count, elements, 8, [&](Element &element) { object(name, element); });
    }
    void text(const char *name, const char *&text) {
        if (!present())
            return;
        uint32_t size = 0;
        number(name, size);
        const unsigned char *const bytes = take(size);
        auto *const own = bytes != nullptr ? allocate<char>(uint64_t{size} + 1) : nullptr;
        if (own == nullptr)
            return;
        if (std::memchr(bytes, 0, size) != nullptr)
            return cannot("a text contains a NUL character");
        std::memcpy(own, bytes, size);
        text = own;
    }
    template <typename Address>
    void data(const char *, Address &address, uint64_t size) {
        if (present())
            address = copy(size);
    }
    void shared(const char *name, void *&address, uint64_t size) {
        if (!present())
            return;
        uint64_t skew = 0;
        number(name, skew);
        if (skew >= 4096)
            return cannot("an address modulo 4096 is larger than 4095");
        address = copy(size, skew);
    }
    void layout(const void *&next) {
        const pi_mem_layout_desc *layout = nullptr;
        descriptor("next", layout);
        next = layout;
    }
    template <typename Address, typename Desc>
    void source(const char *name, Address &host, Desc &desc) {
        if (present())
            read_source(name, host, desc);
    }
    template <typename Address, typename Desc>
    void target(const char *, Address &host, Desc &desc) {
        if (present())
            host = host_memory(desc, HostEnd::destination);
    }
    void from(const char *name, const void *&address, pi_usm_copy_desc &desc) {
        const unsigned char kind = next_byte(2);
        if (kind == 2)
            address = usm(name);
        else if (kind == 1)
            read_source(name, address, desc);
    }
    void to(const char *name, void *&address, pi_usm_copy_desc &desc) {
        const unsigned char kind = next_byte(2);
        if (kind == 2)
            address = usm(name);
        else if (kind == 1)
            address = host_memory(desc, HostEnd::destination);
    }
    template <typename Address>
    void address(const char *name, Address &address) {
        if (present())
            address = usm(name);
    }
    void mapped(const char *name, void *&pointer) { address(name, pointer); }
    void place(const char *name, void **&out) { output(name, out, 1); }
    void allocated(const char *name, void **&out) { output(name, out, 1); }
    template <typename Pointer>
    void mark(const char *, Pointer &) {
        present();
    }
    template <typename Type>
    void made(const char *name, Type *&out, uint64_t count) {
        output(name, out, count);
    }
    template <typename Type>
    void output(const char *, Type *&out, uint64_t count) {
        if (!present())
            return;
        if constexpr (std::is_void_v<Type>)
            out = allocate<unsigned char>(count);
        else
            out = allocate<Type>(count);
    }

private:
    const unsigned char *take(uint64_t size) {
        if (size > in_.size()) {
            cannot("the bytes end within a call");
            return nullptr;
        }
        const unsigned char *const bytes = in_.data();
        in_ = in_.subspan(static_cast<std::size_t>(size));
        return bytes;
    }
    unsigned char next_byte(unsigned char most) {
        const unsigned char *const byte = take(1);
        if (byte != nullptr && *byte > most)
            cannot("the byte of an address has another value");
        return byte != nullptr && *byte <= most ? *byte : 0;
    }
    bool present() { return next_byte(1) == 1; }
    template <typename Type>
    Type *allocate(uint64_t count) {
        auto *const memory = memory_.bytes(times(count, sizeof(Type)));
        if (memory == nullptr)
            cannot("the call needs more memory than its reader allows");
        return reinterpret_cast<Type *>(memory);
    }
    unsigned char *copy(uint64_t size, std::optional<uint64_t> skew = std::nullopt) {
        const unsigned char *const bytes = take(size);
        auto *const memory = bytes != nullptr ? memory_.bytes(size, skew) : nullptr;
        if (memory == nullptr) {
            cannot("the call needs more memory than its reader allows");
            return nullptr;
        }
        return static_cast<unsigned char *>(
            std::memcpy(memory, bytes, static_cast<std::size_t>(size)));
    }
    template <typename Element, typename Read>
    void array(const char *name, uint32_t &count, const Element *&array, uint64_t least,
               Read &&read) {
        number(name, count);
        if (!present())
            return;
        if (count > in_.size() / least)
            return cannot("the bytes end within an array");
        auto *const own = allocate<Element>(count);
        for (uint32_t i = 0; own != nullptr && i < count; ++i)
            read(own[i]);
        array = own;
    }
    void *usm(const char *name) {
        uint64_t value = 0;
        number(name, value);
        void *const found = error_ == nullptr ? names_.address(value) : nullptr;
        if (found == nullptr)
            cannot("an address of USM is unknown");
        return found;
    }
    template <typename Desc>
    uint64_t pixel(const Desc &desc) {
        if constexpr (requires { desc.image; })
            return error_ == nullptr ? names_.pixel_bytes(desc.image) : 0;
        else
            return 1;
    }
    template <typename Desc>
    unsigned char *host_memory(const Desc &desc, HostEnd end) {
        return allocate<unsigned char>(host_end(desc, end, pixel(desc)));
    }
    template <typename Address, typename Desc>
    void read_source(const char *, Address &host, Desc &desc) {
        unsigned char *const memory = host_memory(desc, HostEnd::source);
        if (memory == nullptr)
            return;
        const auto read = [&](uint64_t offset, uint64_t size) {
            const unsigned char *const bytes = take(size);
            if (bytes != nullptr)
                std::memcpy(memory + offset, bytes, static_cast<std::size_t>(size));
            return bytes != nullptr;
        };
        if (for_each_row(desc, HostEnd::source, pixel(desc), UINT64_MAX, read))
            host = memory;
        else
            cannot("the bytes end within the rows of a region");
    }

    std::span<const unsigned char> in_;
    Memory &memory_;
    Names &names_;
    const char *error_ = nullptr;
};

} // namespace pi::describe
