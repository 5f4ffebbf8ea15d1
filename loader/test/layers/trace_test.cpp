// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer that writes a trace file.

#include "trace.hpp"

#include <pi/pi_trace.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <iterator>
#include <map>
#include <set>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <sys/resource.h>

using namespace layer_test;

namespace {

/// For a file that may be written at the same time.
std::string text_of(const std::string &file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

TEST_CASE(
    "each call is on its thread's track and each command once on its queue's, with its bytes") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("trace.json");
    for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_QUEUE_PROFILING}}) {
        {
            const Machine machine(traced(file), flags);
            const Bytes bytes(1000, 1);
            const pi_mem first = machine.make_buffer(1000);
            const pi_mem second = machine.make_buffer(1000);
            pi_event written = nullptr;
            OK(machine.write(first, bytes, 0, &written));
            pi_region box = linear(0, 0, 10);
            box.extent[1] = 3;
            box.src_pitch[0] = box.dst_pitch[0] = 20;
            OK(machine.copy(first, second, {box, linear(500, 500, 100)}, 0, nullptr, {written}));
            OK(machine.fill(second, 7, 0, 64));
            CHECK(machine.read(second, 200).size() == 200);
            pi_event failing = nullptr;
            const pi_event failed = machine.make_host_event();
            OK(piEventSignalHost(failed, PI_ERROR_DEVICE_LOST));
            OK(machine.copy(first, second, {linear(0, 0, 8)}, 0, &failing, {failed}));
            CHECK(piEventWait(failing, patience) == PI_ERROR_DEPENDENCY_FAILED);
            CHECK(machine.fill(first, 1, 990, 20) == PI_ERROR_INVALID_SIZE);
            OK(piQueueFinish(machine.queue));
            for (const pi_event event : {written, failed, failing})
                OK(piEventRelease(event));
            OK(piMemRelease(first));
            OK(piMemRelease(second));
        }
        const std::vector<json> events = read_events(file);
        const std::vector<json> all = commands(events);
        check_in_order(all);
        CHECK(all.size() == 5);
        REQUIRE(commands(events, "MemBufferWrite").size() == 1);
        CHECK(sum_of_bytes(commands(events, "MemBufferWrite")) == 1000);
        CHECK(commands(events, "MemBufferWrite")[0]["args"]["route"] == "host to device");
        CHECK(sum_of_bytes(commands(events, "MemBufferRead")) == 200);
        CHECK(commands(events, "MemBufferRead")[0]["args"]["route"] == "device to host");
        // the refused one does not count
        CHECK(sum_of_bytes(commands(events, "MemBufferFill")) == 64);
        const std::vector<json> copies = commands(events, "MemBufferCopy");
        REQUIRE(copies.size() == 2);
        CHECK(sum_of_bytes(copies) == 130 + 8);
        CHECK(copies[0]["args"]["route"] == "within the device");
        CHECK(copies[0]["args"]["result"] == "PI_SUCCESS");
        CHECK(copies[1]["args"]["result"] == "PI_ERROR_DEPENDENCY_FAILED");

        const std::vector<json> calls = of_category(events, "call");
        std::map<std::string, int> times;
        for (const json &call : calls) {
            ++times[call.at("name")];
            CHECK(call.at("dur").get<double>() >= 0);
            CHECK(call.at("pid") == ::getpid());
        }
        CHECK(times["piMemBufferCreate"] == 2);
        CHECK(times["piEnqueueMemBufferFill"] == 2);
        CHECK(times["piEventWait"] == 1);
        const auto refused = std::find_if(calls.begin(), calls.end(), [](const json &call) {
            return call.at("name") == "piEnqueueMemBufferFill" &&
                   call.at("args").at("result") != "PI_SUCCESS";
        });
        REQUIRE(refused != calls.end());
        CHECK((*refused)["args"]["result"] == "PI_ERROR_INVALID_SIZE");
        CHECK_THAT((*refused)["args"]["error"].get<std::string>(),
                   Catch::Contains("past the end of mem"));
        // Tracks have names, and each command has an arrow from its call.
        CHECK(name_of(events, "process_name", ::getpid(), 0) == "host threads");
        CHECK(name_of(events, "process_name", all[0].at("pid"), 0) == "plugin \"host\": queues");
        CHECK_THAT(name_of(events, "thread_name", all[0].at("pid"), all[0].at("tid")),
                   Catch::StartsWith("queue 1 of "));
        CHECK(name_of(events, "thread_name", ::getpid(), calls[0].at("tid")) != "");
        CHECK(of_category(events, "submit").size() == 2 * all.size());
    }
}

