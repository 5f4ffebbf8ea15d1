// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The precompiled header of the tests; a file still includes what it uses.
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
