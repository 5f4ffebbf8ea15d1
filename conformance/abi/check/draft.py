# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds a draft's number to what its headers declare: a loader takes plugins of the same number for
its own."""

import contextlib
import hashlib
import io
import re
import tempfile
from pathlib import Path

import header

FILE = "draft.txt"
MACRO = re.compile(r"^#define PI_VERSION_(MAJOR|MINOR|DRAFT) (\d+)$", re.MULTILINE)


def numbers(api):
    """PI_VERSION_MAJOR, _MINOR and _DRAFT, as a dictionary."""
    found = {name: int(value) for name, value in MACRO.findall(api.texts["pi/pi.h"])}
    if set(found) != {"MAJOR", "MINOR", "DRAFT"}:
        raise header.NotUnderstood("pi/pi.h: PI_VERSION_MAJOR, _MINOR and _DRAFT should each be a number")
    return found


def is_open(api):
    return numbers(api)["DRAFT"] != 0


def digest(api):
    """Of all that the headers declare: neither comments nor spaces count, nor does the number
    itself."""
    text = "".join(MACRO.sub("", api.texts[name]) for name in sorted(api.texts))
    code = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    return hashlib.sha256(" ".join(code.split()).encode()).hexdigest()


def stated(api):
    now = numbers(api)
    return f"{now['MAJOR']}.{now['MINOR']} draft {now['DRAFT']}\n{digest(api)}\n"


def check(abi, api):
    """What is wrong, as text; "" if nothing."""
    path = abi / FILE
    written = path.read_text(encoding="utf-8") if path.exists() else ""
    if not is_open(api):
        return f"{path} is there, but PI_VERSION_DRAFT is 0: remove it" if written else ""
    if written == stated(api):
        return ""
    now = numbers(api)
    if written.startswith(f"{now['MAJOR']}.{now['MINOR']} draft {now['DRAFT']}\n"):
        return ("the headers declare something else than when PI_VERSION_DRAFT became "
                f"{now['DRAFT']}: raise it in pi.h, then scripts/check-abi --regenerate-draft")
    return f"{path} is not of draft {now['DRAFT']}: scripts/check-abi --regenerate-draft"


def write(abi, api):
    """Whether it could: a number is given out once."""
    now = numbers(api)
    path = abi / FILE
    written = path.read_text(encoding="utf-8") if path.exists() else ""
    before = re.match(r"(\d+)\.(\d+) draft (\d+)\n", written)
    if written != stated(api) and before and \
            tuple(map(int, before.groups())) >= (now["MAJOR"], now["MINOR"], now["DRAFT"]):
        print(f"check-abi: {path.name} has draft {before[3]}: PI_VERSION_DRAFT in pi.h should be higher")
        return False
    path.write_text(stated(api), encoding="utf-8")
    print(f"check-abi: {path.name} is of draft {now['DRAFT']}")
    return True


def self_test(api):
    """(edits, how many of them were misjudged): what is refused, and what is not."""
    def edited(name, old, new):
        texts = dict(api.texts)
        assert old in texts[name], old
        texts[name] = texts[name].replace(old, new, 1)
        return header.Api(texts=texts)

    number = f"#define PI_VERSION_DRAFT {numbers(api)['DRAFT']}"
    raised = f"#define PI_VERSION_DRAFT {numbers(api)['DRAFT'] + 1}"
    appended = edited("pi/pi.h", "PI_SUCCESS = 0,", "PI_SUCCESS = 0, PI_INJECTED = 99,")
    both = header.Api(texts={**appended.texts, "pi/pi.h": appended.texts["pi/pi.h"].replace(number, raised)})
    with tempfile.TemporaryDirectory() as folder:
        abi = Path(folder)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            judged = [
                (write(abi, api), True),
                (check(abi, api) == "", True),
                (check(abi, edited("pi/pi.h", "/* ===== Results", "/* Another comment. */ /* =====  Results")) == "", True),
                (check(abi, appended) == "", False),
                (write(abi, appended), False),
                (check(abi, edited("pi/pi.h", number, raised)) == "", False),
                (check(abi, both) == "", False),
                (write(abi, both), True),
                (check(abi, both) == "", True),
                (write(abi, api), False),
            ]
    return len(judged), sum(bool(is_so) != should for is_so, should in judged)
