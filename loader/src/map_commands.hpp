// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffer read, write and fill for plugins that have only map and unmap.
#pragma once

#include <pi/pi.h>

namespace pi::loader::defaults {

pi_result PI_CALL piEnqueueMemBufferRead(pi_queue queue, const pi_buffer_read_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) noexcept;
pi_result PI_CALL piEnqueueMemBufferWrite(pi_queue queue, const pi_buffer_write_desc *desc,
                                          uint32_t wait_count, const pi_event *wait_list,
                                          pi_event *out_event) noexcept;
pi_result PI_CALL piEnqueueMemBufferFill(pi_queue queue, const pi_buffer_fill_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) noexcept;

} // namespace pi::loader::defaults
