"""Judges the quotations and verdicts of a bundle again, from the answers and the snapshots, by the code that judged
them when the answers were written."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from footnote.bundles.derived import BundledMessage, CitedText, cited_texts, sources_cited
from footnote.bundles.schema import SNAPSHOTS_FOLDER, printable
from footnote.evidence.claims import may_cite
from footnote.evidence.proof import judge_text
from footnote.evidence.second_look import claim_texts, may_follow
from footnote.evidence.sources import Sources
from footnote.protocol.messages import AssistantMessage, Message, ToolResultMessage
from footnote.protocol.sources import Citation, Snapshot


class RecheckResult(Struct, frozen=True):
    """`wrong`: a message for each false quotation. `otherwise`: a message for each verdict that this version of
    Footnote judges differently. `unchecked`: citations whose snapshot is not in the bundle."""

    checked: int
    unchecked: int
    wrong: tuple[str, ...]
    otherwise: tuple[str, ...] = ()
    quotations: int = 0


def recheck(
    messages: Sequence[BundledMessage],
    snapshots: Mapping[str, Snapshot],
    missing: AbstractSet[str],
    given: Mapping[str, Sequence[str]] | None = None,
) -> RecheckResult:
    """`missing`: the ids of snapshots that the bundle declares as removed before the export. `given`: by run, what its
    answer was given beside the sources."""
    checked = unchecked = quotations = 0
    wrong: list[str] = []
    otherwise: list[str] = []
    for at, message in enumerate(messages):
        for source in sources_cited(message.message):
            snapshot = snapshots.get(source.snapshot_id or "")
            for quote in source.quotes if snapshot is not None else ():
                quotations += 1
                if snapshot is not None and snapshot.text[max(quote.start, 0) : max(quote.end, 0)] != quote.text:
                    wrong.append(f"a quotation of a source is not in {SNAPSHOTS_FOLDER}{snapshot.id}.txt")
        for text in cited_texts(message):
            open_claims = _open_claims(text, _unknown_sources(messages[: at + 1], missing))
            known = sum(_claim(citation) not in open_claims for citation in text.citations)
            checked += known
            unchecked += len(text.citations) - known
            wrong += _false_quotations(text, snapshots, missing)
            quotations += sum(one.quote is not None and one.snapshot_id in snapshots for one in text.citations)
            otherwise += _other_verdicts(text, messages, at, snapshots, open_claims, given or {})
    return RecheckResult(checked, unchecked, tuple(wrong), tuple(otherwise), quotations)


def _unknown_sources(messages: Sequence[BundledMessage], missing: AbstractSet[str]) -> set[int]:
    """The numbers of sources of which a snapshot is missing."""
    if not missing:
        return set()
    found = (source for one in messages for source in sources_cited(one.message))
    return {source.number or 0 for source in found if source.snapshot_id in missing}


def _open_claims(text: CitedText, unknown: AbstractSet[int]) -> set[tuple[int, int]]:
    """The sentences that cannot be judged: all sources of a sentence are judged together, so one missing snapshot
    leaves the whole sentence open."""
    return {_claim(one) for one in text.citations if {one.number, one.suggestion} & unknown}


def _claim(one: Citation) -> tuple[int, int]:
    return one.start, one.end


def _false_quotations(text: CitedText, snapshots: Mapping[str, Snapshot], missing: AbstractSet[str]) -> Iterator[str]:
    for one in text.citations:
        if not 0 <= one.start <= one.end <= len(text.text):
            yield f"{_place(text, one)}: its sentence is not in the answer"
        if one.quote is None:
            continue
        snapshot = snapshots.get(one.snapshot_id or "")
        if snapshot is None:
            if one.snapshot_id not in missing:
                yield f"{_place(text, one)}: the snapshot that it quotes is not in the bundle"
        elif not is_quoted(one, snapshot.text):
            yield f"{_place(text, one)}: its quotation is not in {SNAPSHOTS_FOLDER}{snapshot.id}.txt"


def is_quoted(one: Citation, text: str) -> bool:
    start, end = one.quote_start, one.quote_end
    return start is not None and end is not None and 0 <= start < end and text[start:end] == one.quote


def _other_verdicts(
    text: CitedText,
    messages: Sequence[BundledMessage],
    at: int,
    snapshots: Mapping[str, Snapshot],
    open_claims: AbstractSet[tuple[int, int]],
    given: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    can_cite = may_cite(text.text) or text.judges_all
    if not can_cite or (not text.citations and not _was_judged(text)):
        if text.citations:
            yield f"{_name(text)}: it has verdicts but no footnotes"
        return
    earlier = [one.message for one in messages[: at + isinstance(text.origin.message, ToolResultMessage)]]
    sources = Sources.from_messages(earlier, snapshots)
    # Which passages the model pointed to cannot be judged again, only whether it was given them.
    stored = _comparable(text, tuple(replace(one, passage=None) for one in text.citations))
    for one in text.citations:
        if one.passage is not None and sources.evidence(one.passage) is None:
            yield f"{_place(text, one)}: it points to passage {printable(one.passage)}, which was not found by a search"
    of_run = given.get(text.origin.run.id, ())
    fresh = _comparable(text, _judge(text, sources, of_run))
    if fresh == stored:
        return
    if [_marker_of(one) for one in fresh] != [_marker_of(one) for one in stored]:
        yield f"{_name(text)}: its footnotes differ from those that are judged again"
        return
    with_same_round = [*earlier, *_same_round(messages, at), *_of_other_items(messages, at)]
    for now, then, claim in zip(fresh, stored, claim_texts(text.text, stored), strict=True):
        if (
            now != then
            and not _was_unread(now, then)
            and not (then.by == "model" and may_follow(then, now, claim, sources))
            and _claim(then) not in open_claims
            and not _holds(then, text, with_same_round, snapshots, of_run)
        ):
            found = f"is {then.verdict!r}" if now.verdict != then.verdict else "cites another passage"
            yield f"{_place(text, then)}: its verdict {found}, and judged again it is {now.verdict!r}"


def _comparable(text: CitedText, citations: tuple[Citation, ...]) -> tuple[Citation, ...]:
    """The citations that can be compared: of the reader of an item only its footnotes. What else it may have been told
    depends on what other readers had found at that moment, which was not recorded."""
    if text.origin.message.parent is None:
        return citations
    return tuple(one for one in citations if one.marker.startswith("["))


def _judge(text: CitedText, sources: Sources, given: Sequence[str]) -> tuple[Citation, ...]:
    """The verdicts, with the statements that were judged when the text was written."""
    return judge_text(text.text, sources, uncited=text.judges_all, given=given)


def _was_unread(now: Citation, then: Citation) -> bool:
    """Whether an older version, which had no verdict for pages that were not read, judged one."""
    return now.verdict == "unread" and then.verdict == "unsupported" and then.quote is None


def _was_judged(text: CitedText) -> bool:
    """Whether the answer was judged when it was written, so that missing verdicts were removed. Answers without usage
    were relayed from another agent and are not judged; neither are answers that were broken off."""
    message, ending = text.origin.message, text.origin.run.ending
    is_own_answer = ending is not None and ending.usage is not None
    return is_own_answer and isinstance(message, AssistantMessage) and message.stop_reason not in ("error", "aborted")


def _marker_of(one: Citation) -> tuple[str, int, int, int]:
    return one.marker, one.number, one.start, one.end


def _same_round(messages: Sequence[BundledMessage], at: int) -> list[Message]:
    """The following results of the same round: calls of one round run concurrently, so they may have come first."""
    if isinstance(messages[at].message, AssistantMessage):
        return []
    results = takewhile(lambda one: isinstance(one.message, ToolResultMessage), messages[at + 1 :])
    return [one.message for one in results]


def _of_other_items(messages: Sequence[BundledMessage], at: int) -> list[Message]:
    """The following results of the readers of other items, which work at the same time."""
    origin = messages[at]
    if origin.message.parent is None:
        return []
    following = takewhile(lambda one: one.run is origin.run and one.message.parent is not None, messages[at + 1 :])
    return [one.message for one in following if isinstance(one.message, ToolResultMessage)]


def _holds(
    then: Citation,
    text: CitedText,
    earlier: Sequence[Message],
    snapshots: Mapping[str, Snapshot],
    given: Sequence[str],
) -> bool:
    """Whether the verdict holds with the snapshot that it names as the last one. When two searches read a page at the
    same time, the order of their snapshots was not recorded."""
    sources = Sources.from_messages(earlier, snapshots)
    source, snapshot = sources.source(then.suggestion or then.number), snapshots.get(then.snapshot_id or "")
    if source is not None and snapshot is not None:
        if all(page.snapshot_id != snapshot.id for page in sources.pages(source.number or 0)):
            return False
        sources.add(replace(source, status="read"), snapshot)
    return then in _judge(text, sources, given)


def _name(text: CitedText) -> str:
    message = text.origin.message
    if isinstance(message, ToolResultMessage):
        return f"the summary of {printable(message.tool_call_id)}"
    return f"{text.origin.message_id}, block {text.block}"


def _place(text: CitedText, one: Citation) -> str:
    sentence = text.text[max(one.start, 0) : max(one.end, 0)][:60]
    return f"{_name(text)}, {printable(one.marker)} after “{printable(sentence)}”"
