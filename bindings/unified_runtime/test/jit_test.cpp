// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs whose kernels libsycl-jit compiles at run time, on one device, or in one context over
// the devices of two drivers.
//
// Not here: specialization constants and kernels as lambdas, which need DPC++'s compiler for the
// host's code. A buffer around const host data is never written here: DPC++ 2026.2 creates it with
// UR_MEM_FLAG_READ_ONLY and the host's memory, also if a kernel writes it later, so the const data
// would change, with every adapter.
#include "jit.hpp"

#include <random>
#include <thread>

using namespace jit;

TEST_CASE("vectors are added, each time on another device", "[jit][moves]") {
    constexpr size_t count = 4096;
    const std::vector<int> a = counting(count);
    std::vector<int> start = a, expected = a;
    sycl::buffer<int> first(a.data(), count);
    sycl::buffer<int> sum(start.data(), count);
    sycl::buffer<int> next{sycl::range<1>(count)};
    Copies first_copies(count, sizeof(int), true), sum_copies = first_copies,
                                                   next_copies(count, sizeof(int), false);
    for (size_t round = 0; round < 4; ++round) {
        first_copies.on_device(round, false);
        sum_copies.on_device(round, false);
        next_copies.on_device(round, true);
        machine().queue(round).submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(first, handler, sycl::read_only),
                             sycl::accessor(sum, handler, sycl::read_only),
                             sycl::accessor(next, handler, sycl::write_only, sycl::no_init));
            handler.parallel_for(sycl::nd_range<1>(count, 64), machine().kernel("add"));
        });
        std::swap(sum, next);
        std::swap(sum_copies, next_copies);
        std::transform(a.begin(), a.end(), expected.begin(), expected.begin(), std::plus<>());
    }
    CHECK(difference(read(sum), expected) == "");
    CHECK(difference(read(first), a) == "");
    CHECK(difference(a, counting(count)) == "");
    sum_copies.on_host(false);
    check_moves({&first_copies, &sum_copies, &next_copies});
}

TEST_CASE("a reduction adds groups on one device and their sums on another", "[jit]") {
    constexpr size_t count = 4096, group = 64;
    const std::vector<int> values = counting(count);
    sycl::buffer<int> whole(values.data(), count);
    sycl::buffer<int> sums{sycl::range<1>(count / group)};
    sycl::buffer<int> total{sycl::range<1>(1)};
    const auto add_groups = [&](size_t at, sycl::buffer<int> &from, sycl::buffer<int> &to) {
        machine().queue(at).submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(from, handler, sycl::read_only),
                             sycl::accessor(to, handler, sycl::write_only, sycl::no_init),
                             sycl::local_accessor<int, 1>(sycl::range<1>(group), handler));
            handler.parallel_for(sycl::nd_range<1>(from.size(), group),
                                 machine().kernel("add_group"));
        });
    };
    add_groups(0, whole, sums);
    add_groups(1, sums, total);
    CHECK(read(total).at(0) == std::accumulate(values.begin(), values.end(), 0));
}

TEST_CASE("a stencil: each device computes a half of every step", "[jit][moves]") {
    constexpr size_t count = 4096, half = count / 2;
    constexpr int steps = 6;
    std::vector<float> start(count);
    std::iota(start.begin(), start.end(), 0.0F);
    std::vector<float> expected = start;
    sycl::buffer<float> from(start.data(), count);
    sycl::buffer<float> to{sycl::range<1>(count)};
    Copies from_copies(count, sizeof(float), true), to_copies(count, sizeof(float), false);
    for (int step = 0; step < steps; ++step) {
        for (size_t at = 0; at < 2; ++at) {
            sycl::buffer<float> part(to, sycl::id<1>(at * half), sycl::range<1>(half));
            from_copies.on_device(at, false);
            to_copies.on_device(at, true, at * half, (at + 1) * half);
            machine().queue(at).submit([&](sycl::handler &handler) {
                handler.set_args(sycl::accessor(from, handler, sycl::read_only),
                                 sycl::accessor(part, handler, sycl::write_only, sycl::no_init),
                                 static_cast<int>(at * half), static_cast<int>(count));
                handler.parallel_for(sycl::nd_range<1>(half, 64), machine().kernel("smooth"));
            });
        }
        std::swap(from, to);
        std::swap(from_copies, to_copies);
    }
    for (int step = 0; step < steps; ++step) {
        const std::vector<float> old = expected;
        for (size_t i = 0; i < count; ++i) {
            const float left = i == 0 ? 0.0F : old[i - 1];
            const float right = i + 1 == count ? 0.0F : old[i + 1];
            expected[i] = 0.25F * left + 0.5F * old[i] + 0.25F * right;
        }
    }
    CHECK(difference(read(from), expected) == "");
    from_copies.on_host(false);
    check_moves({&from_copies, &to_copies});
}

