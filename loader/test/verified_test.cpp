// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verified.hpp"
#include "verified_file.hpp"

#include "fixture.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <sys/stat.h>

using namespace pi::loader;
using loader_test::TemporaryFolder;

namespace {

const VerifiedKey lasting{"a -> b", true};
const VerifiedKey passing{"here -> there", false};
const Verified arrived{"", false};
const Verified arrived_deep{"", true};
const Verified lost{"of 64 KiB every second page is stale", false};

std::string read_file(const std::string &path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

} // namespace

TEST_CASE("a failure answers every request, and success a deep one only if it was deep") {
    VerifiedConnections known("");
    CHECK(known.find(lasting, false) == std::nullopt);
    known.record(lasting, arrived, false);
    CHECK(known.find(lasting, false) == arrived);
    CHECK(known.find(lasting, true) == std::nullopt);
    known.record(lasting, arrived_deep, false);
    CHECK(known.find(lasting, true) == arrived_deep);
    known.record(lasting, arrived, false); // a thread that began earlier
    CHECK(known.find(lasting, true) == arrived_deep);
    known.record(lasting, lost, false);
    CHECK(known.find(lasting, true).value().text == lost.text);
    known.record(lasting, arrived, false);
    CHECK(known.find(lasting, false).value().text == lost.text);
    known.record(lasting, arrived, true);
    CHECK(known.find(lasting, false) == arrived);
    CHECK(known.find(passing, false) == std::nullopt);
}

TEST_CASE("results with a lasting key are found by the next process, and others are not") {
    const TemporaryFolder folder;
    const std::string file = folder.str("deeper/pi/verified.json");
    {
        VerifiedConnections known(file);
        known.record(lasting, lost, false);
        known.record({"c -> d \xff\"\n", true}, arrived,
                     false); // a vendor's name may contain anything
        known.record(passing, arrived, false);
    }
    VerifiedConnections later(file);
    CHECK(later.find(lasting, true) == lost);
    CHECK(later.find(passing, false) == std::nullopt);
    CHECK(read_verified(file).size() == 2);
    struct stat status {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    later.record(lasting, arrived, true);
    CHECK(VerifiedConnections(file).find(lasting, false) == arrived);
    // No temporary file is left.
    CHECK(std::distance(std::filesystem::directory_iterator(folder.str("deeper/pi")), {}) == 1);
}

TEST_CASE("an invalid file counts as empty, and is replaced") {
    const TemporaryFolder folder;
    const std::string file = folder.str("verified.json");
    write_verified(file, {{lasting.text, lost}});
    const std::string good = read_file(file);
    REQUIRE(read_verified(file).size() == 1);
    std::vector<std::string> bad = {"",
                                    "[]",
                                    "7",
                                    "null",
                                    "\"pi_verified\"",
                                    std::string("\0\1\2\377", 4),
                                    std::string(2 << 20, ' ') + good,
                                    std::string(100'000, '['),
                                    R"({"pi_verified": 1})",
                                    R"({"pi_verified": "1", "machine": 7, "connections": 7})"};
    for (std::size_t size = 0; size < good.size() - 2; size += 7)
        bad.push_back(good.substr(0, size));
    const auto replaced = [&](const std::string &old, const std::string &now) {
        std::string text = good;
        REQUIRE(text.find(old) != std::string::npos);
        text.replace(text.find(old), old.size(), now);
        bad.push_back(text);
    };
    replaced("\"pi_verified\": 1", "\"pi_verified\": 2");
    replaced("\"machine\": \"", "\"machine\": \"another ");
    replaced("\"deep\": false", "\"deep\": \"no\"");
    replaced("\"seen\": \"", "\"seen\": [1], \"was\": \"");
    replaced("\"pair\"", "\"pear\"");
    for (const std::string &text : bad) {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
        CAPTURE(text.substr(0, 200));
        CHECK(read_verified(file).empty());
    }
    VerifiedConnections known(file);
    CHECK(known.find(lasting, false) == std::nullopt);
    known.record(lasting, lost, false);
    CHECK(read_file(file) == good);
}

TEST_CASE("a file that is not regular is neither read nor replaced") {
    const TemporaryFolder folder;
    const std::string pipe = folder.str("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const std::string link = folder.str("link");
    std::filesystem::create_symlink(folder.str("target"), link);
    for (const std::string &path : {pipe, folder.path(), link, std::string("/dev/null")}) {
        CAPTURE(path);
        const auto before = std::filesystem::symlink_status(path).type();
        VerifiedConnections known(path);
        CHECK(known.find(lasting, false) == std::nullopt);
        known.record(lasting, lost, false);
        CHECK(known.find(lasting, false) == lost);
        CHECK(std::filesystem::symlink_status(path).type() == before);
    }
    VerifiedConnections nowhere("/proc/nowhere/verified.json");
    nowhere.record(lasting, lost, false);
    CHECK(nowhere.find(lasting, false) == lost);
}

TEST_CASE("processes and threads share a file, which is always complete") {
    const TemporaryFolder folder;
    const std::string file = folder.str("verified.json");
    write_verified(file, {{lasting.text, lost}});
    std::atomic<int> empty{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            VerifiedConnections known(file); // as a separate process has it
            for (int n = 0; n < 20; ++n) {
                known.record({std::to_string(i) + " -> " + std::to_string(n), true}, arrived,
                             false);
                empty += read_verified(file).empty() ? 1 : 0;
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    CHECK(empty == 0);
    CHECK(read_verified(file).count(lasting.text) == 1);
    CHECK(read_verified(file).size() > 20);
}
