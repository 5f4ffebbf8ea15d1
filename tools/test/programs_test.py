#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the common behaviour of all programs of PI, and the pictures of pi-info.

programs_test.py GROUP SOURCE FILE...    GROUP: pages, exit_codes, topology

FILEs are the programs, their man pages and completions, and plugins; each is found by its name. The
last line is "N passed, N failed, N skipped".
"""

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import traceback
from pathlib import Path
from xml.etree import ElementTree

PROGRAMS = ("pi-info", "pi-bench", "pi-conformance", "pi-run", "pi-sycl")
TESTS = []


class Skip(Exception):
    """Why a test cannot run here."""


def test(group):
    """A test of that group, named by its docstring."""

    def add(function):
        TESTS.append((group, function))
        return function

    return add


class Tree:
    """The given files, and a folder to write in."""

    def __init__(self, source, files, folder):
        self.source = Path(source)
        self.files = [Path(file) for file in files]
        self.folder = Path(folder)

    def programs(self):
        return [
            name
            for name in PROGRAMS
            if self.find(lambda file, name=name: file.name == name and file.parent.name == "bin")
        ]

    def find(self, wanted):
        return next((file for file in self.files if wanted(file)), None)

    def page(self, name):
        return self.find(lambda file: file.name == f"{name}.1")

    def completion(self, name, shell):
        file = {"bash": name, "zsh": f"_{name}", "fish": f"{name}.fish"}[shell]
        return self.find(
            lambda path: path.name == file
            and path.parts[-3] == {"bash": "bash-completion"}.get(shell, shell)
        )

    def path(self, name):
        file = self.find(lambda path: path.name == name and path.parent.name == "bin")
        if file is None:
            raise Skip(f"{name} is not built")
        return str(file)

    def plugin(self, name):
        file = self.find(lambda path: path.name == f"libpi_plugin_{name}.so")
        if file is None:
            raise Skip(f"the plugin {name} is not built")
        return str(file)

    def machines(self):
        self.plugin("sim")
        return [*sorted((self.source / "plugins/sim/machines").glob("*.json")), self.five_devices()]

    def five_devices(self):
        """A machine with different links everywhere."""
        devices = [
            {
                "name": f"gpu{i}",
                "type": "gpu",
                "uuid": f"70692d73696d2d0f0{i}00000000000000",
                "pci_address": f"0000:{17 + i:02x}:00.0",
                "numa_node": i // 3,
                "scopes": [{"name": "global", "capacity": "24 GB"}],
            }
            for i in range(5)
        ]
        links = []
        for i in range(5):
            for one, other, speed in (("host", f"gpu{i}", 12.34), (f"gpu{i}", "host", 11.1)):
                links.append(
                    {
                        "from": one,
                        "to": other,
                        "kind": "pcie",
                        "bandwidth": f"{speed * (i + 1)} GB/s",
                        "latency": f"{1.5 + i} us",
                    }
                )
            for j in range(5):
                if i == j or {i, j} == {0, 2}:
                    continue
                link = {
                    "from": f"gpu{i}",
                    "to": f"gpu{j}",
                    "connection": "migratable",
                    "kind": "pcie",
                    "bandwidth": f"{9 + i} GB/s",
                    "latency": "1.9 us",
                }
                if i // 3 == j // 3:
                    link.update(
                        connection="unified",
                        kind="nvlink",
                        bandwidth=f"{300 + i} GB/s",
                        residency="remote_access",
                        coherence="coherent",
                    )
                links.append(link)
        path = self.folder / "five-devices.json"
        path.write_text(
            json.dumps(
                {
                    "pi_machine": 1,
                    "name": "five",
                    "host": {"bandwidth": "50 GB/s", "latency": "90 ns"},
                    "devices": devices,
                    "links": links,
                }
            ),
            encoding="utf-8",
        )
        return path


def environment(**more):
    """This environment without PI's variables."""
    result = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PI_") and name != "NO_COLOR"
    }
    result.update({"LC_ALL": "C.UTF-8", "TERM": "xterm", **more})
    return result


def run(*command, **more):
    return subprocess.run(
        [str(word) for word in command],
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        timeout=200,
        check=False,
    )


