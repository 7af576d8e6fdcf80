#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_html.py FILE: tags are balanced, ids unique, links lead to a part of the page or to a file beside it."""
import os
import sys
import urllib.parse
from html.parser import HTMLParser

VOID = {"meta", "img", "br", "hr", "link", "input", "source"}
BLOCKS = {"p", "ul", "pre", "table", "div", "section", "figure", "details", "h1", "h2"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.errors, self.tags = [], [], [], [], {}

    def wrong(self, what):
        self.errors.append("line %d: %s" % (self.getpos()[0], what))

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(set(names)) != len(names):
            self.wrong("<%s> has an attribute twice" % tag)
        if tag in BLOCKS and "p" in self.open:
            self.wrong("<%s> inside <p>" % tag)
        if "svg" not in self.open and any(name.startswith("on") for name in names):
            self.wrong("<%s> has a handler" % tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "src", "xlink:href"):
                self.links.append((tag, value))
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        if "svg" not in self.open and tag != "svg" and tag not in VOID:
            self.wrong("<%s/> is no HTML" % tag)
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.wrong("</%s> closes <%s>" % (tag, self.open[-1] if self.open else "nothing"))
        if tag in self.open:
            while self.open.pop() != tag:
                pass


def main(path):
    page = Page()
    text = open(path, "rb").read().decode("utf-8")  # strict
    page.feed(text)
    page.close()
    errors = page.errors + ["<%s> is not closed" % tag for tag in page.open]
    if not text.startswith("<!DOCTYPE html>\n"):
        errors.append("no doctype")
    for tag in ("html", "head", "body", "main", "h1", "title"):
        if page.tags.get(tag) != 1:
            errors.append("%d <%s>, expected 1" % (page.tags.get(tag, 0), tag))
    errors += ["id '%s' is there twice" % i for i in sorted(set(page.ids)) if page.ids.count(i) > 1]
    for tag, link in page.links:
        if link.startswith("#"):
            if link[1:] not in page.ids:
                errors.append("<%s> leads to %s, which is not there" % (tag, link))
        elif not link.startswith("data:image/"):
            target = os.path.join(os.path.dirname(path), urllib.parse.unquote(link))
            if urllib.parse.urlparse(link).scheme or not os.path.exists(target):
                errors.append("<%s> leads to %s, which is not there" % (tag, link))
    for error in errors:
        print("%s: %s" % (path, error))
    return 1 if errors else 0


sys.exit(main(sys.argv[1]))
