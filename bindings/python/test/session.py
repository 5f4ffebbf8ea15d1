# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import numpy
import pi_runtime as pi

loader = pi.Loader()
for device in loader.devices():
    print(device)

topology = pi.Topology(loader.devices())
print(topology)  # how each place can use the memory of the others

runtime = pi.Runtime(topology, log_up_to_date=True)  # the log has uses without transfers, too
numbers = numpy.zeros(4 << 20, dtype="uint8")
tensor = runtime.from_dlpack(numbers, name="numbers")  # the array's own memory

for place in (1, len(topology) - 1):  # the first device, and the last
    print(tensor.explain(place))
    with tensor.acquire(place, "read_write") as use:
        use.fill(place)  # here your kernels would run

with tensor.acquire(0) as use:  # read back, at the host
    print(numpy.asarray(use)[:4])
print(runtime.log_text())
