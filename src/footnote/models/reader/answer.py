"""The last words of a turn: the passages that match best, quoted and footnoted, or what was tried in vain."""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from footnote.language.quotation import blockquote, inline, link
from footnote.models.reader.findings import SEARCH, Finding
from footnote.models.reader.words import Words
from footnote.protocol.receipts import Passage, ProviderTry

PASSAGES_EACH = 3
PASSAGES_IN_ALL = 6
PAGES_SHOWN = 5


class Writing(Struct, frozen=True):
    """What became of a report: it stands at `path`, or `error` says why it could not be written."""

    path: str = ""
    error: str = ""
    impossible: bool = False


def answer(
    findings: Sequence[Finding],
    words: Words,
    *,
    report: Writing | None = None,
    unable: Literal["summarise", "rewrite"] | None = None,
    unasked: bool = False,
) -> str:
    chosen = _chosen(findings)
    blocks = _offline(findings, chosen, words)
    blocks += [_opening(findings, chosen, words, report, unable)] if any(chosen) else []
    for finding, passages in zip(findings, chosen, strict=True):
        if finding.passages and not passages:
            continue
        blocks += [f"**{inline(finding.heading)}**"] if len(findings) > 1 else []
        blocks += [blockquote(one.text, one.number) for one in passages] or _in_vain(finding, words)
        blocks += _disagreeing(finding, passages, words)
    excerpts = _excerpts(findings, chosen)
    if excerpts and len(excerpts) < len({one.number for passages in chosen for one in passages}):
        blocks.append(words.some_excerpts.format(numbers=", ".join(map(str, excerpts))))
    return "\n\n".join([*blocks, *([words.unasked] if unasked else [])])


def _chosen(findings: Sequence[Finding]) -> list[list[Passage]]:
    """The passages to quote of each finding, in the tool's order: one of each in turn until there are enough."""
    chosen: list[list[Passage]] = [[] for _ in findings]
    for rank in range(PASSAGES_EACH):
        for finding, passages in zip(findings, chosen, strict=True):
            if rank < len(finding.passages) and sum(map(len, chosen)) < PASSAGES_IN_ALL:
                passages.append(finding.passages[rank])
    return chosen


def _offline(findings: Sequence[Finding], chosen: Iterable[Sequence[Passage]], words: Words) -> list[str]:
    """That the web could not be asked or had nothing, if a quotation comes from the library in its place."""
    quoted = [finding for finding, passages in zip(findings, chosen, strict=True) if passages]
    providers = dict.fromkeys(provider for finding in quoted for provider in finding.unasked)
    if providers:
        return [words.from_library.format(providers=inline(", ".join(providers)))]
    return [words.nothing_on_the_web] if any(finding.is_from_library for finding in quoted) else []


def _opening(
    findings: Sequence[Finding],
    chosen: Iterable[Sequence[Passage]],
    words: Words,
    report: Writing | None,
    unable: Literal["summarise", "rewrite"] | None,
) -> str:
    """One line that is honest about what follows."""
    quoted = [one for passages in chosen for one in passages]
    first = [words.unable[unable]] if unable else []
    if report and report.error:
        first.append(words.report_failed.format(error=inline(report.error)))
    elif report and report.impossible:
        first.append(words.report_impossible)
    if report and report.path:
        return words.space.join([*first, words.report_written.format(path=inline(report.path))])
    if len(_excerpts(findings, [quoted])) == len({one.number for one in quoted}):
        return words.space.join([*first, words.excerpts])
    return words.space.join([*first, words.passage if len(quoted) == 1 else words.passages])


def _disagreeing(finding: Finding, passages: Sequence[Passage], words: Words) -> list[str]:
    """That sources contradict each other, where more than one side of it is quoted."""
    quoted = {one.number for one in passages}
    sides = (sorted({value.number for value in one.values} & quoted) for one in finding.disagreements)
    return [words.disagree.format(numbers=", ".join(map(str, numbers))) for numbers in sides if len(numbers) > 1]


def _excerpts(findings: Sequence[Finding], chosen: Iterable[Sequence[Passage]]) -> list[int]:
    """Numbers of quoted sources whose page was not read: a search engine's excerpt is quoted instead."""
    sources = [source for finding in findings for source in finding.sources]
    read = {source.number for source in sources if source.status not in ("snippet", "failed")}
    return sorted({one.number for passages in chosen for one in passages} - read)


def _in_vain(finding: Finding, words: Words) -> list[str]:
    """What was tried, why it came to nothing, and what to do next."""
    if finding.error:
        # An address in backticks stays as the user wrote it.
        said = words.search_failed if finding.tool == SEARCH else words.page_failed
        query = inline(finding.query) if finding.tool == SEARCH else "".join(finding.query.split()).replace("`", "%60")
        reasons = [f"- {inline(line)}" for line in finding.error.splitlines() if line.strip()]
        return [said.format(query=query), "\n".join(reasons)]
    blocks = [words.nothing.format(query=inline(finding.query))]
    if finding.tries:
        blocks.append("\n".join([words.tried, *(f"- {_tried(one, words)}" for one in finding.tries)]))
    if finding.sources:
        pages = [f"- {link(one.title or one.url, one.url)}" for one in finding.sources[:PAGES_SHOWN]]
        blocks += [words.pages_found, "\n".join(pages)]
    return [*blocks, words.other_words]


def _tried(one: ProviderTry, words: Words) -> str:
    said = words.outcomes.get(one.outcome, one.outcome)
    return inline(f"{one.provider}: {said} ({one.reason})" if one.reason else f"{one.provider}: {said}")
