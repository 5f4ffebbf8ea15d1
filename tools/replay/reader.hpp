// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the arguments of a call from its line.
#pragma once

#include "player.hpp"
#include "state.hpp"

#include "layers/record/format.hpp"

#include <pi/describe/descriptor.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace pi_replay {

using namespace pi::loader::record;

/// The archive that reads: an object into a descriptor.
class Reader {
public:
    Reader(Replay::State &state, const Call &call, Storage &storage)
        : state_(state), call_(call), storage_(storage) {}

    template <typename Desc>
    Desc *descriptor(const Json &object) {
        if (object.is_null())
            return nullptr;
        if (!object.is_object())
            throw Refusal("a descriptor is not an object");
        const Json *const outer = std::exchange(object_, &object);
        auto *const desc = storage_.array<Desc>(1);
        desc->struct_size = sizeof(Desc);
        desc->type = pi::type_of<Desc>;
        members(*this, *desc);
        object_ = outer;
        return desc;
    }

    void cannot(const char *why) { throw CannotRun(why); }
    template <typename Word>
    void number(const char *name, Word &word) {
        word = as_word<Word>(member(*object_, name), name);
    }
    template <typename Word, std::size_t Size>
    void numbers(const char *name, Word (&words)[Size]) {
        read_numbers(*object_, name, words);
    }
    template <typename Word>
    void reserved(const char *name, Word &word) {
        unusual(*object_, name, word);
    }
    template <typename Address>
    void stray(const char *name, Address &address) {
        if (object_->contains(name))
            address = storage_.bytes(1);
    }
    template <typename Word>
    void list(const char *name, uint32_t &count, const Word *&words, uint32_t) {
        words =
            elements<Word>(member(*object_, name), name, count,
                           [&](const Json &value, Word &out) { out = as_word<Word>(value, name); });
    }
    template <typename Handle>
    void handle(const char *name, Handle &handle) {
        handle = state_.find<Handle>(member(*object_, name));
    }
    template <typename Handle>
    void handles(const char *name, uint32_t &count, const Handle *&list) {
        list = handle_list<Handle>(member(*object_, name), name, count);
    }
    template <typename Handle>
    const Handle *handle_list(const Json &value, const char *name, uint32_t &count) {
        return elements<Handle>(value, name, count, [&](const Json &id, Handle &out) {
            out = state_.find<Handle>(id);
        });
    }
    void text(const char *name, const char *&text) { text = as_text(member(*object_, name), name); }
    template <typename Address>
    void data(const char *name, Address &address, uint64_t size) {
        address = bytes(member(*object_, name), name, size);
    }
    void regions(uint32_t &count, const pi_region *&regions) {
        regions = elements<pi_region>(
            member(*object_, "regions"), "regions", count, [](const Json &value, pi_region &out) {
                if (!value.is_object())
                    throw Refusal("a region is not an object");
                out.src_offset = as_number(member(value, "src_offset"), "src_offset");
                out.dst_offset = as_number(member(value, "dst_offset"), "dst_offset");
                read_numbers(value, "extent", out.extent);
                read_numbers(value, "src_pitch", out.src_pitch);
                read_numbers(value, "dst_pitch", out.dst_pitch);
                unusual(value, "reserved", out.reserved);
            });
    }
    void source(pi_buffer_write_desc &desc) {
        const Json &value = member(*object_, "host_ptr");
        if (value.is_null())
            return;
        unsigned char *const memory = host_side(desc, true);
        desc.host_ptr = memory;
        if (value == true && call_.expected != PI_SUCCESS)
            return;
        const auto bytes = decoded(value, "host_ptr");
        std::size_t used = 0;
        rows(desc, true, [&](uint64_t offset, uint64_t size) {
            if (size > bytes.size() - used)
                throw Refusal("host_ptr has fewer bytes than the regions");
            std::memcpy(memory + offset, bytes.data() + used, size);
            used += size;
        });
        if (used != bytes.size())
            throw Refusal("host_ptr has more bytes than the regions");
    }
    void target(pi_buffer_read_desc &desc) {
        if (member(*object_, "host_ptr") == true)
            desc.host_ptr = host_side(desc, false);
    }
    void arguments(uint32_t &count, const pi_kernel_argument *&arguments) {
        arguments = elements<pi_kernel_argument>(
            member(*object_, "arguments"), "arguments", count,
            [&](const Json &value, pi_kernel_argument &out) { argument(value, out); });
    }
    void layout(const void *&next) {
        if (object_->contains("next"))
            next = descriptor<pi_mem_layout_desc>((*object_)["next"]);
    }
    void place(pi_buffer_map_desc &desc) {
        if (member(*object_, "out_pointer") == true)
            desc.out_pointer = storage_.array<void *>(1);
    }
    void mapped(pi_unmap_desc &) {} // the caller knows the map

private:
    // Missing words are 0.
    template <typename Word>
    static void unusual(const Json &object, const char *name, Word &word) {
        if (object.contains(name))
            word = as_word<Word>(object[name], name);
    }
    template <typename Element, typename Read>
    const Element *elements(const Json &value, const char *name, uint32_t &count, Read &&read) {
        if (value.is_null())
            return nullptr;
        if (value.is_number()) {
            count = as_word<uint32_t>(value, name);
            return nullptr;
        }
        count = static_cast<uint32_t>(array_of(value, name).size());
        auto *const own = storage_.array<Element>(count);
        for (uint32_t i = 0; i < count; ++i)
            read(value[i], own[i]);
        return own;
    }
    template <std::size_t Size>
    static void read_numbers(const Json &object, const char *name, uint64_t (&words)[Size]) {
        const Json &value = array_of(member(object, name), name);
        if (value.size() != Size)
            throw Refusal(
                fmt::format("{} has {} numbers, should have {}", name, value.size(), Size));
        for (std::size_t i = 0; i < Size; ++i)
            words[i] = as_number(value[i], name);
    }
    static std::basic_string<unsigned char> decoded(const Json &value, const char *name) {
        auto bytes =
            value.is_string() ? decode(value.get_ref<const std::string &>()) : std::nullopt;
        if (!bytes)
            throw Refusal(fmt::format("{} is not base64", name));
        return *std::move(bytes);
    }
    unsigned char *bytes(const Json &value, const char *name, uint64_t size) {
        if (value.is_null())
            return nullptr;
        if (value == true && call_.expected != PI_SUCCESS)
            return storage_.bytes(size);
        const auto bytes = decoded(value, name);
        if (bytes.size() != size)
            throw Refusal(fmt::format("{} has {} bytes, should have {}", name, bytes.size(), size));
        return static_cast<unsigned char *>(
            std::memcpy(storage_.bytes(size), bytes.data(), bytes.size()));
    }
    template <typename Desc, typename Visit>
    static void rows(const Desc &desc, bool host_is_source, Visit &&visit) {
        for (uint32_t i = 0; desc.regions != nullptr && i < desc.region_count; ++i) {
            if (!for_each_row(desc.regions[i], host_is_source, max_bytes, visit))
                throw CannotRun("a region needs more than 4 GiB of host memory");
        }
    }
    template <typename Desc>
    unsigned char *host_side(const Desc &desc, bool host_is_source) {
        uint64_t end = 0;
        rows(desc, host_is_source,
             [&](uint64_t offset, uint64_t size) { end = std::max(end, offset + size); });
        return storage_.bytes(end);
    }
    void argument(const Json &value, pi_kernel_argument &argument) {
        if (!value.is_object())
            throw Refusal("an argument is not an object");
        argument.kind = as_word<uint32_t>(member(value, "kind"), "kind");
        unusual(value, "reserved", argument.reserved);
        unusual(value, "offset", argument.offset);
        if (argument.kind == PI_ARGUMENT_BUFFER) {
            argument.mem = state_.find<pi_mem>(member(value, "mem"));
        } else if (argument.kind != PI_ARGUMENT_VALUE && argument.kind != PI_ARGUMENT_LOCAL) {
            throw CannotRun("an argument is neither a value nor a buffer");
        }
        argument.size = as_number(member(value, "size"), "size");
        if (argument.kind == PI_ARGUMENT_VALUE)
            argument.value = bytes(member(value, "value"), "value", argument.size);
    }

    Replay::State &state_;
    const Call &call_;
    Storage &storage_;
    const Json *object_ = nullptr;
};

} // namespace pi_replay
