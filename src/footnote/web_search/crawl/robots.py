"""robots.txt by RFC 9309: which paths of a site the crawler may read.

A site without robots.txt (4xx) may be read. One whose robots.txt fails (5xx) or is rate-limited (429) is not read for a
minute, as the RFC demands. If the host cannot be reached, the page fails with that connection error and not with
`robots`, since the page could not be reached either.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator
from urllib.parse import quote

from msgspec import Struct

from footnote.net.client import Response
from footnote.net.guard import PageUrl
from footnote.web_search.cache import Clock, SingleFlight
from footnote.web_search.crawl.fetch import Body, Fetcher, PageFailed, RedirectChain

USER_AGENT_TOKEN = "footnote"  # noqa: S105 - the "product token" of RFC 9309
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
        """`*` matches any text, a final `$` the end. The pieces between are searched one after the other, so that every
        pattern takes linear time."""
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
    """The rules for this crawler. `failed_status`: the HTTP status if robots.txt failed; then no page may be read."""

    rules: tuple[RobotsRule, ...] = ()
    failed_status: int | None = None

    def check(self, path: str) -> None:
        if self.failed_status is not None:
            raise PageFailed(
                "robots", f"robots.txt answers with HTTP {self.failed_status}, so the site is left alone for now"
            )
        path = _normalize_path(path)
        matching = [rule for rule in self.rules if rule.matches(path)]
        if matching and not max(matching, key=lambda rule: (len(rule.pattern), rule.allows)).allows:
            raise PageFailed("robots", "robots.txt asks to stay away")


def parse(text: str) -> RobotsRules:
    """The rules of all groups that name this crawler; without such a group, those of the groups for `*`."""
    rules: dict[str, list[RobotsRule]] = {USER_AGENT_TOKEN: [], "*": []}
    applicable = "*"
    names: set[str] = set()
    follows_agent = False
    for key, value in _parse_lines(text):
        if key == "user-agent":
            names = names if follows_agent else set()
            follows_agent = True
            if _is_our_agent(value):
                applicable = USER_AGENT_TOKEN
                names.add(USER_AGENT_TOKEN)
            elif value == "*":
                names.add("*")
            continue
        follows_agent = False
        for name in names if value else ():
            rules[name].append(RobotsRule(_normalize_path(value), key == "allow"))
    return RobotsRules(tuple(rules[applicable]))


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
    """One spelling for paths and patterns: unreserved characters as they are, others percent-encoded in upper case."""
    quoted = quote(path, safe="%/:?#[]@!$&'()*+,;=-._~")
    upper = _ESCAPE.sub(lambda escape: escape[0].upper(), quoted)
    return _UNRESERVED.sub(lambda escape: chr(int(escape[1], 16)), upper)


class Robots:
    """A cache of the rules of hosts. robots.txt is requested once, however many pages of a host are read."""

    def __init__(self, fetcher: Fetcher, clock: Clock) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._cache: OrderedDict[str, tuple[float, RobotsRules]] = OrderedDict()
        self._flights = SingleFlight[RobotsRules]()

    async def check(self, url: PageUrl, private_hosts: frozenset[str]) -> None:
        """Raises `PageFailed` if the page may not be read."""
        expires, rules = self._cache.get(url.origin, (0.0, None))
        if rules is None or expires <= self._clock.now():
            # robots.txt may redirect, and the allowed private hosts decide whether that redirect is followed.
            key = " ".join((url.origin, *sorted(private_hosts)))
            rules = await self._flights.join(key, lambda: self._fetch(url, private_hosts))
        rules.check(url.path_and_query)

    async def _fetch(self, url: PageUrl, private_hosts: frozenset[str]) -> RobotsRules:
        try:
            rules = await self._follow_redirects(RedirectChain(url.join("/robots.txt")), private_hosts)
        except TimeoutError:
            raise PageFailed("timeout", f"its robots.txt did not answer within {TIMEOUT_SECONDS:g} seconds") from None
        except PageFailed:
            rules = RobotsRules()  # endless redirects and broken compression count as no robots.txt
        ttl_seconds = TTL_SECONDS if rules.failed_status is None else FAILURE_TTL_SECONDS
        self._cache[url.origin] = (self._clock.now() + ttl_seconds, rules)
        self._cache.move_to_end(url.origin)
        if len(self._cache) > MAX_HOSTS:
            self._cache.popitem(last=False)
        return rules

    async def _follow_redirects(self, chain: RedirectChain, private_hosts: frozenset[str]) -> RobotsRules:
        while True:
            with chain.mask_redirect_target():
                async with self._fetcher.request(
                    chain.url,
                    timeout_seconds=TIMEOUT_SECONDS,
                    headers={"Accept": "text/plain"},
                    private_hosts=private_hosts,
                ) as response:
                    target = chain.redirect_target(response)
                    if target is None:
                        return await _parse_response(response)
            chain.follow(target)


async def _parse_response(response: Response) -> RobotsRules:
    if response.status == 429 or response.status >= 500:
        return RobotsRules(failed_status=response.status)
    if not 200 <= response.status < 300:
        return RobotsRules()
    body = Body(response.headers.get("Content-Encoding"), MAX_BYTES)
    while not body.is_full and (chunk := await response.read_chunk()):
        body.feed(chunk)
    return parse(body.data.decode("utf-8", "replace"))
