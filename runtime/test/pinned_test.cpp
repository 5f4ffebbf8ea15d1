// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory that contexts pin; a test of runtime internals.
#include "equipment.hpp"
#include "mapped_page.hpp"
#include "transfer/host_bytes.hpp"

#include <catch2/catch.hpp>

using namespace runtime_test;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_what_was_freed = true; // for a while
#else
constexpr bool keeps_what_was_freed = false;
#endif

} // namespace

TEST_CASE("memory that a context cannot unpin is never freed") {
    const bool fails = GENERATE(false, true);
    INFO((fails ? "unpinning fails" : "unpinning succeeds"));
    const Machine machine(1, fails ? "piUsmHostUnregister:1=fail(BACKEND)"
                                   : "piQueueFinish:1000000=fail(BACKEND)");
    // Memory of this size is unmapped when it is freed.
    PinnedBytes bytes(64 << 20, 4096);
    static std::byte *pinned; // so that leak checkers find it
    pinned = bytes.data();
    bytes.pin_for(*machine.topology(), 1);
    REQUIRE(machine.calls_of("piUsmHostRegister") == 1);
    bytes = PinnedBytes();
    CHECK(machine.calls_of("piUsmHostUnregister") == 1);
    CHECK(is_mapped(pinned) == (fails || keeps_what_was_freed));
}
