#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles same_code.cpp and compares each cpp_x with its c_x, by instructions.

same_code.py COMPILER... SOURCE, where COMPILER includes the options that find the headers

It fails if a function through pi.hpp has more instructions than the one in C, or has none.
"""

import re
import subprocess
import sys

FUNCTION = re.compile(r"^(c|cpp)_(\w+):[^\n]*\n(.*?)^\s*\.size\s+\1_\2\b", re.MULTILINE | re.DOTALL)


def instructions(body):
    """The instructions of an assembler function, with labels replaced."""
    lines = [line.strip() for line in body.splitlines()]
    code = [line for line in lines if line and line[0] not in ".#/" and not line.endswith(":")]
    return [re.sub(r"\.L\w+", ".L", line.split("#")[0].strip()) for line in code]


def main():
    *compiler, source = sys.argv[1:]
    text = subprocess.run(
        [*compiler, "-O2", "-S", "-o", "-", source], check=True, capture_output=True, text=True
    ).stdout
    sides = {"c": {}, "cpp": {}}
    for side, name, body in FUNCTION.findall(text):
        sides[side][name] = instructions(body)
    bad = sorted(sides["c"].keys() ^ sides["cpp"].keys())
    for name in bad:
        print(f"{name}: exists on one side only")
    for name, ours in sides["cpp"].items():
        limit = sides["c"].get(name, [])
        same = "equal" if ours == limit else "no more" if len(ours) <= len(limit) else "MORE"
        print(f"{name}: {len(limit)} instructions in C, {len(ours)} through pi.hpp: {same}")
        if len(ours) > len(limit) or not ours:
            bad.append(name)
            print("  C:   " + "\n       ".join(limit) + "\n  C++: " + "\n       ".join(ours))
    print(f"same_code: {len(sides['cpp'])} functions, {len(bad)} wrong")
    sys.exit(1 if bad or len(sides["cpp"]) < 5 else 0)


if __name__ == "__main__":
    main()
