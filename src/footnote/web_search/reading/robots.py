"""robots.txt, by RFC 9309: what a site asks programs to leave alone.

A site that says nothing (4xx) may be read. One whose robots.txt fails (5xx) or asks for patience (429) is left alone
for a minute, as the RFC wants it. One that cannot be reached fails as what it is, a dead name or a dead host: its
pages could not be reached either, and "robots" would be the wrong word for it.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator
from urllib.parse import quote

from msgspec import Struct

from footnote.net.client import Response
from footnote.net.guard import PageUrl
from footnote.web_search.clock import Clock
from footnote.web_search.flights import Flights
from footnote.web_search.reading.body import Body
from footnote.web_search.reading.fetch import Fetcher, PageFailed, Trail

TOKEN = "footnote"  # noqa: S105 - what RFC 9309 calls our name
SECONDS = 3.0
LARGEST = 500 * 1024
KEPT_SECONDS = 60 * 60
KEPT_AFTER_FAILURE_SECONDS = 60
KEPT_HOSTS = 1_000

_UNRESERVED = re.compile(r"%(2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])")
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")


class Rule(Struct, frozen=True):
    pattern: str
    allows: bool

    def matches(self, path: str) -> bool:
        """`*` is any text, `$` at the end is the end. Piece by piece, so that no pattern takes more than one pass."""
        first, *others = self.pattern.removesuffix("$").split("*")
        if not path.startswith(first):
            return False
        position = len(first)
        last = others.pop() if others and self.pattern.endswith("$") else None
        for piece in others:
            found = path.find(piece, position)
            if found < 0:
                return False
            position = found + len(piece)
        if last is not None:
            return len(path) - len(last) >= position and path.endswith(last)
        return not self.pattern.endswith("$") or position == len(path)


class Rules(Struct, frozen=True):
    """What holds for us. `failed` is the status of a robots.txt that could not be had: nothing may be read then."""

    rules: tuple[Rule, ...] = ()
    failed: int | None = None

    def check(self, path: str) -> None:
        if self.failed is not None:
            raise PageFailed("robots", f"robots.txt answers with HTTP {self.failed}, so the site is left alone for now")
        path = _regular(path)
        fitting = [rule for rule in self.rules if rule.matches(path)]
        if fitting and not max(fitting, key=lambda rule: (len(rule.pattern), rule.allows)).allows:
            raise PageFailed("robots", "robots.txt asks to stay away")


def parse(text: str) -> Rules:
    """All groups that name us; if there are none, all that name everybody."""
    rules: dict[str, list[Rule]] = {TOKEN: [], "*": []}
    told = "*"
    names: set[str] = set()
    among_names = False
    for key, value in _lines(text):
        if key == "user-agent":
            names = names if among_names else set()
            among_names = True
            if _is_ours(value):
                told = TOKEN
                names.add(TOKEN)
            elif value == "*":
                names.add("*")
            continue
        among_names = False
        for name in names if value else ():
            rules[name].append(Rule(_regular(value), key == "allow"))
    return Rules(tuple(rules[told]))


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in re.split(r"[\r\n]+", text.removeprefix("\ufeff")):
        key, _, value = line.partition("#")[0].partition(":")
        key = key.strip().lower()
        if key in ("user-agent", "allow", "disallow"):
            yield key, value.strip()


def _is_ours(value: str) -> bool:
    name = re.match(r"[A-Za-z_-]*", value)
    return name is not None and name[0].lower() == TOKEN


def _regular(path: str) -> str:
    """One spelling for a path and the rules about it: what need not be quoted is not, the rest is in one way."""
    quoted = quote(path, safe="%/:?#[]@!$&'()*+,;=-._~")
    plain = _ESCAPE.sub(lambda escape: escape[0].upper(), quoted)
    return _UNRESERVED.sub(lambda escape: chr(int(escape[1], 16)), plain)


class Robots:
    """The rules of hosts, each asked for once however many pages of it are read."""

    def __init__(self, fetcher: Fetcher, clock: Clock) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, Rules]] = OrderedDict()
        self._flights = Flights[Rules]()

    async def check(self, url: PageUrl, private_hosts: frozenset[str]) -> None:
        """`PageFailed` if the page is not to be read."""
        until, rules = self._known.get(url.origin, (0.0, None))
        if rules is None or until <= self._clock.now():
            # Robots.txt may redirect, and where to it may do so depends on what is opened for this search.
            key = " ".join((url.origin, *sorted(private_hosts)))
            rules = await self._flights.join(key, lambda: self._ask(url, private_hosts))
        rules.check(url.path)

    async def _ask(self, url: PageUrl, private_hosts: frozenset[str]) -> Rules:
        try:
            rules = await self._follow(Trail(url.join("/robots.txt")), private_hosts)
        except TimeoutError:
            raise PageFailed("timeout", f"its robots.txt did not answer within {SECONDS:g} seconds") from None
        except PageFailed:
            rules = Rules()  # A robots.txt behind endless redirects, or in broken compression, says nothing.
        kept = KEPT_SECONDS if rules.failed is None else KEPT_AFTER_FAILURE_SECONDS
        self._known[url.origin] = (self._clock.now() + kept, rules)
        self._known.move_to_end(url.origin)
        if len(self._known) > KEPT_HOSTS:
            self._known.popitem(last=False)
        return rules

    async def _follow(self, trail: Trail, private_hosts: frozenset[str]) -> Rules:
        while True:
            with trail.told_in_our_words():
                async with self._fetcher.exchange(
                    trail.url, seconds=SECONDS, headers={"Accept": "text/plain"}, private_hosts=private_hosts
                ) as response:
                    onwards = trail.leads_on(response)
                    if onwards is None:
                        return await _rules_in(response)
            trail.follow(onwards)


async def _rules_in(response: Response) -> Rules:
    if response.status == 429 or response.status >= 500:
        return Rules(failed=response.status)
    if not 200 <= response.status < 300:
        return Rules()
    body = Body(response.headers.get("Content-Encoding"), LARGEST)
    while not body.full and (chunk := await response.read_some()):
        body.feed(chunk)
    return parse(body.data.decode("utf-8", "replace"))
