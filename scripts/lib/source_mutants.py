# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plugins with a mistake in their source: conformance/mutants/source/PLUGIN.txt, built in a copy of the tree."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Mutant:
    name: str
    file: str
    areas: list
    hunks: list = field(default_factory=list)  # [old lines, new lines]

    def apply(self, text):
        """The text with the mistake; an error where the table is no longer about this source."""
        for old, new in self.hunks:
            old, new = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)
            if text.count(old) != 1:
                raise SystemExit(f"mutant {self.name}: {self.file} has {text.count(old)} times, not once:\n{old}")
            text = text.replace(old, new)
        return text


def read_table(path):
    mutants = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        head = re.fullmatch(r"mutant (\w+) in (\S+) seen by (.+)", line)
        if head:
            mutants.append(Mutant(head[1], head[2], head[3].split()))
        elif line.startswith("-"):
            hunks = mutants[-1].hunks
            if not hunks or hunks[-1][1]:
                hunks.append(([], []))
            hunks[-1][0].append(line[1:])
        elif line.startswith("+"):
            mutants[-1].hunks[-1][1].append(line[1:])
        elif line and not line.startswith("#"):
            raise SystemExit(f"{path}:{number}: not understood: {line}")
    return mutants


class Workshop:
    """A copy of the tree, and a build of one plugin there; only what a mistake touches is built again."""

    def __init__(self, tree, folder, plugin):
        self.tree, self.copy, self.build, self.plugin = tree, folder / "tree", folder / "build", plugin
        listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=tree, check=True,
                                 stdout=subprocess.PIPE, text=True)
        for name in listing.stdout.splitlines():
            if (tree / name).is_file():
                self._write(name, (tree / name).read_bytes())
        subprocess.run(["cmake", "--preset", "release", "-B", self.build], cwd=self.copy, check=True,
                       stdout=subprocess.DEVNULL)

    def _write(self, name, content):
        path = self.copy / name
        if path.exists() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod((self.tree / name).stat().st_mode)

    def make(self, mutant, jobs):
        """The plugin's file with this mistake."""
        name = f"plugins/{self.plugin}/{mutant.file}"
        original = (self.tree / name).read_text(encoding="utf-8")
        self._write(name, mutant.apply(original).encode())
        try:
            target = f"pi_plugin_{self.plugin}"
            made = subprocess.run(["cmake", "--build", self.build, "--target", target, "-j", str(jobs)],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if made.returncode:
                raise SystemExit(f"mutant {mutant.name} does not compile:\n{made.stdout[-4000:]}")
            file = self.build / f"{mutant.name}.so"
            file.write_bytes((self.build / "lib" / f"lib{target}.so").read_bytes())
            return file
        finally:
            self._write(name, original.encode())


def check_table(tree, plugin, mutants):
    """That each mutant is about the source as it is, before any is built."""
    for mutant in mutants:
        mutant.apply((tree / "plugins" / plugin / mutant.file).read_text(encoding="utf-8"))


def table_of(tree, plugin):
    path = Path(tree) / "conformance/mutants/source" / f"{plugin}.txt"
    return read_table(path) if path.exists() else []
