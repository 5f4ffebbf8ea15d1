// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi-run as a user runs it, on cases; replay_test.cpp runs it on logs.
#include "tool.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace pi_test;
using Catch::Matchers::Contains;

namespace {

const std::vector<std::string> on_host = {"PI_DEVICE_SELECTOR=host"};

/// A case that ends as `exit_code` says; returns what it prints.
std::string ran(const std::string &text, int exit_code,
                const std::vector<std::string> &environment = on_host) {
    const TextFile file(text);
    const Ran run = run_tool({PI_RUN, file.path()}, environment);
    INFO(text << run.output << run.errors);
    CHECK(run.exit_code == exit_code);
    std::string printed = run.output + run.errors;
    for (std::size_t at = 0; (at = printed.find(file.path())) != std::string::npos;)
        printed.replace(at, file.path().size(), "FILE");
    return printed;
}

std::string content_of(const std::filesystem::path &path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines(1);
    for (const char letter : text) {
        if (letter == '\n')
            lines.emplace_back();
        else
            lines.back() += letter;
    }
    return lines;
}

std::string joined(const std::vector<std::string> &lines) {
    std::string text;
    for (const std::string &line : lines)
        text += line + '\n';
    return text;
}

/// The bytes "<..." of a line with another first byte; empty if it begins with a text.
std::string with_other_first_byte(const std::string &line) {
    const std::size_t at = line.find('<');
    if (at == std::string::npos || line[at + 1] == '"')
        return "";
    const auto byte = [&](std::size_t from) {
        return static_cast<unsigned>(std::stoul(line.substr(from, 2), nullptr, 16));
    };
    const auto digits = [](unsigned value) {
        std::string text = "00";
        text[0] = "0123456789abcdef"[value / 16];
        text[1] = "0123456789abcdef"[value % 16];
        return text;
    };
    const unsigned first = byte(at + 1);
    std::string rest = line.substr(at + 3);
    if (rest.starts_with("..")) {
        const unsigned last = byte(at + 5);
        rest = (first == last ? "" : ' ' + digits(first + 1) + ".." + digits(last)) +
               line.substr(at + 7);
    } else if (rest.starts_with("*")) {
        std::size_t length = 0;
        const unsigned long times = std::stoul(rest.substr(1), &length);
        rest = (times == 1 ? "" : ' ' + digits(first) + '*' + std::to_string(times - 1)) +
               rest.substr(1 + length);
    }
    return line.substr(0, at + 1) + digits(first ^ 0xff) + rest;
}

std::vector<std::filesystem::path> cases_of(const std::string &folder) {
    std::vector<std::filesystem::path> files;
    for (const auto &entry :
         std::filesystem::directory_iterator(std::string(PI_CASES) + '/' + folder)) {
        if (entry.path().extension() == ".pi")
            files.push_back(entry.path());
    }
    REQUIRE_FALSE(files.empty());
    return files;
}

} // namespace

TEST_CASE("a case fails at the line of its first wrong byte or result") {
    CHECK(ran("place a\nm = buffer on a <00..1f>\nfill mem=m offset=8 size=4 pattern=<ee>\n"
              "expect m <00..07 ee*4 0c..1e ff>\n",
              1) ==
          "FILE:4: failed: m: byte 31 is 1f, should be ff; 1 of 32 bytes differ; there is "
          "<00..07 ee*4 0c..1f>\n");
    CHECK_THAT(ran("place a\nm = buffer on a size=8\nfill mem=m size=9 pattern=<00>\n", 1),
               Contains("FILE:3: failed: fill: expected SUCCESS, got INVALID_SIZE: ") &&
                   Contains("8 bytes"));
    CHECK_THAT(ran("place a\nm = buffer on a size=8\nfails INVALID_SIZE fill mem=m size=8 "
                   "pattern=<00>\n",
                   1),
               Contains("FILE:3: failed: fill: expected INVALID_SIZE, got SUCCESS"));
    CHECK_THAT(
        ran("place a\ng = gate on a\nsignal g result=ERROR_DEVICE_LOST\nexpect g SUCCESS\n", 1),
        Contains("FILE:4: failed: g: expected SUCCESS, got DEVICE_LOST"));
    CHECK_THAT(ran("place a\ng = gate on a\nsignal g\nexpect g pending\n", 1),
               Contains("FILE:4: failed: g is complete"));
    CHECK_THAT(ran("place a\nh = memory <00..07>\nexpect h <00..06 08>\n", 1),
               Contains("h: byte 7 is 07, should be 08"));
}

