// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the arguments of a call out of its line.
#pragma once

#include "player.hpp"
#include "state.hpp"

#include "layers/record/format.hpp"

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
            throw Refusal("a descriptor is no object");
        const Json *const outer = std::exchange(object_, &object);
        auto *const desc = storage_.array<Desc>(1);
        desc->struct_size = sizeof(Desc);
        desc->type = described<Desc>;
        members(*this, *desc);
        object_ = outer;
        return desc;
    }

    void cannot(const char *why) { throw LeftOut(why); }
    template <typename Word>
    void number(const char *name, Word &word) {
        word = as_word<Word>(member(*object_, name), name);
    }
    template <typename Word, std::size_t Size>
    void numbers(const char *name, Word (&words)[Size]) {
        read_numbers(*object_, name, words);
    }
    template <typename Word>
    void list(const char *name, uint32_t &count, const Word *&words) {
        const Json &value = member(*object_, name);
        if (value.is_null())
            return;
        count = static_cast<uint32_t>(array_of(value, name).size());
        auto *const own = storage_.array<Word>(count);
        for (uint32_t i = 0; i < count; ++i)
            own[i] = as_word<Word>(value[i], name);
        words = own;
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
        if (value.is_null())
            return nullptr;
        count = static_cast<uint32_t>(array_of(value, name).size());
        auto *const own = storage_.array<Handle>(count);
        for (uint32_t i = 0; i < count; ++i)
            own[i] = state_.find<Handle>(value[i]);
        return own;
    }
    void text(const char *name, const char *&text) {
        const Json &value = member(*object_, name);
        if (!value.is_null() && !value.is_string())
            throw Refusal(fmt::format("{} is no string", name));
        text = value.is_null() ? nullptr : value.get_ref<const std::string &>().c_str();
    }
    template <typename Address>
    void data(const char *name, Address &address, uint64_t size) {
        address = bytes(member(*object_, name), name, size);
    }
    void regions(uint32_t &count, const pi_region *&regions) {
        const Json &value = member(*object_, "regions");
        if (value.is_null())
            return;
        count = static_cast<uint32_t>(array_of(value, "regions").size());
        auto *const own = storage_.array<pi_region>(count);
        for (uint32_t i = 0; i < count; ++i) {
            if (!value[i].is_object())
                throw Refusal("a region is no object");
            own[i].src_offset = as_number(member(value[i], "src_offset"), "src_offset");
            own[i].dst_offset = as_number(member(value[i], "dst_offset"), "dst_offset");
            read_numbers(value[i], "extent", own[i].extent);
            read_numbers(value[i], "src_pitch", own[i].src_pitch);
            read_numbers(value[i], "dst_pitch", own[i].dst_pitch);
        }
        regions = own;
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
        const Json &value = member(*object_, "arguments");
        if (value.is_null())
            return;
        count = static_cast<uint32_t>(array_of(value, "arguments").size());
        auto *const own = storage_.array<pi_kernel_argument>(count);
        for (uint32_t i = 0; i < count; ++i)
            argument(value[i], own[i]);
        arguments = own;
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
            throw Refusal(fmt::format("{} is no base64", name));
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
        for (uint32_t i = 0; i < desc.region_count; ++i) {
            if (!for_each_row(desc.regions[i], host_is_source, max_bytes, visit))
                throw LeftOut("a region needs more than 4 GiB of the host");
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
            throw Refusal("an argument is no object");
        argument.kind = as_word<uint32_t>(member(value, "kind"), "kind");
        if (argument.kind == PI_ARGUMENT_BUFFER) {
            argument.mem = state_.find<pi_mem>(member(value, "mem"));
            argument.offset = as_number(member(value, "offset"), "offset");
        } else if (argument.kind != PI_ARGUMENT_VALUE && argument.kind != PI_ARGUMENT_LOCAL) {
            throw LeftOut("an argument is neither a value nor a buffer");
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
