// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nearly every unit test includes, for the compiler to read once; a test includes what it uses
// all the same.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
