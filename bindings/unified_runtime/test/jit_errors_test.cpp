// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors of PI in SYCL programs: DPC++ throws an exception with Unified Runtime's code, and prints
// PI's text. After an error the program goes on.
#include "jit.hpp"

#include <sstream>

using namespace jit;

namespace {

/// What a function throws and prints to std::cerr.
struct Outcome {
    template <class Function>
    explicit Outcome(Function &&function) {
        std::ostringstream text;
        std::streambuf *const old = std::cerr.rdbuf(text.rdbuf());
        error = error_of(function);
        std::cerr.rdbuf(old);
        printed = text.str();
    }

    std::string error;
    std::string printed;
};

sycl::event count_up(size_t at, sycl::buffer<int> &values, size_t group = 64) {
    return machine().queue(at).submit([&](sycl::handler &handler) {
        handler.set_args(sycl::accessor(values, handler, sycl::read_write), 1);
        handler.parallel_for(sycl::nd_range<1>(values.size(), group), machine().kernel("count_up"));
    });
}

void check_that_kernels_run(size_t at = 0) {
    std::vector<int> start = counting(256);
    sycl::buffer<int> values(start.data(), start.size());
    count_up(at, values);
    CHECK(difference(read(values), counting(256, 2)) == "");
}

} // namespace

TEST_CASE("errors: source that does not compile", "[jit][errors]") {
    const Outcome outcome([] { build(machine().context, "int x = nothing;"); });
    CHECK_THAT(outcome.error, Catch::Contains("undeclared identifier 'nothing'"));
}

TEST_CASE("errors: a kernel that calls an undefined function", "[jit][errors]") {
    const char *source = R"(
#include <sycl/sycl.hpp>
SYCL_EXTERNAL int missing(int);
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(
    (sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void call(int *x) { *x = missing(*x); }
)";
    const Outcome outcome([&] { build(machine().context, source); });
    // The exception has the driver's log.
    CHECK_THAT(outcome.error, Catch::Contains("missing"));
    CHECK_THAT(outcome.printed,
               Catch::Contains("PI_ERROR_BUILD_FAILED") && Catch::Contains("missing"));
    check_that_kernels_run();
}

TEST_CASE("errors: a buffer that is too large", "[jit][errors]") {
    const Outcome outcome([] {
        sycl::buffer<int> values{sycl::range<1>(size_t{1} << 44)};
        count_up(0, values).wait();
    });
    CHECK_THAT(outcome.error, Catch::Contains("MEMORY"));
    CHECK_THAT(outcome.printed, Catch::Contains("size is 70368744177664 bytes"));
    check_that_kernels_run();
}

TEST_CASE("errors: USM that is too large", "[jit][errors]") {
    const sycl::device &device = machine().devices.front();
    if (!device.has(sycl::aspect::usm_device_allocations)) {
        pi_test::skip("the device has no USM");
        return;
    }
    void *memory = nullptr;
    const Outcome outcome(
        [&] { memory = sycl::malloc_device(size_t{1} << 46, device, machine().context); });
    CHECK(memory == nullptr); // SYCL has no exception here
    CHECK(outcome.error == "");
    CHECK_THAT(outcome.printed,
               Catch::Contains("piUsmAlloc") && Catch::Contains("size is 70368744177664 bytes"));
}

TEST_CASE("errors: freeing a pointer that is not USM", "[jit][errors]") {
    int value = 0;
    const Outcome outcome([&] { sycl::free(&value, machine().context); });
    CHECK_THAT(outcome.error, Catch::Contains("UR_RESULT_ERROR_INVALID_MEM_OBJECT"));
    CHECK_THAT(outcome.printed, Catch::Contains("not the start of a live allocation"));
}

TEST_CASE("errors: a work-group that is too large", "[jit][errors]") {
    constexpr size_t size = size_t{1} << 20;
    sycl::buffer<int> values{sycl::range<1>(size)};
    const Outcome outcome([&] { count_up(0, values, size); });
    CHECK_THAT(outcome.error, Catch::Contains("work-group"));
    CHECK_THAT(outcome.printed,
               Catch::Contains("local_size[0] is 1048576") && Catch::Contains("count_up"));
    check_that_kernels_run();
}

TEST_CASE("errors: too few arguments", "[jit][errors]") {
    sycl::buffer<int> values{sycl::range<1>(64)};
    const Outcome outcome([&] {
        machine().queue(0).submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(values, handler, sycl::read_write));
            handler.parallel_for(sycl::nd_range<1>(64, 64), machine().kernel("count_up"));
        });
    });
    CHECK_THAT(outcome.error, Catch::Contains("UR_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX"));
    // Those of an accessor are four.
    CHECK_THAT(outcome.printed, Catch::Contains("4 arguments; the kernel has 5"));
    check_that_kernels_run();
}

