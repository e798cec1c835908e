"""Texts over which a regular expression may be slow: a prefix that leads to a loop, a long run that the loop or its
prefix matches, and a character that makes the match fail. They are generated from the expression itself."""

import re
import warnings
from collections.abc import Callable, Iterator
from re import _constants as sre
from re import _parser as parser
from typing import Any, NamedTuple

MAX_CHARACTERS = 10
POOL = "a7 \n\t_-.,:/\"'<>()[]{}|*#`\\&=%\u4e00\u00e9Z\u3002\u201c"


class Attack(NamedTuple):
    before: str
    run: str
    after: str

    def of(self, length: int, *, is_bytes: bool) -> Any:
        text = self.before + self.run * (length // len(self.run)) + self.after
        return text.encode("latin-1", "ignore") if is_bytes else text


def attacks(pattern: Any) -> Iterator[Attack]:
    raw = pattern.pattern
    text = raw.decode("latin-1") if isinstance(raw, bytes) else raw
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = parser.parse(text, pattern.flags & ~re.UNICODE if isinstance(raw, bytes) else pattern.flags)
    maker = _Maker(tree)
    pairs = dict.fromkeys(maker.pairs(tree, ""))
    done: set[Attack] = set()
    for before, run in pairs:
        for after in maker.ends:
            attack = Attack(before[:200], run, after)
            if run and attack not in done:
                done.add(attack)
                yield attack


class _Maker:
    def __init__(self, tree: Any) -> None:
        self.groups: dict[int, Any] = {}
        own = dict.fromkeys(self._letters(tree))
        self.pool = "".join(dict.fromkeys([*own, *POOL]))
        characters = [" ", "\n", *list(own)[: MAX_CHARACTERS - 2], "a", "7"]
        self.alphabet = list(dict.fromkeys(characters))[:MAX_CHARACTERS]
        self.ends = ("", "\x00", "\n\x00")

    def _letters(self, tree: Any) -> Iterator[str]:
        for op, value in tree:
            if op in (sre.LITERAL, sre.NOT_LITERAL):
                yield chr(value)
            elif op is sre.IN:
                for kind, what in value:
                    if kind is sre.LITERAL:
                        yield chr(what)
                    elif kind is sre.RANGE:
                        yield chr(what[0])
            for inner in _inside(op, value):
                yield from self._letters(inner)

    def sample(self, tree: Any, choice: int = 0) -> str:
        """A short text that the expression matches, ignoring look-around."""
        return "".join(self._sample(op, value, choice) for op, value in tree)

    def _sample(self, op: Any, value: Any, choice: int) -> str:
        match op:
            case sre.LITERAL:
                return chr(value)
            case sre.NOT_LITERAL:
                return next(letter for letter in self.pool if ord(letter) != value)
            case sre.ANY | sre.ANY_ALL:
                return "a"
            case sre.IN:
                fitting = self.matching_letters(value)
                return fitting[choice % len(fitting)] if fitting else "a"
            case sre.BRANCH:
                return self.sample(value[1][choice % len(value[1])], choice)
            case sre.SUBPATTERN:
                if value[0] is not None:
                    self.groups[value[0]] = value[3]
                return self.sample(value[3], choice)
            case sre.ATOMIC_GROUP:
                return self.sample(value, choice)
            case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
                return self.sample(value[2], choice) * min(max(value[0], 1), 30)
            case sre.GROUPREF:
                return self.sample(self.groups[value], choice) if value in self.groups else ""
            case _:
                return ""

    def matching_letters(self, members: Any) -> list[str]:
        fits = [letter for letter in self.pool if _is_in(letter, members)]
        ranges = [chr(what[0]) for kind, what in members if kind is sre.RANGE and (sre.NEGATE, None) not in members]
        return (fits or ranges)[:6]

    def pairs(self, tree: Any, before: str) -> Iterator[tuple[str, str]]:
        """The prefix of each long run, and the text that the run repeats."""
        for letter in self.alphabet if not before else ():
            yield "", letter
        items = list(tree)
        for number, (op, value) in enumerate(items):
            for choice in range(2):
                start = before + self.sample(items[:number], choice)
                if start:
                    yield "", start
                if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT) and value[1] > 50:
                    for other in range(5):
                        body = self.sample(value[2], other)
                        yield start, body
                        rest = self.sample(items[number + 1 :], choice)
                        if rest:
                            yield start, body + rest
                            yield start, rest[:-1] or body
                    for letter in self.alphabet:
                        yield start, letter
                for inner in _inside(op, value):
                    yield from self.pairs(inner, start or "")
        whole = before + self.sample(items)
        if whole:
            yield "", whole
            yield "", whole[:-1]


def _inside(op: Any, value: Any) -> tuple[Any, ...]:
    match op:
        case sre.BRANCH:
            return tuple(value[1])
        case sre.SUBPATTERN:
            return (value[3],)
        case sre.ATOMIC_GROUP:
            return (value,)
        case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
            return (value[2],)
        case sre.ASSERT | sre.ASSERT_NOT:
            return (value[1],)
        case sre.GROUPREF_EXISTS:
            return tuple(part for part in value[1:] if part is not None)
        case _:
            return ()


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    sre.CATEGORY_DIGIT: str.isdigit,
    sre.CATEGORY_NOT_DIGIT: lambda letter: not letter.isdigit(),
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda letter: not letter.isspace(),
    sre.CATEGORY_WORD: lambda letter: letter.isalnum() or letter == "_",
    sre.CATEGORY_NOT_WORD: lambda letter: not (letter.isalnum() or letter == "_"),
}


def _is_in(letter: str, members: Any) -> bool:
    found = False
    for kind, what in members:
        match kind:
            case sre.LITERAL:
                found = found or ord(letter) == what
            case sre.RANGE:
                found = found or what[0] <= ord(letter) <= what[1]
            case sre.CATEGORY:
                found = found or _CATEGORIES[what](letter)
            case _:
                pass
    return found != any(kind is sre.NEGATE for kind, _ in members)
