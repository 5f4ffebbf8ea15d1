// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fixture.hpp"

#include <climits>
#include <fstream>
#include <iterator>

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace loader_test;
using Catch::Matchers::Contains;

namespace {

struct Refused {
    const char *file;
    const char *reason;
};

/// A copy of libpi_loader in another place.
struct OtherLoader {
    explicit OtherLoader(const std::string &file)
        : library(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        INFO(::dlerror());
        REQUIRE(library != nullptr);
        create = reinterpret_cast<decltype(create)>(::dlsym(library, "piLoaderCreate"));
        release = reinterpret_cast<decltype(release)>(::dlsym(library, "piLoaderRelease"));
        get_reports =
            reinterpret_cast<decltype(get_reports)>(::dlsym(library, "piLoaderGetReports"));
        REQUIRE(create != &piLoaderCreate);
    }

    ~OtherLoader() { ::dlclose(library); }

    std::vector<pi_plugin_report> reports(pi_loader loader) const {
        std::vector<pi_plugin_report> reports(16);
        uint32_t count = 0;
        REQUIRE(get_reports(loader, 16, reports.data(), &count) == PI_SUCCESS);
        REQUIRE(count <= reports.size());
        reports.resize(count);
        return reports;
    }

    OtherLoader(const OtherLoader &) = delete;
    OtherLoader &operator=(const OtherLoader &) = delete;

    void *library;
    decltype(&piLoaderCreate) create = nullptr;
    decltype(&piLoaderRelease) release = nullptr;
    decltype(&piLoaderGetReports) get_reports = nullptr;
};

} // namespace

TEST_CASE("a good plugin is loaded, and its report says so") {
    const Loader loader({.plugins = {plugin_file("small_good")}});
    const Report report = loader.report();
    CHECK(report.status == PI_PLUGIN_LOADED);
    CHECK(report.name == "small_good");
    CHECK(report.path == std::filesystem::canonical(plugin_file("small_good")).string());
    CHECK(report.reason.empty());
    REQUIRE(loader.plugins().size() == 1);
    CHECK(report.plugin == loader.plugins()[0]);
    CHECK(plugin_name(report.plugin) == "small_good");
}

TEST_CASE("a plugin that breaks the contract is refused with the reason, and the next one works") {
    const Refused row = GENERATE(values<Refused>({
        {"small_wrong_major", "made for version 10."},
        {"small_other_draft", "a draft works only with the same draft"},
        {"small_small_table", "the required function piDevicesGet is missing (its table of"},
        {"small_cut_slot", "ends inside a slot"},
        {"small_null_table", "function table is NULL"},
        {"small_missing_required", "the required function piQueueFinish is missing"},
        {"small_bit_without_slot",
         "PI_CAPABILITY_USM_POOL is set, but its function piUsmPoolGetInfo"},
        {"small_slot_without_bit", "piMemImport is present, but PI_CAPABILITY_MEM_IMPORT"},
        {"small_unknown_bit", "0x4000000000000000"},
        {"small_throws", "piPluginMain threw an exception: an injected exception"},
        {"small_throws_number", "piPluginMain threw an exception"},
        {"small_fails", "the injected failure of main"},
        {"small_wrong_kind", "is 6 (queue), should be 2 (plugin)"},
        {"small_wrong_dispatch", "is not pi_host::dispatch"},
        {"small_no_instance", "instance handle is NULL"},
        {"small_no_teardown", "teardown function is NULL"},
        {"small_bad_name", "its name is \"Small Plugin\""},
        {"no_symbol", "no symbol piPluginMain"},
        {"not_there_at_all", "no such file"},
    }));
    CapturedLog log;
    const Loader loader(
        {.plugins = {plugin_file(row.file), plugin_file("small_good")}, .log = &log});
    const std::vector<Report> reports = loader.reports();
    REQUIRE(reports.size() == 2);
    INFO(row.file);
    CHECK(reports[0].status == PI_PLUGIN_REFUSED);
    CHECK_THAT(reports[0].reason, Contains(row.reason));
    CHECK_THAT(reports[0].path, Contains(row.file));
    CHECK(reports[0].plugin == nullptr);
    CHECK(log.count(row.reason, PI_LOG_WARNING) == 1);

    CHECK(reports[1].status == PI_PLUGIN_LOADED);
    REQUIRE(loader.plugins().size() == 1);
    CHECK(plugin_name(loader.plugins()[0]) == "small_good");
    check_works(loader, loader.plugins()[0]);
}

