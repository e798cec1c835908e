"""What a check of `footnote doctor` looks at, and what it finds."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from msgspec import Struct

from footnote.config.configuration import Configuration
from footnote.config.validation import Problem
from footnote.net.client import Net


class CheckResult(Struct, frozen=True, omit_defaults=True):
    """What a check found. `remedy` is what to do about it."""

    check: str
    status: Literal["OK", "WARN", "FAIL"]
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the checks look at. With `problems`, `configuration` holds nothing but the home folder.

    `reached`: the providers of searches and models that were asked, and whether somebody was there.
    """

    configuration: Configuration
    problems: tuple[Problem, ...]
    net: Net
    reachable: dict[str, bool] = field(default_factory=dict[str, bool])


Check: TypeAlias = Callable[[CheckContext], AsyncIterator[CheckResult]]
