// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nearly every file of tests includes, for the compiler to read once; a file includes what it uses all the same.
#pragma once

#include "checks.hpp"
#include "fixture.hpp"
#include "registry.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>