TEST_CASE("matrices are multiplied in tiles of local memory", "[jit]") {
    constexpr size_t size = 32, tile = 8;
    const sycl::range<2> range(size, size);
    std::vector<float> a(size * size), b(size * size), expected(size * size, 0.0F);
    for (size_t i = 0; i < a.size(); ++i) { // small integers: exact
        a[i] = static_cast<float>(i % 7);
        b[i] = static_cast<float>(i % 5);
    }
    for (size_t y = 0; y < size; ++y) {
        for (size_t x = 0; x < size; ++x) {
            for (size_t i = 0; i < size; ++i) {
                expected[y * size + x] += a[y * size + i] * b[i * size + x];
            }
        }
    }
    sycl::buffer<float, 2> left(std::as_const(a).data(), range);
    sycl::buffer<float, 2> right(std::as_const(b).data(), range);
    sycl::buffer<float, 2> product(range), again(range);
    const sycl::nd_range<2> tiles(range, {tile, tile});
    for (size_t at = 0; at < machine().devices.size(); ++at) {
        machine().queue(at).submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(left, handler, sycl::read_only),
                             sycl::accessor(right, handler, sycl::read_only),
                             sycl::accessor(product, handler, sycl::write_only, sycl::no_init),
                             sycl::local_accessor<float, 2>({tile, tile}, handler),
                             sycl::local_accessor<float, 2>({tile, tile}, handler));
            handler.parallel_for(tiles, machine().kernel("multiply"));
        });
        CHECK(difference(read(product), expected) == "");
        machine().queue(at).submit([&](sycl::handler &handler) {
            syclex::work_group_memory<float[tile][tile]> of_left(handler), of_right(handler);
            handler.set_args(sycl::accessor(left, handler, sycl::read_only),
                             sycl::accessor(right, handler, sycl::read_only),
                             sycl::accessor(again, handler, sycl::write_only, sycl::no_init),
                             of_left, of_right);
            handler.parallel_for(tiles, machine().kernel("multiply_in_group_memory"));
        });
        CHECK(difference(read(again), expected) == "");
    }
}

TEST_CASE("two devices write parts of one buffer in turn", "[jit][moves]") {
    constexpr size_t count = 4096, parts = 4, part_size = count / parts;
    std::vector<int> start = counting(count), expected = start;
    sycl::buffer<int> whole(start.data(), count);
    Copies copies(count, sizeof(int), true);
    for (int round = 0; round < 3; ++round) {
        for (size_t part = 0; part < parts; ++part) {
            const size_t begin = part * part_size;
            sycl::buffer<int> own(whole, sycl::id<1>(begin), sycl::range<1>(part_size));
            const int by = 10 * round + static_cast<int>(part);
            copies.on_device(part + static_cast<size_t>(round), true, begin, begin + part_size);
            machine().queue(part + static_cast<size_t>(round)).submit([&](sycl::handler &handler) {
                handler.set_args(sycl::accessor(own, handler, sycl::read_write), by);
                handler.parallel_for(sycl::nd_range<1>(part_size, 64),
                                     machine().kernel("count_up"));
            });
            std::for_each_n(expected.begin() + static_cast<std::ptrdiff_t>(begin), part_size,
                            [by](int &value) { value += by; });
        }
        if (round == 1) {
            copies.on_host(false);
            CHECK(difference(read(whole), expected) == "");
        }
    }
    CHECK(difference(read(whole), expected) == "");
    copies.on_host(false);
    check_moves({&copies});
}

