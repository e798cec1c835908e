"""The result of a call that wrote a file: its proof for the page, and a few lines of it for the model."""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import asdict

from footnote.evidence.proof import statement_verdict
from footnote.protocol.files import FileCitations
from footnote.protocol.sources import Citation, ProofCounts, Verdict
from footnote.protocol.tools import ToolResult, text_result
from footnote.text.boundary import escape_tags, wrap_web_text
from footnote.tools.base import ToolContext, artifact_of, workspace_of
from footnote.workspace.files import WrittenFile
from footnote.workspace.text import pluralize

JUDGE_SECONDS = 5.0
"""A call waits so long for the verdicts on its file. Without them, they are judged on, and the page asks for them."""
MAX_ARTIFACT_CITATIONS = 1_000
"""The page asks for the verdicts on a longer text: an artifact is part of every history of the session."""
MAX_LISTED = 8
_STATEMENT_CHARACTERS = 140
_QUOTE_CHARACTERS = 120
BAD_VERDICTS: tuple[Verdict, ...] = ("contradicted", "unsupported", "uncited", "unread")
_MEANINGS: dict[Verdict, str] = {
    "contradicted": "its page says otherwise",
    "unsupported": "its page does not say it",
    "uncited": "it has no footnote",
    "unread": "its page was not read",
}


async def written_result(context: ToolContext, written: WrittenFile, text: str) -> ToolResult:
    """`text`: what was done, for the model."""
    record = written.record
    artifact = artifact_of(record)
    proofs = context.abilities.proofs
    proof = await proofs.judge(record.path, JUDGE_SECONDS) if proofs is not None else None
    if proof is not None and len(proof.citations) <= MAX_ARTIFACT_CITATIONS:
        artifact["proof"] = msgspec.json.decode(msgspec.json.encode(proof))
    if proof is not None and proof.citations:
        content = await workspace_of(context).read_text(record.path, proof.version)
        text = "\n".join((text, *_summary(proof, content)))
    return text_result(text, artifact=artifact, files=(record,))


def _summary(proof: FileCitations, content: str) -> Iterator[str]:
    yield f"Its footnotes were checked. {format_counts(proof.counts)}"
    listed = list_bad_statements(proof.citations, content)
    if listed:
        yield "To be corrected, or to be left out:"
        yield listed


def format_counts(counts: ProofCounts) -> str:
    """For a model: `41 statements: 36 supported, 3 partial, 2 uncited.`"""
    by_verdict = asdict(counts)
    total = by_verdict.pop("statements")
    named = ", ".join(f"{count} {verdict}" for verdict, count in by_verdict.items() if count)
    return f"{pluralize(total, 'statement')}: {named}."


def list_bad_statements(citations: Sequence[Citation], content: str, *, max_listed: int = MAX_LISTED) -> str:
    """The statements of a file that are not true to their sources, worst first, for the model that wrote it; and what
    the pages say instead. Empty if there are none."""
    worst = {verdict: rank for rank, verdict in enumerate(BAD_VERDICTS)}
    bad = sorted(_bad_statements(citations), key=lambda one: worst[one.verdict])
    lines = [_line(one, content) for one in bad[:max_listed]]
    more = [f"- and {len(bad) - max_listed} more"] if len(bad) > max_listed else []
    contradicting = [one for one in bad[:max_listed] if one.verdict == "contradicted" and one.quote]
    quotes = [f"[{one.number}] {_short(one.quote or '', _QUOTE_CHARACTERS)}" for one in contradicting]
    said = ["What the pages say instead:", wrap_web_text("\n".join(quotes))] if quotes else []
    return "\n".join(lines + more + said)


def _bad_statements(citations: Sequence[Citation]) -> Iterator[Citation]:
    """One citation for each statement of which no footnote holds, or which one of its sources contradicts."""
    by_statement: dict[tuple[int, int], list[Citation]] = {}
    for one in citations:
        by_statement.setdefault((one.start, one.end), []).append(one)
    for cited in by_statement.values():
        verdict = statement_verdict(one.verdict for one in cited)
        if verdict in BAD_VERDICTS:
            yield next(one for one in cited if one.verdict == verdict)


def _line(one: Citation, content: str) -> str:
    statement = escape_tags(_short(content[one.start : one.end], _STATEMENT_CHARACTERS))
    suggestion = f", and [{one.suggestion}] says it" if one.suggestion else ""
    return f"- {one.verdict} ({_MEANINGS[one.verdict]}{suggestion}): {statement}"


def _short(text: str, max_length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_length else line[: max_length - 1].rstrip() + "…"
