"""Sessions are found by titles and by messages, in any spelling."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from footnote.protocol.messages import ToolCall
from footnote.protocol.sessions import SessionChanges
from footnote.sessions import store
from footnote.sessions.store import Sessions, excerpt
from footnote.text.search_terms import parse_query_words, terms_of
from sessions.turn_writer import TurnWriter, answer, tool_calls, tool_result

SAID = {
    "battle": ("Chiến dịch Điện Biên Phủ kết thúc khi nào?", "Ngày 7 tháng 5 năm 1954, theo hồ sơ Hoà Bình."),
    "weather": ("今天上海的天气怎么样？", "上海今天下雨，气温20度。Python编程也可以。"),
    "kafka": ("How does Kafka rebalance?", "The state-of-the-art is KIP-848; see `group.protocol` in v3.7.0."),
    "coffee": ("Où est le CAFÉ Müller?", "In Straße 5, near the ﬁrst bridge. It's Ann's."),
    "taiwan": ("臺灣的首都是哪裡？", "台北。"),
}


async def search_ids(sessions: Sessions, query: str) -> set[str]:
    page = await sessions.list("ann", query=query)
    return {one.title for one in page.sessions}


@pytest.fixture
async def filled(sessions: Sessions, turn_writer: TurnWriter) -> Sessions:
    for name, (question, reply) in SAID.items():
        session_id = await turn_writer.session()
        await turn_writer.turn(session_id, question, answer(reply))
        await sessions.change("ann", session_id, SessionChanges(title=f"About {name}"))
    theirs = await turn_writer.session("Where is the Kafka café in 上海?", user_id="ben")
    assert theirs
    return sessions


FINDS = [
    # With accents or without, in any case and width, composed or decomposed.
    ("Điện Biên Phủ", {"battle"}),
    ("dien bien phu", {"battle"}),
    ("ĐIỆN BIÊN", {"battle"}),
    ("Đie\u0302\u0323n", {"battle"}),
    ("hòa bình", {"battle"}),
    ("hoà binh", {"battle"}),
    ("cafe muller", {"coffee"}),
    ("café", {"coffee"}),
    ("ＣＡＦＥ", {"coffee"}),
    ("strasse", {"coffee"}),
    ("first", {"coffee"}),
    # Chinese: one character, two, more, with and without spaces, traditional and simplified.
    ("天", {"weather"}),
    ("气", {"weather"}),
    ("度", {"weather"}),
    ("上海", {"weather"}),
    ("海上", set()),
    ("上海的天气", {"weather"}),
    ("天气 上海", {"weather"}),
    ("上海天气", set()),
    ("Python编程", {"weather"}),
    ("编程python", set()),
    ("台湾", {"taiwan"}),
    ("臺灣", {"taiwan"}),
    ("首都", {"taiwan"}),
    # Every word must match, the last one as a prefix, in any part of the session.
    ("kafka protocol", {"kafka"}),
    ("kafka proto", {"kafka"}),
    ("kaf proto", set()),
    ("kafka café", set()),
    ("about kaf", {"kafka"}),
    ("about", set(SAID)),
    ("battle 1954", {"battle"}),
    ("state-of-the-art", {"kafka"}),
    ("art", {"kafka"}),
    ("the state", {"kafka"}),
    ("KIP-848", {"kafka"}),
    ("kip848", {"kafka"}),
    ("848", {"kafka"}),
    ("3.7", {"kafka"}),
    ("group.protocol", {"kafka"}),
    ("ann's", {"coffee"}),
    ("it's ann", {"coffee"}),
    # Operators of the query language are plain text.
    ('"kafka"', {"kafka"}),
    ("kafka*", {"kafka"}),
    ("kafka AND protocol", set()),
    ("kafka OR coffee", set()),
    ("NOT kafka", set()),
    ("text:kafka", set()),
    ("-kafka", {"kafka"}),
    ("(kafka", {"kafka"}),
    ("kafka ?!", {"kafka"}),
    ("kafka ' --", {"kafka"}),
    ("???", set()),
    ("🙂", set()),
]


async def test_a_query_finds(filled: Sessions, subtests: pytest.Subtests) -> None:
    for query, names in FINDS:
        with subtests.test(query=query):
            assert await search_ids(filled, query) == {f"About {name}" for name in names}


async def test_signs_alone_are_looked_for_in_titles(sessions: Sessions, turn_writer: TurnWriter) -> None:
    for title in ("Party 🎉", "🎉 and 🎂", "❤ Paris", "What???", "Nothing"):
        await turn_writer.session(title)
    await turn_writer.session("Theirs 🎉", user_id="ben")
    assert await search_ids(sessions, "🎉") == {"Party 🎉", "🎉 and 🎂"}
    assert await search_ids(sessions, "🎂 🎉") == {"🎉 and 🎂"}
    assert await search_ids(sessions, "❤\ufe0f") == {"❤ Paris"}
    assert await search_ids(sessions, "???") == {"What???"}
    assert await search_ids(sessions, "\ufe0f🙂") == set()


async def test_sessions_that_are_found_by_signs_come_in_pages(
    sessions: Sessions, turn_writer: TurnWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_TITLE_BATCH", 2)
    for number in range(9):
        await turn_writer.session(f"{number} {'🎉' if number % 2 else '🙂'}")
    seen: list[str] = []
    cursor = None
    for _ in range(4):
        page = await sessions.list("ann", query="🎉", limit=1, cursor=cursor)
        seen += [one.title for one in page.sessions]
        cursor = page.next_cursor
    assert seen == ["7 🎉", "5 🎉", "3 🎉", "1 🎉"]
    assert cursor is None


async def test_an_empty_query_is_none(filled: Sessions) -> None:
    for query in ("", "  \n"):
        page = await filled.list("ann", query=query)
        assert len(page.sessions) == len(SAID)
        assert all(one.excerpt is None for one in page.sessions)


HOSTILE = [
    '"',
    '""',
    '" OR "',
    "*",
    "^a",
    "a NEAR(b)",
    "NEAR(a b, 10)",
    "{text} : a",
    "text : a",
    "a + b",
    "a AND",
    "AND OR NOT",
    ") (",
    "'; DROP TABLE session; --",
    "\0",
    "a\0b",
    "\ud800",
    "a\ud800b",
    "§",
    "§0123456789abcdef",
    "%_",
    "\\",
    "x" * 100_000,
    "x " * 50_000,
    "中" * 50_000,
    "\u0300" * 1000,
    "a\u0300" * 1000,
]


async def test_a_hostile_query_is_no_error(filled: Sessions, subtests: pytest.Subtests) -> None:
    for query in HOSTILE:
        with subtests.test(query=ascii(query[:40]), length=len(query)):
            await filled.list("ann", query=query)


@given(query=st.text(max_size=40))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
async def test_any_query_is_no_error(filled: Sessions, query: str) -> None:
    await filled.list("ann", query=query)


@given(
    text=st.text(st.sampled_from("aáđĐ中文ｱA1 .-'\n한ไ"), min_size=1, max_size=30),
    start=st.integers(0, 29),
    size=st.integers(1, 8),
)
def test_a_piece_of_a_text_stands_in_it(text: str, start: int, size: int) -> None:
    """A query copied from a message finds it, if it begins at a word."""
    before, piece = text[:start], text[start : start + size]
    if before and before[-1].isalnum() and not ("\u4e00" <= piece[:1] <= "\u9fff"):
        return
    line = f" {terms_of(text)}"
    for word in parse_query_words(piece):
        assert f" {' '.join(word.terms)}" in line


async def test_what_tools_brought_is_not_searched(sessions: Sessions, turn_writer: TurnWriter) -> None:
    session_id = await turn_writer.session()
    call = ToolCall("c1", "web_search", {"query": "marsupials"})
    await turn_writer.turn(
        session_id, "What hops?", tool_calls(call), tool_result("c1", "Kangaroos hop."), answer("Many things.")
    )
    assert await search_ids(sessions, "kangaroos") == set()
    assert await search_ids(sessions, "many things hops") == {"What hops?"}


async def test_what_readers_of_items_of_a_plan_wrote_is_in_no_excerpt(
    sessions: Sessions, turn_writer: TurnWriter
) -> None:
    session_id = await turn_writer.session()
    of_item = replace(answer("Kangaroos in the statement of a reader."), parent="q1")
    await turn_writer.turn(session_id, "What hops?", of_item, answer("Kangaroos, says the report."))

    [found] = (await sessions.list("ann", query="kangaroos")).sessions
    assert found.excerpt == "Kangaroos, says the report."


async def test_results_come_newest_first_in_pages(sessions: Sessions, turn_writer: TurnWriter) -> None:
    for number in range(5):
        await turn_writer.session(f"Kafka {number}?", "Something else?")
        await turn_writer.session(f"Other {number}?")
    first = await sessions.list("ann", query="kafka", limit=2)
    assert [one.title for one in first.sessions] == ["Kafka 4?", "Kafka 3?"]
    second = await sessions.list("ann", query="kafka", limit=3, cursor=first.next_cursor)
    assert [one.title for one in second.sessions] == ["Kafka 2?", "Kafka 1?", "Kafka 0?"]
    assert second.next_cursor is None


async def test_a_new_title_takes_the_place_of_the_old_one(sessions: Sessions, turn_writer: TurnWriter) -> None:
    session_id = await turn_writer.session(title="Marsupials")
    await sessions.change("ann", session_id, SessionChanges(title="Monotremes"))
    assert await search_ids(sessions, "marsupials") == set()
    assert await search_ids(sessions, "monotremes") == {"Monotremes"}


async def test_an_excerpt_of_an_answer_has_no_signs_of_markdown(sessions: Sessions, turn_writer: TurnWriter) -> None:
    session_id = await turn_writer.session()
    answer_text = (
        "All of it is lost [1].\n\n## Who recovers **lithium**?\n\n- [Li-Cycle](https://a.org) does, in `NY` [2]."
    )
    await turn_writer.turn(session_id, "What *is* # gone?", answer(answer_text))
    (one,) = (await sessions.list("ann", query="lithium")).sessions
    assert one.excerpt == "All of it is lost. Who recovers lithium? Li-Cycle does, in NY."
    (one,) = (await sessions.list("ann", query="gone")).sessions
    assert one.excerpt == "What *is* # gone?", "a question is shown as it was written"


async def test_an_excerpt_is_what_was_said_around_the_first_match(sessions: Sessions, turn_writer: TurnWriter) -> None:
    session_id = await turn_writer.session()
    long = "Before it there are many words. " * 20
    await turn_writer.turn(session_id, "Marsupials?", answer(f"{long}\n\nA Kangaroo\nhops {'and hops ' * 50}"))
    [one] = (await sessions.list("ann", query="kangaroo")).sessions
    assert one.excerpt is not None
    assert one.excerpt.startswith("…")
    assert one.excerpt.endswith(("hops…", "and…"))
    assert " A Kangaroo hops and hops " in one.excerpt
    assert 120 <= len(one.excerpt) <= 164
    question_id, answer_id = [message.id for message in (await sessions.history("ann", session_id)).messages]
    assert one.message_id == answer_id
    [one] = (await sessions.list("ann", query="marsup")).sessions
    assert (one.excerpt, one.message_id) == ("Marsupials?", question_id)
    await sessions.change("ann", session_id, SessionChanges(title="On monotremes"))
    [one] = (await sessions.list("ann", query="monotremes")).sessions
    assert (one.excerpt, one.message_id) == ("On monotremes", None)


def test_an_excerpt_of_a_text_without_spaces() -> None:
    text = "甲" * 300 + "上海" + "乙" * 300
    shown = excerpt(text, parse_query_words("上海"))
    assert shown == f"…{'甲' * 50}上海{'乙' * 108}…"
    assert excerpt("short", parse_query_words("none")) == "short"
    assert excerpt("", parse_query_words("none")) == ""
