// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sycl/sycl.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

namespace syclex = sycl::ext::oneapi::experimental;

const char *const source = R"(
#include <sycl/sycl.hpp>
namespace syclex = sycl::ext::oneapi::experimental;

extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclex::nd_range_kernel<1>))
void twice(sycl::accessor<int> x) {
    x[sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id()] *= 2;
}
)";

int main() {
    sycl::queue queue;
    auto bundle = syclex::create_kernel_bundle_from_source(queue.get_context(),
                                                           syclex::source_language::sycl, source);
    const sycl::kernel twice = syclex::build(bundle).ext_oneapi_get_kernel("twice");

    std::vector<int> numbers(64);
    std::iota(numbers.begin(), numbers.end(), 0);
    {
        sycl::buffer buffer(numbers);
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(sycl::accessor(buffer, handler));
            handler.parallel_for(sycl::nd_range<1>(64, 8), twice);
        });
    } // waits, and copies to numbers where the device has memory of its own
    std::printf("%d\n", numbers[63]);
    return numbers[63] == 126 ? 0 : 1;
}
