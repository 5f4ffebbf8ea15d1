// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fixture.hpp"

#include <cstring>

using namespace loader_test;
using Catch::Matchers::Contains;

namespace {

// Two instances, in two loaders or as two plugins of one.
struct Two {
    CapturedLog log;
    Loader first{{.plugins = {plugin_file("small_good"), plugin_file("small_old")}, .log = &log}};
    Loader second{{.plugins = {plugin_file("small_good")}, .log = &log}};
    pi_device device = first.device(0);
    pi_context context = first.context(0);
    pi_device other_device;
    pi_context other_context;

    explicit Two(bool other_loader)
        : other_device(other_loader ? second.device(0) : first.device(1)),
          other_context(other_loader ? second.context(0) : first.context(1)) {}
    ~Two() {
        piContextRelease(context);
        piContextRelease(other_context);
    }
};

pi_memory_connection_info empty_info() {
    pi_memory_connection_info info;
    std::memset(&info, 0x5A, sizeof info);
    info.struct_size = sizeof info;
    info.type = PI_TYPE_MEMORY_CONNECTION_INFO;
    info.next = nullptr;
    return info;
}

} // namespace

TEST_CASE("between two plugins, and two instances of one, the loader answers NONE") {
    const Two two(GENERATE(false, true));
    pi_memory_connection connection = 99;
    // The plugin would return MIGRATABLE.
    REQUIRE(piGetMemoryConnection(two.device, two.context, two.other_device, two.other_context,
                                  &connection) == PI_SUCCESS);
    CHECK(connection == PI_MEMORY_CONNECTION_NONE);

    pi_memory_connection_info info = empty_info();
    REQUIRE(piGetMemoryConnectionInfo(two.device, two.context, two.other_device, two.other_context,
                                      nullptr, &info) == PI_SUCCESS);
    CHECK(info.connection == PI_MEMORY_CONNECTION_NONE);
    CHECK_THAT(info.reason, Contains("different plugins"));
    CHECK(info.bandwidth == 0);
    CHECK(info.external_handle_types == 0);
    CHECK(two.log.count("asked for a connection") == 0);
    REQUIRE(piGetMemoryConnection(two.device, two.context, two.device, two.context, &connection) ==
            PI_SUCCESS);
    CHECK(two.log.count("asked for a connection") == 1);
}

TEST_CASE("a device and a context of different plugins are refused") {
    const Two two(GENERATE(false, true));
    pi_memory_connection connection = 99;
    CHECK(piGetMemoryConnection(two.other_device, two.context, two.device, two.context,
                                &connection) == PI_ERROR_INVALID_DEVICE);
    CHECK_THAT(last_error(), Contains("src_device and src_context"));
    CHECK(piGetMemoryConnection(two.device, two.context, two.device, two.other_context,
                                &connection) == PI_ERROR_INVALID_DEVICE);
    CHECK_THAT(last_error(), Contains("dst_device and dst_context"));
    CHECK(connection == 99);
}

TEST_CASE("a handle of another kind is refused where the loader answers") {
    const Two two(true);
    const auto wrong = reinterpret_cast<pi_device>(two.context);
    pi_memory_connection connection = 99;
    CHECK(piGetMemoryConnection(wrong, two.context, two.other_device, two.other_context,
                                &connection) == PI_ERROR_INVALID_DEVICE);
    CHECK_THAT(last_error(), Contains("piGetMemoryConnection: src_device is a context"));
}

TEST_CASE("the query checks each of its handles and its output") {
    const Two two(false);
    pi_memory_connection connection = 99;
    CHECK(piGetMemoryConnection(two.device, nullptr, two.device, two.context, &connection) ==
          PI_ERROR_INVALID_CONTEXT);
    CHECK(last_error() == "piGetMemoryConnection: src_context is NULL");
    CHECK(piGetMemoryConnection(two.device, two.context, nullptr, two.context, &connection) ==
          PI_ERROR_INVALID_DEVICE);
    CHECK(last_error() == "piGetMemoryConnection: dst_device is NULL");
    CHECK(piGetMemoryConnection(two.device, two.context, two.device, nullptr, &connection) ==
          PI_ERROR_INVALID_CONTEXT);
    CHECK(last_error() == "piGetMemoryConnection: dst_context is NULL");
    CHECK(piGetMemoryConnection(two.device, two.context, two.device, two.context, nullptr) ==
          PI_ERROR_INVALID_NULL_POINTER);
    CHECK(last_error() == "piGetMemoryConnection: out_connection is NULL");
    CHECK(piGetMemoryConnectionInfo(two.device, two.context, two.device, two.context, nullptr,
                                    nullptr) == PI_ERROR_INVALID_NULL_POINTER);
    CHECK(connection == 99);
}

TEST_CASE("a caller with a shorter or longer info gets what fits, and zeros beyond") {
    const Two two(true);
    pi_memory_connection_info info = empty_info();
    info.struct_size = offsetof(pi_memory_connection_info, coherence);
    REQUIRE(piGetMemoryConnectionInfo(two.device, two.context, two.other_device, two.other_context,
                                      nullptr, &info) == PI_SUCCESS);
    CHECK(info.connection == PI_MEMORY_CONNECTION_NONE);
    CHECK(info.coherence == 0x5A5A5A5A);

    struct {
        pi_memory_connection_info info;
        uint64_t more;
    } longer{empty_info(), 77};
    longer.info.struct_size = sizeof longer;
    REQUIRE(piGetMemoryConnectionInfo(two.device, two.context, two.other_device, two.other_context,
                                      nullptr, &longer.info) == PI_SUCCESS);
    CHECK(longer.more == 0);
    CHECK(longer.info.struct_size == sizeof longer);

    info.struct_size = 8;
    CHECK(piGetMemoryConnectionInfo(two.device, two.context, two.other_device, two.other_context,
                                    nullptr, &info) == PI_ERROR_INVALID_DESCRIPTOR);
    info = empty_info();
    info.type = PI_TYPE_QUEUE_DESC;
    CHECK(piGetMemoryConnectionInfo(two.device, two.context, two.other_device, two.other_context,
                                    nullptr, &info) == PI_ERROR_INVALID_DESCRIPTOR);
    CHECK(info.connection == 0x5A5A5A5A);
}

TEST_CASE("a plugin without the info gets one from its connection, for buffers only") {
    const Two two(false);
    pi_memory_connection_info info = empty_info();
    REQUIRE(piGetMemoryConnectionInfo(two.device, two.context, two.device, two.context, nullptr,
                                      &info) == PI_SUCCESS);
    CHECK(info.connection == PI_MEMORY_CONNECTION_MIGRATABLE);
    CHECK(info.coherence == PI_COHERENCE_UNKNOWN);

    auto query = pi::desc<pi_memory_connection_query>();
    const auto ask = [&] {
        info = empty_info();
        return piGetMemoryConnectionInfo(two.device, two.context, two.device, two.context, &query,
                                         &info);
    };
    CHECK(ask() == PI_SUCCESS);
    query.kind = PI_MEMORY_KIND_IMAGE;
    CHECK(ask() == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(info.connection == 0x5A5A5A5A);
    query.kind = 4711;
    CHECK(ask() == PI_ERROR_INVALID_ENUMERATION);
    query.kind = PI_MEMORY_KIND_BUFFER;
    query.dst_scope = 1;
    CHECK(ask() == PI_ERROR_UNSUPPORTED_FEATURE);
    query.type = PI_TYPE_QUEUE_DESC;
    CHECK(ask() == PI_ERROR_INVALID_DESCRIPTOR);
}
