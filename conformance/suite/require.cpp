// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "require.hpp"

#include "process.hpp"

#include <algorithm>
#include <cstring>
#include <iostream>

namespace pi::suite {

void fail_at(Location where, const std::string &text) {
    std::string reason = text;
    if (where.file != nullptr) {
        const char *slash = std::strrchr(where.file, '/');
        reason = join(text, " (", slash != nullptr ? slash + 1 : where.file, ":", where.line, ")");
    }
    std::string line = join(broken_mark, reason);
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::cerr << join(line, '\n') << std::flush;
    throw Failure{reason};
}

void require_error_of(Result result, std::initializer_list<pi_result> allowed,
                      const std::string &what) {
    std::string wanted;
    for (const pi_result code : allowed)
        wanted += (wanted.empty() ? "" : " or ") + result_name(code);
    if (result.code == PI_SUCCESS)
        fail_at(result.where, join(what, ": succeeded, should be ", wanted));
    if (std::find(allowed.begin(), allowed.end(), result.code) == allowed.end())
        fail_at(result.where, join(what, ": ", result_name(result.code), " (", last_error_text(),
                                   "), should be ", wanted));
    pi_result last = PI_SUCCESS;
    const char *message = nullptr;
    piGetLastError(&last, &message);
    if (last != result.code)
        fail_at(result.where, join(what, ": returned ", result_name(result.code),
                                   ", but piGetLastError returns ", result_name(last)));
    if (message == nullptr || message[0] == '\0')
        fail_at(result.where, join(what, ": ", result_name(result.code), " without a text"));
}

void require_same_bytes(const void *actual, const void *expected, std::size_t size,
                        const std::string &what) {
    const auto *is = static_cast<const unsigned char *>(actual);
    const auto *should = static_cast<const unsigned char *>(expected);
    std::size_t different = 0;
    std::size_t first = 0;
    for (std::size_t i = size; i-- > 0;) {
        if (is[i] != should[i]) {
            ++different;
            first = i;
        }
    }
    if (different != 0)
        throw Failure{join(what, ": ", different, " of ", size, " bytes are wrong, the first at ",
                           first, ": it is ", int{is[first]}, ", should be ", int{should[first]})};
}

void skip(std::string reason) {
    throw Skip{std::move(reason)};
}

} // namespace pi::suite
