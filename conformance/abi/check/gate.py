# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds headers against the frozen file."""

import re
import subprocess

import freeze
import header


def compile_text(source, folders):
    """What the compiler says against a C file over these include folders; "" if it accepts it."""
    command = freeze.compiler() + ["-std=c11", "-fsyntax-only", "-w"]
    command += [f"-I{f}" for f in folders] + ["-x", "c", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    return done.stderr or f"the compiler ended with {done.returncode} and said nothing"


def frozen_parameters(text):
    """The parameters' names of each frozen function, in order."""
    found = {}
    for name, type_ in re.findall(r"^FUNCTION\((\w+), (.*?)\);$", text, re.MULTILINE | re.DOTALL):
        parameters = type_[type_.index("(") + 1:type_.rindex(")")].split(",")
        found[name] = [re.sub(r"\[\w*\]", "", p).split("*")[-1].split()[-1] for p in parameters]
    return found


def check_parameters(text, api):
    """Parameters of one type that changed places: no compiler sees it."""
    frozen = frozen_parameters(text)
    messages = []
    for function in api.all(header.Function):
        before = frozen.get(function.name, [])
        now = [p.name for p in function.parameters] or ["void"]
        if now != before and sorted(now) == sorted(before):
            messages.append(f"{function.name}: its parameters were ({', '.join(before)}), "
                            f"now ({', '.join(now)})")
    return messages


def check(frozen, folders):
    """What is wrong with the headers in these folders, as text; "" if nothing."""
    problems = compile_text(frozen, folders)
    if problems:
        return problems
    return "\n".join(check_parameters(frozen.read_text(encoding="utf-8"), header.read_api(folders)))


def names_of(api):
    """The name of everything that a frozen file must mention."""
    names = [item.name for item in api.items if item.name]
    names += [e.name for enum in api.all(header.Enum) for e in enum.enumerators]
    names += [f"{s.name}, {f.name}," for s in api.all(header.Struct) for f in s.fields]
    return names


def not_frozen_yet(frozen, folders):
    """What the headers have and the frozen file does not guard."""
    text = re.sub(r"\s+", " ", frozen.read_text(encoding="utf-8"))
    missing = []
    for name in names_of(header.read_api(folders)):
        if not re.search(rf"\b(?:TYPE|VALUE|FROZEN|MAY_GROW|FIELD|FUNCTION)\({re.escape(name)}", text):
            missing.append(name.rstrip(",").replace(", ", "."))
    return missing
