// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conformance suite on plugins with injected faults: each is a failed test with its reason, and
// the other tests run.

#include "run_suite.hpp"
#include "skip.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <sys/wait.h>

namespace {

using nlohmann::json;

json run_to_json(const std::string &toy, std::vector<std::string> arguments = {}) {
    const TemporaryFile file(".json");
    arguments.push_back("--json=" + file.path());
    const Run run = run_toy(toy, arguments);
    INFO(run.output);
    json report = json::parse(file.text());
    report["exit_code"] = run.exit_code;
    report["output"] =
        json::parse(json(run.output).dump(-1, ' ', true, json::error_handler_t::replace));
    REQUIRE(std::regex_match(run.last_line,
                             std::regex("[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped")));
    return report;
}

// The only case of the test "area: sentence" on this toy, with more arguments.
json run_test(const std::string &toy, const std::string &id,
              std::vector<std::string> arguments = {}) {
    const TemporaryFile file(".json");
    arguments.insert(arguments.end(), {"--plugin=" + toy_file(toy), "--filter=^" + id + "$",
                                       "--json=" + file.path()});
    const Run run = run_suite(arguments);
    INFO(run.output);
    const json report = json::parse(file.text(), nullptr, false);
    REQUIRE(report.is_object());
    REQUIRE(report.at("tests").size() == 1);
    return report.at("tests")[0];
}

json find_test(const json &report, const std::string &name) {
    for (const json &test : report.at("tests")) {
        if (test.at("name") == name)
            return test;
    }
    FAIL("no test is called " << name);
    return {};
}

std::size_t count_of(const std::string &text, const std::string &part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

// One test has failed with this reason, and the others ran.
void require_one_failure(const json &report, const std::string &reason) {
    INFO(report.dump(2));
    CHECK(report.at("exit_code") == 1);
    CHECK(report.at("failed") == 1);
    CHECK(report.at("passed").get<int>() >= 6);
    const json test = find_test(report, faulty_test);
    CHECK(test.at("result") == "failed");
    CHECK(test.at("reason").get<std::string>().find(reason) != std::string::npos);
}

} // namespace

TEST_CASE("a plugin without a fault passes, and the program says so") {
    const json report = run_to_json("honest");
    INFO(report.dump(2));
    CHECK(report.at("exit_code") == 0);
    CHECK(report.at("failed") == 0);
    CHECK(report.at("passed").get<int>() >= 7);
}

TEST_CASE("a crash is one failed test with its signal and its calls") {
    const json report = run_to_json("crashes");
    const auto output = report.at("output").get<std::string>();
    CHECK(output.find("--run-test 'context: " + std::string(faulty_test)) != std::string::npos);
    CHECK(output.find("libpi_plugin_toy_crashes.so") != std::string::npos);
#ifndef PI_SANITIZED // a sanitizer ends the process in its own way
    require_one_failure(report, "crash: signal 11");
    CHECK(output.find("*** SIGSEGV") != std::string::npos);
#else
    require_one_failure(report, "without a result");
#endif
}

TEST_CASE("a crash on a thread of the plugin's own has its signal and its calls as well") {
    const json report = run_to_json("crashes_on_thread");
#ifndef PI_SANITIZED // a sanitizer ends the process in its own way
    require_one_failure(report, "crash: signal 11");
    const auto output = report.at("output").get<std::string>();
    CHECK(output.find("*** SIGSEGV") != std::string::npos);
    CHECK(output.find("libpi_plugin_toy_crashes_on_thread.so(") != std::string::npos);
#else
    require_one_failure(report, "without a result");
#endif
}

#ifndef PI_SANITIZED
TEST_CASE("the calls of a crash have their functions' names where addr2line knows them") {
    const std::vector<std::string> arguments{"--plugin=" + toy_file("crashes"),
                                             std::string("--filter=") + faulty_test};
    const std::string nameless = R"(libpi_plugin_toy_crashes\.so\(\+0x[0-9a-f]+\)\[0x[0-9a-f]+\])";
    // The shell that starts the program needs no PATH for it.
    const Run without = run_suite(arguments, {"PATH=/no/such/folder"});
    INFO(without.output);
    CHECK(std::regex_search(without.output, std::regex(nameless + "\n")));
    if (std::system("addr2line --version >/dev/null 2>&1") != 0) {
        pi_test::skip("addr2line is not installed");
        return;
    }
    const Run with = run_suite(arguments);
    INFO(with.output);
    CHECK(
        std::regex_search(with.output, std::regex(nameless + " (crash|faulty_context_get_info)")));
    CHECK(with.output.find(" main") != std::string::npos);
}
#endif

TEST_CASE("an alignment that a buffer reports and does not have is found by a map in place") {
    const std::string id =
        "memory: an alignment is honoured in all that the buffer reports, or refused";
    const json test = run_test("claims_alignment", id);
    INFO(test.dump(2));
    CHECK(test.at("result") == "failed");
    CHECK(test.at("reason").get<std::string>().find("a map in place is at 0x") == 0);
    CHECK(run_test("honest", id).at("result") == "passed");
}

TEST_CASE("a failing query is reported by its name") {
    const json test = run_test("hides_queue_flags",
                               "queue: an out-of-order queue lets a command pass a gated one");
    INFO(test.dump(2));
    CHECK(test.at("result") == "failed");
    CHECK(test.at("reason").get<std::string>().find("info PI_DEVICE_INFO_QUEUE_FLAGS: "
                                                    "PI_ERROR_UNSUPPORTED_FEATURE: not known") ==
          0);
}

TEST_CASE("a plugin of 1.0 knows no info that came later, and one of 1.1 knows them all") {
    constexpr const char *id = "device: a device answers every info name by its type";
    CHECK(run_test("knows_1_0", id).at("result") == "passed");
    const json half = run_test("knows_half", id);
    CHECK(half.at("result") == "failed");
    CHECK(half.at("reason").get<std::string>().find("PI_DEVICE_INFO_ATOMIC_CAPABILITIES") !=
          std::string::npos);
}

TEST_CASE("no control character of a plugin's texts is printed or written") {
    const TemporaryFile json_file(".json"), junit_file(".xml"), html_file(".html");
    const Run run =
        run_suite({"--plugin=" + toy_file("has_controls"),
                   "--filter=^queue: an out-of-order queue lets a command pass a gated one$",
                   "--json=" + json_file.path(), "--junit=" + junit_file.path(),
                   "--html=" + html_file.path()});
    INFO(run.output);
    CHECK(run.last_line == "0 passed, 1 failed, 0 skipped");
    CHECK(run.output.find("toy \\x1b[31mred\\x07\\xc2\\x9b") != std::string::npos);
    CHECK(run.output.find("\\x1b[8mhidden") != std::string::npos);
    for (const std::string &text :
         {run.output, json_file.text(), junit_file.text(), html_file.text()}) {
        for (const char *raw : {"\x1b", "\x07", "\xc2\x9b", "\xff"})
            CHECK(text.find(raw) == std::string::npos);
    }
}

TEST_CASE("a command that never ends is reported with its place") {
    const json test = run_test(
        "never_ends", "memory: access flags are about kernels; commands read and write in any case",
        {"--timeout=6"});
    INFO(test.dump(2));
    CHECK(test.at("result") == "failed");
    CHECK(test.at("reason").get<std::string>().find(
              ": piEnqueueMemBufferCopy (PI_EVENT_RUNNING) is not complete after 2 seconds") !=
          std::string::npos);
}

TEST_CASE("a hang is one failed test, and is killed") {
    const json report = run_to_json("hangs", {"--timeout=3"});
    require_one_failure(report, "hang: piContextGetInfo has not returned after 3 s (--timeout 3)");
    const auto output = report.at("output").get<std::string>();
    CHECK(output.find("still running after its time") != std::string::npos);
    CHECK(output.find("libpi_plugin_toy_hangs.so") != std::string::npos);
}

TEST_CASE("a report of a sanitizer is a failure with its summary") {
    const json test = run_test("has_a_race", "context: a context of no devices is refused");
    INFO(test.dump(2));
    CHECK(test.at("result") == "failed");
    CHECK(test.at("reason").get<std::string>().find(
              "ended with exit code 66, ThreadSanitizer: data race acme.c:31 in submit") == 0);
}

TEST_CASE("each report names the function that hangs") {
    const TemporaryFile json_file(".json"), junit_file(".xml"), html_file(".html");
    const Run run = run_suite({"--plugin=" + toy_file("hangs"), "--timeout=2",
                               std::string("--filter=") + faulty_test, "--json=" + json_file.path(),
                               "--junit=" + junit_file.path(), "--html=" + html_file.path()});
    INFO(run.output);
    CHECK(run.last_line == "0 passed, 1 failed, 0 skipped");
    for (const std::string &text :
         {run.output, json_file.text(), junit_file.text(), html_file.text()})
        CHECK(text.find("hang: piContextGetInfo has not returned after 2 s") != std::string::npos);
    CHECK(junit_file.text().find("<error ") != std::string::npos);
}

TEST_CASE("a hang of the teardown and of the list of platforms is one as well") {
    const json test = run_test("hangs_at_teardown", "context: a context of no devices is refused",
                               {"--timeout=3"});
    INFO(test.dump(2));
    CHECK(test.at("result") == "failed");
    CHECK(test.at("broke_off") == true);
    CHECK(test.at("reason").get<std::string>().find("hang: teardown has not returned after ") == 0);
    const Run run = run_suite({"--plugin=" + toy_file("lists_for_ever"), "--timeout=3"});
    INFO(run.output);
    CHECK(run.output.find("hang: piPlatformsGet has not returned after ") != std::string::npos);
}

TEST_CASE("a command that hangs is a hang, and the objects that it keeps are not a leak") {
    const json test = run_test(
        "never_ends", "memory: access flags are about kernels; commands read and write in any case",
        {"--timeout=6"});
    INFO(test.dump(2));
    CHECK(test.at("reason").get<std::string>().find("hang: ") == 0);
    CHECK(test.at("reason").get<std::string>().find("leak") == std::string::npos);
    CHECK(test.at("broke_off") == true);
}

TEST_CASE("objects left at the loader's release are a failed test") {
    const Run run = run_suite({"--plugin=" + toy_file("leaks"), "--filter=a context of no devices|"
                                                                "reports its context, its device"});
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("leak: ") != std::string::npos);
    CHECK(run.last_line == "1 passed, 1 failed, 0 skipped");
}

