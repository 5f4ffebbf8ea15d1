# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's tensors on a CUDA device: in place, by address. scripts/gpu runs it on a machine with a
GPU."""

import unittest

import numpy
import pi_runtime as pi

from common import main

try:
    import torch
except ImportError:
    torch = None

WHY = "PyTorch is not installed" if torch is None else "PyTorch sees no CUDA device"
HOST, DEVICE = 0, 1  # places
CUDA = 2  # kDLCUDA


def on_cuda():
    loader = pi.Loader(environment=False)
    return pi.Runtime(pi.Topology(loader.devices("cuda:0:0")))


@unittest.skipUnless(torch is not None and torch.cuda.is_available(), WHY)
class OnCuda(unittest.TestCase):
    def test_a_tensor_of_pytorch_is_used_in_place(self):
        runtime = on_cuda()
        theirs = torch.arange(24, dtype=torch.int32, device="cuda").reshape(4, 6).t()[2:]
        torch.cuda.synchronize()
        tensor = runtime.from_dlpack(theirs, name="theirs")
        self.assertEqual((tensor.shape, tensor.strides, tensor.dtype), ((4, 4), (1, 6), "int32"))
        self.assertEqual((tensor.place, tensor.read_only, tensor.copied), (DEVICE, False, False))
        self.assertEqual(tensor.__dlpack_device__(), (CUDA, 0))
        # Exported again it is the same memory, and no byte has moved.
        again = torch.from_dlpack(tensor)
        self.assertEqual(again.data_ptr(), theirs.data_ptr())
        self.assertEqual(runtime.counters()["bytes_delivered"], 0)
        del again
        # The host has a copy of the elements' bytes; its writes reach the tensor's memory.
        with tensor.acquire(HOST, "read_write") as use:
            array = numpy.asarray(use)
            self.assertEqual(array.tolist(), theirs.cpu().tolist())
            array[3, 1] = -5
            del array
        with tensor.acquire(DEVICE) as use:
            use.wait()
        self.assertEqual(theirs[3, 1].item(), -5)
        self.assertEqual(theirs.sum().item(), sum(i for i in range(24) if i % 6 >= 2) - 11 - 5)

    def test_pytorch_computes_in_memory_of_pi(self):
        runtime = on_cuda()
        tensor = runtime.tensor((64, 32), "float32")
        with tensor.acquire(HOST, "discard_write") as use:
            numpy.asarray(use)[:] = numpy.arange(2048, dtype="f4").reshape(64, 32)
        at_device = pi.Tensor(tensor.buffer, tensor._layout, DEVICE)
        theirs = torch.from_dlpack(at_device)
        self.assertEqual((theirs.device.type, tuple(theirs.shape)), ("cuda", (64, 32)))
        theirs *= 2
        theirs[0] = 7
        torch.cuda.synchronize()
        del theirs
        with tensor.acquire(HOST) as use:
            expected = 2 * numpy.arange(2048, dtype="f4").reshape(64, 32)
            expected[0] = 7
            self.assertTrue((numpy.asarray(use) == expected).all())
        # To the host once and back once, all of it.
        self.assertEqual(runtime.counters()["bytes_delivered"], 2 * tensor.nbytes)

    def test_bytes_that_pytorch_transferred_do_not_move_again(self):
        runtime = on_cuda()
        theirs = torch.full((1 << 20,), 3, dtype=torch.uint8, device="cuda")
        torch.cuda.synchronize()
        tensor = runtime.from_dlpack(theirs)
        for _ in range(3):
            with tensor.acquire(HOST) as use:
                self.assertEqual(numpy.asarray(use)[::4096].tolist(), [3] * 256)
            with tensor.acquire(DEVICE) as use:
                use.wait()
        self.assertEqual(runtime.counters()["bytes_delivered"], 1 << 20)

    def test_memory_of_pi_outlives_it_while_pytorch_has_it(self):
        runtime = on_cuda()
        tensor = runtime.tensor(4096, "int64")
        theirs = torch.from_dlpack(pi.Tensor(tensor.buffer, tensor._layout, DEVICE))
        del runtime, tensor
        theirs.fill_(11)
        self.assertEqual(theirs.sum().item(), 4096 * 11)
        del theirs
        self.assertEqual(torch.ones(8, device="cuda").sum().item(), 8)  # the shared context still works


if __name__ == "__main__":
    main()
