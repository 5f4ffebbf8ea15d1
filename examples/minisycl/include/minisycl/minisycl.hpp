// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small SYCL-like runtime on PI: see README.md.
#pragma once

#include <minisycl/buffer.hpp>
#include <minisycl/context.hpp>
#include <minisycl/handler.hpp>
#include <minisycl/kernel.hpp>
#include <minisycl/queue.hpp>
#include <minisycl/range.hpp>
