"""Thinking that a server leaves in the text: found in every notation, wherever it is cut, and nothing else taken for
it."""

import pytest

from footnote.models.reasoning import InlineThinking, omits_opening_tag

THOUGHT, ANSWER = 'Let me see: 1 < 2.\n"Why?" [1]', "Yes. `<think>` is a tag, and so is </think>."
FORMS = {
    "think": f"<think>\n{THOUGHT}</think>\n\n{ANSWER}",
    "thinking": f"<thinking>{THOUGHT}</thinking>\n{ANSWER}",
    "thought": f"<thought>{THOUGHT}</thought>{ANSWER}",
    "reasoning": f"\n<reasoning>{THOUGHT}</reasoning> {ANSWER}",
    "seed": f"<seed:think>{THOUGHT}</seed:think>{ANSWER}",
    "kimi": f"◁think▷{THOUGHT}◁/think▷{ANSWER}",
    "magistral": f"[THINK]{THOUGHT}[/THINK]{ANSWER}",
    "sky": f"<|begin_of_thought|>\n\n{THOUGHT}<|end_of_thought|>\n\n<|begin_of_solution|>\n\n{ANSWER}",
    "command": f"<|START_THINKING|>{THOUGHT}<|END_THINKING|><|START_RESPONSE|>{ANSWER}",
    "gemma": f"<|channel>thought\n{THOUGHT}<channel|>{ANSWER}",
    "harmony": f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}",
    "harmony, whole": (
        f"<|start|>assistant<|channel|>analysis<|message|>{THOUGHT}<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{ANSWER}"
    ),
}
UNMARKED = f"{THOUGHT}</think>\n\n{ANSWER}"


def split(*pieces: str, may_lack_opening: bool = False) -> tuple[str, str]:
    """The thinking and the text. Text is never followed by thinking."""
    decoder = InlineThinking(may_lack_opening=may_lack_opening)
    parts = [part for piece in pieces for part in decoder.feed(piece)] + list(decoder.flush())
    kinds = [is_thinking for is_thinking, _ in parts]
    assert kinds == sorted(kinds, reverse=True)
    assert all(text for _, text in parts)
    return tuple("".join(text for is_thinking, text in parts if is_thinking is kind) for kind in (True, False))  # pyright: ignore[reportReturnType] - two of them


def cuts(text: str) -> list[list[str]]:
    """The text in two pieces, cut at every place, and in pieces of every small size."""
    halves = [[text[:at], text[at:]] for at in range(len(text) + 1)]
    return [*halves, *([text[at : at + size] for at in range(0, len(text), size)] for size in range(1, 12))]


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_thinking_is_found_wherever_it_is_cut(text: str):
    for pieces in cuts(text):
        assert split(*pieces) == (THOUGHT, ANSWER)


def test_a_second_thought_of_harmony_is_thinking_too():
    analysis = "<|channel|>analysis<|message|>"
    text = (
        f"{analysis}One.<|end|><|start|>assistant{analysis}Two.<|end|><|start|>assistant<|channel|>final<|message|>A."
    )

    for pieces in cuts(text):
        assert split(*pieces) == ("One.Two.", "A.")


def test_an_answer_in_harmony_without_thinking_loses_its_header():
    for pieces in cuts(f"<|channel|>final<|message|>{ANSWER}"):
        assert split(*pieces) == ("", ANSWER)


# A template that writes the opening tag ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", [UNMARKED, f"\n{UNMARKED}", *FORMS.values()])
def test_a_missing_opening_tag_is_made_up_for(text: str):
    for pieces in cuts(text):
        assert split(*pieces, may_lack_opening=True) == (THOUGHT, ANSWER)


@pytest.mark.parametrize("text", ["Yes, 1 < 2.", "The tag `</think>` ends it.", "\n\nYes.", "</thin", "a `</think>"])
def test_what_has_no_closing_tag_is_text(text: str):
    for pieces in cuts(text):
        assert split(*pieces, may_lack_opening=True) == ("", text)


def test_an_endless_text_is_not_held_back_forever():
    decoder = InlineThinking(may_lack_opening=True)
    held = [part for _ in range(401) for part in decoder.feed("x" * 1_000)]

    assert held == [(False, "x" * 401_000)]
    assert decoder.is_over


def test_without_such_a_template_a_closing_tag_is_text():
    assert split(UNMARKED) == ("", UNMARKED)


@pytest.mark.parametrize(
    "model",
    [
        *("vllm/deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "ollama/deepseek-r1:7b", "own/QwQ-32B"),
        *("own/Qwen3-4B-Thinking-2507", "own/kimi-k2-thinking", "own/Olmo-3-7B-Think", "own/MiniMax-M2"),
    ],
)
def test_such_a_template_is_told_by_the_name_of_the_model(model: str):
    assert omits_opening_tag(model)


@pytest.mark.parametrize("model", ["own/Qwen2.5-7B", "ollama/qwen3:8b", "own/thinker-7b", "own/r10", "own/deepseek-v3"])
def test_other_models_have_no_such_template(model: str):
    assert not omits_opening_tag(model)


# What is no thinking ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "`<think>` opens it, `</think>` closes it.",
        "```\n<think>x</think>\n```",
        '"<think>x</think>" is how it is written.',
        "So: <think>no</think>",
        "> <think>no</think>",
        "<thinker>no</thinker>",
        "[THINKING] no",
        "[TOOL_CALLS][]",
        "<tool_call>{}</tool_call>",
        "<|channel|>commentary<|message|>no",
        "<",
        "[",
        "<|chan",
        " " * 100 + "<think>no</think>",
    ],
)
def test_tags_that_are_quoted_or_stand_elsewhere_are_text(text: str):
    for pieces in cuts(text):
        assert split(*pieces) == ("", text)


@pytest.mark.parametrize("quote", ["`", '"', "'"])
def test_a_closing_tag_that_is_quoted_in_the_thinking_does_not_end_it(quote: str):
    thought = f"He asks about {quote}</think>{quote}, the tag."

    for pieces in cuts(f"<think>{thought}</think>It ends thinking."):
        assert split(*pieces) == (thought, "It ends thinking.")


def test_a_quotation_that_ends_with_the_thinking_does_not_hide_its_end():
    for pieces in cuts('<think>He said "no"</think>No.'):
        assert split(*pieces) == ('He said "no"', "No.")


def test_thinking_that_is_not_closed_stays_thinking():
    for pieces in cuts("<think>Only this </thi"):
        assert split(*pieces) == ("Only this </thi", "")


@pytest.mark.parametrize("text", ["<think>\n\n</think>\n\nYes.", "<think></think>Yes."])
def test_thinking_that_is_switched_off_leaves_no_trace(text: str):
    for pieces in cuts(text):
        assert split(*pieces) == ("", "Yes.")


@pytest.mark.parametrize("text", ["<think>Hm.</think>", "<think>Hm.</think>\n\n"])
def test_thinking_without_an_answer_leaves_no_empty_text(text: str):
    for pieces in cuts(text):
        assert split(*pieces) == ("Hm.", "")
