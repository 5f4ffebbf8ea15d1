# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests share. No environment variable decides what they see; no wait is without an end."""

import contextlib
import pathlib
import sys
import unittest

import pi_runtime as pi

SOURCE = pathlib.Path(__file__).resolve().parents[3]
MACHINES = SOURCE / "plugins" / "sim" / "machines"
PATIENCE = 30.0


def simulated(machine="workstation", **arguments):
    """A runtime on a machine that comes with the sim plugin: place 0 is the host, 1, 2, ... its devices."""
    loader = pi.Loader(options={"PI_SIM_MACHINE": str(MACHINES / f"{machine}.json")}, environment=False)
    return pi.Runtime(pi.Topology(loader.devices("sim")), **arguments)


def on_host():
    """A runtime with the host plugin's device, which uses the host's memory in place."""
    return pi.Runtime(pi.Topology(pi.Loader(environment=False).devices("host")))


@contextlib.contextmanager
def refused(test, words, kind=pi.Error, code=None):
    """The block raises PI's error, whose text has these words."""
    with test.assertRaises(kind) as caught:
        yield
    test.assertIn(words, str(caught.exception))
    if code is not None:
        test.assertEqual(caught.exception.name, code)


def main():
    """Runs the file's tests, and ends as the project's other test programs do: each skip with its reason, and the counts."""
    program = unittest.main(exit=False)
    result = program.result
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(0 if failed == 0 and result.testsRun > 0 else 1)
