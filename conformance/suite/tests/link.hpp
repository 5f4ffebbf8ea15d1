// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of one place as another one sees it, for the tests of connections: kind by kind, scope by
// scope.
#pragma once

#include "host_memory.hpp"

#include <memory>
#include <string>
#include <vector>

namespace pi::suite {

/// The connection of memory of this kind and scope of src to dst.
struct Link {
    Place src;
    Place dst;
    pi_memory_kind kind;
    uint32_t src_scope;
    uint32_t dst_scope;
    pi_memory_connection connection;

    /// "imported memory"
    std::string name() const;
};

/// The plugin's info; skips the test if it has none for this kind.
pi_memory_connection_info connection_info(const Place &src, const Place &dst,
                                          const pi_memory_connection_query *query);
/// The same, as a result.
pi_result try_connection_info(const Place &src, const Place &dst,
                              const pi_memory_connection_query *query,
                              pi_memory_connection_info &out);

/// All links from fixture.src() to fixture.dst() whose memory the suite can make: buffers in every
/// scope, and imported memory.
std::vector<Link> all_links(Fixture &fixture);
/// Those with this connection; skips the test if there are none.
std::vector<Link> links_that_are(Fixture &fixture, pi_memory_connection connection);

/// The offset_alignment of the link's scope at this end.
uint64_t src_alignment(const Link &link, Fixture &fixture);
uint64_t dst_alignment(const Link &link, Fixture &fixture);

/// Memory at the src end of a link. Its size is a multiple of 4096, so that it can be imported.
class LinkMemory {
public:
    LinkMemory(const Link &link, Fixture &fixture, const Bytes &bytes);
    pi_mem get() const { return mem_; }
    operator pi_mem() const { return mem_; }
    void release() { mem_.reset(); }

private:
    std::unique_ptr<HostMemory> imported_;
    Mem mem_;
};

/// A buffer at the dst end of a link, in its dst_scope.
Mem make_destination(const Link &link, Fixture &fixture, const Bytes &bytes);

} // namespace pi::suite
