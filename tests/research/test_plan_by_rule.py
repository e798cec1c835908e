"""The plan of a research run without a model, in three languages."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footnote.protocol.plans import MAX_ITEM_LENGTH
from footnote.protocol.tools import Locale
from footnote.research.plan_rules import plan_by_rule
from footnote.research.templates import BUILT_IN, choose_template, template_of


def plan(question: str, *, max_items: int = 8, locale: Locale = "en", template: str = "") -> list[str]:
    chosen = template_of(template) if template else choose_template(question)
    return list(plan_by_rule(question, max_items=max_items, template=chosen, locale=locale))


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        (
            "Compare Postgres and MySQL for analytics in terms of speed and cost",
            ["Postgres: speed and cost for analytics", "MySQL: speed and cost for analytics",
             "Postgres vs MySQL: speed for analytics", "Postgres vs MySQL: cost for analytics"],
        ),
        (
            "Docker vs Podman",
            ["Advantages and disadvantages of Docker", "Advantages and disadvantages of Podman", "Docker vs Podman",
             "Overview of Docker and Podman", "Differences between Docker and Podman"],
        ),
        (
            "Which is better for a startup: Rust or Go?",
            ["Advantages and disadvantages of Rust for a startup", "Advantages and disadvantages of Go for a startup",
             "Rust vs Go for a startup"],
        ),
        ("tea or coffee: which is healthier?", ["tea: healthier", "coffee: healthier", "tea vs coffee: healthier"]),
        (
            "Compare these databases for a startup:\n- Postgres\n- MySQL\n- DynamoDB",
            ["Advantages and disadvantages of Postgres for a startup",
             "Advantages and disadvantages of MySQL for a startup",
             "Advantages and disadvantages of DynamoDB for a startup",
             "Postgres vs MySQL vs DynamoDB for a startup"],
        ),
        (
            "So sánh iPhone 16 và Galaxy S25 về pin và camera",
            ["iPhone 16: pin và camera", "Galaxy S25: pin và camera", "iPhone 16 vs Galaxy S25: pin",
             "iPhone 16 vs Galaxy S25: camera", "Tổng quan về iPhone 16 và Galaxy S25"],
        ),
        (
            "Nên mua xe điện hay xe xăng?",
            ["Ưu điểm và nhược điểm của xe điện", "Ưu điểm và nhược điểm của xe xăng", "xe điện vs xe xăng"],
        ),
        (
            "Compare Martin Luther and Genghis Khan: origins, death and influence",
            ["Martin Luther: origins, death and influence", "Genghis Khan: origins, death and influence",
             "Martin Luther vs Genghis Khan: origins"],
        ),
        ("比较特斯拉和比亚迪：销量、利润和技术", ["特斯拉的销量、利润和技术", "比亚迪的销量、利润和技术"]),
        (
            "Oxygen: who discovered it, how is it produced, and what is it used for?",
            ["Oxygen: who discovered it?", "Oxygen: how is it produced?", "Oxygen: what is it used for?"],
        ),
        ("氧气：谁发现的，有什么用途？", ["氧气：谁发现的？", "氧气：有什么用途？"]),
        ("Ubuntu 24.04: what is new?", ["Ubuntu 24.04: what is new?", "Overview of Ubuntu 24.04"]),
        (
            "What caused the Black Death, how did it spread, and how many people died?",
            ["What caused the Black Death?", "the Black Death: how did it spread?",
             "the Black Death: how many people died?"],
        ),
        ("比较北京和上海的房价", ["北京的房价", "上海的房价", "北京和上海对比：房价", "北京和上海的房价概述"]),
        (
            "Compare the health systems of Germany and France by cost",
            ["health systems of Germany: cost", "health systems of France: cost"],
        ),
        ("iPhone和三星有什么区别", ["iPhone的优点和缺点", "三星的优点和缺点", "iPhone和三星对比"]),
    ],
)  # fmt: skip
def test_a_comparison_looks_up_each_side_and_then_both(question: str, begins: list[str]) -> None:
    assert plan(question)[: len(begins)] == begins


@pytest.mark.parametrize(
    ("question", "questions"),
    [
        (
            "What are the causes, symptoms and treatments of dengue?",
            ["causes of dengue", "symptoms of dengue", "treatments of dengue"],
        ),
        ("What is RAG and how does it work?", ["What is RAG?", "RAG: how does it work?"]),
        (
            "Tell me:\n1. What is a vector database?\n2. Who sells them?\n3. What do they cost?",
            ["What is a vector database?", "vector database: Who sells them?", "vector database: What do they cost?"],
        ),
        (
            "Ưu điểm của điện mặt trời là gì? Nhược điểm là gì?",
            ["Ưu điểm của điện mặt trời là gì?", "Ưu điểm của điện mặt trời: Nhược điểm là gì?"],
        ),
        (
            (
                "I'm writing a paper on microplastics in drinking water. What are the sources, how harmful are they, "
                "and who measures them?"
            ),
            [
                "microplastics in drinking water: What are the sources?",
                "microplastics in drinking water: how harmful are they?",
                "microplastics in drinking water: who measures them?",
            ],
        ),
        (
            "请帮我研究一下中国光伏产业的现状、主要企业和未来趋势",
            ["中国光伏产业的现状", "中国光伏产业的主要企业", "中国光伏产业的未来趋势"],
        ),
        ("新冠疫苗的有效性、安全性和副作用", ["新冠疫苗的有效性", "新冠疫苗的安全性", "新冠疫苗的副作用"]),
        ("什么是量子计算，它有哪些应用？", ["什么是量子计算？", "量子计算：它有哪些应用？"]),
    ],
)
def test_what_the_user_lists_is_what_is_looked_up(question: str, questions: list[str]) -> None:
    assert plan(question) == questions


@pytest.mark.parametrize(
    ("question", "questions"),
    [
        (
            "Write a report about solar power in Vietnam",
            ["solar power in Vietnam", "Overview of solar power in Vietnam", "History of solar power in Vietnam"],
        ),
        (
            "What is known about the bridge of Kehl?",
            ["What is known about the bridge of Kehl?", "Overview of bridge of Kehl"],
        ),
        ("Điện mặt trời ở Việt Nam", ["Điện mặt trời ở Việt Nam", "Tổng quan về Điện mặt trời ở Việt Nam"]),
        ("请写一份关于量子计算的报告", ["量子计算", "量子计算概述", "量子计算的历史"]),
        (
            "Literature review on sleep and memory",
            ["sleep and memory", "Definition and background of sleep and memory"],
        ),
        (
            "tổng quan thị trường xe điện Việt Nam",
            ["xe điện Việt Nam", "Quy mô và tăng trưởng thị trường xe điện Việt Nam"],
        ),
        (
            "Why did the Roman Empire fall?",
            ["Why did the Roman Empire fall?", "Why did the Roman Empire fall: history and background"],
        ),
        ("Wie funktioniert Photosynthese?", ["Wie funktioniert Photosynthese"]),
    ],
)
def test_a_single_subject_is_looked_up_by_what_the_template_asks(question: str, questions: list[str]) -> None:
    found = plan(question)
    assert found[: len(questions)] == questions
    assert 3 <= len(found) <= 8


def test_names_alone_are_asked_about_in_the_language_of_the_user() -> None:
    assert plan("Docker vs Podman", locale="vi")[0] == "Ưu điểm và nhược điểm của Docker"
    assert plan("What is the capital of Vietnam?", locale="vi")[1].startswith("Overview of"), (
        "the question has a language"
    )


@pytest.mark.parametrize(
    "question", ["", " ", "?", "😀😀", "hello", "x" * 5_000, "\n- \n- \n", "1234", "https://a.b/c"]
)
@pytest.mark.parametrize("template", BUILT_IN)
def test_there_is_always_something_to_look_up(question: str, template: str) -> None:
    assert plan(question, template=template, max_items=1)


@given(
    st.text(max_size=300) | st.text(alphabet="Aab ,.?:-\nvs và和的比较、 or", max_size=300),
    st.integers(1, 20),
    st.sampled_from(BUILT_IN),
    st.sampled_from(["en", "vi", "zh"]),
)
def test_any_text_has_a_plan(question: str, max_items: int, template: str, locale: Locale) -> None:
    found = plan(question, max_items=max_items, template=template, locale=locale)
    assert 1 <= len(found) <= max_items
    assert len({one.casefold() for one in found}) == len(found)
    assert all(one == " ".join(one.split()) and 0 < len(one) <= MAX_ITEM_LENGTH for one in found)


@pytest.mark.parametrize(
    "piece", ["a vs b ", "and ", "和", "的", "比较", ", ", "\n- a", "what is ", "better than ", "? ", "a", " ", "é"]
)
def test_the_largest_question_is_planned_in_a_moment(piece: str) -> None:
    question = piece * (1_000_000 // len(piece))
    began = time.thread_time()
    plan(question)
    assert time.thread_time() - began < 2, "an expression that backtracks takes ten seconds"
