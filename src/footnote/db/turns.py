"""The turns of a session: questions, the runs that answer them, and what those said. They form a tree, in which a
question follows a run, and two with the same beginning are branches."""

from collections.abc import Iterable

from msgspec import Struct

from footnote.db.script import Steps, script, sql


class TurnRow(Struct, frozen=True):
    """One run and its question. `question`, `attachments`, `asked` and `ending` are JSON. `asked_at` is when the
    question was asked; `began_at` and `ended_at` are those of the run, in seconds since 1970."""

    run_id: str
    question_id: str
    message_id: str
    after_run: str | None
    state: str
    asked: bytes
    ending: bytes | None
    question: bytes
    attachments: bytes
    asked_at: str
    began_at: float
    ended_at: float | None


@script
def turns(session_id: str) -> Steps[list[TurnRow]]:
    """All of them, of every branch, oldest first."""
    rows = yield sql(
        """
        SELECT run.id, question.id, run.message_id, question.after_run, run.state, run.asked, run.ending,
            question.body, question.attachments, question.created_at, run.created_at, run.ended_at
        FROM run JOIN question ON question.id = run.question_id
        WHERE run.session_id = ? ORDER BY run.id
        """,
        session_id,
    )
    return [TurnRow(*row) for row in rows]


@script
def messages_by_run(run_ids: Iterable[str]) -> Steps[dict[str, list[bytes]]]:
    """The messages of each of these runs, in order, as JSON."""
    said: dict[str, list[bytes]] = {}
    for run_id in run_ids:
        rows = yield sql("SELECT body FROM run_message WHERE run_id = ? ORDER BY ordinal", run_id)
        said[run_id] = [body for (body,) in rows]
    return said
