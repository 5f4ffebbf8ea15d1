// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a test says that it fails, or that it cannot be tested here. All of these throw, and may be
// called on the test's own thread, in Fixture::run_threads and in Fixture::on_complete.
#pragma once

#include "text.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

namespace pi::suite {

/// Thrown: the test fails; the text says what was done, what happened and what would have been
/// right.
struct Failure {
    std::string text;
};

/// Thrown: the plugin or this machine does not have what the test is about.
struct Skip {
    std::string reason;
};

/// The caller's line, by a default argument.
struct Location {
    const char *file;
    int line;
};

[[noreturn]] void fail_at(Location where, const std::string &text);

/// A condition and the line that states it.
struct Condition {
    bool value;
    Location where;
    template <typename Value>
    Condition(Value &&from, const char *file = __builtin_FILE(), int line = __builtin_LINE())
        : value(static_cast<bool>(from)), where{file, line} {}
};

/// A call's result and the line that made it.
struct Result {
    pi_result code;
    Location where;
    Result(pi_result from, const char *file = __builtin_FILE(), int line = __builtin_LINE())
        : code(from), where{file, line} {}
};

/// Fails the test unless the condition holds. The texts say what is wrong.
template <typename... Texts>
void require(Condition condition, const Texts &...texts) {
    if (!condition.value)
        fail_at(condition.where, join(texts...));
}

/// Both are equal; the texts say what the first is.
template <typename Actual, typename Expected, typename... Texts>
void require_equal(const Actual &actual, const Expected &expected, Texts &&...texts) {
    if (!(actual == expected))
        fail_at({nullptr, 0}, join(texts..., " is ", actual, ", should be ", expected));
}

/// A call that must succeed; the texts say which it is.
template <typename... Texts>
void require_success(Result result, const Texts &...texts) {
    if (result.code != PI_SUCCESS)
        fail_at(result.where,
                join(texts..., ": ", result_name(result.code), ": ", last_error_text()));
}

/// As the body of require_error, for texts that are put together already.
void require_error_of(Result result, std::initializer_list<pi_result> allowed,
                      const std::string &what);

/// A call that must fail with this code, and with a text of piGetLastError.
template <typename... Texts>
void require_error(Result result, pi_result expected, const Texts &...texts) {
    require_error_of(result, {expected}, join(texts...));
}
template <typename... Texts>
void require_error(Result result, std::initializer_list<pi_result> allowed, const Texts &...texts) {
    require_error_of(result, allowed, join(texts...));
}

/// Two ranges of bytes are equal; reports the first difference and their number.
void require_same_bytes(const void *actual, const void *expected, std::size_t size,
                        const std::string &what);

[[noreturn]] void skip(std::string reason);

} // namespace pi::suite
