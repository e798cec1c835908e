"""Which sentences state a fact that needs a source: those with a number, a date, a name or a quotation.

Left alone are questions, opinions, instructions, greetings, words about the answer itself, and what is computed from
numbers that have a source. All of that is decided by rule, in English, Vietnamese and Chinese with phrases, elsewhere
by the signs that languages share.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, product

from msgspec import Struct

from footnote.evidence import fact_phrases
from footnote.evidence.claims import Claim
from footnote.evidence.fact_phrases import COMMON_ACRONYMS
from footnote.evidence.tokens import Token, TokenizedText, find_names, is_sentence_start
from footnote.evidence.values import Fact, Value, extract_values
from footnote.text.languages import detect_language
from footnote.text.terms import UNSPACED, fold

_QUOTATION = re.compile('“[^“”]{1,2000}”|«[^«»]{1,2000}»|「[^「」]{1,2000}」|『[^『』]{1,2000}』|"[^"]{1,2000}"')
_MIN_QUOTED_WORDS, _MIN_QUOTED_CHARACTERS = 3, 6
"""A shorter quotation is a single expression, of which nobody is the author."""
_TITLE = re.compile(r"\s*(\*\*|__)(?![*_])[^\W\d_][\w'’-]{0,40}(?:[ ][\w'’-]{1,40}){0,5}[.:]?\1\s*")
"""A few words in bold type, all by themselves."""
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)([^`\n]{1,300})(?<!`)\1(?!`)")
_QUESTION_MARKS = ("?", "？", "؟")
_CLOSING = " \"'”’»)]）」』*_"
_LABEL = re.compile(r"[^.:：!?。]{1,40}[:：]\s{0,3}")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_MIN_WORDS = 4
"""Fewer words around a name are a label, not a statement."""
_NO_STATEMENTS = (
    fact_phrases.GREETINGS.match,
    fact_phrases.ABOUT_THE_TEXT.match,
    fact_phrases.HYPOTHESES.match,
    fact_phrases.INSTRUCTIONS.match,
)
_MAX_LENGTH = 1500
_MAX_OPENINGS = 3
_MIN_COUNTED = 13
"""A smaller number that is written as a word (`both`, `three`) is no figure."""
_MAX_GERMAN_NOUNS = 0.3
"""In a language that writes every noun with a capital letter, a capital letter makes no name."""


class FactContext(Struct, frozen=True):
    """What the statements of one text know of each other: `numbers` are those of its statements with a source, in
    order, `names` the words that are names wherever they stand, `cited_names` those of statements with a source."""

    numbers: tuple[float, ...] = ()
    names: frozenset[str] = frozenset()
    cited_names: frozenset[str] = frozenset()


def read_context(statements: Iterable[Claim]) -> FactContext:
    numbers: list[float] = []
    names: set[str] = set()
    cited_names: set[str] = set()
    for statement in statements:
        wording = TokenizedText(statement.text)
        found = [token for name in find_names(wording, _is_no_name) for token in name]
        names.update(wording.text[token.start : token.end] for token in found)
        if statement.cites or statement.links:
            numbers += numbers_in(statement.text)
            cited_names.update(token.key for token in found)
    return FactContext(tuple(numbers), frozenset(names), frozenset(cited_names))


def needs_source(statement: Claim, raw: str, context: FactContext) -> bool:
    """Whether a statement is one of fact. `raw` is its sentence with markup."""
    if statement.is_reference or statement.place == "label" or _TITLE.fullmatch(raw):
        return False
    text = _without_code(statement.text[:_MAX_LENGTH], raw)
    unquoted = _QUOTATION.sub(" ", text)
    if _is_no_statement(text, unquoted) or is_opinion(unquoted):
        return False
    figures = _figures(text)
    names = _names(unquoted, context)
    is_quoting = statement.place == "quotation" or _has_quotation(text)
    if not (is_quoting or _is_strong(figures)) and (_is_judgement(unquoted) or _is_transition(unquoted, figures)):
        return False
    words = len(_WORD.findall(text))
    is_long_enough = statement.place == "row" or words >= (1 if figures else _MIN_WORDS)
    says_something = bool(figures or names or is_quoting)
    return says_something and is_long_enough and not _is_derived(text, figures, names, context)


def is_title(statement: Claim) -> bool:
    """Whether a sentence only announces what follows it, or asks: a heading, a header of a table, `In numbers:`."""
    if statement.is_reference:
        return False
    return statement.place == "label" or is_question(statement.text) or _is_lead(statement.text)


def _is_lead(text: str) -> bool:
    """Whether a sentence with a colon says nothing itself."""
    is_open = text.rstrip(_CLOSING).endswith((":", "："))
    return is_open and not (_is_strong(_figures(text)) or _has_quotation(text))


def may_cite_links(statement: Claim) -> bool:
    """Whether a link in a sentence is a source of it. A link in a heading or a question is not."""
    return statement.place != "label" and not is_question(statement.text) and not is_opinion(statement.text)


def is_question(text: str) -> bool:
    return text.rstrip(_CLOSING).endswith(_QUESTION_MARKS)


def is_opinion(unquoted: str) -> bool:
    """Whether a sentence, without its quotations, says what its author thinks or advises."""
    if _starts_with(fact_phrases.FIRST_PERSON.match, unquoted):
        return True
    if fact_phrases.REPORTED.search(unquoted):
        return False
    return bool(fact_phrases.OPINIONS.search(unquoted) or fact_phrases.ADVICE.search(unquoted))


def is_about_the_answer(text: str) -> bool:
    """Whether a sentence, its quotations aside, speaks of the answer itself or of what its author did."""
    unquoted = _QUOTATION.sub(" ", text)
    return any(
        _starts_with(phrase.match, unquoted) for phrase in (fact_phrases.FIRST_PERSON, fact_phrases.ABOUT_THE_TEXT)
    )


def _is_judgement(unquoted: str) -> bool:
    return bool(fact_phrases.EVALUATIONS.search(unquoted)) and not fact_phrases.REPORTED.search(unquoted)


def _is_transition(unquoted: str, figures: Sequence[Value]) -> bool:
    return not figures and bool(fact_phrases.TRANSITIONS.match(unquoted))


def _is_no_statement(text: str, unquoted: str) -> bool:
    """Whether a sentence is a question, an instruction, a greeting, or about the text itself."""
    if is_question(text):
        return True
    if text.rstrip(_CLOSING).endswith((":", "：")) and not (_is_strong(_figures(text)) or _has_quotation(text)):
        return True
    if _starts_with(fact_phrases.LABELS.match, unquoted):
        return True
    label = _LABEL.match(unquoted)
    after_label = unquoted[label.end() :] if label else ""
    return any(_starts_with(match, unquoted) for match in _NO_STATEMENTS) or (
        bool(after_label) and _starts_with(fact_phrases.INSTRUCTIONS.match, after_label)
    )


def _without_code(text: str, raw: str) -> str:
    for code in _CODE.finditer(raw):
        text = text.replace(code[2].strip(), " ", 1)
    return text


# Numbers, names, quotations -------------------------------------------------------------------------------------------


def _figures(text: str) -> list[Value]:
    """The numbers and dates of a text that are more than small words or counts of its own parts."""
    plain = text
    for pattern in (fact_phrases.NUMBERED, fact_phrases.COUNTED_PARTS):
        plain = pattern.sub(lambda found: " " * len(found[0]), plain)
    return [value for value in extract_values(plain) if _is_figure(value, plain)]


def _is_figure(value: Value, text: str) -> bool:
    written = text[value.start : value.end]
    facts = value.readings[0]
    return (
        any(map(str.isdigit, written))
        or any(fact.kind != "n" or fact.unit for fact in facts)
        or (value.is_certain and abs(facts[0].number) >= _MIN_COUNTED)
    )


def _is_strong(figures: Iterable[Value]) -> bool:
    """Whether a number is an amount or a date, and not a small count."""
    return any(
        fact.kind != "n" or fact.unit or abs(fact.number) >= _MIN_COUNTED or not fact.number.is_integer()
        for value in figures
        for fact in value.readings[0]
    )


def _has_quotation(text: str) -> bool:
    return any(map(_is_long_quotation, _QUOTATION.findall(text)))


def _names(unquoted: str, context: FactContext) -> list[Sequence[Token]]:
    wording = TokenizedText(unquoted)
    found = find_names(wording, context.names.__contains__) or list(_capitals_in_sentence(wording))
    names = [
        name for name in found if not all(fold(unquoted[token.start : token.end]) in COMMON_ACRONYMS for token in name)
    ]
    if wording.language != "other":
        return names
    words = [token for token in wording.tokens if not token.value]
    capitals = sum(token.is_capitalized for token in words)
    return [name for name in names if len(name) > 1] if capitals > _MAX_GERMAN_NOUNS * len(words) else names


def _capitals_in_sentence(wording: TokenizedText) -> Iterator[Sequence[Token]]:
    """The names of a sentence that has so many that it looks like a heading."""
    if wording.text.rstrip().endswith("."):
        capitals = (token for token in wording.tokens[1:] if token.is_capitalized and token.is_content)
        yield from (
            [token] for token in capitals if not token.value and not is_sentence_start(wording.text, token.start)
        )


def _is_no_name(word: str) -> bool:  # noqa: ARG001 - nothing is known yet
    return False


def _is_long_quotation(quotation: str) -> bool:
    words = _WORD.findall(quotation)
    unspaced = detect_language(quotation) == "zh"
    return len(words) >= (_MIN_QUOTED_CHARACTERS if unspaced else _MIN_QUOTED_WORDS)


# Own sums and conclusions ---------------------------------------------------------------------------------------------

_MAX_OPERANDS = 14
_MAX_ADDENDS = 12
_MAX_STRIDE = 4


def numbers_in(text: str) -> list[float]:
    """The numbers of a text by their likeliest reading, without parts of dates."""
    return [
        fact.number
        for value in extract_values(text)
        if value.is_certain
        for fact in value.readings[0]
        if fact.kind == "n"
    ]


def _is_derived(text: str, figures: Sequence[Value], names: Sequence[Sequence[Token]], context: FactContext) -> bool:
    """Whether a statement only draws a sum or a conclusion from statements with a source."""
    if not fact_phrases.SUMS.search(text):
        return False
    if not figures:
        return bool(context.cited_names) and all(token.key in context.cited_names for name in names for token in name)
    facts = [fact for value in figures for fact in value.readings[0] if fact.kind == "n"]
    if len(facts) < len(figures):
        return False  # a date is not computed
    known = [fact.number for fact in facts if _is_among(fact.number, context.numbers)]
    computed = [fact for fact in facts if not _is_among(fact.number, context.numbers)]
    if not computed:
        return len(known) > 1
    return all(_is_result(fact, known, context.numbers) for fact in computed)


def _is_among(number: float, numbers: Iterable[float]) -> bool:
    return any(math.isclose(number, other, rel_tol=1e-9) for other in numbers)


def _is_result(fact: Fact, known: Sequence[float], numbers: Sequence[float]) -> bool:
    """Whether a number follows from two others, or is the sum of several that follow each other."""
    operands = list(dict.fromkeys([*known, *reversed(numbers)]))[:_MAX_OPERANDS]
    pairs = ((one, other) for one, other in product(operands, repeat=2) if one != other)
    results = chain.from_iterable(_results(one, other, fact.unit) for one, other in pairs)
    rest = [100 - one for one in operands] if fact.unit == "%" else []
    return any(_is_equal(fact.number, result) for result in chain(results, rest, _sums(numbers)))


def _results(one: float, other: float, unit: str | None) -> Iterator[float]:
    yield one + other
    yield one - other
    if unit == "%":
        if other:
            yield 100 * one / other
            yield 100 * (one - other) / other
        return
    yield one * other
    yield (one + other) / 2
    if other:
        yield one / other


def _sums(numbers: Sequence[float]) -> Iterator[float]:
    """The sums of numbers that follow each other, and their means: in a table, of those in one column."""
    for stride in range(1, _MAX_STRIDE + 1):
        for start in range(len(numbers)):
            total = 0.0
            for count, number in enumerate(numbers[start::stride][:_MAX_ADDENDS], 1):
                total += number
                if count > 1:
                    yield total
                    yield total / count


def _is_equal(number: float, result: float) -> bool:
    """Whether a result was rounded to this number."""
    if not number or not math.isfinite(result):
        return number == result
    digits = f"{abs(number):.10g}".replace(".", "").lstrip("0")
    exact = float(f"{abs(result):.{len(digits) - 1}e}")
    return math.isclose(abs(number), exact, rel_tol=1e-9)


def _starts_with(match: Callable[[str], object], text: str) -> bool:
    """Whether a sentence begins with a phrase, after words such as `however`."""
    rest = text.lstrip(" \"'“‘«(（*_-–—•")
    for _ in range(_MAX_OPENINGS):
        if match(rest):
            return True
        opening = fact_phrases.OPENINGS.match(rest)
        if opening is None or not opening.end():
            return False
        rest = rest[opening.end() :]
    return False