TEST_CASE("a command that fails later fails its case unless a line expects that") {
    const std::string behind = "place a\nm = buffer on a <00*8>\ng = gate on a\n"
                               "e = fill mem=m size=8 pattern=<11> after=g\n"
                               "signal g result=ERROR_DEVICE_LOST\n";
    CHECK_THAT(ran(behind + "expect m <00*8>\n", 1),
               Contains("the command of line 4 failed: DEPENDENCY_FAILED"));
    CHECK_THAT(ran(behind, 1), Contains("the command of line 4 failed: DEPENDENCY_FAILED"));
    CHECK(ran(behind + "fails DEPENDENCY_FAILED wait e\n", 0) == "FILE: passed\n");
    CHECK(ran(behind + "expect e DEPENDENCY_FAILED\nexpect m <00*8>\n", 0) == "FILE: passed\n");
}

TEST_CASE("a line that is not understood is named, with what would be right") {
    struct Wrong {
        const char *text;
        std::vector<const char *> says;
    };
    const Wrong table[] = {
        {"", {"FILE:1: no statement", "place a"}},
        {"place a\ncopi src=a\n", {"FILE:2: \"copi\"", "copy"}},
        {"place\n", {"FILE:1: ", "place NAME"}},
        {"place a nowhere:0\n", {"FILE:1: ", "nowhere"}},
        {"m = buffer size=4\n", {"FILE:1: no place"}},
        {"place a\nplace b\nm = buffer size=4\n", {"FILE:3: say where: on PLACE"}},
        {"place a\nm = buffer on b size=4\n", {"FILE:2: there is no place b"}},
        {"place a\nm = buffer on a sise=4\n", {"FILE:2: no member \"sise\"", "size, alignment"}},
        {"place a\nm = buffer on a size=4 size=8\n", {"FILE:2: size has two values"}},
        {"place a\nm = buffer on a size=\n", {"FILE:2: a value is missing"}},
        {"place a\nm = buffer on a size=4q\n", {"FILE:2: \"4q\" is not a number", "64KiB"}},
        {"place a\nm = buffer on a size=other\n", {"FILE:2: other is neither", "(a)"}},
        {"place a\nm = buffer on a <0>\n", {"FILE:2: \"0\" is not bytes"}},
        {"place a\nm = buffer on a <05..03>\n", {"FILE:2: \"05..03\" is not a range"}},
        {"place a\nm = buffer on a <00*9GiB>\n", {"FILE:2: 00*9GiB are more than"}},
        {"place a\nm = buffer on a <00\n", {"FILE:2: \"<\" is not closed"}},
        {"place a\nm = buffer on a host_ptr=\"x\n", {"FILE:2: a text without its closing quote"}},
        {"place a\nMEM_READ_ONLY = buffer on a size=4\n", {"FILE:2: \"MEM_READ_ONLY\" is a const"}},
        {"place a\nm-1 = buffer on a size=4\n", {"FILE:2: \"m-1\" is not a name"}},
        {"place a\na = buffer on a size=4\n", {"FILE:2: the name a is in use"}},
        {"place a\nfails NOTHING gate on a\n", {"FILE:2: NOTHING is not a result"}},
        {"place a\nm = buffer on a <00>\nfill mem = m size=1 pattern=<00>\n",
         {"FILE:3: \"mem =\"", "no spaces"}},
        {"place a\nm = buffer on a <00>\nfill m size=1 pattern=<00>\n",
         {"FILE:3: m: no parameter", "member=m"}},
        {"place a\nrelease\n", {"FILE:2: release NAME"}},
        {"place a\nm = buffer on a <00>\nv = view mem=m size=1\nrelease m\nexpect v PARENT=m\n",
         {"FILE:5: m is released"}},
        {"place a\nm = buffer on a <00>\nrelease m\nexpect m SIZE=1\n", {"FILE:4: m is released"}},
        {"place a\nx = flush a\n", {"FILE:2: x = flush"}},
        {"place a\nm = buffer on a <00>\nexpect m <00 00>\n", {"FILE:3: m has 1 bytes"}},
        {"place a\nm = buffer on a <00>\nexpect n <00>\n", {"FILE:3: "}},
        {"place a\nm = buffer on a <00>\nread mem=m extent=1 host_ptr=a\n", {"FILE:3: "}},
        {"place a\nh = memory <00>\nm = buffer on a <00*2>\nread mem=m extent=2 host_ptr=h\n",
         {"FILE:4: the command needs 2 bytes", "there are 1"}},
        {"place a\npiMemGetInfo mem=a\n", {"FILE:2: piMemGetInfo: a query"}},
        {"place a\npiMemExport mem=a\n", {"FILE:2: piMemExport: "}},
        {"place a\nm = buffer on a <00>\nunmap mem=m\n", {"FILE:3: map=NAME is missing"}},
        {"place a\nfault piQueueFlush:1=fail(UNSUPPORTED_FEATURE)\n", {"FILE:2: fault must come"}},
        {"machine none\nplace a\n", {"FILE: no machine none"}},
        {"place a\nm = buffer on a <00>\nexpect n <00>\n", {"FILE:3: n is not a name"}},
        {"place a\nm buffer on a <00>\n", {"FILE:2: write: m = buffer"}},
        {"place a\nfil mem=a\n", {"FILE:2: \"fil\" is not a verb; did you mean fill?"}},
        {"place a\nm = buffer on a size=4 flags=MEM_READ_ONLI\n",
         {"FILE:2: MEM_READ_ONLI", "did you mean MEM_READ_ONLY?"}},
        {"place a\nu = usm on a kind=CPU size=4\n", {"FILE:2: CPU is neither", "DEVICE_TYPE_CPU"}},
        {"place a\nm = buffer on a <00>\nrelease m\nexpect m <00>\n", {"FILE:4: m is released"}},
        {"place a\nu = usm on a kind=USM_SHARED size=4\nfree pointer=u\nfill_usm pointer=u size=4 "
         "pattern=<00>\n",
         {"FILE:4: u is freed"}},
        {"place a\nu = usm on a kind=USM_SHARED size=4\nrelease u\n", {"FILE:3: USM is freed"}},
        {"place a\nu = usm on a kind=USM_SHARED size=4\nfill_usm pointer=u+5 size=4 pattern=<00>\n",
         {"FILE:3: u+5: u has 4 bytes"}},
        {"place a\nm = buffer on a <00>\nm2 = map mem=m size=1 flags=MAP_READ\nunmap map=m2\n"
         "expect m2 <00>\n",
         {"FILE:5: "}},
        {"place a\nm = buffer on a <00>\nfill mem=a size=1 pattern=<00>\n",
         {"FILE:3: a is a", "should be a mem"}},
        {"place a\nm = buffer on a <00*8>\nexpect m <00*2> offset=7\n",
         {"FILE:3: m has 8 bytes; these are 2 from byte 7 on"}},
        {"place a\ns = storage <00> size=4\n", {"FILE:2: storage <bytes> has"}},
        {"place a\ns = storage size=4\nacquire s at a discard-write <00*4> route=teleport\n",
         {"FILE:3: \"teleport\""}},
        {"place a\nacquire s at a read\n", {"FILE:2: no storage"}},
        {"place a\ns = storage size=4\nacquire s at b read\n", {"FILE:3: there is no place b"}},
        {"place a\ns = storage size=4\nacquire s at a take\n", {"FILE:3: \"take\"", "read-write"}},
        {"place a\ns = storage size=4\nacquire s at a write\n", {"FILE:3: a write needs"}},
        {"place a\ns = storage size=4\nplace b\nt = storage size=4\n", {"FILE:4: all places"}},
        {"place a\ns = storage size=4\nexpect s <00*4>\n", {"FILE:3: expect STORAGE"}},
    };
    for (const Wrong &wrong : table) {
        const bool unsupported = std::string(wrong.text).find("nowhere") != std::string::npos;
        const std::string text = ran(wrong.text, unsupported ? 3 : 4);
        for (const char *const part : wrong.says)
            CHECK_THAT(text, Contains(part));
    }
}

