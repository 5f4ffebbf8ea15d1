# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of other libraries' streams and PI's commands, on the simulated CUDA driver. The other
library's work waits until a test lets it begin, so that no clock decides."""

import ctypes
import os
import unittest

import numpy
import pi_runtime as pi

from common import PATIENCE, main, refused, simulated
from test_dlpack import READ_ONLY, HandMade, Versioned, look_into

DRIVER = os.environ.get("PI_TEST_SIMULATED_CUDA", "")
CPU, CUDA = 1, 2  # DLPack's device types
HOST, DEVICE = 0, 1  # places
SIZE = 4096


class Library:
    """Another library on the device: its memory, streams and events."""

    def __init__(self):
        self.cuda = ctypes.CDLL(DRIVER)
        self.c = ctypes.CDLL(None)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.gate = ctypes.create_string_buffer(64)  # a sem_t
        self.c.sem_init(self.gate, 0, 0)
        self.streams = []
        self.memory = []
        self.events = []

    def call(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name}: {code}")

    def end(self):
        self.call("cuCtxSynchronize")
        for event in self.events:
            self.call("cuEventDestroy_v2", event)
        for stream in self.streams:
            self.call("cuStreamDestroy_v2", ctypes.c_void_p(stream))
        for address in self.memory:
            self.call("cuMemFree_v2", ctypes.c_uint64(address))
        self.call("cuCtxSetCurrent", None)
        self.call("cuDevicePrimaryCtxRelease_v2", 0)

    def stream(self):
        stream = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(stream), 1)  # without implicit synchronisation
        self.streams.append(stream.value)
        return stream.value

    def allocate(self):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(SIZE))
        self.memory.append(address.value)
        self.fill(None, address.value, 0)
        self.call("cuCtxSynchronize")
        return address.value

    def fill(self, stream, address, value):
        self.call("cuMemsetD8Async", ctypes.c_uint64(address), ctypes.c_uint8(value), ctypes.c_size_t(SIZE),
                  ctypes.c_void_p(stream))

    def copy(self, stream, to, source):
        self.call("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_size_t(SIZE),
                  ctypes.c_void_p(stream))

    def bytes_of(self, address):
        self.call("cuCtxSynchronize")
        found = ctypes.create_string_buffer(SIZE)
        self.call("cuMemcpyDtoH_v2", found, ctypes.c_uint64(address), ctypes.c_size_t(SIZE))
        return found.raw

    def close(self, stream):
        """Later work in the stream does not begin before open()."""
        self.call("cuLaunchHostFunc", ctypes.c_void_p(stream), self.c.sem_wait, self.gate)

    def open(self):
        self.c.sem_post(self.gate)

    def order(self, first, then):
        """Later work in stream `then` begins after the work in `first`."""
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), 0)
        self.events.append(event)
        self.call("cuEventRecord", event, ctypes.c_void_p(first))
        self.call("cuStreamWaitEvent", ctypes.c_void_p(then), event, 0)


class Producer(HandMade):
    """A tensor of the other library; its bytes become 7 in its stream when the library is
    opened."""

    def __init__(self, library, flags=0):
        super().__init__(numpy.zeros(SIZE, "u1"), device=(CUDA, 0), flags=flags)
        self.library = library
        self.address = library.allocate()
        tensor = self.managed.dl_tensor
        tensor.data, tensor.byte_offset = self.address, 0
        self.stream = library.stream()
        library.close(self.stream)
        library.fill(self.stream, self.address, 7)

    def __dlpack_device__(self):
        return CUDA, 0

    def __dlpack__(self, *, stream=None, **arguments):
        if stream != -1:
            self.library.order(self.stream, stream or 1)
        self.streams = getattr(self, "streams", []) + [stream]
        return super().__dlpack__(**arguments)


