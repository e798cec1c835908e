"""Words that limit, relate or hedge what a statement says: `not`, `may`, `most`, `at least`, `before`, `if`, `claims`.

Two texts that share every other word still say different things if they differ in these. They are known in the
product's three languages; in others none is found, and a statement needs the other words in the same order.
"""

from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from footnote.evidence.lexicon import WordTable, negations

Kind: TypeAlias = Literal[
    "negation", "only", "can", "may", "hedge", "plan", "future", "condition", "opinion",
    "all", "most", "many", "some", "few", "part", "often", "sometimes", "always",
    "about", "nearly", "at_least", "more_than", "at_most", "less_than",
    "before", "after", "until", "since", "from", "to", "without", "than", "except", "against", "because", "despite",
    "instead", "between", "passive", "superlative", "former", "or", "over", "under",
]  # fmt: skip

_WORDS: Final[dict[Kind, str]] = {
    "only": "only solely exclusively merely chỉ duy+nhất mỗi+mình 只有 仅仅 唯一 仅有 只 仅",
    "can": "can able+to capable+of cannot can't có+khả+năng 能够 可以",
    "may": """
        may might could would possibly perhaps maybe potentially likely probably presumably potential possible
        có+thể có+lẽ có+khả+năng khả+năng biết+đâu 可能 或许 也许 大概 恐怕 未必 有可能
        """,
    "hedge": """
        suggest suggests suggested suggesting suggestive appear appears appeared seem seems seemed seemingly
        apparently thought believed alleged allegedly reportedly supposedly supposed purported purportedly
        rumored rumoured presumed assumed hypothesized hypothesised hypothesis speculated estimated projected
        unclear uncertain unproven controversial disputed suspected proposed theorized could+be dường+như
        hình+như được+cho+là bị+cho+là được+coi+là nghi+ngờ nghi+vấn ước+tính giả+thuyết tin+rằng bị+cáo+buộc
        bị+tình+nghi 似乎 好像 看来 据称 据说 疑似 被认为 认为 涉嫌 估计 据信 推测 假设 传闻 有望 不确定
        存在争议
        """,
    "plan": """
        plan plans planned planning intend intends intended aim aims aimed expected expects expect hope hopes
        hoped scheduled slated proposed proposes propose due+to+be set+to attempted attempts attempt tried tries
        try trying seeks sought wants wanted negotiating in+talks kế+hoạch dự+kiến dự+định ý+định mong+muốn
        hy+vọng cố+gắng đề+xuất đề+nghị muốn định+sẽ 计划 拟 预计 打算 有意 希望 试图 企图 尝试 提议 建议 预期
        想要
        """,
    "future": "will shall going+to won't sẽ sắp 将会 即将 将要 将于",
    "condition": """
        if unless whether provided+that providing in+case assuming otherwise as+long+as only+if only+when
        were+to nếu trừ+khi miễn+là giả+sử liệu với+điều+kiện 如果 若 假如 倘若 除非 只要 是否 一旦 要是 假使
        """,
    "opinion": """
        claims claimed claim claiming alleges alleging argues argued arguing believes believe asserts asserted
        asserting contends contended insists insisted maintains thinks said+that says+that told tells denies
        denied accuses accused promises promised predicts predicted warned warns joked jokes
        according+to+critics cáo+buộc tuyên+bố cho+rằng khẳng+định quả+quyết lập+luận tin+rằng cho+biết+rằng
        声称 宣称 主张 指控 指责 相信 坚称 自称 辩称 预言 预测 承诺
        """,
    "all": """
        all every each everyone everybody everything entire entirely whole always any completely fully totally
        tất+cả mọi toàn+bộ cả mỗi hoàn+toàn luôn luôn+luôn 所有 全部 一切 每个 每年 完全 全体 总是 任何 整个
        """,
    "most": """
        most mostly majority largely mainly primarily predominantly hầu+hết đa+số phần+lớn chủ+yếu đa+phần
        大多数 大部分 多数 大多 主要 绝大多数
        """,
    "many": "many numerous much plenty lots nhiều vô+số rất+nhiều 许多 很多 不少 大量 众多 诸多",
    "some": """
        some several certain various a+number+of một+số vài một+vài một+phần 一些 有些 某些 部分 几个 若干 有的
        数个
        """,
    "few": """
        few fewer little seldom rarely minority scarcely barely ít hiếm hiếm+khi thiểu+số 少数 很少 极少 少有
        罕见
        """,
    "part": "partly partially partial half một+nửa 部分地 一半",
    "often": "often usually generally typically frequently commonly normally thường thường+xuyên 经常 通常 往往 一般",
    "sometimes": "sometimes occasionally in+some+cases at+times on+occasion đôi+khi thỉnh+thoảng 有时 偶尔",
    "before": "before prior+to trước trước+khi 之前 以前",
    "after": "after following sau sau+khi 之后 以后",
    "until": "until till cho+đến+khi 直到 截至",
    "since": "since kể+từ từ+khi 自从",
    "from": "from từ 从",
    "to": "to into towards toward onto đến tới sang lên vào",
    "without": "without",
    "than": "than compared+with compared+to versus hơn so+với 比 相比",
    "except": "except excluding besides but+not ngoại+trừ trừ 除了 不包括",
    "against": "against chống chống+lại 反对 对抗",
    "because": "because due+to owing+to thanks+to as+a+result therefore vì do bởi+vì nhờ nên 因为 由于 因此 所以",
    "despite": "despite although though mặc+dù dù tuy bất+chấp 尽管 虽然",
    "instead": "instead rather+than thay+vì thay+cho 而不是 而非 代替",
    "between": "between giữa 之间",
    "over": "over above beyond trên 以上",
    "under": "under below beneath dưới 以下",
    "passive": "bị 被 遭 受到",
    "or": "or either nor hoặc hay 或者 或是 还是",
    "former": """
        former formerly ex deputy vice acting interim assistant unofficial nominal would+be so+called fake
        pseudo cựu phó trợ+lý giả 前任 代理 助理
        """,
}  # fmt: skip