TEST_CASE("bytes that a kernel may write and does not keep their values", "[jit][moves]") {
    constexpr size_t count = 4096;
    std::vector<int> start = counting(count), expected = start;
    sycl::buffer<int> buffer(start.data(), count);
    Copies copies(count, sizeof(int), true);
    for (int round = 1; round <= 4; ++round) {
        copies.on_device(static_cast<size_t>(round), true);
        copies.on_host(true);
        machine().queue(static_cast<size_t>(round)).submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(buffer, handler, sycl::write_only), -round);
            handler.parallel_for(sycl::nd_range<1>(count / 2, 64),
                                 machine().kernel("write_every_second"));
        });
        {
            // The host changes an element that no kernel writes.
            const sycl::host_accessor access(buffer, sycl::read_write);
            access[static_cast<size_t>(2 * round + 1)] = 100 * round;
        }
        expected[static_cast<size_t>(2 * round + 1)] = 100 * round;
    }
    for (size_t i = 0; i < count; i += 2) {
        expected[i] = -4;
    }
    CHECK(difference(read(buffer), expected) == "");
    check_moves({&copies});
}

TEST_CASE("a template is instantiated for each value that a program needs", "[jit]") {
    constexpr size_t count = 256;
    std::vector<int> start = counting(count), expected = start;
    sycl::buffer<int> values(start.data(), count);
    size_t at = 0;
    for (const int factor : {3, 5}) {
        machine().queue(at++).submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(values, handler, sycl::read_write));
            handler.parallel_for(sycl::nd_range<1>(count, 64),
                                 machine().kernel("scale_by<" + std::to_string(factor) + ">"));
        });
        std::for_each(expected.begin(), expected.end(), [factor](int &value) { value *= factor; });
    }
    CHECK(difference(read(values), expected) == "");
}

TEST_CASE("host tasks run between kernels", "[jit]") {
    constexpr size_t count = 1024;
    std::vector<int> start = counting(count), expected = start;
    sycl::buffer<int> values(start.data(), count);
    const auto count_up = [&](size_t at, int by) {
        machine().queue(at).submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(values, handler, sycl::read_write), by);
            handler.parallel_for(sycl::nd_range<1>(count, 64), machine().kernel("count_up"));
        });
    };
    for (int round = 0; round < 3; ++round) {
        count_up(static_cast<size_t>(round), 1);
        machine().queue(0).submit([&](sycl::handler &handler) {
            const sycl::accessor access(values, handler, sycl::read_write_host_task);
            handler.host_task([access] {
                for (int &value : access) {
                    value *= 2;
                }
            });
        });
        count_up(static_cast<size_t>(round + 1), 3);
        std::for_each(expected.begin(), expected.end(),
                      [](int &value) { value = 2 * (value + 1) + 3; });
    }
    CHECK(difference(read(values), expected) == "");
}

TEST_CASE("profiling reports the times of kernels and copies", "[jit]") {
    constexpr size_t count = 4096;
    std::vector<int> start = counting(count);
    sycl::buffer<int> values(start.data(), count), copy{sycl::range<1>(count)};
    for (const sycl::device &device : machine().devices) {
        sycl::queue queue(machine().context, device,
                          sycl::property_list{sycl::property::queue::enable_profiling(),
                                              sycl::property::queue::in_order()});
        const sycl::event launch = queue.submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(values, handler, sycl::read_write), 1);
            handler.parallel_for(sycl::nd_range<1>(count, 64), machine().kernel("count_up"));
        });
        const sycl::event copied = queue.submit([&](sycl::handler &handler) {
            handler.copy(sycl::accessor(values, handler, sycl::read_only),
                         sycl::accessor(copy, handler, sycl::write_only, sycl::no_init));
        });
        uint64_t previous = 0;
        for (const sycl::event &event : {launch, copied}) {
            namespace info = sycl::info::event_profiling;
            const uint64_t submitted = event.get_profiling_info<info::command_submit>();
            const uint64_t begin = event.get_profiling_info<info::command_start>();
            const uint64_t end = event.get_profiling_info<info::command_end>();
            CHECK(submitted <= begin);
            CHECK(begin < end);
            CHECK(previous <= begin);
            previous = end;
        }
    }
    const int times = static_cast<int>(machine().devices.size());
    CHECK(difference(read(copy), counting(count, 1 + times)) == "");
}

