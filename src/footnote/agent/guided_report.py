"""The report of a guided model: an outline by rule, a request for each section, and the file that they make.

The outline follows the themes of the evidence: the headings under which its passages stand. A question of several parts
has a section for each part.
"""

import re

from msgspec import Struct

from footnote.agent.guided_task import GuidedTask
from footnote.evidence.sources import Sources
from footnote.models.reader.conversation import paths_in
from footnote.models.reader.messages import MESSAGES
from footnote.models.reader.reply import ReaderText, report_path, report_title, source_line
from footnote.models.wire import dumps
from footnote.protocol.sources import EvidencePassage
from footnote.text.markdown import escape_inline
from footnote.text.terms import fold

MAX_SECTIONS = 5
MAX_HEADING_LENGTH = 80
_HEADING = re.compile(r"^(#{1,6})[ \t]++([^\n]{1,200})", re.MULTILINE)
_NUMBERING = re.compile(r"\A(?:\d{1,2}(?:\.\d{1,2}){1,4}[.)]?|\d{1,2}[.)]|[IVX]{1,5}[.)])\s{1,9}")
_SITE_NAME = re.compile(r"(?<=\w)\s[-\u2013\u2014|·:»]\s.*\Z", re.DOTALL)


class ReportSection(Struct, frozen=True):
    """`heading` is empty for the summary at the beginning."""

    heading: str
    passages: tuple[EvidencePassage, ...]


class ReportPlan(Struct, frozen=True):
    """The call that writes a report, as pieces of the JSON of its arguments."""

    opening: str
    sections: tuple[ReportSection, ...]
    closing: str

    def section_piece(self, section: ReportSection, text: str) -> str:
        heading = f"## {escape_inline(section.heading)}\n\n" if section.heading else ""
        return _json_text(f"{heading}{text}\n\n")


def plan_report(task: GuidedTask, sources: Sources) -> ReportPlan:
    """The path, the outline and the list of sources of a report."""
    messages = MESSAGES[task.locale]
    hits = tuple(hit for hit in task.hits if hit.evidence or hit.passages)
    title = report_title(hits, messages)
    path = task.turn.path or report_path(title, paths_in(task.turn.history))
    opening = dumps({"file_path": path, "content": f"# {escape_inline(title)}\n\n"}).decode()
    used = {passage.number for passage in task.evidence}
    listed = {source.number: source for hit in hits for source in hit.sources if source.number in used}
    lines = "\n".join(source_line(source, messages) for _, source in sorted(listed.items()))
    closing = _json_text(f"## {messages.sources}\n\n{lines}\n")
    sections = (ReportSection("", task.evidence), *_outline(task, sources))
    return ReportPlan(opening.removesuffix('"}'), sections, f'{closing}"}}')


def _outline(task: GuidedTask, sources: Sources) -> list[ReportSection]:
    """The sections after the summary, by the best passage of each."""
    by_theme: dict[str, tuple[str, list[EvidencePassage]]] = {}
    parts = {
        (passage.id, passage.start): hit.heading
        for hit in reversed(task.hits)
        for passage in hit.evidence
        if len(task.hits) > 1
    }
    for passage in task.evidence:
        heading = parts.get((passage.id, passage.start)) or _theme(passage, sources)
        by_theme.setdefault(fold(heading), (heading, []))[1].append(passage)
    themes = list(by_theme.values())
    # What is beyond the last section belongs to the summary alone.
    return [ReportSection(heading, tuple(passages)) for heading, passages in themes[:MAX_SECTIONS]]


def _theme(passage: EvidencePassage, sources: Sources) -> str:
    """The heading under which a passage stands on its page, or else the title of the page."""
    source, snapshot = sources.source(passage.number), sources.snapshot(passage.number)
    title = _SITE_NAME.sub("", " ".join(source.title.split())) if source else ""
    heading = ""
    if snapshot is not None and snapshot.id == passage.snapshot_id:
        for found in _HEADING.finditer(snapshot.text, 0, passage.end):
            if found.start() > passage.start and heading:
                break
            heading = found[2]
    heading = _NUMBERING.sub("", heading.strip("# \t"))
    return (heading or title or passage.text[:MAX_HEADING_LENGTH])[:MAX_HEADING_LENGTH].strip()


def finished_report_reply(task: GuidedTask) -> ReaderText | None:
    """The answer after the report was written: where it is, and its summary. None: no report was written."""
    if not (task.question.wants_report and task.turn.write_results):
        return None
    call, result = task.turn.write_results[-1]
    summary = _summary_of(str(call.arguments.get("content", "")))
    if result.is_error:
        first = task.prompts.report_failed.format(error=escape_inline(result.text))
    else:
        path = (result.artifact or {}).get("path") or call.arguments.get("file_path")
        first = task.prompts.report_written.format(path=escape_inline(str(path)))
    return ReaderText(f"{first}\n\n{summary}".strip())


def _summary_of(report: str) -> str:
    """What stands between the title and the first section."""
    body = report.partition("\n\n")[2]
    return body.partition("\n\n## ")[0].strip()


def _json_text(text: str) -> str:
    """The text as it stands between the quotation marks of JSON."""
    return dumps(text).decode()[1:-1]