TEST_CASE(
    "commands of images count bytes, launches have their kernel's name, waits of queues are seen") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("trace.json");
    {
        const Machine machine(traced(file));
        auto desc = pi::desc<pi_mem_image_desc>();
        desc.image_type = PI_IMAGE_2D;
        desc.channel_order = PI_CHANNEL_ORDER_RGBA;
        desc.channel_type = PI_CHANNEL_UNORM16;
        desc.width = 3;
        desc.height = 5;
        pi_mem image = nullptr;
        OK(piMemImageCreate(machine.context, machine.device, &desc, &image));
        const float color[4] = {};
        auto fill = pi::desc<pi_image_fill_desc>();
        fill.flags = PI_COMMAND_BLOCKING;
        fill.image = image;
        fill.color = color;
        fill.extent[0] = 3;
        fill.extent[1] = 4;
        OK(piEnqueueMemImageFill(machine.queue, &fill, 0, nullptr, nullptr));
        OK(piMemRelease(image));
        // The plugin refuses wrong handles.
        CHECK(machine.copy(nullptr, nullptr, {linear(0, 0, 1)}) == PI_ERROR_INVALID_MEM_OBJECT);
        auto launch = pi::desc<pi_kernel_launch_desc>();
        CHECK(piEnqueueKernelLaunch(machine.queue, &launch, 0, nullptr, nullptr) ==
              PI_ERROR_INVALID_KERNEL);
    }
    const std::vector<json> events = read_events(file);
    CHECK(commands(events).size() == 1);
    CHECK(sum_of_bytes(commands(events, "MemImageFill")) == 3 * 4 * 8);
}

TEST_CASE(
    "commands of several plugins have separate numbers, and each arrow has one begin and end") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("trace.json");
    constexpr std::size_t plugins = 2;
    constexpr std::size_t commands_of_each = 5;
    {
        Description description = traced(file);
        description.plugins.push_back(PI_TEST_TEMPLATE_PLUGIN);
        const loader_test::Loader loader(description);
        for (std::size_t i = 0; i < plugins; ++i) {
            const pi_device device = loader.device(i);
            auto desc = pi::desc<pi_context_desc>();
            desc.device_count = 1;
            desc.devices = &device;
            pi_context context = nullptr;
            pi_queue queue = nullptr;
            OK(piContextCreate(loader.platform(i), &desc, &context));
            OK(piQueueCreate(context, device, nullptr, &queue));
            for (std::size_t command = 0; command < commands_of_each; ++command)
                OK(piEnqueueBarrier(queue, nullptr, 0, nullptr, nullptr));
            OK(piQueueFinish(queue));
            OK(piQueueRelease(queue));
            OK(piContextRelease(context));
        }
    }
    const std::vector<json> events = read_events(file);
    std::set<uint64_t> numbers;
    for (const json &command : commands(events, "Barrier"))
        numbers.insert(command.at("args").at("command").get<uint64_t>());
    CHECK(numbers.size() == plugins * commands_of_each);
    std::map<uint64_t, std::string> arrows;
    for (const json &event : of_category(events, "submit"))
        arrows[event.at("id").get<uint64_t>()] += event.at("ph");
    CHECK(arrows.size() == plugins * commands_of_each);
    for (const auto &[id, phases] : arrows)
        CHECK(phases == "sf");
}

