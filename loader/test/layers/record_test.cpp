// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer that records calls. The tests of pi-replay show that the log can be run.

#include "equipment.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>

using namespace layer_test;
using nlohmann::json;

namespace {

Description recorded(const std::string &file, CapturedLog *log = nullptr) {
    return with_layers({"record"}, {{"PI_RECORD_FILE", file}}, log);
}

std::vector<json> read_lines(const std::string &file) {
    std::ifstream stream(file);
    INFO(file);
    REQUIRE(stream);
    std::vector<json> lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(json::parse(line));
    return lines;
}

std::vector<json> calls_of(const std::vector<json> &lines, const std::string &function) {
    std::vector<json> found;
    for (const json &line : lines) {
        if (line.value("function", "") == function)
            found.push_back(line);
    }
    return found;
}

json only_call(const std::vector<json> &lines, const std::string &function) {
    const std::vector<json> found = calls_of(lines, function);
    INFO(function);
    REQUIRE(found.size() == 1);
    return found[0];
}

} // namespace

TEST_CASE("a log begins with its version and has a line for each call in order, with ids") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    {
        const Machine machine(recorded(file));
        const pi_mem first = machine.make_buffer(64);
        const pi_mem second = machine.make_buffer(64);
        OK(machine.write(first, Bytes{1, 2, 3}, PI_COMMAND_BLOCKING));
        pi_event filled = nullptr;
        OK(machine.fill(second, 7, 8, 16, 0, &filled));
        OK(machine.copy(first, second, {linear(1, 2, 4)}, 0, nullptr, {filled}));
        CHECK(machine.fill(second, 7, 60, 16) == PI_ERROR_INVALID_SIZE);
        OK(piEventWait(filled, patience));
        for (int i = 0; i < 2; ++i)
            machine.read(second, 3);
        OK(piEventRelease(filled));
        OK(piMemRelease(first));
        OK(piMemRelease(second));
    }
    const std::vector<json> lines = read_lines(file);
    CHECK(lines.at(0).at("pi_record") == 1);
    CHECK(lines.at(0).at("abi") ==
          std::to_string(PI_VERSION_MAJOR) + "." + std::to_string(PI_VERSION_MINOR));
    CHECK(lines.at(0).at("machine").at("host").is_string());
    CHECK(lines.at(1).at("plugin") == "host");

    const std::vector<json> buffers = calls_of(lines, "piMemBufferCreate");
    REQUIRE(buffers.size() == 2);
    CHECK(buffers[0].at("arguments").at(2).at("size") == 64);
    const json first = buffers[0].at("made").at(0);
    const json second = buffers[1].at("made").at(0);
    CHECK(first != second);

    const json write = only_call(lines, "piEnqueueMemBufferWrite");
    CHECK(write.at("result") == 0);
    CHECK(write.at("arguments").at(0) == only_call(lines, "piQueueCreate").at("made").at(0));
    CHECK(write.at("arguments").at(1).at("mem") == first);
    CHECK(write.at("arguments").at(1).at("host_ptr") == "AQID");
    CHECK(write.count("made") == 0);

    const std::vector<json> fills = calls_of(lines, "piEnqueueMemBufferFill");
    REQUIRE(fills.size() == 2);
    CHECK(fills[0].at("arguments").at(1).at("pattern") == "Bw==");
    CHECK(fills[0].at("arguments").at(1).at("offset") == 8);
    CHECK(fills[1].at("result") == PI_ERROR_INVALID_SIZE);
    CHECK(fills[1].at("arguments").at(1).at("pattern") == true); // not read
    const json copy = only_call(lines, "piEnqueueMemBufferCopy");
    CHECK(copy.at("arguments").at(1).at("src") == first);
    CHECK(copy.at("arguments").at(1).at("dst") == second);
    CHECK(copy.at("arguments").at(1).at("regions").at(0).at("dst_offset") == 2);
    CHECK(copy.at("arguments").at(3) == fills[0].at("made"));
    CHECK(only_call(lines, "piEventWait").at("arguments") ==
          json::array({fills[0].at("made").at(0), patience}));

    const std::vector<json> reads = calls_of(lines, "piEnqueueMemBufferRead");
    REQUIRE(reads.size() == 2);
    CHECK(reads[0].at("hash") == reads[1].at("hash"));
    CHECK(lines.back().at("function") == "piContextRelease");
    for (const json &line : lines)
        CHECK(line.count("cannot") == 0);
}

