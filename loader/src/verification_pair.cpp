// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verification_pair.hpp"

#include "error.hpp"

#include <memory>
#include <vector>

namespace pi::loader {
namespace {

/// Copies from dst to src while it lives.
struct Traffic {
    Memory from;
    Memory to;
    Pending copy;

    Traffic(const Check &check, const End &by)
        : from(check.plugin, check.dst.place, check.request.how.kind, check.request.how.dst_scope,
               check.layout.size),
          to(check.plugin, check.src.place, check.request.how.kind, check.request.how.src_scope,
             check.layout.size),
          copy(by.lane.copy(from, to, {0, 0, check.layout.size})) {
        by.lane.flush();
    }
};

std::unique_ptr<const Traffic> traffic(const Check &check, const End &by) {
    pi_memory_connection back = PI_MEMORY_CONNECTION_NONE;
    if (check.layout.size >= smallest_deep_size &&
        check.request.how.kind != PI_MEMORY_KIND_IMPORTED)
        require(check.plugin.piGetMemoryConnection(check.dst.place.device, check.dst.place.context,
                                                   check.src.place.device, check.src.place.context,
                                                   &back));
    if (back != PI_MEMORY_CONNECTION_MIGRATABLE)
        return nullptr;
    return std::make_unique<const Traffic>(check, by);
}

// Copies on a queue of one end; a deep verification copies the other way at the same time, on the
// other end's queue.
std::string migrated(Check &check, Memory &source, Memory &target, const End &by,
                     const End &other) {
    check.fill(check.src, source);
    check.fill(check.dst, target);
    {
        const auto back = traffic(check, other);
        check.copy(by, source, target);
    }
    const std::string what =
        fmt::format("copied from src to dst on a queue of {}, read back at ", by.name);
    std::string seen = check.compare(check.dst, target, what + "dst");
    return seen.empty() ? check.compare(check.src, source, what + "src") : seen;
}

// Maps of src's memory on a queue of dst.
std::string mapped(Check &check, Memory &source) {
    const uint64_t size = std::min(check.layout.size, piece_size);
    std::string seen;
    check.dst.lane.map(source, 0, size, PI_MAP_READ, [&](Bytes bytes) {
        seen = check.difference(bytes, 0, source, "read by dst in a map of src's memory");
    });
    if (!seen.empty())
        return seen;
    check.dst.lane.map(source, 0, size, PI_MAP_WRITE,
                       [&](Bytes bytes) { fill_pattern(bytes, check.next_round(source), 0); });
    std::vector<unsigned char> piece(size);
    check.render_before(source, 0, piece);
    check.src.lane.read(source, 0, piece);
    return check.difference(piece, 0, source, "written by dst in a map of src's memory");
}

// Commands of dst use src's memory, and src reads what they wrote.
std::string in_place(Check &check, Memory &source, Memory &target) {
    check.fill(check.src, source);
    std::string seen = check.compare(check.dst, source, "written by src, read in place by dst");
    if (!seen.empty())
        return seen;
    check.fill(check.dst, target);
    check.copy(check.dst, source, target);
    seen = check.compare(check.dst, target, "copied by dst out of src's memory");
    if (!seen.empty())
        return seen;
    check.fill(check.dst, source);
    seen = check.compare(check.src, source, "written in place by dst, read by src");
    if (!seen.empty())
        return seen;
    check.fill(check.dst, target);
    check.copy(check.dst, target, source);
    seen = check.compare(check.src, source, "copied by dst into src's memory, read by src");
    if (seen.empty())
        seen = check.compare(check.dst, source, "copied by dst into src's memory, read by dst");
    return seen.empty() && source.mem() != nullptr ? mapped(check, source) : seen;
}

} // namespace

std::string verify_pair(Check &check, Memory &source) {
    Memory target(check.plugin, check.dst.place, check.own_kind(), check.request.how.dst_scope,
                  check.layout.size);
    if (check.request.connection == PI_MEMORY_CONNECTION_UNIFIED)
        return in_place(check, source, target);
    std::string seen = migrated(check, source, target, check.src, check.dst);
    return seen.empty() ? migrated(check, source, target, check.dst, check.src) : seen;
}

} // namespace pi::loader
