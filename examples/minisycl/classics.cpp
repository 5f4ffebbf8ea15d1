// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "classics.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>

using namespace minisycl;

namespace {

/// Numbers without a pattern that a wrong kernel could reproduce, small enough for exact sums.
template <class T>
std::vector<T> numbers(std::size_t count, uint32_t seed) {
    std::vector<T> made(count);
    for (T &one : made) {
        seed = seed * 1664525U + 1013904223U;
        one = static_cast<T>(seed >> 28);
    }
    return made;
}

} // namespace

bool vector_add(queue &device, const std::vector<form> &forms, std::size_t size) {
    std::vector<float> first = numbers<float>(size, 1);
    std::vector<float> second = numbers<float>(size, 2);
    std::vector<float> result(size);
    {
        buffer a(device.get_context(), first.data(), range(size), "a");
        buffer b(device.get_context(), second.data(), range(size), "b");
        buffer sum(device.get_context(), result.data(), range(size), "sum");
        device.submit([&](handler &group) {
            accessor x(a, group, read_only);
            accessor y(b, group, read_only);
            accessor z(sum, group, write_only, no_init);
            group.set_args(x, y, z);
            group.parallel_for(range(size), kernel{"vector_add", forms},
                               [=](id<1> i) { z[i] = x[i] + y[i]; });
        });
        device.wait_and_throw(); // throws if the kernel failed
    }
    // The buffers are destroyed: the sum is in result.
    for (std::size_t i = 0; i < size; ++i) {
        if (result[i] != first[i] + second[i]) {
            return false;
        }
    }
    return true;
}

bool matrix_product(queue &device, const std::vector<form> &forms, std::size_t size) {
    const std::size_t n = size;
    std::vector<float> left = numbers<float>(n * n, 3);
    std::vector<float> right = numbers<float>(n * n, 4);
    buffer a(device.get_context(), left.data(), range(n, n), "left");
    buffer b(device.get_context(), right.data(), range(n, n), "right");
    buffer<float, 2> product(device.get_context(), range(n, n), "product");
    device.submit([&](handler &group) {
        accessor x(a, group, read_only);
        accessor y(b, group, read_only);
        accessor z(product, group, write_only, no_init);
        group.set_args(x, y, z, static_cast<uint32_t>(n));
        group.parallel_for(range(n, n), kernel{"matrix_product", forms}, [=](id<2> i) {
            float sum = 0;
            for (std::size_t k = 0; k < n; ++k) {
                sum += x[{i[0], k}] * y[{k, i[1]}];
            }
            z[i] = sum;
        });
    });
    device.wait_and_throw();

    // Computed differently: weighted rows of the right matrix.
    host_accessor result(product, read_only);
    std::vector<float> expected(n);
    for (std::size_t row = 0; row < n; ++row) {
        std::fill(expected.begin(), expected.end(), 0.0F);
        for (std::size_t k = 0; k < n; ++k) {
            for (std::size_t column = 0; column < n; ++column) {
                expected[column] += left[row * n + k] * right[k * n + column];
            }
        }
        if (!std::equal(expected.begin(), expected.end(), result.begin() + row * n)) {
            return false;
        }
    }
    return true;
}

bool reduction(queue &device, const std::vector<form> &forms, std::size_t size) {
    const std::size_t partial_count = std::min<std::size_t>(size, 256);
    std::vector<uint32_t> all = numbers<uint32_t>(size, 5);
    buffer values(device.get_context(), all.data(), range(size), "values");
    buffer<uint32_t> partial(device.get_context(), range(partial_count), "partial sums");
    buffer<uint32_t> total(device.get_context(), range(1), "total");

    const auto sum = [&](buffer<uint32_t> &from, buffer<uint32_t> &to) {
        const std::size_t count = from.size();
        const std::size_t stride = to.size();
        device.submit([&](handler &group) {
            accessor x(from, group, read_only);
            accessor y(to, group, write_only, no_init);
            group.set_args(x, y, static_cast<uint32_t>(count), static_cast<uint32_t>(stride));
            group.parallel_for(range(stride), kernel{"sums", forms}, [=](id<1> i) {
                uint32_t some = 0;
                for (std::size_t k = i; k < count; k += stride) {
                    some += x[k];
                }
                y[i] = some;
            });
        });
    };
    sum(values, partial);
    sum(partial, total); // after the first, by its accessor
    device.wait_and_throw();
    host_accessor result(total, read_only);
    return result[0] == std::accumulate(all.begin(), all.end(), uint32_t{0});
}

