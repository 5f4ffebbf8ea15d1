# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Source mutants: conformance/mutants/source/PLUGIN.txt, built in a copy of the tree. The loader's
are those of the plugin "loader".

conformance/mutants/source/README.md says what a row is. Comments need not match the row.
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
        if self.file.startswith("sdk/"):
            return f"plugins/sdk/include/pi/{self.file}"
        if self.file.startswith("checks/"):
            return f"api/describe/include/pi/describe/{self.file}"
        return f"loader/src/{self.file}" if plugin == "loader" else f"plugins/{plugin}/{self.file}"

    def apply(self, text):
        """The mutated text. Ends the program if the row does not fit it."""
        for old, new in self.hunks:
            lines = text.splitlines()
            code = [(at, code_of(line)) for at, line in enumerate(lines) if code_of(line)]
            wanted = [code_of(line) for line in old if code_of(line)]
            found = [at for at in range(len(code) - len(wanted) + 1)
                     if [line for _, line in code[at:at + len(wanted)]] == wanted]
            if len(found) != 1:
                text = "".join(f"{line}\n" for line in old)
                raise SystemExit(f"mutant {self.name}: {self.file} has the old lines {len(found)} "
                                 f"times, not once:\n{text}")
            lines[code[found[0]][0]:code[found[0] + len(wanted) - 1][0] + 1] = new
            text = "\n".join(lines) + "\n"
        return text


def code_of(line):
    """The line without its comment."""
    return re.sub(r"(^|\s)//.*$", "", line).rstrip()


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
            raise SystemExit(f"{path}:{number}: {line}: a line of a row begins as README.md says")
    for mutant in mutants:
        if bool(mutant.tests) == bool(mutant.areas) or not mutant.hunks:
            raise SystemExit(f"{path}: mutant {mutant.name} needs either tests or areas, and lines "
                             "that it changes")
    names = [mutant.name for mutant in mutants]
    if twice := {name for name in names if names.count(name) > 1}:
        raise SystemExit(f"{path}: several mutants are named {', '.join(sorted(twice))}")
    return mutants


class NotBuilt(Exception):
    """A mutant that does not compile; the text is the compiler's."""


class Copy:
    """A copy of the tree with a build of one plugin; a mutant rebuilds only files that it
    changes."""

    def __init__(self, tree, folder, plugin):
        self.tree, self.plugin = tree, plugin
        self.copy, self.build = folder / "tree", folder / "build"
        listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=tree,
                                 check=True, stdout=subprocess.PIPE, text=True)
        for name in listing.stdout.splitlines():
            if (tree / name).is_file():
                self._write(name, (tree / name).read_bytes())
        # Without optimisation and as one file, whose headers are read once, a mutant of a plugin is
        # built fastest. The loader is larger.
        one_file = ["-DCMAKE_UNITY_BUILD_BATCH_SIZE=0"] if plugin != "loader" else []
        subprocess.run(["cmake", "--preset", "release", "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG",
                        "-DCMAKE_UNITY_BUILD=ON", *one_file, "-B", self.build],
                       cwd=self.copy, check=True, stdout=subprocess.DEVNULL)

    def _write(self, name, content):
        path = self.copy / name
        if path.exists() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod((self.tree / name).stat().st_mode)

    def make(self, mutant):
        """The plugin's file with this mutant; of the loader, the folder with its library."""
        name = mutant.path(self.plugin)
        original = (self.tree / name).read_text(encoding="utf-8")
        self._write(name, mutant.apply(original).encode())
        try:
            target = "pi_loader" if self.plugin == "loader" else f"pi_plugin_{self.plugin}"
            made = subprocess.run(["cmake", "--build", self.build, "--target", target, "-j", "1"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False)
            if made.returncode:
                raise NotBuilt(made.stdout[-4000:])
            library = self.build / "lib" / f"lib{target}.so"
            if self.plugin == "loader":
                folder = self.build / "mutants" / mutant.name
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "libpi_loader.so.1").write_bytes(library.read_bytes())
                return folder
            file = self.build / f"{mutant.name}.so"
            file.write_bytes(library.read_bytes())
            return file
        finally:
            self._write(name, original.encode())


def check_table(tree, plugin, mutants):
    """Ends the program if a mutant does not fit the source as it is."""
    for mutant in mutants:
        mutant.apply((tree / mutant.path(plugin)).read_text(encoding="utf-8"))


def table_of(tree, plugin):
    path = Path(tree) / "conformance/mutants/source" / f"{plugin}.txt"
    return read_table(path) if path.exists() else []
