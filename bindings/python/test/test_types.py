# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The annotations, by mypy; and the stubs against the module, by its stubtest."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import pi_runtime
from common import main

FOLDER = pathlib.Path(pi_runtime.__file__).resolve().parents[1]


def mypy(*arguments, module="mypy"):
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, MYPYPATH=str(FOLDER), MYPY_CACHE_DIR=cache)
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=cache, env=environment, text=True, capture_output=True, timeout=240,
        )


PROGRAM = """
import pi_runtime as pi
runtime = pi.Runtime(pi.Topology(pi.Loader().devices("host"), contexts=2))
tensor = runtime.tensor((2, 3), "float32")
with tensor.acquire(0, "read_write") as use:
    size: int = len(use.read())
explained: float = tensor.explain("host").parts[0].candidates[0].seconds
"""
WRONG = PROGRAM + 'runtime.storage("many")\nuse.shape = ()\ntensor.explane(1)\n'


class Types(unittest.TestCase):
    def setUp(self):
        if mypy("--version").returncode != 0:
            self.skipTest("mypy is not installed")

    def test_the_package_and_programs_are_typed(self):
        with tempfile.TemporaryDirectory() as folder:
            right, wrong = pathlib.Path(folder) / "right.py", pathlib.Path(folder) / "wrong.py"
            right.write_text(PROGRAM)
            wrong.write_text(WRONG)
            result = mypy("--strict", "-p", "pi_runtime")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            result = mypy("--strict", str(right))
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            result = mypy("--strict", str(wrong))
            self.assertEqual(result.stdout.count("error:"), 3, result.stdout)

    def test_the_stubs_name_what_the_module_has(self):
        with tempfile.TemporaryDirectory() as folder:
            # pybind11's classes have a metaclass, and an __init__ with any arguments if Python
            # cannot create one.
            usual = pathlib.Path(folder) / "usual"
            usual.write_text(r"pi_runtime\._core\.[A-Z]\w+" "\n" r"pi_runtime\._core\.\w+\.__init__" "\n")
            result = mypy("pi_runtime._core", "--ignore-missing-stub", "--allowlist", str(usual),
                          module="mypy.stubtest")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    main()
