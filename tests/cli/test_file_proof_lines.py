"""The line about the statements of a file, in each language of the product."""

import pytest

from footnote.cli.terminal.file_proofs import WrittenFileProofs, count_line
from footnote.cli.terminal.footnotes import Layout
from footnote.cli.terminal.lines import as_text
from footnote.protocol.events import BlockStart, ToolResultBlock
from footnote.protocol.sources import ProofCounts
from footnote.protocol.tools import Locale

COUNTS = ProofCounts(41, supported=36, partial=2, contradicted=1, uncited=2)


@pytest.mark.parametrize(
    ("locale", "line"),
    [
        ("en", "41 statements: 36 supported, 2 partly supported, 1 contradicted, 2 without a source"),
        ("vi", "41 câu: 36 có căn cứ, 2 chỉ có căn cứ một phần, 1 trái với nguồn, 2 không ghi nguồn"),
        ("zh", "41 条陈述：36 条有依据，2 条部分有依据，1 条与来源矛盾，2 条没有注明来源"),
    ],
)
def test_the_counts_are_said_in_the_language_of_the_user(locale: Locale, line: str):
    assert count_line(COUNTS, locale) == line


def _result(supported: int, path: str = "/a.md") -> BlockStart:
    counts = {"statements": 2, "supported": supported, "unsupported": 2 - supported}
    proof = {"file_path": path, "version": 1, "counts": counts, "citations": []}
    return BlockStart(0, ToolResultBlock("c1", "write_file", "success", "Wrote it.", {"proof": proof}))


def test_each_file_has_a_line_about_its_last_version():
    proofs = WrittenFileProofs()
    for event in (_result(1), _result(2), _result(0, "/b.md")):
        proofs.feed(event)
    proofs.feed(BlockStart(0, ToolResultBlock("c2", "other", "success", "", {"proof": "of nothing"})))
    lines = [as_text(line).strip() for line in proofs.lines(Layout())]
    assert [line.partition("2 statements")[2] for line in lines] == [": 2 supported", ": 2 not supported"]
    assert [line.split()[0] for line in lines] == ["/a.md", "/b.md"]