TEST_CASE("a loader with the log level off refuses a plugin without a message") {
    for (const bool by_option : {false, true}) {
        CapturedLog log;
        const std::string file = plugin_file("small_bad_name");
        const char *const path = file.c_str();
        const pi_loader_option off{"PI_LOG", "off"};
        auto desc = pi::desc<pi_loader_desc>();
        desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
        desc.plugins = &path;
        desc.plugin_count = 1;
        desc.log = CapturedLog::callback;
        desc.log_user_data = &log;
        desc.log_level = by_option ? pi_log_level{0} : pi_log_level{PI_LOG_OFF};
        desc.options = &off;
        desc.option_count = by_option ? 1 : 0;
        pi_loader made = nullptr;
        REQUIRE(piLoaderCreate(&desc, &made) == PI_SUCCESS);
        Loader loader(made);
        CHECK(loader.report().status == PI_PLUGIN_REFUSED);
        loader.reset();
        CHECK(log.all() == "");
    }
}

TEST_CASE("a file that is not a shared object is refused without being run") {
    const TemporaryFolder folder;
    folder.write("libpi_plugin_text.so", "#!/bin/sh\necho no\n");
    folder.write("libpi_plugin_empty.so", "");
    folder.write("libpi_plugin_torn.so", "\177ELF and then nothing of the kind");
    REQUIRE(::mkfifo(folder.str("libpi_plugin_fifo.so").c_str(), 0600) == 0);
    std::filesystem::create_directory(folder.str("libpi_plugin_folder.so"));
    folder.copy_plugin("small_good");
    const Loader loader({.directories = {folder.str()}});
    // Sorted by name.
    const std::vector<Report> reports = loader.reports();
    REQUIRE(reports.size() == 6);
    CHECK_THAT(reports[0].reason, Contains("ELF magic"));
    CHECK_THAT(reports[1].reason, Contains("is a FIFO"));
    CHECK_THAT(reports[2].reason, Contains("is a directory") && Contains("PI_PLUGIN_PATH"));
    CHECK(reports[3].status == PI_PLUGIN_LOADED);
    CHECK_THAT(reports[4].reason, Contains("ELF magic"));
    CHECK(reports[5].status == PI_PLUGIN_REFUSED);
    CHECK_THAT(reports[5].reason, Contains("truncated shared object"));
    check_works(loader, reports[3].plugin);
}

TEST_CASE("a plugin file that is truncated anywhere is refused, or loaded if nothing is missing") {
    const TemporaryFolder folder;
    std::ifstream stream(plugin_file("small_good"), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(stream), {}};
    REQUIRE(whole.size() > 1000);
    size_t refused = 0;
    constexpr size_t cuts = 60;
    for (size_t cut = 0; cut < cuts; ++cut) {
        const size_t size = whole.size() * cut / cuts;
        CAPTURE(size, whole.size());
        const std::string file =
            folder.write("libpi_plugin_cut" + std::to_string(cut) + ".so", whole.substr(0, size));
        const Loader loader({.plugins = {file.c_str()}});
        const std::vector<Report> reports = loader.reports();
        REQUIRE(reports.size() == 1);
        if (reports[0].status == PI_PLUGIN_LOADED) {
            check_works(loader, reports[0].plugin);
            continue;
        }
        ++refused;
        CHECK(reports[0].status == PI_PLUGIN_REFUSED);
        CHECK_THAT(reports[0].reason, Contains("shared object"));
    }
    CHECK(refused > 0);
    CHECK(Loader({.plugins = {plugin_file("small_good").c_str()}}).reports()[0].status ==
          PI_PLUGIN_LOADED);
}

