// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "text.hpp"

#include <catch2/catch.hpp>

using namespace examples;

TEST_CASE("bytes are given in the unit that suits them") {
    CHECK(bytes_text(0) == "0");
    CHECK(bytes_text(1) == "1 B");
    CHECK(bytes_text(1023) == "1023 B");
    CHECK(bytes_text(1024) == "1.00 KiB");
    CHECK(bytes_text(307200) == "300 KiB");
    CHECK(bytes_text(1228800) == "1.17 MiB");
    CHECK(bytes_text(uint64_t{5} << 50) == "5120 TiB");
}

TEST_CASE("padding and cutting count characters, not bytes") {
    CHECK(length("größe") == 5);
    CHECK(left("größe", 7) == "größe  ");
    CHECK(right("größe", 7) == "  größe");
    CHECK(left("longer", 3) == "longer");
    CHECK(shortened("größer", 4) == "grö…");
    CHECK(shortened("größer", 6) == "größer");
}

TEST_CASE("lines are wrapped at blanks") {
    CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
    CHECK(wrapped("one", 2) == std::vector<std::string>{"one"});
    CHECK(wrapped("", 10).empty());
}

TEST_CASE("JSON strings are escaped") {
    CHECK(json_string("plain") == "\"plain\"");
    CHECK(json_string("a\"b\\c\n\x01") == "\"a\\\"b\\\\c\\u000a\\u0001\"");
}
