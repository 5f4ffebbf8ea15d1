// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search accepts no plugin that just anyone could have put there; a plugin named by path is the
// caller's responsibility.

#include "fixture.hpp"
#include "skip.hpp"

#include <sys/stat.h>
#include <unistd.h>

using namespace loader_test;
using Catch::Matchers::Contains;

namespace {

constexpr uid_t another_user = 65534; // an unprivileged user

void set_mode(const std::string &path, mode_t mode) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
}

/// The report of the only plugin that a search in the directory finds.
Report search(const std::string &directory) {
    return Loader({.directories = {directory}}).report();
}

Report named(const std::string &file) {
    return Loader({.plugins = {file}}).report();
}

} // namespace

TEST_CASE("a plugin found by a search is refused if everyone can replace it") {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.str("a"));
    const std::string file = folder.copy_plugin("small_good", "good");
    std::filesystem::rename(file, folder.str("a/libpi_plugin_good.so"));
    const std::string found = folder.str("a/libpi_plugin_good.so");

    struct Row {
        mode_t around, directory, file;
        const char *reason; ///< nullptr: it is loaded
    };
    const Row row = GENERATE(Row{0755, 0755, 0644, nullptr},     //
                             Row{0775, 0775, 0664, nullptr},     // groups may write
                             Row{0755, 01777, 0644, nullptr},    // /tmp: the file is ours
                             Row{01777, 0755, 0644, nullptr},    //
                             Row{0755, 0777, 0644, "directory"}, //
                             Row{0777, 0755, 0644, "directory"}, // the directory can be replaced
                             Row{0755, 0755, 0646, "it is writable for everyone: chmod o-w"},
                             Row{0755, 01777, 0666, "it is writable for everyone: chmod o-w"});
    CAPTURE(row.around, row.directory, row.file);
    set_mode(found, row.file);
    set_mode(folder.str("a"), row.directory);
    set_mode(folder.path(), row.around);

    const Report report = search(folder.str("a"));
    CHECK(report.path == found);
    if (row.reason == nullptr) {
        CHECK(report.reason == "");
        CHECK(report.status == PI_PLUGIN_LOADED);
    } else {
        CHECK(report.status == PI_PLUGIN_REFUSED);
        CHECK_THAT(report.reason, Contains(row.reason) && Contains("chmod o-w \"" + folder.path()));
    }
    CHECK(named(found).status == PI_PLUGIN_LOADED);
}

TEST_CASE("a plugin found by name is refused if everyone can replace it") {
    const TemporaryFolder folder;
    folder.copy_plugin("small_good");
    set_mode(folder.path(), 0777);
    const Loader loader({.plugins = {"small_good"}, .directories = {folder.str()}});
    for (const Report &report : loader.reports()) {
        CHECK(report.status == PI_PLUGIN_REFUSED);
        CHECK_THAT(report.reason, Contains("its directory is writable for everyone"));
    }
    CHECK(loader.plugins().empty());
}

TEST_CASE("a link is refused if everyone can replace its target") {
    const TemporaryFolder folder, open, sticky;
    const std::string link = folder.str("libpi_plugin_link.so");
    const TemporaryFolder *target = GENERATE_REF(as<const TemporaryFolder *>{}, &open, &sticky);
    std::filesystem::create_symlink(target->copy_plugin("small_good"), link);
    set_mode(open.path(), 0777);
    set_mode(sticky.path(), 01777);
    const Report report = search(folder.str());
    CHECK(report.status == (target == &open ? PI_PLUGIN_REFUSED : PI_PLUGIN_LOADED));
    if (target == &open)
        CHECK_THAT(report.reason, Contains("chmod o-w \"" + open.path() + "\""));
}

