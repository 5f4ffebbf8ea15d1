// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the arguments of a call from its line.
#pragma once

#include "state.hpp"

#include "layers/record/format.hpp"

#include <pi/describe/members.hpp>

#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace pi_replay {

using namespace pi::loader::record;
using pi::describe::HostEnd;

/// The archive that reads JSON in the log's format. Objects has
///   template <typename Handle> Handle find(const Json &id)    NULL for null
///   unsigned char *find_usm(const Json &place)
///   uint64_t pixel_bytes(pi_mem image)                        0: not known
///   unsigned char *shared_memory_at(uint64_t address, uint64_t size, const Bytes *)
template <typename Objects>
class TextReader {
public:
    using Bytes = std::basic_string<unsigned char>;

    /// `value` is the list of a function's arguments or an object with members. `failed`: the call
    /// failed, so that its bytes may be missing.
    TextReader(Objects &objects, Storage &storage, const Json &value, bool failed)
        : objects_(objects), storage_(storage), value_(&value), failed_(failed) {}

    void cannot(const char *why) { throw CannotRun(why); }
    template <typename Desc>
    void descriptor(const char *name, const Desc *&desc) {
        const Json &value = next(name);
        if (value.is_null())
            return;
        auto *const own = storage_.array<Desc>(1);
        own->struct_size = sizeof(Desc);
        own->type = pi::type_of<Desc>;
        read(name, value, *own);
        desc = own;
    }
    template <typename Type>
    void object(const char *name, Type &object) {
        read(name, next(name), object);
    }
    template <typename Word>
    void number(const char *name, Word &word) {
        word = as_word<Word>(next(name), name);
    }
    template <typename Word, std::size_t Size>
    void numbers(const char *name, Word (&words)[Size]) {
        const Json &value = array_of(next(name), name);
        if (value.size() != Size)
            throw Refusal(
                fmt::format("{} has {} numbers, should have {}", name, value.size(), Size));
        for (std::size_t i = 0; i < Size; ++i)
            words[i] = as_word<Word>(value[i], name);
    }
    // Missing words are 0.
    template <typename Word>
    void reserved(const char *name, Word &word) {
        if (has(name))
            number(name, word);
    }
    template <typename Word, std::size_t Size>
    void reserved(const char *name, Word (&words)[Size]) {
        if (has(name))
            numbers(name, words);
    }
    template <std::size_t Size>
    void characters(const char *name, char (&text)[Size]) {
        const char *const given = as_text(next(name), name);
        if (given == nullptr || std::strlen(given) > Size)
            throw Refusal(fmt::format("{} should be a text of at most {} bytes", name, Size));
        std::memcpy(text, given, std::strlen(given));
    }
    template <typename Address>
    void stray(const char *name, Address &address) {
        if (has(name))
            address = reinterpret_cast<Address>(storage_.bytes(1));
    }
    template <typename Word>
    void list(const char *name, uint32_t &count, const Word *&words, uint32_t) {
        array(name, count, words,
              [&](const Json &value, Word &out) { out = as_word<Word>(value, name); });
    }
    template <typename Handle>
    void handle(const char *name, Handle &handle) {
        handle = objects_.template find<Handle>(next(name));
    }
    template <typename Handle>
    void optional(const char *name, Handle &handle) {
        if (has(name))
            this->handle(name, handle);
    }
    template <typename Handle>
    void handles(const char *name, uint32_t &count, const Handle *&list) {
        array(name, count, list,
              [&](const Json &id, Handle &out) { out = objects_.template find<Handle>(id); });
    }
    template <typename Element>
    void elements(const char *name, uint32_t &count, const Element *&elements) {
        array(name, count, elements,
              [&](const Json &value, Element &out) { read(name, value, out); });
    }
    void text(const char *name, const char *&text) { text = as_text(next(name), name); }
    template <typename Address>
    void data(const char *name, Address &address, uint64_t size) {
        const Json &value = next(name);
        if (value.is_null())
            return;
        unsigned char *const memory = storage_.bytes(size);
        address = memory;
        if (value == true && failed_)
            return;
        const Bytes bytes = decoded(value, name);
        if (bytes.size() != size)
            throw Refusal(fmt::format("{} has {} bytes, should have {}", name, bytes.size(), size));
        std::memcpy(memory, bytes.data(), bytes.size());
    }
    void shared(const char *name, void *&address, uint64_t size) {
        const Json &value = next(name);
        if (value.is_null())
            return;
        const uint64_t recorded = as_number(member(value, "address"), name);
        std::optional<Bytes> bytes;
        if (!failed_ || value.contains("bytes"))
            bytes = decoded(member(value, "bytes"), name);
        if (bytes && bytes->size() != size)
            throw Refusal(
                fmt::format("{} has {} bytes, should have {}", name, bytes->size(), size));
        address = objects_.shared_memory_at(recorded, bytes ? size : 1, bytes ? &*bytes : nullptr);
    }
    void layout(const void *&chained) {
        const pi_mem_layout_desc *layout = nullptr;
        if (has("next"))
            descriptor("next", layout);
        chained = layout;
    }
    template <typename Address, typename Desc>
    void source(const char *name, Address &host, Desc &desc) {
        const Json &value = next(name);
        if (value.is_null())
            return;
        unsigned char *const memory = host_memory(desc, HostEnd::source);
        host = memory;
        if (value == true && failed_)
            return;
        const Bytes bytes = decoded(value, name);
        std::size_t used = 0;
        for_each_row(
            desc, HostEnd::source, pixel(desc), max_bytes, [&](uint64_t offset, uint64_t size) {
                if (size > bytes.size() - used)
                    throw Refusal(fmt::format("{} has fewer bytes than the regions", name));
                std::memcpy(memory + offset, bytes.data() + used, size);
                used += size;
                return true;
            });
        if (used != bytes.size())
            throw Refusal(fmt::format("{} has more bytes than the regions", name));
    }
    template <typename Address, typename Desc>
    void target(const char *name, Address &host, Desc &desc) {
        if (next(name) == true)
            host = host_memory(desc, HostEnd::destination);
    }
    void from(const char *name, const void *&address, pi_usm_copy_desc &desc) {
        peek(name).is_object() ? this->address(name, address) : source(name, address, desc);
    }
    void to(const char *name, void *&address, pi_usm_copy_desc &desc) {
        peek(name).is_object() ? this->address(name, address) : target(name, address, desc);
    }
    template <typename Address>
    void address(const char *name, Address &address) {
        address = objects_.find_usm(next(name));
    }
    void place(const char *name, void **&out) { output(name, out, 1); }
    void allocated(const char *name, void **&out) { output(name, out, 1); }
    void mapped(const char *, void *&) {} // the caller knows the map
    template <typename Pointer>
    void mark(const char *name, Pointer &) {
        next(name);
    }
    template <typename Type>
    void made(const char *name, Type *&out, uint64_t count) {
        output(name, out, count);
    }
    template <typename Type>
    void output(const char *name, Type *&out, uint64_t count) {
        if (next(name) != true)
            return;
        if constexpr (std::is_void_v<Type>)
            out = storage_.bytes(count);
        else
            out = storage_.array<Type>(count);
    }

private:
    // The next argument, or the member of the name.
    const Json &next(const char *name) {
        const Json &value = peek(name);
        position_ += value_->is_array() ? 1 : 0;
        return value;
    }
    const Json &peek(const char *name) const {
        return value_->is_array() ? value_->at(position_) : member(*value_, name);
    }
    bool has(const char *name) const { return value_->contains(name); }
    template <typename Type>
    void read(const char *name, const Json &value, Type &described) {
        if (!value.is_object())
            throw Refusal(fmt::format("{} is not an object", name));
        const Json *const outer = std::exchange(value_, &value);
        pi::describe::members(*this, described);
        value_ = outer;
    }
    template <typename Element, typename Read>
    void array(const char *name, uint32_t &count, const Element *&array, Read &&read) {
        const Json &value = next(name);
        if (value.is_null())
            return;
        if (value.is_number()) {
            count = as_word<uint32_t>(value, name);
            return;
        }
        const std::size_t size = array_of(value, name).size();
        // A count of its own is the argument before.
        if (value_->is_array() && size != count)
            throw Refusal(fmt::format("{} has {} elements, should have {}", name, size, count));
        count = static_cast<uint32_t>(size);
        auto *const own = storage_.array<Element>(count);
        array = own;
        for (uint32_t i = 0; i < count; ++i)
            read(value[i], own[i]);
    }
    static Bytes decoded(const Json &value, const char *name) {
        auto bytes =
            value.is_string() ? decode(value.get_ref<const std::string &>()) : std::nullopt;
        if (!bytes)
            throw Refusal(fmt::format("{} is not base64", name));
        return *std::move(bytes);
    }
    template <typename Desc>
    uint64_t pixel(const Desc &desc) {
        if constexpr (requires { desc.image; })
            return objects_.pixel_bytes(desc.image);
        else
            return 1;
    }
    template <typename Desc>
    unsigned char *host_memory(const Desc &desc, HostEnd end) {
        const uint64_t size = host_end(desc, end, pixel(desc));
        if (size > max_bytes)
            throw CannotRun("a region needs more than 4 GiB of host memory");
        return storage_.bytes(size);
    }

    Objects &objects_;
    Storage &storage_;
    const Json *value_;
    std::size_t position_ = 0;
    const bool failed_;
};

} // namespace pi_replay
