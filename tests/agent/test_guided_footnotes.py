"""The footnotes of guided models, wherever the answer is cut into pieces."""

import pytest

from footnote.agent.guided_footnotes import FootnoteMover, footnotes_moved

FOREIGN = ("c118c8ff", "0a1b2c3d")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[2] The fort was Pons Aelius. It was Roman.", "The fort was Pons Aelius. [2] It was Roman."),
        ("[2.1] In 2008, Fay.\n[3.1] Next one!\n", "In 2008, Fay. [2.1]\nNext one! [3.1]\n"),
        ("- [1.2] item one\n- [2.2] item two. More.", "- item one [1.2]\n- item two. [2.2] More."),
        ("No marker here [3]. And [4] within.", "No marker here [3]. And [4] within."),
        ("【2】中文句子。后面。", "中文句子。 [2]后面。"),
        ("1. [4.1] It is 3.5 percent. Next", "1. It is 3.5 percent. [4.1] Next"),
        ("[4] only", "only [4]"),
        ("[4] It has one [4]. And more.", "It has one [4]. And more."),
        ("[4] It has one [4]", "It has one [4]"),
        ("A footnote [c118c8ff]. Another [c118c8ff]", "A footnote. Another"),
        ("[0a1b2c3d] It stands first.", " It stands first."),
        ("[deadbeef] stays, and so does [", "[deadbeef] stays, and so does ["),
        ("[1](https://example.org) is a link", "[1](https://example.org) is a link"),
        (
            "[3] Frederick W. Mote thought so in 1994. Others did not.",
            "Frederick W. Mote thought so in 1994. [3] Others did not.",
        ),
        (
            "[5] The work of Jones et al. and of Briffa was overlaid.",
            "The work of Jones et al. and of Briffa was overlaid. [5]",
        ),
        ("", ""),
        ("\n\n", "\n\n"),
    ],
)
def test_a_footnote_stands_behind_its_sentence(written: str, shown: str):
    assert footnotes_moved(written, FOREIGN) == shown
    for size in range(1, len(written)):
        mover = FootnoteMover(FOREIGN)
        pieces = [mover.feed(written[at : at + size]) for at in range(0, len(written), size)]
        assert "".join((*pieces, mover.flush())) == shown, size


def test_text_without_footnotes_is_passed_on_as_it_arrives():
    mover = FootnoteMover()
    assert mover.feed("An answer") == "An answer"
    assert mover.feed(" goes on") == " goes on"
