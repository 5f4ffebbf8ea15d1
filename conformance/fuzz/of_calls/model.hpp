// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of commands: plain bytes, and the commands that used them last.
#pragma once

#include "equipment.hpp"

#include <initializer_list>
#include <memory>
#include <vector>

namespace pi::fuzz {

constexpr uint64_t most_bytes = 8192; // of an object, and of what a command moves

/// One side of a rectangle; the numbers may be any.
struct Side {
    uint64_t offset, pitch[2];
};
Side source_of(const pi_region &region);
Side destination_of(const pi_region &region);
/// One past its last byte, or nothing if that exceeds 64 bits.
bool end_of(const pi_region &region, const Side &side, uint64_t &end);
/// Applies the region to plain bytes.
void move_bytes(const pi_region &region, const uint8_t *from, uint8_t *to);
/// A row of bytes and nothing else, which no plugin may refuse.
bool is_row(const pi_region &region);

/// A finding unless `what` has the expected bytes.
void check_bytes(const Bytes &bytes, const uint8_t *expected, const char *what);

/// An event, and how its command ends.
struct Token {
    Token(pi_event made, uint32_t of_queue, pi_result ending)
        : event(made), queue(of_queue), result(ending) {}
    ~Token();
    Token(const Token &) = delete;

    pi_event event; ///< NULL: released
    uint32_t queue; ///< host_queue: a host event
    pi_result result;
    static constexpr uint32_t host_queue = UINT32_MAX;
};
using TokenRef = std::shared_ptr<Token>;

/// The expected bytes of a buffer, an image or an allocation, and the commands that the next one on
/// them must wait for.
struct Memory {
    explicit Memory(Bytes content) : bytes(std::move(content)) {}
    Bytes bytes;
    TokenRef writer;
    std::vector<TokenRef> readers; ///< since then
};
using MemoryRef = std::shared_ptr<Memory>;

struct Use {
    MemoryRef memory;
    bool writes;
};

/// A buffer or a view.
struct Buffer {
    pi_mem mem;
    MemoryRef memory; ///< of the root
    uint64_t offset, size;
    uint8_t *data() const { return memory->bytes.data() + offset; }
};
/// An image, or a buffer's view as one.
struct Image {
    pi_mem mem;
    MemoryRef memory;
    pi_channel_order order;
    pi_channel_type type;
    uint64_t pixel;     ///< bytes
    uint64_t extent[3]; ///< pixels
    Side place;
};
/// An allocation of USM.
struct Usm {
    void *pointer;
    MemoryRef memory;
    pi_usm_kind kind;
    pi_usm_pool pool;
    uint64_t size() const { return memory->bytes.size(); }
    uint8_t *data() const { return memory->bytes.data(); }
};

} // namespace pi::fuzz
