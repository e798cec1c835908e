"""Words whose meaning does not depend on the subject of a text: function words, negations, directions.

In the product's three languages. In others nothing here matches, and words count by how rare they are on their page.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, Generic, TypeVar

from footnote.text.sentences import Span
from footnote.text.stop_words import CLAIM_STOP_WORDS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATION_WORDS: Final = _words("""
not no never none neither nor without cannot nobody nothing nowhere hardly deny denied denies denying
không chưa chẳng chả đừng
""")
"""Contractions such as `don't` are recognised by their ending."""

NEGATION_CHARACTERS: Final = _words("""
从来没有 并没有 没有 从未 并未 尚未 未曾 未能 并不 并非 绝非 而非 不是 不再 无法 毫无 并无 否认 不 没 未
不安全 不安装 不安排 没收到 未来得及
""")
"""The last of them begin with a word that is not a negation: `不安` (uneasy), but `不安全` (unsafe)."""

NEGATION_EXCEPTIONS: Final = _words("""
no+doubt no+later no+one no+matter no+less no+more no+fewer
không+gian không+khí không+quân không+lực không+kích không+trung không+lưu không+ngừng không+ít không+lâu không+thời
không+phận không+tặc chưa+kể chẳng+hạn hàng+không sân+không tàu+không
不断 不过 不久 不少 不论 不管 不如 不得不 不料 不妨 不禁 不愧 不惜 不列颠 不丹 不锈 不良 不动产 不对称 不祥 不朽
不安 不满 不幸
未来 未必 未婚 未免 是不是 沉没 淹没 没落 没收 埋没 出没 差不多 对不起 了不起 来不及
""")
"""Words with a part that looks like a negation: `không gian` (space), `未来` (future). `+` joins the words of an
entry."""

WEAK_NEGATIONS: Final = _words("""
not+only not+just not+merely không+chỉ không+những 不仅 不但 不只 不止 不等 不同
""")
"""Negations only if the texts differ in nothing else: `not only`."""

IMPLICIT_NEGATIONS: Final = _words("""
fail failed fails failing refuse refused refuses reject rejected rejects unable lack lacked lacks prevent prevented
prevents disqualified forbidden prohibited banned excluded impossible unlikely ceased stopped
thất+bại từ+chối bác+bỏ thiếu ngăn cấm loại+trừ ngừng
失败 拒绝 缺乏 缺少 阻止 禁止 排除 停止 取消
""")
"""Words that negate what follows. They count only if the texts hardly differ otherwise: a paraphrase may replace
them."""

FUNCTION_WORDS: Final = {
    "en": CLAIM_STOP_WORDS["en"] | NEGATION_WORDS,
    "vi": CLAIM_STOP_WORDS["vi"] | NEGATION_WORDS,
    "zh": CLAIM_STOP_WORDS["zh"] | frozenset("不没未"),
}
"""Negations are among them: whether two texts agree in these is compared separately."""

PRONOUNS: Final = _words("""
he she it they his her its their this these those ông bà anh họ nó này đó ấy 他 她 它 其 该 此 这
""")

_OPPOSITES: Final = """
increase increased increases increasing rise rose rises risen rising grow grew grows grown growing growth gain gained
climb climbed surge surged expand expanded higher upward tăng gia+tăng tăng+trưởng 增 升 涨
/ decrease decreased decreases decreasing decline declined declines declining fell falls fallen falling drop dropped
dropping shrink shrank shrunk reduce reduced plunge plunged lower lowered downward giảm sụt 减 降 跌 下滑
| win won wins victory thắng chiến+thắng 获胜 胜利 赢 / lose lost loses defeat thua 战败 输
| success succeeded successful thành+công 成功 / failure failed fails fail thất+bại 失败
| support supported supports supporting favour favor ủng+hộ 支持 赞成 / oppose opposed opposes opposing phản+đối 反对
| accept accepted accepts approve approved approves chấp+nhận phê+duyệt 接受 批准
/ reject rejected rejects refuse refused từ+chối bác+bỏ 拒绝
| allow allowed allows permit permitted cho+phép 允许 / forbid forbidden ban banned prohibit prohibited cấm 禁止
| import imported imports nhập+khẩu 进口 / export exported exports xuất+khẩu 出口
| buy bought acquire acquired purchase purchased mua 购买 收购 / sell sold bán 出售
| legal lawful hợp+pháp 合法 / illegal unlawful bất+hợp+pháp phi+pháp 非法
| majority đa+số 多数 / minority thiểu+số 少数
| possible có+thể 可能 / impossible không+thể 不可能
| more greater larger bigger / less fewer smaller
| largest biggest greatest highest most lớn+nhất cao+nhất nhiều+nhất 最大 最高 最多
/ smallest least lowest nhỏ+nhất thấp+nhất ít+nhất 最小 最低 最少
| oldest earliest lâu+đời+nhất sớm+nhất 最古老 最早 / newest youngest latest mới+nhất trẻ+nhất 最新 最年轻
| above over exceed exceeded exceeds vượt 超过 高于 多于 / below under dưới 低于 少于 不足
| before prior trước 之前 以前 / after following sau 之后 以后
| first đầu+tiên 首次 第一 / last final cuối+cùng 最后
| begin began begins start started bắt+đầu 开始
/ end ended ends finish finished complete completed kết+thúc hoàn+thành 结束 建成 完工 竣工
| north northern bắc 北 / south southern nam 南
| east eastern đông 东 / west western tây 西
| true correct đúng 正确 / false wrong incorrect sai 错误
| rich wealthy giàu 富 / poor nghèo 贫
| strong stronger mạnh 强 / weak weaker yếu 弱
| public công+lập 公立 / private tư+thục 私立
| always luôn 总是 / rarely hiếm 从不 很少
| many nhiều 许多 / few ít
| hot warm nóng 热 / cold cool lạnh 冷
| male men đàn+ông 男 / female women phụ+nữ 女
| safe harmless an+toàn vô+hại 安全 无害 / dangerous harmful poisonous toxic nguy+hiểm có+hại độc+hại 危险 有害 有毒
| open opened mở / close closed đóng
"""

DIRECTIONS: Final = {
    word: (axis, side)
    for axis, ends in enumerate(_OPPOSITES.split("|"))
    for side, words in enumerate(ends.split("/"))
    for word in words.split()
}
"""Words with a direction: the axis, and which of its two ends."""


# The negations and directions of a text: two texts that share every other word may still disagree in these.


_Meaning = TypeVar("_Meaning")
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+(?:['\u2019][a-z]+)?")
_CONTRACTED = re.compile("n['\u2019]t$")


class WordTable(Generic[_Meaning]):
    """Finds words of a lexicon in a text, the longest first: `không gian` before `không`."""

    def __init__(self, meanings: Mapping[str, _Meaning]) -> None:
        self._meanings = meanings
        self._max_words: dict[str, int] = {}
        """The number of words of the longest entry, by its first word."""
        for entry in meanings:
            first, *more = entry.split("+")
            self._max_words[first] = max(self._max_words.get(first, 0), 1 + len(more))
        characters = sorted((word for word in meanings if word > "\u3000"), key=len, reverse=True)
        self._characters = re.compile("|".join(characters))

    def find(self, text: str) -> Iterator[tuple[Span, _Meaning]]:
        words = [(word.group().casefold(), word.start(), word.end()) for word in _WORD.finditer(text)]
        at = 0
        while at < len(words):
            max_words = self._max_words.get(words[at][0], 0)
            for count in range(min(max_words, len(words) - at), 0, -1):
                meaning = self._meanings.get("+".join(word for word, _, _ in words[at : at + count]))
                if meaning is not None:
                    yield Span(words[at][1], words[at + count - 1][2]), meaning
                    at += count - 1
                    break
            at += 1
        for found in self._characters.finditer(text):
            yield Span(found.start(), found.end()), self._meanings[found.group()]


_NEGATING = dict.fromkeys(NEGATION_WORDS | NEGATION_CHARACTERS, True)
_EXCEPTIONS = dict.fromkeys(NEGATION_EXCEPTIONS, False)
_STRICT_NEGATIONS = WordTable({**_NEGATING, **_EXCEPTIONS, **dict.fromkeys(IMPLICIT_NEGATIONS, True)})
_COMMON_NEGATIONS = WordTable({**_NEGATING, **_EXCEPTIONS, **dict.fromkeys(WEAK_NEGATIONS, False)})
_DIRECTIONS = WordTable(DIRECTIONS)


@lru_cache(maxsize=2_000)
def negations(text: str, *, strict: bool = False) -> tuple[Span, ...]:
    """The negations in a text. `strict`: also weak ones (`not only`) and implicit ones (`failed`)."""
    found = [span for span, negates in (_STRICT_NEGATIONS if strict else _COMMON_NEGATIONS).find(text) if negates]
    contractions = (word for word in _WORD.finditer(text) if _CONTRACTED.search(word.group()))
    return (*found, *(Span(word.start(), word.end()) for word in contractions))


def directions(text: str) -> set[tuple[int, int]]:
    """The directions in a text, as axis and side: 0 for up, more, first, 1 for the opposite."""
    return {direction for _, direction in _DIRECTIONS.find(text)}
