# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CMake builds the module _core, with an installed PI or with the tree of this folder."""

import os
import pathlib
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent


class CMakeBuild(build_ext):
    def build_extension(self, extension):
        destination = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve().parent
        build = pathlib.Path(self.build_temp).resolve()
        build.mkdir(parents=True, exist_ok=True)
        jobs = str(os.cpu_count() or 1)
        subprocess.check_call(
            ["cmake", "-S", str(HERE), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release",
             f"-DPI_PYTHON={sys.executable}"]
        )
        subprocess.check_call(["cmake", "--build", str(build), "--parallel", jobs])
        subprocess.check_call(
            ["cmake", "--install", str(build), "--component", "python",
             "--prefix", str(destination.parent)]
        )


setup(ext_modules=[Extension("pi_runtime._core", [])], cmdclass={"build_ext": CMakeBuild})
