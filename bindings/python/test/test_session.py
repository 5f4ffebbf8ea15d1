# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The guide's code, and a newcomer's first session."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

from common import MACHINES, SOURCE, main

GUIDE = SOURCE / "docs" / "python.md"
SESSION = pathlib.Path(__file__).with_name("session.py")


def run(code, selector):
    environment = dict(
        os.environ,
        PI_DEVICE_SELECTOR=selector,
        PI_SIM_MACHINE=str(MACHINES / "workstation.json"),
    )
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, text=True, capture_output=True, timeout=120
    )


class Session(unittest.TestCase):
    def check(self, selector):
        result = run(SESSION.read_text(), selector)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_the_first_session_works_with_two_devices_with_their_own_memory(self):
        said = self.check("sim")
        self.assertEqual(said.count("<Device sim:0:"), 2)
        self.assertIn("numbers", said)
        self.assertIn("unified", said)
        self.assertIn("4194304 bytes stale", said)
        self.assertIn("[2 2 2 2]", said)  # written by the last device

    def test_the_first_session_works_with_one_device_on_the_hosts_memory(self):
        said = self.check("host")
        self.assertIn("<Device host:0:0", said)
        self.assertIn("none needed", said)  # in the log


class Guide(unittest.TestCase):
    def test_its_code_runs_from_top_to_bottom(self):
        blocks = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 4)
        code = "\n".join(blocks)
        for selector in ("sim", "host"):  # two devices with their own memory; the minimum of a machine
            with self.subTest(selector):
                result = run(code, selector)
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_it_names_only_existing_things(self):
        import pi_runtime as pi

        owners = {
            "pi": pi, "loader": pi.Loader, "topology": pi.Topology, "runtime": pi.Runtime,
            "storage": pi.Storage, "buffer": pi.Buffer, "tensor": pi.Tensor, "use": pi.Acquisition,
        }
        text = GUIDE.read_text()
        names = re.findall(r"`(pi|loader|topology|runtime|storage|buffer|tensor|use)\.(\w+)", text)
        self.assertGreater(len(names), 10)
        for owner, name in names:
            self.assertTrue(hasattr(owners[owner], name) or name == "places", f"{owner}.{name}")


if __name__ == "__main__":
    main()
