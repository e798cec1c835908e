"""Pages that were read before, and how long they need not be asked for again."""

from msgspec import Struct

from footnote.protocol.sources import Snapshot


class CachedPage(Struct, frozen=True, kw_only=True):
    """What was read at `url`, which led to `final_url`. Times are seconds since 1970.

    Until `fresh_until` the snapshot stands for the page; after that `etag` or `last_modified` can be sent back to ask
    whether it still does.
    """

    url: str
    final_url: str
    etag: str | None
    last_modified: str | None
    fetched_at: float
    fresh_until: float
    snapshot: Snapshot
