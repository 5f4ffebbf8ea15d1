// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Injected faults of programs: the simulated driver must detect each of them.
#include "fixture.hpp"
#include "program.hpp"

#include <catch2/catch.hpp>

using namespace pi_level_zero_test;

namespace {

/// Runs the program with the fault injected into one driver. Options keep sanitizers from
/// reporting it first.
pi_test::Ran run_faulty(const std::string &fault, std::vector<std::string> environment = {}) {
    std::vector<std::string> command = {"/usr/bin/env",
                                        "-u",
                                        "PI_SIMULATED_LEVEL_ZERO_REORDER",
                                        "ASAN_OPTIONS=handle_segv=0:detect_leaks=0",
                                        "TSAN_OPTIONS=handle_segv=0:report_bugs=0",
                                        "PI_SIMULATED_LEVEL_ZERO_STRICT=1",
                                        "ZE_ENABLE_ALT_DRIVERS=" PI_TEST_DRIVER};
    command.insert(command.end(), environment.begin(), environment.end());
    command.insert(command.end(), {PI_TEST_FAULTY_PROGRAM, fault});
    return pi_test::run(command);
}

const std::string reorder = "PI_SIMULATED_LEVEL_ZERO_REORDER=7";

void check_leak(const std::string &fault, const std::string &text) {
    CAPTURE(fault);
    const pi_test::Ran ran = run_faulty(fault);
    INFO(ran.output);
    CHECK(ran.exit_code == 70);
    CHECK(ran.output.find("simulated Level Zero: leaked: " + text) != std::string::npos);
    const pi_test::Ran lax = run_faulty(fault, {"PI_SIMULATED_LEVEL_ZERO_STRICT=0"});
    CHECK(lax.exit_code == 0);
    CHECK(lax.output.find("leaked: " + text) != std::string::npos);
}

} // namespace

TEST_CASE("A correct program runs on the simulated driver, with reordering as well") {
    const pi_test::Ran plain = run_faulty("none");
    INFO(plain.output);
    CHECK(plain.exit_code == 0);
    const pi_test::Ran reordered = run_faulty("none", {reorder});
    INFO(reordered.output);
    CHECK(reordered.exit_code == 0);
}

TEST_CASE("Injected: without a barrier, commands of a list run in another order") {
    const pi_test::Ran ran = run_faulty("missing barrier", {reorder});
    INFO(ran.output);
    CHECK(ran.output.find("wrong bytes") != std::string::npos);
    CHECK(ran.exit_code == 1);
    // Without reordering the fault has no effect.
    CHECK(run_faulty("missing barrier").exit_code == 0);
}

TEST_CASE("Injected: a missing synchronisation reads the old contents") {
    const pi_test::Ran ran = run_faulty("missing synchronisation");
    INFO(ran.output);
    CHECK(ran.output.find("wrong bytes") != std::string::npos);
    CHECK(ran.exit_code == 1);
}

TEST_CASE("Injected: a host access to device memory is a SIGSEGV") {
    const pi_test::Ran ran = run_faulty("host dereference");
    INFO(ran.output);
    CHECK(ran.exit_code >= 128); // ended by a signal
}

TEST_CASE("Injected: leaks are reported, and fail the process") {
    check_leak("leaked event", "2 events");
    check_leak("leaked event", "1 event pool");
    check_leak("leaked list", "1 command list");
    check_leak("leaked memory", "1 allocation");
    check_leak("leaked context", "1 context");
}

TEST_CASE("Injected: a list that uses freed memory loses the device") {
    const pi_test::Ran ran = run_faulty("freed memory", {"PI_SIMULATED_LEVEL_ZERO_STRICT=0"});
    INFO(ran.output);
    CHECK(ran.exit_code == 4);
    CHECK(ran.output.find("device 0 is lost: its work uses freed memory") != std::string::npos);
}

TEST_CASE("The queries for peers disagree if so configured") {
    CHECK(run_faulty("none").output.find("can access: 1, access flag: 1") != std::string::npos);
    const pi_test::Ran ran = run_faulty("none", {"PI_SIMULATED_LEVEL_ZERO_PEERS=disagree"});
    INFO(ran.output);
    CHECK(ran.output.find("can access: 1, access flag: 0") != std::string::npos);
}

TEST_CASE("A configured fault fails the call that it names, and not the next one") {
    const auto fails = [](const char *plan) {
        const pi_test::Ran ran =
            run_faulty("none", {std::string("PI_SIMULATED_LEVEL_ZERO_FAIL=") + plan});
        INFO(ran.output);
        return ran.exit_code;
    };
    CHECK(fails("zeMemAllocDevice:1:0x70000003") != 0);
    CHECK(fails("zeMemAllocDevice:2:0x70000003") == 0);
    CHECK(fails("zeDeviceGet:9:1,zeEventCreate:2:0x70000002") != 0);
    CHECK(fails("zeEventHostSynchronize:1:0x70000001") != 0);
}

TEST_CASE("An invalid machine file is reported, and the driver does not start") {
    for (const auto &[file, words] :
         {std::pair{PI_TEST_BROKEN_MACHINE, "devices[0].scopes[0].capacity is \"16 GG\""},
          {PI_TEST_BROKEN_TILES, "devices[0].tiles is 3; a number from 2 on that divides "
                                 "compute_units (4) is needed"}}) {
        const pi_test::Ran ran =
            run_faulty("none", {std::string("PI_SIMULATED_LEVEL_ZERO_MACHINE=") + file});
        INFO(ran.output);
        CHECK(ran.exit_code == 3);
        CHECK(ran.output.find(words) != std::string::npos);
    }
}

TEST_CASE("The simulated driver accepts PI's own machine files") {
    for (const char *name : {"workstation", "switch-8gpu", "dual-socket", "bounce-faster", "apu"}) {
        CAPTURE(name);
        const pi_test::Ran ran = run_faulty(
            "none", {std::string("PI_SIMULATED_LEVEL_ZERO_MACHINE=" PI_TEST_MACHINES "/") + name +
                     ".json"});
        INFO(ran.output);
        CHECK(ran.exit_code == 0);
    }
}

TEST_CASE("Live objects are reported while the program runs") {
    const std::string before = leaks();
    const Context context;
    const Memory memory(context, 64);
    CHECK(leaks().find("1 allocation\n") != std::string::npos);
    CHECK(leaks().find("1 context\n") != std::string::npos);
    CHECK(before.empty());
}
