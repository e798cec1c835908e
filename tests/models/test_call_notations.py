"""Tool calls that models write into their text: every notation, split at every character, and texts without calls."""

import json
from typing import Any

import pytest

from footnote.models.call_notations import MAX_HELD, MAX_SEARCHED, CallNotations, WrittenCall
from footnote.protocol.tools import ToolSpec

TOOLS = (
    ToolSpec(
        "web_search",
        "Searches the web.",
        {"type": "object", "properties": {"query": {"type": "string"}, "count": {"type": "integer"}}},
    ),
    ToolSpec("list_files", "Lists the files.", {"type": "object", "properties": {}}),
)
CALL = WrittenCall("web_search", {"query": "giá vàng hôm nay", "count": 5})
PLAIN = '{"name": "web_search", "arguments": {"query": "giá vàng hôm nay", "count": 5}}'
LLAMA = PLAIN.replace("arguments", "parameters")
PYTHON = 'web_search(query="giá vàng hôm nay", count=5)'

NOTATIONS = {
    "qwen": f"<tool_call>\n{PLAIN}\n</tool_call>",
    "qwen without the closing tag": f"<tool_call>\n{PLAIN}",
    "qwen without the last brace": f"<tool_call>\n{PLAIN[:-1]}\n</tool_call>",
    "qwen coder": "<tool_call>\n<function=web_search>\n<parameter=query>\ngiá vàng hôm nay\n</parameter>\n"
    "<parameter=count>\n5\n</parameter>\n</function>\n</tool_call>",
    "qwen2.5-coder": f"<tools>\n{PLAIN}\n</tools>",
    "llama": LLAMA,
    "llama with its token": f"<|python_tag|>{LLAMA}<|eom_id|>",
    "llama as a function": '<function=web_search>{"query": "giá vàng hôm nay", "count": 5}</function>',
    "llama in python": f"[{PYTHON}]",
    "llama built in": '<|python_tag|>web_search.call(query="giá vàng hôm nay", count=5)',
    "mistral": f"[TOOL_CALLS] [{PLAIN}]</s>",
    "mistral, newer": '[TOOL_CALLS]web_search[ARGS]{"query": "giá vàng hôm nay", "count": 5}',
    "mistral with an id": '[TOOL_CALLS]web_search[CALL_ID]abc12[ARGS]{"query": "giá vàng hôm nay", "count": 5}',
    "gemma": f"```tool_code\n{PYTHON}\n```",
    "gemma, printed": f"```tool_code\nprint(default_api.{PYTHON})\n```",
    "functiongemma": "<start_function_call>call:web_search{query:<escape>giá vàng hôm nay<escape>,count:5}"
    "<end_function_call>",
    "deepseek": "<|tool▁calls▁begin|><|tool▁call▁begin|>function<|tool▁sep|>web_search\n```json\n"
    '{"query": "giá vàng hôm nay", "count": 5}\n```<|tool▁call▁end|><|tool▁calls▁end|>'.replace(
        "|", "\N{FULLWIDTH VERTICAL LINE}"
    ),
    "lfm": f"<|tool_call_start|>[{PYTHON}]<|tool_call_end|>",
    "another spelling of the name": f"<tool_call>{PLAIN.replace('web_search', 'functions.Web-Search')}</tool_call>",
    "gemma, in another case": f"```tool_code\nprint({PYTHON.replace('web_search', 'Web_Search')})\n```",
    "phi": f"<|tool_call|>[{PLAIN}]<|/tool_call|>",
    "fenced": f"```json\n{PLAIN}\n```",
    "fenced without a tag": f"```\n{PLAIN}\n```",
    "arguments as a string": json.dumps({"name": "web_search", "arguments": json.dumps(CALL.arguments)}),
    "the form of the API": json.dumps(
        {"tool_calls": [{"id": "1", "type": "function", "function": {"name": "web_search", "arguments": PLAIN[40:-1]}}]}
    ).replace(json.dumps(PLAIN[40:-1]), json.dumps(json.dumps(CALL.arguments))),
    "react": json.dumps({"action": "web_search", "action_input": CALL.arguments}),
}

