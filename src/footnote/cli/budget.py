"""The budget of a question on the command line: the options for time, money and pages, and how amounts are written."""

import argparse
import re

import msgspec

from footnote.protocol.plans import Budget

_DURATION = re.compile(
    r"(?:(?P<hours>\d{1,5}(?:\.\d{1,3})?)h)?"
    r"(?:(?P<minutes>\d{1,5}(?:\.\d{1,3})?)m(?:in)?)?"
    r"(?:(?P<seconds>\d{1,5}(?:\.\d{1,3})?)s(?:ec)?)?"
)
_NUMBER = re.compile(r"\d{1,5}(?:\.\d{1,3})?")
_MONEY = re.compile(r"(?:\$|usd)?(\d{1,6}(?:\.\d{1,6})?|\.\d{1,6})(?:\$|usd)?")
_COUNT = re.compile(r"\d{1,6}")


def add_budget_options(parser: argparse.ArgumentParser) -> None:
    """What is left out has the limit of the agent, if it has one."""
    group = parser.add_argument_group("budget", "The run ends within these limits, with what it has found by then.")
    group.add_argument("--within", metavar="TIME", type=_seconds, help="such as 30s, 10m or 1h30m")
    group.add_argument("--spend", metavar="USD", type=_dollars, help="what models may cost, such as 0.50")
    group.add_argument("--pages", metavar="N", type=_pages, help="how many pages may be read")


def budget_from(arguments: argparse.Namespace) -> Budget | None:
    limits = {"seconds": arguments.within, "usd": arguments.spend, "pages": arguments.pages}
    given = {name: limit for name, limit in limits.items() if limit is not None}
    return Budget(**given) if given else None


def _seconds(text: str) -> float:
    """A number without a unit is seconds."""
    squeezed = "".join(text.lower().split())
    found = _DURATION.fullmatch(f"{squeezed}s" if _NUMBER.fullmatch(squeezed) else squeezed)
    if found is None or not squeezed:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time, such as 30s, 10m or 1h30m")
    seconds = sum(float(found[unit] or 0) * size for unit, size in (("hours", 3600), ("minutes", 60), ("seconds", 1)))
    if not _is_allowed("seconds", seconds):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time above 0 and up to 24h")
    return seconds


def _dollars(text: str) -> float:
    found = _MONEY.fullmatch("".join(text.lower().split()))
    if found is None or not _is_allowed("usd", float(found[1])):
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of US dollars up to 10000, such as 0.50")
    return float(found[1])


def _pages(text: str) -> int:
    if _COUNT.fullmatch(text) is None or not _is_allowed("pages", int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of pages up to 1000")
    return int(text)


def _is_allowed(name: str, value: float) -> bool:
    """Whether the limit is one that the protocol takes."""
    try:
        msgspec.convert({name: value}, Budget)
    except msgspec.ValidationError:
        return False
    return True
