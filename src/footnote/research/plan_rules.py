"""The plan of a research run without a model, or with a small one: the parts of the question, by rule.

These are what it compares, what it lists, and what it asks one after the other. Each can be searched for by itself.
"""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from footnote.models.reader.phrases import QUESTION_MARKS, QUESTION_WORDS, anywhere_pattern
from footnote.models.reader.question import (
    MAX_MESSAGE_LENGTH,
    Subject,
    build_searches,
    has_topic,
    is_question,
    parse_message,
)
from footnote.protocol.tools import Locale
from footnote.research.comparisons import EDGES, Comparison, find_comparison
from footnote.research.question_lists import distinct_questions, question_line
from footnote.research.templates import TOPIC, Template
from footnote.text.languages import detect_language, detect_locale
from footnote.text.search_terms import content_terms
from footnote.text.sentences import sentences

MAX_PARTS = 20
MAX_RULED_ITEMS = 7
"""Questions of a plan, unless the user listed more: a model would ask fewer and better ones."""
MAX_TOPIC_LENGTH = 160
_MAX_OPEN_TERMS = 2
"""A question with more words of its own is about something by itself."""

_ITEM = re.compile(r"\s*(?:[-*•–]|\(?\d{1,2}[.)、])\s*(\S.*)")


class QuestionParts(Struct, frozen=True):
    """`topic` is what the question is about, as it stands in `History of …`; empty: there is nothing to look up.
    `is_clause`: the topic is a whole question, such as `Why did Rome fall`. `is_explicit`: the questions are those that
    the user listed."""

    locale: Locale
    topic: str
    questions: tuple[str, ...]
    is_clause: bool = False
    is_explicit: bool = False


def plan_by_rule(question: str, *, max_items: int, template: Template, locale: Locale) -> tuple[str, ...]:
    """The questions of a plan without a model: the parts of the question, and then what the template asks about its
    subject, in the language of the question. `locale`: that of a question without a language. Never empty."""
    parts = split_question(question, question_locale(question, locale))
    asked = template.plan_questions(parts.locale) if parts.topic else ()
    if parts.is_explicit and not template.sections:
        asked = ()  # the user has said what to look up
    elif parts.is_clause:
        about = template.headings(parts.locale) or _ASPECTS[parts.locale]
        asked = tuple(f"{TOPIC}: {_small(one)}" for one in about)
    ruled = (one.replace(TOPIC, parts.topic) for one in asked)
    whole = question_line(question) or question_line(template.title(locale))
    found = distinct_questions([*parts.questions, *ruled]) or (whole,)
    return found[: max(1, min(max_items, max(MAX_RULED_ITEMS, len(parts.questions))))]


_ASPECTS: Mapping[Locale, tuple[str, ...]] = {
    "en": ("history and background", "latest facts and figures", "disputes and other views"),
    "vi": ("lịch sử và bối cảnh", "số liệu mới nhất", "tranh cãi và ý kiến khác"),
    "zh": ("历史和背景", "最新数据和事实", "争议和不同观点"),
}
"""What else is looked up for a question that is no subject by itself, such as `Why did Rome fall?`."""


def _small(heading: str) -> str:
    return heading[:1].lower() + heading[1:] if heading[1:2].islower() else heading


def question_locale(question: str, otherwise: Locale) -> Locale:
    """The language of a question. Names alone have none: `Docker vs Podman`."""
    question = question[:MAX_MESSAGE_LENGTH]
    read = parse_message(question)
    if not read.has_words:
        return otherwise
    return read.locale if read.locale != "en" or detect_language(question) == "en" else otherwise


def split_question(question: str, locale: Locale) -> QuestionParts:
    """The questions of which a message consists."""
    text = question[:MAX_MESSAGE_LENGTH].strip()
    before, items = _list_of(text)
    comparison = find_comparison(before if items else _wanted(text), items)
    if comparison is not None:
        return _compared(comparison, locale)
    subject = _topic(_wanted(before)) if items and has_topic(before) else ""
    led, text = ("", text) if items else _led(text)
    setting, asked = ("", []) if items else _asked(text)
    setting = setting or led
    found = [_about(item, subject) for item in items] or asked
    members: Sequence[str] = ()
    if len(found) == 1:
        subject, members = _enumerated(found[0])
        found = list(members) or _clauses(found[0]) or found
    if not found:
        return QuestionParts(locale, "", ())
    first = found[0]
    topic = subject or setting or _topic(first)
    if len(found) > 1 and topic == first.strip(EDGES):
        topic = max((name.group() for name in _NAME.finditer(topic)), key=len, default=topic)
    queries = [search.query for search in build_searches(found, Subject(setting) if setting else None)]
    whole = [
        query if members or not (number or setting) else _completed(one, query, topic)
        for number, (one, query) in enumerate(zip(found, queries, strict=True))
    ]
    if led:
        whole = [one if led.casefold() in one.casefold() else _with_topic(led, one) for one in whole]
    if len(whole) == 1 and not _asks(first) and not is_question(text):
        whole = [topic]
    marked = [_marked(one, text) for one in dict.fromkeys(whole)]
    is_clause = topic == first.strip(EDGES) and (is_question(text) or _asks(first))
    return QuestionParts(locale, topic, tuple(marked)[:MAX_PARTS], is_clause, len(found) > 1)


