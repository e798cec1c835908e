"""What the server holds beside the app, for as long as it runs."""

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from footnote.app import App
from footnote.server.assets import Assets
from footnote.server.limits import LoginLimits
from footnote.server.readiness import Probe

if TYPE_CHECKING:
    from footnote.server.metrics import Metrics


class OpenStream(Protocol):
    def end(self) -> None: ...


class Site:
    """`document`: the OpenAPI document, made when it is first asked for."""

    def __init__(self, app: App, openapi_json: Callable[[], bytes]) -> None:
        self.app = app
        self.openapi_json = openapi_json
        self.assets = Assets()
        self.login_limits = LoginLimits(app.bus)
        self.probe = Probe(app, lambda: self.is_closing)
        self.request_counts: Counter[tuple[str, int]] = Counter()
        """Those that were answered, by route and status."""
        self.streams: set[OpenStream] = set()
        """The event streams that are open."""
        self.is_closing = False

    @property
    def is_https(self) -> bool:
        """Whether browsers reach the server over TLS, so that they may keep the cookie to that."""
        return (self.app.configuration.settings.server.public_url or "").startswith("https:")

    @cached_property
    def metrics(self) -> "Metrics":
        from footnote.server.metrics import Metrics  # noqa: PLC0415 - most servers are never asked for them

        return Metrics(self.app, self.request_counts, self.streams)

    def close_streams(self) -> None:
        """Now, and as soon as one begins from now on."""
        self.is_closing = True
        for stream in tuple(self.streams):
            stream.end()
