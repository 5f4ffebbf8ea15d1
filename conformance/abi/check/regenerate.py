# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the frozen file, and the copy of the headers that the old plugin and the old loader
keep."""

import tempfile
from pathlib import Path

import draft
import freeze
import gate
import header

SNAPSHOT = "v1.0"


def frozen_path(abi, api):
    macro = next(m for m in api.all(header.Macro) if m.name == "PI_VERSION_MAJOR")
    return abi / f"frozen_v{api.texts[macro.file][slice(*macro.value)]}.c"


def snapshot_folder(abi):
    return abi / SNAPSHOT / "include"


def check_snapshot(abi, folders):
    """What breaks programs made with the snapshot's headers: so nobody can edit the promise itself,
    the frozen file, to make it fit."""
    folder = snapshot_folder(abi)
    with tempfile.TemporaryDirectory() as temporary:
        frozen = Path(temporary) / f"frozen_{SNAPSHOT}.c"
        frozen.write_text(freeze.frozen_text(header.read_api([folder]), [folder]), encoding="utf-8")
        return gate.check(frozen, folders)


def write_snapshot(abi, api):
    folder = snapshot_folder(abi)
    for name, text in api.texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def regenerate(root, abi, api, folders):
    if draft.is_open(api):
        print("check-abi: a draft is not frozen: PI_VERSION_DRAFT should be 0. Nothing was written.")
        return 1
    frozen = frozen_path(abi, api)
    broken = gate.check(frozen, folders) if frozen.exists() else ""
    if broken and not frozen.name.startswith("frozen_v0"):
        print(broken)
        print(f"check-abi: {frozen.name} is final: only appending is allowed. Nothing was written.")
        return 1
    text = freeze.frozen_text(api, folders)
    is_new = not frozen.exists()
    same = not is_new and frozen.read_text(encoding="utf-8") == text
    frozen.write_text(text, encoding="utf-8")
    print(f"check-abi: {frozen.relative_to(root)} is "
          + ("as it was" if same else "written; read the difference before you commit it"))
    if broken or is_new:
        write_snapshot(abi, api)
        print(f"check-abi: what was compiled before does not work with these headers, so {SNAPSHOT}/ is a "
              "copy of them; the old plugin and the old loader may need the change too")
        print("check-abi: CHANGELOG.md needs a line under ABI")
    return 0