def on_terminal(columns, *command, stream="stdout", **more):
    """The output of a program on a terminal with that many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}
    with subprocess.Popen(
        [str(word) for word in command], env=environment(**more), **streams
    ) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # end of the terminal on Linux
                break
            if not piece:
                break
            text += piece
        os.close(ours)
    return text.decode("utf-8", errors="replace").replace("\r\n", "\n")


def visible(text):
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", text)


def options_of(tree, name):
    """The long options of the help."""
    text = run(tree.path(name), "--help").stdout
    found = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.MULTILINE))
    assert len(found) > 3, text
    return found


def exit_codes_of(tree, name):
    """{code: when} from the help."""
    text = run(tree.path(name), "--help").stdout.split("\nExit codes:\n")[1]
    return {
        int(code): " ".join(when.split())
        for code, when in re.findall(r"^  (\d+) +(.*(?:\n     .*)*)", text, re.MULTILINE)
    }


# --- pages ---------------------------------------------------------------------------------------


@test("pages")
def man_lint(tree):
    """every man page is formatted without warnings"""
    if shutil.which("man") is None or shutil.which("groff") is None:
        raise Skip("man or groff is not installed")
    for name in tree.programs():
        done = run(
            "man", "-l", "--warnings", "-Tutf8", tree.page(name), MANWIDTH="80", MAN_KEEP_STDERR="1"
        )
        assert done.returncode == 0 and done.stderr == "", (name, done.stderr)
        assert name in done.stdout


@test("pages")
def man_sections(tree):
    """every man page has its sections, and the options and exit codes of the help"""
    for name in tree.programs():
        page = tree.page(name).read_text(encoding="utf-8")
        for section in (
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "EXIT STATUS",
            "EXAMPLES",
            "SEE ALSO",
        ):
            assert f"\n.SH {section}\n" in page, (name, section)
        plain = page.replace("\\-", "-")
        for option in options_of(tree, name):
            assert f"\\fB{option}\\fR" in plain, (name, option)
        status = plain.split("\n.SH EXIT STATUS\n")[1].split("\n.SH ")[0]
        listed = {
            int(code): when.rstrip(".").lower()
            for code, when in re.findall(r"\.TP\n\\fB(\d+)\\fR\n(.*)", status)
        }
        assert listed == {code: when.lower() for code, when in exit_codes_of(tree, name).items()}, (
            name,
            listed,
        )


@test("pages")
def documented(tree):
    """docs/tools.md has the exit codes of the help, of every program"""
    text = (tree.source / "docs/tools.md").read_text(encoding="utf-8")
    for name in tree.programs():
        for code, when in exit_codes_of(tree, name).items():
            row = f"| `{name}` | {code} | {when} |"
            assert row in text, row


def bash_words(tree, name, *words):
    """Bash's completions of the last word."""
    script = (
        'source "$1"; shift; [[ $(complete -p "$1") =~ -F\\ ([a-z_]+) ]] || exit 9; '
        'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
        'compopt() { :; }; "${BASH_REMATCH[1]}" "$1"; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", str(tree.completion(name, "bash")), name, *words],
        cwd=tree.folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == "", (name, words, done)
    return set(done.stdout.split("\n")) - {""}


@test("pages")
def bash_options(tree):
    """bash completes every option of every program"""
    for name in tree.programs():
        assert bash_words(tree, name, "--") >= options_of(tree, name), name
        assert bash_words(tree, name, "--hel") == {"--help"}, name


@test("pages")
def bash_values(tree):
    """bash completes an option's values, also after an equals sign, and file names"""
    assert bash_words(tree, "pi-info", "--color", "") == {"auto", "always", "never"}
    assert bash_words(tree, "pi-info", "--color", "=", "al") == {"always"}
    assert bash_words(tree, "pi-info", "--color", "=") == {"auto", "always", "never"}
    assert bash_words(tree, "pi-info", "--contexts", "o") == {"own"}
    (tree.folder / "a picture.svg").write_text("")
    assert bash_words(tree, "pi-info", "--svg", "a p") == {"a picture.svg"}
    assert bash_words(tree, "pi-info", "--device", "") == set()
    if tree.find(lambda file: file.name == "pi-bench"):
        assert bash_words(tree, "pi-bench", "cal") == {"calls", "calibrate"}
    if tree.find(lambda file: file.name == "pi-conformance"):
        assert "memory" in bash_words(tree, "pi-conformance", "--area", "")
    if tree.find(lambda file: file.name == "pi-run"):
        assert bash_words(tree, "pi-run", "a p") == {"a picture.svg"}
    if tree.find(lambda file: file.name == "pi-sycl"):
        assert {"true", "truncate"} <= bash_words(tree, "pi-sycl", "tru")


@test("pages")
def zsh_syntax(tree):
    """zsh reads every completion"""
    if shutil.which("zsh") is None:
        raise Skip("zsh is not installed")
    for name in tree.programs():
        file = tree.completion(name, "zsh")
        done = run("zsh", "-n", file)
        assert done.returncode == 0 and done.stderr == "", (name, done.stderr)
        text = file.read_text(encoding="utf-8")
        assert text.startswith(f"#compdef {name}\n"), text
        for option in options_of(tree, name):
            assert re.search(rf"{option}[=\[]", text), (name, option)


@test("pages")
def zsh_completes(tree):
    """zsh completes the values of an option"""
    if shutil.which("zsh") is None:
        raise Skip("zsh is not installed")
    folder = tree.completion("pi-info", "zsh").parent
    script = (
        'zmodload zsh/zpty; zpty shell zsh -f; '
        'zpty -w shell "PS1=; fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D"; '
        'zpty -w shell "echo be""gin"; '
        'while zpty -r shell line; do [[ $line == *begin* ]] && break; done; '
        'zpty -n -w shell $2$\'\\t\'; zpty -n -w shell $\'\\nexit\\n\'; '
        'while zpty -r shell line; do print -r -- $line; done'
    )
    done = run("zsh", "-f", "-c", script, "zsh", folder, "true; pi-info --color alw")
    assert "--color always" in done.stdout, done


@test("pages")
def fish_completes(tree):
    """fish reads every completion, and completes options and values"""
    if shutil.which("fish") is None:
        raise Skip("fish is not installed")
    home = {
        "HOME": str(tree.folder),
        "XDG_CONFIG_HOME": str(tree.folder),
        "XDG_DATA_HOME": str(tree.folder),
    }
    for name in tree.programs():
        file = tree.completion(name, "fish")
        done = run("fish", "--no-execute", file, **home)
        assert done.returncode == 0 and done.stderr == "", (name, done.stderr)
        done = run("fish", "-c", f"source {file}; complete -C '{name} --'", **home)
        offered = {line.split("\t")[0] for line in done.stdout.splitlines()}
        assert offered >= options_of(tree, name), (name, done)
    file = tree.completion("pi-info", "fish")
    done = run("fish", "-c", f"source {file}; complete -C 'pi-info --color al'", **home)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["always"], done


@test("pages")
def unknown_shell(tree):
    """an unsupported shell is refused, with the supported ones"""
    for name in tree.programs():
        done = run(tree.path(name), "--help-completion", "tcsh")
        assert done.returncode == 2 and "bash, zsh and fish" in done.stderr, (name, done)


@test("pages")
def versions(tree):
    """every program prints its version"""
    for name in tree.programs():
        done = run(tree.path(name), "--version")
        assert done.returncode == 0 and re.match(
            rf"{name} \d+\.\d+\.\d+, ABI \d+\.\d+(-dev)?\n", done.stdout
        ), (name, done)


# --- exit codes ----------------------------------------------------------------------------------


def check_exit_codes(tree, name, runs):
    """Each run exits with its code, and together they reach every code of the help."""
    for code, command in runs:
        done = run(tree.path(name), *command)
        assert done.returncode == code, (code, done)
        assert code == 0 or done.stderr or done.stdout, done
    assert {code for code, _ in runs} == set(exit_codes_of(tree, name)), name


@test("exit_codes")
def of_info(tree):
    """pi-info reaches each of its exit codes, and no other"""
    tree.plugin("host")
    check_exit_codes(
        tree,
        "pi-info",
        [
            (0, ["--device", "host:0:0"]),
            (0, ["--help"]),
            (1, ["--device", "nowhere"]),
            (1, ["--plugin", "/nowhere.so", "--plugins"]),
            (1, ["--device", "host", "--svg", "/nowhere/a.svg"]),
            (1, ["--device", "host", "--topology", "--costs", "/nowhere.json"]),
            (2, ["--nothing"]),
            (2, ["--costs", "a.json"]),
            (2, ["--measure"]),
            (2, ["--svg", "a.svg", "--plugins"]),
            (2, ["--json", "--measure", "--costs", "a.json"]),
        ],
    )


@test("exit_codes")
def of_bench(tree):
    """pi-bench reaches each of its exit codes, and no other"""
    check_exit_codes(
        tree,
        "pi-bench",
        [
            (0, ["calls", "--quick", "--filter", "^exported call, 1 plugin$"]),
            (0, ["--help"]),
            (1, ["calls", "--quick", "--filter", "no such row"]),
            (1, ["calls", "--json", "/nowhere/rows.json"]),
            (2, ["nothing"]),
            (2, []),
            (2, ["calls", "--filter", "("]),
        ],
    )


@test("exit_codes")
def of_conformance(tree):
    """pi-conformance reaches each of its exit codes, and no other"""
    host = tree.plugin("host")
    check_exit_codes(
        tree,
        "pi-conformance",
        [
            (0, ["--list"]),
            (0, ["--plugin", host, "--area", "platform", "--jobs", "1"]),
            (1, ["--plugin", "/nowhere.so"]),
            (1, ["--plugin", host, "--require", "opencl:9", "--area", "platform"]),
            (2, ["--nothing"]),
            (2, []),
            (2, ["--plugin", host, "--filter", "no such test at all"]),
        ],
    )


@test("exit_codes")
def of_run(tree):
    """pi-run reaches each of its exit codes, and no other"""
    tree.plugin("host")
    log, other, incomplete = (
        tree.folder / name for name in ("calls.jsonl", "other.jsonl", "incomplete.jsonl")
    )
    done = run(
        tree.path("pi-info"), "--device", "host:0:0", PI_LAYERS="record", PI_RECORD_FILE=str(log)
    )
    assert done.returncode == 0, done
    lines = log.read_text(encoding="utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if '"piContextCreate"' in line)
    call = json.loads(lines[at])
    other.write_text(
        "\n".join([*lines[:at], json.dumps({**call, "result": 4}), *lines[at + 1 :], ""]),
        encoding="utf-8",
    )
    incomplete.write_text(
        "\n".join([*lines[:at], json.dumps({**call, "cannot": "a pointer"}), *lines[at + 1 :], ""]),
        encoding="utf-8",
    )
    device = ["--device", "host:0:0"]
    check_exit_codes(
        tree,
        "pi-run",
        [
            (0, [log, *device]),
            (0, ["--list", log]),
            (1, [other, *device]),
            (2, []),
            (2, [log, "--nothing"]),
            (3, [incomplete, *device]),
            (4, ["/nowhere.jsonl"]),
            (4, [log, "--device", "nowhere"]),
        ],
    )


@test("exit_codes")
def of_sycl(tree):
    """pi-sycl reaches each of its exit codes, and no other of its own"""
    loader = tree.find(lambda file: file.name == "libpi_fake_ur_loader.so")
    if loader is None:
        raise Skip("Unified Runtime's headers were not found")
    for name in ("complete", "empty"):
        (tree.folder / name / "bin").mkdir(parents=True)
        (tree.folder / name / "lib").mkdir()
        shutil.copy(tree.path("pi-sycl"), tree.folder / name / "bin")
    (tree.folder / "complete/lib/libur_adapter_pi.so").touch()
    alone = Tree(tree.source, [tree.folder / "complete/bin/pi-sycl"], tree.folder)
    check_exit_codes(
        alone,
        "pi-sycl",
        [
            (0, ["--devices", "--ur-loader", loader]),
            (0, ["sh", "-c", "exit 0"]),
            (1, ["--devices", "--ur-loader", "/nowhere.so"]),
            (2, []),
            (2, ["--devices", "true"]),
            (2, ["--ur-loader", loader, "true"]),
            (125, ["env", str(tree.folder / "empty/bin/pi-sycl"), "true"]),
            (126, [str(tree.folder)]),
            (127, ["no-such-command-of-pi"]),
        ],
    )


# --- topology ------------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


def picture(tree, *options, **more):
    """The picture, and the JSON of the same machine."""
    file = tree.folder / "picture.svg"
    done = run(tree.path("pi-info"), "--svg", file, "--json", *options, **more)
    assert done.returncode == 0, done
    return ElementTree.parse(file).getroot(), json.loads(done.stdout)


def check_picture(root, document):
    """It has all places, pairs and links, and no text overlaps another."""
    assert {element.get("data-place") for element in root.iter() if element.get("data-place")} == {
        place["name"] for place in document["places"]
    }
    names = [place["name"] for place in document["places"]]

    def pairs(kind):
        return [
            (element.get("data-src"), element.get("data-dst"))
            for element in root.iter()
            if element.get(f"data-{kind}") is not None
        ]

    assert sorted(pairs("cell")) == sorted((src, dst) for src in names for dst in names)
    assert sorted(pairs("link")) == sorted((link["src"], link["dst"]) for link in document["links"])
    cells = {
        (e.get("data-src"), e.get("data-dst")): e
        for e in root.iter()
        if e.get("data-cell") is not None
    }
    for row in document["connections"]:
        cell = cells[(row["src"], row["dst"])]
        assert row["connection"] in cell.find(f"{SVG}rect").get("class").split(), row
        assert row["connection"] in [text.text for text in cell.iter(f"{SVG}text")], row
    for link in document["links"]:
        words = " ".join(text.text for text in cells[(link["src"], link["dst"])].iter(f"{SVG}text"))
        expected = (
            f"{link['bandwidth'] / 1e9:.3g} GB/s"
            if link["bandwidth"] and link["bandwidth"] < 1e11
            else ""
        )
        assert expected in words, (link, words)

    sizes = {"title": 18, "section": 14, "small": 11}
    boxes = []
    for text in root.iter(f"{SVG}text"):
        classes = text.get("class", "").split()
        size = next((sizes[name] for name in classes if name in sizes), 12)
        width = 0.58 * size * len(text.text)
        x, y = float(text.get("x")), float(text.get("y"))
        left = x - (width / 2 if "middle" in classes else width if "end" in classes else 0)
        boxes.append((left, y - 0.75 * size, left + width, y + 0.1 * size, text.text))
    _, _, wide, high = map(float, root.get("viewBox").split())
    for i, one in enumerate(boxes):
        assert 0 <= one[0] and one[2] <= wide and 0 <= one[1] and one[3] <= high, one
        for other in boxes[i + 1 :]:
            apart = (
                one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            )
            assert apart, (one, other)


@test("topology")
def pictures_of_machines(tree):
    """pictures of all machines have all places, pairs and links, without overlapping text"""
    for machine in tree.machines():
        root, document = picture(tree, "--device", "sim", PI_SIM_MACHINE=str(machine))
        assert all(link["figures"] in ("machine file", "unknown") for link in document["links"])
        check_picture(root, document)
        words = [text.text for text in root.iter(f"{SVG}text")]
        assert any(
            "claimed by the simulated machine's file, not measured" in text for text in words
        ), words
        assert not any("solid: measured" in text for text in words), words


@test("topology")
def picture_is_alone(tree):
    """the picture needs no other file, and has colours for dark pages"""
    root, _ = picture(tree, "--device", "host")
    text = ElementTree.tostring(root, encoding="unicode")
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"href|url\(|@import|<image", text)


@test("topology")
def measured(tree):
    """measured figures are marked as measured, missing ones as unknown"""
    tree.plugin("host")
    root, document = picture(tree, "--device", "host:0:0")
    check_picture(root, document)
    assert {link["figures"] for link in document["links"]} == {"unknown"}
    assert any("dotted: unknown" in (text.text or "") for text in root.iter(f"{SVG}text"))
    root, document = picture(tree, "--device", "host:0:0", "--measure")
    check_picture(root, document)
    assert [link["figures"] for link in document["links"]] == ["measured", "measured"]
    assert all(link["bandwidth"] > 1e6 for link in document["links"])
    assert any("measured on this machine" in (text.text or "") for text in root.iter(f"{SVG}text"))


@test("topology")
def costs_file(tree):
    """the figures of a costs file are shown, and an invalid file is refused"""
    costs = tree.folder / "costs.json"
    key = None
    links = []
    for src, dst, bandwidth in (("host", "device", 12.5e9), ("device", "host", 6.25e9)):
        links.append(
            {
                "from": src,
                "to": dst,
                "costs": [
                    {"up_to": limit, "latency": 2e-6, "bandwidth": bandwidth}
                    for limit in (65536, 4194304, 2**64 - 1)
                ],
            }
        )
    # The runtime defines the key of a place; the costs that pi-bench writes have it.
    done = run(
        tree.path("pi-bench"),
        "calibrate",
        "--quick",
        "--costs",
        costs,
        "--filter",
        "none",
        PI_PLUGINS=tree.plugin("host"),
    )
    if not costs.exists():
        raise Skip(f"pi-bench calibrate wrote no costs: {done.stderr}")
    written = json.loads(costs.read_text(encoding="utf-8"))
    key = next(place for place in written["places"] if place.startswith("host:"))
    for link in links:
        link["from"], link["to"] = (
            key if end == "device" else end for end in (link["from"], link["to"])
        )
    costs.write_text(
        json.dumps(
            {
                "format": "pi costs",
                "version": 1,
                "callback_latency": 0,
                "places": ["host", key],
                "links": links,
            }
        ),
        encoding="utf-8",
    )
    done = run(tree.path("pi-info"), "--device", "host:0:0", "--topology", "--costs", costs)
    assert re.search(r"host +-> host:0:0 +12\.5 GB/s +2 us +measured\n", done.stdout), done
    assert re.search(r"host:0:0 -> host +6\.25 GB/s +2 us +measured\n", done.stdout), done
    costs.write_text("{}", encoding="utf-8")
    done = run(tree.path("pi-info"), "--device", "host:0:0", "--topology", "--costs", costs)
    assert done.returncode == 1 and str(costs) in done.stderr, done


@test("topology")
def simulated_is_not_measured(tree):
    """a simulated machine is not measured, and the message says why"""
    machine = str(tree.machines()[0])
    done = run(
        tree.path("pi-info"), "--device", "sim", "--topology", "--measure", PI_SIM_MACHINE=machine
    )
    assert done.returncode == 1 and "its own clock" in done.stderr, done


@test("topology")
def tree_and_links(tree):
    """--topology has the tree, the matrix and the links, and --json the same"""
    tree.plugin("sim")
    machine = str(tree.source / "plugins/sim/machines/switch-8gpu.json")
    text = run(tree.path("pi-info"), "--device", "sim", "--topology", PI_SIM_MACHINE=machine).stdout
    assert (
        "  |- NUMA node 0\n  |  |- sim:0:0 " in text
        and "  `- NUMA node 1\n     |- sim:0:4 " in text
    ), text
    assert "sim:0:0 <-> sim:0:1 to sim:0:7  450 GB/s    2 us  nvlink  machine file\n" in text, text
    assert "\nConnections (" in text and "PCI 0000:1b:00.0" in text, text
    document = json.loads(
        run(
            tree.path("pi-info"), "--device", "sim", "--topology", "--json", PI_SIM_MACHINE=machine
        ).stdout
    )
    nodes = document["tree"]["children"]
    assert [node["name"] for node in nodes] == ["NUMA node 0", "NUMA node 1"]
    assert [leaf["name"] for leaf in nodes[1]["children"]] == [f"sim:0:{i}" for i in range(4, 8)]
    assert all(leaf["kind"] == "place" for node in nodes for leaf in node["children"])
    assert len(document["links"]) == 72


@test("topology")
def colours(tree):
    """colours are only on terminals, not with NO_COLOR, and always with --color=always"""
    command = [tree.path("pi-info"), "--device", "host", "--topology"]
    assert "\x1b[32m" in on_terminal(100, *command)
    assert "\x1b[" not in on_terminal(100, *command, NO_COLOR="1")
    assert "\x1b[32m" in on_terminal(100, *command, NO_COLOR="")
    assert "\x1b[32m" in on_terminal(100, *command, "--color=always", NO_COLOR="1")
    assert "\x1b[" not in on_terminal(100, *command, "--color=never")
    assert "\x1b[" not in run(*command).stdout
    assert "\x1b[32m" in run(*command, "--color=always").stdout


@test("topology")
def narrow_and_wide(tree):
    """a narrow terminal has all matrix cells in short lines, a wide one the matrix in one piece"""
    for machine in tree.machines():
        command = [tree.path("pi-info"), "--device", "sim", "--topology"]
        narrow = visible(on_terminal(60, *command, PI_SIM_MACHINE=str(machine)))
        assert max(map(len, narrow.split("\n"))) <= 60, narrow
        wide = visible(on_terminal(200, *command, PI_SIM_MACHINE=str(machine)))
        places = len(
            json.loads(run(*command, "--json", PI_SIM_MACHINE=str(machine)).stdout)["places"]
        )
        cell = r"(?<= )(?:-|none|unified|migratable|copied|mapped|import/\d+)(?= |$)"

        def matrix(text):
            return text.split("\nConnections ")[1].split("\n  unified     used")[0]

        for text in (narrow, wide):
            assert len(re.findall(cell, matrix(text), re.MULTILINE)) == places * places, text
        assert len(matrix(wide).strip().split("\n")) == places + 2, wide
        assert "⇄" in wide or "→" in wide, wide


@test("topology")
def no_drawn_lines(tree):
    """without UTF-8 in the terminal, lines and arrows are ASCII"""
    text = on_terminal(100, tree.path("pi-info"), "--device", "host", "--topology", LC_ALL="C")
    assert text.isascii() and "<->" in text, text


@test("topology")
def progress(tree):
    """pi-bench shows its progress only on a terminal, and erases it at the end"""
    command = [tree.path("pi-bench"), "calls", "--quick"]
    shown = on_terminal(80, *command, stream="stderr")
    assert re.search(r"\r\x1b\[K\[\d+ rows?, 0:\d\d\] ", shown), shown
    assert shown.endswith("\r\x1b[K"), shown
    assert max(len(visible(piece)) for piece in shown.split("\r")) < 80, shown
    assert run(*command).stderr == ""


@test("topology")
def bench_table(tree):
    """the table of pi-bench has one line per row, and two on a narrow terminal"""
    command = [tree.path("pi-bench"), "calls", "--quick", "--filter", "^exported call, "]
    row = r"^exported call, 1 plugin {space} +[\d.]+ +[\d.]+ ns +[\d.]+  \[\d\]$"
    wide, narrow = on_terminal(120, *command), on_terminal(60, *command)
    assert re.search(row.format(space=""), wide, re.MULTILINE), wide
    assert re.search(
        row.format(space="").replace("plugin ", "plugin\n"), narrow, re.MULTILINE
    ), narrow
    assert all(
        len(line) <= 60 for line in narrow.split("\n") if re.search(r"\[\d\]$", line)
    ), narrow
    assert re.search(row.format(space=""), run(*command).stdout, re.MULTILINE)


@test("topology")
def not_measured(tree):
    """the JSON of pi-bench lists rows that were not measured, with the reason"""
    file = tree.folder / "rows.json"
    run(
        tree.path("pi-bench"),
        "plugin",
        "--quick",
        "--filter",
        "none",
        "--json",
        file,
        PI_OPENCL_LIBRARY="/nowhere.so",
    )
    document = json.loads(file.read_text(encoding="utf-8"))
    assert document["rows"] == [] and document["not_measured"], document
    assert all(row["name"] and row["reason"] for row in document["not_measured"]), document


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in {group for group, _ in TESTS}:
        sys.exit(__doc__)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for group, function in TESTS:
        if group != sys.argv[1]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(Tree(sys.argv[2], sys.argv[3:], folder))
                result = "passed"
            except Skip as skip:
                print(f"skipped: {function.__doc__}: {skip}")
                result = "skipped"
            except Exception:  # pylint: disable=broad-except
                print(f"failed: {function.__doc__}")
                traceback.print_exc(file=sys.stdout)
                result = "failed"
        counts[result] += 1
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
