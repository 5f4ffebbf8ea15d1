# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import gc
import json
import os
import pathlib
import re
import tempfile
import threading
import time
import unittest
import weakref

import numpy
import pi_runtime as pi

from common import PATIENCE, SOURCE, main, on_host, refused, simulated


class Devices(unittest.TestCase):
    def test_the_package_has_the_version_of_the_project(self):
        version = re.search(r"^ *VERSION ([0-9.]+)$", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
        self.assertEqual(pi.__version__, version)

    def test_a_loader_lists_plugins_and_devices(self):
        with pi.Loader(environment=False) as loader:
            loaded = {report.name: report for report in loader.plugins()}
            self.assertEqual(loaded["host"].status, "loaded")
            device = loader.devices("host")[0]
            self.assertEqual(device.selector, "host:0:0")
            self.assertEqual(device.type, "cpu")
            self.assertGreater(device.memory_bytes, 1 << 20)
            self.assertIn("host:0:0", repr(device))

    @unittest.skipUnless("PI_TEST_TEMPLATE_PLUGIN" in os.environ, "the template of a plugin is not built")
    def test_a_device_without_a_memory_size_is_shown(self):
        loader = pi.Loader([os.environ["PI_TEST_TEMPLATE_PLUGIN"]], environment=False, default_search=False)
        device = loader.devices()[0]
        self.assertIsNone(device.memory_bytes)
        self.assertRegex(repr(device), r"^<Device template:0:0: [^,]+, [a-z]+>$")

    def test_objects_have_a_readable_repr(self):
        runtime = on_host()
        storage = runtime.storage(64)
        self.assertEqual(repr(runtime), "<Runtime on <Topology of host, host:0:0>>")
        self.assertEqual(repr(storage.buffer(16, 8)), "<Buffer [16, 24) of <Storage of 64 bytes>>")
        loader = pi.Loader(environment=False)
        self.assertIn("host", repr(loader))
        loader.close()
        self.assertEqual(repr(loader), "<Loader, closed>")

    def test_a_file_that_is_not_a_plugin_is_reported_with_the_reason(self):
        loader = pi.Loader(plugins=["/no/such/file.so"], environment=False)
        report = next(each for each in loader.plugins() if "file.so" in each.path + each.name)
        self.assertEqual(report.status, "refused")
        self.assertTrue(report.reason)

    def test_a_text_with_a_nul_character_is_refused_and_not_cut(self):
        for arguments in ({"plugins": ["host\0x"]}, {"directories": ["/usr\0x"]}, {"layers": ["trace\0x"]},
                          {"options": {"PI_LOG": "error\0x"}}, {"options": {"PI_LOG\0x": "error"}}):
            with refused(self, "NUL character", ValueError):
                pi.Loader(environment=False, **arguments)
        loader = pi.Loader(plugins=["host"], environment=False)
        with refused(self, "NUL character", ValueError):
            loader.devices("host\0x")

    def test_the_matrix_has_the_connection_of_each_pair(self):
        topology = simulated("workstation").topology
        self.assertEqual(len(topology), 3)
        matrix = topology.matrix()
        self.assertEqual(str(matrix[1][1]), "unified")
        self.assertIn(topology.connection(1, 2).kind, ("none", "migratable"))
        self.assertTrue(topology.connection(1, 2).reason)
        self.assertIn(topology.places[1].name, str(topology))
        self.assertEqual(topology.place("host").index, 0)
        self.assertEqual(topology.place(topology.places[2]).index, 2)
        self.assertIs(topology.same_device(1, 2), False)
        self.assertIs(topology.same_device(1, 1), True)
        with refused(self, "0 'host', 1 ", LookupError):
            topology.place(3)
        twice = pi.Topology(pi.Loader(environment=False).devices("host"), contexts=2)
        self.assertEqual([place.name for place in twice], ["host", "host:0:0", "host:0:0 (2)"])
        self.assertIs(twice.same_device(1, 2), True)

    def test_a_topology_is_saved_as_a_machine_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "machine.json"
            simulated().topology.save(path)
            self.assertEqual(len(json.loads(path.read_text())["devices"]), 2)


class Buffers(unittest.TestCase):
    def test_bytes_written_at_one_device_are_read_at_another(self):
        self.check_two_devices(simulated())
        self.check_two_devices(simulated(staging_limit=1 << 16, bounce_limit=0, pool_limit=0, copy_after_repeated_use=False))

    def check_two_devices(self, runtime):
        buffer = runtime.storage(1 << 16, "numbers").buffer()
        with buffer.acquire(1, "discard_write") as use:
            use.fill(7)
        with buffer.acquire(2) as use:
            self.assertEqual(use.read(), b"\7" * (1 << 16))
        with buffer.acquire(2, "write", 16, 4) as use:
            use.write(b"\1\2\3\4")
            self.assertEqual(use.range, (16, 20))
            self.assertTrue(use.writes)
        with buffer.acquire("host") as use, memoryview(use) as view:
            self.assertEqual(bytes(view[14:22]), b"\7\7\1\2\3\4\7\7")
            self.assertTrue(view.readonly)
        self.assertTrue(runtime.finish(PATIENCE))
        counters = runtime.counters()
        self.assertEqual(counters["bytes_delivered"], counters["bytes_required"])

    def test_only_stale_bytes_move_and_the_log_says_how(self):
        runtime = simulated(log_up_to_date=True)
        buffer = runtime.storage(1 << 16, "numbers").buffer()
        with buffer.acquire(0, "discard_write") as use:
            use.fill(1)
        explanation = buffer.explain(1)
        self.assertEqual(explanation.bytes_stale, 1 << 16)
        best = explanation.parts[0].candidates[0]
        self.assertTrue(best.possible)
        self.assertEqual(best.source, 0)
        self.assertGreater(best.seconds, 0)
        self.assertTrue(best.reason)
        self.assertIn("numbers", str(explanation) + "numbers")
        buffer.acquire(1).release()
        self.assertTrue(runtime.finish(PATIENCE))
        moved = [line for line in runtime.log() if line.bytes]
        self.assertEqual([(line.source, line.destination, line.bytes) for line in moved], [(0, 1, 1 << 16)])
        self.assertEqual(moved[0].storage, "numbers")
        self.assertEqual(moved[0].route, best.route)
        self.assertLessEqual(moved[0].begin, moved[0].end)
        self.assertIn("numbers", runtime.log_text())
        self.assertEqual(buffer.explain(1).bytes_stale, 0)
        buffer.acquire(1).release()
        self.assertEqual(runtime.log()[-1].bytes, 0)
        self.assertEqual(runtime.counters()["bytes_delivered"], 1 << 16)
        runtime.clear_log()
        self.assertEqual(runtime.log(), [])

    def test_costs_of_a_file_decide_what_is_predicted(self):
        topology = simulated().topology
        host, *devices = (place.key for place in topology.places)
        sizes = (64 << 10, 4 << 20, (1 << 64) - 1)
        slow = [{"from": host, "to": device, "costs": [{"up_to": size, "latency": 100.0, "bandwidth": 1e9} for size in sizes]}
                for device in devices]
        table = {"format": "pi costs", "version": 1, "callback_latency": 0.0, "places": [place.key for place in topology.places], "links": slow}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "costs.json"
            file.write_text(json.dumps(table))
            buffer = pi.Runtime(topology, costs=file).storage(1 << 16).buffer()
            with buffer.acquire(0, "discard_write") as use:
                use.fill(1)
            self.assertGreater(buffer.explain(1).parts[0].candidates[0].seconds, 99)
            file.write_text(json.dumps({**table, "places": []}))
            for wrong in (file, pathlib.Path(folder) / "none.json"):
                with refused(self, str(wrong), code="PI_ERROR_INVALID_VALUE"):
                    pi.Runtime(topology, costs=str(wrong))

    def test_a_broadcast_moves_bytes_to_all_places(self):
        runtime = simulated("switch-8gpu")
        storage = runtime.storage(1 << 20)
        with storage.buffer().acquire(0, "discard_write") as use:
            use.fill(3)
        places = [place for place in runtime.topology if place.index != 0]
        storage.buffer().broadcast(places)
        self.assertTrue(storage.finish(PATIENCE))
        for place in places:
            self.assertEqual(storage.valid(place), [(0, 1 << 20)])
        self.assertGreater(runtime.pool(1)["bytes_in_use"], 0)

    def test_memory_of_a_python_object_is_used_in_place(self):
        runtime = simulated()
        array = numpy.arange(4096, dtype="u1")
        storage = runtime.use_memory(array)
        with storage.buffer().acquire(0, "read") as use:
            self.assertEqual(use.address, array.ctypes.data)
        with storage.buffer().acquire(1, "read_write") as use:
            self.assertEqual(use.read(), array.tobytes())
            use.fill(9)
        self.assertEqual(array[1], 1)  # nothing is written back yet
        storage.buffer().acquire(0).wait()
        self.assertTrue((array == 9).all())

    def test_read_only_memory_makes_a_read_only_storage(self):
        runtime = simulated()
        buffer = runtime.use_memory(bytes(range(256)), "constant").buffer()
        with buffer.acquire(1) as use:
            self.assertEqual(use.read(), bytes(range(256)))
        for place in (0, 1):
            with refused(self, "'constant' is read-only", code="PI_ERROR_INVALID_OPERATION"):
                buffer.acquire(place, "read_write")

    def test_adopted_memory_lives_as_long_as_its_storage_and_no_longer(self):
        class Memory(numpy.ndarray):
            pass

        runtime = on_host()
        array = numpy.zeros(4096, "u1").view(Memory)
        gone = weakref.ref(array)
        storage = runtime.use_memory(array)
        buffer = storage.buffer()
        del array, storage
        gc.collect()
        self.assertIsNotNone(gone())
        with buffer.acquire(1) as use:
            use.wait()
        del use, buffer
        self.assertTrue(runtime.finish(PATIENCE))
        gc.collect()
        self.assertIsNone(gone())

    def test_views_have_the_type_and_shape_of_a_tensor(self):
        runtime = on_host()
        tensor = runtime.tensor((3, 4), "float32")
        with tensor.acquire(0, "discard_write") as use:
            numpy.asarray(use)[:] = numpy.arange(12).reshape(3, 4)
        with tensor.acquire(0) as use:
            array = numpy.asarray(use)
            self.assertEqual((array.dtype, array.shape, array[2, 3]), (numpy.dtype("f4"), (3, 4), 11))
            self.assertFalse(array.flags.writeable)
            self.assertEqual(array.ctypes.data, use.address)
            del array
        every_second = tensor.buffer.tensor((3, 2), "f4", strides=(4, 2), offset=4)
        with every_second.acquire(0) as use:
            self.assertEqual(numpy.asarray(use).tolist(), [[1, 3], [5, 7], [9, 11]])
        backwards = tensor.buffer.tensor(12, "f4", strides=(-1,), offset=44)
        with backwards.acquire(0) as use:
            self.assertEqual(numpy.asarray(use).tolist(), list(range(11, -1, -1)))
        with refused(self, "bytes [0, 52)", ValueError):
            tensor.buffer.tensor(13, "f4")
        for dtype in ("bool", "int8", "uint64", "float16", "float64", "complex64", "complex128"):
            with tensor.buffer.tensor(2, dtype).acquire(0) as use:
                self.assertEqual(numpy.asarray(use).dtype, numpy.dtype(dtype))
        with tensor.buffer.tensor(2, "bfloat16").acquire(0) as use:
            with refused(self, "take them by DLPack", BufferError):
                memoryview(use)

    def test_a_buffer_that_must_be_contiguous_is_or_is_refused(self):
        c, fortran, any_order, strides = 0x38, 0x58, 0x98, 0x18  # PyBUF_..._CONTIGUOUS, PyBUF_STRIDES
        buffer = on_host().tensor((4, 6), "f4").buffer

        def given(layout, flags):
            view = ctypes.create_string_buffer(200)  # a Py_buffer
            with layout.acquire(0, "discard_write") as use:
                try:
                    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(use), view, flags)
                except BufferError as error:
                    self.assertIn("asked for as contiguous", str(error))
                    return False
                ctypes.pythonapi.PyBuffer_Release(view)
                return True

        rows = buffer.tensor((4, 6), "f4")
        columns = buffer.tensor((4, 6), "f4", strides=(1, 4))
        apart = buffer.tensor((2, 3), "f4", strides=(12, 2))
        line = buffer.tensor((1, 6), "f4", strides=(50, 1))  # the stride of an axis of 1 has no effect
        self.assertEqual([given(rows, f) for f in (c, fortran, any_order)], [True, False, True])
        self.assertEqual([given(columns, f) for f in (c, fortran, any_order)], [False, True, True])
        self.assertEqual([given(apart, f) for f in (c, fortran, any_order)], [False] * 3)
        self.assertEqual([given(line, f) for f in (c, fortran, any_order)], [True] * 3)
        self.assertTrue(given(apart, strides))

    def test_other_threads_run_while_one_waits(self):
        runtime = on_host()
        buffer = runtime.storage(4096).buffer()
        held = buffer.acquire(0, "discard_write")
        seen = []

        def reader():
            use = buffer.acquire(1)
            seen.append("waits")
            use.wait(PATIENCE)
            seen.append(use.read() == b"\5" * 4096)
            use.release()

        thread = threading.Thread(target=reader)
        thread.start()
        while not seen:
            time.sleep(0.001)
        held.fill(5)
        self.assertEqual(seen, ["waits"])
        held.release()
        thread.join(PATIENCE)
        self.assertEqual(seen, ["waits", True])

    def test_many_threads_use_one_runtime(self):
        runtime = simulated()

        def work(number):
            for _ in range(20):
                tensor = runtime.tensor(256, "uint8")
                with tensor.acquire(1, "discard_write") as use:
                    use.fill(number)
                with tensor.acquire(0) as use:
                    right.append(bytes(use) == bytes([number]) * 256)

        right = []
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(right, [True] * 80)


