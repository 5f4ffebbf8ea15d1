# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import dpctl
import dpctl.memory
import dpctl.program
import numpy

queue = dpctl.SyclQueue()  # on the default device
print(queue.sycl_device.name)

source = "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }"
kernel = dpctl.program.create_program_from_source(queue, source).get_sycl_kernel("twice")

shared = dpctl.memory.MemoryUSMShared(64 * 4, queue=queue)
numbers = numpy.frombuffer(shared, dtype="int32")  # in place
numbers[:] = numpy.arange(64)
queue.submit(kernel, [shared], [64]).wait()
assert (numbers == 2 * numpy.arange(64)).all()

device = dpctl.memory.MemoryUSMDevice(64 * 4, queue=queue)
device.copy_from_device(shared)
assert device.copy_to_host().tobytes() == numbers.tobytes()
print("64 numbers doubled")