TEST_CASE("a log message during teardown is not a leak") {
    const Run run = run_toy("warns_at_teardown", {});
    INFO(run.output);
    CHECK(run.exit_code == 0);
    CHECK(run.output.find("leak") == std::string::npos);
}

TEST_CASE(
    "of a flood of output the begin and the end are kept, and what did not hold before a crash") {
    Run run;
    const json report = report_of_toy("floods", {std::string("--filter=") + faulty_test}, run);
    INFO(run.last_line);
    const json test = find_test(report, faulty_test);
    const auto output = test.at("output").get<std::string>();
    CHECK(output.size() < 300 * 1024);
    CHECK(output.find(std::string(63, '0') + "\n") == 0);
    CHECK(std::regex_search(output, std::regex("\n\\.\\.\\. [0-9]+ bytes left out \\.\\.\\.\n")));
    const auto reason = test.at("reason").get<std::string>();
    INFO(reason);
    CHECK(reason.find("after this did not hold: ") != std::string::npos);
    CHECK(reason.find("the size is 8, should be 4") != std::string::npos);
#ifndef PI_SANITIZED // it has a report of its own
    CHECK(output.find("\n*** SIGSEGV") != std::string::npos);
#endif
}

TEST_CASE("an invalid result is one failed test, and the others run") {
    const json report = run_to_json("garbles_result");
    INFO(report.dump(2));
    CHECK(report.at("exit_code") == 1);
    CHECK(report.at("tests").size() == run_to_json("honest").at("tests").size());
    const json test = find_test(report, faulty_test);
    CHECK(test.at("result") == "failed");
    CHECK(test.at("broke_off") == true);
    CHECK(test.at("reason") == "ended with exit code 0, with an invalid result");
}

