// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes in messages.
#pragma once

#include <cmath>
#include <cstdint>

namespace pi::sdk {

/// "3.5 GiB", "1000 bytes".
class Bytes {
public:
    explicit Bytes(uint64_t count) : count_(count) {}
    template <class Stream>
    friend Stream &operator<<(Stream &stream, Bytes bytes) {
        static constexpr const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
        double value = static_cast<double>(bytes.count_);
        unsigned unit = 0;
        for (; value >= 1024 && unit < 4; value /= 1024)
            ++unit;
        // One decimal: enough to compare with, short enough to read.
        const double shown = std::round(value * 10) / 10;
        stream << shown << ' ' << units[unit];
        return stream;
    }

private:
    uint64_t count_;
};

} // namespace pi::sdk
