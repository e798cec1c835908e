"""What was answered, the figures of it as tables, and the failed questions as text to look at."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from answer_match import contains_answer, split_quotations
from msgspec import Struct
from report import FAIL, NO_BAR, PASS, Table

REFERENCE = "reference"
GUIDED = "guided"
MIN_RIGHT = {"en": 0.90, "vi": 0.85}
MIN_PROVED = 0.95
MAX_FIRST_REQUEST = 1_000


class Outcome(Struct, frozen=True, kw_only=True):
    """One question and its answer. `evidence`: the passages that the product found; `calls`: what it looked up.

    `first_request` counts the tokens of the first request to the model; None: the server does not count tokens.
    """

    language: str
    style: str
    model: str
    question: str
    right_answers: tuple[str, ...]
    answer: str = ""
    has_supported_footnote: bool = False
    calls: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    first_request: int | None = None
    seconds: float = 0.0
    failure: str | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.model, self.language, self.style, self.question

    @property
    def is_right(self) -> bool:
        return contains_answer(self.answer, self.right_answers)

    @property
    def is_right_in_own_words(self) -> bool:
        return contains_answer(split_quotations(self.answer)[0], self.right_answers)

    @property
    def is_in_evidence(self) -> bool:
        return any(contains_answer(text, self.right_answers) for text in self.evidence)

    @property
    def has_footnote_or_quotations(self) -> bool:
        return self.has_supported_footnote or bool(split_quotations(self.answer)[1])


Group = tuple[str, str, list[Outcome]]


def tables(model: str, outcomes: Sequence[Outcome]) -> list[Table]:
    groups = [(*key, list(found)) for key, found in groupby(outcomes, lambda one: (one.language, one.style))]
    every = (_right(model, groups), _own_words(groups), _proved(groups), _costs(groups))
    return [table for table in every if table.rows]


def _share(found: Sequence[Outcome], holds: Callable[[Outcome], bool]) -> float:
    return sum(map(holds, found)) / len(found)


def _bar(holds: bool, text: str) -> tuple[str, str]:
    return text, PASS if holds else FAIL


def _right(model: str, groups: Iterable[Group]) -> Table:
    rows: list[tuple[str, ...]] = []
    for language, style, found in groups:
        right = _share(found, lambda one: one.is_right)
        wanted = MIN_RIGHT.get(language) if style == GUIDED else None
        bar = NO_BAR if wanted is None else _bar(right >= wanted, f"≥ {wanted:.2f}")
        evidence = _share(found, lambda one: one.is_in_evidence)
        failed = sum(one.failure is not None for one in found)
        rows.append((language, style, str(len(found)), f"{evidence:.2f}", f"{right:.2f}", str(failed), *bar))
    columns = ("language", "style", "questions", "in the evidence", "in what the user reads", "broken off", "bar", "")
    return Table(f"Answers of {model}: the right answer stands in them", columns, rows)


def _own_words(groups: Sequence[Group]) -> Table:
    """On the questions that were asked of both, so that an interrupted run compares the same ones."""
    rows: list[tuple[str, ...]] = []
    references = {language: found for language, style, found in groups if style == REFERENCE}
    for language, style, found in groups:
        if style == REFERENCE:
            continue
        asked = {one.question: one for one in references.get(language, ())}
        both = [one for one in found if one.question in asked]
        own = _share(both or found, lambda one: one.is_right_in_own_words)
        if not both:
            rows.append((language, style, str(len(found)), f"{own:.2f}", "-", *NO_BAR))
            continue
        plain = _share([asked[one.question] for one in both], lambda one: one.is_right_in_own_words)
        bar = _bar(own >= plain, "≥ the reference") if style == GUIDED else NO_BAR
        rows.append((language, style, str(len(both)), f"{own:.2f}", f"{plain:.2f}", *bar))
    columns = ("language", "style", "questions", "in the model's own words", "with one plain prompt", "bar", "")
    return Table("The model's own words, without quotations that follow them", columns, rows)


def _proved(groups: Iterable[Group]) -> Table:
    rows: list[tuple[str, ...]] = []
    for language, style, found in groups:
        if style == REFERENCE:
            continue
        footnote = _share(found, lambda one: one.has_supported_footnote)
        either = _share(found, lambda one: one.has_footnote_or_quotations)
        bar = _bar(either >= MIN_PROVED, f"≥ {MIN_PROVED}") if style == GUIDED else NO_BAR
        rows.append((language, style, f"{footnote:.2f}", f"{either:.2f}", *bar))
    columns = ("language", "style", "with a supported footnote", "or followed by quotations", "bar", "")
    return Table("Answers that are proved", columns, rows)


def _costs(groups: Iterable[Group]) -> Table:
    """The first request of guided style has the evidence in it, so that the bar is for the others."""
    rows: list[tuple[str, ...]] = []
    for language, style, found in groups:
        first = [one.first_request for one in found if one.first_request is not None]
        largest = max(first, default=None)
        has_bar = largest is not None and style not in (GUIDED, REFERENCE)
        bar = _bar(largest <= MAX_FIRST_REQUEST, f"≤ {MAX_FIRST_REQUEST}") if has_bar else NO_BAR
        seconds = statistics.median(one.seconds for one in found)
        tokens = (statistics.mean(one.tokens_in for one in found), statistics.mean(one.tokens_out for one in found))
        counted = [f"{count:.0f}" if first else "-" for count in tokens]
        rows.append(
            (language, style, *counted, "-" if largest is None else str(largest), f"{seconds:.1f}", *bar),
        )
    columns = ("language", "style", "tokens in", "tokens out", "first request, at most", "seconds, median", "bar", "")
    return Table("What a question costs", columns, rows)


def failures_text(outcomes: Iterable[Outcome]) -> str:
    """The questions whose answer does not contain the right one."""
    return "\n".join(_failure_text(one) for one in outcomes if not one.is_right)


def _failure_text(one: Outcome) -> str:
    passages = "\n\n".join(one.evidence) or "(none)"
    calls = "\n".join(f"- {call}" for call in one.calls) or "(none)"
    where = "it stands in the evidence" if one.is_in_evidence else "it does not stand in the evidence"
    footnote = "yes" if one.has_supported_footnote else "no"
    return f"""## {one.language}, {one.style}: {one.question}

Right: {" / ".join(one.right_answers)} ({where})
Broken off: {one.failure or "no"}; supported footnote: {footnote}; {one.seconds:.1f} s

### Looked up

{calls}

### Answer

{one.answer or "(none)"}

### Evidence

{passages}
"""
