"""A typical answer of a model: headings, paragraphs with footnotes, lists, tables, code, in three languages."""

# ruff: noqa: RUF001 - Chinese is written with signs of its own

import random
from collections.abc import Iterator

CHARACTERS = 60_000
DELTAS = 5_000

_SENTENCES = (
    "The committee found that **emissions fell by 12%** between 2015 and 2022, mostly in the power sector [{0}].",
    "By contrast, transport *barely moved*: fuel use per head is where it was in 2005 [{0}][{1}].",
    "A second survey, with `n = 2,104`, came to the same result, although its authors warn of a small sample [{1}].",
    "See the [full report](https://example.org/reports/2024) for the method, which differs from the one used before.",
    "Prices rose from $4.20 to $6.80 in the same years, which explains about a third of the change [{0}].",
    "Theo báo cáo của Bộ, **sản lượng điện gió tăng gấp đôi** trong ba năm, và phần lớn nằm ở miền Trung [{0}].",
    "Tuy vậy, chi phí lưu trữ vẫn cao, nên nhiều dự án phải chờ cơ chế giá mới [{1}].",
    "根据统计，**可再生能源（不含水电）**占总发电量的18%【{0}】，比上一年提高了两个百分点。",
    "不过，各省之间的差距仍然很大，西部地区的弃风率约为7%［{1}］。",
)
_ITEMS = (
    "**Supply** grew faster than demand in all four regions [{0}]",
    "Storage: *pumped hydro* first, batteries since 2021 [{1}]",
    "Grid fees were cut twice, see `tariff_2023.csv`",
    "Chính sách giá mới có hiệu lực từ tháng 7 [{0}]",
    "储能成本下降了约30%【{1}】",
)
_CODE = """```python
def share(parts: dict[str, float], name: str) -> float:
    \"\"\"The share of one source in all of them.\"\"\"
    whole = sum(parts.values())
    return parts[name] / whole if whole else 0.0


for name in sorted(parts, key=parts.get, reverse=True):
    print(f"{name:>12} {share(parts, name):6.1%}")
```"""


def answer(characters: int = CHARACTERS) -> str:
    """The same in every run."""
    chosen = random.Random(2026)
    made: list[str] = []
    length = 0
    while length < characters:
        for block in _section(chosen, len(made)):
            made.append(block)
            length += len(block) + 2
    return "\n\n".join(made)[:characters]


def _section(chosen: random.Random, number: int) -> Iterator[str]:
    yield f"## {number}. What changed, and why"
    for _ in range(chosen.randint(2, 4)):
        yield " ".join(_cited(chosen, sentence) for sentence in chosen.sample(_SENTENCES, chosen.randint(2, 4)))
    kind = number % 3
    if kind == 0:
        yield "\n".join(f"- {_cited(chosen, item)}" for item in chosen.sample(_ITEMS, 4))
    elif kind == 1:
        rows = [f"| {year} | {chosen.random():.1%} | {_cited(chosen, '[{0}]')} |" for year in range(2018, 2024)]
        yield "\n".join(["| Year | Share | Source |", "|---|--:|---|", *rows])
    else:
        yield _CODE
    yield "> " + _cited(chosen, chosen.choice(_SENTENCES))


def _cited(chosen: random.Random, text: str) -> str:
    return text.replace("{0}", str(chosen.randint(1, 30))).replace("{1}", str(chosen.randint(1, 30)))


def deltas(text: str, count: int = DELTAS) -> list[str]:
    """Pieces of the same length, split anywhere."""
    size = -(-len(text) // count)
    return [text[at : at + size] for at in range(0, len(text), size)]
