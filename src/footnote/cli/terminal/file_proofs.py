"""The proof of files below an answer: a line for each file, with how many of its statements hold."""

import msgspec
from msgspec import Struct

from footnote.cli.terminal.footnotes import INDENT, Layout
from footnote.cli.terminal.lines import Line, StyledText, one_line
from footnote.protocol.events import BlockStart, Event, ToolResultBlock
from footnote.protocol.files import FileCitations
from footnote.protocol.sources import ProofCounts, Verdict
from footnote.protocol.tools import Locale


class CountMessages(Struct, frozen=True):
    """The words of a line of counts. `separator` stands between its parts."""

    one_statement: str
    statements: str
    separator: str
    verdicts: dict[Verdict, str]


MESSAGES: dict[Locale, CountMessages] = {
    "en": CountMessages(
        one_statement="1 statement: ",
        statements="{count} statements: ",
        separator=", ",
        verdicts={
            "supported": "{count} supported",
            "partial": "{count} partly supported",
            "contradicted": "{count} contradicted",
            "unsupported": "{count} not supported",
            "uncited": "{count} without a source",
            "unread": "{count} of a page that was not read",
        },
    ),
    "vi": CountMessages(
        one_statement="1 câu: ",
        statements="{count} câu: ",
        separator=", ",
        verdicts={
            "supported": "{count} có căn cứ",
            "partial": "{count} chỉ có căn cứ một phần",
            "contradicted": "{count} trái với nguồn",
            "unsupported": "{count} không có căn cứ",
            "uncited": "{count} không ghi nguồn",
            "unread": "{count} dẫn trang chưa được đọc",
        },
    ),
    "zh": CountMessages(
        one_statement="1 条陈述：",  # noqa: RUF001 - a Chinese colon
        statements="{count} 条陈述：",  # noqa: RUF001 - a Chinese colon
        separator="，",  # noqa: RUF001 - a Chinese comma
        verdicts={
            "supported": "{count} 条有依据",
            "partial": "{count} 条部分有依据",
            "contradicted": "{count} 条与来源矛盾",
            "unsupported": "{count} 条没有依据",
            "uncited": "{count} 条没有注明来源",
            "unread": "{count} 条引用未读的网页",
        },
    ),
}


def count_line(counts: ProofCounts, locale: Locale) -> str:
    """`41 statements: 36 supported, 5 partly supported`."""
    messages = MESSAGES[locale]
    total = messages.one_statement if counts.statements == 1 else messages.statements
    named = (
        words.format(count=count) for verdict, words in messages.verdicts.items() if (count := getattr(counts, verdict))
    )
    return total.format(count=counts.statements) + messages.separator.join(named)


class WrittenFileProofs:
    """Fed every event of a run."""

    def __init__(self) -> None:
        self._counts: dict[str, ProofCounts] = {}

    def feed(self, event: Event) -> None:
        match event:
            case BlockStart(content_block=ToolResultBlock(artifact=dict(artifact))) if "proof" in artifact:
                try:
                    proof = msgspec.convert(artifact["proof"], FileCitations)
                except msgspec.ValidationError:  # of the tool of a plugin
                    return
                self._counts[proof.file_path] = proof.counts
            case _:
                pass

    def lines(self, layout: Layout) -> list[Line]:
        """A line for the last version of each file that has statements."""
        lines: list[Line] = []
        for path, counts in self._counts.items():
            if counts.statements:
                text = f"{one_line(path)}{layout.symbols.dot}{count_line(counts, layout.locale)}"
                tone = "dim" if counts.supported == counts.statements else "doubtful"
                lines += layout.rows((StyledText(text, tone),), indent=INDENT)
        return lines