TEST_CASE("a plugin without its device is unavailable, with the plugin's own text") {
    const Loader main({.plugins = {plugin_file("small_unavailable")}});
    CHECK(main.report().status == PI_PLUGIN_UNAVAILABLE);
    CHECK(main.report().reason == "no such device here");
    CHECK(main.report().plugin == nullptr);
    CHECK(main.plugins().empty());

    // Detected only by a query for platforms: the plugin stays loaded.
    const Loader platforms({.plugins = {plugin_file("small_platforms_unavailable")}});
    CHECK(platforms.report().status == PI_PLUGIN_UNAVAILABLE);
    CHECK(platforms.report().reason == "libwonder.so.1: no such file");
    REQUIRE(platforms.plugins().size() == 1);
    CHECK(platforms.report().plugin == platforms.plugins()[0]);
    CHECK(plugin_name(platforms.plugins()[0]) == "small_platforms_unavailable");
}

TEST_CASE("a plugin that throws when it lists platforms or devices hides no other, and is named") {
    struct Row {
        const char *file;
        const char *function;
        pi_plugin_status status;
    };
    const Row row =
        GENERATE(Row{"small_throws_in_platforms", "piPlatformsGet", PI_PLUGIN_UNAVAILABLE},
                 Row{"small_throws_in_devices", "piDevicesGet", PI_PLUGIN_LOADED});
    const bool layered = GENERATE(false, true);
    CAPTURE(row.file, layered);
    CapturedLog log;
    Description description{.plugins = {plugin_file(row.file), plugin_file("small_good")},
                            .log = &log};
    if (layered)
        description.layers = {"validate", "leak-origin"};
    const Loader loader(description);
    const std::vector<Report> reports = loader.reports();
    REQUIRE(reports.size() == 2);
    CHECK(reports[0].status == row.status);
    if (row.status == PI_PLUGIN_UNAVAILABLE)
        CHECK_THAT(reports[0].reason,
                   Contains("piPlatformsGet threw an exception: an injected exception"));
    CHECK(reports[1].status == PI_PLUGIN_LOADED);

    uint32_t count = 0;
    REQUIRE(piLoaderSelectDevices(loader.get(), nullptr, 0, nullptr, &count) == PI_SUCCESS);
    CHECK(count == 2);
    CHECK(log.count(std::string("plugin ") + row.file + ": " + row.function + ": " + row.function +
                        " threw an exception",
                    PI_LOG_WARNING) == 1);
    CHECK(piLoaderSelectDevices(loader.get(), row.file, 0, nullptr, &count) ==
          PI_ERROR_INVALID_NAME);
    CHECK_THAT(last_error(), Contains(std::string(row.function) + " threw an exception") &&
                                 Contains("small_good:0:1"));
}

TEST_CASE("an unavailable plugin does not shadow an available one of its name") {
    CapturedLog log;
    const Loader loader(
        {.plugins = {plugin_file("clash_unavailable"), plugin_file("small_good")}, .log = &log});
    const std::vector<Report> reports = loader.reports();
    REQUIRE(reports.size() == 2);
    CHECK(reports[0].status == PI_PLUGIN_UNAVAILABLE);
    CHECK(reports[0].reason == "libwonder.so.1: no such file");
    CHECK(reports[0].plugin == nullptr);
    CHECK(reports[1].status == PI_PLUGIN_LOADED);
    REQUIRE(loader.plugins().size() == 1);
    CHECK(loader.plugins()[0] == reports[1].plugin);
    check_works(loader, loader.plugins()[0]);
    CHECK(log.count("teardown", PI_LOG_INFO) == 1);
}

TEST_CASE("the last line before a plugin ends the process names it and what it was doing") {
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::dup2(pipe_ends[1], STDERR_FILENO);
        const std::string file = plugin_file("small_exits_in_main");
        const char *const plugin = file.c_str();
        auto desc = pi::desc<pi_loader_desc>();
        desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
        desc.plugins = &plugin;
        desc.plugin_count = 1;
        desc.log_level = PI_LOG_DEBUG;
        pi_loader loader = nullptr;
        piLoaderCreate(&desc, &loader);
        ::_exit(1);
    }
    ::close(pipe_ends[1]);
    std::string text;
    char bytes[4096];
    for (ssize_t size; (size = ::read(pipe_ends[0], bytes, sizeof bytes)) > 0;)
        text.append(bytes, static_cast<size_t>(size));
    ::close(pipe_ends[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 33);
    const std::string last = text.substr(text.rfind('\n', text.size() - 2) + 1);
    CHECK_THAT(last, Contains(plugin_file("small_exits_in_main")) && Contains("piPluginMain"));
}