TEST_CASE("an invalid list of devices is a failure") {
    const Run run = run_toy("garbles_devices", {});
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("ended with exit code 0, while its devices were listed") !=
          std::string::npos);
}

TEST_CASE("a wrong size is one failed test with both sizes") {
    const json report = run_to_json("lies");
    require_one_failure(report, "PI_CONTEXT_INFO_REFERENCE_COUNT: the size is 8, should be 4");
}

TEST_CASE("a crash at the process's exit fails the test that had passed") {
    const Run run = run_suite({"--plugin=" + toy_file("dies_at_exit"), "--filter=listed twice"});
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("at exit, after it had passed") != std::string::npos);
    CHECK(run.last_line == "0 passed, 1 failed, 0 skipped");
}

TEST_CASE("a plugin that cannot be tested is reported with its reason") {
    struct Row {
        const char *toy;
        const char *text;
    };
    for (const Row row : {Row{"unavailable", "toy driver 7 is not installed"},
                          Row{"crashes_early", "while its devices were listed"},
                          Row{"has_no_device", "there is no device to test"},
                          Row{"no_such_toy", "libpi_plugin_toy_no_such_toy.so"}}) {
        const Run run = run_toy(row.toy, {});
        INFO(row.toy << ": " << run.output);
        CHECK(run.exit_code == 1);
        CHECK(run.output.find(row.text) != std::string::npos);
    }
}

