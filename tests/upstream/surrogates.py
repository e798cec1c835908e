"""Unpaired surrogates: both APIs refuse a body with one as invalid JSON."""

import re
from collections.abc import Iterator
from typing import Any

_LONE = re.compile(r"[\ud800-\udfff]")


def lone_surrogates(value: Any, path: str = "body") -> Iterator[str]:
    if isinstance(value, str):
        if _LONE.search(value):
            yield f"{path}: no low surrogate in string"
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from lone_surrogates(name, f"{path} key")
            yield from lone_surrogates(one, f"{path}.{name}")
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from lone_surrogates(one, f"{path}.{at}")