TEST_CASE("an object at the address of a released one has a new id") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    std::set<pi_event> addresses;
    {
        const Machine machine(recorded(file));
        for (int i = 0; i < 50; ++i) {
            const pi_event event = machine.make_host_event();
            addresses.insert(event);
            OK(piEventRelease(event));
        }
    }
    if (std::string(PI_TEST_SANITIZE).empty()) // otherwise addresses are not reused for a while
        CHECK(addresses.size() < 50);
    std::set<json> ids;
    for (const json &call : calls_of(read_lines(file), "piEventCreateHost"))
        ids.insert(call.at("made").at(0));
    CHECK(ids.size() == 50);
}

TEST_CASE("the log of an unmap has the bytes that the host wrote into the map") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    {
        const Machine machine(recorded(file));
        const pi_mem mem = machine.make_buffer(Bytes(16, 9));
        for (const uint64_t flags : {uint64_t{PI_MAP_WRITE}, uint64_t{PI_MAP_READ}}) {
            for (const uint64_t blocking : {uint64_t{PI_COMMAND_BLOCKING}, uint64_t{0}}) {
                void *pointer = nullptr;
                auto map = pi::desc<pi_buffer_map_desc>();
                map.flags = flags | blocking;
                map.mem = mem;
                map.offset = 1;
                map.size = 3;
                map.out_pointer = &pointer;
                OK(piEnqueueMemBufferMap(machine.queue, &map, 0, nullptr, nullptr));
                OK(piQueueFinish(machine.queue));
                if (flags == PI_MAP_WRITE)
                    std::memcpy(pointer, "\1\2\3", 3);
                auto unmap = pi::desc<pi_unmap_desc>();
                unmap.mem = mem;
                unmap.pointer = pointer;
                OK(piEnqueueMemUnmap(machine.queue, &unmap, 0, nullptr, nullptr));
                OK(piQueueFinish(machine.queue));
            }
        }
        OK(piMemRelease(mem));
    }
    const std::vector<json> unmaps = calls_of(read_lines(file), "piEnqueueMemUnmap");
    REQUIRE(unmaps.size() == 4);
    for (int i = 0; i < 2; ++i)
        CHECK(unmaps[i].at("data") == "AQID");
    for (int i = 2; i < 4; ++i) {
        CHECK(unmaps[i].count("data") == 0);
        CHECK(unmaps[i].at("hash") == unmaps[2].at("hash"));
    }
}

TEST_CASE("the log says why a call cannot be replayed") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    {
        const Machine machine(recorded(file));
        const pi_event event = machine.make_host_event();
        OK(piEventSignalHost(event, PI_SUCCESS));
        OK(piEventSetCallback(
            event, [](pi_event, pi_result, void *) {}, nullptr));
        OK(piEventRelease(event));
        pi_native_handle native{};
        CHECK(piDeviceGetNativeHandle(machine.device, &native) == PI_ERROR_UNSUPPORTED_FEATURE);
    }
    const std::vector<json> lines = read_lines(file);
    CHECK_THAT(only_call(lines, "piEventSetCallback").at("cannot").get<std::string>(),
               Catch::Contains("functions of the program"));
    CHECK_THAT(only_call(lines, "piDeviceGetNativeHandle").at("cannot").get<std::string>(),
               Catch::Contains("native handle"));
}