TEST_CASE(
    "the reports of a plugin that cannot be tested say why, and are not those of an earlier run") {
    struct Row {
        const char *toy;
        const char *name; // of its file, if it did not report one
        std::vector<std::string> arguments;
        const char *text;
        int exit_code = 1;
    };
    const std::vector<Row> rows{
        {"unavailable", "template", {}, "toy driver 7 is not installed"},
        {"no_such_toy", "toy_no_such_toy", {}, "libpi_plugin_toy_no_such_toy.so"},
        {"honest", "template", {"--require=acme:0:0"}, "--require acme:0:0: "},
        {"honest", "toy_honest", {"--filter=no test is called like this"}, "no test matches", 2},
        {"honest", "toy_honest", {"--expect=/no/such/file"}, "/no/such/file: cannot be opened", 2}};
    for (const Row &row : rows) {
        const TemporaryFile json_file(".json"), junit_file(".xml"), page(".html");
        std::vector<std::string> arguments = row.arguments;
        for (const TemporaryFile *file : {&json_file, &junit_file, &page})
            file->write("all passed");
        arguments.insert(arguments.end(),
                         {"--json=" + json_file.path(), "--junit=" + junit_file.path(),
                          "--html=" + page.path(), "--plugin=" + toy_file(row.toy)});
        const Run run = run_suite(arguments);
        INFO(row.toy << ": " << run.output << junit_file.text() << page.text());
        const std::string name = row.name;
        CHECK(run.exit_code == row.exit_code);
        const json report = json::parse(json_file.text(), nullptr, false);
        REQUIRE(report.is_object());
        CHECK(report.at("problem").get<std::string>().find(row.text) != std::string::npos);
        CHECK(report.at("tests").empty());
        CHECK(xml_problem(junit_file.text()).empty());
        CHECK(count_of(junit_file.text(), " tests=\"1\" failures=\"0\" errors=\"1\" ") == 2);
        CHECK(count_of(junit_file.text(), "<error message=\"") == 1);
        CHECK(junit_file.text().find(row.text) != std::string::npos);
        CHECK(count_of(junit_file.text(), "classname=\"" + name + ".run\"") == 1);
        CHECK(page.text().find("<title>" + name + ": not tested</title>") != std::string::npos);
        CHECK(page.text().find(row.text) != std::string::npos);
    }
    CHECK(run_to_json("honest").at("problem") == "");
}

