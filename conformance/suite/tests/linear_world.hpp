// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers, views and USM for random programs: things whose bytes lie one after another.
#pragma once

#include "random_program.hpp"
#include "usm.hpp"

#include <deque>
#include <optional>
#include <variant>

namespace pi::suite {

/// A buffer, a view or USM, and where its bytes are in its model.
struct Thing {
    std::string name;
    std::variant<std::monostate, Mem, Usm> object; ///< monostate: USM that is not there now
    Model model;
    uint64_t begin = 0;
    uint64_t size = 0;
    bool host_visible = false; ///< USM that the host may touch

    std::byte *bytes() const { return model->data() + begin; }
};

/// A region of two things: up to three extents, dense or with pitches. Nearly any numbers of the
/// step do.
pi_region draw_region(Draw &draw, uint64_t src_size, uint64_t dst_size);

/// `size` bytes derived from `first`.
Bytes counted_bytes(uint64_t size, uint64_t first);

/// Things of one kind, all buffers or all USM, and the commands on them.
class LinearWorld : public World {
public:
    explicit LinearWorld(Fixture &fixture) : fixture_(fixture) {}

    /// A buffer of zeros.
    void add_buffer(const std::string &name, const pi_mem_buffer_desc &desc);
    /// Views of things that are there, of views as well, at multiples of the scope's
    /// offset_alignment.
    void add_views(Draw &draw, uint64_t count);

    Action lay_out(Draw &draw) override;
    void require_models(pi_queue queue) override;

protected:
    Action write(Draw &draw);
    Action read(Draw &draw);
    Action copy(Draw &draw);
    Action fill(Draw &draw);
    /// A host access: to a buffer by a map, to USM directly.
    Action touch(Draw &draw);

    /// One of those that are there.
    Thing &draw_thing(Draw &draw);

    Fixture &fixture_;
    std::deque<Thing> things_; // actions have references to them
};

} // namespace pi::suite
