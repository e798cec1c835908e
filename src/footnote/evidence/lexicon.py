"""Words whose meaning does not depend on the subject of a text: function words, negations, directions.

In the product's three languages. In others nothing here matches, and words count by how rare they are on their page.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, Generic, TypeVar

from footnote.text.sentences import Span
from footnote.text.stems import derivational_stem
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
| accept accepted accepts chấp+nhận 接受 / reject rejected rejects refuse refused từ+chối bác+bỏ 拒绝
| allow allowed allows permit permitted cho+phép 允许 / forbid forbidden ban banned prohibit prohibited cấm 禁止
| import imported imports nhập+khẩu 进口 / export exported exports xuất+khẩu 出口
| buy bought mua 购买 / sell sold bán 出售
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
| begin began begins start started bắt+đầu 开始 / end ended ends finish finished kết+thúc 结束
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


# Other words for the same ------------------------------------------------------------------------------------------


_SAME: Final = """
begin begins beginning began begun start starts started starting commence commenced
| end ends ended ending finish finished finishes conclude concluded
| film films movie movies
| big bigger biggest large larger largest
| buy buys bought buying purchase purchased purchases purchasing
| show shows showed shown demonstrate demonstrates demonstrated
| build builds built building constructed construct constructs construction
| help helps helped aid aids aided
| get gets got gotten obtain obtains obtained receive receives received
| write writes wrote written writing
| rise rises rose risen rising increase increases increased increasing
| fall falls fell fallen decrease decreases decreased decline declines declined
| grow grows grew grown growing growth
| win wins won winning
| lose loses lost losing
| lead leads led leading
| hold holds held holding
| choose chooses chose chosen choice select selects selected
| become becomes became
| make makes made making
| take takes took taken taking
| give gives gave given giving
| know knows knew known
| think thinks thought
| bring brings brought
| teach teaches taught
| speak speaks spoke spoken
| fight fights fought fighting
| send sends sent
| sell sells sold selling sale
| spend spends spent spending
| meet meets met meeting
| run runs ran running
| sing sings sang sung
| swim swims swam swum
| drive drives drove driven
| break breaks broke broken
| steal steals stole stolen
| strike strikes struck
| throw throws threw thrown
| draw draws drew drawn
| fly flies flew flown flight
| eat eats ate eaten
| drink drinks drank drunk
| wear wears wore worn
| shoot shoots shot shooting
| spread spreads spreading
| die dies died dying death deaths dead
| marry marries married marriage
| employ employs employed hire hires hired
| use uses used using utilise utilises utilised utilize utilizes utilized
| need needs needed require requires required
| resident residents inhabitant inhabitants
| child children kid kids
| man men
| woman women
| person people persons
| foot feet
| tooth teeth
| mouse mice
| car cars automobile automobiles
| physician physicians doctor doctors
| illness illnesses disease diseases
| defeat defeats defeated beat beats beaten
| quick quickly fast rapid rapidly
| frequent frequently often
| roughly approximately about
| centre centres center centers
| theatre theatres theater theaters
| metre metres meter meters
| litre litres liter liters
| fibre fibres fiber fibers
| defence defense
| licence license
| tyre tire
| grey gray
| programme programmes program programs
| analyse analyses analysed analyze analyzes analyzed analysis
| aluminium aluminum
| tv television
| hang hangs hung hanged
| collect collects collected collecting gather gathers gathered gathering
| arrest arrests arrested detain detains detained
| permit permits permitted allow allows allowed
| forbid forbids forbade forbidden prohibit prohibits prohibited
| reply replies replied answer answers answered
| stay stays stayed remain remains remained
| smart intelligent clever
| stage phase
| stalk stem
| huge enormous vast
| picture pictures image images
| kill kills killed slay slain
| attain attains attained reach reaches reached
| annual annually yearly
| publish publishes published publication
| release releases released launch launches launched
| premiere premieres premiered debut debuts debuted
| worldwide global globally
| usual usually
| sufficient enough
| comprise comprises comprised consist consists consisted
| infect infects infected infection infections
| treat treats treated treatment treatments
| prevent prevents prevented prevention
| protect protects protected protection
| transmit transmits transmitted transmission
| lethal deadly fatal
| newborn newborns neonate neonates
"""
_SAME_PHRASES: Final = """
usa: united states of america | united states | u s a | u s | us | usa
| uk: united kingdom | u k | uk | great britain
| eu: european union | e u | eu
| un: united nations | u n | un
| who: world health organization | world health organisation
| mỹ: hoa kỳ | hợp chủng quốc
xây dựng: xây dựng | xây
sử dụng: sử dụng | dùng
bắt đầu: bắt đầu | khởi đầu
thành lập: thành lập | sáng lập
gây ra: gây ra | dẫn đến | dẫn tới | gây nên
hiện nay: hiện nay | hiện tại | ngày nay
拥有: 拥 有 | 持 有 | 具 有
位于: 位 于 | 坐 落 于 | 地 处 | 坐 落 在
成立: 成 立 | 创 立 | 创 建 | 创 办
使用: 使 用 | 采 用 | 利 用 | 运 用
公布: 发 布 | 公 布
帮助: 帮 助 | 协 助
导致: 导 致 | 引 起 | 造 成 | 引 发
获得: 获 得 | 取 得 | 得 到
包括: 包 括 | 包 含
去世: 去 世 | 逝 世 | 过 世
目前: 目 前 | 现 在 | 如 今
称赞: 称 赞 | 赞 扬
组成: 组 成 | 构 成
建造: 建 造 | 修 建 | 兴 建
举行: 举 行 | 举 办
"""


def _stems(phrase: str) -> str:
    return " ".join(map(derivational_stem, phrase.split()))


SAME_WORDS: Final = {
    derivational_stem(word): derivational_stem(group.split()[0]) for group in _SAME.split("|") for word in group.split()
}
"""One key for forms and words that mean the same in any text, by their stems."""
SAME_PHRASES: Final = {
    _stems(phrase.strip()): name.strip()
    for line in _SAME_PHRASES.strip().splitlines()
    for name, phrases in [line.split(":")]
    for phrase in phrases.split("|")
}
