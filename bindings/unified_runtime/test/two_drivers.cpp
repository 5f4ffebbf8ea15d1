// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One sycl::context over devices of two drivers, and one sycl::buffer that both use: fills and
// copies on each of them see what the other wrote. PI_UR_PLATFORM names the devices.
#include <sycl/sycl.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

namespace {

constexpr size_t count = 4096;

bool same(const char *what, const std::vector<int> &is, const std::vector<int> &expected) {
    for (size_t i = 0; i < count; ++i) {
        if (is[i] != expected[i]) {
            std::printf("%s: element %zu is %d, not %d\n", what, i, is[i], expected[i]);
            return false;
        }
    }
    return true;
}

std::vector<int> read(sycl::buffer<int> &buffer) {
    const sycl::host_accessor access(buffer, sycl::read_only);
    return {access.begin(), access.end()};
}

} // namespace

int main() {
    const std::vector<sycl::device> devices = sycl::platform::get_platforms().at(0).get_devices();
    if (devices.size() < 2) {
        std::puts("one device: nothing to do");
        return 77;
    }
    const sycl::context context(devices);
    std::vector<sycl::queue> queues;
    for (const sycl::device &device : devices) {
        std::printf("%s\n", device.get_info<sycl::info::device::name>().c_str());
        queues.emplace_back(context, device);
    }

    std::vector<int> expected(count);
    std::iota(expected.begin(), expected.end(), 1);
    std::vector<int> first = expected;
    sycl::buffer<int> buffer(first.data(), count);
    sycl::buffer<int> other{sycl::range<1>(count)};

    bool right = true;
    for (int round = 0; round < 4; ++round) {
        // A part is filled on one device; the rest keeps its value.
        sycl::queue &one = queues[static_cast<size_t>(round) % queues.size()];
        sycl::queue &two = queues[static_cast<size_t>(round + 1) % queues.size()];
        const size_t begin = 64 * static_cast<size_t>(round) + 16;
        one.submit([&](sycl::handler &handler) {
            sycl::accessor part(buffer, handler, sycl::range<1>(32), sycl::id<1>(begin),
                                sycl::write_only);
            handler.fill(part, -round);
        });
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(begin), 32, -round);
        // The whole is copied on the other.
        two.submit([&](sycl::handler &handler) {
            const sycl::accessor from(buffer, handler, sycl::read_only);
            const sycl::accessor to(other, handler, sycl::write_only, sycl::no_init);
            handler.copy(from, to);
        });
        right &= same("copied", read(other), expected) && same("filled", read(buffer), expected);
        {
            // The host writes in between.
            const sycl::host_accessor access(buffer, sycl::read_write);
            access[begin + 40] = expected[begin + 40] = 100 + round;
        }
    }
    std::puts(right ? "all bytes are right" : "wrong bytes");
    return right ? 0 : 1;
}
