# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the tests. They do not depend on environment variables, and every wait has a limit."""

import contextlib
import pathlib
import sys
import unittest

import pi_runtime as pi

SOURCE = pathlib.Path(__file__).resolve().parents[3]
MACHINES = SOURCE / "plugins" / "sim" / "machines"
PATIENCE = 30.0


def simulated(machine="workstation", **arguments):
    """A runtime on a machine of the plugin sim: place 0 is the host, places 1, 2, ... its
    devices."""
    file = str(MACHINES / f"{machine}.json")
    loader = pi.Loader(options={"PI_SIM_MACHINE": file}, environment=False)
    return pi.Runtime(pi.Topology(loader.devices("sim")), **arguments)


def on_host():
    """A runtime with the host plugin's device, which uses the host's memory in place."""
    return pi.Runtime(pi.Topology(pi.Loader(environment=False).devices("host")))


@contextlib.contextmanager
def refused(test, words, kind=pi.Error, code=None):
    """The block raises an error with these words in its text."""
    with test.assertRaises(kind) as caught:
        yield
    test.assertIn(words, str(caught.exception))
    if code is not None:
        test.assertEqual(caught.exception.name, code)


def main():
    """Runs the file's tests; prints each skip with its reason, and the counts, as all test programs
    do."""
    program = unittest.main(exit=False)
    result = program.result
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(0 if failed == 0 and result.testsRun > 0 else 1)
