"""Verdicts are checked again as far as their sources are in the bundle."""

import json

import msgspec
from msgspec.structs import replace

from footnote.bundles.derived import BundledMessage
from footnote.bundles.recheck import RecheckResult, recheck
from footnote.bundles.schema import RunRecord
from footnote.cancel import CancelScope
from footnote.evidence.second_look import SecondLook
from footnote.evidence.sources import Sources
from footnote.evidence.verdict import check_citations
from footnote.models.scripted import ScriptedModel
from footnote.models.scripted import text as said
from footnote.protocol.messages import AssistantMessage, Text, ToolResultMessage
from footnote.protocol.sources import Citation, Snapshot, Source
from footnote.sessions.turns import RunEnding, RunRequest

OLD = Snapshot(url="https://a.example/tower", text="The tower is 300 metres high. It was built in 1889.")
NEW = replace(OLD, text="The tower is 330 metres high. It was built in 1889.")
OTHER = Snapshot(url="https://b.example/river", text="The river is 777 kilometres long.")
TEXT = "The tower is 300 metres high [1]. The river is 777 kilometres long [2]. It was built in 1889 [1]."
RUN = RunRecord(
    id="run_" + "0" * 28,
    question_id="msg_" + "0" * 28,
    message_id="msg_" + "1" * 28,
    state="done",
    asked=RunRequest("researcher", "footnote/test", "en"),
    ending=RunEnding(stop_reason="stop"),
    created_at=0,
    ended_at=0,
    events=False,
    digest=None,
    messages=(),
)


def search_result(call_id: str, number: int, snapshot: Snapshot) -> ToolResultMessage:
    source = Source(
        url=snapshot.url, title="", snippet="", domain="", number=number, status="read", snapshot_id=snapshot.id
    )
    artifact = msgspec.json.decode(msgspec.json.encode({"query": "q", "sources": [source]}))
    return ToolResultMessage(call_id, "web_search", (Text("…"),), artifact=artifact)


def spoken_messages(*messages: AssistantMessage | ToolResultMessage) -> list[BundledMessage]:
    return [BundledMessage(RUN, RUN.message_id if isinstance(one, AssistantMessage) else None, one) for one in messages]


def assistant_message(text: Text) -> AssistantMessage:
    return AssistantMessage((text,), "stop", "footnote/test")


def snapshots_by_id(*snapshots: Snapshot) -> dict[str, Snapshot]:
    return {snapshot.id: snapshot for snapshot in snapshots}


def test_what_holds_is_counted() -> None:
    results = (search_result("c1", 1, OLD), search_result("c2", 2, OTHER))
    texts = snapshots_by_id(OLD, OTHER)
    answer = assistant_message(Text(TEXT, check_citations(TEXT, Sources.from_messages(results, texts))))
    assert recheck(spoken_messages(*results, answer), texts, frozenset()) == RecheckResult(3, 0, (), quotations=3)


def test_only_what_rests_on_a_missing_text_is_not_judged() -> None:
    results = (search_result("c1", 1, OLD), search_result("c2", 2, OTHER))
    citations = check_citations(TEXT, Sources.from_messages(results, snapshots_by_id(OLD, OTHER)))
    assert [one.verdict for one in citations] == ["supported"] * 3
    whole = recheck(
        spoken_messages(*results, assistant_message(Text(TEXT, citations))), snapshots_by_id(OLD), frozenset({OTHER.id})
    )
    assert whole == RecheckResult(2, 1, (), quotations=2)
    lie = (replace(citations[0], verdict="partial"), *citations[1:])
    result = recheck(
        spoken_messages(*results, assistant_message(Text(TEXT, lie))), snapshots_by_id(OLD), frozenset({OTHER.id})
    )
    assert (result.checked, result.unchecked) == (2, 1)
    [wrong] = result.otherwise
    assert "its verdict is 'partial', and judged again it is 'supported'" in wrong


def test_two_readings_of_a_page_may_have_come_in_either_order() -> None:
    """Parallel searches store sources as they finish, but their results in the order of the calls."""
    text = "It was built in 1889 [1]."
    texts = snapshots_by_id(OLD, NEW)
    results = (search_result("c1", 1, OLD), search_result("c2", 1, NEW))
    as_it_came = Sources.from_messages((results[1], results[0]), texts)
    citations = check_citations(text, as_it_came)
    assert citations != check_citations(text, Sources.from_messages(results, texts))
    assert recheck(
        spoken_messages(*results, assistant_message(Text(text, citations))), texts, frozenset()
    ) == RecheckResult(1, 0, (), (), quotations=1)
    elsewhere = (replace(citations[0], quote=OLD.text[:29], quote_start=0, quote_end=29),)
    [wrong] = recheck(spoken_messages(*results, assistant_message(Text(text, elsewhere))), texts, frozenset()).otherwise
    assert "its verdict cites another passage" in wrong


def test_a_text_that_was_never_read_there_proves_nothing() -> None:
    results = (search_result("c1", 1, OLD), search_result("c2", 2, OTHER))
    text = "The river is 777 kilometres long [1]."
    honest = check_citations(text, Sources.from_messages(results, snapshots_by_id(OLD, OTHER)))
    assert [one.verdict for one in honest] == ["unsupported"]
    lie = (
        replace(
            honest[0],
            verdict="supported",
            quote=OTHER.text,
            quote_start=0,
            quote_end=len(OTHER.text),
            snapshot_id=OTHER.id,
        ),
    )
    [wrong] = recheck(
        spoken_messages(*results, assistant_message(Text(text, lie))), snapshots_by_id(OLD, OTHER), frozenset()
    ).otherwise
    assert "judged again it is 'unsupported'" in wrong


async def test_a_verdict_by_a_model_holds_if_its_quotation_can_prove_it() -> None:
    results = (search_result("c1", 1, OLD), search_result("c2", 2, OTHER))
    texts = snapshots_by_id(OLD, OTHER)
    sources = Sources.from_messages(results, texts)
    text = "Tháp được xây dựng vào năm 1889 [1]. Tháp cao 330 mét [1]. Con sông dài 777 km [2]."
    quotations = ["It was built in 1889.", "The tower is 300 metres high.", "The river is 777 kilometres long."]
    entries = [{"id": at, "verdict": "supports", "quotation": quotation} for at, quotation in enumerate(quotations, 1)]
    look = SecondLook(ScriptedModel([[said(json.dumps(entries))]]))
    reviewed = await look.review(text, check_citations(text, sources), sources, CancelScope())
    assert [(one.verdict, one.by) for one in reviewed.citations] == [
        ("supported", "model"),
        ("partial", "model"),
        ("supported", "model"),
    ]

    def judged_otherwise(citations: tuple[Citation, ...]) -> tuple[str, ...]:
        return recheck(
            spoken_messages(*results, assistant_message(Text(text, citations))), texts, frozenset()
        ).otherwise

    assert judged_otherwise(reviewed.citations) == ()
    forged = replace(reviewed.citations[1], verdict="supported", missing=None)
    [otherwise] = judged_otherwise((reviewed.citations[0], forged, reviewed.citations[2]))
    assert "its verdict is 'supported'" in otherwise