TEST_CASE("kernels read and write images", "[jit]") {
    if (!machine().devices.front().has(sycl::aspect::ext_intel_legacy_image)) {
        pi_test::skip("the device has no images");
        return;
    }
    constexpr size_t size = 16;
    const sycl::range<2> range(size, size);
    std::vector<float> texels(4 * size * size), inverted(texels.size());
    for (size_t i = 0; i < texels.size(); ++i) {
        texels[i] = static_cast<float>(i % 16) / 16.0F; // exact
    }
    std::vector<float> expected = texels;
    std::for_each(expected.begin(), expected.end(), [](float &value) { value = 1.0F - value; });
    {
        using sycl::access_mode;
        const auto order = sycl::image_channel_order::rgba;
        const auto type = sycl::image_channel_type::fp32;
        sycl::image<2> from(texels.data(), order, type, range);
        sycl::image<2> to(inverted.data(), order, type, range);
        machine().queue(0).submit([&](sycl::handler &handler) {
            handler.set_args(from.get_access<sycl::float4, access_mode::read>(handler),
                             to.get_access<sycl::float4, access_mode::write>(handler));
            handler.parallel_for(sycl::nd_range<2>(range, {4, 4}), machine().kernel("invert"));
        });
    }
    CHECK(difference(inverted, expected) == "");
}

TEST_CASE("a recorded graph runs many times", "[jit]") {
    constexpr size_t count = 1024;
    for (size_t at = 0; at < machine().devices.size(); ++at) {
        std::vector<int> start = counting(count);
        sycl::buffer<int> values(start.data(), count), copy{sycl::range<1>(count)};
        values.set_write_back(false);
        sycl::queue &queue = machine().queue(at);
        { // no host accessor may exist while there is a graph
            syclex::command_graph graph(machine().context, machine().devices[at],
                                        {syclex::property::graph::assume_buffer_outlives_graph()});
            graph.begin_recording(queue);
            for (const int by : {1, 2}) {
                queue.submit([&](sycl::handler &handler) {
                    handler.set_args(sycl::accessor(values, handler, sycl::read_write), by);
                    handler.parallel_for(sycl::nd_range<1>(count, 64),
                                         machine().kernel("count_up"));
                });
            }
            queue.submit([&](sycl::handler &handler) {
                handler.copy(sycl::accessor(values, handler, sycl::read_only),
                             sycl::accessor(copy, handler, sycl::write_only));
            });
            graph.end_recording();
            auto executable = graph.finalize();
            for (int round = 0; round < 4; ++round) {
                queue.ext_oneapi_graph(executable);
            }
            queue.wait_and_throw();
        }
        CHECK(difference(read(copy), counting(count, 1 + 4 * 3)) == "");
        CHECK(difference(read(values), counting(count, 1 + 4 * 3)) == "");
    }
}

