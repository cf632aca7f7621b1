# SPDX-License-Identifier: Apache-2.0
"""Command lines of the scripts."""

import argparse
import sys
from collections.abc import Mapping, Sequence


class Parser(argparse.ArgumentParser):
    """A parser that shows a script's docstring as it is. `renamed` maps former flags to the present
    ones; they go on working."""

    def __init__(self, doc: str | None, renamed: Mapping[str, str] | None = None) -> None:
        super().__init__(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.renamed = dict(renamed or {})

    def parse_known_args(
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As ArgumentParser does."""
        words = []
        for word in sys.argv[1:] if args is None else args:
            flag, equals, value = word.partition("=")
            words.append(self.renamed.get(flag, flag) + equals + value)
        return super().parse_known_args(words, namespace)
