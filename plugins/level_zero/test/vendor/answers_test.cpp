// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the answers of Intel's driver and the simulated one, both loaded by the system's loader,
// to the same calls. Intel's answers without a GPU: it records commands instead of running them, so
// no test is about bytes. A simulated driver that differs from the vendor's would hide errors;
// where it differs on purpose, the query says why.
#include "queries.hpp"

#include "skip.hpp"

#include <catch2/catch.hpp>

#include <memory>

using namespace level_zero_vendor_test;

namespace {

struct Both {
    Both() {
        REQUIRE(zeInit(0) == ZE_RESULT_SUCCESS);
        uint32_t count = 0;
        REQUIRE(zeDriverGet(&count, nullptr) == ZE_RESULT_SUCCESS);
        std::vector<ze_driver_handle_t> handles(count);
        REQUIRE(zeDriverGet(&count, handles.data()) == ZE_RESULT_SUCCESS);
        for (const ze_driver_handle_t handle : handles) {
            auto driver = std::make_unique<Driver>(handle);
            const bool simulated = driver->device_name.find("(simulated)") != std::string::npos;
            (simulated ? ours : vendors) = std::move(driver);
        }
    }
    std::unique_ptr<Driver> vendors, ours;
};

void compare(const std::vector<Query> &queries) {
    const Both both;
    REQUIRE(both.ours != nullptr);
    if (both.vendors == nullptr) {
        return pi_test::skip("Intel's driver is not installed (Debian's intel-opencl-icd)");
    }
    for (const Query &query : queries) {
        const std::string vendors = query.ask(*both.vendors);
        const std::string ours = query.ask(*both.ours);
        INFO(query.text << "\n"
                        << both.vendors->device_name << ": " << vendors << "\n"
                        << both.ours->device_name << ": " << ours);
        if (query.difference == nullptr) {
            CHECK(ours == vendors);
        } else {
            INFO("no difference any more: " << query.difference);
            CHECK(ours != vendors);
        }
    }
}

} // namespace

TEST_CASE("both drivers answer alike about memory") {
    compare(memory_queries());
}

TEST_CASE("both drivers answer alike about events") {
    compare(event_queries());
}

TEST_CASE("both drivers answer alike about queues and lists") {
    compare(list_queries());
}

TEST_CASE("both drivers answer alike about modules and kernels") {
    compare(program_queries());
}

TEST_CASE("both drivers answer alike about images and samplers") {
    compare(image_queries());
}
