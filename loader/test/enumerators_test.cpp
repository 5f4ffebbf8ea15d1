// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "enumerators.hpp"

#include <catch2/catch.hpp>

using namespace pi::loader;

TEST_CASE("an enumerator formats as its name and value, an unknown value as its number") {
    CHECK(fmt::format("{}", name_usm_kind(PI_USM_SHARED)) == "PI_USM_SHARED (3)");
    CHECK(fmt::format("{}", name_usm_kind(4)) == "4");
    CHECK(fmt::format("{}", name_memory_kind(PI_MEMORY_KIND_BUFFER)) ==
          "PI_MEMORY_KIND_BUFFER (0)");
    CHECK(fmt::format("{}", PI_ENUMERATOR(PI_FILTER_LINEAR)) == "PI_FILTER_LINEAR (1)");
}

TEST_CASE("every struct type of pi.h has a name") {
    for (pi_struct_type type = PI_TYPE_NONE; type <= PI_TYPE_MEMORY_VERIFICATION_DESC; ++type)
        CHECK(name_struct_type(type).name != nullptr);
}
