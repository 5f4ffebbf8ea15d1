# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong and right edits of the headers, and whether the gate judges each of them rightly."""

import random
import re
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import gate
import header

INJECTED = "\nPI_EXPORT pi_result PI_CALL piInjected(pi_plugin plugin);\n"
INJECTED_ROW = "PI_FUNCTION(piInjected, OPTIONAL, REFUSE, 2)"
OTHER = {"uint16_t": "int16_t", "uint32_t": "int32_t", "uint64_t": "int64_t", "int32_t": "uint32_t",
         "int64_t": "uint64_t", "char": "signed char"}


@dataclass
class Injection:
    what: str
    edits: list   # (file, begin, end, text)
    target: str = ""  # what the refusal must name; "" where the edit must be accepted


def replaced(item, text):
    return [(item.file, item.begin, item.end, text)]


def swapped(api, a, b):
    def text(item):
        return api.texts[item.file][item.begin:item.end]
    return replaced(a, text(b)) + replaced(b, text(a))


def declare(api):
    """Declares one more function, last in pi.h."""
    last = [f for f in api.all(header.Function) if f.file == header.HEADERS[0]][-1]
    return [(last.file, last.end + 1, last.end + 1, INJECTED)]


def other_types(api, type_):
    """Types that are easily taken for this one, and one that is not."""
    typedefs = {t.name: t.type for t in api.all(header.Typedef)}
    base = type_
    while base in typedefs:
        base = typedefs[base]
    if base in OTHER:
        yield OTHER[base]
    elif base.endswith("*"):
        yield type_ + "*" if type_.endswith("*") else "void *"
        if base.startswith("const "):
            yield base[len("const "):]
        elif base == type_:
            yield "const " + base
    yield "double"


# --- slots ---------------------------------------------------------------------------------------

def insert_slot(api):
    for row in api.slots:
        yield Injection(f"a slot before {row.name}",
                    declare(api) + [(row.file, row.begin, row.begin, INJECTED_ROW + "\n")], row.name)


def swap_adjacent_slots(api):
    for a, b in zip(api.slots, api.slots[1:]):
        yield Injection(f"{a.name} and {b.name}", swapped(api, a, b), a.name)


def swap_slots(api):
    for i, a in enumerate(api.slots):
        for b in api.slots[i + 2:]:
            yield Injection(f"{a.name} and {b.name}", swapped(api, a, b), b.name)


def remove_slot(api):
    for row in api.slots:
        yield Injection(row.name, replaced(row, ""), row.name)


def change_group(api):
    for row in api.slots:
        group = "OPTIONAL" if row.group == "REQUIRED" else "REQUIRED"
        yield Injection(f"{row.name} becomes {group}", [(row.file, *row.group_span, group)], row.name)


def change_since(api):
    for row in api.slots + api.loader_rows:
        yield Injection(row.name, [(row.file, *row.since_span, "2")], row.name)


def append_slot(api):
    last = api.slots[-1]
    for group in ("OPTIONAL", "REQUIRED", "PROGRAM"):
        row = "\n" + INJECTED_ROW.replace("OPTIONAL", group)
        yield Injection(f"of the group {group}",
                    declare(api) + [(last.file, last.end, last.end, row)])


# --- functions -----------------------------------------------------------------------------------

def declaration(function, parameters, result=None):
    text = ", ".join(header.Function("", "", 0, 0, "", [p]).type()[1:-1] for p in parameters) or "void"
    return replaced(function, f"PI_EXPORT {header.join(result or function.result, '')} PI_CALL "
                              f"{function.name}({text})")


def change_parameter(api):
    for function in api.all(header.Function):
        for i, p in enumerate(function.parameters):
            arrays = "".join(re.findall(r"\[\w*\]", p.type))
            for type_ in other_types(api, p.type.split("[")[0]):
                new = header.Parameter(p.name, "", 0, 0, type_ + arrays)
                parameters = function.parameters[:i] + [new] + function.parameters[i + 1:]
                yield Injection(f"{function.name}: {p.name} becomes {type_}",
                            declaration(function, parameters), function.name)


def add_parameter(api):
    new = header.Parameter("injected", "", 0, 0, "uint64_t")
    for function in api.all(header.Function):
        for i in range(len(function.parameters) + 1):
            parameters = function.parameters[:i] + [new] + function.parameters[i:]
            yield Injection(f"{function.name}, at {i}", declaration(function, parameters), function.name)


