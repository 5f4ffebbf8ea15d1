// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "link.hpp"

#include <algorithm>

namespace pi::suite {
namespace {

constexpr uint64_t page = 4096;

pi_memory_connection_query query_of(pi_memory_kind kind, uint32_t src_scope, uint32_t dst_scope) {
    auto query = pi::desc<pi_memory_connection_query>();
    query.kind = kind;
    query.src_scope = src_scope;
    query.dst_scope = dst_scope;
    return query;
}

// Adds the link if the plugin answers for it.
void add_link(std::vector<Link> &links, Fixture &fixture, Link link) {
    const pi_memory_connection_query query = query_of(link.kind, link.src_scope, link.dst_scope);
    pi_memory_connection_info info{};
    const pi_result result = try_connection_info(link.src, link.dst, &query, info);
    const bool ordinary =
        link.kind == PI_MEMORY_KIND_BUFFER && link.src_scope == 0 && link.dst_scope == 0;
    if (result == PI_SUCCESS)
        link.connection = info.connection;
    else if (result == PI_ERROR_UNSUPPORTED_FEATURE && ordinary)
        link.connection = fixture.connection(link.src, link.dst);
    else if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        return;
    require(result == PI_SUCCESS || result == PI_ERROR_UNSUPPORTED_FEATURE,
            "piGetMemoryConnectionInfo for ", link.name(), ": ", last_error());
    links.push_back(link);
}

Mem make_scoped(const Place &place, Fixture &fixture, uint32_t scope, uint64_t size) {
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = size;
    desc.scope = scope;
    return fixture.make_buffer(place, desc);
}

} // namespace

std::string Link::name() const {
    return kind == PI_MEMORY_KIND_IMPORTED
               ? "imported memory"
               : join("a buffer (scope ", src_scope, " to ", dst_scope, ")");
}

pi_result try_connection_info(const Place &src, const Place &dst,
                              const pi_memory_connection_query *query,
                              pi_memory_connection_info &out) {
    out = pi::desc<pi_memory_connection_info>();
    return piGetMemoryConnectionInfo(src.device, src.context, dst.device, dst.context, query, &out);
}

pi_memory_connection_info connection_info(const Place &src, const Place &dst,
                                          const pi_memory_connection_query *query) {
    pi_memory_connection_info info{};
    require_success(try_connection_info(src, dst, query, info), "piGetMemoryConnectionInfo");
    return info;
}

std::vector<Link> all_links(Fixture &fixture) {
    std::vector<Link> links;
    const Place src = fixture.src();
    const Place dst = fixture.dst();
    const auto src_scopes = static_cast<uint32_t>(fixture.scopes(src.device).size());
    const auto dst_scopes = static_cast<uint32_t>(fixture.scopes(dst.device).size());
    for (uint32_t from = 0; from < src_scopes; ++from) {
        for (uint32_t to = 0; to < dst_scopes; ++to)
            add_link(links, fixture, {src, dst, PI_MEMORY_KIND_BUFFER, from, to, 0});
    }
    const std::optional<uint64_t> alignment = import_alignment(fixture, src.device);
    if (alignment && *alignment <= page)
        add_link(links, fixture, {src, dst, PI_MEMORY_KIND_IMPORTED, 0, 0, 0});
    return links;
}

std::vector<Link> links_that_are(Fixture &fixture, pi_memory_connection connection) {
    std::vector<Link> links = all_links(fixture);
    links.erase(std::remove_if(links.begin(), links.end(),
                               [&](const Link &link) { return link.connection != connection; }),
                links.end());
    constexpr const char *names[] = {"NONE", "MIGRATABLE", "UNIFIED"};
    if (links.empty())
        skip(join("no memory of these places is ", names[connection], " to each other"));
    return links;
}

uint64_t src_alignment(const Link &link, Fixture &fixture) {
    return fixture.scopes(link.src.device).at(link.src_scope).offset_alignment;
}

uint64_t dst_alignment(const Link &link, Fixture &fixture) {
    return fixture.scopes(link.dst.device).at(link.dst_scope).offset_alignment;
}

LinkMemory::LinkMemory(const Link &link, Fixture &fixture, const Bytes &bytes) {
    require(bytes.size() % page == 0, "the test makes memory of ", bytes.size(), " bytes");
    if (link.kind == PI_MEMORY_KIND_IMPORTED) {
        imported_ = std::make_unique<HostMemory>(bytes.size(), page);
        imported_->assign(bytes);
        mem_ = make_import(link.src, *imported_);
        return;
    }
    mem_ = make_scoped(link.src, fixture, link.src_scope, bytes.size());
    fixture.upload(fixture.make_queue(link.src), mem_, bytes);
}

Mem make_destination(const Link &link, Fixture &fixture, const Bytes &bytes) {
    Mem mem = make_scoped(link.dst, fixture, link.dst_scope, bytes.size());
    fixture.upload(fixture.make_queue(link.dst), mem, bytes);
    return mem;
}

} // namespace pi::suite
