"""What a model has written of a report, made fit for it: only statements that their sources support stay.

The text is rebuilt from its statements, so that no heading, link, image, code or markup of the model gets into the
report, and no footnote that the section does not have. A statement without a footnote gets those of the finding that
says it. Findings that the model has left out follow at the end.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from footnote.evidence.claims import Claim, extract_statements
from footnote.evidence.facts import is_about_the_answer, is_question
from footnote.evidence.page_index import PageIndex
from footnote.evidence.pointers import plain_footnotes
from footnote.evidence.proof import judge_text
from footnote.evidence.sources import Sources
from footnote.evidence.statement_blocks import StatementBlock, statement_blocks
from footnote.evidence.tokens import TokenizedText, find_names
from footnote.evidence.values import contains_value
from footnote.evidence.verdict import find_evidence
from footnote.protocol.sources import Citation, Snapshot
from footnote.research.findings import Finding, footnotes, is_label, marked_text, plain_statement
from footnote.text.markdown import escape_inline

MAX_WRITTEN_CHARACTERS = 40_000
"""Limit for the text of one section."""
_MIN_COVERED = 0.34
"""The share of its findings that a section must tell to be kept."""
_MIN_TOLD = 0.5
"""The share of the words of a finding that a text must have to tell it in other words."""
_THINKING = re.compile(r"</?(?:think|thinking|reasoning)>", re.IGNORECASE)
_CELL = re.compile(r"(?:\\.|[^|\\])+")
_MAX_COLUMNS = 12
_HELD = ("supported", "partial")
_COLONS = (":", "\uff1a")


def check_section(text: str, findings: Sequence[Finding], sources: Sources) -> str | None:
    """None: too little of a text is supported, or its markup hides what is."""
    checked = _SectionCheck(text, findings, sources).checked()
    if checked is None or any(one.verdict not in _HELD for one in judge_text(checked, sources, uncited=True)):
        return None
    return checked


class _SectionCheck:
    def __init__(self, text: str, findings: Sequence[Finding], sources: Sources) -> None:
        self._text = plain_footnotes(_without_thinking(text)[:MAX_WRITTEN_CHARACTERS], sources).text
        self._findings = findings
        self._numbers = {number for finding in findings for number in finding.numbers}
        self._statements = [PageIndex(Snapshot(url="", text=plain_statement(one))) for one in findings]
        whole = " ".join(page.text for page in self._statements)
        self._known = TokenizedText(whole)
        self._verdicts: dict[tuple[int, int], list[Citation]] = {}
        for citation in judge_text(self._text, sources, uncited=True):
            self._verdicts.setdefault((citation.start, citation.end), []).append(citation)
        self._kept: list[str] = []

    def checked(self) -> str | None:
        body = "\n\n".join(self._paragraphs())
        if not self._kept:
            return None
        told = TokenizedText("\n".join(self._kept))
        page = PageIndex(Snapshot(url="", text=told.text))
        missing = [
            finding
            for finding, own in zip(self._findings, self._statements, strict=True)
            if not _is_told(own.text, told, page)
        ]
        if len(missing) > (1 - _MIN_COVERED) * len(self._findings):
            return None
        return "\n\n".join([body, *(["\n".join(f"- {one.text}" for one in missing)] if missing else [])])

    # The text from its statements ------------------------------------------------------------------------------------

    def _paragraphs(self) -> Iterator[str]:
        """Paragraphs, lists, tables and quotations, as far as anything of them is kept."""
        lines: list[str] = []
        rows: list[list[str]] = []
        lead = ""
        for block, claims in self._blocks():
            if not _is_row(block) and rows:
                yield from _table(rows)
                rows = []
            if block.place != "item" and lines:
                yield "\n".join(lines)
                lines = []
            if _is_row(block):
                rows += self._row(block, claims)
            elif block.place == "label" or block.kind in ("reference", "attribution"):
                lead = ""
            elif not (kept := " ".join(self._keep(claims))):
                lead = self._lead_of(claims)
            elif block.place == "item":
                lines += [f"{lead}\n"] if lead and not lines else []
                lines.append(f"{'  ' * min(block.indent // 2, 3) if lines else ''}- {kept}")
                lead = ""
            else:
                yield f"> {kept}" if block.place == "quotation" else kept
                lead = ""
        if lines:
            yield "\n".join(lines)
        yield from _table(rows)

    def _blocks(self) -> Iterator[tuple[StatementBlock, list[Claim]]]:
        """The blocks of the text with their statements; the cells of a row are one block."""
        claims = deque(extract_statements(self._text))
        row: tuple[StatementBlock, list[Claim]] | None = None
        for block in statement_blocks(self._text):
            own: list[Claim] = []
            while claims and claims[0].start < block.lines[-1].end:
                own.append(claims.popleft())
            if row is not None and _line_start(block, self._text) == _line_start(row[0], self._text):
                row[1].extend(own)
                continue
            if row is not None:
                yield row
                row = None
            if _is_row(block):
                row = block, own
            else:
                yield block, own
        if row is not None:
            yield row

    def _keep(self, claims: Iterable[Claim]) -> Iterator[str]:
        """The statements that may stay, with their footnotes."""
        for claim in claims:
            if numbers := self._numbers_of(claim):
                self._kept.append(claim.text)
                yield marked_text(claim, numbers)

    def _numbers_of(self, claim: Claim) -> list[int]:
        """The footnotes of a statement; empty if it has to go."""
        if claim.is_reference or is_question(claim.text) or is_about_the_answer(claim.text) or is_label(claim):
            return []
        cited = [one for one in self._verdicts.get((claim.start, claim.end), ()) if one.number in self._numbers]
        supported = [one.number for one in cited if one.verdict == "supported"]
        if supported and (self._is_at_the_end(claim) or self._has_known_facts(claim.text)):
            return list(dict.fromkeys(supported))
        if said := self._numbers_by_findings(claim.text):
            return said
        partial = [one.number for one in cited if one.verdict in ("supported", "partial")]
        return list(dict.fromkeys(partial)) if not claim.links and self._has_known_facts(claim.text) else []

    def _is_at_the_end(self, claim: Claim) -> bool:
        """Whether all footnotes stand at the end of a statement: one within it may support the part before it alone."""
        return not any(map(str.isalnum, self._text[claim.cites[0].position + len(claim.cites[0].marker) : claim.end]))

    def _numbers_by_findings(self, text: str) -> list[int]:
        """The footnotes of a finding that says the whole of a statement."""
        for finding, page in zip(self._findings, self._statements, strict=True):
            if find_evidence(text, page).verdict == "supported":
                return list(finding.numbers)
        return []

    def _has_known_facts(self, text: str) -> bool:
        """Whether all numbers, dates and names of a statement are those of the findings."""
        wording = TokenizedText(text)
        names = find_names(wording, lambda word: word in self._known.text)
        return all(contains_value(self._known.values, value) for value in wording.values) and all(
            token.key in self._known.keys for name in names for token in name
        )

    def _lead_of(self, claims: Sequence[Claim]) -> str:
        """A line with a colon that states nothing, such as `Key figures:`."""
        if not claims or not claims[-1].text.endswith(_COLONS) or is_about_the_answer(claims[-1].text):
            return ""
        is_judged = (claims[-1].start, claims[-1].end) in self._verdicts
        return "" if is_judged else escape_inline(claims[-1].text)

    # Tables ----------------------------------------------------------------------------------------------------------

    def _row(self, block: StatementBlock, claims: Sequence[Claim]) -> list[list[str]]:
        """The cells of a row, if it may stay. A row is one statement with its footnotes at the end, unless its cells
        are statements by themselves. A header stays as far as it has no fact that the findings have not."""
        start = _line_start(block, self._text)
        line = self._text[start : block.lines[-1].end]
        spans = [(start + found.start(), start + found.end()) for found in _CELL.finditer(line)][:_MAX_COLUMNS]
        cells = [_plain_cell(self._text[first:last]) for first, last in spans]
        if block.place == "label":
            return [[cell if self._has_known_facts(cell) else "" for cell in cells]]
        found = [self._numbers_of(claim) for claim in claims]
        if not claims or not all(found):
            return []
        self._kept += [claim.text for claim in claims]
        if len(claims) == 1 and cells:
            cells[-1] = f"{cells[-1]} {footnotes(found[0])}".strip()
            return [cells]
        stated = [(claim.start, marked_text(claim, numbers)) for claim, numbers in zip(claims, found, strict=True)]
        by_cell = [" ".join(text for at, text in stated if first <= at < last) for first, last in spans]
        return [[text.replace("|", "\\|") or cell for text, cell in zip(by_cell, cells, strict=True)]]


def _plain_cell(cell: str) -> str:
    claims = extract_statements(cell.strip())
    text = " ".join(claim.text for claim in claims) if claims else cell.strip()
    return escape_inline(text).replace("|", "\\|")


def _is_row(block: StatementBlock) -> bool:
    """Whether a block is a row of a table, or its header."""
    if block.place == "row":
        return True
    return block.place == "label" and block.kind == "whole"


def _line_start(block: StatementBlock, text: str) -> int:
    return text.rfind("\n", 0, block.lines[0].start) + 1


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table of at least a header and a row."""
    if len(rows) < 2:
        return
    width = max(map(len, rows))
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    yield "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def _is_told(statement: str, told: TokenizedText, page: PageIndex) -> bool:
    """Whether a text says a finding, in its words or at least with its numbers and half of its words."""
    evidence = find_evidence(statement, page)
    if evidence.verdict == "supported":
        return True
    wording = TokenizedText(statement)
    has_values = all(contains_value(told.values, value) for value in wording.values)
    return evidence.verdict == "partial" and has_values and evidence.share >= _MIN_TOLD


def _without_thinking(text: str) -> str:
    """The text behind the thinking of a model that shows it, without a fence around the whole."""
    text = _THINKING.split(text)[-1].strip()
    lines = text.split("\n")
    if lines[0].startswith(("```", "~~~")) and lines[-1].strip() == lines[0][:3]:
        return "\n".join(lines[1:-1])
    return text
