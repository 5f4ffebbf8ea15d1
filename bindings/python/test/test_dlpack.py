# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of NumPy, PyTorch and the tests' own capsules: in place, by address."""

import ctypes
import gc
import pathlib
import subprocess
import sys
import unittest
import unittest.mock

import numpy
import pi_runtime as pi

from common import PATIENCE, main, on_host, refused, simulated

try:
    import torch
except ImportError:  # the package does not need it; scripts/setup installs it
    torch = None


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Managed._fields_ = [("dl_tensor", Tensor), ("manager_ctx", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", Tensor),
    ]


READ_ONLY, IS_COPIED = 1, 2
NAMES = {Managed: b"dltensor", Versioned: b"dltensor_versioned"}

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]


def look_into(capsule, form):
    """The structure in a capsule."""
    return form.from_address(api.PyCapsule_GetPointer(capsule, NAMES[form]))


class HandMade:
    """A producer of byte tensors in a NumPy array; counts its deleter's calls and records its
    arguments."""

    def __init__(self, array, form=Versioned, flags=0, version=(1, 0), device=(1, 0), knows_copy=True):
        self.array = array
        self.deleted = 0
        self.asked = []
        self.knows_copy = knows_copy
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides))
        kinds = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
        self.managed = form()
        tensor = self.managed.dl_tensor
        tensor.data = array.ctypes.data - 16
        tensor.byte_offset = 16
        tensor.device = Device(*device)
        tensor.ndim = array.ndim
        tensor.dtype = DataType(kinds[array.dtype.kind], 8 * array.itemsize, 1)
        tensor.shape = self.shape
        tensor.strides = self.strides
        self.deleter = self.managed.deleter = DELETER(self._delete)
        if form is Versioned:
            self.managed.major, self.managed.minor = version
            self.managed.flags = flags
        self.form = form

    def _delete(self, _):
        self.deleted += 1

    def __dlpack__(self, **arguments):
        self.asked.append(arguments)
        if self.form is Managed and "max_version" in arguments:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        if not self.knows_copy and "copy" in arguments:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'copy'")
        self.name = ctypes.create_string_buffer(NAMES[self.form])
        return api.PyCapsule_New(ctypes.addressof(self.managed), self.name, None)


