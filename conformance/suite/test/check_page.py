#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_page.py FILE: fails when a page has elements that are not closed, scripts, resources of elsewhere, links that
lead nowhere, or details without a summary."""

import sys
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.problems = [], set(), [], []
        self.details_without_summary = 0

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if self.open and self.open[-1] == "details" and self.details_without_summary:
            self.details_without_summary = 0
            if tag != "summary":
                self.problems.append(f"details begin with <{tag}>, not with <summary>")
        if tag in ("script", "link", "img", "iframe", "object", "embed"):
            self.problems.append(f"<{tag}> in line {self.getpos()[0]}")
        for name, value in attributes:
            if name == "src" or name.startswith("on"):
                self.problems.append(f"the attribute {name} in line {self.getpos()[0]}")
            if name == "href":
                self.links.append(value)
        if "id" in values:
            if values["id"] in self.ids:
                self.problems.append(f"two elements have the id {values['id']}")
            self.ids.add(values["id"])
        if tag not in VOID:
            self.open.append(tag)
            self.details_without_summary = int(tag == "details")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"a wrong </{tag}> in line {self.getpos()[0]}")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_page.py FILE")
    page = Page()
    with open(sys.argv[1], encoding="utf-8") as file:
        page.feed(file.read())
    page.close()
    page.problems += [f"<{tag}> is not closed" for tag in page.open]
    page.problems += [
        f"the link {link} leads nowhere" for link in page.links if link[0] != "#" or link[1:] not in page.ids
    ]
    for problem in page.problems:
        print(problem)
    sys.exit(1 if page.problems else 0)


if __name__ == "__main__":
    main()