def remove_parameter(api):
    for function in api.all(header.Function):
        for i, p in enumerate(function.parameters):
            parameters = function.parameters[:i] + function.parameters[i + 1:]
            yield Injection(f"{function.name}: {p.name}", declaration(function, parameters), function.name)


def swap_parameters(api):
    for function in api.all(header.Function):
        for i in range(len(function.parameters) - 1):
            parameters = list(function.parameters)
            parameters[i], parameters[i + 1] = parameters[i + 1], parameters[i]
            yield Injection(f"{function.name}: {parameters[i + 1].name} and {parameters[i].name}",
                        declaration(function, parameters), function.name)


def change_result(api):
    for function in api.all(header.Function):
        yield Injection(function.name, declaration(function, function.parameters, "int64_t"), function.name)


def add_function(api):
    yield Injection("piInjected, without a slot", declare(api))


# --- structs -------------------------------------------------------------------------------------

def alone(struct):
    """The fields that have a statement of their own and bytes of their own."""
    statements = Counter(f.begin for f in struct.fields)
    return [f for f in struct.fields if statements[f.begin] == 1 and not f.in_union]


def of_structs(api):
    return [(s, f) for s in api.all(header.Struct) for f in alone(s)]


def insert_field(api):
    for struct, f in of_structs(api):
        yield Injection(f"before {struct.name}.{f.name}",
                    [(f.file, f.begin, f.begin, "uint64_t injected; ")], f"{struct.name}.{f.name}")


def swap_adjacent_fields(api):
    for struct in api.all(header.Struct):
        fields = alone(struct)
        for a, b in zip(fields, fields[1:]):
            yield Injection(f"{struct.name}: {a.name} and {b.name}", swapped(api, a, b),
                        f"{struct.name}.{a.name}")


def swap_fields(api):
    for struct in api.all(header.Struct):
        fields = alone(struct)
        for i, a in enumerate(fields):
            for b in fields[i + 2:]:
                yield Injection(f"{struct.name}: {a.name} and {b.name}", swapped(api, a, b),
                            f"{struct.name}.{b.name}")


def change_field(api):
    for struct in api.all(header.Struct):
        statements = Counter(f.begin for f in struct.fields)
        for f in struct.fields:
            base, arrays = (f.type.split("[")[0], f.type[len(f.type.split("[")[0]):])
            types = ["void *"] if "(" in f.type else other_types(api, base)
            for type_ in types if statements[f.begin] == 1 else []:
                yield Injection(f"{struct.name}.{f.name} becomes {type_}{arrays}",
                            replaced(f, f"{type_} {f.name}{arrays}"), f"{struct.name}.{f.name}")


def remove_field(api):
    for struct, f in of_structs(api):
        if len(struct.fields) > 1:
            # The compiler names the struct and the member apart.
            yield Injection(f"{struct.name}.{f.name}", replaced(f, ""), f.name)


def append_injected(struct, type_):
    at = struct.body_end
    return [(struct.file, at, at, f"    {type_} injected;\n")]


def append_to_frozen(api):
    for struct in api.all(header.Struct):
        if not struct.may_grow():
            yield Injection(struct.name, append_injected(struct, "uint64_t"), struct.name)


def append_to_growing(api):
    for struct in api.all(header.Struct):
        if struct.may_grow() and struct.name != "pi_dispatch":
            yield Injection(struct.name, append_injected(struct, "uint64_t"))
            yield Injection(f"{struct.name}, a pointer", append_injected(struct, "const void *"))


# --- constants and types -------------------------------------------------------------------------

def change_enumerator(api):
    for enum in api.all(header.Enum):
        for e in enum.enumerators:
            if "<<" not in api.texts[e.file][slice(*e.value)]:
                yield Injection(e.name, [(e.file, e.value[1], e.value[1], " + 1")], e.name)


def change_flag(api):
    for enum in api.all(header.Enum):
        for e in enum.enumerators:
            if "<<" in api.texts[e.file][slice(*e.value)]:
                yield Injection(e.name, [(e.file, e.value[1], e.value[1], " << 1")], e.name)


def swap_enumerators(api):
    for enum in api.all(header.Enum):
        for i, a in enumerate(enum.enumerators):
            for b in enum.enumerators[i + 1:]:
                text = api.texts[a.file]
                yield Injection(f"{a.name} and {b.name}", [(a.file, *a.value, text[slice(*b.value)]),
                                                       (b.file, *b.value, text[slice(*a.value)])], a.name)