TEST_CASE("wrong usage exits with 2 and a text") {
    const std::string plugin = "--plugin=" + toy_file("honest");
    struct Row {
        std::vector<std::string> arguments;
        const char *text;
    };
    const std::vector<Row> rows{
        {{}, "--plugin"},
        {{"--no-such-option"}, "--no-such-option"},
        {{plugin, "--area=nowhere"}, "nowhere"},
        {{plugin, "--filter=("}, "regular expression"},
        {{plugin, "--timeout=0"}, "--timeout"},
        {{plugin, "--filter=no test is called like this"}, "--list"},
        {{plugin, "--run-test=no such test"}, "there is no test"},
        {{plugin, "--list", "--filter=no test is called like this"}, "no test matches"},
        {{plugin, "--seed=99999999999999999999999"}, "--seed"},
        {{plugin, "--seed=18446744073709551616"}, "--seed"},
        {{plugin, "--seed=-1"}, "--seed"},
        {{plugin, "--seed=1e3"}, "--seed"},
    };
    for (const Row &row : rows) {
        const Run run = run_suite(row.arguments);
        INFO(run.output);
        CHECK(run.exit_code == 2);
        CHECK(run.output.find(row.text) != std::string::npos);
    }
    CHECK(run_suite({"--help"}).exit_code == 0);
}

TEST_CASE("a seed is any number of 64 bits") {
    const json report = run_to_json("honest", {"--seed=18446744073709551615"});
    CHECK(report.at("exit_code") == 0);
    CHECK(report.at("seed") == 18446744073709551615u);
}

TEST_CASE("--run-test excludes the options of whole runs") {
    for (const char *option :
         {"--json=x.json", "--junit=x.xml", "--html=x.html", "--filter=x", "--area=context",
          "--fail-fast", "--jobs=2", "--list", "--repeat=2", "--require=host", "--expect=x"}) {
        const Run run =
            run_suite({"--plugin=" + toy_file("honest"),
                       "--run-test=context: a context of no devices is refused", option});
        INFO(option << ": " << run.output);
        CHECK(run.exit_code == 2);
        CHECK(run.output.find(std::string(option).substr(0, std::string(option).find('=')) +
                              " excludes --run-test") != std::string::npos);
    }
}

TEST_CASE("--help explains each area, how to run one test, seeds and the kinds of failures") {
    const std::string help = run_suite({"--help"}).output;
    INFO(help);
    std::smatch areas;
    REQUIRE(std::regex_search(help, areas, std::regex("AREA:\\{([a-z,]+)\\}")));
    std::string list = areas[1];
    std::replace(list.begin(), list.end(), ',', ' ');
    std::istringstream words(list);
    const std::string after = areas.suffix();
    for (std::string area; words >> area;) {
        INFO(area);
        CHECK(std::regex_search(after, std::regex("\n  ([a-z]+, )?" + area + "[ ,]")));
    }
    for (const char *part : {"\nOne test:", "\nSeeds:", "\nVerdicts:", "hang:", "again:"})
        CHECK(help.find(part) != std::string::npos);
}

TEST_CASE("the manual has every option") {
    const std::string help = run_suite({"--help"}).output;
    std::ifstream file(PI_CONFORMANCE_MANUAL);
    const std::string manual{std::istreambuf_iterator<char>(file), {}};
    const std::regex option("--[a-z][a-z-]*");
    unsigned count = 0;
    for (std::sregex_iterator found(help.begin(), help.end(), option), end; found != end; ++found) {
        INFO(found->str());
        CHECK((found->str() == "--help" || manual.find("`" + found->str()) != std::string::npos));
        ++count;
    }
    CHECK(count >= 19);
}