TEST_CASE("the log of an import has the memory's bytes, and an address is that of an allocation") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    {
        const Machine machine(recorded(file));
        Bytes bytes{1, 2, 3};
        auto import = pi::desc<pi_mem_import_desc>();
        import.handle.type = PI_EXTERNAL_HOST_POINTER;
        import.handle.pointer = bytes.data();
        import.size = bytes.size();
        pi_mem mem = nullptr;
        OK(piMemImport(machine.context, machine.device, &import, &mem));
        OK(piMemRelease(mem));
        for (const pi_usm_kind kind : {PI_USM_DEVICE, PI_USM_SHARED}) {
            auto usm = pi::desc<pi_usm_desc>();
            usm.kind = kind;
            usm.size = 64;
            void *pointer = nullptr;
            OK(piUsmAlloc(machine.context, machine.device, &usm, &pointer));
            auto advise = pi::desc<pi_usm_advise_desc>();
            advise.pointer = static_cast<char *>(pointer) + 8;
            advise.size = 8;
            advise.advice = PI_USM_ADVICE_READ_MOSTLY;
            OK(piEnqueueUsmAdvise(machine.queue, &advise, 0, nullptr, nullptr));
            OK(piQueueFinish(machine.queue));
            OK(piUsmFree(machine.context, pointer));
        }
    }
    const std::vector<json> lines = read_lines(file);
    const json import = only_call(lines, "piMemImport").at("arguments").at(2);
    CHECK(import.at("memory").at("bytes") == "AQID");
    const std::vector<json> allocations = calls_of(lines, "piUsmAlloc");
    const std::vector<json> advices = calls_of(lines, "piEnqueueUsmAdvise");
    REQUIRE((allocations.size() == 2 && advices.size() == 2));
    for (int i = 0; i < 2; ++i)
        CHECK(advices[i].at("arguments").at(1).at("pointer") ==
              json({{"usm", allocations[i].at("usm")}, {"offset", 8}}));
    CHECK(allocations[0].count("cannot") == 0);
    CHECK_THAT(allocations[1].at("cannot").get<std::string>(), Catch::Contains("by address"));
}

TEST_CASE("a wait list that the call's own event overwrites is logged as passed") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    {
        const Machine machine(recorded(file), PI_QUEUE_OUT_OF_ORDER);
        pi_event event = nullptr;
        OK(piEnqueueBarrier(machine.queue, nullptr, 0, nullptr, &event));
        const pi_event before = event;
        OK(piEnqueueBarrier(machine.queue, nullptr, 1, &event, &event));
        OK(piEventWait(event, patience));
        for (const pi_event made : {before, event})
            OK(piEventRelease(made));
    }
    const std::vector<json> barriers = calls_of(read_lines(file), "piEnqueueBarrier");
    REQUIRE(barriers.size() == 2);
    CHECK(barriers[1].at("arguments").at(3) == barriers[0].at("made"));
}

TEST_CASE("a refused layout with too many extents is not read, and the log says so") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    {
        const Machine machine(recorded(file));
        const uint64_t extents[] = {16, 16};
        auto layout = pi::desc<pi_mem_layout_desc>();
        layout.rank = 4'000'000;
        layout.element_size = 4;
        layout.extents = extents;
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = 1024;
        desc.next = &layout;
        pi_mem mem = nullptr;
        CHECK(piMemBufferCreate(machine.context, machine.device, &desc, &mem) != PI_SUCCESS);
    }
    CHECK_THAT(only_call(read_lines(file), "piMemBufferCreate").at("cannot").get<std::string>(),
               Catch::Contains("extents"));
}

