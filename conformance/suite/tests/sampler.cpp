// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Samplers: creation and queries. Kernels that sample: image_kernel.cpp.

#include "checks.hpp"
#include "image.hpp"
#include "native.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

Sampler make_sampler(Fixture &fixture, const pi_sampler_desc &desc) {
    Sampler sampler;
    require_success(piSamplerCreate(fixture.context(), &desc, sampler.out()), "piSamplerCreate");
    require(sampler.get() != nullptr, "piSamplerCreate: succeeded, but returned no sampler");
    return sampler;
}

template <typename T>
T reported(pi_sampler sampler, pi_sampler_info name) {
    return get_info<T>(&piSamplerGetInfo, sampler, name);
}

CONFORMANCE_TEST("sampler",
                 "a sampler of every legal descriptor reports what it was created with") {
    need_images(fixture);
    for (const uint32_t normalized : {0u, 1u}) {
        for (pi_addressing_mode mode = PI_ADDRESSING_NONE; mode <= PI_ADDRESSING_MIRRORED_REPEAT;
             ++mode) {
            for (const pi_filter_mode filter : {PI_FILTER_NEAREST, PI_FILTER_LINEAR}) {
                if (normalized == 0 && mode >= PI_ADDRESSING_REPEAT)
                    continue;
                const Sampler sampler =
                    make_sampler(fixture, sampler_desc(normalized, mode, filter));
                require_equal(reported<pi_context>(sampler, PI_SAMPLER_INFO_CONTEXT),
                              fixture.context(), "PI_SAMPLER_INFO_CONTEXT");
                require_equal(reported<uint32_t>(sampler, PI_SAMPLER_INFO_NORMALIZED_COORDINATES),
                              normalized, "PI_SAMPLER_INFO_NORMALIZED_COORDINATES");
                require_equal(reported<pi_addressing_mode>(sampler, PI_SAMPLER_INFO_ADDRESSING),
                              mode, "PI_SAMPLER_INFO_ADDRESSING");
                require_equal(reported<pi_filter_mode>(sampler, PI_SAMPLER_INFO_FILTER), filter,
                              "PI_SAMPLER_INFO_FILTER");
            }
        }
    }
}

CONFORMANCE_TEST("sampler", "a sampler answers every info name by its type") {
    need_images(fixture);
    const Sampler sampler =
        make_sampler(fixture, sampler_desc(1, PI_ADDRESSING_REPEAT, PI_FILTER_LINEAR));
    check_info(
        "piSamplerGetInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piSamplerGetInfo(sampler, name, size, value, out_size);
        },
        sampler_info_names());
}

