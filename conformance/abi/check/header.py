# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the public headers: what they declare, and where in the text each thing stands.

The headers are written in a small, regular part of C, so this needs no preprocessor. What it does
not understand is an error, never skipped: an unread declaration would be an unguarded one.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

HEADERS = ("pi/pi.h", "pi/pi_plugin.h", "pi/pi_native_kernel.h", "pi/pi_loader.h")
FUNCTIONS = "pi/pi_functions.def"
# Macros that say how things are compiled, not what they are.
NOT_VALUES = {"PI_CALL", "PI_EXPORT", "PI_SLOT_TYPE", "PI_VERSION_DRAFT", "PI_VERSION_MINOR"}


class NotUnderstood(Exception):
    pass


@dataclass
class Named:
    """A name and the part of a file's text that declares it."""
    name: str
    file: str
    begin: int
    end: int


@dataclass
class Enumerator(Named):
    value: tuple = (0, 0)  # where the expression after '=' stands


@dataclass
class Enum(Named):
    title: str
    enumerators: list


@dataclass
class Parameter(Named):
    type: str


@dataclass
class Function(Named):
    result: str
    parameters: list
    result_span: tuple = (0, 0)

    def type(self, names=True):
        def one(p):
            arrays = "".join(re.findall(r"\[\w*\]", p.type))
            return join(p.type.split("[")[0], p.name if names else "") + arrays
        return join(self.result, f"({', '.join(map(one, self.parameters)) or 'void'})")


@dataclass
class Field(Named):
    type: str
    in_union: bool = False


@dataclass
class Struct(Named):
    fields: list
    body_end: int = 0

    def may_grow(self):
        """Whether it says its own size. The common header says that of the struct around it."""
        return self.fields[0].name == "struct_size" and self.name != "pi_struct_header"


@dataclass
class Typedef(Named):
    type: str


@dataclass
class Row(Named):
    """A row of pi_functions.def; a slot of pi_dispatch unless the loader itself has the
    function."""
    group: str = ""
    since: str = ""
    group_span: tuple = (0, 0)
    since_span: tuple = (0, 0)


@dataclass
class Api:
    texts: dict = field(default_factory=dict)
    items: list = field(default_factory=list)  # in the order of the headers
    slots: list = field(default_factory=list)
    loader_rows: list = field(default_factory=list)

    def all(self, kind):
        return [item for item in self.items if isinstance(item, kind)]


@dataclass
class Macro(Named):
    value: tuple = (0, 0)


def join(type_, rest):
    """`type *` and a name, as one writes it."""
    return type_ + ("" if type_.endswith("*") or not rest or rest[0] == "(" else " ") + rest


