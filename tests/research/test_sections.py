"""Sections: what a model is asked for, and what of its text gets into the report."""

import random

import pytest

from footnote.agent.window import text_tokens
from footnote.protocol.tools import Locale
from footnote.research.plan_rules import plan_by_rule
from footnote.research.report import (
    MAX_SECTION_FINDINGS,
    MAX_SECTION_TOKENS,
    SectionPlan,
    checked_section,
    plan_sections,
    quoted_section,
    section_request,
)
from footnote.research.templates import choose_template
from research.finding_samples import Pages, plan_of, template

LOCALES: tuple[Locale, ...] = ("en", "vi", "zh")
STATEMENTS = (
    "The tidal station of Halden has 24 turbines.",
    "The tidal station of Halden was opened on 21 September 2014.",
    "The tidal station of Halden supplies 128,000 households.",
    "The fish pass of the station of Halden is 310 metres long.",
)


def station() -> tuple[Pages, SectionPlan]:
    pages = Pages()
    pages.add("a.example", " ".join(STATEMENTS[:3]))
    pages.add("b.example", STATEMENTS[3])
    found = pages.settled(q1=" ".join(f"{one} [{1 if one in STATEMENTS[:3] else 2}]" for one in STATEMENTS))
    return pages, SectionPlan("The station", found)


def checked(text: str, locale: Locale = "en") -> str:
    pages, section = station()
    found = checked_section(text, section, pages.sources, locale)
    assert pages.marks(found) == []
    return found


def test_a_good_section_stays_as_it_is() -> None:
    text = f"{STATEMENTS[0]} [1] {STATEMENTS[1]} [1]\n\n- {STATEMENTS[2]} [1]\n- {STATEMENTS[3]} [2]"
    assert checked(text) == text


@pytest.mark.parametrize("text", ["", "   ", "I'm sorry, I cannot do that.", "Halden [1]", "```\nx\n```", "[1][2]"])
def test_a_text_without_a_supported_statement_is_replaced_by_the_findings(text: str) -> None:
    assert checked(text) == "\n".join(f"- {one} [{at}]" for one, at in zip(STATEMENTS, (1, 1, 1, 2), strict=True))


def test_headings_thinking_introductions_and_lists_of_sources_are_left_out() -> None:
    text = (
        "<think>The page [1] says…</think>\n```markdown\n# The station\n\nHere is the section:\n\nThe station\n---\n\n"
        f"{' '.join(f'{one} [1]' for one in STATEMENTS[:3])} {STATEMENTS[3]} [2]\n\n## Sources\n- [1] https://a.example\n```"
    )
    assert checked(text) == f"{' '.join(f'{one} [1]' for one in STATEMENTS[:3])} {STATEMENTS[3]} [2]"


def test_what_no_statement_says_does_not_get_into_the_report() -> None:
    """Invented numbers, names and footnotes, and statements without any source."""
    text = (
        f"{STATEMENTS[0]} [1][7] It also won 97 prizes in 1985 [1]. {STATEMENTS[1]} [1] It cost 412 million euros. "
        "The tidal station of Halden supplies 999,000 households [1]. The tidal station of Moss has 24 turbines [1]."
    )
    found = checked(text)
    assert found == f"{STATEMENTS[0]} [1] {STATEMENTS[1]} [1]\n\n- {STATEMENTS[2]} [1]\n- {STATEMENTS[3]} [2]"


def test_a_statement_without_a_footnote_gets_that_of_the_finding_that_says_it() -> None:
    assert checked("\n\n".join(STATEMENTS)) == "\n\n".join(
        f"{one} [{at}]" for one, at in zip(STATEMENTS, (1, 1, 1, 2), strict=True)
    )


def test_markup_links_images_and_code_of_a_model_are_left_out() -> None:
    text = (
        f"**{STATEMENTS[0][:-1]}** [1].\n\n![x](https://evil.example/x.png) <img src=x onerror=alert(1)>\n\n"
        f"<script>alert(1)</script>\n\n```\nrm -rf / [1]\n```\n\n> {STATEMENTS[1]} [1]\n\n$$x [1]$$\n\n"
        f"[{STATEMENTS[2]}](https://evil.example) [1]\n\n<!-- {STATEMENTS[3]} [2] -->"
    )
    found = checked(text)
    for hostile in ("evil", "<", "rm -rf", "$$", "**", "alert"):
        assert hostile not in found
    assert all(one in found for one in STATEMENTS)


def test_a_table_keeps_the_rows_that_hold() -> None:
    pages = Pages()
    pages.add("a.example", "| Plant | Turbines |\n|---|---|\n| Halden | 24 turbines |\n| Moss | 31 turbines |")
    found = pages.settled(q1="Halden 24 turbines [1]\n\nMoss 31 turbines [1]")
    text = (
        "| Plant | Turbines | Source |\n|---|---|---|\n| Halden | 24 turbines | [1] |\n"
        "| Moss | 77 turbines | [1] |\n| Moss | 31 turbines | [1] |"
    )
    checked_text = checked_section(text, SectionPlan("Plants", found), pages.sources, "en")
    assert checked_text == (
        "| Plant | Turbines | Source |\n| --- | --- | --- |\n"
        "| Halden | 24 turbines | [1] |\n| Moss | 31 turbines | [1] |"
    )
    assert pages.marks(checked_text) == []


