# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The end of a program, and forked processes. Each program is a process of its own."""

import os
import pathlib
import subprocess
import sys
import unittest

import common
import pi_runtime as pi

BUILD = pathlib.Path(pi.__file__).resolve().parents[2]
# Settings for each plugin to find a device.
DRIVERS = {
    "host": {},
    "sim": {"PI_SIM_MACHINE": str(common.MACHINES / "workstation.json")},
    "cuda": {"PI_CUDA_LIBRARY": str(BUILD / "drivers" / "libpi_simulated_cuda.so")},
    "level_zero": {"ZE_ENABLE_ALT_DRIVERS": str(BUILD / "drivers" / "libpi_simulated_level_zero.so")},
    "opencl": {"POCL_DEVICES": "pthread pthread", "RUSTICL_ENABLE": ""},
}

BEGIN = """
import sys, threading, time
import pi_runtime as pi

def make(plugin):
    return pi.Runtime(pi.Topology(pi.Loader([plugin], default_search=False).devices(plugin)[:1]))

plugin = sys.argv[1]
runtime = make(plugin)
storage = runtime.storage(1 << 16)
buffer = storage.buffer()
"""

# One thread is in a wait when the interpreter ends, and wants its lock during the end, which waits
# for the write that the other thread holds; other threads start and end.
DAEMONS = BEGIN + """
ready = threading.Barrier(4)

def hold():
    use = buffer.acquire(1, "write", 0, 1 << 12)
    ready.wait()
    threading.Event().wait()

def wait():
    use = buffer.acquire(0, "read", 0, 1 << 12) if held.wait() else None
    ready.wait()
    while True:
        try:
            use.wait(0.05)
        except pi.Timeout:
            pass

def work():
    other = runtime.storage(1 << 16).buffer()
    ready.wait()
    while True:
        with other.acquire(1, "write") as use:
            use.fill(7)

held = threading.Event()
holder = threading.Thread(target=hold, daemon=True)
holder.start()
while ready.n_waiting == 0:
    time.sleep(0.001)
held.set()
threading.Thread(target=wait, daemon=True).start()
threading.Thread(target=work, daemon=True).start()
ready.wait()
"""

# A child's use of inherited objects and of its own loader.
FORKED = BEGIN + """
import multiprocessing, os

def use(runtime):
    with runtime.storage(1 << 12).buffer().acquire(1, "write") as use:
        use.fill(9)
    runtime.finish(10)

def calls():
    for call in (lambda: runtime.finish(), lambda: buffer.acquire(1, "read"), lambda: storage.valid(1),
                 lambda: runtime.storage(1), lambda: held.write(b"x" * 16), lambda: held.release()):
        try:
            call()
        except pi.Error as error:
            assert "forked" in str(error), error
        else:
            raise AssertionError("no error")

def makes():
    loader = pi.Loader([plugin], default_search=False)
    if plugin in ("host", "sim"):
        return use(pi.Runtime(pi.Topology(loader.devices(plugin)[:1])))
    report, = loader.plugins()
    assert report.status == "unavailable" and "forked" in report.reason, report

def leaves():
    sys.exit(0)

use(runtime)
held = buffer.acquire(1, "write", 0, 16)
def work():
    other = runtime.storage(1 << 16).buffer()
    while True:
        with other.acquire(1, "write") as use:
            use.fill(7)
threading.Thread(target=work, daemon=True).start()
context = multiprocessing.get_context("fork")
for target in (calls, makes, leaves):
    child = context.Process(target=target)
    child.start()
    child.join(30)
    if child.exitcode is None:
        child.kill()
    assert child.exitcode == 0, (target.__name__, child.exitcode)
# A child that runs the interpreter's whole end.
child = os.fork()
if child == 0:
    import signal
    signal.alarm(30)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def run(plugin, program):
    """The program's exit code and output."""
    environment = {**os.environ, **DRIVERS[plugin]}
    ran = subprocess.run([sys.executable, "-c", program, plugin], env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    return ran.returncode, ran.stdout


class Ends(unittest.TestCase):
    def each_plugin(self, program):
        for plugin, needs in DRIVERS.items():
            with self.subTest(plugin=plugin):
                if any(value.startswith("/") and not os.path.exists(value) for value in needs.values()):
                    self.skipTest(f"{plugin}: without {needs}")
                code, output = run(plugin, program)
                self.assertEqual(code, 0, output)

    def test_daemon_threads_inside_calls_do_not_abort_the_end(self):
        self.each_plugin(DAEMONS)

    def test_inherited_objects_are_refused_in_a_forked_child_which_ends(self):
        self.each_plugin(FORKED)


if __name__ == "__main__":
    common.main()
