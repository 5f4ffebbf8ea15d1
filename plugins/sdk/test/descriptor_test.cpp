// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fake_host.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/sdk/descriptor.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstring>

using namespace pi::sdk;

namespace {

pi_queue_desc queue_desc(uint64_t flags) {
    return {sizeof(pi_queue_desc), PI_TYPE_QUEUE_DESC, nullptr, flags};
}

pi_result code_of(const std::function<void()> &body) {
    try {
        body();
        return PI_SUCCESS;
    } catch (const Error &error) {
        CHECK_FALSE(error.text().empty());
        return error.code();
    }
}

pi_result read_code(const pi_queue_desc *desc) {
    return code_of([&] { read_desc(desc, PI_TYPE_QUEUE_DESC); });
}

class Thing : public Object<Thing, pi_mem> {
public:
    explicit Thing(const pi_host *host) : Object(host) {}
};

} // namespace

TEST_CASE("a shorter descriptor of an older caller is extended by zeros") {
    // The caller's struct ends before `flags`; the bytes behind it must not be read.
    pi_queue_desc desc = queue_desc(0xFFFF);
    desc.struct_size = sizeof(pi_struct_header);
    CHECK(read_desc(&desc, PI_TYPE_QUEUE_DESC).flags == 0);
}

TEST_CASE("a longer descriptor of a newer caller is accepted only if its tail is zero") {
    struct Newer {
        pi_queue_desc known;
        uint64_t unknown;
    } newer{queue_desc(1), 0};
    newer.known.struct_size = sizeof newer;
    CHECK(read_desc(&newer.known, PI_TYPE_QUEUE_DESC).flags == 1);
    newer.unknown = uint64_t{1} << 56;
    CHECK(read_code(&newer.known) == PI_ERROR_UNSUPPORTED_FEATURE);
}

TEST_CASE("a descriptor with a wrong size or type is refused") {
    pi_queue_desc desc = queue_desc(0);
    desc.struct_size = 0;
    CHECK(read_code(&desc) == PI_ERROR_INVALID_DESCRIPTOR);
    desc = queue_desc(0);
    desc.type = PI_TYPE_CONTEXT_DESC;
    CHECK(read_code(&desc) == PI_ERROR_INVALID_DESCRIPTOR);
    CHECK(read_code(nullptr) == PI_ERROR_INVALID_NULL_POINTER);
}

TEST_CASE("an unknown chained descriptor is refused unless it may be ignored") {
    pi_struct_header chained{sizeof chained, 999, nullptr};
    pi_queue_desc desc = queue_desc(0);
    desc.next = &chained;
    CHECK(read_code(&desc) == PI_ERROR_UNSUPPORTED_FEATURE);
    chained.type |= PI_TYPE_MAY_IGNORE_BIT;
    CHECK(read_code(&desc) == PI_SUCCESS);
}

TEST_CASE("an output struct gets the smaller of both sizes, and zeros beyond the known fields") {
    pi_memory_connection_info known{};
    known.connection = PI_MEMORY_CONNECTION_UNIFIED;
    known.bandwidth = 42;

    struct Newer {
        pi_memory_connection_info info;
        uint64_t unknown;
    } newer{};
    newer.info.struct_size = sizeof newer;
    newer.info.type = PI_TYPE_MEMORY_CONNECTION_INFO;
    newer.unknown = 7;
    write_struct(known, PI_TYPE_MEMORY_CONNECTION_INFO, &newer.info);
    CHECK(newer.info.struct_size == sizeof newer);
    CHECK(newer.info.bandwidth == 42);
    CHECK(newer.unknown == 0);

    pi_memory_connection_info older{};
    older.struct_size = offsetof(pi_memory_connection_info, bandwidth);
    older.type = PI_TYPE_MEMORY_CONNECTION_INFO;
    older.bandwidth = 7; // behind the older caller's struct: must not change
    write_struct(known, PI_TYPE_MEMORY_CONNECTION_INFO, &older);
    CHECK(older.connection == PI_MEMORY_CONNECTION_UNIFIED);
    CHECK(older.bandwidth == 7);
}

