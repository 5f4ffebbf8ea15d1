// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the opencl plugin's tests: a loader with this one plugin, places to work at, and short
// forms of the calls. Every unexpected failure ends the test with the loader's message.
#pragma once

#include "platform_fixture.hpp"

#include <catch2/catch.hpp>

#include <pi/describe/descriptor.hpp>
#include <pi/pi_loader.h>
#include <pi/pi_plugin.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace opencl_test {

inline constexpr uint64_t seconds = 1'000'000'000;
inline constexpr uint64_t patience = 60 * seconds; ///< a longer wait is a hang

/// Fails the test unless the result is `code` and the error's text contains all `parts`.
void refused(pi_result result, pi_result code, const std::vector<std::string> &parts = {});

using pi_test::buffer_argument, pi_test::image_argument, pi_test::local_argument,
    pi_test::sampler_argument, pi_test::value_argument;
using pi_test::buffer_desc, pi_test::fill_desc, pi_test::launch_desc, pi_test::map_desc,
    pi_test::range, pi_test::unmap_desc;
using pi_test::info, pi_test::info_text, pi_test::last_error;
using pi_test::make_buffer, pi_test::make_context, pi_test::make_host_event, pi_test::make_kernel,
    pi_test::make_queue, pi_test::make_unbuilt, pi_test::make_view;
using pi_test::Owned;
using Context = Owned<pi_context>;
using Queue = Owned<pi_queue>;
using Mem = Owned<pi_mem>;
using Event = Owned<pi_event>;
using Program = Owned<pi_program>;
using Kernel = Owned<pi_kernel>;
using Sampler = Owned<pi_sampler>;

using Options = std::vector<pi_loader_option>;

/// A loader with the opencl plugin only. No limit: compilers of kernels may take long.
struct Loader : pi_test::CheckedLoader {
    explicit Loader(const Options &options = {})
        : CheckedLoader(PI_TEST_OPENCL_PLUGIN, options, 0) {}
    pi_plugin plugin() const;
    std::vector<pi_platform> platforms() const;
    std::vector<pi_device> devices() const; ///< of all platforms
};

std::string name_of(pi_device device);
pi_platform platform_of(pi_device device);
std::string platform_name_of(pi_device device);
constexpr uint32_t scope_count = 2; ///< of every device: "global", "host.pinned"
pi_memory_scope scope_of(pi_device device, uint32_t scope = 0);
bool has_usm(pi_device device);

/// A device in its own context, with a queue.
struct Place {
    explicit Place(pi_device on, uint64_t queue_flags = 0)
        : device(on), context(make_context({on})), queue(make_queue(context, on, queue_flags)) {}
    Mem buffer(uint64_t size, uint32_t scope = 0) const {
        return make_buffer(context, device, buffer_desc(size, 0, nullptr, 0, scope));
    }
    pi_device device;
    Context context;
    Queue queue;
};

/// A command's wait list, and whether it blocks.
struct How {
    std::vector<pi_event> waits;
    bool blocking = false;
};
Event write(pi_queue queue, pi_mem mem, const void *host, const std::vector<pi_region> &regions,
            const How &how = {});
Event read(pi_queue queue, pi_mem mem, void *host, const std::vector<pi_region> &regions,
           const How &how = {});
Event copy(pi_queue queue, pi_mem src, pi_mem dst, const std::vector<pi_region> &regions,
           const How &how = {});
Event fill(pi_queue queue, pi_mem mem, const void *pattern, uint64_t pattern_size, uint64_t offset,
           uint64_t size, const How &how = {});
Event map(pi_queue queue, pi_mem mem, uint64_t flags, uint64_t offset, uint64_t size,
          void **out_pointer, const How &how = {});
Event unmap(pi_queue queue, pi_mem mem, void *pointer, const How &how = {});
Event barrier(pi_queue queue, const How &how = {});
Event events_wait(pi_queue queue, const How &how = {});
/// The function is called once on a thread of the plugin.
Event host_function(pi_queue queue, std::function<void()> function, const How &how = {});

/// Waits; the event must succeed.
void wait(pi_event event);
/// Waits; the event must fail with `code`.
void wait_failure(pi_event event, pi_result code, const std::vector<std::string> &parts = {});
/// The whole contents of a buffer, blocking.
std::vector<uint8_t> contents(pi_queue queue, pi_mem mem);
void set_contents(pi_queue queue, pi_mem mem, const std::vector<uint8_t> &bytes);

/// Builds OpenCL C for all devices of the context.
Program build(pi_context context, const std::string &source, const char *options = nullptr);
Event launch(pi_queue queue, pi_kernel kernel, uint64_t global,
             const std::vector<pi_kernel_argument> &arguments, const How &how = {});

class Random {
public:
    uint64_t below(uint64_t limit) {
        return std::uniform_int_distribution<uint64_t>(0, limit - 1)(engine_);
    }
    uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }
    bool coin() { return below(2); }
    std::vector<uint8_t> bytes(size_t count);
    uint32_t seed() const { return seed_; }

private:
    uint32_t seed_ = Catch::rngSeed();
    std::mt19937_64 engine_{seed_};
};

} // namespace opencl_test