TEST_CASE("the list needs no plugin and names each test once") {
    const Run run = run_suite({"--list"});
    CHECK(run.exit_code == 0);
    CHECK(run.output.find("context: " + std::string(faulty_test)) != std::string::npos);
    const Run area = run_suite({"--list", "--area=queue"});
    CHECK(area.output.rfind("queue: ", 0) == 0);
    CHECK(area.output.find("context: ") == std::string::npos);
}

TEST_CASE("the JSON report has its documented fields") {
    const json report = run_to_json("lies", {"--seed=4711"});
    int counts[3] = {};
    for (const json &test : report.at("tests")) {
        CHECK(test.at("area") == "context");
        CHECK(test.at("device") == "template:0:0");
        CHECK(test.at("seed") == 4711);
        const auto result = test.at("result").get<std::string>();
        CHECK(test.at("reason").get<std::string>().empty() == (result == "passed"));
        ++counts[result == "passed" ? 0 : result == "failed" ? 1 : 2];
    }
    CHECK(report.at("passed") == counts[0]);
    CHECK(report.at("failed") == counts[1]);
    CHECK(report.at("skipped") == counts[2]);
}

TEST_CASE("the JSON report has more fields of a failed test") {
    const json report = run_to_json("lies");
    INFO(report.dump(2));
    CHECK(report.at("plugin") == "template");
    CHECK(report.at("path") == toy_file("lies"));
    CHECK(report.at("devices").at(0).at("selector") == "template:0:0");
    CHECK(report.at("not_run") == 0);
    for (const json &test : report.at("tests")) {
        const bool failed = test.at("result") == "failed";
        CHECK(test.at("seconds").get<double>() > 0);
        CHECK(test.contains("output") == failed);
        CHECK(test.contains("again") == failed);
        CHECK(test.contains("broke_off") == failed);
    }
    const json test = find_test(report, faulty_test);
    CHECK(test.at("broke_off") == false);
    CHECK(test.at("output").get<std::string>().find("a <tag>") != std::string::npos);
    CHECK(test.at("rule").get<std::string>().starts_with("PI_CONTEXT_INFO_REFERENCE_COUNT: "));
    CHECK(without_variables(test.at("again")).starts_with("pi-conformance --plugin "));
}

TEST_CASE("with --fail-fast no test starts after a failure") {
    const TemporaryFile file(".xml");
    const json report = run_to_json("lies", {"--fail-fast", "--jobs=1", "--junit=" + file.path()});
    INFO(report.dump(2));
    CHECK(report.at("exit_code") == 1);
    CHECK(report.at("failed") == 1);
    CHECK(report.at("tests").back().at("name") == faulty_test);
    const auto all = run_to_json("honest").at("tests").size();
    const auto not_run = report.at("not_run").get<std::size_t>();
    CHECK(not_run >= 1);
    CHECK(report.at("tests").size() + not_run == all);
    CHECK(report.at("output").get<std::string>().find(
              "because of --fail-fast: " + std::to_string(not_run) + " test") != std::string::npos);
    INFO(file.text());
    CHECK(xml_problem(file.text()).empty());
    CHECK(file.text().find("name=\"not_run\" value=\"" + std::to_string(not_run) + "\"") !=
          std::string::npos);
}