TEST_CASE("many threads and queues are traced, and nothing is lost") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("trace.json");
    constexpr int threads = 4;
    constexpr int rounds = 100;
    {
        const Machine machine(traced(file));
        std::vector<std::thread> workers;
        std::atomic<int> failed{0};
        const pi_mem mem = machine.make_buffer(threads * 16);
        for (int t = 0; t < threads; ++t)
            workers.emplace_back([&, t] {
                pi_queue queue = nullptr;
                failed +=
                    piQueueCreate(machine.context, machine.device, nullptr, &queue) != PI_SUCCESS;
                const unsigned char byte = 1;
                auto desc = pi::desc<pi_buffer_fill_desc>();
                desc.mem = mem;
                desc.pattern = &byte;
                desc.pattern_size = 1;
                desc.size = 8;
                for (int i = 0; i < rounds; ++i) {
                    // Some in a separate queue, some in a shared one.
                    const pi_queue to = i % 2 == 0 ? queue : machine.queue;
                    desc.offset = static_cast<uint64_t>(2 * t + i % 2) * 8;
                    failed += piEnqueueMemBufferFill(to, &desc, 0, nullptr, nullptr) != PI_SUCCESS;
                }
                failed += piQueueFinish(queue) != PI_SUCCESS;
                failed += piQueueRelease(queue) != PI_SUCCESS;
            });
        for (std::thread &worker : workers)
            worker.join();
        OK(piQueueFinish(machine.queue));
        OK(piMemRelease(mem));
        CHECK(failed == 0);
    }
    const std::vector<json> events = read_events(file);
    const std::vector<json> fills = commands(events, "MemBufferFill");
    check_in_order(fills);
    CHECK(fills.size() == threads * rounds);
    CHECK(sum_of_bytes(fills) == threads * rounds * 8);
    std::set<uint64_t> ids;
    std::set<int64_t> queues;
    for (const json &fill : fills) {
        ids.insert(fill.at("args").at("command").get<uint64_t>());
        queues.insert(fill.at("tid").get<int64_t>());
    }
    CHECK(ids.size() == fills.size());
    CHECK(queues.size() == threads + 1);
    std::set<int64_t> callers;
    for (const json &call : of_category(events, "call"))
        callers.insert(call.at("tid").get<int64_t>());
    CHECK(callers.size() >= threads + 1);
}

TEST_CASE("a file that cannot be written is a warning, and everything works without it") {
    CapturedLog log;
    const Machine machine(traced("/nonexistent/trace.json", &log));
    CHECK(log.count("trace: cannot write \"/nonexistent/trace.json\" (PI_TRACE_FILE): No such file",
                    PI_LOG_WARNING) == 1);
    OK(piQueueFinish(machine.queue));
    CapturedLog device_log;
    const Machine other(traced("/dev/null", &device_log));
    CHECK(device_log.count("not a regular file", PI_LOG_WARNING) == 1);
    OK(piQueueFinish(other.queue));
}

TEST_CASE("a full disk is one warning, whose callback may make calls, and everything works without "
          "the file") {
    // Like a full disk, a size limit refuses writes behind it; other files of the process stay
    // below it.
    const bool traces = GENERATE(true, false);
    const loader_test::TemporaryFolder folder;
    CapturedLog log;
    const Machine machine(with_layers(
        {traces ? "trace" : "record"},
        {{"PI_TRACE_FILE", folder.str("trace.json")}, {"PI_RECORD_FILE", folder.str("log.jsonl")}},
        &log));
    const pi_mem mem = machine.make_buffer(64);
    std::atomic<int> warnings{0};
    log.on_message = [&] {
        pi_device_type type = 0;
        piDeviceGetInfo(machine.device, PI_DEVICE_INFO_TYPE, sizeof type, &type, nullptr);
        const unsigned char pattern = 7;
        machine.fill(mem, pattern, 0, 64);
        ++warnings;
    };
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit full{1 << 14, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
    for (int i = 0; i < 200; ++i)
        machine.fill(mem, 1, 0, 64);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, handler);
    log.on_message = nullptr;
    CHECK(warnings == 1);
    CHECK(log.count("File too large: nothing more is", PI_LOG_WARNING) == 1);
    OK(piMemRelease(mem));
    OK(piQueueFinish(machine.queue));
}

TEST_CASE("%p is the process, and two loaders write two files") {
    const loader_test::TemporaryFolder folder;
    CapturedLog log;
    const std::string number = std::to_string(::getpid());
    {
        const Machine one(traced(folder.str("t_%p.json")));
        const Machine other(traced(folder.str("t_%p.json"), &log));
        const Machine third(traced(folder.str("t_%p.json")));
        OK(piQueueFinish(one.queue));
        CHECK(log.count("is in use, so this loader writes", PI_LOG_INFO) == 1);
    }
    const std::string file = folder.str("t_" + number + ".json");
    CHECK(!of_category(read_events(file), "call").empty());
    CHECK(!of_category(read_events(file + "." + number), "call").empty());
    CHECK(!of_category(read_events(file + "." + number + ".2"), "call").empty());
}

