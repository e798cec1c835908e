"""The templates of reports: their files, those of an operator, and the one that fits a question."""

import json
import sys
import zipfile
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.conftest import config_problems, home, load_config
from footnote.protocol.errors import UsageError
from footnote.protocol.tools import LOCALES
from footnote.research.templates import (
    BUILT_IN,
    TOPIC,
    MalformedTemplate,
    builtin_templates,
    choose_template,
    parse_template,
    template_of,
)
from server.harness import open_server

__all__ = ["config_problems", "home", "load_config"]
ROOT = Path(__file__).parents[2]

VENDOR_CHECK = """# en: Vendor check
# vi: Kiểm tra nhà cung cấp

Name every figure
with its year.

## Money

Only audited figures.

- en: Revenue of {topic}
- vi: Doanh thu của {topic}
- Debts of {topic}

## en: Law
## zh: 法律
"""


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_template_is_complete_in_every_language(name: str) -> None:
    template = template_of(name)
    assert template.instructions
    for locale in LOCALES:
        assert locale in template.titles
        assert all(locale in section.heading for section in template.sections)
        questions = template.plan_questions(locale)
        assert len(questions) >= 4
        assert all(TOPIC in question for question in questions)
        assert len(set(questions)) == len(questions)
    assert len({template.title(locale) for locale in LOCALES}) == len(LOCALES)
    assert len(template.prompt("en")) < 1_200, "small models read it, too"


def test_a_file_has_titles_instructions_sections_and_questions() -> None:
    template = parse_template("vendor-check", VENDOR_CHECK)
    assert (template.title("vi"), template.title("zh")) == ("Kiểm tra nhà cung cấp", "Vendor check")
    assert template.instructions == "Name every figure with its year."
    assert template.headings("en") == ("Money", "Law")
    assert template.headings("zh") == ("Money", "法律")
    assert template.plan_questions("vi") == ("Doanh thu của {topic}", "Debts of {topic}", "{topic}: Law")
    assert template.prompt("en").splitlines()[1:] == ["- Section “Money”: Only audited figures.", "- Section “Law”"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("Just text.", 1),
        ("## A section first", 1),
        ("# One\n\n# Two", 3),
        ("# en: One\n# en: Two", 2),
        ("# Title\n" + "## Part\n\nText.\n" * 13, 38),
        (f"# {'long ' * 60}", 1),
        (f"# Title\n\n## Part\n{'word ' * 2_000}", 3),
    ],
)
def test_what_is_no_template_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(MalformedTemplate) as refused:
        parse_template("x", text)
    assert refused.value.line == line


@given(st.text(alphabet="#- \nen:vi{topic}x", max_size=300))
def test_any_text_is_a_template_or_refused(text: str) -> None:
    try:
        template = parse_template("x", text)
    except MalformedTemplate:
        return
    for locale in LOCALES:
        assert template.title(locale)
        assert all(template.headings(locale))


@pytest.mark.parametrize("name", ["fact-sheet", "fact_sheet", "Fact sheet", " FACT  SHEET "])
def test_a_name_can_be_written_in_several_ways(name: str) -> None:
    assert template_of(name).name == "fact-sheet"


def test_an_unknown_name_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(UsageError) as refused:
        template_of("novel")
    assert refused.value.code == "template_unknown"
    assert refused.value.params == {"name": "novel", "templates": ", ".join(BUILT_IN)}


# The operator's own ---------------------------------------------------------------------------------------------------


def _put(home: Path, **texts: str) -> None:
    (home / "templates").mkdir()
    for name, text in texts.items():
        (home / "templates" / f"{name}.md").write_text(text, encoding="utf-8")


def test_an_operator_adds_and_replaces_templates(home: Path, load_config: Any) -> None:
    _put(home, Vendor_check=VENDOR_CHECK, comparison="# Our comparison\n")
    (home / "templates" / "notes.txt").write_text("no template")
    agents = {"agents": [{"id": "a", "research": {"template": "vendor_check"}}]}
    templates = load_config(agents=agents).templates
    assert tuple(templates) == (*BUILT_IN, "vendor-check")
    assert templates["comparison"].title("zh") == "Our comparison"
    assert choose_template("Compare tea and coffee", templates).title("en") == "Our comparison"
    assert template_of("Vendor Check", templates).headings("en") == ("Money", "Law")
    assert tuple(builtin_templates()) == BUILT_IN, "those of another home folder stay as they are"


