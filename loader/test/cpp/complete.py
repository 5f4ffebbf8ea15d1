#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that pi.hpp and members.hpp cover all of pi.h and pi_loader.h.

complete.py SOURCE_DIR

pi.hpp needs every function, descriptor and result, and every info with its type, with which the info's
comment in pi.h begins. members.hpp needs every struct, and the names of each function's parameters.
"""

import re
import sys
from pathlib import Path

# Names without a row in pi.hpp, and why.
NO_ROW = {"PI_PROGRAM_INFO_BINARIES"}  # filled in through pointers: ProgramRef::binaries


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def cpp_type(c_type):
    """The type of an info in pi.hpp, for the type in pi.h's comment."""
    array = re.fullmatch(r"(\w+)\[(\d*)\]", c_type)
    if c_type == "char[]":
        return "std::string"
    if array:
        return f"std::array<{array[1]}, {array[2]}>" if array[2] else f"std::vector<{array[1]}>"
    return c_type


def wanted(tree):
    """Everything in the C headers: (kind, name, pattern that pi.hpp must match)."""
    pi = (tree / "api/include/pi/pi.h").read_text()
    loader = (tree / "loader/include/pi/pi_loader.h").read_text()
    table = (tree / "api/include/pi/pi_functions.def").read_text()
    functions = re.findall(r"^PI_(?:LOADER_)?FUNCTION\((\w+),", table, re.M)
    functions += re.findall(r"PI_EXPORT pi_result PI_CALL (\w+)\(", loader)
    for name in functions:
        yield "function", name, rf"\b{name}\b"
    code = without_comments(pi)
    for name in re.findall(r"\b(PI_(?:ERROR_\w+|SUCCESS)) = ", code):
        yield "result", name, rf"PI_HPP_RESULT\({name}\)"
    for name in re.findall(r"\b(PI_TYPE_\w+) = [1-9]", code):
        yield "descriptor", name, rf"PI_DESC_TYPE\(\w+, {name}\)"
    # An enumerator's comment follows it, or precedes it if it is long.
    info = r"\b(PI_\w+_INFO_\w+|PI_PROFILING_(?:QUEUED|SUBMIT|START|END)) =\s+\d"
    behind = re.compile(info + r"*,?[ \n]*/\* ([\w ]+?(?: \*)?(?:\[\d*\])?)[,;:]?(?: |$)")
    before = re.compile(r"/\* (uint64_t\[\]): [^/]*\*/\s+(PI_MEM_INFO_PITCHES) = ")
    types = {name: c_type for name, c_type in behind.findall(pi)}
    types.update({name: c_type for c_type, name in before.findall(pi)})
    for name in re.findall(info, code):
        if name in NO_ROW or name.startswith("PI_TYPE_"):
            continue
        # The type is the comment's first word; a pointer is two.
        c_type = types.get(name, "?")
        c_type = c_type if c_type == "void *" else c_type.split()[0]
        yield "info", name, rf"PI_HPP_INFO\({name},\s+{re.escape(cpp_type(c_type))}\)"


def parameter_names(members):
    """The names of each function's parameters in members.hpp."""
    info = ["name", "size", "value", "out_size"]
    names = {}
    for macro, function, words in re.findall(r"^PI_(PARAMETERS|INFO)\((pi\w+),\s*([^)]*)\)$", members, re.M):
        names[function] = re.findall(r"\w+", words) + (info if macro == "INFO" else [])
    for thing, word in re.findall(r'^PI_COUNTED\((pi\w+), "(\w+)"\)$', members, re.M):
        names[thing + "Retain"] = names[thing + "Release"] = [word]
    return names


def not_described(tree):
    """What members.hpp lacks, or names in another way than pi.h."""
    code = without_comments((tree / "api/include/pi/pi.h").read_text())
    table = (tree / "api/include/pi/pi_functions.def").read_text()
    members = without_comments((tree / "api/describe/include/pi/describe/members.hpp").read_text())
    for name in re.findall(r"typedef struct (pi_\w+) \{", code):
        if name != "pi_struct_header" and f"PI_MEMBERS({name})" not in members:
            yield f"members.hpp lacks the struct {name}"
    names = parameter_names(members)
    command = ["queue", "desc", "wait_count", "wait_list", "out_event"]
    for function in re.findall(r"^PI_FUNCTION\((\w+),", table, re.M):
        text = re.search(rf"\b{function}\(([^;]*)\);", code)[1]
        wanted_names = [re.search(r"(\w+)(\[\d+\])?$", part.strip())[1] for part in text.split(",")]
        if names.get(function, command) != wanted_names:
            yield f"members.hpp names the parameters of {function} {names.get(function)}, pi.h {wanted_names}"


def main():
    tree = Path(sys.argv[1])
    headers = ("loader/include/pi/pi.hpp", "api/describe/include/pi/describe/descriptor.hpp")
    text = without_comments("".join((tree / header).read_text() for header in headers))
    text = re.sub(r'"[^"\n]*"', '""', text)  # a name in a message is not a call
    rows = list(wanted(tree))
    lacks = [row for row in rows if not re.search(row[2], text)]
    for kind, name, pattern in lacks:
        print(f"pi.hpp lacks the {kind} {name} (pattern {pattern})")
    undescribed = list(not_described(tree))
    print("\n".join(undescribed), end="\n" if undescribed else "")
    counts = {kind: sum(k == kind for k, _, _ in rows) for kind, _, _ in rows}
    covered = ", ".join(f"{n} {kind}s" for kind, n in counts.items())
    print(f"complete: {covered}, {len(lacks)} missing")
    sys.exit(1 if lacks or undescribed or len(counts) != 4 or min(counts.values()) < 20 else 0)


if __name__ == "__main__":
    main()