TEST_CASE("the file of a killed process is valid") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("trace.json");
    const int status = std::system(
        ("'" PI_TEST_TRACE_PROGRAM "' '" PI_TEST_HOST_PLUGIN "' '" + file + "'").c_str());
    // The shell, or its child, was killed by the signal.
    CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) == 128 + SIGKILL));
    const std::vector<json> calls = of_category(read_events(file), "call");
    CHECK(calls.size() >= 200);
}

TEST_CASE("all layers work on top of each other, in any order") {
    const loader_test::TemporaryFolder folder;
    std::vector<std::string> layers = {"fault", "trace", "validate"};
    int round = 0;
    do {
        const std::string file = folder.str("trace" + std::to_string(round++) + ".json");
        CapturedLog log;
        {
            const Machine machine(
                with_layers(layers,
                            {{"PI_TRACE_FILE", file},
                             {"PI_FAULT", "piEnqueueMemBufferFill:2=fail_event(BACKEND)"}},
                            &log));
            const pi_mem mem = machine.make_buffer(8);
            pi_event event = nullptr;
            OK(machine.fill(mem, 1, 0, 8));
            OK(machine.fill(mem, 2, 0, 8, 0, &event));
            CHECK(piEventWait(event, patience) == PI_ERROR_BACKEND);
            CHECK(machine.read(mem, 8) == Bytes(8, 1));
            OK(piEventRelease(event));
            REFUSED(PI_ERROR_INVALID_EVENT, "already released", piEventRelease(event));
            OK(piMemRelease(mem));
        }
        CHECK(log.count("never released") == 0);
        CHECK(log.count("parked") == 0);
        CHECK(commands(read_events(file)).size() >= 2);
    } while (std::next_permutation(layers.begin(), layers.end()));
    CHECK(round == 6);
}

TEST_CASE("other layers do not see the layer's own queries") {
    const loader_test::TemporaryFolder folder;
    const auto run = [&](std::vector<std::string> layers, CapturedLog &log) {
        const std::string trace = folder.str(layers.front() + "_trace.json");
        const std::string calls = folder.str(layers.front() + "_calls.jsonl");
        {
            const Machine machine(with_layers(layers,
                                              {{"PI_TRACE_FILE", trace},
                                               {"PI_RECORD_FILE", calls},
                                               {"PI_FAULT", "piEventSetCallback:1=fail(BACKEND)"}},
                                              &log));
            const pi_queue second = machine.make_queue();
            const pi_mem mem = machine.make_buffer(8), other = machine.make_buffer(8);
            pi_event events[2] = {};
            OK(machine.fill(mem, 0, 0, 8, 0, &events[0]));
            OK(piQueueFlush(machine.queue));
            // The layer knows that it has ended; the program does not.
            const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience);
            while (layers.front() == "trace" &&
                   text_of(trace).find("\"cat\":\"command\"") == std::string::npos)
                REQUIRE(std::chrono::steady_clock::now() < end);
            const unsigned char zero = 0;
            auto desc = pi::desc<pi_buffer_fill_desc>();
            desc.mem = mem;
            desc.pattern = &zero;
            desc.pattern_size = 1;
            desc.size = 8;
            OK(piEnqueueMemBufferFill(second, &desc, 0, nullptr, &events[1]));
            // The first call is the program's.
            CHECK(piEventSetCallback(
                      events[1], [](pi_event, pi_result, void *) {}, nullptr) == PI_ERROR_BACKEND);
            OK(piQueueFinish(second));
            OK(piQueueFinish(machine.queue));
            pi_event copied = nullptr;
            OK(machine.copy(mem, other, {linear(0, 0, 8)}, PI_COMMAND_BLOCKING, &copied));
            for (const pi_event event : {events[0], events[1], copied})
                OK(piEventRelease(event));
            OK(piMemRelease(mem));
            OK(piMemRelease(other));
            OK(piQueueRelease(second));
        }
        std::map<std::string, int> functions;
        std::ifstream stream(calls);
        for (std::string line; std::getline(stream, line);)
            ++functions[json::parse(line).value("function", "")];
        return functions;
    };
    CapturedLog alone, beneath;
    const auto wanted = run({"record", "race", "fault"}, alone);
    const auto seen = run({"trace", "race", "record", "fault"}, beneath);
    CHECK(wanted == seen);
    CHECK(wanted.at("piEventSetCallback") == 1);
    CHECK(alone.count("race on", PI_LOG_WARNING) == 1);
    CHECK(beneath.count("race on", PI_LOG_WARNING) == 1);
}

