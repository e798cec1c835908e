"""The plan of a research run, and how its owner and its user change it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, Protocol, TypeAlias

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from footnote.protocol.errors import Conflict, UsageError
from footnote.protocol.plans import MAX_STEERING_MESSAGES, PlanItem, PlanItemStatus, WantedItem
from footnote.research.question_lists import distinct_questions, question_key, question_line
from footnote.text.boundary import escape_tags

MAX_STORED_ITEMS = 100
"""Items of a plan with those that were dropped: as many as a client can list."""

PlanPhase: TypeAlias = Literal["planning", "investigating", "filling", "writing"]
"""How far a run is. `filling`: it was asked for gaps, and reads for the items that were added. From `writing` on, the
plan stays as it is."""


class PlanState(Struct, frozen=True):
    """The plan as it is stored. `is_finishing`: the user wants the report now. `steering`: what the user said while the
    run went on; the plan was made or revised for the first `heard` of these messages. `template`: the name of that of
    the report."""

    items: tuple[PlanItem, ...] = ()
    steering: tuple[str, ...] = ()
    is_finishing: bool = False
    template: str = ""
    phase: PlanPhase = "planning"
    heard: int = 0


class PlanBoard(Protocol):
    """The stored plan of one run. Its owner changes it, and so does its user, on any replica."""

    async def read(self) -> PlanState | None:
        """None: nothing is planned yet."""
        ...

    async def change(self, change: Callable[[PlanState], PlanState]) -> PlanState:
        """Reads the plan, changes and stores it in one transaction. Without a plan, `change` gets one of no items."""
        ...

    async def wait_for_change(self) -> None:
        """Returns when somebody else may have changed the plan."""
        ...


# Changes --------------------------------------------------------------------------------------------------------------


def edit_plan(state: PlanState, wanted: Sequence[WantedItem], *, max_items: int) -> PlanState:
    """The plan as its user wants it. An item that has begun stays, whatever the user wants of it; only another question
    for it is an error, because nobody would look that up."""
    known = {item.id: item for item in state.items}
    unlisted = {
        question_key(item.question): item
        for item in state.items
        if item.status != "dropped" and all(one.id != item.id for one in wanted)
    }
    ids = _new_ids(state)
    items: list[PlanItem] = []
    listed = {question_key(known[one.id].question) for one in wanted if one.id in known and one.status != "dropped"}
    for one in wanted:
        if one.id is not None:
            if one.id not in known:
                raise UsageError(f"The plan has no item “{one.id}”.", code="plan_item_unknown", id=one.id)
            if any(item.id == one.id for item in items):
                raise UsageError(f"The item “{one.id}” is listed twice.", code="plan_item_repeated", id=one.id)
            items.append(_edited(known[one.id], one))
        elif one.status != "dropped":
            question = _wanted_question(one.question or "")
            key = question_key(question)
            if key not in listed:
                # A request that is sent again, because its response was lost, adds nothing a second time.
                items.append(unlisted.get(key) or PlanItem(next(ids), question))
                listed.add(key)
    edited = replace(state, items=_with_unlisted(state.items, items))
    _check_limits(state, edited, max_items)
    return edited


def _edited(item: PlanItem, wanted: WantedItem) -> PlanItem:
    question = item.question if wanted.question is None else _wanted_question(wanted.question)
    if item.status not in ("pending", "dropped"):
        if question != item.question:
            raise Conflict(
                "This question is being looked up already, so it cannot be changed.", code="plan_item_begun", id=item.id
            )
        return item
    if item.status == "dropped":
        # What the run itself dropped has a note that says why, and stays dropped.
        is_restored = wanted.status == "pending" and item.note is UNSET
        return replace(item, status="pending", question=question) if is_restored else item
    return replace(item, question=question, status="dropped" if wanted.status == "dropped" else "pending")


def _wanted_question(question: str) -> str:
    line = question_line(question)
    if not line:
        raise UsageError("An item of a plan needs a question.", code="plan_item_empty")
    return line


def _with_unlisted(before: Sequence[PlanItem], listed: Sequence[PlanItem]) -> tuple[PlanItem, ...]:
    """The listed items, and each other one after the item that stood before it. Pending ones are dropped."""
    items = list(listed)
    ids = {item.id for item in listed}
    place = 0
    for item in before:
        if item.id in ids:
            place = next(number for number, one in enumerate(items) if one.id == item.id) + 1
        else:
            items.insert(place, replace(item, status="dropped") if item.status == "pending" else item)
            place += 1
    return tuple(items)


def _check_limits(before: PlanState, after: PlanState, max_items: int) -> None:
    count, previous = _active_count(after), _active_count(before)
    if count > previous and (before.is_finishing or before.phase == "writing"):
        raise Conflict("The report is being written already, so nothing can be added.", code="plan_finishing")
    if (count > max_items and count > previous) or len(after.items) > max(MAX_STORED_ITEMS, len(before.items)):
        raise UsageError(f"A plan has at most {max_items} questions.", code="plan_too_long", max=max_items)


def _active_count(state: PlanState) -> int:
    return sum(item.status != "dropped" for item in state.items)


def _new_ids(state: PlanState) -> Iterator[str]:
    highest = max((int(item.id[1:]) for item in state.items if item.id[1:].isdecimal()), default=0)
    return (f"q{number}" for number in range(highest + 1, highest + 10_000))


def add_items(state: PlanState, questions: Iterable[str], *, max_items: int) -> PlanState:
    """The plan with questions that it did not have, up to so many items that are not dropped. One that was dropped does
    not come back."""
    known = {question_key(item.question) for item in state.items}
    room = min(max_items - _active_count(state), MAX_STORED_ITEMS - len(state.items))
    new = [one for one in distinct_questions(questions) if question_key(one) not in known][: max(0, room)]
    added = (PlanItem(item_id, question) for item_id, question in zip(_new_ids(state), new, strict=False))
    return replace(state, items=(*state.items, *added))


def set_status(state: PlanState, item_id: str, status: PlanItemStatus, note: str | None = None) -> PlanState:
    """The plan with another status of an item. A dropped one stays dropped: its user was faster."""
    text: str | UnsetType = UNSET if note is None else question_line(note) or UNSET
    return replace(
        state,
        items=tuple(
            replace(item, status=status, note=text) if item.id == item_id and item.status != "dropped" else item
            for item in state.items
        ),
    )


def add_steering(state: PlanState, text: str) -> PlanState:
    message = escape_tags(text).strip()
    if not message:
        raise UsageError("The message is empty.", code="steering_empty")
    if len(state.steering) >= MAX_STEERING_MESSAGES:
        raise UsageError(
            f"A run takes at most {MAX_STEERING_MESSAGES} messages.",
            code="steering_too_many",
            max=MAX_STEERING_MESSAGES,
        )
    return replace(state, steering=(*state.steering, message))


def finish(state: PlanState) -> PlanState:
    """The report is written with what there is. Pending items stay: the run drops them, and says why."""
    return replace(state, is_finishing=True)
