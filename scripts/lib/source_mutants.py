# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plugins with a mistake in their source: conformance/mutants/source/PLUGIN.txt, built in a copy of the tree.

A table is a list of

    mutant NAME in FILE [seen by AREA...]
    test AREA: SENTENCE
    with NAME=VALUE
    -the old lines
    +the new ones

FILE is of the plugin's folder, or sdk/FILE of the headers that all plugins share. Each test named must fail; where none is,
any test of the areas must. The suite runs at the tree's root, with what `with` adds to its environment. An old text occurs
once in its file; a mutant may have several. Lines may begin with a comment's #.
"""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Mutant:
    name: str
    file: str
    areas: list
    tests: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    hunks: list = field(default_factory=list)  # [old lines, new lines]

    def path(self, plugin):
        """The file, from the tree's root on."""
        return re.sub("^sdk/", "plugins/sdk/include/pi/sdk/", self.file) if self.file.startswith("sdk/") else f"plugins/{plugin}/{self.file}"

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
        head = re.fullmatch(r"mutant (\w+) in (\S+)(?: seen by (.+))?", line)
        if head:
            mutants.append(Mutant(head[1], head[2], (head[3] or "").split()))
        elif line.startswith("test "):
            mutants[-1].tests.append(line.removeprefix("test "))
        elif re.match(r"with \w+=", line):
            name, value = line.removeprefix("with ").split("=", 1)
            mutants[-1].environment[name] = value
        elif line.startswith("-"):
            hunks = mutants[-1].hunks
            if not hunks or hunks[-1][1]:
                hunks.append(([], []))
            hunks[-1][0].append(line[1:])
        elif line.startswith("+"):
            mutants[-1].hunks[-1][1].append(line[1:])
        elif line and not line.startswith("#"):
            raise SystemExit(f"{path}:{number}: not understood: {line}")
    for mutant in mutants:
        if bool(mutant.tests) == bool(mutant.areas) or not mutant.hunks:
            raise SystemExit(f"{path}: mutant {mutant.name} needs tests or areas, and what it changes")
    names = [mutant.name for mutant in mutants]
    if twice := {name for name in names if names.count(name) > 1}:
        raise SystemExit(f"{path}: several mutants are named {', '.join(sorted(twice))}")
    return mutants


class NotBuilt(Exception):
    """What the compiler says."""


class Workshop:
    """A copy of the tree, and a build of plugins there; only what a mistake touches is built again."""

    def __init__(self, tree, folder, plugin):
        self.tree, self.copy, self.build, self.plugin = tree, folder / "tree", folder / "build", plugin
        listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=tree, check=True,
                                 stdout=subprocess.PIPE, text=True)
        for name in listing.stdout.splitlines():
            if (tree / name).is_file():
                self._write(name, (tree / name).read_bytes())
        # A mistake is one at any optimisation, and is built in less time without; most of the time goes to headers, which one
        # file that includes all others reads once.
        subprocess.run(["cmake", "--preset", "release", "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG", "-DCMAKE_UNITY_BUILD=ON",
                        "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0", "-B", self.build],
                       cwd=self.copy, check=True, stdout=subprocess.DEVNULL)

    def _write(self, name, content):
        path = self.copy / name
        if path.exists() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod((self.tree / name).stat().st_mode)

    def make(self, mutant):
        """The plugin's file with this mistake."""
        name = mutant.path(self.plugin)
        original = (self.tree / name).read_text(encoding="utf-8")
        self._write(name, mutant.apply(original).encode())
        try:
            target = f"pi_plugin_{self.plugin}"
            made = subprocess.run(["cmake", "--build", self.build, "--target", target, "-j", "1"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if made.returncode:
                raise NotBuilt(made.stdout[-4000:])
            file = self.build / f"{mutant.name}.so"
            file.write_bytes((self.build / "lib" / f"lib{target}.so").read_bytes())
            return file
        finally:
            self._write(name, original.encode())


def check_table(tree, plugin, mutants):
    """That each mutant is about the source as it is, before any is built."""
    for mutant in mutants:
        mutant.apply((tree / mutant.path(plugin)).read_text(encoding="utf-8"))


def table_of(tree, plugin):
    path = Path(tree) / "conformance/mutants/source" / f"{plugin}.txt"
    return read_table(path) if path.exists() else []