class Trace(unittest.TestCase):
    def test_the_layer_trace_writes_the_transfers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            loader = pi.Loader(layers=["trace"], options={"PI_TRACE_FILE": str(path)}, environment=False)
            with pi.Runtime(pi.Topology(loader.devices("host"))) as runtime:
                buffer = runtime.storage(4096, "traced").buffer()
                with buffer.acquire(1, "discard_write") as use:
                    use.fill(1)
            del runtime, buffer, use, loader
            gc.collect()
            self.assertIn("piEnqueueMemBufferFill", path.read_text())


class Misuse(unittest.TestCase):
    """A Python exception with PI's text, never a crash."""

    def test_a_released_acquisition_cannot_be_used(self):
        runtime = on_host()
        for place in (0, 1):
            use = runtime.storage(64).buffer().acquire(place, "discard_write")
            use.release()
            self.assertFalse(use.held)
            for call in (use.release, use.read, lambda: use.write(bytes(64)), lambda: use.fill(0)):
                with refused(self, "released", code="PI_ERROR_INVALID_OPERATION"):
                    call()
            for call in (lambda: memoryview(use), use.__dlpack__):
                with self.assertRaises((BufferError, pi.Error)):
                    call()
            use.abandon()
            use.wait()

    def test_objects_of_a_closed_loader_still_work(self):
        loader = pi.Loader(environment=False)
        device = loader.devices("host")[0]
        loader.close()
        self.assertTrue(loader.closed)
        for call in (loader.devices, loader.plugins):
            with refused(self, "the loader is closed", code="PI_ERROR_INVALID_OPERATION"):
                call()
        loader.close()
        runtime = pi.Runtime(pi.Topology([device]))
        with runtime.storage(64).buffer().acquire(1, "discard_write") as use:
            use.fill(1)

    def test_objects_may_be_dropped_in_any_order(self):
        use = on_host().storage(64).buffer().acquire(1, "discard_write")
        gc.collect()
        use.fill(3)
        self.assertEqual(use.read(), b"\3" * 64)
        view = None
        with on_host().storage(64).buffer().acquire(0, "discard_write") as host:
            view = memoryview(host)
            view[:] = b"\4" * 64
            with refused(self, "release: 1 ", BufferError):
                host.release()
            del host
            self.assertEqual(bytes(view), b"\4" * 64)
            view.release()

    def test_views_keep_an_acquisition_from_ending(self):
        buffer = on_host().storage(64).buffer()
        use = buffer.acquire(0, "discard_write")
        array = numpy.asarray(use)
        self.assertEqual(use.views, 1)
        with refused(self, "release: 1 ", BufferError):
            use.release()
        self.assertTrue(use.held)
        del array
        use.release()

    def test_a_block_that_raises_abandons_what_it_wrote(self):
        runtime = simulated()
        storage = runtime.storage(64)
        with storage.buffer().acquire(1, "discard_write") as use:
            use.fill(1)
        with self.assertRaises(ZeroDivisionError):
            with storage.buffer().acquire(2, "read_write") as use:
                use.fill(2)
                raise ZeroDivisionError
        self.assertFalse(use.held)
        with storage.buffer().acquire(0) as use:
            self.assertEqual(use.read(), b"\1" * 64)

    def test_wrong_arguments_are_named(self):
        runtime = on_host()
        buffer = runtime.storage(64).buffer()
        with refused(self, "size is 0", code="PI_ERROR_INVALID_SIZE"):
            runtime.storage(0)
        with refused(self, "go past the end, 64", code="PI_ERROR_INVALID_SIZE"):
            buffer.acquire(0, "read", 32, 33)
        with refused(self, "offset -1", ValueError):
            buffer.acquire(0, "read", -1)
        with refused(self, "access is 'update'; read, write", code="PI_ERROR_INVALID_VALUE"):
            buffer.acquire(0, "update")
        with refused(self, "no place 9", LookupError):
            buffer.acquire(9)
        with refused(self, "timeout is -1", code="PI_ERROR_INVALID_VALUE"):
            runtime.finish(-1)
        with refused(self, "'number'", ValueError):
            runtime.tensor(4, "number")
        with refused(self, "names: 1", ValueError):
            pi.Topology([], ["a"])
        with refused(self, "still holds", code="PI_ERROR_INVALID_OPERATION"):
            with buffer.acquire(0, "read_write"):
                buffer.acquire(1)
        use = buffer.acquire(0)
        with refused(self, "acquired for reading"):
            use.fill(0)
        with refused(self, "64", code="PI_ERROR_INVALID_OPERATION"):
            buffer.acquire(1, "discard_write")
        use.release()
        use = buffer.acquire(1, "discard_write")
        with refused(self, "3 bytes are given; the acquired range has 64", code="PI_ERROR_INVALID_SIZE"):
            use.write(b"abc")
        with refused(self, "value is 256"):
            use.fill(256)
        with refused(self, "pointer() of an acquisition at a device"):
            use.address

    def test_a_wait_that_is_too_long_is_a_timeout(self):
        buffer = on_host().storage(64).buffer()
        with buffer.acquire(0, "discard_write"):
            other = []

            def waits():
                use = buffer.acquire(1)
                try:
                    use.wait(0.01)
                except TimeoutError as error:
                    other.append(error)
                use.release()

            thread = threading.Thread(target=waits)
            thread.start()
            thread.join(PATIENCE)
            self.assertIsInstance(other[0], pi.Timeout)
            self.assertEqual(other[0].name, "PI_ERROR_TIMEOUT")


if __name__ == "__main__":
    main()