TEST_CASE("no control character of a plugin's path or text reaches the log") {
    const TemporaryFolder folder;
    const std::string name = "libpi_plugin_\x1b[31mred\x7f\xc2\x9b\xff.so";
    folder.write(name, "no shared object");
    CapturedLog log;
    const Loader loader({.directories = {folder.str()}, .log = &log});
    CHECK(loader.report().path == folder.str(name)); // for programs the path is unchanged
    CHECK(log.count("libpi_plugin_\\x1b[31mred\\x7f\\xc2\\x9b\\xff.so", PI_LOG_WARNING) == 1);
    for (const char *raw : {"\x1b", "\x7f", "\xc2\x9b", "\xff"})
        CHECK(log.count(raw) == 0);
}

TEST_CASE("querying the reports leaves no error") {
    const Loader loader({.plugins = {plugin_file("small_platforms_unavailable")}});
    CHECK(piQueueFlush(nullptr) == PI_ERROR_INVALID_QUEUE);
    const char *before = nullptr;
    piGetLastError(nullptr, &before);
    CHECK(loader.report().status == PI_PLUGIN_UNAVAILABLE);
    CHECK(last_error() == "piQueueFlush: queue is NULL");
    CHECK(std::string(before) == "piQueueFlush: queue is NULL");
}

TEST_CASE("the first plugin of a name wins and shadows the second") {
    CapturedLog log;
    const Loader loader(
        {.plugins = {plugin_file("small_good"), plugin_file("clash")}, .log = &log});
    const std::vector<Report> reports = loader.reports();
    REQUIRE(reports.size() == 2);
    CHECK(reports[0].status == PI_PLUGIN_LOADED);
    CHECK(reports[1].status == PI_PLUGIN_SHADOWED);
    CHECK(reports[1].name == "small_good");
    CHECK_THAT(reports[1].reason, Contains("already loaded") && Contains("small_good.so"));
    CHECK(loader.plugins().size() == 1);
    // The second instance was created to read its name, and released.
    CHECK(log.count("teardown", PI_LOG_INFO) == 1);
}

TEST_CASE("a file that is found twice is loaded once") {
    const TemporaryFolder folder;
    std::filesystem::create_symlink(plugin_file("small_good"), folder.str("libpi_plugin_link.so"));
    CapturedLog log;
    const Loader loader(
        {.plugins = {plugin_file("small_good")}, .directories = {folder.str()}, .log = &log});
    const std::vector<Report> reports = loader.reports();
    REQUIRE(reports.size() == 2);
    CHECK(reports[1].status == PI_PLUGIN_SHADOWED);
    CHECK_THAT(reports[1].reason, Contains("already loaded"));
    CHECK(log.count("teardown", PI_LOG_INFO) == 0);
}

TEST_CASE("a name is looked up in the directories, and an unknown one is reported") {
    const TemporaryFolder folder;
    folder.copy_plugin("small_good");
    folder.copy_plugin("small_old");
    const Loader loader({.plugins = {"nowhere", "small_old"}, .directories = {folder.str()}});
    const std::vector<Report> reports = loader.reports();
    REQUIRE(reports.size() == 4);
    CHECK(reports[0].status == PI_PLUGIN_REFUSED);
    CHECK(reports[0].name == "nowhere");
    CHECK_THAT(reports[0].reason, Contains("libpi_plugin_nowhere.so") && Contains(folder.str()));
    CHECK(reports[1].name == "small_old");
    CHECK(reports[2].name == "small_good");
    CHECK(reports[3].status == PI_PLUGIN_SHADOWED); // found again in the directory
}

TEST_CASE("a missing directory has a report and a warning that name it") {
    CapturedLog log;
    const Loader loader({.plugins = {plugin_file("small_good")},
                         .directories = {"/nonexistent/plugins"},
                         .log = &log});
    CHECK(loader.plugins().size() == 1);
    const std::vector<Report> reports = loader.reports();
    REQUIRE(reports.size() == 2);
    CHECK(reports[1].status == PI_PLUGIN_REFUSED);
    CHECK(reports[1].path == "/nonexistent/plugins");
    CHECK_THAT(reports[1].reason, Contains("plugin directory: No such file"));
    CHECK(log.count("/nonexistent/plugins: plugin directory", PI_LOG_WARNING) == 1);
}

