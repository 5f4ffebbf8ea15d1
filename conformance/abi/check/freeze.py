# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the frozen C file: what the headers declare today, as assertions.

The compiler measures (values, sizes, offsets); this only writes down what it says.
"""

import os
import subprocess
import tempfile
import textwrap
from pathlib import Path

import header

PROLOGUE = """\
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The plugin ABI, version {major}.{minor}, frozen: if this file compiles, then what was compiled with these
 * headers before still works. Appending is allowed (slots, enumerators, fields of structs that say
 * their own size); anything else fails here with what it was.
 *
 * Written by `scripts/check-abi --regenerate`, reviewed and committed; see api/README.md. It needs
 * no library: compiling it is the test.
 */
#include <pi/pi.h>
#include <pi/pi_loader.h>
#include <pi/pi_native_kernel.h>
#include <pi/pi_plugin.h>

#include <stddef.h>

_Static_assert(sizeof(void *) == 8, "the layouts are those of 64-bit targets");

/* A typedef and the type that it stands for. */
#define TYPE(name, ...)                                                                            \\
    _Static_assert(__builtin_types_compatible_p(name, __VA_ARGS__), #name " was " #__VA_ARGS__)

/* The value of a macro or of an enumerator. */
#define VALUE(name, value) _Static_assert((name) == (value), #name " was " #value)

/* A struct whose size is frozen: it is an element of arrays, part of another struct, or has no
 * struct_size. */
#define FROZEN(structure, size)                                                                    \\
    _Static_assert(sizeof(structure) == (size), #structure " had " #size " bytes and may not grow")

/* A struct that says its own size: fields may be appended. */
#define MAY_GROW(structure, size)                                                                  \\
    _Static_assert(sizeof(structure) >= (size), #structure " had " #size " bytes, now fewer")

#define FIELD(structure, field, offset, size, ...)                                                 \\
    _Static_assert(offsetof(structure, field) == (offset),                                         \\
                   #structure "." #field " was at byte " #offset);                                 \\
    _Static_assert(sizeof(((structure *)0)->field) == (size),                                      \\
                   #structure "." #field " had " #size " bytes");                                  \\
    _Static_assert(__builtin_types_compatible_p(__typeof__(((structure *)0)->field), __VA_ARGS__), \\
                   #structure "." #field " was " #__VA_ARGS__)

/* The type of an exported function. The parameters' names are compared by scripts/check-abi. */
#define FUNCTION(name, ...)                                                                        \\
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), __VA_ARGS__),                    \\
                   #name " was " #__VA_ARGS__)

/* A slot of pi_dispatch: its place, counted from 0, its type (that of the function), its group and
 * the minor version that brought it. */
#define SLOT(index, name, group, since)                                                            \\
    _Static_assert(offsetof(pi_dispatch, name) == 8 + 8 * (index), #name " was slot " #index);     \\
    _Static_assert(__builtin_types_compatible_p(__typeof__(((pi_dispatch *)0)->name),              \\
                                                __typeof__(&(name))),                              \\
                   "the slot " #name " has another type than the function");                       \\
    _Static_assert((int)group_of_##name == (int)PI_CAPABILITY_##group, #name " was " #group);      \\
    _Static_assert((int)since_of_##name == (since), #name " came with minor version " #since)

/* A function of the loader itself. */
#define LOADER_FUNCTION(name, since)                                                               \\
    _Static_assert((int)since_of_##name == (since), #name " came with minor version " #since)

/* The rows of pi_functions.def as constants. Two groups have no capability. */
enum {{ PI_CAPABILITY_REQUIRED = -1, PI_CAPABILITY_OPTIONAL = -2 }};
enum {{
#define PI_LOADER_FUNCTION(name, since) since_of_##name = (since),
#define PI_FUNCTION(name, group, needs, since)                                                     \\
    group_of_##name = PI_CAPABILITY_##group, since_of_##name = (since),
#include <pi/pi_functions.def>
}};"""


class CannotFreeze(Exception):
    pass


def compiler():
    return (os.environ.get("CC") or "cc").split()


def measure(api, folders):
    """The values of C expressions over the headers, by expression."""
    expressions = [m.name for m in api.all(header.Macro)]
    expressions += [e.name for enum in api.all(header.Enum) for e in enum.enumerators]
    expressions.append("PI_VERSION_MINOR")
    for struct in api.all(header.Struct):
        expressions.append(f"sizeof({struct.name})")
        for f in struct.fields:
            expressions += [f"offsetof({struct.name}, {f.name})", f"sizeof((({struct.name} *)0)->{f.name})"]
    lines = ["#include <stddef.h>", "#include <stdio.h>"]
    lines += [f"#include <{name}>" for name in header.HEADERS]
    lines += ["int main(void) {"]
    # The sign distinguishes unsigned constants above 2^63.
    lines += [f'    printf("%d %lld\\n", ({e}) < 0, (long long)({e}));' for e in expressions]
    lines += ["}"]
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "measure.c", Path(folder) / "measure"
        source.write_text("\n".join(lines), encoding="utf-8")
        includes = [f"-I{f}" for f in folders]
        subprocess.run(compiler() + ["-std=c11", "-w", *includes, source, "-o", program], check=True)
        output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    values = {}
    for expression, line in zip(expressions, output.splitlines()):
        negative, value = map(int, line.split())
        values[expression] = value if negative or value >= 0 else value + 2 ** 64
    return values


def check_layout(api, values):
    """A field appended to a struct must change its size: so no struct has bytes without a name."""
    growing = {s.name for s in api.all(header.Struct) if s.may_grow()}
    for struct in api.all(header.Struct):
        at = 0
        for f in struct.fields:
            offset = values[f"offsetof({struct.name}, {f.name})"]
            if offset > at:
                raise CannotFreeze(f"{struct.name} has {offset - at} bytes of padding before {f.name}: "
                                   "name them (reserved)")
            at = max(at, offset + values[f"sizeof((({struct.name} *)0)->{f.name})"])
            if f.type.split("[")[0] in growing:
                raise CannotFreeze(f"{struct.name}.{f.name} is a struct that may grow: hold a pointer "
                                   "to it")
        if struct.name == "pi_dispatch":
            at += 8 * len(api.slots)
        size = values[f"sizeof({struct.name})"]
        if size > at:
            raise CannotFreeze(f"{struct.name} has {size - at} bytes of padding at its end: name them "
                               "(reserved)")


def call(macro, *arguments):
    """One assertion, in as many lines as it needs."""
    line = f"{macro}({', '.join(map(str, arguments))});"
    return textwrap.fill(line, 100, subsequent_indent=" " * (len(macro) + 1), break_long_words=False,
                         break_on_hyphens=False)


def number(value):
    return f"UINT64_C({value:#x})" if value > 2 ** 31 - 1 else value


def common_prefix(names):
    prefix = os.path.commonprefix(names)
    return prefix[:prefix.rfind("_") + 1]


def struct_lines(struct, api, values):
    macro = "MAY_GROW" if struct.may_grow() else "FROZEN"
    size = values[f"sizeof({struct.name})"]
    yield ""
    yield call(macro, struct.name, size)
    for f in struct.fields:
        offset = values[f"offsetof({struct.name}, {f.name})"]
        yield call("FIELD", struct.name, f.name, offset,
                   values[f"sizeof((({struct.name} *)0)->{f.name})"], f.type)
    if struct.name == "pi_dispatch":
        for index, row in enumerate(api.slots):
            yield call("SLOT", index, row.name, row.group, row.since)
        yield ""
        yield "/* ... and these are the loader's own. */"
        for row in api.loader_rows:
            yield call("LOADER_FUNCTION", row.name, row.since)


def enum_lines(enum, values):
    names = [e.name for e in enum.enumerators]
    prefix = common_prefix(names) if len(names) > 1 else names[0]
    yield ""
    yield f"/* {enum.title or prefix} */"
    for name in names:
        yield call("VALUE", name, values[name])


def frozen_text(api, folders):
    """The whole frozen file."""
    values = measure(api, folders)
    check_layout(api, values)
    minor = values["PI_VERSION_MINOR"]
    lines = [PROLOGUE.format(major=values["PI_VERSION_MAJOR"], minor=minor)]
    for name in header.HEADERS:
        of_file = [item for item in api.items if item.file == name]

        def section(title):
            return ["", f"/* ===== {name}: {title} ".ljust(97, "=") + " */"]

        parts = (("constants", header.Macro), ("types", header.Typedef), ("enumerators", header.Enum),
                 ("structs", header.Struct), ("functions", header.Function))
        for title, kind in parts:
            items = [item for item in of_file if isinstance(item, kind)]
            if items:
                lines += section(title)
                if kind in (header.Macro, header.Typedef, header.Function):
                    lines.append("")
            for item in items:
                if kind is header.Macro:
                    lines.append(call("VALUE", item.name, number(values[item.name])))
                elif kind is header.Typedef:
                    lines.append(call("TYPE", item.name, item.type))
                elif kind is header.Enum:
                    lines += enum_lines(item, values)
                elif kind is header.Struct:
                    lines += struct_lines(item, api, values)
                else:
                    lines.append(call("FUNCTION", item.name, item.type()))
            if title == "constants" and items and name == header.HEADERS[0]:
                lines.append(f'_Static_assert(PI_VERSION_MINOR >= {minor}, "PI_VERSION_MINOR was {minor}");')
    return "\n".join(lines) + "\n"
