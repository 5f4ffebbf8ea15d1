// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PI_FAULT: valid and invalid specifications, and the call counts.

#include "equipment.hpp"

using namespace layer_test;

namespace {

Description with_faults(const std::string &specification, CapturedLog *log = nullptr) {
    return with_layers({"fault"}, {{"PI_FAULT", specification}}, log);
}

std::string problem_of(const std::string &specification) {
    pi_loader loader = nullptr;
    const pi_result result = with_faults(specification).try_create(piLoaderCreate, &loader);
    CHECK(result == PI_ERROR_INVALID_VALUE);
    CHECK(loader == nullptr);
    return last_error();
}

} // namespace

TEST_CASE("an invalid specification is refused with the wrong part and what would be right") {
    using Catch::Contains;
    CHECK_THAT(problem_of("piMemBufferCreat:1=fail(BACKEND)"),
               Contains("PI_FAULT: \"piMemBufferCreat:1=fail(BACKEND)\": \"piMemBufferCreat\"") &&
                   Contains("piMemBufferCreate?"));
    CHECK_THAT(problem_of("piEnqueueMenBufferCopy:1=short"), Contains("piEnqueueMemBufferCopy?"));
    CHECK_THAT(problem_of("launch:1=short"), Contains("\"launch\"") && !Contains("?"));
    CHECK_THAT(problem_of("piMemBufferCreate:1=short"),
               Contains("short is for commands that move bytes, and piMemBufferCreate"));
    CHECK_THAT(problem_of("piEnqueueKernelLaunch:1=short"), Contains("fail_event or delay"));
    CHECK_THAT(problem_of("piMemBufferCreate:1=fail_event(BACKEND)"), Contains("is for commands"));
    CHECK_THAT(problem_of("piMemBufferCreate:1=fail(BAD)"),
               Contains("\"BAD\" is not an error of pi.h"));
    CHECK_THAT(problem_of("piMemBufferCreate:1=fail(SUCCESS)"), Contains("not an error"));
    CHECK_THAT(problem_of("piMemBufferCreate:1=fail(PI_SUCCESS)"), Contains("not an error"));
    CHECK_THAT(problem_of("piMemBufferCreate:1=fail"), Contains("should be fail(RESULT)"));
    CHECK_THAT(problem_of("piMemBufferCreate:1=fail(BACKEND"), Contains("does not end with ')'"));
    CHECK_THAT(problem_of("piMemBufferCreate:1=explode"), Contains("\"explode\" is not a fault"));
    CHECK_THAT(problem_of("piMemBufferCreate:1=delay(3)"), Contains("\"3\" is not a time"));
    CHECK_THAT(problem_of("piMemBufferCreate:1=delay(3 hours)"), Contains("units: ns, us, ms, s"));
    for (const char *call : {"0", "x", "", "3..2", "-1", "1..2..3"})
        CHECK_THAT(problem_of(std::string("piMemBufferCreate:") + call + "=fail(BACKEND)"),
                   Contains("is not a call number or range"));
    CHECK_THAT(problem_of("piQueueFlush:1=fail(BACKEND); nonsense"),
               Contains("\"nonsense\": should be <function>:<call>=<fault>"));
}

TEST_CASE("a wrong PI_FAULT in the environment is warned about and ignored") {
    REQUIRE(::setenv("PI_FAULT", "piQueueFlush=now", 1) == 0);
    CapturedLog log;
    Description description = with_layers({"fault"}, {}, &log);
    description.flags = PI_LOADER_NO_DEFAULT_SEARCH;
    const Machine machine(description);
    ::unsetenv("PI_FAULT");
    CHECK(log.count("environment variable PI_FAULT: \"piQueueFlush=now\": should be",
                    PI_LOG_WARNING) == 1);
    OK(piQueueFlush(machine.queue));
}

TEST_CASE("PI_FAULT without the layer is warned about") {
    CapturedLog log;
    const Machine machine(with_layers({}, {{"PI_FAULT", "piQueueFlush:1=fail(BACKEND)"}}, &log));
    CHECK(log.count("PI_FAULT is set, but the layer \"fault\" is not enabled", PI_LOG_WARNING) ==
          1);
    OK(piQueueFlush(machine.queue));
    REFUSED(PI_ERROR_INVALID_OPERATION, "the layer \"fault\"",
            piLoaderGetCallCounts(machine.loader.get(), machine.plugin, 0, nullptr, nullptr));
}

TEST_CASE("call counts belong to one plugin of the loader") {
    const Machine machine(with_faults(""));
    const Machine other(with_faults(""));
    uint32_t count = 0;
    REFUSED(PI_ERROR_INVALID_PLUGIN, "is not a plugin of this loader",
            piLoaderGetCallCounts(machine.loader.get(), other.plugin, 0, nullptr, &count));
    REFUSED(PI_ERROR_INVALID_PLUGIN, "is not a plugin of this loader",
            piLoaderGetCallCounts(machine.loader.get(), nullptr, 0, nullptr, &count));
    REFUSED(PI_ERROR_INVALID_LOADER, "loader is NULL",
            piLoaderGetCallCounts(nullptr, machine.plugin, 0, nullptr, &count));
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "both NULL",
            piLoaderGetCallCounts(machine.loader.get(), machine.plugin, 0, nullptr, nullptr));
}