TEST_CASE("a loader of /usr finds plugins in /usr/local, and prefers them") {
    const TemporaryFolder prefix;
    std::filesystem::create_directories(prefix.str("lib/x86_64-linux-gnu"));
    const std::string loader_file = prefix.str("lib/x86_64-linux-gnu/libpi_loader.so.1");
    std::filesystem::copy_file(PI_LOADER_FILE, loader_file);
    for (const char *folder : {"lib", "local/lib"}) {
        std::filesystem::create_directories(prefix.str(std::string(folder) + "/pi"));
        std::filesystem::copy_file(
            plugin_file("small_good"),
            prefix.str(std::string(folder) + "/pi/libpi_plugin_small_good.so"));
    }
    const std::string manifest =
        R"({"name": "small_good", "path": "../../../lib/pi/libpi_plugin_small_good.so"})";
    prefix.write("share/pi/plugins.d/small_good.json", manifest);
    prefix.write("local/share/pi/plugins.d/small_good.json", manifest);

    const OtherLoader other(loader_file);
    CapturedLog log;
    const pi_loader loader =
        Description{.flags = PI_LOADER_IGNORE_ENVIRONMENT, .log = &log}.create_with(other.create);
    const auto reports = other.reports(loader);
    REQUIRE(reports.size() == 2);
    CHECK(std::string(reports[0].path) == prefix.str("local/lib/pi/libpi_plugin_small_good.so"));
    CHECK(reports[0].status == PI_PLUGIN_LOADED);
    CHECK(std::string(reports[1].path) == prefix.str("lib/pi/libpi_plugin_small_good.so"));
    CHECK(reports[1].status == PI_PLUGIN_SHADOWED);
    REQUIRE(other.release(loader) == PI_SUCCESS);
}

TEST_CASE("a loader that was opened by a relative name finds its plugins from any directory") {
    const TemporaryFolder prefix;
    std::filesystem::create_directories(prefix.str("lib"));
    std::filesystem::copy_file(PI_LOADER_FILE, prefix.str("lib/libpi_loader.so.1"));
    std::filesystem::copy_file(plugin_file("small_good"), prefix.str("lib/libpi_plugin_beside.so"));
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(prefix.str());
    const OtherLoader other("lib/libpi_loader.so.1");
    std::filesystem::current_path(before);
    CapturedLog log;
    const pi_loader loader =
        Description{.flags = PI_LOADER_IGNORE_ENVIRONMENT, .log = &log}.create_with(other.create);
    const auto reports = other.reports(loader);
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].status == PI_PLUGIN_LOADED);
    CHECK(std::string(reports[0].path) == prefix.str("lib/libpi_plugin_beside.so"));
    CHECK(other.release(loader) == PI_SUCCESS);
}

