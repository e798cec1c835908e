"""The reader's quotations are supported according to the citation checker."""

import pytest

from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
from footnote.models.reader.conversation import ReaderHit
from footnote.models.reader.messages import MESSAGES
from footnote.models.reader.reply import compose_answer
from footnote.protocol.sources import Passage, Snapshot, Source
from footnote.protocol.tools import Locale

PAGE = """# Hanoi

Hanoi is the capital of Vietnam. It lies on the Red River and has 8 million people.

## Districts

- Ba Dinh has the mausoleum of Ho Chi Minh.
- Hoan Kiem is the old quarter of the city.

| District | People | Area |
| --- | --- | --- |
| Ba Dinh | 226,315 | 9.2 km² |

```python
area = snake_case * 3
```

Hà Nội là thủ đô của Việt Nam. Thành phố nằm bên sông Hồng, cách Thành phố Hồ Chí Minh 1.760 km.

河内是越南的首都。河内位于红河三角洲，人口约有八百万。
"""


@pytest.mark.parametrize(
    ("locale", "start", "end"),
    [
        ("en", "Hanoi is the capital", "8 million people."),
        ("en", "## Districts", "the city."),
        ("en", "| Ba Dinh", "km² |"),
        ("en", "```python", "* 3"),
        ("vi", "Hà Nội là thủ đô", "1.760 km."),
        ("zh", "河内是越南", "八百万。"),
    ],
)
def test_every_quotation_is_supported_by_the_page_that_it_names(locale: Locale, start: str, end: str):
    at = PAGE.index(start)
    passage = PAGE[at : PAGE.index(end, at) + len(end)]
    snapshot = Snapshot(url="https://a.example", text=PAGE)
    page = Source(
        url=snapshot.url,
        title="Hanoi",
        snippet="",
        domain="a.example",
        number=1,
        status="read",
        snapshot_id=snapshot.id,
    )
    sources = Sources()
    sources.add(page, snapshot)
    quoted = (Passage(number=1, text=passage, start=at, end=at + len(passage)),)
    finding = ReaderHit(tool="web_search", query="Hanoi", question="Hanoi", passages=quoted, sources=(page,))

    citations = check_citations(compose_answer([finding], MESSAGES[locale]), sources)

    assert [(one.marker, one.number, one.verdict) for one in citations] == [("[1]", 1, "supported")]