TEST_CASE("errors: too much local memory", "[jit][errors]") {
    sycl::buffer<int> values{sycl::range<1>(64)};
    const Outcome outcome([&] {
        machine().queue(0).submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(values, handler, sycl::read_only),
                             sycl::accessor(values, handler, sycl::write_only),
                             sycl::local_accessor<int, 1>(sycl::range<1>(1U << 28), handler));
            handler.parallel_for(sycl::nd_range<1>(64, 64), machine().kernel("add_group"));
        });
    });
    CHECK(outcome.error != "");
    CHECK_THAT(outcome.printed, Catch::Contains("1073741824 bytes of work-group memory"));
    check_that_kernels_run();
}

TEST_CASE("errors: a kernel that was built for another device", "[jit][errors]") {
    if (machine().devices.size() < 2) {
        pi_test::skip("one device");
        return;
    }
    auto source = syclex::create_kernel_bundle_from_source(machine().context,
                                                           syclex::source_language::sycl, R"(
#include <sycl/sycl.hpp>
extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(
    (sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void one(sycl::accessor<int> values) {
    values[sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id()] = 1;
}
)");
    const std::vector<sycl::device> last(1, machine().devices.back());
    // Never destroyed: DPC++ keeps a failed command, and crashes if it frees the last reference to
    // a bundle after the destructors of libsycl-jit.
    static Executable &kernels = *new Executable(syclex::build(source, last));
    const sycl::kernel kernel = kernels.ext_oneapi_get_kernel("one");
    const auto launch = [&](size_t at) {
        sycl::buffer<int> values{sycl::range<1>(64)};
        machine().queue(at).submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(values, handler));
            handler.parallel_for(sycl::nd_range<1>(64, 64), kernel);
        });
        return read(values).front();
    };
    CHECK(launch(machine().devices.size() - 1) == 1);
    const Outcome outcome([&] { launch(0); });
    CHECK(outcome.error != "");
    CHECK_THAT(outcome.printed, Catch::Contains("not built"));
}

// With a device that accepts no SPIR-V; the environment decides.
TEST_CASE("errors: a kernel on a device that cannot run it", "[.refusing]") {
    const size_t count = machine().devices.size();
    if (count < 2) {
        pi_test::skip("one device");
        return;
    }
    size_t launched = 0;
    std::string printed;
    for (size_t at = 0; at < count; ++at) {
        std::vector<int> start = counting(256), again = start;
        sycl::buffer<int> values(start.data(), start.size()), other(again.data(), again.size());
        const Outcome outcome([&] { count_up(at, values).wait(); });
        launched += outcome.error.empty() ? 1 : 0;
        printed += outcome.printed;
        // It copies all the same, but DPC++ enqueues nothing on the buffer of a failed command.
        sycl::buffer<int> copy{sycl::range<1>(256)};
        machine().queue(at).submit([&](sycl::handler &handler) {
            handler.copy(sycl::accessor(other, handler, sycl::read_only),
                         sycl::accessor(copy, handler, sycl::write_only, sycl::no_init));
        });
        CHECK(difference(read(copy), counting(256)) == "");
    }
    CHECK(launched == 1);
    CHECK_THAT(printed, Catch::Contains("does not accept SPIR-V"));
}
