// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --html: the page.

#include "run_suite.hpp"
#include "skip.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

namespace {

// The page without what is not XML, so that the check for XML can read it.
std::string as_xml(const std::string &page) {
    const std::string begin = "<!doctype html>\n";
    return page.rfind(begin, 0) == 0 ? "<?xml?>" + page.substr(begin.size()) : page;
}

std::string page_of(const std::string &toy, std::vector<std::string> arguments) {
    const TemporaryFile file(".html");
    arguments.push_back("--html=" + file.path());
    run_toy(toy, arguments);
    return file.text();
}

bool has(const std::string &page, const std::string &part) {
    return page.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("the page is self-contained") {
    const std::string page = page_of("lies", {});
    INFO(page);
    CHECK(xml_problem(as_xml(page)).empty());
    for (const char *other : {"http:", "https:", " src=", "url(", "@import", "<link", "<script"})
        CHECK_FALSE(has(page, other));
    CHECK(has(page, "default-src 'none'"));
    CHECK(has(page, "prefers-color-scheme: dark"));
}

TEST_CASE("the page has the reason of a failure, its output, the seed and the command") {
    const std::string page = page_of("lies", {"--seed=4711"});
    INFO(page);
    CHECK(has(page, "<title>template: 1 failed</title>"));
    CHECK(has(page, std::string("<b>context: ") + faulty_test + "</b>"));
    CHECK(has(page, "PI_CONTEXT_INFO_REFERENCE_COUNT: the size is 8, should be 4</pre>"));
    CHECK(has(page, "<span class=\"reason\">piContextGetInfo, PI_CONTEXT_INFO_REFERENCE_COUNT: "
                    "the size is 8, should be 4</span></summary>"));
    CHECK(has(page, std::string("--run-test 'context: ") + faulty_test + "' --seed 4711</pre>"));
    CHECK(has(page, "<p class=\"quiet\">seed 4711"));
    CHECK(has(page, "<summary>the platform has one device, which has no parts <span class=\"quiet "
                    "count\">1 test</span>"));
}

TEST_CASE("the page's table counts devices and areas, and leads to the failures") {
    const std::string page = page_of("lies", {});
    INFO(page);
    CHECK(has(page,
              "<th scope=\"col\">template:0:0<span class=\"quiet\">template device</span></th>"));
    CHECK(has(page, "<tr><th scope=\"row\">context</th><td class=\"has-failed\">"));
    const std::size_t link = page.find("<a href=\"#test-");
    REQUIRE(link != std::string::npos);
    const std::size_t name = link + 10;
    const std::string target = page.substr(name, page.find('"', name) - name);
    CHECK(has(page, "<details class=\"failed\" id=\"" + target + "\" open=\"open\">"));
}

TEST_CASE("texts of a plugin or a file are escaped in the page") {
    const TemporaryFile file(".expect");
    file.write(std::string("context: ") + faulty_test +
               " | xfail | <script>alert(\"it's\")</script> & so\n");
    const std::string page = page_of("lies", {"--expect=" + file.path()});
    INFO(page);
    CHECK(xml_problem(as_xml(page)).empty());
    CHECK_FALSE(has(page, "<script"));
    CHECK(has(page, "&lt;script&gt;alert(&quot;it's&quot;)&lt;/script&gt; &amp; so"));
    CHECK(has(page, "&lt;script&gt;alert('here')&lt;/script&gt;"));
    CHECK(has(page, "<title>template: nothing failed</title>"));
    CHECK(has(page, "<h2>Failed as expected</h2>"));
    CHECK(has(page, "<td class=\"has-xfail\">"));
}

TEST_CASE("the page has repetitions, tests that were not run, and expectations of other devices") {
    const TemporaryFile file(".expect");
    file.write("queue: * on level_zero:* | xfail | x\n");
    const std::string page = page_of("lies_at_even_seeds", {"--repeat=3", "--seed=1", "--fail-fast",
                                                            "--jobs=1", "--expect=" + file.path()});
    INFO(page);
    CHECK(xml_problem(as_xml(page)).empty());
    CHECK(has(page, ", each test 3 times"));
    CHECK(has(page, "seed 2, repetition 2 of 3, 1 failed"));
    CHECK(has(page, " not run after the first failure, because of --fail-fast"));
    CHECK(has(page, "<code>queue: * on level_zero:*</code>"));
}

TEST_CASE("an HTML parser finds the page's elements closed and its links whole") {
    if (std::system("python3 --version >/dev/null 2>&1") != 0) {
        pi_test::skip("python3 is not installed");
        return;
    }
    for (const char *toy : {"lies", "crashes", "honest"}) {
        const TemporaryFile file(".html");
        file.write(page_of(toy, {}));
        INFO(file.text());
        CHECK(std::system(("python3 " PI_CHECK_PAGE " " + file.path()).c_str()) == 0);
    }
}

TEST_CASE("a page that cannot be written is an error") {
    const Run run = run_toy("honest", {"--html=/no/such/folder/report.html"});
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("cannot write /no/such/folder/report.html") != std::string::npos);
}