class FromOthers(unittest.TestCase):
    def test_an_array_of_numpy_is_used_in_place(self):
        runtime = simulated()
        array = numpy.arange(64, dtype="f4").reshape(8, 8)[1:7:2, ::3]
        tensor = runtime.from_dlpack(array, name="array")
        self.assertEqual((tensor.shape, tensor.strides, tensor.dtype), ((3, 3), (16, 3), "float32"))
        self.assertEqual((tensor.read_only, tensor.copied, tensor.place), (False, False, 0))
        with tensor.acquire(0) as use:
            self.assertEqual(use.address, array.ctypes.data)
            self.assertEqual(numpy.asarray(use).tolist(), array.tolist())
        with tensor.acquire(1, "read_write") as use:
            use.fill(0)
        with tensor.acquire(0) as use:
            use.wait()
        self.assertEqual(array.tolist(), [[0] * 3] * 3)

    def test_the_array_is_released_after_the_last_use(self):
        runtime = simulated()
        array = numpy.zeros(4096, "u1")
        references = sys.getrefcount(array)
        tensor = runtime.from_dlpack(array)
        self.assertGreater(sys.getrefcount(array), references)
        tensor.prefetch(1)
        del tensor
        self.assertTrue(runtime.finish(PATIENCE))
        self.assertEqual(sys.getrefcount(array), references)

    @unittest.skipIf(torch is None, "PyTorch is not installed")
    def test_a_tensor_of_pytorch_is_used_in_place(self):
        runtime = simulated()
        theirs = torch.arange(24, dtype=torch.int16).reshape(4, 6).t()[2:]
        tensor = runtime.from_dlpack(theirs)
        self.assertEqual((tensor.shape, tensor.strides, tensor.dtype), ((4, 4), (1, 6), "int16"))
        with tensor.acquire(0, "read_write") as use:
            self.assertEqual(use.address, theirs.data_ptr())
            numpy.asarray(use)[0, 0] = -1
        self.assertEqual(theirs[0, 0].item(), -1)
        half = runtime.from_dlpack(torch.ones(3, dtype=torch.bfloat16))
        self.assertEqual(half.dtype, "bfloat16")

    def test_flags_of_a_versioned_capsule_are_reported(self):
        runtime = simulated()
        for flags in (0, READ_ONLY, IS_COPIED, READ_ONLY | IS_COPIED):
            producer = HandMade(numpy.arange(64, dtype="u1"), flags=flags, version=(1, 3))
            tensor = runtime.from_dlpack(producer, name="made")
            self.assertEqual(producer.asked, [{"max_version": (1, 0)}])
            self.assertEqual(tensor.read_only, bool(flags & READ_ONLY))
            self.assertEqual(tensor.copied, bool(flags & IS_COPIED))
            with tensor.acquire(0) as use:
                self.assertEqual(use.address, producer.array.ctypes.data)
            if tensor.read_only:
                for place in (0, 1):
                    with refused(self, "'made' is read-only"):
                        tensor.acquire(place, "write")
            self.assertEqual(producer.deleted, 0)
            del tensor, use
            self.assertTrue(runtime.finish(PATIENCE))
            self.assertEqual(producer.deleted, 1)

    def test_an_older_producer_is_called_again_without_a_version(self):
        runtime = simulated()
        producer = HandMade(numpy.arange(8, dtype="i8"), form=Managed)
        tensor = runtime.from_dlpack(producer)
        self.assertEqual(producer.asked, [{"max_version": (1, 0)}, {}])
        self.assertFalse(tensor.read_only)
        del tensor
        self.assertEqual(producer.deleted, 1)

    def test_the_producer_decides_about_copies(self):
        runtime = simulated()
        producer = HandMade(numpy.zeros(8, "u1"), flags=IS_COPIED)
        self.assertTrue(runtime.from_dlpack(producer, copy=True).copied)
        self.assertEqual(producer.asked, [{"max_version": (1, 0), "copy": True}])
        self.assertEqual(producer.deleted, 1)
        with refused(self, "the producer made a copy", BufferError):
            runtime.from_dlpack(producer, copy=False)
        self.assertEqual(producer.deleted, 2)
        with refused(self, "copy: True", BufferError):
            runtime.from_dlpack(HandMade(numpy.zeros(8, "u1"), knows_copy=False), copy=True)

    def test_a_refused_tensor_stays_the_producers(self):
        runtime = simulated()
        for arguments, words in (
            ({"version": (2, 0)}, "of version 2.0"),
            ({"device": (2, 0)}, "no place of the topology is device (2, 0)"),
            ({"device": (8, 0)}, "device (8, 0) cannot be used in place"),
        ):
            producer = HandMade(numpy.zeros(8, "u1"), **arguments)
            with refused(self, words):
                runtime.from_dlpack(producer)
            self.assertEqual(producer.deleted, 0)
        with refused(self, "shape[0] is 0", code="PI_ERROR_INVALID_SIZE"):
            runtime.from_dlpack(numpy.zeros(0, "u1"))
        with refused(self, "from_dlpack: int", TypeError):
            runtime.from_dlpack(3)
        capsule = HandMade(numpy.zeros(8, "u1")).__dlpack__()
        with refused(self, "not at place 1"):
            runtime.from_dlpack(capsule, place=1)
        tensor = runtime.from_dlpack(capsule)
        self.assertEqual(tensor.shape, (8,))
        with refused(self, "the capsule's name is 'used_dltensor_versioned'"):
            runtime.from_dlpack(capsule)


