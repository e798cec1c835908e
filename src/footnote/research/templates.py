"""The templates of reports: what a report of a kind is about, in which sections, as markdown files.

A file begins with lines `# en: Title`, one for each language, or `# Title` for all of them. The text below is what a
model is told about the report. `## en: Heading` begins a section, with instructions of its own. Lists `- en: …` are
the questions of a plan that is made without a model; `{topic}` stands for what the user asked about. An operator's own
files are in the folder `templates` of the home folder; one with the name of a built-in template replaces it.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from footnote.protocol.errors import UsageError
from footnote.protocol.tools import LOCALES, Locale
from footnote.text.search_terms import content_terms
from footnote.text.terms import fold, strip_diacritics

GENERAL = "general"
BUILT_IN = (GENERAL, "comparison", "literature-review", "market-overview", "fact-sheet")
TOPIC = "{topic}"
MAX_FILE_BYTES = 32_768
MAX_SECTIONS = 12
MAX_INSTRUCTIONS_LENGTH = 4_000
MAX_HEADING_LENGTH = 120
_MIN_HEADING_SHARE = 0.65
"""A question belongs under a heading if it has a larger share of the words of the heading, or of what a plan by rule
asks for it."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_HEADING = re.compile(r"(#{1,2})[ \t]+(?:(en|vi|zh):[ \t]*)?(\S.*)")
_QUESTION = re.compile(r"[-*][ \t]+(?:(en|vi|zh):[ \t]*)?(\S.*)")

Wordings: TypeAlias = Mapping[Locale, str]
"""The same words in one or several languages."""


class TemplateSection(Struct, frozen=True):
    """A section of the report. `questions` are for a plan by rule."""

    heading: Wordings
    instructions: str = ""
    questions: tuple[Wordings, ...] = ()


class Template(Struct, frozen=True):
    """What a report is about. One without sections has the sections that its findings suggest."""

    name: str
    titles: Wordings
    instructions: str = ""
    questions: tuple[Wordings, ...] = ()
    sections: tuple[TemplateSection, ...] = ()

    def title(self, locale: Locale) -> str:
        return _wording(self.titles, locale)

    def headings(self, locale: Locale) -> tuple[str, ...]:
        return tuple(_wording(section.heading, locale) for section in self.sections)

    def heading_of(self, question: str, locale: Locale) -> str | None:
        """The heading under which the answer to a question belongs, by its words and those of the template; None: none
        of them."""
        asked = {term.text for term in content_terms(question)}
        best, best_share = None, _MIN_HEADING_SHARE
        for section in self.sections:
            for wording in [
                *section.heading.values(),
                *(one for asking in section.questions for one in asking.values()),
            ]:
                words = {term.text for term in content_terms(wording.replace(TOPIC, " "))}
                share = len(words & asked) / len(words) if words else 0.0
                if share > best_share:
                    best, best_share = _wording(section.heading, locale), share
        return best

    def plan_questions(self, locale: Locale) -> tuple[str, ...]:
        """The questions of a plan by rule, with `{topic}` in them. A section without any is asked about by its name."""
        found = [_wording(one, locale) for one in self.questions]
        for section in self.sections:
            found += [_wording(one, locale) for one in section.questions] or [
                f"{TOPIC}: {_wording(section.heading, locale)}"
            ]
        return tuple(found)

    def prompt(self, locale: Locale) -> str:
        """What a model is told about the report, in a few lines."""
        lines = [f"The report is of this kind: {self.title(locale)}. {self.instructions}".strip()]
        lines += [
            f"- Section “{_wording(section.heading, locale)}”"
            + (f": {section.instructions}" if section.instructions else "")
            for section in self.sections
        ]
        return "\n".join(lines)


def _wording(wordings: Wordings, locale: Locale) -> str:
    return wordings.get(locale) or wordings.get("en") or next(iter(wordings.values()))


# The templates that there are -----------------------------------------------------------------------------------------


@cache
def builtin_templates() -> Mapping[str, Template]:
    folder = files("footnote.research").joinpath("templates")
    return {name: parse_template(name, folder.joinpath(f"{name}.md").read_text("utf-8")) for name in BUILT_IN}


class TemplateProblem(Struct, frozen=True):
    """Why a file of the operator is no template. `message` is a sentence without its full stop."""

    file: str
    message: str
    line: int | None = None


def read_templates(folder: Path) -> tuple[Mapping[str, Template], list[TemplateProblem]]:
    """The built-in templates with those in the operator's folder, which may be missing; and what is wrong there."""
    found = dict(builtin_templates())
    problems: list[TemplateProblem] = []
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".md" and not path.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return found, problems
    except OSError as error:
        return found, [TemplateProblem(str(folder), f"the folder cannot be read: {error.strerror}")]
    for path in paths:
        name = template_name(path.stem)
        try:
            found[name] = parse_template(name, _read(path, name))
        except MalformedTemplate as error:
            problems.append(TemplateProblem(str(path), error.message, error.line))
    return found, problems


def _read(path: Path, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise MalformedTemplate("the name of a template has letters from a to z, digits and hyphens")
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise MalformedTemplate(f"a template has at most {MAX_FILE_BYTES:,} bytes")
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise MalformedTemplate("a template is a text in UTF-8") from None
    except OSError as error:
        raise MalformedTemplate(f"it cannot be read: {error.strerror}") from error


def template_name(wanted: str) -> str:
    """The name as it is listed: `Literature_Review` is `literature-review`."""
    return "-".join(wanted.replace("_", " ").replace("-", " ").lower().split())


def template_of(name: str, templates: Mapping[str, Template] | None = None) -> Template:
    """`templates`: all that there are; None: the built-in ones."""
    known = builtin_templates() if templates is None else templates
    found = known.get(template_name(name))
    if found is None:
        listed = ", ".join(known)
        raise UsageError(
            f"There is no template “{name}”. There are: {listed}.",
            code="template_unknown",
            name=name,
            templates=listed,
        )
    return found


# The format -----------------------------------------------------------------------------------------------------------


class MalformedTemplate(ValueError):
    """A text is no template; `line` is where it goes wrong."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class _Part(Struct):
    """The title or a section of a file, while it is read."""

    level: int
    line: int
    heading: dict[Locale, str]
    text: list[str]
    questions: list[dict[Locale, str]]

    def instructions(self) -> str:
        text = " ".join(" ".join(self.text).split())
        if len(text) > MAX_INSTRUCTIONS_LENGTH:
            raise MalformedTemplate(f"instructions have at most {MAX_INSTRUCTIONS_LENGTH:,} characters", self.line)
        return text


def parse_template(name: str, text: str) -> Template:
    """`MalformedTemplate`: it does not begin with a title, or something in it is too long."""
    parts = list(_parts(text))
    if not parts or parts[0].level != 1:
        raise MalformedTemplate("a template begins with its title, such as “# Vendor check” or “# en: Vendor check”", 1)
    title, *sections = parts
    for part in sections:
        if part.level == 1:
            raise MalformedTemplate("a template has one title; its sections begin with “##”", part.line)
    if len(sections) > MAX_SECTIONS:
        raise MalformedTemplate(f"a template has at most {MAX_SECTIONS} sections", sections[MAX_SECTIONS].line)
    return Template(
        name=name,
        titles=title.heading,
        instructions=title.instructions(),
        questions=tuple(title.questions),
        sections=tuple(TemplateSection(part.heading, part.instructions(), tuple(part.questions)) for part in sections),
    )


def _parts(text: str) -> Iterator[_Part]:
    part: _Part | None = None
    previous = ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if found := _HEADING.fullmatch(stripped):
            level, words = len(found[1]), found[3].strip(" \t#")
            if not words or len(words) > MAX_HEADING_LENGTH:
                raise MalformedTemplate(f"a heading has 1 to {MAX_HEADING_LENGTH} characters", number)
            languages: tuple[Locale, ...] = tuple(one for one in LOCALES if found[2] in (None, one))
            continues = previous == "heading" and part is not None and part.level == level and found[2]
            if part is None or not continues or not part.heading.keys().isdisjoint(languages):
                if part is not None:
                    yield part
                part = _Part(level, number, {}, [], [])
            part.heading |= dict.fromkeys(languages, words)
            previous = "heading"
        elif not stripped:
            previous = previous if previous == "heading" else ""
        elif part is None:
            raise MalformedTemplate("a template begins with its title, such as “# Vendor check”", number)
        elif found := _QUESTION.fullmatch(stripped):
            _add_question(part, found, is_first=previous != "question")
            previous = "question"
        else:
            part.text.append(stripped)
            previous = "text"
    if part is not None:
        yield part


def _add_question(part: _Part, found: re.Match[str], *, is_first: bool) -> None:
    """Lines in different languages that follow each other are one question."""
    languages: tuple[Locale, ...] = tuple(one for one in LOCALES if found[1] in (None, one))
    wordings = dict.fromkeys(languages, found[2].strip())
    if is_first or found[1] is None or not part.questions[-1].keys().isdisjoint(languages):
        part.questions.append(wordings)
    else:
        part.questions[-1] |= wordings


# The choice by rule ---------------------------------------------------------------------------------------------------

MAX_READ_LENGTH = 2_000
_SIGNS: Mapping[str, tuple[str, ...]] = {
    "literature-review": (
        r"\b(?:literature|systematic|scoping|research) reviews?\b|\bmeta-?analys[ei]s\b|\bstate of (?:the )?research\b",
        r"\breview of (?:the )?(?:\w{1,30} )?(?:literature|research|studies|evidence)\b",
        r"\bwhat (?:do|does) (?:the )?(?:research|studies|literature) sa(?:y|ys)\b",
        r"\btong (?:quan|thuat) (?:tai lieu|nghien cuu|y van|he thong)\b|\bphan tich gop\b",
        r"文献综述|综述文献|研究综述|系统综述|荟萃分析|元分析|文献回顾|研究现状|文獻綜述|文獻回顧",
    ),
    "market-overview": (
        r"\b(?:market|industry) (?:overview|analysis|research|size|shares?|report|study|landscape|survey)\b",
        r"\b(?:overview|analysis|state|size) of the (?:[\w-]{1,30} ){0,4}(?:market|industry)\b",
        r"\bcompetitive landscape\b",
        r"\b(?:tong quan|phan tich|nghien cuu|bao cao|quy mo|khao sat)(?: ve)? (?:thi truong|nganh)\b|\bthi phan\b",
        r"(?:市场|行业|产业|市場)(?:概览|概况|分析|规模|份额|调研|研究|报告|现状|概覽|規模)|竞争格局",
    ),
    "fact-sheet": (
        r"\b(?:fact ?-?sheet|key facts|facts (?:and|&) figures|factbook|data ?sheet)\b",
        r"\bbang (?:thong tin|du kien|so lieu)\b|\b(?:thong tin|so lieu|du kien) (?:chinh|co ban|tom tat)\b",
        r"资料(?:概要|卡|表)|概况表|基本(?:信息|资料|情况|数据)|事实(?:清单|表)|关键(?:数据|事实)|简况",
    ),
    "comparison": (
        r"\b(?:compare[ds]?|comparing|comparison|versus|vs)\b|\bdifferences? between\b|\bbetter than\b",
        r"\b(?:which|what) (?:is|are|one is) (?:the )?(?:better|best|cheaper|faster|safer)\b.{0,80}\bor\b",
        r"\bor .{1,80}[:,] which (?:one )?is\b",
        r"\bhow (?:do|does|is|are) .{1,80} (?:differ|different from)\b|\b(?:better|cheaper|faster|safer), .{1,80} or\b",
        r"\b(?:so sanh|doi chieu|khac (?:nhau|biet|gi))\b|\bhay .{1,60} (?:tot hon|re hon|nhanh hon)\b",
        r"\bnen (?:chon|mua|dung) .{1,60} hay\b",
        r"^比较|(?:请|帮我|来)比较|比较(?:一下|下)|(?:和|与|跟).{1,40}(?:的比较|比较$)|对比|相比|比較|對比",
        r"区别|差异|差别|有(?:什么|何)不同|的不同|不同之处|哪个(?:更|比较)?好|还是.{1,30}(?:更|好|划算)",
    ),
}
"""In all languages, because a question may mix them; without diacritics, since many people write without them. The
first template that matches is chosen: a review of the literature that compares is one of the literature."""


@cache
def _signs(name: str) -> re.Pattern[str]:
    return re.compile("|".join(_SIGNS[name]), re.IGNORECASE)


def choose_template(question: str, templates: Mapping[str, Template] | None = None) -> Template:
    """The template that fits a question, by its words."""
    text = strip_diacritics(fold(" ".join(question[:MAX_READ_LENGTH].split())))
    known = builtin_templates() if templates is None else templates
    return known[next((name for name in _SIGNS if _signs(name).search(text)), GENERAL)]