namespace {

using grid = buffer<uint32_t, 2>;

struct rows {
    std::size_t first = 0;
    std::size_t count = 0;
};

/// One step of some rows: reads them with the row before and the row after, and writes them;
/// nothing else moves.
void step(queue &device, const std::vector<form> &forms, grid &before, grid &after,
          const rows &mine) {
    const auto [height, width] = before.get_range().extent;
    const std::size_t read_first = mine.first - (mine.first > 0 ? 1 : 0);
    const std::size_t read_end = std::min(mine.first + mine.count + 1, height);
    device.submit([&, height = height, width = width](handler &group) {
        accessor x(before, group, range(read_end - read_first, width), id(read_first, 0),
                   read_only);
        accessor y(after, group, range(mine.count, width), id(mine.first, 0), write_only, no_init);
        group.set_args(x, x.first(), y, y.first(), static_cast<uint32_t>(mine.first),
                       static_cast<uint32_t>(height), static_cast<uint32_t>(width));
        group.parallel_for(
            range(mine.count, width), kernel{"stencil", forms},
            [=, first = mine.first](id<2> item) {
                const std::size_t row = first + item[0];
                const std::size_t column = item[1];
                const uint32_t up = x[{row > 0 ? row - 1 : row, column}];
                const uint32_t down = x[{row + 1 < height ? row + 1 : row, column}];
                const uint32_t left = x[{row, column > 0 ? column - 1 : column}];
                const uint32_t right = x[{row, column + 1 < width ? column + 1 : column}];
                y[{row, column}] = (4 * x[{row, column}] + up + down + left + right) / 8;
            });
    });
}

std::vector<uint32_t> plain_stencil(std::vector<uint32_t> before, std::size_t n,
                                    std::size_t steps) {
    std::vector<uint32_t> after(before.size());
    for (; steps > 0; --steps, before.swap(after)) {
        for (std::size_t i = 0; i < before.size(); ++i) {
            const uint32_t here = before[i];
            after[i] =
                (4 * here + (i >= n ? before[i - n] : here) +
                 (i + n < before.size() ? before[i + n] : here) +
                 (i % n > 0 ? before[i - 1] : here) + (i % n + 1 < n ? before[i + 1] : here)) /
                8;
        }
    }
    return before;
}

} // namespace

bool stencil(context &devices, const std::vector<form> &forms, std::size_t size,
             std::size_t steps) {
    std::vector<uint32_t> begin = numbers<uint32_t>(size * size, 6);
    for (uint32_t &one : begin) {
        one <<= 20; // so that no step loses all of it
    }
    const std::vector<uint32_t> expected = plain_stencil(begin, size, steps);

    const std::size_t parts = std::min(devices.size(), size);
    std::vector<std::unique_ptr<queue>> queues;
    std::vector<rows> divided;
    for (std::size_t part = 0; part < parts; ++part) {
        queues.push_back(std::make_unique<queue>(devices, part));
        const std::size_t first = part * size / parts;
        divided.push_back({first, (part + 1) * size / parts - first});
    }
    grid even(devices, begin.data(), range(size, size), "even steps");
    grid odd(devices, range(size, size), "odd steps");

    uint64_t moved_before = 0;
    for (std::size_t done = 0; done < steps; ++done) {
        for (std::size_t part = 0; part < parts; ++part) {
            step(*queues[part], forms, done % 2 == 0 ? even : odd, done % 2 == 0 ? odd : even,
                 divided[part]);
        }
        if (done == 0) { // now every device has its rows
            for (const std::unique_ptr<queue> &queue : queues) {
                queue->wait_and_throw();
            }
            moved_before = devices.runtime().counters().bytes_delivered;
        }
    }
    for (const std::unique_ptr<queue> &queue : queues) {
        queue->wait_and_throw();
    }
    const uint64_t moved = devices.runtime().counters().bytes_delivered - moved_before;
    const uint64_t needed =
        steps == 0 ? 0 : (steps - 1) * (parts - 1) * 2 * size * sizeof(uint32_t);
    std::printf(
        "stencil: %zu device%s, %zu steps: %llu bytes of halo rows moved between the steps; "
        "%llu are at the cuts\n",
        parts, parts == 1 ? "" : "s", steps, static_cast<unsigned long long>(moved),
        static_cast<unsigned long long>(needed));

    host_accessor result(steps % 2 == 0 ? even : odd, read_only);
    return moved <= needed && std::equal(expected.begin(), expected.end(), result.begin());
}
