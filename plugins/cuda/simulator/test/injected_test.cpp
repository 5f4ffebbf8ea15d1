// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Injected faults of programs: the simulated driver must detect each of them.
#include "fixture.hpp"
#include "program.hpp"

#include <catch2/catch.hpp>

using namespace pi_cuda_test;

namespace {

/// Runs the program with the fault injected into the driver. Options keep sanitizers from
/// reporting it first.
pi_test::Ran run_faulty(const std::string &fault, std::vector<std::string> environment = {}) {
    std::vector<std::string> command = {"/usr/bin/env",
                                        "-u",
                                        "PI_SIMULATED_CUDA_REORDER",
                                        "ASAN_OPTIONS=handle_segv=0:detect_leaks=0",
                                        "TSAN_OPTIONS=handle_segv=0:report_bugs=0",
                                        "PI_SIMULATED_CUDA_STRICT=1"};
    command.insert(command.end(), environment.begin(), environment.end());
    command.insert(command.end(), {PI_TEST_FAULTY_PROGRAM, PI_TEST_SIMULATED_CUDA, fault});
    return pi_test::run(command);
}

} // namespace

TEST_CASE("A correct program runs on the simulated driver, with reordering as well") {
    const pi_test::Ran plain = run_faulty("none");
    INFO(plain.output);
    CHECK(plain.exit_code == 0);
    const pi_test::Ran reordered = run_faulty("none", {"PI_SIMULATED_CUDA_REORDER=7"});
    INFO(reordered.output);
    CHECK(reordered.exit_code == 0);
}

TEST_CASE("Injected: a missing synchronisation reads the old contents") {
    // Deterministic: the work that the copy should wait for cannot have run.
    const Current left(0);
    const Stream writer, reader;
    const Memory memory(64);
    void *host = nullptr;
    REQUIRE(cu().cuMemHostAlloc(&host, 64, 0) == CUDA_SUCCESS);
    Gate gate(writer.handle);
    CHECK(cu().cuMemsetD8Async(memory.address, 1, 64, writer.handle) == CUDA_SUCCESS);
    CHECK(cu().cuMemcpyDtoHAsync_v2(host, memory.address, 64, reader.handle) == CUDA_SUCCESS);
    reader.finish();
    CHECK(static_cast<unsigned char *>(host)[0] == 0xcb);
    gate.open();
    writer.finish();
    CHECK(cu().cuMemFreeHost(host) == CUDA_SUCCESS);
}

TEST_CASE("Injected: an ordinary program detects a missing synchronisation") {
    const pi_test::Ran ran = run_faulty("missing synchronisation");
    INFO(ran.output);
    CHECK(ran.output.find("wrong bytes") != std::string::npos);
    CHECK(ran.exit_code == 1);
}

TEST_CASE("Injected: nothing works without a current context") {
    const pi_test::Ran ran = run_faulty("wrong context");
    INFO(ran.output);
    CHECK(ran.exit_code == 2);
}

TEST_CASE("Injected: a host access to device memory is a SIGSEGV") {
    const pi_test::Ran ran = run_faulty("host dereference");
    INFO(ran.output);
    CHECK(ran.exit_code >= 128); // ended by a signal
}

TEST_CASE("Injected: a leaked stream is reported, and fails the process") {
    const pi_test::Ran ran = run_faulty("leaked stream");
    INFO(ran.output);
    CHECK(ran.exit_code == 70);
    CHECK(ran.output.find("leaked: 1 stream of device 0") != std::string::npos);
    const pi_test::Ran lax = run_faulty("leaked stream", {"PI_SIMULATED_CUDA_STRICT=0"});
    CHECK(lax.exit_code == 0);
    CHECK(lax.output.find("leaked: 1 stream of device 0") != std::string::npos);
}

TEST_CASE("Injected: a context that is never released is reported") {
    const pi_test::Ran ran = run_faulty("leaked context");
    INFO(ran.output);
    CHECK(ran.exit_code == 70);
    CHECK(ran.output.find("leaked: 1 context of device 0") != std::string::npos);
}

TEST_CASE("Injected: a context that is pushed and not popped is reported") {
    const pi_test::Ran ran = run_faulty("context left current");
    INFO(ran.output);
    CHECK(ran.exit_code == 70);
    CHECK(ran.output.find("leaked: 1 context that a thread has pushed") != std::string::npos);
}

TEST_CASE("An invalid machine file is reported, and the driver does not start") {
    const pi_test::Ran ran =
        run_faulty("none", {"PI_SIMULATED_CUDA_MACHINE=" PI_TEST_BROKEN_MACHINE});
    INFO(ran.output);
    CHECK(ran.exit_code == 3);
    CHECK(ran.output.find("devices[0].scopes[0].capacity is \"16 GG\"") != std::string::npos);
    const pi_test::Ran none = run_faulty("none", {"PI_SIMULATED_CUDA_MACHINE=/no/such.json"});
    CHECK(none.exit_code == 3);
    CHECK(none.output.find("/no/such.json: cannot be read") != std::string::npos);
}

TEST_CASE("The simulated driver accepts PI's own machine files") {
    for (const char *name : {"workstation", "switch-8gpu", "dual-socket", "bounce-faster", "apu"}) {
        CAPTURE(name);
        const pi_test::Ran ran =
            run_faulty("none", {std::string("PI_SIMULATED_CUDA_MACHINE=" PI_TEST_MACHINES "/") +
                                name + ".json"});
        INFO(ran.output);
        CHECK(ran.exit_code == 0);
    }
}

TEST_CASE("Live objects are reported while the program runs") {
    const std::string before = leaks();
    const Current left(0);
    const Stream stream;
    const Memory memory(64);
    CHECK(leaks().find("1 stream of device 0") != std::string::npos);
    CHECK(leaks().find("1 allocation of device 0") != std::string::npos);
    CHECK(before.empty());
}
