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
from footnote.web_search.crawl.body import Body
from footnote.web_search.crawl.fetch import Fetcher, PageFailed, RedirectChain
from footnote.web_search.single_flight import SingleFlight

USER_AGENT_TOKEN = "footnote"  # noqa: S105 - what RFC 9309 calls our name
TIMEOUT_SECONDS = 3.0
MAX_BYTES = 500 * 1024
TTL_SECONDS = 60 * 60
FAILURE_TTL_SECONDS = 60
MAX_HOSTS = 1_000

_UNRESERVED = re.compile(r"%(2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])")
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")


class RobotsRule(Struct, frozen=True):
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


class RobotsRules(Struct, frozen=True):
    """What holds for us. `failed` is the status of a robots.txt that could not be had: nothing may be read then."""

    rules: tuple[RobotsRule, ...] = ()
    failed_status: int | None = None

    def check(self, path: str) -> None:
        if self.failed_status is not None:
            raise PageFailed(
                "robots", f"robots.txt answers with HTTP {self.failed_status}, so the site is left alone for now"
            )
        path = _normalize_path(path)
        fitting = [rule for rule in self.rules if rule.matches(path)]
        if fitting and not max(fitting, key=lambda rule: (len(rule.pattern), rule.allows)).allows:
            raise PageFailed("robots", "robots.txt asks to stay away")


def parse(text: str) -> RobotsRules:
    """All groups that name us; if there are none, all that name everybody."""
    rules: dict[str, list[RobotsRule]] = {USER_AGENT_TOKEN: [], "*": []}
    told = "*"
    names: set[str] = set()
    among_names = False
    for key, value in _parse_lines(text):
        if key == "user-agent":
            names = names if among_names else set()
            among_names = True
            if _is_our_agent(value):
                told = USER_AGENT_TOKEN
                names.add(USER_AGENT_TOKEN)
            elif value == "*":
                names.add("*")
            continue
        among_names = False
        for name in names if value else ():
            rules[name].append(RobotsRule(_normalize_path(value), key == "allow"))
    return RobotsRules(tuple(rules[told]))


def _parse_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in re.split(r"[\r\n]+", text.removeprefix("\ufeff")):
        key, _, value = line.partition("#")[0].partition(":")
        key = key.strip().lower()
        if key in ("user-agent", "allow", "disallow"):
            yield key, value.strip()


def _is_our_agent(value: str) -> bool:
    name = re.match(r"[A-Za-z_-]*", value)
    return name is not None and name[0].lower() == USER_AGENT_TOKEN


def _normalize_path(path: str) -> str:
    """One spelling for a path and the rules about it: what need not be quoted is not, the rest is in one way."""
    quoted = quote(path, safe="%/:?#[]@!$&'()*+,;=-._~")
    plain = _ESCAPE.sub(lambda escape: escape[0].upper(), quoted)
    return _UNRESERVED.sub(lambda escape: chr(int(escape[1], 16)), plain)


class Robots:
    """The rules of hosts, each asked for once however many pages of it are read."""

    def __init__(self, fetcher: Fetcher, clock: Clock) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._cache: OrderedDict[str, tuple[float, RobotsRules]] = OrderedDict()
        self._flights = SingleFlight[RobotsRules]()

    async def check(self, url: PageUrl, private_hosts: frozenset[str]) -> None:
        """`PageFailed` if the page is not to be read."""
        until, rules = self._cache.get(url.origin, (0.0, None))
        if rules is None or until <= self._clock.now():
            # Robots.txt may redirect, and where to it may do so depends on what is opened for this search.
            key = " ".join((url.origin, *sorted(private_hosts)))
            rules = await self._flights.join(key, lambda: self._fetch(url, private_hosts))
        rules.check(url.path_and_query)

    async def _fetch(self, url: PageUrl, private_hosts: frozenset[str]) -> RobotsRules:
        try:
            rules = await self._follow_redirects(RedirectChain(url.join("/robots.txt")), private_hosts)
        except TimeoutError:
            raise PageFailed("timeout", f"its robots.txt did not answer within {TIMEOUT_SECONDS:g} seconds") from None
        except PageFailed:
            rules = RobotsRules()  # A robots.txt behind endless redirects, or in broken compression, says nothing.
        kept = TTL_SECONDS if rules.failed_status is None else FAILURE_TTL_SECONDS
        self._cache[url.origin] = (self._clock.now() + kept, rules)
        self._cache.move_to_end(url.origin)
        if len(self._cache) > MAX_HOSTS:
            self._cache.popitem(last=False)
        return rules

    async def _follow_redirects(self, trail: RedirectChain, private_hosts: frozenset[str]) -> RobotsRules:
        while True:
            with trail.mask_redirect_target():
                async with self._fetcher.request(
                    trail.url,
                    timeout_seconds=TIMEOUT_SECONDS,
                    headers={"Accept": "text/plain"},
                    private_hosts=private_hosts,
                ) as response:
                    onwards = trail.redirect_target(response)
                    if onwards is None:
                        return await _parse_response(response)
            trail.follow(onwards)


async def _parse_response(response: Response) -> RobotsRules:
    if response.status == 429 or response.status >= 500:
        return RobotsRules(failed_status=response.status)
    if not 200 <= response.status < 300:
        return RobotsRules()
    body = Body(response.headers.get("Content-Encoding"), MAX_BYTES)
    while not body.is_full and (chunk := await response.read_chunk()):
        body.feed(chunk)
    return parse(body.data.decode("utf-8", "replace"))