def _compared(comparison: Comparison, locale: Locale) -> QuestionParts:
    return QuestionParts(locale, comparison.topic(locale), comparison.questions(locale))


def _wanted(text: str) -> str:
    """The message without courtesy, or the subject of the report that it wants."""
    parts = parse_message(text).parts
    return " ".join((parts[0] if len(parts) == 1 else text).split()).strip(EDGES) if parts else ""


def _asks(text: str) -> bool:
    return is_question(text) or anywhere_pattern(QUESTION_WORDS).search(text) is not None


def _marked(question: str, message: str) -> str:
    """The question with the mark that the message had."""
    mark = next((mark for mark in QUESTION_MARKS if mark in message), "")
    return f"{question}{mark}" if mark and _asks(question) and not is_question(question) else question


# Lists and several questions ------------------------------------------------------------------------------------------


def _list_of(text: str) -> tuple[str, list[str]]:
    """What a message says before its list, and the items of the list."""
    lines = text.splitlines()
    found = [_ITEM.fullmatch(line) for line in lines]
    items = [item[1].strip() for item in found if item]
    if len(items) < 2:
        return text, []
    first = next(number for number, item in enumerate(found) if item)
    return " ".join(line.strip() for line in lines[:first] if line.strip()), items


def _about(item: str, subject: str) -> str:
    """An item of a list; a short one is about what the message says before the list."""
    return item if not subject or _asks(item) else f"{item.strip(EDGES)}: {subject}"


def _asked(text: str) -> tuple[str, list[str]]:
    """What the message says before its questions, as a topic, and the sentences that ask something; without any, the
    message."""
    pieces = [text[span.start : span.end] for span in sentences(text)]
    questions = [piece for piece in pieces if is_question(piece)]
    said = pieces[: pieces.index(questions[0])] if questions else []
    setting = _setting(" ".join(said)) if said else ""
    chosen = questions if len(questions) > 1 or setting else [text]
    return setting, [part for piece in chosen if (part := _wanted(piece))]


def _led(text: str) -> tuple[str, str]:
    """The topic before a colon, and the questions after it: `Oxygen: who discovered it, and what is it used for?`"""
    found = _LEADS_QUESTIONS.match(text)
    lead = found[1].strip(EDGES) if found else ""
    if found is None or _asks(lead) or not any(content_terms(lead)) or not _asks(text[found.end() :]):
        return "", text
    return lead, text[found.end() :]


def _setting(said: str) -> str:
    """The topic that a message names before it asks: `I am writing a paper on X.`"""
    found = _NAMES_TOPIC.search(said[-_MAX_ENUMERATION:])
    topic = found[1].strip(EDGES) if found else ""
    return topic if has_topic(topic) else ""


def _completed(question: str, query: str, topic: str) -> str:
    """A later question that refers to the first one (`How does it work?`) or names nothing (`What are the side
    effects?`), with what that is about. `query` is not the question where it refers to something."""
    words = question.split()
    names_something = any(word[0].isupper() or word[0].isdigit() for word in words[1:])
    is_open = len({term.text for term in content_terms(question)}) <= _MAX_OPEN_TERMS and not names_something
    locale = detect_locale(question)
    if query == " ".join(words) and (not is_open or locale == "zh"):
        return query
    return _with_topic(topic, question)


def _with_topic(topic: str, question: str) -> str:
    return f"{topic}：{question}" if detect_locale(question) == "zh" else f"{topic}: {question}"


# Clauses and enumerations ---------------------------------------------------------------------------------------------

_JOINT = re.compile(
    r"[,;]?\s(?:and|or|then)\s(?=(?:what|who|where|when|why|how|which|whose)\b)|;\s|"
    r"[,;]?\s(?:và|hay|hoặc)\s(?=(?:tại sao|vì sao|khi nào|bao giờ|làm|nó|ai|ở đâu|bao nhiêu|có)\b)|"
    r",\s(?=(?:what|who|where|when|why|how)\s)|[，,；;](?:以及|和|并且|又|还有|那么)?(?=[^，,；;]{0,12}(?:什么|谁|哪|为什么|怎么|如何|多少|是否|吗|何))",
    re.IGNORECASE,
)
_LEADS_QUESTIONS = re.compile(r"([^:：!?。！？\n]{2,80})(?::\s|：)")
_NAME = re.compile(r"(?<=\w\s)(?:the\s)?\b[A-Z][\w'-]{1,30}(?:\s(?:(?:of|the|and|de|van)\s)?[A-Z][\w'-]{0,30}){0,5}")
_NAMES_TOPIC = re.compile(r"\s(?:on|about|về)\s([^.!?]{3,160})", re.IGNORECASE)
_SEPARATOR = re.compile(r",?\s(?:and|và)\s(?:the\s)?|,\s(?:the\s)?|、|以及|[和与及]", re.IGNORECASE)
_OF = re.compile(r"\s(?:of|in|for)\s|\s(?:của|ở)\s", re.IGNORECASE)
_MEMBER = re.compile(r"[\w-]+(?:\s[\w-]+){0,3}")
_LIST_LEAD = re.compile(
    r"(?:what|which|who)\s(?:is|are|was|were)\s(?:the\s)?|the\s|các\s|những\s|describe\s(?:the\s)?", re.IGNORECASE
)
_LIST_ENDS = ("là gì", "ra sao", "như thế nào", "thế nào", "是什么", "有哪些", "是多少", "怎么样", "如何")
_MAX_MEMBERS = 8
_MAX_ENUMERATION = 300


