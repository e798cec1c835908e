"""The terms that texts and questions meet by, and the other forms under which the same words can be found."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from footnote.text.terms import Term, strip_diacritics, terms

MAX_TERM_LENGTH = 64
"""Characters of a term; what is longer is not a word but data."""
_INDEX_SEPARATORS = re.compile(r"[\x00-&(-+;-@\[-`{-\x7f]+")
"""What the index would part a term at: all of ASCII but letters, digits and `',-./:`. Folding can bring it in: ⑴, ½."""
_ENGLISH = """
a about above after again all also am an and any are as at be became because become been before being below between
both but by can could did do does doing done during each else ever few for from further get give had has have having he
her here hers him his how i if in into is it its itself just kind let many me more most much my no nor not of off on one
only or other our out over own per please same she should so some such tell than that the their them then there these
they this those through to too type under until up upon us very was we were what what's when where which while who who's
whom whose why will with within without would you your yours
"""
_VIETNAMESE = """
ai bao biết bị bởi các cách cái cần chỉ cho chưa có còn cũng của cùng do dưới đã đang đâu đây để đến đều đi đó được
gì giữa hay hãy họ hoặc hơn khi không là lại lên loại làm mà mấy mỗi mọi một nào này nên nếu ngoài nhất nhiêu nhiều
như những nhưng nó nơi ở phải qua quá ra rất rằng rồi sao sau sẽ sự tại tất theo thế thì tôi tới trên trong trước từ tuy
và vào vẫn vậy về vì việc với xin
"""
_CHINESE = (
    "的了是在有和与或及其之于以而被把这那哪谁么什吗呢吧啊呀怎几个些为所也都就还又很最更请"
    "我你您他她它们从到对由让使得着过将会能可與於這誰麼嗎個們為還讓會過將幾對從請"
)
_STOP_WORDS = frozenset(_ENGLISH.split()) | frozenset(_VIETNAMESE.split())
_STOP_CHARACTERS = frozenset(_CHINESE)
_VOWELS = frozenset("aeiouy")
_DOUBLED = frozenset("bdfgmnprt")


def content_terms(text: str) -> Iterator[Term]:
    """All but the words that any text has, whatever it is about."""
    for term in terms(text):
        if term.text in _STOP_WORDS or not _STOP_CHARACTERS.isdisjoint(term.text):
            continue
        word = _INDEX_SEPARATORS.sub("", term.text)[:MAX_TERM_LENGTH]
        if word:
            yield term if word == term.text else Term(word, term.start, term.end)


def alternate_forms(words: Iterable[str]) -> list[str]:
    """Without diacritics, for those who type `dien bien phu`; else the base form. Only where that is another word."""
    return [form for word in words if (form := _alternate_form(word)) != word]


@lru_cache(maxsize=10_000)  # a text repeats its words
def _alternate_form(word: str) -> str:
    return base_form(word) if word.isascii() else strip_diacritics(word)


def base_form(word: str) -> str:
    """What the forms of a regular English word have in common: `restored` and `restoring` give `restor`.

    It need not be a word, only the same for all of them. Words of other languages mostly stay as they are.
    """
    if len(word) < 4 or not (word.isascii() and word.replace("'", "").isalpha()):
        return word
    word = _to_singular(word.removesuffix("'s"))
    for suffix in ("ing", "ed"):
        stem = word.removesuffix(suffix)
        if stem != word and len(stem) >= 3 and _VOWELS & set(stem):
            word = stem[:-1] if stem[-1] == stem[-2] and stem[-1] in _DOUBLED else stem
            break
    if len(word) > 3 and word[-1] in "ey":
        word = word[:-1] + "i" * (word[-1] == "y")
    return word


def _to_singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