TEST_CASE("manifests and plugins are found relative to libpi_loader") {
    const TemporaryFolder prefix;
    std::filesystem::create_directories(prefix.str("lib"));
    std::filesystem::copy_file(PI_LOADER_FILE, prefix.str("lib/libpi_loader.so.1"));
    std::filesystem::copy_file(plugin_file("small_good"), prefix.str("lib/libpi_plugin_beside.so"));
    std::filesystem::create_directories(prefix.str("opt"));
    std::filesystem::copy_file(plugin_file("small_old"), prefix.str("opt/anywhere.so"));
    const std::string manifests = "share/pi/plugins.d/";
    prefix.write(manifests + "1.json",
                 R"({"name": "small_old", "path": "../../../opt/anywhere.so"})");
    prefix.write(manifests + "2.json", R"({"name": "broken", )");
    prefix.write(manifests + "3.json", R"({"name": "no_path"})");
    prefix.write(manifests + "4.json", R"({"name": "Bad Name", "path": "x.so"})");
    prefix.write(manifests + "5.json", R"([1, 2])");
    prefix.write(manifests + "6.json", R"({"name": "gone", "path": "/nonexistent/gone.so"})");
    REQUIRE(::mkfifo(prefix.str(manifests + "7.json").c_str(), 0600) == 0);
    const std::string open =
        prefix.write(manifests + "8.json", R"({"name": "small_good", "path": "x.so"})");
    REQUIRE(::chmod(open.c_str(), 0666) == 0);
    prefix.write(manifests + "9.json",
                 R"({"name": "long", "path": ")" + std::string(PATH_MAX, 'x') + "\"}");
    prefix.write(manifests + "a.json", R"({"name": "cut", "path": "good.so\u0000evil"})");
    prefix.write(manifests + "b.json", R"({"name": "cut\u0000name", "path": "x.so"})");
    prefix.write(manifests + "README", "not a manifest");

    const OtherLoader other(prefix.str("lib/libpi_loader.so.1"));
    CapturedLog log;
    const pi_loader loader =
        Description{.flags = PI_LOADER_IGNORE_ENVIRONMENT, .log = &log}.create_with(other.create);
    auto reports = other.reports(loader);
    REQUIRE(reports.size() == 12);
    CHECK(std::string(reports[0].name) == "small_old");
    CHECK(reports[0].status == PI_PLUGIN_LOADED);
    CHECK(std::string(reports[0].path) == prefix.str("opt/anywhere.so"));
    for (uint32_t i = 1; i < 11; ++i) {
        CAPTURE(i, reports[i].reason);
        CHECK(reports[i].status == PI_PLUGIN_REFUSED);
    }
    CHECK_THAT(reports[1].path, Contains("2.json"));
    CHECK_THAT(reports[1].reason, Contains("manifest: ") && Contains("parse error"));
    CHECK_THAT(reports[2].reason, Contains("path"));
    CHECK_THAT(reports[3].reason, Contains("\"Bad Name\""));
    CHECK_THAT(reports[4].reason, Contains("manifest: "));
    CHECK_THAT(reports[5].reason, Contains("no such file"));
    CHECK_THAT(reports[5].reason, Contains("/nonexistent/gone.so"));
    CHECK_THAT(reports[5].path, Contains("6.json"));
    CHECK(std::string(reports[5].name) == "gone");
    CHECK_THAT(reports[6].reason, Contains("a FIFO"));
    CHECK_THAT(reports[7].reason, Contains("writable for everyone"));
    CHECK_THAT(reports[8].reason, Contains("at most 4095"));
    CHECK_THAT(reports[9].reason, Contains("good.so\\x00evil"));
    CHECK_THAT(reports[9].path, Contains("a.json"));
    CHECK_THAT(reports[10].reason, Contains("cut\\x00name"));
    CHECK(reports[11].status == PI_PLUGIN_LOADED);
    CHECK(std::string(reports[11].name) == "small_good");
    CHECK(plugin_name(reports[0].plugin) == "small_old");
    CHECK(plugin_name(reports[11].plugin) == "small_good");
    CHECK(other.release(loader) == PI_SUCCESS);

    // A name that only a manifest has.
    const pi_loader by_name =
        Description{.plugins = {"small_old"}, .log = &log}.create_with(other.create);
    reports = other.reports(by_name);
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].status == PI_PLUGIN_LOADED);
    CHECK(other.release(by_name) == PI_SUCCESS);
}

TEST_CASE("an older plugin with a shorter table works, and missing functions are refused by name") {
    const Loader loader({.plugins = {plugin_file("small_old")}});
    REQUIRE(loader.plugins().size() == 1);
    const pi_context context = loader.context();
    pi_event event = nullptr;
    CHECK(piEventCreateWithNativeHandle(context, nullptr, &event) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK_THAT(last_error(),
               Contains("piEventCreateWithNativeHandle: ") && Contains("\"small_old\""));
    CHECK(piContextRelease(context) == PI_SUCCESS);
}

TEST_CASE("a newer plugin with a longer table works") {
    const Loader loader({.plugins = {plugin_file("small_newer")}});
    REQUIRE(loader.plugins().size() == 1);
    CHECK(plugin_name(loader.plugins()[0]) == "small_newer");
    const pi_context context = loader.context();
    CHECK(piContextRelease(context) == PI_SUCCESS);
}
