// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --expect: the expectations of a file.

#include "run_suite.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <regex>

using nlohmann::json;

namespace {

constexpr const char *passing_test = "a context of no devices is refused";
constexpr const char *skipped_test = "a device of another platform is refused";

std::string line(const std::string &test, const std::string &rest) {
    return "context: " + test + " | " + rest + "\n";
}

struct Expected {
    Run run;
    json report;
};

Expected run_expecting(const std::string &toy, const std::string &text,
                       std::vector<std::string> arguments = {}) {
    const TemporaryFile file(".expect");
    file.write(text);
    arguments.push_back("--expect=" + file.path());
    Expected expected;
    expected.report = report_of_toy(toy, std::move(arguments), expected.run);
    return expected;
}

} // namespace

TEST_CASE("the outcome of a test and its expectation decide its result") {
    struct Row {
        const char *test;
        const char *kind;
        const char *result;
        const char *reason; // a part of it
    };
    const std::vector<Row> rows{
        {faulty_test, "xfail", "xfail", "ticket 12 ("},
        {faulty_test, "unsupported", "failed", "it ran and failed, but "},
        {passing_test, "xfail", "failed", "unexpected pass: "},
        {passing_test, "unsupported", "failed", "it ran and passed, but "},
        {skipped_test, "xfail", "skipped", ""},
        {skipped_test, "unsupported", "skipped", ""},
    };
    for (const Row &row : rows) {
        const Expected made =
            run_expecting("lies", line(row.test, std::string(row.kind) + " | ticket 12"));
        INFO(row.test << ", " << row.kind << ": " << made.run.output);
        const json test = test_of(made.report, row.test);
        REQUIRE(test.is_object());
        CHECK(test.at("result") == row.result);
        CHECK(test.at("reason").get<std::string>().find(row.reason) != std::string::npos);
        CHECK(std::regex_search(test.at("expected_by").get<std::string>(),
                                std::regex("\\.expect:1$")));
        // Tests without an expectation have their results.
        CHECK(made.run.exit_code ==
              1 - (row.test == faulty_test && row.result == std::string("xfail")));
        CHECK_FALSE(
            test_of(made.report, "a device listed twice is refused").contains("expected_by"));
    }
}

TEST_CASE("an expected failure is counted and reported with its reason, and is not a failure") {
    const TemporaryFile junit(".xml");
    const Expected made =
        run_expecting("lies", line(faulty_test, "xfail | ticket 12, <b> | and more"),
                      {"--junit=" + junit.path()});
    INFO(made.run.output);
    CHECK(made.run.exit_code == 0);
    CHECK(made.report.at("xfail") == 1);
    CHECK(made.report.at("failed") == 0);
    CHECK(made.run.output.find("failed as expected (xfail): 1 test\n") != std::string::npos);
    CHECK(made.run.output.find("ticket 12, <b> | and more (") != std::string::npos);
    CHECK(made.run.output.find("the size is 8, should be 4") != std::string::npos);
    const json test = test_of(made.report, faulty_test);
    CHECK(test.contains("again"));
    CHECK(test.contains("output"));
    CHECK(xml_problem(junit.text()).empty());
    CHECK(junit.text().find("<skipped type=\"xfail\" message=\"ticket 12, &lt;b&gt;") !=
          std::string::npos);
    CHECK(junit.text().find(" failures=\"0\" errors=\"0\" ") != std::string::npos);
}

TEST_CASE("a crash is a failure that may be expected") {
    const Expected made = run_expecting("crashes", line(faulty_test, "xfail | crashes"));
    INFO(made.run.output);
    CHECK(made.run.exit_code == 0);
    CHECK(test_of(made.report, faulty_test).at("result") == "xfail");
}

TEST_CASE("a test that fails in one repetition fails as expected") {
    const Expected made = run_expecting("lies_at_even_seeds", line(faulty_test, "xfail | flaky"),
                                        {"--seed=5", "--repeat=3", "--fail-fast", "--jobs=1"});
    INFO(made.run.output);
    CHECK(made.run.exit_code == 0);
    CHECK(test_of(made.report, faulty_test).at("failures") == 1);
    CHECK(made.report.at("not_run") == 0);
}

