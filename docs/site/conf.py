# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sphinx's configuration. The source folder is the tree itself. Links of pages name files of the
tree, and become links to pages of the site: to the page, to the page that shows a part of
README.md, to a header's reference, to a folder's README.md, or to a page that shows any other file
or folder."""

import html
import posixpath
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.util import logging
from sphinx.highlighting import PygmentsBridge
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)
tree = Path(__file__).resolve().parent.parent.parent
project = "PI"
author = "the authors of PI"
copyright = "the authors of PI; Apache 2.0 with LLVM exceptions"  # pylint: disable=redefined-builtin
version = release = ".".join(
    re.search(rf"#define PI_VERSION_{part} (\d+)", (tree / "api/include/pi/pi.h").read_text())[1]
    for part in ("MAJOR", "MINOR"))

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc"]
root_doc = "docs/site/index"
include_patterns = ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "api/*.md", "docs/*.md", "docs/model/*.md", "docs/site/**.md",
                    "examples/**/README.md", "conformance/**/README.md", "plugins/**/README.md", "tools/**/README.md", "bindings/**/README.md"]
exclude_patterns = ["build", ".git", ".cache", "scripts/lib/new-plugin", "**/__pycache__"]
# Any first heading; code that is not a whole program.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
nitpicky = False

myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]

breathe_projects = {"PI": str(tree / "build/docs/.doxygen/xml")}
breathe_default_project = "PI"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
breathe_default_members = ("members", "undoc-members")
breathe_show_include = False
c_id_attributes = cpp_id_attributes = ["PI_EXPORT", "PI_CALL", "PI_RUNTIME_EXPORT"]

# Documents the built Python package.
sys.path.insert(0, str(tree / "build/release/python"))
try:
    import pi_runtime  # noqa: F401  pylint: disable=unused-import
    has_python = True
except ImportError:
    has_python = False
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"PI {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"

# Which page of the site shows a section of README.md, which is not a page of the site itself.
README_PAGES = {"": "docs/site/index", "try-it": "docs/site/start", "a-first-program": "docs/site/start",
                "install": "docs/site/start", "read-on": "docs/site/index", "how-it-compares": "docs/site/start"}
# The page with the reference of a header.
REFERENCES = {"api/include/pi/pi.h": "pi", "api/include/pi/pi_plugin.h": "plugin",
              "api/include/pi/pi_native_kernel.h": "plugin", "api/include/pi/pi_verification_kernel.h": "plugin",
              "loader/include/pi": "loader",
              "runtime/include/pi/runtime": "runtime", "plugins/sdk/include/pi/sdk": "sdk",
              "bindings/python/pi_runtime": "python"}
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".json": "json", ".py": "python", ".txt": "cmake",
             ".yml": "yaml", ".def": "c", ".cmake": "cmake"}
RULER = re.compile(r"^/\* ===== (?P<title>.*?) =+ \*/$", re.MULTILINE)


class HeaderReference(SphinxDirective):
    """`{header-reference} PATTERN...`: a section for each header: its comment, then its groups in
    order."""

    has_content = True
    option_spec = {"flat": directives.flag} # no section for the header itself

    def parse(self, text):
        node = nodes.Element()
        self.state.nested_parse(StringList(text.split("\n"), self.env.docname), 0, node, match_titles=1)
        return node.children

    def section(self, name, title, children, literal=False):
        node = nodes.section(ids=[name], names=[name])
        node += nodes.title("", "", nodes.literal("", title) if literal else nodes.Text(title))
        node += children
        self.state.document.note_implicit_target(node)
        return node

    def run(self):
        result = []
        for path in sorted({path for line in self.content for path in tree.glob(line)}, key=lambda p: (p.suffix, p.name)):
            name = str(path.relative_to(tree)).split("include/", 1)[1]
            self.env.note_dependency(str(path))
            text = path.read_text(encoding="utf-8")
            titles = RULER.findall(text) if path.suffix == ".h" else []
            slug = re.sub(r"\W+", "-", name)
            if titles:
                children = self.parse(f"```{{doxygenfile}} {name}\n:sections: detaileddescription\n```")
                for title in titles:
                    group = path.stem + "_" + re.sub(r"\W+", "_", title.split(":")[0]).lower()
                    children.append(self.section(
                        f"{slug}-{nodes.make_id(title)}", title.split(":")[0],
                        self.parse(f"```{{doxygengroup}} {group}\n:content-only:\n:inner:\n```")))
            else:
                group = re.sub(r"\W+", "_", name) if path.suffix == ".hpp" and "\nnamespace " in text else ""
                sections = ":sections: detaileddescription define" if group else ""
                children = self.parse(f"```{{doxygenfile}} {name}\n{sections}\n```")
                if group:
                    children += self.parse(f"```{{doxygengroup}} {group}\n:content-only:\n:inner:\n```")
            result += children if "flat" in self.options else [self.section(slug, name, children, literal=True)]
        return result


def page_of(app, docname, path, anchor):
    """(page, anchor) of the site for a file of the tree."""
    if path == "README.md":
        if anchor not in README_PAGES:
            logger.warning("no page shows README.md#%s (README_PAGES)", anchor, location=docname)
            anchor = ""
        return README_PAGES[anchor], anchor
    for header, page in REFERENCES.items():
        if path == header or path.startswith(header + "/"):
            return f"docs/site/reference/{page}", ""
    for name in (path.removesuffix(".md"), f"{path}/README"):
        if name in app.env.found_docs:
            return name, anchor
    app.env.shown_files.setdefault(docname, set()).add(path)
    return f"source/{path}", ""


def resolve_links(app, doctree):
    """Links to files of the tree become links to pages, once a page is read."""
    docname = app.env.docname
    for node in list(doctree.findall(lambda n: isinstance(n, (addnodes.pending_xref, addnodes.download_reference)))):
        if node.get("reftype") != "myst" or re.match(r"[a-z]+:|#", node["reftarget"]):
            continue
        target, _, anchor = node["reftarget"].partition("#")
        # Text that a page includes from README.md has links relative to README.md.
        for base in (posixpath.dirname(docname), ""):
            path = posixpath.normpath(posixpath.join(base, target))
            if (tree / path).exists():
                break
        else:
            continue # MyST reports it
        page, anchor = page_of(app, docname, path, anchor)
        if page.startswith("source/"):
            up = "../" * docname.count("/")
            link = nodes.reference("", "", internal=True, refuri=f"{up}{page}.html")
        else:
            target = "/" + page + (f".md#{anchor}" if anchor else "")
            link = addnodes.pending_xref("", refdoc=docname, reftype="myst" if anchor else "doc",
                                         refdomain=None if anchor else "std", refexplicit=True, refwarn=True,
                                         reftarget=posixpath.relpath(page, posixpath.dirname(docname)) + f".md#{anchor}"
                                         if anchor else f"/{page}")
        link += node.children
        node.replace_self(link)


def show_files(app):
    """A page for each file that a page links to, and for folders a list of their files."""
    shown = {path for paths in app.env.shown_files.values() for path in paths}
    shown |= {f"{path}/{file.name}" for path in shown if (tree / path).is_dir() for file in (tree / path).iterdir()
              if file.is_file() and file.stat().st_size < 200_000 and file.suffix in LANGUAGES}
    for path in sorted(shown):
        file = tree / path
        up = "../" * (path.count("/") + 1)
        if file.is_dir():
            entries = sorted(p.name + "/" * p.is_dir() for p in file.iterdir() if not p.name.startswith((".", "__")))
            here = [f'<a href="{posixpath.basename(path)}/{html.escape(e)}.html">{html.escape(e)}</a>'
                    if f"{path}/{e}" in shown else html.escape(e) for e in entries]
            body = "<ul>" + "".join(f"<li><code>{entry}</code></li>" for entry in here) + "</ul>"
        else:
            language = LANGUAGES.get(file.suffix) or ("bash" if file.read_text().startswith("#!/usr/bin/env bash") else
                                                      "python" if file.read_text().startswith("#!") else "text")
            body = PygmentsBridge("html", pygments_style).highlight_block(file.read_text(encoding="utf-8"), language,
                                                                          force=True)
        yield (f"source/{path}", {"title": path, "body": f"<h1><code>{html.escape(path)}</code></h1>{body}",
                                  "parents": [], "prev": None, "next": None, "toc": "", "display_toc": False,
                                  "up": up}, "page.html")


def tidy_groups(app):
    """Keeps each entity once in Doxygen's groups: without members of a group's classes, and without
    macros, which belong to the file."""
    xml = tree / "build/docs/.doxygen/xml"
    known = {compound.findtext("name") for compound in ElementTree.parse(xml / "index.xml").getroot()
             if compound.get("kind") in ("class", "struct")}
    for path in xml.glob("group__*hpp.xml"):
        parsed = ElementTree.parse(path)
        group = parsed.getroot().find("compounddef")
        classes = {inner.text for inner in group.findall("innerclass")}
        for inner in group.findall("innerclass"):
            if inner.text.rpartition("::")[0] in classes:
                group.remove(inner)
        seen = set()
        for section in group.findall("sectiondef"):
            for member in section.findall("memberdef"):
                scope = (member.findtext("qualifiedname") or "").rpartition("::")[0]
                if scope in known or member.get("id") in seen or member.get("kind") == "define":
                    section.remove(member)
                seen.add(member.get("id"))
                if scope: # a group does not have it
                    member.find("name").text = member.findtext("qualifiedname")
            if section.find("memberdef") is None:
                group.remove(section)
        parsed.write(path, encoding="utf-8", xml_declaration=True)


def check_contracts(app):
    """A warning for each function of the C headers without a contract in the reference, or missing
    there."""
    said = {}
    for path in (tree / "build/docs/.doxygen/xml").glob("*.xml"):
        if path.name.startswith(("group__pi", "pi__loader")):
            for member in ElementTree.parse(path).getroot().iter("memberdef"):
                if member.get("kind") == "function":
                    words = "".join(member.find("detaileddescription").itertext()) + "".join(
                        member.find("briefdescription").itertext())
                    said[member.findtext("name")] = said.get(member.findtext("name"), "") + words.strip()
    for header in ("api/include/pi/pi.h", "api/include/pi/pi_plugin.h", "loader/include/pi/pi_loader.h"):
        for name in re.findall(r"^PI_EXPORT pi_result PI_CALL\s+(\w+)\(", (tree / header).read_text(), re.MULTILINE):
            if name not in said and header.endswith("pi.h"):
                logger.warning("%s: %s is not in the reference", header, name)
            elif name in said and not said[name]:
                logger.warning("%s: %s has no contract in the reference", header, name)


def begin(app, env, docnames):
    env.shown_files = getattr(env, "shown_files", {})
    for docname in docnames:
        env.shown_files.pop(docname, None)


def merge(app, env, docnames, other):
    for docname in docnames:
        if docname in other.shown_files:
            env.shown_files[docname] = other.shown_files[docname]


def purge(app, env, docname):
    getattr(env, "shown_files", {}).pop(docname, None)


def without_python(_, docname, source):
    """The page says so if the package was not built."""
    if docname == "docs/site/reference/python" and not has_python:
        source[0] = source[0].split("```", 1)[0] + "This site was built without it (`build/release/python`): `help(pi_runtime)` has its reference.\n"


def setup(app):
    app.add_directive("header-reference", HeaderReference)
    app.connect("builder-inited", tidy_groups)
    app.connect("builder-inited", check_contracts)
    app.connect("source-read", without_python)
    app.connect("env-before-read-docs", begin)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("doctree-read", resolve_links, priority=100) # before Sphinx collects files to download
    app.connect("html-collect-pages", show_files)