TEST_CASE("a device global of the kernels' source", "[jit][usm]") {
    if (!machine().devices.front().has(sycl::aspect::usm_device_allocations)) {
        pi_test::skip("the device has no USM, which DPC++ needs for a device global");
        return;
    }
    auto kernels = build(machine().context, R"(
#include <sycl/sycl.hpp>
sycl::ext::oneapi::experimental::device_global<int> counter;
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(
    (sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void count() { ++counter.get(); }
)");
    const std::string name = "counter";
    REQUIRE(kernels.ext_oneapi_has_device_global(name));
    CHECK(kernels.ext_oneapi_get_device_global_size(name) == sizeof(int));
    for (size_t at = 0; at < machine().devices.size(); ++at) {
        sycl::queue &queue = machine().queue(at);
        void *const address =
            kernels.ext_oneapi_get_device_global_address(name, machine().devices[at]);
        const int start = 40;
        queue.memcpy(address, &start, sizeof start).wait();
        for (int round = 0; round < 2; ++round) {
            queue
                .submit([&](sycl::handler &handler) {
                    handler.parallel_for(sycl::nd_range<1>(1, 1),
                                         kernels.ext_oneapi_get_kernel("count"));
                })
                .wait();
        }
        int end = 0;
        queue.memcpy(&end, address, sizeof end).wait();
        CHECK(end == 42);
    }
}

// ----- Random programs --------------------------------------------------------------------------

namespace {

/// Buffers on which random commands run, and the values that they should have.
class RandomProgram {
public:
    explicit RandomProgram(uint32_t seed) : random_(seed) {
        for (size_t i = 0; i < 3; ++i) {
            expected_.push_back(counting(count, static_cast<int>(100 * i)));
            start_.push_back(expected_.back());
        }
        for (auto &values : start_) {
            buffers_.emplace_back(values.data(), count);
        }
    }

    void step() {
        switch (below(7)) {
        case 0:
            return add();
        case 1:
            return count_up_part();
        case 2:
            return write_every_second();
        case 3:
            return fill();
        case 4:
            return copy();
        case 5:
            return host_task();
        default:
            return change_on_host();
        }
    }

    /// "" if all buffers have the right values.
    std::string differences() {
        for (sycl::queue &queue : machine().queues) {
            queue.wait_and_throw();
        }
        std::string all;
        for (size_t i = 0; i < buffers_.size(); ++i) {
            all += difference(read(buffers_[i]), expected_[i]);
        }
        return all;
    }

private:
    static constexpr size_t count = 2048, unit = 256;
    using Range = sycl::range<1>;
    using Id = sycl::id<1>;

    size_t below(size_t end) { return random_() % end; }
    sycl::queue &any_queue() { return machine().queue(below(16)); }
    size_t any_buffer() { return below(buffers_.size()); }
    /// Of whole units.
    std::pair<size_t, size_t> any_part() {
        const size_t begin = below(count / unit), end = begin + 1 + below(count / unit - begin);
        return {begin * unit, (end - begin) * unit};
    }

    void add() {
        const size_t a = any_buffer(), b = (a + 1) % 3, c = (a + 2) % 3;
        any_queue().submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(buffers_[a], handler, sycl::read_only),
                             sycl::accessor(buffers_[b], handler, sycl::read_only),
                             sycl::accessor(buffers_[c], handler, sycl::write_only, sycl::no_init));
            handler.parallel_for(sycl::nd_range<1>(count, 64), machine().kernel("add"));
        });
        std::transform(expected_[a].begin(), expected_[a].end(), expected_[b].begin(),
                       expected_[c].begin(),
                       [](int x, int y) { return int(unsigned(x) + unsigned(y)); });
    }

    void count_up_part() {
        const size_t at = any_buffer();
        const auto [begin, size] = any_part();
        const int by = static_cast<int>(below(10));
        sycl::buffer<int> part(buffers_[at], Id(begin), Range(size));
        const size_t length = size; // a structured binding cannot be captured
        any_queue().submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(part, handler, sycl::read_write), by);
            handler.parallel_for(sycl::nd_range<1>(length, 64), machine().kernel("count_up"));
        });
        for (size_t i = begin; i < begin + size; ++i) {
            expected_[at][i] += by;
        }
    }

    void write_every_second() {
        const size_t at = any_buffer();
        const int value = static_cast<int>(below(1000));
        any_queue().submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(buffers_[at], handler, sycl::write_only), value);
            handler.parallel_for(sycl::nd_range<1>(count / 2, 64),
                                 machine().kernel("write_every_second"));
        });
        for (size_t i = 0; i < count; i += 2) {
            expected_[at][i] = value;
        }
    }

    void fill() {
        const size_t at = any_buffer();
        const auto part = any_part();
        const int value = static_cast<int>(below(1000));
        any_queue().submit([&](sycl::handler &handler) {
            handler.fill(sycl::accessor(buffers_[at], handler, Range(part.second), Id(part.first),
                                        sycl::write_only),
                         value);
        });
        std::fill_n(expected_[at].begin() + static_cast<std::ptrdiff_t>(part.first), part.second,
                    value);
    }

    void copy() {
        const size_t from = any_buffer(), to = (from + 1) % 3;
        const auto part = any_part();
        const size_t begin = below((count - part.second) / unit + 1) * unit;
        any_queue().submit([&](sycl::handler &handler) {
            handler.copy(sycl::accessor(buffers_[from], handler, Range(part.second), Id(part.first),
                                        sycl::read_only),
                         sycl::accessor(buffers_[to], handler, Range(part.second), Id(begin),
                                        sycl::write_only));
        });
        std::copy_n(expected_[from].begin() + static_cast<std::ptrdiff_t>(part.first), part.second,
                    expected_[to].begin() + static_cast<std::ptrdiff_t>(begin));
    }

    void host_task() {
        const size_t at = any_buffer();
        any_queue().submit([&](sycl::handler &handler) {
            const sycl::accessor access(buffers_[at], handler, sycl::read_write_host_task);
            handler.host_task([access] {
                for (int &value : access) {
                    value = value / 2 + 1;
                }
            });
        });
        for (int &value : expected_[at]) {
            value = value / 2 + 1;
        }
    }

    void change_on_host() {
        const size_t at = any_buffer(), index = below(count);
        const sycl::host_accessor access(buffers_[at], sycl::read_write);
        access[index] = expected_[at][index] = static_cast<int>(below(1000));
    }

    std::mt19937 random_;
    std::vector<std::vector<int>> start_, expected_;
    std::vector<sycl::buffer<int>> buffers_;
};

} // namespace

