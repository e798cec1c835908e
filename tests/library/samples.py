"""Sample snapshots, and a clock that advances when it is read."""

from footnote.protocol.sources import CachedPage, Link, Snapshot

TREATY = Snapshot(
    url="https://history.example/versailles",
    text="# The Treaty of Versailles\n\nIt was signed on 28 June 1919 in the Hall of Mirrors.\n\nIt ended the war.",
    title="Treaty of Versailles",
    author="A. Historian",
    published="2024-03-17",
    language="en",
    site_name="History",
    canonical_url="https://history.example/treaty",
    media_type="application/pdf",
    fetched_at="2026-01-02T03:04:05+00:00",
    links=(Link("https://history.example/mirrors", 70, 85),),
    pages=(0, 40),
)
RECIPE = Snapshot(
    url="https://kitchen.example/pho",
    text="# Phở bò\n\nNinh xương bò trong sáu giờ, thêm quế và hồi.",
    title="Cách nấu phở",
    fetched_at="2026-01-03T00:00:00+00:00",
)
BATTLE = Snapshot(
    url="https://vi.example/dien-bien-phu",
    text="Chiến dịch Điện Biên Phủ kết thúc ngày 7 tháng 5 năm 1954.",
    title="Điện Biên Phủ",
    fetched_at="2026-01-04T00:00:00+00:00",
)
NOW = 1_800_000_000.0


class TickingClock:
    """Each reading is a second later than the one before."""

    def __init__(self) -> None:
        self.time = NOW

    def __call__(self) -> float:
        self.time += 1
        return self.time


def page(url: str, text: str, title: str = "", fetched_at: str = "") -> Snapshot:
    return Snapshot(url=url, text=text, title=title, fetched_at=fetched_at)


def cached_page(
    snapshot: Snapshot, *, url: str | None = None, fresh_until: float = NOW, etag: str | None = None
) -> CachedPage:
    return CachedPage(
        url=url or snapshot.url,
        final_url=snapshot.url,
        etag=etag,
        last_modified=None,
        fetched_at=NOW,
        fresh_until=fresh_until,
        snapshot=snapshot,
    )
