// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query.hpp"

namespace pi_info {

std::string hexadecimal(const std::string &bytes) {
    constexpr const char *digits = "0123456789abcdef";
    std::string text;
    for (size_t i = 0; i < bytes.size(); ++i) {
        if (bytes.size() == 16 && (i == 4 || i == 6 || i == 8 || i == 10)) {
            text += '-';
        }
        const auto byte = static_cast<unsigned char>(bytes[i]);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

} // namespace pi_info