@pytest.mark.parametrize("locale", LOCALES)
def test_a_request_has_the_statements_as_web_text_and_what_the_user_said(locale: Locale) -> None:
    _, section = station()
    system, message = section_request("What is it?", section, template(), locale, ("Leave out the fish.",))
    assert "<web_text>" in system
    before, _, shown = message.partition("<web_text id=")
    assert "Leave out the fish." in before
    assert "Be brief." in before
    assert all(f"- {one.text}\n" in shown for one in section.findings)
    assert text_tokens(system + message) < 1_000


def test_a_section_has_a_limited_number_of_findings_however_many_an_item_has() -> None:
    pages = Pages()
    lines = [f"Room {at} of the house in street {at * 7} has {at + 3} windows." for at in range(60)]
    pages.add("a.example", "\n\n".join(lines))
    found = pages.findings(q1="\n\n".join(f"{one} [1]" for one in lines))
    assert len(found) == 60
    plans = plan_sections(plan_of("Which rooms are there?"), found, template(), "en")
    assert len(plans) > 3
    assert {plan.heading for plan in plans} == {"Which rooms are there?"}
    assert [one for plan in plans for one in plan.findings] == list(found)
    for plan in plans:
        assert len(plan.findings) <= MAX_SECTION_FINDINGS
        assert sum(text_tokens(one.text) for one in plan.findings) <= MAX_SECTION_TOKENS


def test_sections_follow_the_template_where_items_fit_it_and_the_plan_elsewhere() -> None:
    pages = Pages()
    pages.add("a.example", " ".join(STATEMENTS))
    found = pages.findings(**{f"q{at}": f"{one} [1]" for at, one in enumerate(STATEMENTS, 1)})
    state = plan_of("What does Halden cost?", "Why?", "Halden: Key figures", "Nothing?")
    plans = plan_sections(state, found[:3], template("Key figures", "People"), "en")
    assert [plan.heading for plan in plans] == ["Key figures", "What does Halden cost?", "Why?"]
    assert [plan.findings[0].item_id for plan in plans] == ["q3", "q1", "q2"]


def test_a_section_by_code_lists_its_findings() -> None:
    _, section = station()
    assert quoted_section(SectionPlan("", ()), "en") == "Nothing was found that a page supports."
    assert quoted_section(section, "en").count("\n- ") == 3


@pytest.mark.parametrize(
    ("question", "locale"),
    [
        ("Compare PostgreSQL and MySQL", "en"),
        ("Market overview of e-bikes", "en"),
        ("So sánh Python và Go", "vi"),
        ("Tổng quan tài liệu về giấc ngủ", "vi"),
        ("比较Python和Go", "zh"),
    ],
)
def test_the_items_of_a_plan_by_rule_belong_under_the_headings_that_asked_for_them(
    question: str, locale: Locale
) -> None:
    chosen = choose_template(question)
    planned = plan_by_rule(question, max_items=12, template=chosen, locale=locale)
    found = {chosen.heading_of(one, locale) for one in planned}
    assert len(found.intersection(chosen.headings(locale))) >= 4
    assert chosen.heading_of("How tall is the Eiffel tower?", locale) is None


BEFORE = (
    "",
    "- ",
    "1. ",
    "> ",
    "## ",
    "**",
    "| ",
    "\t",
    "- [ ] ",
    "```\n",
    "$$",
    "<!-- ",
    "[1]: ",
    "Sources:\n- ",
    "—  ",
)
AFTER = (
    "",
    " [1]",
    " [1][2]",
    "[9]",
    " [1, 9]",
    "【1】",
    " [1.2]",
    "**",
    " |",
    "\n```",
    "$$",
    " [1](http://evil.example)",
)
STATEMENTS_BY_LOCALE: dict[Locale, tuple[str, ...]] = {
    "en": STATEMENTS,
    "vi": (
        "Nhà máy thủy triều Halden có 24 tua-bin.",
        "Nhà máy thủy triều Halden được khánh thành ngày 21 tháng 9 năm 2014.",
        "Nhà máy thủy triều Halden cung cấp điện cho 128.000 hộ gia đình.",
    ),
    "zh": ("哈尔登潮汐电站有24台机组。", "哈尔登潮汐电站于2014年9月21日启用。", "哈尔登潮汐电站为12.8万户家庭供电。"),
}
LIES: dict[Locale, tuple[str, ...]] = {
    "en": (
        "It won 97 prizes in 1985",
        "The tidal station of Halden has 97 turbines",
        "It has 24 turbines and 97 gates",
    ),
    "vi": ("Nó đã giành 97 giải thưởng năm 1985", "Nhà máy thủy triều Halden có 97 tua-bin"),
    "zh": ("它在1985年获得了97个奖项", "哈尔登潮汐电站有97台机组"),
}


@pytest.mark.parametrize("locale", LOCALES)
def test_whatever_a_model_writes_no_invented_number_and_no_unknown_footnote_gets_through(locale: Locale) -> None:
    statements, lies = STATEMENTS_BY_LOCALE[locale], LIES[locale]
    pages = Pages()
    pages.add("a.example", " ".join(statements))
    pages.add("b.example", statements[0])
    section = SectionPlan("", pages.settled(q1=" ".join(f"{one} [1]" for one in statements)))
    assert len(section.findings) == len(statements)
    choose = random.Random(7)
    for _ in range(150):
        parts = (
            f"{choose.choice(BEFORE)}{choose.choice((*statements, *lies))}{choose.choice(AFTER)}"
            for _ in range(choose.randint(1, 8))
        )
        text = choose.choice(("\n", "\n\n", " ")).join(parts)
        found = checked_section(text, section, pages.sources, locale)
        assert "97" not in found, text
        assert "[9]" not in found, text
        assert "evil" not in found, text
        assert [verdict for verdict, _ in pages.marks(found) if verdict != "partial"] == [], text
