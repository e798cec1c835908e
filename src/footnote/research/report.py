"""The report of a research run: its outline, what a model is asked for each section, and what is made by code. Pure.

The last section says what is not settled: sources that contradict each other, questions without an answer, pages that
could not be read. It is made by code alone, and so is the list of sources.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Struct

from footnote.agent.window import text_tokens
from footnote.evidence.claims import extract_claims, extract_statements
from footnote.evidence.pointers import find_pointers
from footnote.evidence.sources import Sources, normalize_url
from footnote.evidence.statement_blocks import is_source_heading
from footnote.models.reader.messages import MESSAGES
from footnote.models.reader.reply import source_line
from footnote.protocol.messages import Message, ToolResultMessage
from footnote.protocol.plans import PlanItem
from footnote.protocol.sources import Disagreement, PageReport, Pointer, Receipt, Source, published_day, sources_in
from footnote.protocol.tools import Locale
from footnote.research.contrasts import ComparableStatement, relate
from footnote.research.findings import Finding, OtherSide, footnotes, plain_statement
from footnote.research.plan import PlanState
from footnote.research.report_messages import REPORT_MESSAGES, ReportMessages
from footnote.research.section_check import check_section
from footnote.research.templates import Template
from footnote.text.boundary import wrap_web_text
from footnote.text.markdown import blockquote, escape_inline
from footnote.text.search_terms import content_terms

MAX_SECTION_FINDINGS = 16
MAX_SECTION_TOKENS = 1_500
"""Limits for the statements of one section, so that its request stays small however long the report gets."""
MAX_HEADING_LENGTH = 120
MAX_TITLE_LENGTH = 200
MAX_REPORT_TOKENS = 6_000
"""How much of a report a request for its summary shows."""
MAX_STEERING_LENGTH = 2_000
MAX_LISTED = 40
"""Questions, hosts and contradictions that the last section lists, each."""
MAX_ANSWER_FINDINGS = 6


class SectionPlan(Struct, frozen=True):
    """A section. One that continues the section before it has the same heading, which the report shows once."""

    heading: str
    findings: tuple[Finding, ...]


# The outline ---------------------------------------------------------------------------------------------------------


def plan_sections(
    state: PlanState, findings: Iterable[Finding], template: Template, locale: Locale
) -> tuple[SectionPlan, ...]:
    """The sections in order: those of the template first that items of the plan fit, then one for each other item.
    Findings that are disputed belong to the last section of the report alone."""
    by_item: dict[str, list[Finding]] = {}
    for finding in findings:
        if not finding.is_disputed:
            by_item.setdefault(finding.item_id, []).append(finding)
    by_heading: dict[str, list[Finding]] = {heading: [] for heading in template.headings(locale)}
    for item in state.items:
        heading = template.heading_of(item.question, locale) or _short(item.question, MAX_HEADING_LENGTH)
        by_heading.setdefault(heading, []).extend(by_item.pop(item.id, ()))
    # Findings of items that are in the plan no more.
    by_heading.setdefault(REPORT_MESSAGES[locale].title, []).extend(one for left in by_item.values() for one in left)
    return tuple(
        SectionPlan(heading, part) for heading, found in by_heading.items() for part in _parts_of(found) if part
    )


def _parts_of(findings: Sequence[Finding]) -> Iterator[tuple[Finding, ...]]:
    """The findings of one section in parts that fit into a request. Supported ones come first."""
    part: list[Finding] = []
    tokens = 0
    for finding in sorted(findings, key=lambda one: not one.is_supported):
        size = text_tokens(finding.text)
        if part and (len(part) == MAX_SECTION_FINDINGS or tokens + size > MAX_SECTION_TOKENS):
            yield tuple(part)
            part, tokens = [], 0
        part.append(finding)
        tokens += size
    yield tuple(part)


def _short(text: str, max_length: int) -> str:
    line = " ".join(text.split())
    if len(line) <= max_length:
        return line
    cut = line[: max_length - 1]
    words = cut.rpartition(" ")[0]
    return f"{words if len(words) > max_length // 2 else cut}…"


# The sections --------------------------------------------------------------------------------------------------------


def section_request(
    question: str, section: SectionPlan, template: Template, locale: Locale, steering: Sequence[str]
) -> tuple[str, str]:
    """The system prompt and the message with which a model is asked for a section."""
    messages = REPORT_MESSAGES[locale]
    statements = "\n".join(f"- {finding.text}" for finding in section.findings)
    said = " / ".join(steering)[-MAX_STEERING_LENGTH:]
    parts = [
        messages.section.format(question=question, heading=section.heading),
        messages.template.format(instructions=template.prompt(locale)),
        messages.steering.format(messages=said) if said else "",
        f"{messages.statements}\n{wrap_web_text(statements)}",
    ]
    return messages.section_system, "\n\n".join(filter(None, parts))


def checked_section(text: str, section: SectionPlan, sources: Sources, locale: Locale) -> str:
    """What a model has written for a section, as far as its sources support it; the findings themselves if that is too
    little."""
    return check_section(text, section.findings, sources) or quoted_section(section, locale)


def quoted_section(section: SectionPlan, locale: Locale) -> str:
    """The findings of a section as they are: statements as a list, and quotations as quotations."""
    words = REPORT_MESSAGES[locale]
    return "\n\n".join(_listed(section.findings, "", words.quoted_section)) or words.nothing_found


def _listed(findings: Sequence[Finding], before_statements: str, before_quotations: str) -> list[str]:
    """Statements as a list, then quotations, each with a line before them."""
    statements = [one for one in findings if _is_statement(one)]
    quotations = [_quoted(one) for one in findings if not _is_statement(one)]
    blocks = [before_statements, "\n".join(f"- {one.text}" for one in statements)] if statements else []
    return list(filter(None, [*blocks, *([before_quotations, *quotations] if quotations else [])]))


def _is_statement(finding: Finding) -> bool:
    """Whether it is one statement in a list; what has several sentences is one only as a quotation."""
    return not finding.quotation and len(extract_statements(f"- {finding.text}")) == 1


def _quoted(finding: Finding | OtherSide) -> str:
    if not finding.quotation:
        return f"> {finding.text}"
    first, *others = dict.fromkeys(one.number for one in finding.citations)
    return blockquote(finding.quotation, first) + footnotes(others)


# What is not settled -------------------------------------------------------------------------------------------------


class _LookUps(Struct, frozen=True):
    """What the searches of all items met: their sources by number, and the reports on pages and providers."""

    sources: Mapping[int, Source]
    receipts: tuple[Receipt, ...]


def unsettled_section(
    state: PlanState,
    findings: Sequence[Finding],
    disagreements: Iterable[Disagreement],
    messages: Iterable[Message],
    locale: Locale,
) -> str:
    """The last section, with its heading. Questions, notes and hosts stand in open tasks, which state nothing."""
    words = REPORT_MESSAGES[locale]
    look_ups = _look_ups(messages)
    parts = {
        words.disagreements: list(_contradictions(findings, disagreements, look_ups.sources, words)),
        words.open_items: _tasks(_open_items(state.items, findings, words), words),
        words.unread_pages: _tasks(_unread_pages(look_ups, words), words),
        words.failed_searches: [] if findings else _tasks(_failed_searches(look_ups, words), words),
    }
    blocks = [block for heading, part in parts.items() if part for block in (f"### {heading}", *part)]
    return "\n\n".join([f"## {words.unsettled}", *(blocks or [words.all_settled])])


def _look_ups(messages: Iterable[Message]) -> _LookUps:
    artifacts = [one.artifact for one in messages if isinstance(one, ToolResultMessage) and one.artifact is not None]
    sources: dict[int, Source] = {}
    for source in (source for artifact in artifacts for source in sources_in(artifact)):
        known = sources.get(source.number or 0)
        if source.number and (known is None or known.status != "read"):
            sources[source.number] = source
    receipts: list[Receipt] = []
    for artifact in artifacts:
        try:
            receipts.append(msgspec.convert(artifact.get("receipt", {}), Receipt))
        except msgspec.ValidationError:
            continue
    return _LookUps(sources, tuple(receipts))


def _tasks(lines: Iterable[str], words: ReportMessages) -> list[str]:
    found = list(dict.fromkeys(lines))
    more = [words.more.format(count=len(found) - MAX_LISTED)] if len(found) > MAX_LISTED else []
    tasks = [f"- [ ] {line}" for line in [*found[:MAX_LISTED], *more]]
    return ["\n".join(tasks)] if tasks else []


def _contradictions(
    findings: Sequence[Finding],
    disagreements: Iterable[Disagreement],
    sources: Mapping[int, Source],
    words: ReportMessages,
) -> Iterator[str]:
    """Both sides of each contradiction, with their sites and dates."""
    told: set[str] = set()
    for finding in findings:
        others = [one for one in finding.others if one.text not in told]
        if not others:
            continue
        told.update([finding.text, *(one.text for one in others)])
        yield f"**{words.reasons['undecided'] if finding.is_disputed else words.kept}**"
        yield _side(finding, sources, words)
        yield from (_side(one, sources, words) for one in others if one.reason == "undecided")
        for reason in ("outvoted", "outdated"):
            beaten = [_side(one, sources, words) for one in others if one.reason == reason]
            yield from [f"**{words.reasons[reason]}**", *beaten] if beaten else []
    yield from _other_disagreements(findings, disagreements, sources, words)


def _side(side: Finding | OtherSide, sources: Mapping[int, Source], words: ReportMessages) -> str:
    """A quotation with its footnote, and a line that names its site and date, which is no statement."""
    numbers = dict.fromkeys(one.number for one in side.citations)
    return f"{_quoted(side)}\n>\n> — {'; '.join(_origin(number, sources.get(number), words) for number in numbers)}"


def _origin(number: int, source: Source | None, words: ReportMessages) -> str:
    if source is None:
        return footnotes([number])
    day = published_day(source.published)
    facts = [escape_inline(source.domain or source.url), words.published.format(date=day) if day else ""]
    return ", ".join(filter(None, facts))


def _other_disagreements(
    findings: Sequence[Finding],
    disagreements: Iterable[Disagreement],
    sources: Mapping[int, Source],
    words: ReportMessages,
) -> Iterator[str]:
    """Contradictions that searches noticed and that no finding is about."""
    told = {one.quotation for finding in findings for one in (finding, *finding.others)}
    told |= {cited.quote or "" for finding in findings for one in (finding, *finding.others) for cited in one.citations}
    count = 0
    for one in sorted(disagreements, key=lambda each: (each.about, [value.text for value in each.values])):
        statements = [ComparableStatement(value.text) for value in one.values]
        is_told = any(value.text in quote for value in one.values for quote in told)
        if is_told or count == MAX_LISTED:
            continue
        if any(relate(*pair) == "contradiction" for pair in combinations(statements, 2)):
            count += 1
            told |= {value.text for value in one.values}
            yield f"**{words.reasons['undecided']}**"
            for value in sorted(one.values, key=lambda each: each.text):
                origin = _origin(value.number, sources.get(value.number), words)
                yield f"{blockquote(value.text, value.number)}\n>\n> — {origin}"


def _open_items(items: Iterable[PlanItem], findings: Iterable[Finding], words: ReportMessages) -> Iterator[str]:
    answered = {item for finding in findings for item in (finding.item_id, *finding.other_items)}
    states = {
        "dropped": words.dropped,
        "failed": words.failed,
        "pending": words.not_begun,
        "running": words.not_finished,
    }
    for item in items:
        note = "" if item.note is UNSET else item.note
        why = states.get(item.status) or ("" if item.id in answered else words.without_findings)
        if why:
            reason = f"{why}: {escape_inline(note)}" if note else why
            yield f"{escape_inline(item.question)} ({reason})"


def _unread_pages(look_ups: _LookUps, words: ReportMessages) -> Iterator[str]:
    """The hosts of pages that no search could read, with the reasons."""
    reports = [report for receipt in look_ups.receipts for report in receipt.pages]
    read = {normalize_url(report.url) for report in reports if report.status == "read"}
    read |= {normalize_url(source.url) for source in look_ups.sources.values() if source.status == "read"}
    by_host: dict[str, dict[str, PageReport]] = {}
    for report in sorted(
        (one for one in reports if one.status == "failed"), key=lambda one: (one.url, str(one.failure))
    ):
        if (address := normalize_url(report.url)) not in read:
            by_host.setdefault(_host(report.url), {}).setdefault(address, report)
    for host, failed in sorted(by_host.items()):
        reasons = dict.fromkeys(_reason(report, words) for report in failed.values())
        pages = f" ({words.pages.format(count=len(failed))})" if len(failed) > 1 else ""
        yield f"`{host}`{pages}: {'; '.join(reasons)}"


def _reason(report: PageReport, words: ReportMessages) -> str:
    if report.failure is None:
        return escape_inline(report.reason or words.no_reason)
    status = f" (HTTP {report.http_status})" if report.failure == "status" and report.http_status else ""
    return words.failures[report.failure] + status


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    host = parts.netloc.rpartition("@")[2] or url[:MAX_HEADING_LENGTH]
    return "".join(letter for letter in host if letter.isprintable() and letter not in "`\\")


def _failed_searches(look_ups: _LookUps, words: ReportMessages) -> Iterator[str]:
    for one in (attempt for receipt in look_ups.receipts for attempt in receipt.providers):
        if one.outcome in ("blocked", "error"):
            yield f"{escape_inline(one.provider)}: {escape_inline(one.reason or words.no_reason)}"


# The whole report ----------------------------------------------------------------------------------------------------


def assemble_report(
    title: str,
    sections: Sequence[tuple[str, str]],
    unsettled: str,
    sources: Sources,
    locale: Locale,
    *,
    is_quoted: bool,
    is_by_small_model: bool = False,
) -> str:
    """The file, from the headings and texts of its sections. `is_quoted`: it consists of quotations.
    `is_by_small_model`: most of it does."""
    words = REPORT_MESSAGES[locale]
    body: list[str] = []
    last = ""
    for heading, text in sections:
        if heading != last:
            body.append(f"## {_heading(heading, words)}")
        body.append(text.strip())
        last = heading
    claims = [claim for claim in extract_claims("\n\n".join([*body, unsettled])) if not claim.is_reference]
    cited = sorted({cite.number for claim in claims for cite in claim.cites})
    listed = [source for number in cited if (source := sources.source(number)) is not None]
    made = [words.quoted] if is_quoted else [words.mostly_quoted] if is_by_small_model else []
    if listed:
        made.append(_made_line(len(claims), listed, sources, words))
    source_list = [f"## {MESSAGES[locale].sources}", "\n".join(source_line(one, MESSAGES[locale]) for one in listed)]
    blocks = [
        f"# {escape_inline(_short(title, MAX_TITLE_LENGTH)) or words.title}",
        *([f"*{words.space.join(made)}*"] if made else []),
        *(body or [words.nothing_found]),
        *(source_list if listed else []),
        unsettled,
    ]
    return "\n\n".join(blocks) + "\n"


def report_pointers(report: str, findings: Iterable[Finding]) -> tuple[Pointer, ...]:
    """The passages to which readers pointed for the statements that the report has in their words."""
    written = {
        (plain_statement(finding), one.number): one.passage
        for finding in findings
        for one in finding.citations
        if one.passage is not None
    }
    return find_pointers(extract_claims(report), written)


def _heading(heading: str, words: ReportMessages) -> str:
    """A heading that is not that of a list of sources, whatever the item of the plan is called."""
    escaped = escape_inline(_short(heading[:1].upper() + heading[1:], MAX_HEADING_LENGTH))
    return f"{words.title}: {escaped}" if is_source_heading(f"## {escaped}") else escaped


def _made_line(statements: int, listed: Sequence[Source], sources: Sources, words: ReportMessages) -> str:
    read = [one for number in sources.numbers if (one := sources.source(number)) and one.status == "read"]
    days = [day for one in listed if (day := published_day(one.fetched_at))]
    line = words.made if days else words.made_undated
    return line.format(statements=statements, pages=len(listed), read=len(read), date=max(days, default=""))


# The answer ----------------------------------------------------------------------------------------------------------


def summary_request(question: str, report: str, locale: Locale) -> tuple[str, str]:
    """The system prompt and the message with which a model is asked for the answer: a summary of the report."""
    words = REPORT_MESSAGES[locale]
    shown = wrap_web_text(_excerpt_of(report, MESSAGES[locale].sources))
    return words.summary_system, f"{shown}\n\n{words.summary.format(question=question)}"


def _excerpt_of(report: str, sources_heading: str) -> str:
    """The report without its list of sources; of a long one, the beginning of each section."""
    sections = [one for one in report.split("\n## ") if not one.startswith(f"{sources_heading}\n")]
    body = "\n## ".join(sections)
    if text_tokens(body) <= MAX_REPORT_TOKENS:
        return body
    share = MAX_REPORT_TOKENS // len(sections)
    return "\n## ".join(_beginning(section, share) for section in sections)


def _beginning(text: str, max_tokens: int) -> str:
    """The first whole lines that fit."""
    kept: list[str] = []
    for line in text.split("\n"):
        max_tokens -= text_tokens(line)
        if kept and max_tokens < 0:
            return "\n".join([*kept, "…"])
        kept.append(line)
    return "\n".join(kept)


def summary_by_rule(question: str, findings: Sequence[Finding], path: str, locale: Locale) -> str:
    """The answer without a model: where the report is, and the first findings of each item."""
    words = REPORT_MESSAGES[locale]
    chosen = _best_of_each_item(question, [one for one in findings if not one.is_disputed])
    listed = _listed(chosen, words.answer_findings, words.answer_quotations)
    blocks = [words.written.format(path=escape_inline(path)), *(listed or [words.nothing_found])]
    if any(one.is_disputed for one in findings):
        blocks.append(words.see_disputes)
    return "\n\n".join(blocks)


def _best_of_each_item(question: str, findings: Sequence[Finding]) -> list[Finding]:
    """The findings of each item in turn: those that have most of the words of the question first, and supported ones
    before others."""
    asked = {term.text for term in content_terms(question)}

    def rank(finding: Finding) -> tuple[bool, int]:
        shared = asked & {term.text for term in content_terms(finding.text)}
        return not finding.is_supported, -len(shared)

    by_item: dict[str, list[Finding]] = {}
    for finding in findings:
        by_item.setdefault(finding.item_id, []).append(finding)
    ranked = [sorted(found, key=rank) for found in by_item.values()]
    in_turn = [found[at] for at in range(MAX_ANSWER_FINDINGS) for found in ranked if at < len(found)]
    return in_turn[:MAX_ANSWER_FINDINGS]
