# SPDX-License-Identifier: MIT
"""Docstrings for mkdocstrings (mkdocs.yml): examples that begin with >>> become blocks of code."""
import re

from griffe import Extension

EXAMPLE = re.compile(r"(?m)^( *)>>> .*(?:\n(?=\1\S).*)*")


class Examples(Extension):
    def on_object(self, *, obj, **_):
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(self.block, obj.docstring.value)

    @staticmethod
    def block(match):
        indent = match[1]
        lines = [line[len(indent):] for line in match[0].split("\n")]
        return "\n".join(["```pycon", *lines, "```"])