TEST_CASE("a run that a signal ends reports its results and how many tests were not run") {
    const auto all = run_to_json("honest").at("tests").size();
    for (const char *name : {"TERM", "INT"}) {
        // One of its tests never ends.
        const TemporaryFile json_file(".json"), junit_file(".xml"), page(".html");
        const Run run = run_suite(
            {"--plugin=" + toy_file("hangs"), "--area=context", "--json=" + json_file.path(),
             "--junit=" + junit_file.path(), "--html=" + page.path()},
            {"timeout", "--preserve-status", std::string("--signal=") + name, "10"});
        INFO(run.output);
        CHECK(run.exit_code == 1);
        const json report = json::parse(json_file.text());
        CHECK(report.at("stopped_by") == std::string("SIG") + name);
        const auto not_run = report.at("not_run").get<std::size_t>();
        CHECK(not_run >= 1);
        CHECK(report.at("tests").size() + not_run == all);
        for (const json &test : report.at("tests"))
            CHECK(test.at("name") != faulty_test);
        const std::string words = std::string("not run after SIG") + name + " came";
        CHECK(run.output.find(words + ": " + std::to_string(not_run) + " test") !=
              std::string::npos);
        CHECK(page.text().find(words) != std::string::npos);
        CHECK(page.text().find(std::string("<title>template: ended by SIG") + name + "</title>") !=
              std::string::npos);
        CHECK(count_of(junit_file.text(), "\" errors=\"1\" ") == 2);
        CHECK(count_of(junit_file.text(), "<error message=\"" + words) == 1);
        CHECK(xml_problem(junit_file.text()).empty());
        CHECK(junit_file.text().find("value=\"SIG" + std::string(name) + "\"") !=
              std::string::npos);
        CHECK(std::regex_match(run.last_line,
                               std::regex("[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped")));
    }
}

TEST_CASE("a signal ends the listing of devices, too, with its processes") {
    const TemporaryFile file(".json");
    const Run run = run_suite({"--plugin=" + toy_file("lists_for_ever"), "--json=" + file.path()},
                              {"timeout", "--preserve-status", "--signal=TERM", "2"});
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("SIGTERM came while its devices were listed") != std::string::npos);
    CHECK(processes_with(toy_file("lists_for_ever")) == 0);
    const json report = json::parse(file.text(), nullptr, false);
    REQUIRE(report.is_object());
    CHECK(report.at("stopped_by") == "SIGTERM");
    CHECK(report.at("problem").get<std::string>().find(
              "SIGTERM came while its devices were listed") != std::string::npos);
}

TEST_CASE("without a failure --fail-fast changes nothing") {
    const json report = run_to_json("honest", {"--fail-fast"});
    CHECK(report.at("exit_code") == 0);
    CHECK(report.at("not_run") == 0);
    CHECK(report.at("output").get<std::string>().find("--fail-fast") == std::string::npos);
}

TEST_CASE("the JUnit report is well-formed, whatever a plugin prints") {
    for (const char *toy : {"honest", "lies", "crashes"}) {
        const TemporaryFile file(".xml");
        const Run run = run_toy(toy, {"--junit=" + file.path()});
        INFO(file.text());
        CHECK(xml_problem(file.text()).empty());
        CHECK(file.text().find("<testcase classname=\"template.context\"") != std::string::npos);
        CHECK((file.text().find(
                   "a &lt;tag&gt; &amp; &quot;quotes&quot; ]]&gt; \\x01 \\xff ? end\n") !=
               std::string::npos) == (std::string(toy) == "lies"));
    }
}

TEST_CASE("JUnit counts failures, errors and skips, of the run and its suite") {
    struct Row {
        const char *toy;
        const char *element;
        unsigned failures;
        unsigned errors;
    };
    for (const Row row : {Row{"lies", "failure", 1, 0}, Row{"crashes", "error", 0, 1}}) {
        const TemporaryFile file(".xml");
        // The template skips all tests of imports.
        const Run run = run_suite({"--plugin=" + toy_file(row.toy), "--junit=" + file.path(),
                                   std::string("--filter=import|") + faulty_test});
        const std::string text = file.text();
        INFO(run.output << text);
        std::smatch reported;
        REQUIRE(std::regex_match(run.last_line, reported,
                                 std::regex("([0-9]+) passed, 1 failed, ([0-9]+) skipped")));
        CHECK(count_of(text, "<testcase ") ==
              std::stoul(reported[1]) + 1 + std::stoul(reported[2]));
        CHECK(count_of(text, "<skipped message=\"") == std::stoul(reported[2]));
        CHECK(std::stoul(reported[2]) > 0);
        CHECK(count_of(text, std::string("<") + row.element + " message=\"") == 1);
        CHECK(count_of(text, "<failure ") == row.failures);
        CHECK(count_of(text, "<error ") == row.errors);
        const std::string counts = " tests=\"" + std::to_string(count_of(text, "<testcase ")) +
                                   "\" failures=\"" + std::to_string(row.failures) +
                                   "\" errors=\"" + std::to_string(row.errors) + "\" skipped=\"" +
                                   reported[2].str() + "\" time=\"";
        CHECK(count_of(text, counts) == 2);
        CHECK(std::regex_search(text, std::regex("<testsuite [^>]* timestamp=\"[0-9]{4}-[0-9]{2}-"
                                                 "[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\"")));
    }
}