class ToOthers(unittest.TestCase):
    def test_numpy_and_pytorch_import_a_use_in_place(self):
        tensor = on_host().tensor((2, 3), "int32")
        with tensor.acquire(0, "discard_write") as use:
            use.write(numpy.arange(6, dtype="i4"))
            address = use.address
            self.assertEqual(use.__dlpack_device__(), (1, 0))
            array = numpy.from_dlpack(use)
            self.assertEqual((array.ctypes.data, array.tolist()), (address, [[0, 1, 2], [3, 4, 5]]))
            self.assertEqual(use.views, 1)
            with refused(self, "release: 1 ", BufferError):
                use.release()
            del array
            if torch is not None:
                theirs = torch.from_dlpack(use)
                self.assertEqual(theirs.data_ptr(), address)
                theirs[1, 2] = 50
                del theirs
            self.assertEqual(use.views, 0)
        if torch is not None:
            with tensor.acquire(1) as use:
                self.assertEqual(numpy.frombuffer(use.read(), "i4")[5], 50)

    @unittest.skipIf(torch is None, "PyTorch is not installed")
    def test_an_exported_tensor_holds_its_source(self):
        runtime = on_host()
        tensor = runtime.tensor(1024, "float64")
        theirs = torch.from_dlpack(tensor)
        theirs[:] = 2.5
        with refused(self, "still holds", code="PI_ERROR_INVALID_OPERATION"):
            tensor.acquire(1)
        del theirs
        with tensor.acquire(1) as use:
            self.assertTrue((numpy.frombuffer(use.read(), "f8") == 2.5).all())
        # Exported again it is the same memory, and no byte has moved.
        theirs = torch.from_dlpack(tensor)
        again = runtime.from_dlpack(theirs)
        with again.acquire(0) as use:
            self.assertEqual(use.address, theirs.data_ptr())

    @unittest.skipIf(torch is None, "PyTorch is not installed")
    def test_memory_outlives_all_of_pi_while_another_library_has_it(self):
        theirs = torch.from_dlpack(on_host().tensor(16, "uint8"))
        gc.collect()
        theirs[:] = 3
        self.assertEqual(theirs.sum().item(), 48)

    def test_the_last_owner_of_a_runtime_may_be_a_copy_in_flight_in_it(self):
        for _ in range(20):
            runtime = simulated()
            array = runtime.tensor(1 << 16)
            tensor = runtime.from_dlpack(array)
            tensor.prefetch(1)
            del runtime, array, tensor  # the rest is released in a callback
            gc.collect()

    def test_a_versioned_capsule_says_what_a_consumer_may_do(self):
        runtime = on_host()
        tensor = runtime.tensor((4, 2), "complex64")
        with tensor.acquire(0, "discard_write") as use:
            use.fill(1)
        for access, flags in (("read", READ_ONLY), ("read_write", 0)):
            with tensor.acquire(0, access) as use:
                capsule = use.__dlpack__(max_version=(1, 9))
                managed = look_into(capsule, Versioned)
                self.assertEqual((managed.major, managed.minor, managed.flags), (1, 0, flags))
                inner = managed.dl_tensor
                self.assertEqual(inner.data + inner.byte_offset, use.address)
                self.assertEqual((inner.shape[0], inner.strides[0], inner.strides[1]), (4, 2, 1))
                self.assertEqual((inner.dtype.code, inner.dtype.bits, inner.dtype.lanes), (5, 64, 1))
                self.assertEqual(use.views, 1)
                del capsule, managed, inner  # it was not consumed
                self.assertEqual(use.views, 0)

    def test_a_use_for_reading_has_no_old_capsule(self):
        tensor = on_host().tensor(4)
        with tensor.acquire(0, "read") as use:
            for version in (None, (0, 8)):
                with refused(self, "acquired for reading", BufferError):
                    use.__dlpack__(max_version=version)
            self.assertEqual(use.views, 0)

    def test_a_copy_is_flagged_and_separate(self):
        tensor = on_host().tensor(4)
        with tensor.acquire(0, "discard_write") as use:
            use.fill(6)
        for source in (tensor.acquire(0), tensor):
            capsule = source.__dlpack__(max_version=(1, 0), copy=True)
            managed = look_into(capsule, Versioned)
            self.assertEqual(managed.flags, IS_COPIED)
            self.assertEqual(ctypes.string_at(managed.dl_tensor.data, 4), b"\6" * 4)
            if source is not tensor:
                self.assertNotEqual(managed.dl_tensor.data, source.address)
                source.release()
            del capsule, managed
            with tensor.acquire(0, "discard_write") as use:  # no acquisition is held
                use.fill(6)

    def test_a_consumer_names_its_device(self):
        runtime = simulated()
        tensor = runtime.tensor(64)
        with tensor.acquire(1, "discard_write") as use:
            use.fill(8)
            with refused(self, "has no address or handle for others"):
                use.__dlpack__(max_version=(1, 0))
            with refused(self, "has no address or handle"):
                use.__dlpack_device__()
        self.assertEqual(tensor.__dlpack_device__(), (1, 0))
        with refused(self, "(2, 0)", BufferError):
            tensor.__dlpack__(dl_device=(2, 0))
        with refused(self, "stream must be None", BufferError):
            tensor.__dlpack__(stream=1)
        at_device = pi.Tensor(tensor.buffer, tensor._layout, 1)
        with refused(self, "copy: False", BufferError):
            with unittest.mock.patch.object(pi.Tensor, "__dlpack_device__", lambda self: (99, 0)):
                at_device.__dlpack__(dl_device=(1, 0), copy=False)
        with tensor.acquire(0, "read_write") as use:
            with refused(self, "acquire them at a place of that device", BufferError):
                use.__dlpack__(dl_device=(2, 0))
        capsule = tensor.__dlpack__(max_version=(1, 0), dl_device=(1, 0))
        self.assertEqual(ctypes.string_at(look_into(capsule, Versioned).dl_tensor.data, 4), b"\10" * 4)


class Interpreters(unittest.TestCase):
    def test_a_release_on_a_plugin_thread_works_with_a_sub_interpreter(self):
        # In a process of its own: an error here ends the process.
        program = (
            "import _xxsubinterpreters as interpreters, numpy, sys, pi_runtime as pi\n"
            "sys.path.insert(0, sys.argv[1])\n"
            "from common import simulated\n"
            "interpreters.create()\n"
            "for _ in range(20):\n"
            "    given = simulated().from_dlpack(numpy.arange(4096.0))\n"
            "    given.acquire(1).release()\n"
            "    del given\n"
            "print('ended')\n"
        )
        folder = str(pathlib.Path(__file__).resolve().parent)
        ran = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True,
                             timeout=PATIENCE * 4, check=False)
        if "No module named '_xxsubinterpreters'" in ran.stderr:
            self.skipTest("this Python has no module _xxsubinterpreters")
        self.assertEqual((ran.returncode, ran.stdout.strip()), (0, "ended"), ran.stderr)


if __name__ == "__main__":
    main()