TEST_CASE(
    "a refused call with an invalid list pointer is recorded, and refused as without the layer") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    {
        const Machine machine(recorded(file));
        const pi_mem mem = machine.make_buffer(16);
        auto copy = pi::desc<pi_buffer_copy_desc>();
        copy.flags = UINT64_C(1) << 62; // so that the check stops here
        copy.src = copy.dst = mem;
        copy.region_count = 1;
        copy.regions = reinterpret_cast<const pi_region *>(std::uintptr_t{8});
        CHECK(piEnqueueMemBufferCopy(machine.queue, &copy, 0, nullptr, nullptr) ==
              PI_ERROR_UNSUPPORTED_FEATURE);
        OK(piMemRelease(mem));
    }
    CHECK_THAT(
        only_call(read_lines(file), "piEnqueueMemBufferCopy").at("cannot").get<std::string>(),
        Catch::Contains("regions"));
}

TEST_CASE("a call that blocks says behind which line it began") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    {
        const Machine machine(recorded(file));
        const pi_event gate = machine.make_host_event();
        OK(piEnqueueBarrier(machine.queue, nullptr, 1, &gate, nullptr));
        std::atomic<bool> begins = false;
        std::thread other([&] {
            begins = true;
            piQueueFinish(machine.queue);
        });
        while (!begins)
            std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        OK(piEnqueueBarrier(machine.queue, nullptr, 0, nullptr, nullptr));
        OK(piEventSignalHost(gate, PI_SUCCESS));
        other.join();
        OK(piEventRelease(gate));
    }
    const std::vector<json> lines = read_lines(file);
    std::size_t finish = 0;
    while (lines.at(finish).value("function", "") != "piQueueFinish")
        ++finish;
    // Line numbers begin with 1.
    const auto began = lines[finish].at("began").get<std::size_t>();
    CHECK(began < finish);
    CHECK(lines.at(began - 1).at("function") == "piEnqueueBarrier");
    for (const json &line : lines) {
        if (line.value("function", "") == "piEnqueueBarrier")
            CHECK(line.count("began") == 0); // it does not block
    }
}

TEST_CASE("a signal that fails is followed by a line with its result") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    {
        const Machine machine(recorded(file));
        const pi_event event = machine.make_host_event();
        OK(piEventSignalHost(event, PI_SUCCESS));
        CHECK(piEventSignalHost(event, PI_SUCCESS) == PI_ERROR_INVALID_OPERATION);
        OK(piEventRelease(event));
    }
    const std::vector<json> lines = read_lines(file);
    std::size_t second = lines.size();
    do
        --second;
    while (lines.at(second).value("function", "") != "piEventSignalHost");
    CHECK(lines.at(second + 1) ==
          json({{"of", second + 1}, {"result", PI_ERROR_INVALID_OPERATION}}));
}

TEST_CASE("concurrent threads have whole lines and separate numbers") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    {
        const Machine machine(recorded(file));
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int k = 0; k < 100; ++k) {
                    pi_event event = nullptr;
                    if (piEventCreateHost(machine.context, nullptr, &event) == PI_SUCCESS)
                        piEventRelease(event);
                }
            });
        }
        for (std::thread &thread : threads)
            thread.join();
    }
    const std::vector<json> made = calls_of(read_lines(file), "piEventCreateHost");
    CHECK(made.size() == 400);
    std::set<json> numbers;
    std::set<json> ids;
    for (const json &call : made) {
        numbers.insert(call.at("thread"));
        ids.insert(call.at("made").at(0));
    }
    CHECK(numbers.size() == 4);
    CHECK(ids.size() == 400);
}