@unittest.skipUnless(DRIVER, "the simulated CUDA driver is not built")
class Streams(unittest.TestCase):
    def setUp(self):
        self.loader = pi.Loader(options={"PI_CUDA_LIBRARY": DRIVER}, environment=False)
        self.runtime = pi.Runtime(pi.Topology(self.loader.devices("cuda")))
        self.library = Library()

    def tearDown(self):
        self.library.open()
        self.runtime.finish(PATIENCE)
        self.library.end()

    def at_device(self, tensor):
        return pi.Tensor(tensor.buffer, tensor._layout, DEVICE)

    def check_late(self, tensor, value):
        """The bytes are not ready before the library is opened, and then have this value."""
        with tensor.acquire(DEVICE) as here, tensor.acquire(HOST) as use:
            for each in (here, use):
                with self.assertRaises(pi.Timeout):
                    each.wait(0)
            self.library.open()
            self.assertEqual(use.read(), bytes([value]) * SIZE)
            here.wait(PATIENCE)

    def test_uses_begin_after_the_producers_newest_work(self):
        for flags in (0, READ_ONLY):
            producer = Producer(self.library, flags)
            tensor = self.runtime.from_dlpack(producer)
            self.assertEqual((tensor.place, len(producer.streams)), (DEVICE, 1))
            self.assertGreater(producer.streams[0], 2)  # PI's stream
            self.check_late(tensor, 7)

    def test_uses_begin_after_the_given_stream(self):
        for make in (lambda: 1, lambda: 2, self.library.stream):
            producer = Producer(self.library)
            stream = make()
            tensor = self.runtime.from_dlpack(producer, stream=stream)
            self.assertEqual(producer.streams, [stream])
            self.check_late(tensor, 7)

    def test_a_capsule_is_ready_in_the_default_or_the_given_stream(self):
        for asked, given in ((None, None), (1, None), (1, 1), (2, 2)):
            producer = Producer(self.library)
            self.check_late(self.runtime.from_dlpack(producer.__dlpack__(stream=asked), stream=given), 7)
        producer = Producer(self.library)
        stream = self.library.stream()
        self.check_late(self.runtime.from_dlpack(producer.__dlpack__(stream=stream), stream=stream), 7)

    def test_minus_one_waits_for_nothing(self):
        producer = Producer(self.library)
        tensor = self.runtime.from_dlpack(producer, stream=-1)
        self.assertEqual(producer.streams, [-1])
        with tensor.acquire(DEVICE) as use:
            use.wait(0)

    def test_a_consumers_stream_waits_for_the_bytes(self):
        for make in (lambda: 1, lambda: 2, self.library.stream):
            seen = self.library.allocate()
            tensor = self.runtime.from_dlpack(Producer(self.library))
            stream = make()
            # It returns before the library is opened.
            capsule = tensor.__dlpack__(stream=stream, max_version=(1, 0))
            address = look_into(capsule, Versioned).dl_tensor.data
            self.library.copy(stream, seen, address)
            self.library.open()
            self.assertEqual(self.library.bytes_of(seen), b"\7" * SIZE)
            del capsule

    def test_a_consumers_work_in_a_default_stream_comes_before_the_next_use(self):
        for stream in (None, 1, 2):
            tensor = self.runtime.tensor(SIZE)
            capsule = self.at_device(tensor).__dlpack__(stream=stream, max_version=(1, 0))
            address = look_into(capsule, Versioned).dl_tensor.data
            self.library.close(stream or 1)
            self.library.fill(stream or 1, address, 9)
            del capsule  # it was not consumed
            self.check_late(tensor, 9)

    def test_an_exported_use_ends_after_the_consumers_default_stream(self):
        tensor = self.runtime.tensor(SIZE)
        with tensor.acquire(DEVICE, "discard_write") as use:
            capsule = use.__dlpack__(stream=1, max_version=(1, 0))
            address = look_into(capsule, Versioned).dl_tensor.data
            self.library.close(1)
            self.library.fill(1, address, 5)
            del capsule
        self.check_late(tensor, 5)

    def test_values_that_the_protocol_does_not_have_are_refused(self):
        tensor = self.at_device(self.runtime.tensor(SIZE))
        producer = Producer(self.library)
        for stream, kind in ((0, ValueError), (-2, ValueError), (1 << 80, ValueError), (-(1 << 80), ValueError),
                             ("x", TypeError), (3.5, TypeError), (object(), TypeError)):
            with self.subTest(stream=stream):
                words = f"stream is {stream!r}"
                with refused(self, words, kind):
                    tensor.__dlpack__(stream=stream)
                with refused(self, words, kind):
                    self.runtime.from_dlpack(producer, stream=stream)
                with tensor.acquire(DEVICE, "discard_write") as use:
                    with refused(self, words, kind):
                        use.__dlpack__(stream=stream)
        self.assertFalse(hasattr(producer, "streams"))  # it was not called
        # The driver refuses a handle that is not a stream of the device.
        with refused(self, "12345", code="PI_ERROR_INVALID_NATIVE_HANDLE"):
            tensor.__dlpack__(stream=12345)
        with tensor.acquire(DEVICE, "discard_write"):
            pass  # no acquisition is held


class WithoutStreams(unittest.TestCase):
    def test_host_memory_has_no_streams(self):
        runtime = simulated()
        array = numpy.zeros(8, "u1")
        tensor = runtime.tensor(8)
        for stream in (-1, 0, 1, 2, 77, "x"):
            words = f"stream is {stream!r}: memory of device (1, 0) has no streams"
            with refused(self, words, BufferError):
                runtime.from_dlpack(array, stream=stream)
            with refused(self, words, BufferError):
                runtime.from_dlpack(array.__dlpack__(), stream=stream)
            with refused(self, words, BufferError):
                tensor.__dlpack__(stream=stream)
            with tensor.acquire(HOST, "discard_write") as use:
                with refused(self, words, BufferError):
                    use.__dlpack__(stream=stream)
        self.assertEqual(runtime.from_dlpack(array, stream=None).place, HOST)


if __name__ == "__main__":
    main()