def words(text):
    """A type in one spelling."""
    text = re.sub(r"\bPI_CALL\b|\bPI_EXPORT\b", " ", text)
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\s*([*()\[\],])\s*", r"\1", text).replace("*", " *").replace("* *", "**") \
        .replace(",", ", ").replace("( *", "(*")


def blank(text, pattern, flags=0):
    """Overwrites what matches by spaces, so that every offset stays."""
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=flags)


def pieces(code, begin, end, separator):
    """Parts between separators that are in no bracket, as (begin, end) without outer spaces."""
    found, depth, start = [], 0, begin
    for i in range(begin, end):
        if code[i] in "({[":
            depth += 1
        elif code[i] in ")}]":
            depth -= 1
        elif code[i] == separator and depth == 0:
            found.append((start, i))
            start = i + 1
    found.append((start, end))
    trimmed = []
    for a, b in found:
        stripped = code[a:b].strip()
        if stripped:
            a += len(code[a:b]) - len(code[a:b].lstrip())
            trimmed.append((a, a + len(stripped)))
    return trimmed


class Reader:
    """One header."""

    def __init__(self, name, text):
        self.name = name
        self.code = blank(text, r"/\*.*?\*/|//[^\n]*", re.DOTALL)
        self.macros = self.read_macros()
        self.code = blank(self.code, r'^[ \t]*#(?:\\\n|[^\n])*|extern "C" \{', re.MULTILINE)
        # The brace that ends extern "C".
        at = self.code.rstrip().rfind("}")
        if at > 0 and 'extern "C" {' in text:
            self.code = self.code[:at] + " " + self.code[at + 1:]

    def fail(self, begin, what):
        line = self.code.count("\n", 0, begin) + 1
        start = self.code[begin:begin + 60].split("\n")[0]
        raise NotUnderstood(f"{self.name}:{line}: {what}: {start}")

    def read_macros(self):
        found = []
        for match in re.finditer(r"^#[ \t]*define (PI_\w+)(\(?)[ \t]*(.*?)[ \t]*$", self.code,
                                 re.MULTILINE):
            name, is_function, value = match.groups()
            if value and not is_function and name not in NOT_VALUES:
                found.append(Macro(name, self.name, match.start(), match.end(), match.span(3)))
        return found

    def read(self):
        items = list(self.macros)
        previous = None
        for begin, end in pieces(self.code, 0, len(self.code), ";"):
            statement = self.code[begin:end]
            if statement.startswith("typedef struct") and "{" in statement:
                item = self.read_struct(begin, end)
            elif statement.startswith("typedef"):
                item = self.read_typedef(begin, end)
            elif re.match(r"enum\s*\{", statement):
                title = previous.name if isinstance(previous, Typedef) else ""
                item = self.read_enum(begin, end, title)
            elif statement.startswith("PI_EXPORT"):
                item = self.read_function(begin, end)
            else:
                self.fail(begin, "not understood")
            items.append(item)
            previous = item
        return items

    def read_typedef(self, begin, end):
        text = self.code[begin:end]
        match = re.match(r"typedef\s+(.*?)\(\s*PI_CALL\s*\*\s*(\w+)\s*\)\s*(\(.*\))$", text, re.DOTALL)
        if match:
            function = self.parameters_at(begin + match.start(3) + 1, begin + match.end(3) - 1)
            type_ = words(match.group(1)) + "(*)(" + ", ".join(p.type for p in function) + ")"
            return Typedef(match.group(2), self.name, begin, end, type_)
        match = re.match(r"typedef\s+(.*?)(\w+)$", text, re.DOTALL)
        if not match:
            self.fail(begin, "a typedef that is not understood")
        return Typedef(match.group(2), self.name, begin, end, words(match.group(1)))

    def read_enum(self, begin, end, title):
        body = begin + self.code[begin:end].index("{") + 1
        enumerators = []
        for a, b in pieces(self.code, body, end - 1, ","):
            match = re.match(r"(PI_\w+)\s*=\s*(.+)$", self.code[a:b], re.DOTALL)
            if not match:
                self.fail(a, "an enumerator without a value")
            value = (a + match.start(2), a + match.end(2))
            enumerators.append(Enumerator(match.group(1), self.name, a, b, value))
        return Enum("", self.name, begin, end, title, enumerators)

    def parameters_at(self, begin, end):
        found = []
        for a, b in pieces(self.code, begin, end, ","):
            text = self.code[a:b]
            if text == "void":
                continue
            match = re.match(r"(.*[\s*])(\w+)((?:\[\w*\])*)$", text, re.DOTALL)
            if not match:
                self.fail(a, "a parameter without a name")
            type_ = words(match.group(1)) + match.group(3)
            found.append(Parameter(match.group(2), self.name, a, b, type_))
        return found

    def read_function(self, begin, end):
        match = re.match(r"PI_EXPORT\s+(.*?)\s*PI_CALL\s+(pi\w+)\((.*)\)$", self.code[begin:end],
                         re.DOTALL)
        if not match:
            self.fail(begin, "a function that is not understood")
        parameters = self.parameters_at(begin + match.start(3), begin + match.end(3))
        result = (begin + match.start(1), begin + match.end(1))
        return Function(match.group(2), self.name, begin, end, words(match.group(1)), parameters,
                        result)

    def read_struct(self, begin, end):
        match = re.match(r"typedef struct (\w+)\s*\{(.*)\}\s*(\w+)$", self.code[begin:end], re.DOTALL)
        if not match or match.group(1) != match.group(3):
            self.fail(begin, "a struct whose tag is not its name")
        fields = self.fields_at(begin + match.start(2), begin + match.end(2), False)
        return Struct(match.group(1), self.name, begin, end, fields, begin + match.end(2))

    def fields_at(self, begin, end, in_union):
        found = []
        for a, b in pieces(self.code, begin, end, ";"):
            text = self.code[a:b]
            union = re.match(r"union\s*\{(.*)\}$", text, re.DOTALL)
            pointer = re.match(r"(.*?)\(\s*PI_CALL\s*\*\s*(\w+)\s*\)\s*\((.*)\)$", text, re.DOTALL)
            plain = re.match(r"(.*?[\s*])(\w+(?:\[\w+\])*(?:\s*,\s*\w+)*)$", text, re.DOTALL)
            if union:
                found += self.fields_at(a + union.start(1), a + union.end(1), True)
            elif pointer:
                parameters = self.parameters_at(a + pointer.start(3), a + pointer.end(3))
                type_ = words(pointer.group(1)) + "(*)(" + ", ".join(p.type for p in parameters) + ")"
                found.append(Field(pointer.group(2), self.name, a, b, type_, in_union))
            elif plain:
                for name, arrays in re.findall(r"(\w+)((?:\[\w+\])*)", plain.group(2)):
                    found.append(Field(name, self.name, a, b, words(plain.group(1)) + arrays, in_union))
            else:
                self.fail(a, "a field that is not understood")
        return found


def read_rows(text):
    """(slots, the loader's own) of pi_functions.def."""
    code = blank(text, r"/\*.*?\*/", re.DOTALL)
    code = blank(code, r"^[ \t]*#[^\n]*", re.MULTILINE)
    slots, own = [], []
    row = re.compile(r"\s*PI_(LOADER_)?FUNCTION\((\w+)(?:, (\w+), \w+)?, (\d+)\)")
    at = 0
    while code[at:].strip():
        match = row.match(code, at)
        if not match:
            line = code.count("\n", 0, at + 1) + 1
            raise NotUnderstood(f"{FUNCTIONS}:{line}: not a row: {code[at:].strip()[:60]}")
        begin = match.end() - len(match.group(0).lstrip())
        (own if match.group(1) else slots).append(
            Row(match.group(2), FUNCTIONS, begin, match.end(), match.group(3) or "", match.group(4),
                match.span(3), match.span(4)))
        at = match.end()
    return slots, own


def find(folders, name):
    for folder in folders:
        if (Path(folder) / name).is_file():
            return (Path(folder) / name).read_text(encoding="utf-8")
    raise NotUnderstood(f"{name} is in none of {', '.join(map(str, folders))}")


def read_api(folders):
    """All that the headers in these include folders declare."""
    api = Api()
    for name in HEADERS:
        api.texts[name] = find(folders, name)
        api.items += Reader(name, api.texts[name]).read()
    api.texts[FUNCTIONS] = find(folders, FUNCTIONS)
    api.slots, api.loader_rows = read_rows(api.texts[FUNCTIONS])
    return api
