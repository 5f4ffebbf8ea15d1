// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program with variables, for the tests of device globals:
//
//   uint table[1024] = {11, 22, 33, 44};         zeros behind
//   uint second_table[1024] = {};
//   constant uint fixed[4] = {5, 6, 7, 8};
//   load_table(global uint *data)                data[i] = table[i]
//   store_table(global const uint *data)         table[i] = data[i]
#pragma once

#include "kernels.hpp"

namespace pi::suite {

/// Size of table and of second_table in bytes.
constexpr uint64_t table_bytes = 4096;

/// The format in which the suite has its program with variables, for this device; skips the test
/// where there is none, or no PI_CAPABILITY_DEVICE_GLOBALS.
pi_program_format variables_format(Fixture &fixture);
bool has_variables(Fixture &fixture);

/// The program, not built and built for the context's devices.
Program create_variables_program(Fixture &fixture, pi_context context);
Program make_variables_program(Fixture &fixture);

pi_device_global_read_desc global_read_desc(pi_program program, const char *name, void *host_ptr,
                                            uint64_t offset, uint64_t size);
pi_device_global_write_desc global_write_desc(pi_program program, const char *name,
                                              const void *host_ptr, uint64_t offset, uint64_t size);

/// With waiting.
void write_global(Fixture &fixture, pi_queue queue, pi_program program, const char *name,
                  const Bytes &bytes, uint64_t offset = 0);
Bytes read_global(Fixture &fixture, pi_queue queue, pi_program program, const char *name,
                  uint64_t size, uint64_t offset = 0);
void require_global(Fixture &fixture, pi_queue queue, pi_program program, const char *name,
                    const Bytes &expected, const std::string &what);

} // namespace pi::suite
