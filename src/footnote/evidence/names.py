"""Names in a text: of people, places, works, products. By their capital letters; in Chinese by how they are written."""

import re
from collections.abc import Iterator, Sequence

from footnote.evidence.candidates import PageIndex
from footnote.evidence.tokens import Language, Token, TokenizedText, is_character, is_sentence_start

_FOREIGN_LETTERS = frozenset("fjwzFJWZ")
_POSSESSIVE = ("'s", "’s")
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
"""`该市` (the city) is none."""


def find_names(text: TokenizedText, page: PageIndex) -> list[Sequence[Token]]:
    """The names of a text, each as its words. `page` tells names from words that merely begin a sentence."""
    words = [token for token in text.tokens if token.is_content and not token.value and not is_character(token.key)]
    if len(words) > 5 and sum(token.is_capitalized for token in words) > 0.8 * len(words):
        return []  # A heading: Every Word Is Capitalised.
    return sorted((*_capitalized_names(text, page), *_transliterated_names(text)), key=lambda name: name[0].start)


def _capitalized_names(text: TokenizedText, page: PageIndex) -> Iterator[Sequence[Token]]:
    group: list[Token] = []
    for at, token in enumerate(text.tokens):
        if group and (not _may_be_name(token) or text.text[group[-1].end : token.start].strip(_BETWEEN)):
            yield group
            group = []
        if _may_be_name(token) and (group or _is_name(text, at, page)):
            group.append(token)
    if group:
        yield group


def _may_be_name(token: Token) -> bool:
    return token.is_capitalized and token.is_content and not token.value


def _is_name(text: TokenizedText, at: int, page: PageIndex) -> bool:
    token = text.tokens[at]
    word = text.text[token.start : token.end]
    if not is_sentence_start(text.text, token.start) or (len(word) > 1 and word.isupper()):
        return True
    following = text.tokens[at + 1] if at + 1 < len(text.tokens) else None
    if following is None:
        return page.is_proper_name(word)
    joined = _may_be_name(following) and following.start == token.end + 1
    return (
        joined
        or page.is_proper_name(word)
        or _is_subject(word, text.text[following.start : following.end], text.language)
    )


def _is_subject(word: str, following: str, language: Language) -> bool:
    """Whether the first word of a sentence is its subject without an article, as only a name is: `Calvin was`."""
    if language == "vi":
        return word.isascii() and (len(word) > 4 or not _FOREIGN_LETTERS.isdisjoint(word))
    return not word.endswith("s") and (word.endswith(_POSSESSIVE) or _VERB.match(following) is not None)


def _transliterated_names(text: TokenizedText) -> Iterator[Sequence[Token]]:
    for pattern in (_DOTTED_NAME, _TRANSLITERATED, _TITLE, _NATION):
        for found in pattern.finditer(text.text):
            start, end = found.span(found.lastindex or 0)
            group = [token for token in text.tokens if start <= token.start and token.end <= end]
            if group:
                yield group


def looks_like_name(text: str) -> bool:
    """Of a few Chinese characters, whether they may name somebody or something."""
    return bool(
        _TRANSLITERATED.search(text) or _PLACE.search(text) or _NATION.search(text) or "·" in text or "《" in text
    )