TEST_CASE("random programs", "[jit][random]") {
    for (uint32_t seed = 0; seed < 20; ++seed) {
        RandomProgram program(Catch::rngSeed() + seed);
        for (int step = 0; step < 30; ++step) {
            program.step();
        }
        INFO("seed " << Catch::rngSeed() << " + " << seed);
        CHECK(program.differences() == "");
    }
}

TEST_CASE("random programs of several threads", "[jit][random]") {
    machine();
    std::vector<std::string> differences(3);
    std::vector<std::thread> threads;
    for (uint32_t thread = 0; thread < differences.size(); ++thread) {
        threads.emplace_back([&, thread] {
            differences[thread] =
                error_of([&] {
                    for (uint32_t seed = 0; seed < 5; ++seed) {
                        RandomProgram program(Catch::rngSeed() + 100 * (thread + 1) + seed);
                        for (int step = 0; step < 30; ++step) {
                            program.step();
                        }
                        differences[thread] += program.differences();
                    }
                }) +
                differences[thread];
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(differences == std::vector<std::string>(differences.size()));
}

// ----- USM --------------------------------------------------------------------------------------

namespace {

struct Free {
    void operator()(void *memory) const { sycl::free(memory, machine().context); }
};
template <class T>
using Usm = std::unique_ptr<T, Free>;

template <class T>
Usm<T> allocate(size_t count, sycl::usm::alloc kind) {
    return Usm<T>(sycl::malloc<T>(count, machine().devices.front(), machine().context, kind));
}

struct Link {
    Link *next = nullptr;
    int value = 0;
};

} // namespace

TEST_CASE("USM of each kind: copies, fills and kernels", "[jit][usm]") {
    const auto [kind, aspect] = GENERATE(table<sycl::usm::alloc, sycl::aspect>(
        {{sycl::usm::alloc::host, sycl::aspect::usm_host_allocations},
         {sycl::usm::alloc::device, sycl::aspect::usm_device_allocations},
         {sycl::usm::alloc::shared, sycl::aspect::usm_shared_allocations}}));
    if (!machine().devices.front().has(aspect)) {
        pi_test::skip("the device has no USM of this kind");
        return;
    }
    constexpr size_t count = 1024;
    const auto usm = allocate<int>(count, kind);
    REQUIRE(usm != nullptr);
    CHECK(sycl::get_pointer_type(usm.get() + count / 2, machine().context) == kind);
    const std::vector<int> start = counting(count);
    std::vector<int> values = start, result(count);

    sycl::queue &queue = machine().queue(0);
    const sycl::event copied = queue.memcpy(usm.get(), start.data(), count * sizeof(int));
    const sycl::event filled = queue.fill(usm.get() + 16, -7, 48, copied);
    std::fill_n(values.begin() + 16, 48, -7);
    const sycl::event scaled = queue.submit([&](sycl::handler &handler) {
        handler.depends_on(filled);
        handler.set_args(usm.get(), 3);
        handler.parallel_for(sycl::nd_range<1>(count, 64), machine().kernel("scale"));
    });
    std::for_each(values.begin(), values.end(), [](int &value) { value *= 3; });
    queue.memcpy(result.data(), usm.get(), count * sizeof(int), scaled).wait();
    CHECK(difference(result, values) == "");

    if (kind != sycl::usm::alloc::device) {
        queue.prefetch(usm.get(), count * sizeof(int)).wait();
        CHECK(difference({usm.get(), usm.get() + count}, values) == "");
    }
}

TEST_CASE("a kernel follows pointers that only memory holds", "[jit][usm]") {
    if (!machine().devices.front().has(sycl::aspect::usm_shared_allocations)) {
        pi_test::skip("the device has no shared USM");
        return;
    }
    std::vector<Usm<Link>> links;
    for (int value = 1; value <= 20; ++value) {
        auto link = allocate<Link>(1, sycl::usm::alloc::shared);
        *link = {links.empty() ? nullptr : links.back().get(), value};
        links.push_back(std::move(link));
    }
    const auto sum = allocate<int>(1, sycl::usm::alloc::shared);
    *sum = 0;
    machine()
        .queue(0)
        .submit([&](sycl::handler &handler) {
            handler.set_args(links.back().get(), sum.get());
            handler.parallel_for(sycl::nd_range<1>(1, 1), machine().kernel("add_list"));
        })
        .wait();
    CHECK(*sum == 210);
}

TEST_CASE("random commands on USM, ordered by events over all queues", "[jit][usm][random]") {
    constexpr size_t count = 1024;
    if (!machine().devices.front().has(sycl::aspect::usm_device_allocations)) {
        pi_test::skip("the device has no USM");
        return;
    }
    std::mt19937 random(Catch::rngSeed());
    std::vector<Usm<int>> memory;
    std::vector<std::vector<int>> expected;
    sycl::event last;
    for (int i = 0; i < 2; ++i) {
        memory.push_back(allocate<int>(count, sycl::usm::alloc::device));
        expected.emplace_back(count, i);
        last = machine().queue(0).fill(memory.back().get(), i, count, last);
    }
    for (int step = 0; step < 200; ++step) {
        sycl::queue &queue = machine().queue(random() % 16);
        const size_t from = random() % 2, to = 1 - from;
        const size_t begin = 64 * (random() % (count / 64));
        const size_t size = 64 * (1 + random() % ((count - begin) / 64));
        const auto part = expected[to].begin() + static_cast<std::ptrdiff_t>(begin);
        switch (random() % 3) {
        case 0: {
            const int value = static_cast<int>(random() % 1000);
            last = queue.fill(memory[to].get() + begin, value, size, last);
            std::fill_n(part, size, value);
            break;
        }
        case 1:
            last = queue.memcpy(memory[to].get() + begin, memory[from].get() + begin,
                                size * sizeof(int), last);
            std::copy_n(expected[from].begin() + static_cast<std::ptrdiff_t>(begin), size, part);
            break;
        default:
            last = queue.submit([&](sycl::handler &handler) {
                handler.depends_on(last);
                handler.set_args(memory[to].get() + begin, -1);
                handler.parallel_for(sycl::nd_range<1>(size, 64), machine().kernel("scale"));
            });
            std::transform(part, part + static_cast<std::ptrdiff_t>(size), part, std::negate<>());
        }
    }
    for (size_t i = 0; i < 2; ++i) {
        std::vector<int> values(count);
        machine().queue(i).memcpy(values.data(), memory[i].get(), count * sizeof(int), last).wait();
        CHECK(difference(values, expected[i]) == "");
    }
}

// In a context over several drivers PoCL's library lacks these functions.
TEST_CASE("group algorithms, sub-groups and atomics", "[jit][usm]") {
    if (!machine().devices.front().has(sycl::aspect::usm_device_allocations)) {
        pi_test::skip("the device has no USM");
        return;
    }
    auto kernels = build(machine().context, R"(
#include <sycl/sycl.hpp>
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(
    (sycl::ext::oneapi::experimental::nd_range_kernel<1>))
void add_all(sycl::accessor<int> values, sycl::accessor<int> sums) {
    const auto item = sycl::ext::oneapi::this_work_item::get_nd_item<1>();
    const int value = values[item.get_global_id()];
    const auto add = [&](int at, auto group) {
        const int sum = sycl::reduce_over_group(group, value, sycl::plus<>());
        if (group.leader()) {
            sycl::atomic_ref<int, sycl::memory_order::relaxed, sycl::memory_scope::device>
                total(sums[at]);
            total += sum;
        }
    };
    add(0, item.get_group());
    add(1, item.get_sub_group());
}
)");
    std::vector<int> start = counting(1024), sums(2);
    {
        sycl::buffer<int> values(start.data(), start.size()), totals(sums.data(), sums.size());
        for (size_t at = 0; at < 2; ++at) {
            machine().queue(at).submit([&](sycl::handler &handler) {
                handler.set_args(sycl::accessor(values, handler), sycl::accessor(totals, handler));
                handler.parallel_for(sycl::nd_range<1>(start.size(), 64),
                                     kernels.ext_oneapi_get_kernel("add_all"));
            });
        }
    }
    CHECK(difference(sums, {2 * 524800, 2 * 524800}) == "");
}