TEXTS = {
    "prose": "Gold costs 4,100 dollars [1]. It rose [2][3].\n[1] is a source.\n",
    "code": '```python\nprint("hello")\nweb = {"name": 1}\n```\nThat prints hello.',
    "json": '```json\n{"name": "footnote", "version": "1.0"}\n```\nThis is a package file.',
    "json of another tool": '{"name": "delete_everything", "arguments": {}}',
    "json that has the name of a tool in other words": '{"name": "Web Search", "version": "1.0"}',
    "a tag around an unknown tool": '<tool_call>{"name": "get_weather", "arguments": {}}</tool_call> is it.',
    "mistral's tag around a tool that does not exist": '[TOOL_CALLS][{"name": "get_weather", "arguments": {}}]',
    "python of a tool that does not exist": "```tool_code\nget_weather(city='Huế')\n```",
    "a call in the middle of a line": f"Write `{PLAIN}` to call it.",
    "an object": '{"population": 5, "name": "web_search"}',
    "a link": "[web_search](https://example.org) finds pages.\n[list](x)",
    "a comparison": "a < b and b <tool, {x | x > 1} `code` ``",
    "a task list": "- [ ] first\n- [x] second\n[ ] third",
    "a formula": "[\\frac{a}{b}]\n{x}",
    "an unclosed fence": '```json\n{"temperature": 21',
}


def decode(text: str, cuts: int | None = None) -> list[str | WrittenCall]:
    decoder = CallNotations(TOOLS)
    pieces = [text] if cuts is None else [text[i : i + cuts] for i in range(0, len(text), cuts)]
    decoded: list[str | WrittenCall] = []
    for part in [part for piece in pieces for part in decoder.feed(piece)] + decoder.flush():
        if isinstance(part, str) and decoded and isinstance(decoded[-1], str):
            decoded[-1] += part
        else:
            decoded.append(part)
    return decoded


@pytest.mark.parametrize("text", NOTATIONS.values(), ids=list(NOTATIONS))
def test_a_call_is_found_wherever_its_text_is_cut(text: str) -> None:
    assert decode(text) == [CALL]
    for size in range(1, len(text)):
        assert decode(text, size) == [CALL], size
    for position in range(1, len(text)):
        decoder = CallNotations(TOOLS)
        assert [*decoder.feed(text[:position]), *decoder.feed(text[position:]), *decoder.flush()] == [CALL], position


@pytest.mark.parametrize("text", NOTATIONS.values(), ids=list(NOTATIONS))
def test_words_before_a_call_stay_text(text: str) -> None:
    for size in (1, 3, 1000):
        assert decode(f"I will look it up.\n{text}", size) == ["I will look it up.\n", CALL]


@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
def test_what_is_no_call_stays_text_to_the_letter(text: str) -> None:
    for size in range(1, len(text) + 1):
        assert decode(text, size) == [text], size


def test_several_calls_come_in_their_order() -> None:
    files = WrittenCall("list_files", {})
    both = '<tool_call>{"name": "list_files"}</tool_call>'
    for text in (
        f"<tool_call>{PLAIN}</tool_call>\n{both}",
        f"<tool_call>\n{PLAIN}\n<tool_call>\n{json.dumps({'name': 'list_files', 'arguments': {}})}",
        f"[TOOL_CALLS]web_search[ARGS]{json.dumps(CALL.arguments)}[TOOL_CALLS]list_files[ARGS]{{}}",
        f"[TOOL_CALLS][{PLAIN}, {json.dumps({'name': 'list_files', 'arguments': {}})}]",
        f"<|python_tag|>{LLAMA}; {json.dumps({'name': 'list_files', 'parameters': {}})}",
        f"[{PYTHON}, list_files()]",
        f"```tool_code\n{PYTHON}\nlist_files()\n```",
    ):
        for size in (1, 2, 7, 1000):
            assert decode(text, size) == [CALL, files], text


def test_a_positional_argument_is_the_parameter_at_its_place() -> None:
    assert decode('```tool_code\nweb_search("gold", 3)\n```') == [
        WrittenCall("web_search", {"query": "gold", "count": 3})
    ]


def test_text_that_cannot_become_a_call_is_not_held_back() -> None:
    decoder = CallNotations(TOOLS)
    shown = "".join(str(part) for part in decoder.feed('```python\nimport json\nvalue = {"name": '))
    assert shown == '```python\nimport json\nvalue = {"name": '


def test_a_call_of_a_tool_that_was_not_offered_stays_text() -> None:
    text = '<tool_call>{"name": "run_shell", "arguments": {"command": "rm"}}</tool_call>'
    assert decode(text, 5) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "[\n" * 200_000,
        "<tool_call>" * 40_000,
        '{"name": ' * 40_000,
        "```json\n{" * 40_000,
        "web_search(" * 40_000,
        "```tool_code\nweb_search(" + "-" * 300_000,
        "[TOOL_CALLS]" * 30_000,
        "<\N{FULLWIDTH VERTICAL LINE}tool▁calls▁begin\N{FULLWIDTH VERTICAL LINE}>" * 20_000,
    ],
    ids=lambda text: repr(text[:24]),
)
def test_a_long_run_of_openings_costs_linear_time_and_stays_text(text: Any) -> None:
    assert len(text) > MAX_HELD + MAX_SEARCHED
    assert decode(text) == [text]
    assert decode(text, 50) == [text]