TEST_CASE("a pattern matches the whole sentence, and may name the device after it") {
    struct Row {
        std::string pattern;
        bool matches;
    };
    const std::string whole = std::string("context: ") + faulty_test;
    const std::vector<Row> rows{
        {whole, true},
        {"context: a context answers*", true},
        {"c?ntext: * by its type", true},
        {"*", false}, // the others pass
        {whole + " on template:*", true},
        {whole + " on template:0:0", true},
        {whole + " on level_zero:*", false},
    };
    for (const Row &row : rows) {
        const Expected made =
            run_expecting("lies", row.pattern + " | xfail | x",
                          {"--filter=" + std::string(faulty_test) + "|listed twice"});
        INFO(row.pattern << ": " << made.run.output);
        CHECK((made.run.exit_code == 0) == row.matches);
    }
}

TEST_CASE("the first line that matches counts") {
    const std::string general = "context: * | unsupported | general\n";
    const std::string special = line(faulty_test, "xfail | special");
    const std::vector<std::string> only{"--filter=" + std::string(faulty_test)};
    CHECK(run_expecting("lies", special + general, only).run.exit_code == 0);
    CHECK(run_expecting("lies", general + special, only).run.exit_code == 1);
}

TEST_CASE("several files are read in the order of the command line") {
    const TemporaryFile second(".expect");
    second.write("context: * | unsupported | general\n");
    const TemporaryFile first(".expect");
    first.write("\n# comment | not | read\n   \r\n" + line(faulty_test, "xfail | special"));
    const std::string filter = std::string("--filter=") + faulty_test;
    CHECK(
        run_toy("lies", {filter, "--expect", first.path(), "--expect", second.path()}).exit_code ==
        0);
    CHECK(
        run_toy("lies", {filter, "--expect", second.path(), "--expect", first.path()}).exit_code ==
        1);
}

TEST_CASE("an expectation of absent devices is not an error, and is reported") {
    const Expected made = run_expecting("honest", "queue: * on level_zero:* | xfail | x\n");
    INFO(made.run.output);
    CHECK(made.run.exit_code == 0);
    CHECK(made.run.output.find(
              ".expect:1: no test of these devices is \"queue: * on level_zero:*\"\n") !=
          std::string::npos);
    // Devices that the command line leaves out are not absent.
    const Expected left_out = run_expecting("honest", "queue: * | unsupported | x\n");
    CHECK(left_out.run.output.find("no test of these") == std::string::npos);
}

TEST_CASE(
    "every error in a file is reported with its line and what would be right, and nothing runs") {
    const Expected made = run_expecting("honest", "context: *\n"
                                                  "context: * | xfail\n"
                                                  "context: * | xfial | typing\n"
                                                  "| xfail | no pattern\n"
                                                  "context: * | xfail |\n"
                                                  "# fine\n"
                                                  "contxt: * | xfail | gone\n"
                                                  "context: a context | xfail | not the whole\n");
    INFO(made.run.output);
    CHECK(made.run.exit_code == 2);
    CHECK(made.report.at("tests").empty());
    const std::map<int, const char *> problems{{1, "has not three parts"},
                                               {2, "has not three parts"},
                                               {3, "\"xfial\" is neither"},
                                               {4, "there is no pattern"},
                                               {5, "there is no reason"},
                                               {7, "\"contxt: *\" matches no test"},
                                               {8, "\"context: a context\" matches no test"}};
    for (const auto &[number, text] : problems) {
        INFO(number);
        CHECK(std::regex_search(made.run.output,
                                std::regex("\\.expect:" + std::to_string(number) + ": [^\n]*" +
                                           std::regex_replace(text, std::regex("[*]"), "[*]"))));
    }
    CHECK(made.run.output.find(".expect:6: ") == std::string::npos);
    CHECK(made.run.output.find("'pattern | unsupported | reason' or 'pattern | xfail | reason'") !=
          std::string::npos);
}

TEST_CASE("a missing file of expectations is reported by its name") {
    for (const char *name : {"/no/such/folder/acme.expect", "/tmp"}) {
        const Run run = run_toy("honest", {std::string("--expect=") + name});
        INFO(run.output);
        CHECK(run.exit_code == 2);
        CHECK(run.output.find(std::string(name) + ": cannot be ") != std::string::npos);
    }
}

TEST_CASE("a file of expectations may begin with a byte order mark") {
    const Expected made =
        run_expecting("lies", "\xEF\xBB\xBF" + line(faulty_test, "xfail | ticket 12"));
    INFO(made.run.output);
    CHECK(made.run.exit_code == 0);
    const Expected comment = run_expecting("honest", "\xEF\xBB\xBF# nothing is known to fail\n");
    INFO(comment.run.output);
    CHECK(comment.run.exit_code == 0);
}
