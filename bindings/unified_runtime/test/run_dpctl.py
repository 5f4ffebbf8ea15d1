#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the test suite of dpctl, from its wheel, with PI's adapter.

run_dpctl.py LAUNCHER ENVIRONMENT FOLDER [ARGUMENT...]

LAUNCHER is pi-sycl, or env for DPC++'s own adapter; ENVIRONMENT is the virtual environment of
scripts/setup --sycl; reports are written to FOLDER. ARGUMENTs go to pytest; without one, nothing is
deselected, and PASSED tests must pass. Exits 77 where something is missing.
"""

import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PASSED = 1425
# One test takes at most two seconds on a quiet machine; some hang on DPC++'s own adapter.
SECONDS_PER_TEST = 120


def skip(reason):
    print(f"SKIP_: {reason}")
    sys.exit(77)


def counts_of(report):
    """The numbers of tests by result, and the names of those that failed."""
    counts = {"passed": 0, "failed": 0, "error": 0, "skipped": 0}
    wrong = []
    for test in ElementTree.parse(report).iter("testcase"):
        results = {"failure": "failed", "error": "error", "skipped": "skipped"}
        result = next((results[part.tag] for part in test if part.tag in results), "passed")
        counts[result] += 1
        if result in ("failed", "error"):
            wrong.append(f"{test.get('classname')}::{test.get('name')}")
    return counts, wrong


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    launcher, environment, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    python = environment / "bin/python"
    if not sys.argv[2] or not python.exists():
        skip("DPC++'s SYCL runtime is not installed (scripts/setup --sycl)")
    if shutil.which(launcher) is None:
        skip(f"{launcher} is not built")
    if subprocess.run([launcher, "true"], check=False).returncode == 125:
        skip("PI's adapter for SYCL is not built")

    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "dpctl.xml"
    report.unlink(missing_ok=True)
    command = [launcher, str(python), "-m", "pytest", "--pyargs", "dpctl", "-q", "-p",
               "no:cacheprovider", "--rootdir", str(folder), f"--junitxml={report}", "-o",
               f"faulthandler_timeout={SECONDS_PER_TEST}", "-o",
               "faulthandler_exit_on_timeout=true", *sys.argv[4:]]
    begin = time.monotonic()
    done = subprocess.run(command, cwd=folder, check=False)
    seconds = time.monotonic() - begin
    if not report.exists():
        sys.exit(f"pytest ended with {done.returncode} before the last test, after {seconds:.0f} s")
    counts, wrong = counts_of(report)
    for name in wrong:
        print(f"failed: {name}")
    print(f"dpctl in {seconds:.0f} s:", ", ".join(f"{n} {what}" for what, n in counts.items()))
    if not sys.argv[4:] and counts["passed"] < PASSED:
        sys.exit(f"{counts['passed']} tests passed, of at least {PASSED}")
    sys.exit(1 if wrong or done.returncode != 0 else 0)


if __name__ == "__main__":
    main()