def test_every_problem_is_found_at_start(home: Path, config_problems: Any) -> None:
    _put(home, bad="Just text.", größe="# Size")
    (home / "templates" / "binary.md").write_bytes(b"# \xff\xfe")
    (home / "templates" / "long.md").write_text("# Long\n" + "x" * 40_000)
    (home / "templates" / "folder.md").mkdir()
    found = config_problems(agents={"agents": [{"id": "a", "research": {"template": "novel"}}]})
    listed = ", ".join(BUILT_IN)
    assert found == [
        "templates/bad.md, line 1: a template begins with its title, such as “# Vendor check”.",
        "templates/binary.md: a template is a text in UTF-8.",
        "templates/folder.md: it cannot be read: Is a directory.",
        "templates/größe.md: the name of a template has letters from a to z, digits and hyphens.",
        "templates/long.md: a template has at most 32,768 bytes.",
        f'agents.json, line 1, agents[0].research.template: there is no template "novel"; there are {listed}.',
    ]


async def test_the_templates_are_listed_in_the_language_of_the_request(tmp_path: Path) -> None:
    folder = tmp_path / ".footnote"
    folder.mkdir()
    _put(folder, house="# House style\n")
    async with open_server(tmp_path) as server:
        found = {
            language: (await server.local.request("GET", "/v2/research/templates", accept_language=language)).json
            for language in ("en", "vi", "zh-CN", "de")
        }
    assert found["vi"]["templates"][1] == {"name": "comparison", "title": "So sánh"}
    assert found["zh-CN"]["templates"][1] == {"name": "comparison", "title": "比较"}
    assert found["de"] == found["en"]
    assert [one["name"] for one in found["en"]["templates"]] == [*BUILT_IN, "house"]


@pytest.mark.slow
def test_the_wheel_has_the_templates(tmp_path: Path) -> None:
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    name = run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()[-1]
    files = zipfile.ZipFile(tmp_path / name).namelist()
    assert [f"footnote/research/templates/{one}.md" in files for one in BUILT_IN] == [True] * len(BUILT_IN)


# The choice -----------------------------------------------------------------------------------------------------------

CHOICES = {
    "comparison": (
        "Compare Postgres and MySQL",
        "Rust vs Go",
        "What are the differences between green and black tea?",
        "Which is better for a startup: Rust or Go?",
        "Is Rust better than Go?",
        "How do heat pumps differ from gas heating?",
        "tea or coffee: which is healthier?",
        "So sánh iPhone và Samsung",
        "so sanh xe dien va xe xang",
        "Trà xanh và trà đen khác nhau thế nào?",
        "Nên mua xe điện hay xe xăng?",
        "比较北京和上海的房价",
        "iPhone和三星有什么区别",
        "咖啡还是茶更健康",
        "新旧个人所得税法对比",
    ),
    "literature-review": (
        "Literature review on sleep and memory",
        "A systematic review of mask mandates",
        "What does the research say about intermittent fasting?",
        "Review of the literature that compares CBT and drugs",
        "Tổng quan tài liệu về giấc ngủ",
        "tong quan nghien cuu ve tre tu ky",
        "睡眠与记忆的文献综述",
        "自闭症研究现状",
    ),
    "market-overview": (
        "Market overview of electric bikes in Europe",
        "How large is the market size of solar panels?",
        "An overview of the German heat pump market",
        "Tổng quan thị trường xe điện Việt Nam",
        "Phân tích ngành cà phê",
        "新能源汽车市场分析",
        "中国奶茶行业现状",
    ),
    "fact-sheet": (
        "Fact sheet on the Mekong",
        "Key facts about Iceland",
        "Bảng thông tin về sông Mê Kông",
        "Thông tin cơ bản về Iceland",
        "湄公河基本资料",
    ),
    "general": (
        "Why did the Roman Empire fall?",
        "How do vaccines work?",
        "Is the market open today?",
        "Solar power in Vietnam",
        "Năng lượng mặt trời ở Việt Nam",
        "哪个城市的房价比较高？",
        "量子计算的应用",
        "",
        "?" * 5_000,
    ),
}


@pytest.mark.parametrize(("name", "question"), [(name, one) for name, ones in CHOICES.items() for one in ones])
def test_a_question_gets_the_template_that_fits(name: str, question: str) -> None:
    assert choose_template(question).name == name


def test_the_file_of_an_agent_is_json_and_its_template_any_way_of_writing_it(load_config: Any) -> None:
    written = json.dumps({"agents": [{"id": "a", "research": {"template": "Literature review"}}]})
    assert load_config(agents=written).agents[0].research.template == "Literature review"