def _clauses(question: str) -> list[str]:
    """`What is X and how does it work?` as two questions."""
    pieces = [piece.strip(EDGES) for piece in _JOINT.split(question)]
    return pieces if 1 < len(pieces) <= MAX_PARTS and all(len(piece) > 3 for piece in pieces) else []


def _enumerated(question: str) -> tuple[str, list[str]]:
    """`The causes, symptoms and treatments of X` as its subject and three questions; empty for any other question."""
    bare = question.strip(EDGES)
    bare = next((bare[: -len(end)] for end in _LIST_ENDS if bare.endswith(end)), bare).strip(EDGES)
    if len(bare) > _MAX_ENUMERATION:
        return "", []
    if detect_locale(bare) == "zh":
        bare = _TOPIC_LEADS["zh"].sub("", bare, count=1) if _TOPIC_LEADS["zh"].match(bare) else bare
        subject, _, listed = bare.partition("的")
        members = _members(listed)
        return (subject, [f"{subject}的{member}" for member in members]) if subject and members else ("", [])
    lead = _LIST_LEAD.match(bare)
    rest = bare[lead.end() :] if lead else bare
    found = _OF.search(rest)
    members = _members(rest[: found.start()]) if found else []
    is_list = len(members) > 2 or (found is not None and found.group().strip() in ("of", "của"))
    if found is None or not members or not is_list:
        return "", []
    subject = rest[found.end() :].strip(EDGES)
    return (subject, [f"{member}{found.group()}{subject}" for member in members]) if subject else ("", [])


def _members(listed: str) -> list[str]:
    members = [one.strip(EDGES) for one in _SEPARATOR.split(listed)]
    are_short = all(_MEMBER.fullmatch(member) is not None and not _asks(member) for member in members)
    return members if 2 <= len(members) <= _MAX_MEMBERS and are_short else []


# The topic ------------------------------------------------------------------------------------------------------------

_TOPIC_LEADS: Mapping[Locale, re.Pattern[str]] = {
    "en": re.compile(
        r"(?:(?:what is known (?:about|of)|"
        r"what (?:is|are|was|were|do we know about|about)|what's|who (?:is|are|was|were)|about|tell me about|"
        r"how (?:do|does|did)(?=.{1,160} works?$)|"
        r"(?:an? |the )?(?:[\w-]{1,20} ){0,2}(?:overview|analysis|summary|review|report|study|fact ?sheet|profile)"
        r" (?:of|on|about|into|for)|research (?:the|on|into)|investigate|analy[sz]e)\s)(?:(?:an?|the)\s)?",
        re.IGNORECASE,
    ),
    "vi": re.compile(
        r"(?:(?:tìm hiểu|nghiên cứu|phân tích|tổng quan|đánh giá|thông tin|báo cáo|giới thiệu|bảng thông tin)"
        r"(?: (?:tài liệu|nghiên cứu|thị trường|ngành))?(?: về)?|về)\s",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"(?:什么是|何谓|研究一下|分析一下|调查一下|了解一下|介绍一下|分析|关于|谁是)(?=.{2})"),
}
_TOPIC_ENDS: Mapping[Locale, tuple[str, ...]] = {
    "en": (" work", " works", " mean", " market overview", " market analysis", " literature review", " fact sheet"),
    "vi": (" hoạt động như thế nào", " hoạt động ra sao", " là gì", " là ai", " như thế nào", " ra sao", " thế nào"),
    "zh": (
        "是什么", "是谁", "是怎么回事", "怎么工作", "如何工作", "如何运作", "怎么样", "有哪些", "的报告", "的文献综述",
        "文献综述", "的综述", "市场分析", "市场概况", "的概况",
    ),
}  # fmt: skip


def _topic(wanted: str) -> str:
    """What a question is about: `What is X?` is about X. A question that says more is its own topic."""
    whole = wanted.strip(EDGES)
    text = whole
    for language in dict.fromkeys((detect_locale(whole), "en")):
        if found := _TOPIC_LEADS[language].match(text):
            text = text[found.end() :]
            break
        ending = next((end for end in _TOPIC_ENDS[language] if text.casefold().endswith(end)), "")
        if ending:
            text = text[: -len(ending)]
            break
    if text != whole:
        text = next((text[: -len(end)] for end in (" work", " works") if text.endswith(end)), text)
    text = text.strip(EDGES) or whole
    return text if len(text) <= MAX_TOPIC_LENGTH else text[:MAX_TOPIC_LENGTH].rsplit(" ", 1)[0]