TEST_CASE("a storage's case fails with the route that the bytes came by") {
    const std::string start = "machine workstation\nplace a sim:0:0\nplace b sim:0:1\n"
                              "s = storage <00..0f>\nacquire s at a write <10..1f>\n";
    CHECK(ran(start + "acquire s at b read <10..1f> route=migrate moved=16\n", 0, {}) ==
          "FILE: passed\n");
    CHECK_THAT(ran(start + "acquire s at b read route=host_bounce\n", 1, {}),
               Contains("FILE:6: failed: expected the route host_bounce, got migrate"));
    CHECK_THAT(ran(start + "acquire s at b read moved=15\n", 1, {}),
               Contains("FILE:6: failed: expected 15 bytes over links, got 16"));
    CHECK_THAT(ran(start + "acquire s at b read <10..1e 00>\n", 1, {}),
               Contains("FILE:6: failed: s at b: byte 15 is 1f, should be 00"));
    CHECK_THAT(ran(start + "fails INVALID_SIZE acquire s at b read offset=16 size=1\n"
                           "expect s lost=1\n",
                   1, {}),
               Contains("FILE:7: failed: s: expected 1 bytes lost, got 0"));
}

TEST_CASE("the word of a call is its first parameter of that kind") {
    CHECK(ran("place a\nu = usm on a kind=USM_SHARED size=4\nfree u\nm = buffer on a <00>\n"
              "piMemRetain m\nrelease m\nexpect m <00>\n",
              0) == "FILE: passed\n");
}