_BOUNDS: Final[dict[Kind, str]] = {
    "about": """
        about around approximately roughly some circa ca approx estimated nearly+about khoảng chừng xấp+xỉ tầm
        ước+chừng 约 大约 大概 左右 上下 约为 约有
        """,
    "nearly": "nearly almost close+to just+under gần gần+như suýt 近 将近 接近 几乎 差不多",
    "at_least": """
        at+least no+fewer+than no+less+than not+less+than minimum ít+nhất tối+thiểu không+dưới trở+lên 至少 最少
        不少于 不低于 以上 起码
        """,
    "more_than": """
        more+than over exceeding exceeded exceeds above greater+than upwards+of in+excess+of higher+than hơn
        trên vượt vượt+quá 超过 逾 多于 高于 大于
        """,
    "at_most": """
        at+most up+to no+more+than not+more+than maximum tối+đa không+quá nhiều+nhất lên+tới 最多 至多 不超过
        高达 多达
        """,
    "less_than": """
        less+than fewer+than under below lower+than dưới chưa+đến chưa+tới ít+hơn thấp+hơn 不到 不足 少于 低于
        小于 未满 以下
        """,
}  # fmt: skip

POSTFIXED_BOUNDS: Final = frozenset(("左右", "上下", "以上", "以下", "trở lên"))
"""Bounds that stand after their number."""

MUST_BE_IN_PASSAGE: Final[frozenset[Kind]] = frozenset(
    (
        "negation", "only", "can", "hedge", "plan", "future", "condition", "all", "most", "many", "some", "few", "part",
        "often", "sometimes", "always", "about", "nearly", "at_least", "more_than", "at_most", "less_than", "before",
        "after", "until", "since", "without", "than", "except", "against", "because", "despite", "instead", "former",
    )
)  # fmt: skip
"""A statement with one of these needs a passage with it. `may` is not among them: it claims less."""

MUST_BE_IN_STATEMENT: Final[frozenset[Kind]] = frozenset(
    (
        "negation", "can", "may", "hedge", "plan", "future", "condition", "opinion", "most", "many", "some", "few",
        "part", "often", "sometimes", "about", "nearly", "at_least", "more_than", "at_most", "less_than", "before",
        "after", "until", "since", "without", "than", "except", "against", "instead", "former",
    )
)  # fmt: skip
"""A passage with one of these says less than, or something else than, a statement without it. `only` and `all` are not
among them: "only five came" says that five came."""

_OPPOSITES: Final[tuple[tuple[Kind, Kind], ...]] = (
    ("from", "to"),
    ("before", "after"),
    ("over", "under"),
    ("until", "since"),
    ("since", "before"),
)
OPPOSITE_RELATIONS: Final = frozenset(pair for one, other in _OPPOSITES for pair in ((one, other), (other, one)))

SENTENCE_WIDE: Final[frozenset[Kind]] = frozenset(("condition", "opinion", "hedge", "plan", "may", "negation"))
"""What limits the rest of its sentence from before it."""


_APPROXIMATION = 0.1


def interval(number: float, bound: Kind | None, *, approximation: float = _APPROXIMATION) -> tuple[float, float]:
    """The numbers that a number with a bound stands for: from 20 on for "at least 20"."""
    slack = abs(number) * approximation
    if bound in ("at_least", "more_than"):
        return number, float("inf")
    if bound in ("at_most", "less_than"):
        return float("-inf"), number
    if bound == "nearly":
        return number - 2 * slack, number
    if bound == "about":
        return number - slack, number + slack
    return number, number


class Mark(NamedTuple):
    """A qualifier in a text, by its offsets. `bound`: it limits a number beside it, and is none elsewhere."""

    kind: Kind
    start: int
    end: int
    bound: bool


def _table(words: dict[Kind, str], *, bound: bool) -> dict[str, tuple[Kind, bool]]:
    return {word: (kind, bound) for kind, listed in words.items() for word in listed.split()}


_QUALIFIERS = WordTable(_table(_WORDS, bound=False))
_NUMBER_BOUNDS = WordTable(_table(_BOUNDS, bound=True))


@lru_cache(maxsize=4_000)
def find_marks(text: str) -> tuple[Mark, ...]:
    """The qualifiers of a text in order. Of two that overlap both are found; the caller decides by what follows."""
    found = [Mark("negation", span.start, span.end, bound=False) for span in negations(text, strict=True)]
    for table in (_QUALIFIERS, _NUMBER_BOUNDS):
        found += (Mark(kind, span.start, span.end, bound) for span, (kind, bound) in table.find(text))
    return tuple(sorted(found, key=lambda mark: mark.start))
