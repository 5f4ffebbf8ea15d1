// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include "skip.hpp"

using namespace pi_test;

namespace {

pi_memory_connection_info connection_info(pi_device src, pi_context src_context, pi_device dst,
                                          pi_context dst_context,
                                          const pi_memory_connection_query *query = nullptr) {
    auto out = pi::desc<pi_memory_connection_info>();
    OK(piGetMemoryConnectionInfo(src, src_context, dst, dst_context, query, &out));
    return out;
}

} // namespace

TEST_CASE("every place is unified with every other") {
    const Host host;
    std::vector<Owned<pi_context>> contexts;
    contexts.push_back(make_context(host.devices));
    contexts.push_back(make_context(host.devices));
    for (pi_device src : host.devices)
        for (pi_device dst : host.devices)
            for (pi_context src_context : contexts)
                for (pi_context dst_context : contexts) {
                    pi_memory_connection connection = PI_MEMORY_CONNECTION_NONE;
                    OK(piGetMemoryConnection(src, src_context, dst, dst_context, &connection));
                    CHECK(connection == PI_MEMORY_CONNECTION_UNIFIED);
                    const auto info = connection_info(src, src_context, dst, dst_context);
                    CHECK(info.connection == PI_MEMORY_CONNECTION_UNIFIED);
                    CHECK(info.coherence == PI_COHERENCE_COHERENT);
                    CHECK(info.atomics == 1);
                    CHECK(info.concurrent_writers == PI_CONCURRENT_WRITERS_DISJOINT_BYTES);
                    CHECK(info.path == PI_COPY_PATH_DIRECT);
                    CHECK(info.residency ==
                          (src == dst ? PI_RESIDENCY_SAME_MEMORY : PI_RESIDENCY_REMOTE_ACCESS));
                    CHECK(info.link_kind ==
                          (src == dst ? PI_LINK_SAME_DEVICE : PI_LINK_SYSTEM_MEMORY));
                    CHECK(std::strlen(info.reason) > 10);
                }
}

TEST_CASE("commands of one place use memory of another") {
    const Host host;
    const Owned<pi_context> other = make_context({host.devices.back()});
    auto d = buffer_desc(64);
    Owned<pi_mem> there;
    OK(piMemBufferCreate(other, host.devices.back(), &d, there.out()));
    const Owned<pi_mem> here = host.make_buffer(std::vector<std::byte>(64, std::byte{6}));
    const Owned<pi_queue> queue = host.make_queue();
    const pi_region whole = range(0, 0, 64);
    const auto copy = copy_desc(here, there, whole);
    OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
    const uint8_t value = 1;
    const auto fill = fill_desc(there, &value, 1, 0, 1);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    OK(piQueueFinish(queue));
    const std::vector<std::byte> bytes = contents(host, there);
    CHECK(bytes[0] == std::byte{1});
    CHECK(bytes[63] == std::byte{6});
}

TEST_CASE("memory of every kind is connected with its own place, and buffers of scope 0 by "
          "handles, too") {
    const Host host;
    for (pi_memory_kind kind :
         {PI_MEMORY_KIND_BUFFER, PI_MEMORY_KIND_IMPORTED, PI_MEMORY_KIND_IMAGE,
          PI_MEMORY_KIND_USM_HOST, PI_MEMORY_KIND_USM_DEVICE, PI_MEMORY_KIND_USM_SHARED}) {
        auto query = pi::desc<pi_memory_connection_query>();
        query.kind = kind;
        const auto info =
            connection_info(host.device, host.context, host.device, host.context, &query);
        CHECK(info.connection == PI_MEMORY_CONNECTION_UNIFIED);
        CHECK((info.external_handle_types != 0) == (kind == PI_MEMORY_KIND_BUFFER));
        query.src_scope = 1;
        CHECK(connection_info(host.device, host.context, host.device, host.context, &query)
                  .external_handle_types == 0);
    }
}

TEST_CASE("a query without a valid kind or scope is refused") {
    const Host host;
    auto out = pi::desc<pi_memory_connection_info>();
    auto query = pi::desc<pi_memory_connection_query>();
    const auto ask = [&] {
        return piGetMemoryConnectionInfo(host.device, host.context, host.device, host.context,
                                         &query, &out);
    };
    query.kind = 6;
    REFUSED(PI_ERROR_INVALID_ENUMERATION, "kind is 6", ask());
    query.kind = 0;
    query.dst_scope = 2;
    REFUSED(PI_ERROR_INVALID_VALUE, "dst_scope is 2", ask());
    query.dst_scope = 0;
    query.src_scope = 5;
    REFUSED(PI_ERROR_INVALID_VALUE, "src_scope is 5", ask());
    query.src_scope = 0;
    out.type = 0;
    REFUSED(PI_ERROR_INVALID_DESCRIPTOR, "output struct", ask());
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "out_connection",
            piGetMemoryConnection(host.device, host.context, host.device, host.context, nullptr));
}

TEST_CASE("a device that is not of its context is refused") {
    const Host host;
    if (host.devices.size() < 2) {
        skip("needs two devices");
        return;
    }
    const Owned<pi_context> second = make_context({host.devices[1]});
    pi_memory_connection connection = 99;
    REFUSED(PI_ERROR_INVALID_DEVICE, "src_device",
            piGetMemoryConnection(host.devices[0], second, host.devices[1], second, &connection));
    REFUSED(PI_ERROR_INVALID_DEVICE, "dst_device",
            piGetMemoryConnection(host.devices[1], second, host.devices[0], second, &connection));
    CHECK(connection == 99);
    Owned<pi_queue> queue;
    REFUSED(PI_ERROR_INVALID_DEVICE, "not one of the 1 devices",
            piQueueCreate(second, host.devices[0], nullptr, queue.out()));
    const auto d = buffer_desc(64);
    Owned<pi_mem> mem;
    REFUSED(PI_ERROR_INVALID_DEVICE, "not one of the 1 devices",
            piMemBufferCreate(second, host.devices[0], &d, mem.out()));
}