TEST_CASE("a wait of another thread is logged after the signal that ended it") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    constexpr int rounds = 50;
    {
        const Machine machine(recorded(file));
        for (int i = 0; i < rounds; ++i) {
            const pi_event event = machine.make_host_event();
            std::atomic<bool> begins = false;
            std::thread waits([&] {
                begins = true;
                piEventWait(event, patience);
            });
            // So most rounds signal a waiting thread, and the signal returns after the wait; the
            // others are right, too.
            OK(piEventSetCallback(
                event,
                [](pi_event, pi_result, void *) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(2));
                },
                nullptr));
            while (!begins)
                std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            OK(piEventSignalHost(event, PI_SUCCESS));
            waits.join();
            OK(piEventRelease(event));
        }
    }
    std::set<json> signalled;
    int waited = 0;
    int too_early = 0;
    for (const json &line : read_lines(file)) {
        if (line.value("function", "") == "piEventSignalHost")
            signalled.insert(line.at("arguments").at(0));
        if (line.value("function", "") != "piEventWait")
            continue;
        ++waited;
        too_early += signalled.count(line.at("arguments").at(0)) == 0 ? 1 : 0;
    }
    CHECK(waited == rounds);
    CHECK(signalled.size() == rounds);
    CHECK(too_early == 0);
}

TEST_CASE("an unmap of a wrong address fails as it does without the log") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    {
        const Machine machine(recorded(file));
        const pi_mem mem = machine.make_buffer(16);
        void *pointer = nullptr;
        auto map = pi::desc<pi_buffer_map_desc>();
        map.flags = PI_MAP_WRITE;
        map.mem = mem;
        map.size = 16;
        map.out_pointer = &pointer;
        OK(piEnqueueMemBufferMap(machine.queue, &map, 0, nullptr, nullptr));
        OK(piQueueFinish(machine.queue));
        auto unmap = pi::desc<pi_unmap_desc>();
        unmap.mem = mem;
        unmap.pointer = reinterpret_cast<void *>(std::uintptr_t{8});
        CHECK(piEnqueueMemUnmap(machine.queue, &unmap, 0, nullptr, nullptr) ==
              PI_ERROR_INVALID_VALUE);
        unmap.pointer = pointer;
        OK(piEnqueueMemUnmap(machine.queue, &unmap, 0, nullptr, nullptr));
        OK(piQueueFinish(machine.queue));
        OK(piMemRelease(mem));
    }
    const std::vector<json> unmaps = calls_of(read_lines(file), "piEnqueueMemUnmap");
    REQUIRE(unmaps.size() == 2);
    CHECK(unmaps[0].count("map") == 0);
    CHECK(unmaps[1].count("map") == 1);
}

TEST_CASE("the log of a program that is killed has every call that returned") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    const int status = std::system(("'" PI_TEST_TRACE_PROGRAM "' '" PI_TEST_HOST_PLUGIN "' '" +
                                    file + "' record PI_RECORD_FILE")
                                       .c_str());
    // The shell, or its child, was killed by the signal.
    CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) == 128 + SIGKILL));
    const std::vector<json> lines = read_lines(file);
    CHECK(calls_of(lines, "piDeviceGetInfo").size() >= 200);
}

TEST_CASE("the log of a program that is killed in a callback has the signal that called it, and "
          "what returned") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("log.jsonl");
    const int status = std::system(("'" PI_TEST_TRACE_PROGRAM "' '" PI_TEST_HOST_PLUGIN "' '" +
                                    file + "' record PI_RECORD_FILE callback")
                                       .c_str());
    CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) == 128 + SIGKILL));
    const std::vector<json> lines = read_lines(file);
    CHECK(only_call(lines, "piEventSignalHost").at("result") == PI_SUCCESS);
    CHECK(calls_of(lines, "piDeviceGetInfo").size() >= 200);
}

TEST_CASE("a log that would be a pipe is refused at once, and the program runs without it") {
    const loader_test::TemporaryFolder folder;
    const std::string pipe = folder.str("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CapturedLog log;
    const Machine machine(recorded(pipe, &log));
    CHECK(log.count("not a regular file") == 1);
}

TEST_CASE("a log that cannot be written is a warning, and the program runs without it") {
    CapturedLog log;
    const Machine machine(recorded("/nowhere/log.jsonl", &log));
    CHECK(log.count("record: cannot write \"/nowhere/log.jsonl\" (PI_RECORD_FILE)") == 1);
    const pi_mem mem = machine.make_buffer(8);
    OK(piMemRelease(mem));
}