TEST_CASE("the XML check of these tests finds invalid XML") {
    CHECK(xml_problem("<?xml version=\"1.0\"?><a b=\"c\"><d/>&amp;</a>\n").empty());
    for (const char *bad : {"<a/>", "<?xml?><a>", "<?xml?><a></b>", "<?xml?><a>&</a>",
                            "<?xml?><a b=\"<\"/>", "<?xml?><a>\x01</a>", "<?xml?><a></a><b></b>"})
        CHECK_FALSE(xml_problem(bad).empty());
}

TEST_CASE("a report that cannot be written is an error") {
    const Run run = run_toy("honest", {"--json=/no/such/folder/report.json"});
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("/no/such/folder/report.json") != std::string::npos);
}

TEST_CASE("a result that cannot be written to standard output is not a success") {
    const std::string command = std::string(PI_CONFORMANCE) + " --plugin " + toy_file("honest");
    for (const std::string arguments :
         {" --area context", " --list",
          " --run-test 'context: a context of no devices is refused'"}) {
        INFO(arguments);
        CHECK(WEXITSTATUS(std::system((command + arguments + " >/dev/null 2>&1").c_str())) == 0);
        CHECK(WEXITSTATUS(std::system((command + arguments + " >/dev/full 2>&1").c_str())) == 1);
    }
}

TEST_CASE("the printed command repeats a failed test") {
    const Run run = run_toy("lies", {"--seed=99"});
    std::smatch match;
    REQUIRE(std::regex_search(run.output, match, std::regex("again: .*pi-conformance (--.*)\n")));
    // As a shell splits it.
    const Run again =
        run_suite({"--plugin", toy_file("lies"), "--device", "template:0:0", "--run-test",
                   std::string("context: ") + faulty_test, "--seed", "99"});
    CHECK(match[1].str() == "--plugin " + toy_file("lies") +
                                " --device template:0:0 --run-test 'context: " + faulty_test +
                                "' --seed 99");
    CHECK(again.exit_code == 1);
    CHECK(again.output.find("failed: ") != std::string::npos);
}

#ifndef PI_SANITIZED // nothing may be loaded before a sanitizer's run-time
TEST_CASE("the printed command preloads what was preloaded, as a sanitizer's run-time") {
    const Run run = run_suite(
        {"--seed=99", "--plugin=" + toy_file("lies"), std::string("--filter=") + faulty_test},
        {"LD_PRELOAD=libm.so.6", "TSAN_OPTIONS=a=1 b", "ASAN_OPTIONS=c=2"});
    INFO(run.output);
    CHECK(run.output.find("again: LD_PRELOAD=libm.so.6 ASAN_OPTIONS=c=2 TSAN_OPTIONS='a=1 b' "
                          "pi-conformance --plugin ") != std::string::npos);
    const Run without =
        run_suite({"--plugin=" + toy_file("lies"), std::string("--filter=") + faulty_test},
                  {"-u", "LD_PRELOAD", "ASAN_OPTIONS=c=2"});
    INFO(without.output);
    CHECK(without.output.find("again: pi-conformance --plugin ") != std::string::npos);
}
#endif

TEST_CASE("a terminal's colours are not in a file") {
    CHECK(run_toy("lies", {}).output.find('\x1b') == std::string::npos);
}
