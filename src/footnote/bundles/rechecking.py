"""Verdicts, made anew from the answer and from what was read, as they were made when it was written."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from footnote.bundles.contents import BundledMessage, CitedSource, cited_in, sources_named
from footnote.bundles.form import shown
from footnote.evidence.check import check_citations, may_cite
from footnote.evidence.sources import Sources
from footnote.protocol.messages import AssistantMessage, Message, ToolResultMessage
from footnote.protocol.sources import Citation, Snapshot


class RecheckResult(Struct, frozen=True):
    """`wrong`: sentences about what does not hold. `otherwise`: the same about verdicts alone, which are made by other
    rules in other versions. `unchecked`: citations that nothing can be said of, because what
    they rest on is not in the bundle."""

    checked: int
    unchecked: int
    wrong: tuple[str, ...]
    otherwise: tuple[str, ...] = ()
    quotations: int = 0


def rechecked(
    spoken: Sequence[BundledMessage], snapshots: Mapping[str, Snapshot], missing: AbstractSet[str]
) -> RecheckResult:
    checked = unchecked = quotations = 0
    wrong: list[str] = []
    otherwise: list[str] = []
    for at, one in enumerate(spoken):
        for text in cited_in(one):
            open_claims = _open_claims(text, _unknown(spoken[: at + 1], missing))
            known = sum(_claim(citation) not in open_claims for citation in text.citations)
            checked += known
            unchecked += len(text.citations) - known
            wrong += _quotes(text, snapshots, missing)
            quotations += sum(one.quote is not None and one.snapshot_id in snapshots for one in text.citations)
            otherwise += _verdicts(text, spoken, at, snapshots, open_claims)
    return RecheckResult(checked, unchecked, tuple(wrong), tuple(otherwise), quotations)


def _unknown(spoken: Sequence[BundledMessage], missing: AbstractSet[str]) -> set[int]:
    """Numbers of sources of which a text is not there."""
    if not missing:
        return set()
    found = (source for one in spoken for source in sources_named(one.message))
    return {source.number or 0 for source in found if source.snapshot_id in missing}


def _open_claims(text: CitedSource, unknown: AbstractSet[int]) -> set[tuple[int, int]]:
    """Sentences of which nothing can be said: what one source has of them is judged together with the others."""
    return {_claim(one) for one in text.citations if one.number in unknown}


def _claim(one: Citation) -> tuple[int, int]:
    return one.start, one.end


def _quotes(text: CitedSource, snapshots: Mapping[str, Snapshot], missing: AbstractSet[str]) -> Iterator[str]:
    for one in text.citations:
        if not 0 <= one.start <= one.end <= len(text.text):
            yield f"{_place(text, one)}: its sentence does not stand in the answer"
        if one.quote is None:
            continue
        snapshot = snapshots.get(one.snapshot_id or "")
        if snapshot is None:
            if one.snapshot_id not in missing:
                yield f"{_place(text, one)}: the text that it quotes is not in the bundle"
        elif not _stands(one, snapshot.text):
            yield f"{_place(text, one)}: its quotation does not stand in snapshots/{snapshot.id}.txt"


def _stands(one: Citation, text: str) -> bool:
    start, end = one.quote_start, one.quote_end
    return start is not None and end is not None and 0 <= start < end and text[start:end] == one.quote


def _verdicts(
    text: CitedSource,
    spoken: Sequence[BundledMessage],
    at: int,
    snapshots: Mapping[str, Snapshot],
    open_claims: AbstractSet[tuple[int, int]],
) -> Iterator[str]:
    if not may_cite(text.text) or (not text.citations and not _was_judged(text)):
        if text.citations:
            yield f"{_name(text)}: it has verdicts, and cites nothing"
        return
    heard = [one.message for one in spoken[: at + isinstance(text.spoken.message, ToolResultMessage)]]
    fresh = check_citations(text.text, Sources.from_messages(heard, snapshots))
    if fresh == text.citations:
        return
    if [_marks(one) for one in fresh] != [_marks(one) for one in text.citations]:
        yield f"{_name(text)}: its footnotes are not those that were judged"
        return
    for now, then in zip(fresh, text.citations, strict=True):
        if (
            now != then
            and _claim(then) not in open_claims
            and not _holds(then, text, [*heard, *_same_round(spoken, at)], snapshots)
        ):
            found = f"is {then.verdict!r}" if now.verdict != then.verdict else "rests on another passage"
            yield f"{_place(text, then)}: its verdict {found}, and made anew it is {now.verdict!r}"


def _was_judged(text: CitedSource) -> bool:
    """Every answer is, so that one without verdicts has lost them. Not so what was said elsewhere and only handed on to
    us, which used nothing here; nor what was broken off."""
    message, ending = text.spoken.message, text.spoken.run.ending
    is_ours = ending is not None and ending.usage is not None
    return is_ours and isinstance(message, AssistantMessage) and message.stop_reason not in ("error", "aborted")


def _marks(one: Citation) -> tuple[str, int, int, int]:
    return one.marker, one.number, one.start, one.end


def _same_round(spoken: Sequence[BundledMessage], at: int) -> list[Message]:
    """Results that may have been there already: calls of one round are carried out side by side."""
    if isinstance(spoken[at].message, AssistantMessage):
        return []
    results = takewhile(lambda one: isinstance(one.message, ToolResultMessage), spoken[at + 1 :])
    return [one.message for one in results]


def _holds(then: Citation, text: CitedSource, heard: Sequence[Message], snapshots: Mapping[str, Snapshot]) -> bool:
    """Which of two readings of a page was the last one may have been seen otherwise, when two searches read it at once.
    So a verdict also holds if it does with the reading that it names as the last one."""
    sources = Sources.from_messages(heard, snapshots)
    source, snapshot = sources.source(then.number), snapshots.get(then.snapshot_id or "")
    if source is not None and snapshot is not None:
        if all(page.snapshot_id != snapshot.id for page in sources.pages(then.number)):
            return False
        sources.add(replace(source, status="read"), snapshot)
    return then in check_citations(text.text, sources)


def _name(text: CitedSource) -> str:
    message = text.spoken.message
    if isinstance(message, ToolResultMessage):
        return f"the summary of {shown(message.tool_call_id)}"
    return f"{text.spoken.message_id}, block {text.block}"


def _place(text: CitedSource, one: Citation) -> str:
    sentence = text.text[max(one.start, 0) : max(one.end, 0)][:60]
    return f"{_name(text)}, {shown(one.marker)} after “{shown(sentence)}”"
