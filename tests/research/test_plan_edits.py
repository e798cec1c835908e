"""What the user and the run change in a plan, in any order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from footnote.protocol.errors import Conflict, UsageError
from footnote.protocol.plans import MAX_ITEM_LENGTH, MAX_STEERING_MESSAGES, PlanItem, WantedItem
from footnote.research.plan import MAX_STORED_ITEMS, PlanState, add_items, add_steering, edit_plan, finish, set_status
from footnote.research.plan_requests import steered

PLAN = PlanState(
    (
        PlanItem("q1", "What is tea?", "done"),
        PlanItem("q2", "Who grows tea?", "running"),
        PlanItem("q3", "What does tea cost?"),
        PlanItem("q4", "Is tea healthy?"),
    )
)


def edited(*wanted: WantedItem, plan: PlanState = PLAN, max_items: int = 8) -> list[tuple[str, str, str]]:
    return [(item.id, item.question, item.status) for item in edit_plan(plan, wanted, max_items=max_items).items]


def listed(*ids: str) -> list[WantedItem]:
    return [WantedItem(id=item_id) for item_id in ids]


def test_pending_items_are_dropped_reordered_reworded_and_added() -> None:
    assert edited(
        WantedItem(id="q4", question="Is green tea healthy?"),
        *listed("q1", "q2"),
        WantedItem(question="Who drinks most tea?"),
    ) == [
        ("q4", "Is green tea healthy?", "pending"),
        ("q1", "What is tea?", "done"),
        ("q2", "Who grows tea?", "running"),
        ("q3", "What does tea cost?", "dropped"),
        ("q5", "Who drinks most tea?", "pending"),
    ]


def test_items_that_have_begun_stay_listed_or_not() -> None:
    kept = [("q1", "What is tea?", "done"), ("q2", "Who grows tea?", "running")]
    assert edited()[:2] == kept
    assert edited(*(WantedItem(id=one, status="dropped") for one in ("q1", "q2", "q3", "q4")))[:2] == kept


def test_a_plan_may_have_nothing_left_to_look_up() -> None:
    assert [status for *_, status in edited()] == ["done", "running", "dropped", "dropped"]


def test_another_question_for_an_item_that_has_begun_is_refused() -> None:
    with pytest.raises(Conflict) as refused:
        edited(WantedItem(id="q2", question="Who drinks tea?"))
    assert (refused.value.code, refused.value.params) == ("plan_item_begun", {"id": "q2"})
    assert edited(WantedItem(id="q2", question=" Who grows  tea? "))[1][1] == "Who grows tea?", "the same is no change"


def test_what_the_client_thinks_of_the_status_of_an_item_changes_nothing() -> None:
    assert edited(
        WantedItem(id="q1", status="pending"),
        WantedItem(id="q2", status="done"),
        WantedItem(id="q3", status="done"),
        WantedItem(id="q4", status="running"),
    ) == [(item.id, item.question, item.status) for item in PLAN.items]


def test_what_the_user_dropped_can_be_taken_back_and_what_the_run_dropped_cannot() -> None:
    by_user = edit_plan(PLAN, listed("q1", "q2", "q3"), max_items=8)
    assert edited(*listed("q1", "q2", "q3", "q4"), plan=by_user)[3][2] == "dropped"
    assert ("q4", "Is tea healthy?", "pending") in edited(WantedItem(id="q4", status="pending"), plan=by_user)
    by_run = set_status(PLAN, "q4", "dropped", "No time was left.")
    assert ("q4", "Is tea healthy?", "dropped") in edited(WantedItem(id="q4", status="pending"), plan=by_run)


def test_a_request_that_is_sent_twice_adds_nothing_twice() -> None:
    wanted = [*listed("q1", "q2", "q3", "q4"), WantedItem(question="Who drinks most tea?")]
    once = edit_plan(PLAN, wanted, max_items=8)
    assert edit_plan(once, wanted, max_items=8) == once
    assert edit_plan(PLAN, [*wanted, WantedItem(question="who drinks most tea")], max_items=8) == once


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ([WantedItem(id="q9")], "plan_item_unknown"),
        (listed("q3", "q3"), "plan_item_repeated"),
        ([WantedItem()], "plan_item_empty"),
        ([WantedItem(question=" \u200b\n")], "plan_item_empty"),
        ([WantedItem(id="q3", question="?")], "plan_item_empty"),
        ([*listed("q3", "q4"), WantedItem(question="One more?")], "plan_too_long"),
    ],
)
def test_what_makes_no_plan_is_refused_with_its_reason(wanted: list[WantedItem], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        edit_plan(PLAN, wanted, max_items=4)
    assert refused.value.code == code


def test_a_plan_that_is_too_long_already_can_still_be_shortened() -> None:
    assert [status for *_, status in edited(*listed("q4"), max_items=2)] == ["done", "running", "dropped", "pending"]


@pytest.mark.parametrize("plan", [finish(PLAN), replace(PLAN, phase="writing")])
def test_nothing_is_added_once_the_report_is_being_written(plan: PlanState) -> None:
    with pytest.raises(Conflict) as refused:
        edited(*listed("q3", "q4"), WantedItem(question="One more?"), plan=plan)
    assert refused.value.code == "plan_finishing"
    assert edited(*listed("q3"), plan=plan)[-1] == ("q4", "Is tea healthy?", "dropped")


def test_a_question_is_one_line_of_limited_length() -> None:
    state = edit_plan(PlanState(), [WantedItem(question="What\n is  <web_text id='1'> " + "tea " * 120)], max_items=1)
    (item,) = state.items
    assert "\n" not in item.question
    assert "<web_text" not in item.question
    assert len(item.question) <= MAX_ITEM_LENGTH


def test_added_items_have_new_ids_and_stay_within_the_limit() -> None:
    state = add_items(PLAN, ["what is TEA", "Who drinks tea?", "Who drinks tea", "When?", "Where?"], max_items=6)
    assert [(item.id, item.question) for item in state.items[4:]] == [("q5", "Who drinks tea?"), ("q6", "When?")]
    assert add_items(state, ["More?"], max_items=6) == state


def test_a_question_that_was_dropped_does_not_come_back() -> None:
    dropped = set_status(PLAN, "q4", "dropped")
    assert add_items(dropped, ["Is tea healthy?"], max_items=8) == dropped


def test_an_item_that_its_user_dropped_is_not_begun() -> None:
    dropped = edit_plan(PLAN, listed("q4"), max_items=8)
    assert set_status(dropped, "q3", "running") == dropped


def test_a_note_goes_with_the_status_that_it_explains() -> None:
    failed = set_status(PLAN, "q2", "failed", "The model\nwas not reached.")
    assert failed.items[1].note == "The model was not reached."
    assert set_status(failed, "q2", "running").items[1].note is UNSET


def test_messages_are_kept_in_order_up_to_a_limit() -> None:
    state = PLAN
    for number in range(MAX_STEERING_MESSAGES):
        state = add_steering(state, f" message {number} ")
    assert state.steering[:2] == ("message 0", "message 1")
    for text, code in (("one more", "steering_too_many"), (" \n", "steering_empty")):
        with pytest.raises(UsageError) as refused:
            add_steering(state if text.strip() else PLAN, text)
        assert refused.value.code == code


STATUSES = ("pending", "running", "done", "failed", "dropped")
questions = st.text(max_size=30) | st.sampled_from(["What is tea?", "Who grows tea?", "Why?"])
wanted_items = st.builds(
    WantedItem,
    id=st.none() | st.sampled_from([f"q{number}" for number in range(1, 12)]),
    question=st.none() | questions,
    status=st.none() | st.sampled_from(STATUSES),
    note=st.none() | questions,
)
changes = st.one_of(
    st.tuples(st.just("edit"), st.lists(wanted_items, max_size=12)),
    st.tuples(st.just("add"), st.lists(questions, max_size=5)),
    st.tuples(st.just("status"), st.tuples(st.sampled_from(["q1", "q2", "q3", "q7"]), st.sampled_from(STATUSES))),
    st.tuples(st.just("steer"), st.text(max_size=80)),
)


@given(st.lists(changes, max_size=25))
def test_ids_stay_unique_and_what_has_begun_is_never_lost(steps: list[tuple[str, list]]) -> None:
    state = PLAN
    used = {item.id: item.question for item in state.items}
    for kind, value in steps:
        before = state
        try:
            if kind == "edit":
                state = edit_plan(state, value, max_items=8)
            elif kind == "add":
                state = add_items(state, value, max_items=8)
            elif kind == "steer":
                state = steered(state, text=value, max_items=8)
            else:
                state = set_status(state, *value)
        except UsageError:
            continue
        ids = [item.id for item in state.items]
        assert len(ids) == len(set(ids)) <= MAX_STORED_ITEMS
        assert sum(item.status != "dropped" for item in state.items) <= 8
        assert {item.id for item in before.items} <= set(ids)
        new = [item for item in state.items if item.id not in {one.id for one in before.items}]
        assert not {item.id for item in new} & used.keys(), "an id is never used again"
        used |= {item.id: item.question for item in new}
        if kind in ("edit", "add", "steer"):
            begun = [item for item in before.items if item.status in ("running", "done", "failed")]
            assert all(item in state.items for item in begun)