TEST_CASE("a fault breaks the call that it names, and only in its case") {
    const std::string text = "place a host\nm = buffer on a <00*8>\n";
    CHECK(ran("fault piEnqueueMemBufferFill:1=fail(DEVICE_LOST)\n" + text +
                  "fails DEVICE_LOST fill mem=m size=8 pattern=<11>\nexpect m <00*8>\n",
              0) == "FILE: passed\n");
    CHECK(ran(text + "fill mem=m size=8 pattern=<11>\nexpect m <11*8>\n", 0) == "FILE: passed\n");
}

TEST_CASE("the worst result of several files is the exit code") {
    const TextFile good("place a\n"), bad("place a\nh = memory <00>\nexpect h <01>\n"),
        wrong("nothing\n");
    CHECK(run_tool({PI_RUN, good.path(), good.path()}, on_host).exit_code == 0);
    CHECK(run_tool({PI_RUN, bad.path(), good.path()}, on_host).exit_code == 1);
    CHECK(run_tool({PI_RUN, bad.path(), wrong.path(), good.path()}, on_host).exit_code == 4);
    CHECK(run_tool({PI_RUN, good.path(), "/nowhere.pi"}, on_host).exit_code == 4);
}

TEST_CASE("every expectation of the cases is compared") {
    for (const std::filesystem::path &path : cases_of("plugin")) {
        const std::vector<std::string> lines = lines_of(content_of(path));
        const TextFile whole(joined(lines));
        const Ran all = run_tool({PI_RUN, whole.path()}, on_host);
        INFO(path << all.output << all.errors);
        REQUIRE((all.exit_code == 0 || all.exit_code == 3));
        for (std::size_t i = 0; i < lines.size() && all.exit_code == 0; ++i) {
            if (!lines[i].starts_with("expect "))
                continue;
            std::vector<std::string> changed = lines;
            changed[i] = with_other_first_byte(lines[i]);
            if (changed[i].empty())
                continue;
            INFO(changed[i]);
            CHECK_THAT(ran(joined(changed), 1), Contains("FILE:" + std::to_string(i + 1) + ": "));
        }
    }
}

TEST_CASE("a recorded case is written as a case again, and cut to one of its calls") {
    const TemporaryFile log;
    const TextFile text("place a host\nm = buffer on a <00..1f>\nn = buffer on a <55*8>\n"
                        "p = view mem=m offset=0 size=16\nfill mem=p size=4 pattern=<09>\n"
                        "u = map mem=m offset=8 size=4 flags=MAP_WRITE\nunmap map=u data=<01..04>\n"
                        "fill mem=n size=8 pattern=\"x\"\n"
                        "fails INVALID_SIZE fill mem=n size=9 pattern=<00>\n"
                        "read mem=m extent=4,2 src_pitch=8 flags=COMMAND_BLOCKING\n");
    const Ran recorded =
        run_tool({PI_RUN, text.path()}, {"PI_LAYERS=record", "PI_RECORD_FILE=" + log.path()});
    REQUIRE(recorded.exit_code == 0);
    const Ran whole = run_tool({PI_RUN, "--to-case", log.path()}, on_host);
    INFO(whole.output << whole.errors);
    CHECK(whole.exit_code == 0);
    CHECK_THAT(whole.output, Contains("buffer") && Contains("host_ptr=<00..1f>") &&
                                 Contains("fails INVALID_SIZE fill") && Contains("data=<01..04>") &&
                                 Contains("hash="));
    CHECK(ran(whole.output, 0) == "FILE: passed\n");
    // Other bytes in the map change what the last call reads.
    std::string other = whole.output;
    other.replace(other.find("data=<01"), 8, "data=<31");
    other.replace(other.find("<31..04>"), 8, "<31 32*3>");
    CHECK_THAT(ran(other, 1), Contains("read: its bytes have another hash"));

    const std::vector<std::string> calls =
        lines_of(run_tool({PI_RUN, "--list", log.path()}, on_host).output);
    std::string line;
    for (const std::string &call : calls) {
        if (call.find("piEnqueueMemBufferRead") != std::string::npos)
            line = call.substr(0, call.find(':'));
    }
    REQUIRE_FALSE(line.empty());
    const Ran cut = run_tool({PI_RUN, "--to-case", log.path(), "--line", line}, on_host);
    CHECK(cut.exit_code == 0);
    CHECK_THAT(cut.output, Contains("data=<01..04>") && !Contains("<55*8>") && !Contains("fails"));
    CHECK(ran(cut.output, 0) == "FILE: passed\n");
}
