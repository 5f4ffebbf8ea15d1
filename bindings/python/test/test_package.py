# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pip builds the package with an installed PI and Debian's packages, without an index. Argument:
the build folder."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from common import SOURCE, main

BUILD = sys.argv.pop(1)

PROGRAM = """
import importlib.metadata, importlib.util, pathlib, sys
import pi_runtime as pi
assert pathlib.Path(pi.__file__).is_relative_to(sys.argv[1]), pi.__file__
for name in ("py.typed", "_core.pyi"):
    assert pathlib.Path(pi.__file__).with_name(name).exists(), name
assert importlib.metadata.version("pi_runtime") == pi.__version__
runtime = pi.Runtime(pi.Topology(pi.Loader(environment=False).devices("host")))
buffer = runtime.storage(64).buffer()
with buffer.acquire(1, "discard_write") as use:
    use.fill(7)
with buffer.acquire(0) as use:
    assert bytes(use) == b"\\7" * 64
print("works")
"""


class Package(unittest.TestCase):
    def run_command(self, *command, **environment):
        result = subprocess.run(
            command, env=dict(os.environ, **environment), text=True, timeout=1500,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout

    def test_pip_installs_what_works_on_an_installed_pi(self):
        for module in ("pip", "setuptools", "wheel"):
            if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode:
                self.skipTest(f"{sys.executable} has no {module}")
        with tempfile.TemporaryDirectory() as folder:
            prefix, site, source = (pathlib.Path(folder) / name for name in ("pi", "site", "source"))
            self.run_command("cmake", "--install", BUILD, "--prefix", str(prefix))
            if not list(prefix.glob("lib*/**/piConfig.cmake")) + list(prefix.glob("lib*/**/pi-config.cmake")):
                self.skipTest("the installed PI has no CMake package")
            # pip builds in the source folder.
            shutil.copytree(SOURCE / "bindings" / "python", source,
                            ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
            self.run_command(
                sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index",
                "--target", str(site), str(source), CMAKE_PREFIX_PATH=str(prefix),
            )
            said = self.run_command(
                sys.executable, "-c", PROGRAM, str(site), PYTHONPATH=str(site), PYTHONDONTWRITEBYTECODE="1"
            )
            self.assertIn("works", said)


if __name__ == "__main__":
    main()
