import time

import pytest

from footnote.text.markdown import markdown_to_text


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("It is so [1]. And so [2, 3] too【4】.", "It is so. And so too."),
        (
            "## Who recovers it?\n\n- **Nickel** and *cobalt*\n1. ~~lost~~",
            "Who recovers it?\n\nNickel and cobalt\nlost",
        ),
        ("| a | b |\n|---|:-:|\n| `x` | 2 [1] |", "a · b\nx · 2"),
        ("See [the page](https://a.org/x?y) and ![a bridge](b.png).", "See the page and a bridge."),
        ("> quoted \\*as it is\\* 2 * 3 = 6, snake_case_name", "quoted *as it is* 2 * 3 = 6, snake_case_name"),
        ("```sh\nmake **all** # [1]\n```\nafter", "make **all** # [1]\nafter"),
        ("***\n- [ ] open\n* * *\na-b -- c", "open\na-b -- c"),
        ("**bold with *both* inside**", "bold with both inside"),
        ("据报道【1】，**氧气**［２］。", "据报道，氧气。"),
    ],
)
def test_markdown_is_read_without_its_signs(markdown: str, words: str) -> None:
    assert markdown_to_text(markdown) == words


@pytest.mark.parametrize("sign", ["*", "`", "[", "[1", "_", "![", "|", "\\", "**a", "[a](", "~~", "> ", "- "])
def test_a_hostile_text_takes_no_longer_than_its_length(sign: str) -> None:
    def seconds(length: int) -> float:
        text = sign * (length // len(sign))
        began = time.process_time()
        markdown_to_text(text)
        return time.process_time() - began

    assert seconds(60_000) < 30 * max(seconds(6_000), 0.01)
