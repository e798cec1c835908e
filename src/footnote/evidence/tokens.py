"""The tokens of a text, by which it is compared with another, and the names among them.

A word of a script with spaces is one token, without its ending in English. In Chinese each character is a token and in
Vietnamese each syllable, so that there only two neighbours together have a meaning. A number or date is one token too.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias

from msgspec import Struct

from footnote.evidence.lexicon import FUNCTION_WORDS
from footnote.evidence.values import Value, extract_values
from footnote.text.languages import Language, detect_language
from footnote.text.stems import derivational_stem
from footnote.text.terms import SUPERSCRIPTS, UNSPACED, fold

_NOT_A_LETTER = f"{SUPERSCRIPTS}{UNSPACED}_"
_TOKEN = re.compile(
    rf"[{UNSPACED}]|(?=\d*(?![{SUPERSCRIPTS}])[^\W\d_])(?:(?![{_NOT_A_LETTER}])\w)+(?:['’](?:(?![{_NOT_A_LETTER}\d])\w)+)*"
    r"|\d+(?:[.,]\d+)*"
)
_ACRONYMS = frozenset(("IT", "US", "WHO"))
"""Names that are function words in small letters."""
_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
POSSESSIVE = re.compile("['’]s?$")


class Token(Struct, frozen=True, gc=False):
    """`key` is what is compared. `is_content` is False for a word that has no meaning by itself."""

    key: str
    start: int
    end: int
    is_content: bool
    value: Value | None = None
    is_capitalized: bool = False
    is_syllable: bool = False


class TokenizedText:
    """The tokens of a text. `language` is given if it is known; of a short text it is hard to detect."""

    def __init__(self, text: str, language: Language | None = None) -> None:
        self.text = text
        self.language: Language = language or detect_language(text)
        self.values = extract_values(text)
        self.tokens = tuple(self._tokens())

    def _tokens(self) -> list[Token]:
        found: list[Token] = []
        position = 0
        for value in self.values:
            if value.is_certain:
                found += self._words(position, value.start)
                found.append(Token(value.key, value.start, value.end, is_content=True, value=value))
                position = value.end
        return found + self._words(position, len(self.text))

    def _words(self, start: int, end: int) -> list[Token]:
        return [self._token(word) for word in _TOKEN.finditer(self.text, start, end)]

    def _token(self, found: re.Match[str]) -> Token:
        word = found.group()
        if _IS_UNSPACED.match(word):
            return Token(word, found.start(), found.end(), word not in FUNCTION_WORDS["zh"], is_syllable=True)
        key = key_of(word, self.language)
        return Token(
            key,
            found.start(),
            found.end(),
            is_content=self._is_content(word, found.start()),
            is_capitalized=word[0].isupper(),
            is_syllable=self.language == "vi" and not (word.isascii() and len(word) > 6),
        )

    def _is_content(self, word: str, start: int) -> bool:
        if word in _ACRONYMS:
            return True
        if fold(word) not in FUNCTION_WORDS["vi" if self.language == "vi" else "en"]:
            return len(word) > 1 or word.isupper()
        # `Anh` is England, `anh` is he; an English title has capitals on any word.
        return self.language == "vi" and word[0].isupper() and not is_sentence_start(self.text, start)

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(token.key for token in self.tokens)


@lru_cache(maxsize=2_000)
def tokenize(text: str, language: Language) -> TokenizedText:
    """Cached, because the statements of a report are compared with the same few passages again and again."""
    return TokenizedText(text, language)


def is_character(key: str) -> bool:
    """Whether a token is a character of a script without spaces between words, such as Chinese."""
    return _IS_UNSPACED.match(key) is not None


def is_sentence_start(text: str, start: int) -> bool:
    """Whether a word is at a place where any word has a capital letter."""
    before = text[max(0, start - 12) : start].rstrip(" \"'“‘«([*_—-")
    return not before or before[-1] in ".!?:;。！？：\n"


@lru_cache(maxsize=20_000)
def key_of(word: str, language: Language) -> str:
    """The key of a word: folded, and in English without its ending; elsewhere a foreign name may have an `s`."""
    folded = POSSESSIVE.sub("", fold(word))
    if not folded.isascii():
        return folded
    if language in ("vi", "zh"):
        return folded[:-1] if len(folded) > 4 and folded.endswith("s") else folded
    return derivational_stem(folded)


# Names of people, places, works and products: by their capital letters, in Chinese by their characters ---------------

_FOREIGN_LETTERS = frozenset("fjwzFJWZ")
_POSSESSIVE_ENDINGS = ("'s", "’s")
_VERB = re.compile(
    r"(?:is|was|has|had|did|does|will|would|could|can|may|became|wrote|said|won|led|took|gave|held|built|began|made"
    r"|[a-z]{3,}ed)$"
)
_BETWEEN = " .'’-–&"
_TRANSLITERATION = (
    "阿埃艾爱安昂奥澳巴拜班邦鲍贝本比彼毕波伯博布查达戴丹道德登邓迪蒂丁杜顿多厄恩尔法凡菲费芬弗夫福戈格根古圭哈海汉豪赫亨胡怀霍基吉加贾杰卡凯坎康考"
    "柯科克肯孔库夸拉莱赖兰朗劳勒雷里利林卢鲁路伦罗洛马玛迈麦曼芒梅门蒙米密摩莫墨姆穆娜纳内尼涅宁纽努诺欧帕潘庞佩皮普奇恰乔切丘让茹瑞若撒萨塞赛"
    "桑瑟森沙莎尚舍圣施史斯丝苏索塔泰坦汤唐陶特滕提廷图托瓦威韦维温沃乌武希锡夏肖谢辛逊休雅亚耶叶伊英尤约扎詹兹佐珀莉琳伽葛"
)
"""Characters that spell foreign names by their sound."""
_TRANSLITERATED = re.compile(f"[{_TRANSLITERATION}]{{3,}}")
_DOTTED_NAME = re.compile(f"[{_TRANSLITERATION}]{{1,6}}(?:[·•‧・][{_TRANSLITERATION}]{{1,6}})+")
_NATION = re.compile(
    "日本|印度|越南|缅甸|老挝|西班牙|葡萄牙|意大利|俄罗斯|苏联|乌克兰|巴西|秘鲁|智利|阿根廷|墨西哥|古巴|加拿大|澳大利亚|新西兰|埃及|土耳其|伊朗|伊拉克|叙利亚|以色列|"
    "沙特|荷兰|挪威|瑞典|瑞士|丹麦|芬兰|波兰|希腊|奥地利|匈牙利|比利时|爱尔兰|苏格兰|英格兰|威尔士|朝鲜|蒙古|新加坡|马来西亚|印尼|印度尼西亚|菲律宾|柬埔寨|"
    "南非|尼日利亚|肯尼亚|巴基斯坦|阿富汗|孟加拉|欧盟|北京|上海|广州|深圳|香港|澳门|台湾|台北|东京|首尔|河内|曼谷|伦敦|巴黎|柏林|罗马|马德里|莫斯科|纽约|华盛顿|洛杉矶"
)
_TITLE = re.compile("《([^《》]{2,40})》")
_PLACE = re.compile("[^\\W该本各全这那此每我两城都大小](?:国(?!家)|[洲州市县省郡镇河江湖山岛堡港党队派族朝宗帝])")
"""`该市` (the city) is not a name."""


NameTest: TypeAlias = Callable[[str], bool]
"""Whether a word is a name, and not merely the beginning of a sentence."""


def find_names(text: TokenizedText, is_proper_name: NameTest) -> list[Sequence[Token]]:
    """The names of a text, each as its tokens."""
    words = [token for token in text.tokens if token.is_content and not token.value and not is_character(token.key)]
    if len(words) > 5 and sum(token.is_capitalized for token in words) > 0.8 * len(words):
        return []  # A heading: Every Word Is Capitalised.
    names = (*_capitalized_names(text, is_proper_name), *_transliterated_names(text))
    return sorted(names, key=lambda name: name[0].start)


def _capitalized_names(text: TokenizedText, is_proper_name: NameTest) -> Iterator[Sequence[Token]]:
    group: list[Token] = []
    for at, token in enumerate(text.tokens):
        if group and (not _may_be_name(token) or text.text[group[-1].end : token.start].strip(_BETWEEN)):
            yield group
            group = []
        if _may_be_name(token) and (group or _is_name(text, at, is_proper_name)):
            group.append(token)
    if group:
        yield group


def _may_be_name(token: Token) -> bool:
    return token.is_capitalized and token.is_content and not token.value


def _is_name(text: TokenizedText, at: int, is_proper_name: NameTest) -> bool:
    token = text.tokens[at]
    word = text.text[token.start : token.end]
    if not is_sentence_start(text.text, token.start) or (len(word) > 1 and word.isupper()):
        return True
    following = text.tokens[at + 1] if at + 1 < len(text.tokens) else None
    if following is None:
        return is_proper_name(word)
    is_joined = _may_be_name(following) and following.start == token.end + 1
    return (
        is_joined
        or is_proper_name(word)
        or _is_subject(word, text.text[following.start : following.end], text.language)
    )


def _is_subject(word: str, following: str, language: Language) -> bool:
    """Whether the first word of a sentence is its subject without an article, as only a name is: `Calvin was`."""
    if language == "vi":
        return word.isascii() and (len(word) > 4 or not _FOREIGN_LETTERS.isdisjoint(word))
    return not word.endswith("s") and (word.endswith(_POSSESSIVE_ENDINGS) or _VERB.match(following) is not None)


def _transliterated_names(text: TokenizedText) -> Iterator[Sequence[Token]]:
    for pattern in (_DOTTED_NAME, _TRANSLITERATED, _TITLE, _NATION):
        for found in pattern.finditer(text.text):
            start, end = found.span(found.lastindex or 0)
            group = [token for token in text.tokens if start <= token.start and token.end <= end]
            if group:
                yield group


def looks_like_name(text: str) -> bool:
    """Whether a few Chinese characters may be the name of a person, a place or a work."""
    return bool(
        _TRANSLITERATED.search(text) or _PLACE.search(text) or _NATION.search(text) or "·" in text or "《" in text
    )
