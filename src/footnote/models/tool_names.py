"""The names of tools in the spellings of models: `functions.web_search`, `Web_Search`, `web-search`, `web_search:0`."""

import re
from collections.abc import Iterable

_MAX_LENGTH = 200
_ADDITION = re.compile(r"<\|.*|\(.*|:\d+\s*\Z", re.DOTALL)
"""What models write behind a name: a token of their template, brackets, or the number of the call."""


class ToolNames:
    """The names of the tools that a request offers."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = frozenset(names)
        self._by_plain: dict[str, str | None] = {}
        for name in self._names:
            plain = _plain(name)
            # Two names that differ only in their spelling are told apart by it.
            self._by_plain[plain] = None if plain in self._by_plain else name

    def find(self, written: str) -> str | None:
        """The name that is meant; None: it is that of no tool, or not certain."""
        if written in self._names:
            return written
        name = _ADDITION.sub("", written[:_MAX_LENGTH])
        return self._by_plain.get(_plain(name)) or self._by_plain.get(_plain(re.split(r"[./:]", name)[-1]))

    def resolve(self, written: str) -> str:
        """The name that is meant, or else what was written."""
        return self.find(written) or written


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
