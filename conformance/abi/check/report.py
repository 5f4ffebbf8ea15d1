# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A report to read, never a gate: what changed in the exported symbols of libpi_loader.so, and, by abidiff,
in the types that its functions take.

The types are read from a library of empty functions made from the headers: the real one's debug
information is that of its C++ inside (3.6 MB), and a release build has none.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import freeze
import header

SYMBOLS = "conformance/abi/libpi_loader.symbols"
TYPES = "conformance/abi/libpi_loader.abi"
ABIDW = ["abidw", "--no-show-locs", "--no-comp-dir-path", "--no-corpus-path"]


def loader_functions(api):
    """What the loader exports: the functions of pi.h and pi_loader.h."""
    return [f for f in api.all(header.Function) if f.file in ("pi/pi.h", "pi/pi_loader.h")]


def find_library(root, given):
    """The library that was named, or that of the release build; None with a line if there is none."""
    library = Path(given) if given else root / "build/release/lib/libpi_loader.so"
    if library.is_file():
        return library
    print(f"check-abi: no {library}: the exported symbols were not compared")
    return None


def exported(library):
    output = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                            text=True).stdout
    return sorted(line.split()[-1] for line in output.splitlines())


def stand_in(api, folders, folder):
    """A library with the functions of the headers, and debug information that tells their types."""
    lines = [f"#include <{name}>" for name in header.HEADERS]
    for f in loader_functions(api):
        declarator = header.Function("", "", 0, 0, "", f.parameters).type()
        lines.append(f"{header.join(f.result, f.name)}{declarator} {{ return 0; }}")
    source, library = Path(folder) / "headers.c", Path(folder) / "headers.so"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    includes = [f"-I{f}" for f in folders]
    # The types that only plugins use are kept, though no function of the loader takes them.
    command = freeze.compiler() + ["-std=c11", "-w", "-g", "-fno-eliminate-unused-debug-types"]
    subprocess.run(command + ["-shared", "-fPIC", *includes, source, "-o", library,
                              "-Wl,-soname,libpi_loader.so"], check=True, cwd=folder)
    return library


def show_symbols(root, api, library):
    names = {f.name for f in loader_functions(api)}
    now, before = exported(library), (root / SYMBOLS).read_text(encoding="utf-8").split()
    lines = [f"removed: {name}" for name in before if name not in now]
    lines += [f"added: {name}" for name in now if name not in before]
    lines += [f"exported, but in no header: {name}" for name in now if name not in names]
    lines += [f"in a header, but not exported: {name}" for name in sorted(names) if name not in now]
    print(f"== exported symbols of {library}: {len(now)}")
    print("\n".join(lines) or "as written down")


def show(root, folders, given):
    api = header.read_api(folders)
    if library := find_library(root, given):
        show_symbols(root, api, library)
    print("== types, by abidiff")
    if not shutil.which("abidiff"):
        print("abidiff is not installed (Debian: abigail-tools)")
        return
    with tempfile.TemporaryDirectory() as folder:
        command = ["abidiff", root / TYPES, stand_in(api, folders, folder)]
        # Its exit code tells what it found; a report does not fail.
        output = subprocess.run(command, capture_output=True, text=True, check=False)
    print((output.stdout + output.stderr).strip() or "as written down")


def write(root, folders, given):
    api = header.read_api(folders)
    library = find_library(root, given)
    if not library:
        return 1
    (root / SYMBOLS).write_text("\n".join(exported(library)) + "\n", encoding="utf-8")
    print(f"check-abi: {SYMBOLS} is written")
    if not shutil.which("abidw"):
        print("check-abi: abidw is not installed (Debian: abigail-tools)")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        stub = stand_in(api, folders, folder)
        text = subprocess.run(ABIDW + [stub], check=True, capture_output=True, text=True).stdout
    # The folder of this run is in no way part of it.
    (root / TYPES).write_text(text.replace(f"{folder}/", ""), encoding="utf-8")
    print(f"check-abi: {TYPES} is written")
    return 0