CONFORMANCE_TEST("sampler", "a sampler's descriptor obeys the rules of descriptors") {
    need_images(fixture);
    const pi_sampler_desc valid = sampler_desc(1, PI_ADDRESSING_CLAMP, PI_FILTER_NEAREST);
    check_descriptor("piSamplerCreate", valid, 0, [&](const pi_sampler_desc *desc) {
        return try_create<pi_sampler>(
            [&](pi_sampler *out) { return piSamplerCreate(fixture.context(), desc, out); });
    });
    require_error(piSamplerCreate(fixture.context(), &valid, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piSamplerCreate with out_sampler NULL");
}

CONFORMANCE_TEST("sampler", "a sampler with an invalid descriptor is refused") {
    need_images(fixture);
    const auto refused = [&](const std::string &what, pi_result error,
                             const pi_sampler_desc &desc) {
        require_untouched<pi_sampler>(
            "piSamplerCreate with " + what, {error},
            [&](pi_sampler *out) { return piSamplerCreate(fixture.context(), &desc, out); });
    };
    refused("an addressing mode of 5", PI_ERROR_INVALID_ENUMERATION,
            sampler_desc(1, 5, PI_FILTER_NEAREST));
    refused("a filter of 2", PI_ERROR_INVALID_ENUMERATION, sampler_desc(1, PI_ADDRESSING_CLAMP, 2));
    refused("normalized coordinates of 2", PI_ERROR_INVALID_VALUE,
            sampler_desc(2, PI_ADDRESSING_CLAMP, PI_FILTER_NEAREST));
    for (const pi_addressing_mode mode : {PI_ADDRESSING_REPEAT, PI_ADDRESSING_MIRRORED_REPEAT})
        refused("a repetition of coordinates in pixels", PI_ERROR_INVALID_VALUE,
                sampler_desc(0, mode, PI_FILTER_NEAREST));
    const pi_sampler_desc valid = sampler_desc(0, PI_ADDRESSING_NONE, PI_FILTER_NEAREST);
    const Queue queue = fixture.make_queue();
    require_untouched<pi_sampler>(
        "piSamplerCreate in a queue", {PI_ERROR_INVALID_CONTEXT}, [&](pi_sampler *out) {
            return piSamplerCreate(reinterpret_cast<pi_context>(queue.get()), &valid, out);
        });
}

CONFORMANCE_TEST(
    "sampler",
    "a sampler lives until its last reference is released, and keeps its context alive") {
    need_images(fixture);
    Context context = fixture.make_context({fixture.device()});
    const pi_sampler_desc desc = sampler_desc(1, PI_ADDRESSING_REPEAT, PI_FILTER_NEAREST);
    Sampler sampler;
    require_success(piSamplerCreate(context, &desc, sampler.out()), "piSamplerCreate");
    const pi_context made_in = context;
    context.reset();
    const auto count = [&] {
        return info_or(&piSamplerGetInfo, sampler.get(), PI_SAMPLER_INFO_REFERENCE_COUNT, 1u);
    };
    require(count() >= 1, "a sampler's reference count is 0");
    for (int i = 0; i < 3; ++i)
        require_success(piSamplerRetain(sampler), "piSamplerRetain");
    for (int i = 0; i < 3; ++i)
        require_success(piSamplerRelease(sampler), "piSamplerRelease");
    require(count() >= 1, "a sampler's reference count is 0 while it is held");
    require_equal(reported<pi_context>(sampler, PI_SAMPLER_INFO_CONTEXT), made_in,
                  "the context of a sampler");
    require_equal(reported<pi_addressing_mode>(sampler, PI_SAMPLER_INFO_ADDRESSING),
                  pi_addressing_mode{PI_ADDRESSING_REPEAT}, "PI_SAMPLER_INFO_ADDRESSING");
}

CONFORMANCE_TEST("sampler", "samplers are made, retained and released by many threads at once") {
    need_images(fixture);
    const Sampler shared =
        make_sampler(fixture, sampler_desc(0, PI_ADDRESSING_NONE, PI_FILTER_NEAREST));
    fixture.context();
    fixture.run_threads(8, [&](unsigned) {
        for (int i = 0; i < 500; ++i) {
            require_success(piSamplerRetain(shared), "piSamplerRetain");
            make_sampler(fixture, sampler_desc(1, PI_ADDRESSING_CLAMP, PI_FILTER_LINEAR));
            require_success(piSamplerRelease(shared), "piSamplerRelease");
        }
    });
    require_equal(reported<uint32_t>(shared, PI_SAMPLER_INFO_NORMALIZED_COORDINATES), 0u,
                  "a query of a sampler that was retained and released");
}

CONFORMANCE_TEST(
    "sampler",
    "a sampler's native handle makes a second sampler, which reports the same or nothing") {
    need_images(fixture);
    Sampler first =
        make_sampler(fixture, sampler_desc(1, PI_ADDRESSING_MIRRORED_REPEAT, PI_FILTER_LINEAR));
    const pi_native_handle handle =
        check_handle("piSamplerGetNativeHandle",
                     [&](pi_native_handle *out) { return piSamplerGetNativeHandle(first, out); });
    const pi_native_desc desc = native_desc(handle);
    const auto create = [&](const pi_native_desc *one, pi_sampler *out) {
        return piSamplerCreateWithNativeHandle(fixture.context(), one, out);
    };
    const std::string name = "piSamplerCreateWithNativeHandle";
    // Some drivers have no queries of samplers.
    const auto has_queries = [](pi_sampler sampler) {
        uint32_t word = 0;
        const pi_result result = piSamplerGetInfo(sampler, PI_SAMPLER_INFO_NORMALIZED_COORDINATES,
                                                  sizeof word, &word, nullptr);
        if (result != PI_SUCCESS)
            for (const pi_sampler_info word_name :
                 {PI_SAMPLER_INFO_NORMALIZED_COORDINATES, PI_SAMPLER_INFO_ADDRESSING,
                  PI_SAMPLER_INFO_FILTER})
                require_error(piSamplerGetInfo(sampler, word_name, sizeof word, &word, nullptr),
                              PI_ERROR_UNSUPPORTED_FEATURE, "an unknown query of a sampler");
        return result == PI_SUCCESS;
    };
    const auto require_reported = [](pi_sampler sampler, const char *which) {
        require_equal(reported<uint32_t>(sampler, PI_SAMPLER_INFO_NORMALIZED_COORDINATES), 1u,
                      which, ": PI_SAMPLER_INFO_NORMALIZED_COORDINATES");
        require_equal(reported<pi_addressing_mode>(sampler, PI_SAMPLER_INFO_ADDRESSING),
                      pi_addressing_mode{PI_ADDRESSING_MIRRORED_REPEAT}, which,
                      ": PI_SAMPLER_INFO_ADDRESSING");
        require_equal(reported<pi_filter_mode>(sampler, PI_SAMPLER_INFO_FILTER),
                      pi_filter_mode{PI_FILTER_LINEAR}, which, ": PI_SAMPLER_INFO_FILTER");
    };
    {
        const Sampler second = make_around<pi_sampler>(name, desc, create);
        if (has_queries(second))
            require_reported(second, "the sampler made around a native handle");
        require_equal(reported<pi_context>(second, PI_SAMPLER_INFO_CONTEXT), fixture.context(),
                      "the context of a sampler made around a native handle");
        pi_native_handle its = poison<pi_native_handle>();
        require_success(piSamplerGetNativeHandle(second, &its), "its handle");
        require_same_values(its, handle, name);
    }
    require_reported(first, "the first sampler after the second is gone");
    check_refusals<pi_sampler>(name, desc, create, fixture.device());
    const Sampler last = make_around<pi_sampler>(name, desc, create);
    first.reset();
}

} // namespace
} // namespace pi::suite
