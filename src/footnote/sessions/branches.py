"""The way through the tree of turns that is shown: from a first question to one run."""

from collections.abc import Sequence

from footnote.db.turns import TurnRow


def branch_to(turns: Sequence[TurnRow], run_id: str | None) -> tuple[TurnRow, ...]:
    """The turns on the way to a run, from the first one to it."""
    by_run = {turn.run_id: turn for turn in turns}
    way: list[TurnRow] = []
    while run_id is not None and (turn := by_run.pop(run_id, None)) is not None:
        way.append(turn)
        run_id = turn.after_run
    return tuple(reversed(way))


def newest_below(turns: Sequence[TurnRow], run_id: str) -> str:
    """The end of the branch that goes through a run: of several that go on from it, the one that was used last."""
    following: dict[str, str] = {turn.after_run: turn.run_id for turn in turns if turn.after_run is not None}
    while run_id in following:
        run_id = following[run_id]
    return run_id


def find(turns: Sequence[TurnRow], message_id: str) -> TurnRow | None:
    """The turn that a message belongs to, its question or any of its responses; of several, the last."""
    turn_id = message_id.partition("-")[0]
    ids = (message_id, turn_id)
    return next((turn for turn in reversed(turns) if turn.question_id in ids or turn.message_id in ids), None)