TEST_CASE("an application writes its own spans, and overlapping ones are on several tracks") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("trace.json");
    const void *table = nullptr;
    {
        const Machine machine(traced(file), 0);
        OK(piPluginGetExtension(machine.plugin, PI_TRACE_V1, sizeof(pi_trace_v1), &table));
        const auto *trace = static_cast<const pi_trace_v1 *>(table);
        pi_trace_span span{};
        span.group = "transfers";
        span.track = "a -> \"b\"";
        span.name = "one";
        span.category = "transfer";
        span.arguments = R"({"bytes": 7, "text": "\"}"})";
        span.begin = 1'000'000;
        span.end = 3'000'000;
        OK(trace->write_span(machine.plugin, &span));
        span.arguments = nullptr;
        span.name = "overlaps";
        span.begin = 2'000'000;
        OK(trace->write_span(machine.plugin, &span));
        span.name = "comes after";
        span.begin = span.end;
        OK(trace->write_span(machine.plugin, &span));

        for (const char *wrong : {"7", "{", "}{", "[]", ""}) {
            span.arguments = wrong;
            CHECK(trace->write_span(machine.plugin, &span) == PI_ERROR_INVALID_VALUE);
        }
        constexpr std::size_t deep = 300'000;
        const std::string nested =
            "{\"a\":" + std::string(deep, '[') + std::string(deep, ']') + "}";
        span.arguments = nested.c_str();
        REFUSED(PI_ERROR_INVALID_VALUE, "deep", trace->write_span(machine.plugin, &span));
        span.arguments = nullptr;
        span.reserved[2] = 1;
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "reserved", trace->write_span(machine.plugin, &span));
        span.reserved[2] = 0;
        span.begin = span.end + 1;
        CHECK(trace->write_span(machine.plugin, &span) == PI_ERROR_INVALID_VALUE);
        span.begin = span.end;
        span.name = nullptr;
        CHECK(trace->write_span(machine.plugin, &span) == PI_ERROR_INVALID_NULL_POINTER);
        CHECK(trace->write_span(machine.plugin, nullptr) == PI_ERROR_INVALID_NULL_POINTER);
        CHECK(trace->write_span(nullptr, &span) == PI_ERROR_INVALID_PLUGIN);
        CHECK(piPluginGetExtension(machine.plugin, PI_TRACE_V1, sizeof(pi_trace_v1) + 1, &table) ==
              PI_ERROR_UNSUPPORTED_FEATURE);
        CHECK(piPluginGetExtension(machine.plugin, PI_TRACE_V1, 8, nullptr) ==
              PI_ERROR_INVALID_NULL_POINTER);
        CHECK(piPluginGetExtension(machine.plugin, "pi_trace_v2", 8, &table) != PI_SUCCESS);
    }
    const std::vector<json> events = read_events(file);
    const std::vector<json> spans = of_category(events, "transfer");
    REQUIRE(spans.size() == 3);
    check_in_order(spans);
    CHECK(spans[0].at("args").at("bytes") == 7);
    CHECK(spans[0].at("args").at("text") == "\"}");
    CHECK(spans[0].at("dur") == 2000.0);
    CHECK(spans[0].at("tid") != spans[1].at("tid"));
    CHECK(spans[0].at("tid") == spans[2].at("tid"));
    for (const json &span : spans) {
        CHECK(name_of(events, "thread_name", span.at("pid"), span.at("tid")) == "a -> \"b\"");
        CHECK(name_of(events, "process_name", span.at("pid"), 0) == "transfers");
    }
}

TEST_CASE("without the layer there is no trace to write to") {
    const Machine machine(with_layers({}, {}, nullptr), 0);
    const void *table = nullptr;
    CHECK(piPluginGetExtension(machine.plugin, PI_TRACE_V1, 8, &table) != PI_SUCCESS);
    CHECK(table == nullptr);
}