def rename_enumerator(api):
    for enum in api.all(header.Enum):
        for e in enum.enumerators:
            yield Injection(e.name, [(e.file, e.begin, e.begin + len(e.name), "PI_INJECTED")], e.name)


def change_macro(api):
    for macro in api.all(header.Macro):
        yield Injection(macro.name, [(macro.file, macro.value[1], macro.value[1], " - 1")], macro.name)


def change_typedef(api):
    for typedef in api.all(header.Typedef):
        for type_ in other_types(api, typedef.type) if "(" not in typedef.type else ["void *"]:
            yield Injection(f"{typedef.name} becomes {type_}",
                        replaced(typedef, f"typedef {type_} {typedef.name}"), typedef.name)


def append_enumerator(api):
    for enum in api.all(header.Enum):
        last = enum.enumerators[-1]
        yield Injection(f"after {last.name}", [(last.file, last.end, last.end, ", PI_INJECTED = 1 << 20")])


# The swaps of pairs are thousands of similar edits: only a sample of them runs.
MANY = 200
# The name of a kind, its edits, and whether all of them run even if a count is given.
KINDS = (
    ("insert a slot", insert_slot, False),
    ("swap neighbouring slots", swap_adjacent_slots, True),
    ("swap slots", swap_slots, False),
    ("remove a slot", remove_slot, False),
    ("change a row's group", change_group, False),
    ("change a row's version", change_since, False),
    ("append a slot", append_slot, True),
    ("change a parameter's type", change_parameter, False),
    ("add a parameter", add_parameter, False),
    ("remove a parameter", remove_parameter, False),
    ("swap parameters", swap_parameters, False),
    ("change a result's type", change_result, False),
    ("add a function", add_function, True),
    ("insert a field", insert_field, False),
    ("swap neighbouring fields", swap_adjacent_fields, False),
    ("swap fields", swap_fields, False),
    ("change a field's type", change_field, False),
    ("remove a field", remove_field, False),
    ("append a field to a frozen struct", append_to_frozen, True),
    ("append a field to a struct that may grow", append_to_growing, False),
    ("change an enumerator's value", change_enumerator, False),
    ("change a flag's value", change_flag, False),
    ("swap enumerators", swap_enumerators, False),
    ("rename an enumerator", rename_enumerator, False),
    ("change a macro's value", change_macro, True),
    ("change a typedef", change_typedef, False),
    ("append an enumerator", append_enumerator, False),
)


def judge(api, frozen, injection):
    """Returns (the gate's verdict, whether it is right)."""
    texts = dict(api.texts)
    for file, begin, end, text in sorted(injection.edits, key=lambda e: (e[0], -e[1])):
        texts[file] = texts[file][:begin] + text + texts[file][end:]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        everything = Path(folder) / "everything.c"
        everything.write_text("".join(f"#include <{name}>\n" for name in header.HEADERS))
        # Otherwise the gate would refuse the edit for a wrong reason.
        problems = gate.compile_text(everything, [folder])
        if problems:
            return "the edited header does not compile: " + problems, False
        problems = gate.check(frozen, [folder])
    if not problems:
        return "accepted", not injection.target
    if injection.target and injection.target in problems:
        return "refused", True
    if injection.target:
        return f"refused, but nothing names {injection.target}: {problems}", False
    return "refused: " + problems, False


def self_test(api, frozen, seed, count):
    """Tries `count` edits of each kind (None: all, but MANY swaps of pairs). Returns how many were
    tried and how many were misjudged."""
    chance = random.Random(seed)
    injections = []
    for what, kind, always_all in KINDS:
        found = list(kind(api))
        wanted = count or (MANY if kind in (swap_slots, swap_fields, swap_enumerators) else len(found))
        if not always_all:
            found = chance.sample(found, min(wanted, len(found)))
        injections += [(what, injection) for injection in found]
    wrong = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        verdicts = pool.map(lambda p: judge(api, frozen, p[1]), injections)
        for (what, injection), (verdict, right) in zip(injections, verdicts):
            wrong += not right
            print(f"{'ok   ' if right else 'WRONG'} {what}: {injection.what}: {verdict}")
    return len(injections), wrong