TEST_CASE("an output struct with an unknown chain is refused and not written") {
    const pi_memory_connection_info known{.connection = PI_MEMORY_CONNECTION_UNIFIED};
    pi_struct_header link{sizeof link, 1000, nullptr};
    auto out = pi::desc<pi_memory_connection_info>();
    out.next = &link;
    CHECK(code_of([&] { write_struct(known, PI_TYPE_MEMORY_CONNECTION_INFO, &out); }) ==
          PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(out.connection == PI_MEMORY_CONNECTION_NONE);
    link.type |= PI_TYPE_MAY_IGNORE_BIT;
    write_struct(known, PI_TYPE_MEMORY_CONNECTION_INFO, &out);
    CHECK(out.connection == PI_MEMORY_CONNECTION_UNIFIED);
}

TEST_CASE("an info query returns the size or the value, or reports the needed size") {
    const std::string name = "device";
    uint64_t size = 0;
    InfoWriter(0, nullptr, &size)(name);
    CHECK(size == 7);
    std::array<char, 7> value{};
    InfoWriter(value.size(), value.data(), nullptr)(name);
    CHECK(std::string(value.data()) == name);

    std::array<char, 7> small{};
    size = 99;
    CHECK(code_of([&] { InfoWriter(6, small.data(), &size)(name); }) == PI_ERROR_INVALID_SIZE);
    CHECK(small[0] == 0); // nothing written on failure
    CHECK(size == 99);
    CHECK(code_of([&] { InfoWriter(0, nullptr, nullptr)(name); }) == PI_ERROR_INVALID_NULL_POINTER);
}

TEST_CASE("a list query returns the count and writes at most the capacity") {
    const std::vector<int> items{1, 2, 3};
    std::array<int, 3> out{};
    uint32_t count = 0;
    write_list(std::span(items), 2, out.data(), &count);
    CHECK(count == 3);
    CHECK(out == std::array<int, 3>{1, 2, 0});
    CHECK(code_of([&] { write_list<int>(items, 0, nullptr, nullptr); }) ==
          PI_ERROR_INVALID_NULL_POINTER);
}

TEST_CASE("handles of another kind, of another host and NULL are refused by name") {
    pi_test::FakeHost host, other;
    {
        Ref<Thing> thing = make<Thing>(host.get());
        Ref<Thing> elsewhere = make<Thing>(other.get());
        CHECK(host.objects() == 1);
        CHECK(&checked<Thing>(host.get(), thing->handle()) == thing.get());

        const auto refused = [&](pi_mem handle, const std::string &word) {
            try {
                checked<Thing>(host.get(), handle, "src");
                return false;
            } catch (const Error &error) {
                return error.code() == PI_ERROR_INVALID_MEM_OBJECT &&
                       error.text().find(word) != std::string::npos &&
                       error.text().find("src") != std::string::npos;
            }
        };
        CHECK(refused(nullptr, "NULL"));
        CHECK(refused(elsewhere->handle(), "another plugin"));
        Ref<Event> event = make<Event>(host.get(), AnyRef());
        CHECK(refused(reinterpret_cast<pi_mem>(event->handle()), "not a mem"));
        event->signal(PI_SUCCESS);
    }
    CHECK(host.objects() == 0);
    CHECK(other.objects() == 0);
}

TEST_CASE("exceptions become a code and a text at the ABI") {
    pi_test::FakeHost host;
    CHECK(guard(host.get(), [] {}) == PI_SUCCESS);
    CHECK(guard(host.get(), [] { fail(PI_ERROR_INVALID_SIZE, "size is ", 7); }) ==
          PI_ERROR_INVALID_SIZE);
    CHECK(host.message() == "size is 7");
    CHECK(guard(host.get(), [] { throw std::bad_alloc(); }) == PI_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(guard(host.get(), [] { throw 3; }) == PI_ERROR_INTERNAL);
}
