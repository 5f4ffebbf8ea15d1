// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the arguments of a call from its line.
#pragma once

#include "state.hpp"

#include "layers/record/format.hpp"

#include <pi/describe/members.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pi_run {

using namespace pi::loader::record;
using pi::describe::HostEnd;

/// The archive that reads JSON in the log's format. Objects has
///   template <typename Handle> Handle find(const Json &id)    NULL for null
///   unsigned char *find_usm(const Json &place)
///   uint64_t pixel_bytes(pi_mem image)                        0: not known
///   unsigned char *shared_memory_at(uint64_t address, uint64_t size, const Bytes *)
///
/// In a call that a person wrote, members may be missing (they are 0 or NULL), those of the only
/// region may stand among the command's, one value counts as a list of one, bytes are binary
/// values, and host memory may have a name: {"memory": id, "offset"}. Then Objects also has
///   unsigned char *find_memory(const Json &place, uint64_t size)
template <typename Objects>
class TextReader {
public:
    using Bytes = std::basic_string<unsigned char>;

    /// `value` is the list of a function's arguments or an object with members. `failed`: the call
    /// failed, so that its bytes may be missing. `by_hand`: a person wrote it.
    TextReader(Objects &objects, Storage &storage, const Json &value, bool failed,
               bool by_hand = false)
        : objects_(objects), storage_(storage), value_(&value), failed_(failed), by_hand_(by_hand) {
    }

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
        const Json &value = next(name);
        if (!by_hand_ || !value.is_null())
            read(name, value, object);
    }
    template <typename Word>
    void number(const char *name, Word &word) {
        word = word_of<Word>(next(name), name);
    }
    template <typename Word, std::size_t Size>
    void numbers(const char *name, Word (&words)[Size]) {
        const Json &value = list_of(next(name), name);
        if (by_hand_ ? value.size() > Size : value.size() != Size)
            throw Refusal(fmt::format("{} has {} numbers, should have {}{}", name, value.size(),
                                      by_hand_ ? "at most " : "", Size));
        for (std::size_t i = 0; i < value.size(); ++i)
            words[i] = word_of<Word>(value[i], name);
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
              [&](const Json &value, Word &out) { out = word_of<Word>(value, name); });
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
        if (by_hand_ && !has(name) && std::string_view(name) == "regions")
            return only_region(count, elements);
        array(name, count, elements,
              [&](const Json &value, Element &out) { read(name, value, out); });
    }
    void text(const char *name, const char *&text) { text = as_text(next(name), name); }
    template <typename Address>
    void data(const char *name, Address &address, uint64_t size) {
        const Json &value = next(name);
        if (value.is_null())
            return;
        if (is_memory(value)) {
            address = objects_.find_memory(value, size);
            return;
        }
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
        if (is_memory(value)) {
            address = objects_.find_memory(value, size);
            return;
        }
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
        if (is_memory(value)) {
            host = objects_.find_memory(value, size_of_host(desc, HostEnd::source));
            return;
        }
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
        const bool named = has(name);
        const Json &value = next(name);
        if (is_memory(value))
            host = objects_.find_memory(value, size_of_host(desc, HostEnd::destination));
        else if (value == true || (by_hand_ && !named))
            host = host_memory(desc, HostEnd::destination);
        else if (by_hand_ && !value.is_null())
            throw Refusal(fmt::format("{} should be the name of host memory", name));
    }
    void from(const char *name, const void *&address, pi_usm_copy_desc &desc) {
        is_usm(peek(name)) ? this->address(name, address) : source(name, address, desc);
    }
    void to(const char *name, void *&address, pi_usm_copy_desc &desc) {
        is_usm(peek(name)) ? this->address(name, address) : target(name, address, desc);
    }
    template <typename Address>
    void address(const char *name, Address &address) {
        const Json &value = next(name);
        address = is_memory(value) ? objects_.find_memory(value, 0) : objects_.find_usm(value);
    }
    void place(const char *name, void **&out) { output(name, out, 1); }
    void allocated(const char *name, void **&out) { output(name, out, 1); }
    void mapped(const char *, void *&) {} // the caller knows the map
    template <typename Pointer>
    void mark(const char *name, Pointer &) {
        if (const Json &value = next(name); by_hand_ && value.is_object())
            throw Refusal(
                fmt::format("{} cannot be written here; an import says memory=NAME", name));
    }
    template <typename Type>
    void made(const char *name, Type *&out, uint64_t count) {
        output(name, out, count);
    }
    template <typename Type>
    void output(const char *name, Type *&out, uint64_t count) {
        const bool named = has(name);
        if (next(name) != true && (!by_hand_ || named))
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
    const Json &peek(const char *name) {
        static const Json missing;
        if (value_->is_array())
            return value_->at(position_);
        members_.push_back(name);
        return by_hand_ && !value_->contains(name) ? missing : member(*value_, name);
    }
    bool has(const char *name) {
        members_.push_back(name);
        return value_->is_array() || value_->contains(name);
    }
    template <typename Type>
    void read(const char *name, const Json &value, Type &described) {
        if (!value.is_object())
            throw Refusal(fmt::format("{} is not an object", name));
        const Json *const outer = std::exchange(value_, &value);
        const std::vector<std::string_view> outer_members = std::exchange(members_, {});
        pi::describe::members(*this, described);
        if (by_hand_)
            refuse_other_members();
        value_ = outer;
        members_ = outer_members;
    }
    void refuse_other_members() const {
        for (const auto &[name, value] : value_->items()) {
            if (std::find(members_.begin(), members_.end(), name) != members_.end())
                continue;
            std::vector<std::string_view> known;
            for (const std::string_view member : members_) {
                if (std::find(known.begin(), known.end(), member) == known.end() &&
                    !member.starts_with("reserved"))
                    known.push_back(member);
            }
            throw Refusal(
                fmt::format("no member \"{}\"; there are {}", name, fmt::join(known, ", ")));
        }
    }
    // Its members are among the command's.
    template <typename Element>
    void only_region(uint32_t &count, const Element *&elements) {
        const std::size_t before = members_.size();
        auto *const own = storage_.array<Element>(1);
        pi::describe::members(*this, *own);
        for (std::size_t i = before; i < members_.size(); ++i) {
            if (value_->contains(members_[i])) {
                count = 1;
                elements = own;
            }
        }
    }
    template <typename Word>
    Word word_of(const Json &value, const char *name) const {
        return by_hand_ && value.is_null() ? Word{} : as_word<Word>(value, name);
    }
    const Json &list_of(const Json &value, const char *name) {
        if (!by_hand_ || value.is_array())
            return array_of(value, name);
        lists_.push_back(value.is_null() ? Json::array() : Json::array({value}));
        return lists_.back();
    }
    bool is_memory(const Json &value) const {
        return by_hand_ && value.is_object() && value.contains("memory");
    }
    bool is_usm(const Json &value) const { return value.is_object() && !is_memory(value); }
    template <typename Element, typename Read>
    void array(const char *name, uint32_t &count, const Element *&array, Read &&read) {
        const Json &value = next(name);
        if (value.is_null())
            return;
        if (value.is_number() && !by_hand_) {
            count = as_word<uint32_t>(value, name);
            return;
        }
        const Json &list = list_of(value, name);
        const std::size_t size = list.size();
        // A count of its own is the argument before.
        if (value_->is_array() && size != count)
            throw Refusal(fmt::format("{} has {} elements, should have {}", name, size, count));
        count = static_cast<uint32_t>(size);
        auto *const own = storage_.array<Element>(count);
        array = own;
        for (uint32_t i = 0; i < count; ++i)
            read(list[i], own[i]);
    }
    Bytes decoded(const Json &value, const char *name) const {
        if (by_hand_ && value.is_binary())
            return {value.get_binary().begin(), value.get_binary().end()};
        if (by_hand_ && value.is_string()) {
            const auto &text = value.get_ref<const std::string &>();
            return {text.begin(), text.end()};
        }
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
    uint64_t size_of_host(const Desc &desc, HostEnd end) {
        return host_end(desc, end, pixel(desc));
    }
    template <typename Desc>
    unsigned char *host_memory(const Desc &desc, HostEnd end) {
        const uint64_t size = size_of_host(desc, end);
        if (size > max_bytes)
            throw CannotRun("a region needs more than 4 GiB of host memory");
        return storage_.bytes(size);
    }

    Objects &objects_;
    Storage &storage_;
    const Json *value_;
    std::size_t position_ = 0;
    std::deque<Json> lists_;                ///< of one element
    std::vector<std::string_view> members_; ///< of the object, as far as it was read
    const bool failed_;
    const bool by_hand_;
};

} // namespace pi_run