TEST_CASE("chains of links, up and down, resolve as when opening the path") {
    const TemporaryFolder folder, plugins;
    const std::string file = plugins.copy_plugin("small_good");
    std::filesystem::create_directory(folder.str("deep"));
    std::filesystem::create_directory_symlink(plugins.path(), folder.str("plugins"));
    std::filesystem::create_symlink("../plugins/./" +
                                        std::filesystem::path(file).filename().string(),
                                    folder.str("deep/relative"));
    std::filesystem::create_symlink("deep/../deep/relative", folder.str("libpi_plugin_good.so"));
    const Report report = search(folder.str());
    CHECK(report.status == PI_PLUGIN_LOADED);
    CHECK(report.path == file);

    const TemporaryFolder ring;
    std::filesystem::create_symlink("libpi_plugin_b.so", ring.str("libpi_plugin_a.so"));
    std::filesystem::create_symlink("libpi_plugin_a.so", ring.str("libpi_plugin_b.so"));
    for (const Report &round : Loader({.directories = {ring.str()}}).reports()) {
        CHECK(round.status == PI_PLUGIN_REFUSED);
        CHECK_THAT(round.reason, Contains("symbolic links"));
    }
}

TEST_CASE("in world-writable directories each link on the way is judged by its owner") {
    if (::geteuid() != 0) {
        pi_test::skip("only root can give links away");
        return;
    }
    const TemporaryFolder folder, shared;
    const std::string file = folder.copy_plugin("small_good", "good");
    std::filesystem::create_directory(folder.str("a"));
    const std::string between = shared.str("between");
    std::filesystem::create_symlink(file, between);
    std::filesystem::create_symlink(between, folder.str("a/libpi_plugin_good.so"));
    set_mode(shared.path(), 01777);
    CHECK(search(folder.str("a")).status == PI_PLUGIN_LOADED);

    REQUIRE(::lchown(between.c_str(), another_user, another_user) == 0);
    const Report report = search(folder.str("a"));
    CHECK(report.status == PI_PLUGIN_REFUSED);
    CHECK_THAT(report.reason, Contains("\"" + between + "\", in a directory"));
}

TEST_CASE("in world-writable directories a plugin must belong to root, this user or the "
          "directory's owner") {
    if (::geteuid() != 0) {
        pi_test::skip("only root can give files away");
        return;
    }
    const TemporaryFolder folder;
    const std::string shared = folder.str("shared");
    std::filesystem::create_directory(shared);
    const std::string file = shared + "/libpi_plugin_small_good.so";
    std::filesystem::rename(folder.copy_plugin("small_good"), file);
    set_mode(shared, 01777);
    REQUIRE(::lchown(file.c_str(), another_user, another_user) == 0);
    const Report report = search(shared);
    CHECK(report.status == PI_PLUGIN_REFUSED);
    CHECK_THAT(report.reason, Contains("belongs to user 65534, should belong to 0 or root"));

    REQUIRE(::lchown(shared.c_str(), another_user, another_user) == 0);
    CHECK(search(shared).status == PI_PLUGIN_LOADED);

    // In a directory that only its owner may write, all files are trusted.
    REQUIRE(::lchown(shared.c_str(), 0, 0) == 0);
    set_mode(shared, 0755);
    CHECK(search(shared).status == PI_PLUGIN_LOADED);

    // In a world-writable directory another user's directory is as bad as another user's file.
    REQUIRE(::lchown(shared.c_str(), another_user, another_user) == 0);
    set_mode(folder.path(), 01777);
    CHECK_THAT(search(shared).reason, Contains("\"" + shared + "\", in a directory"));
}

TEST_CASE("a file of a terabyte that is not a plugin is refused at once") {
    const TemporaryFolder folder;
    const std::string file = folder.write("libpi_plugin_huge.so", "not ELF");
    if (::truncate(file.c_str(), off_t{1} << 40) != 0) {
        pi_test::skip("this file system has no files of a terabyte");
        return;
    }
    const Report report = search(folder.str());
    CHECK(report.status == PI_PLUGIN_REFUSED);
    CHECK_THAT(report.reason, Contains("ELF magic"));
}
