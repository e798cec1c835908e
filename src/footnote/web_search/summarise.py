"""The answer of a search in a few sentences: by the session's model, or put together from quotations."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

from msgspec import Struct

from footnote.cancel import CancelScope
from footnote.citations.numbering import Sources
from footnote.models.base import Context, Model, Options
from footnote.protocol.messages import Usage, user
from footnote.protocol.receipts import Passage
from footnote.protocol.stream import Done, Failed, TextDelta
from footnote.web_search.boundary import NOTICE, quotation, wrapped
from footnote.web_search.compose import paged
from footnote.web_search.settings import SearchRequest

log = logging.getLogger(__name__)

SECONDS = 60.0
PROGRESS_STEP = 200
"""A summary that grew by this many characters says so."""

SYSTEM = f"""You summarise what a web search found, for a colleague who cannot see the pages.

- Answer what is wanted, from the passages alone. If they do not answer it, say what they do say and what is missing.
- After every statement put the number of the source that it rests on, such as [2]; use only the numbers given.
- Keep figures, dates, names and units exactly as the passages have them. Where passages disagree, give both.
- Write in the language in which the wanted thing is described. At most 250 words, no heading, no preface, and no list
  of sources at the end.
- {NOTICE}"""


class Summary(Struct, frozen=True):
    """`by` is `PROVIDER/MODEL`, or `passages`. `note` says why the model did not make it."""

    text: str
    by: str
    usage: Usage | None = None
    note: str | None = None


async def by_model(
    model: Model, request: SearchRequest, passages: Iterable[Passage], sources: Sources
) -> AsyncGenerator[int | Summary, None]:
    """The length of the summary while it is written, then the summary. Its text is empty if the model failed."""
    context = Context(SYSTEM, (user(_task(request, passages, sources)),))
    pieces: list[str] = []
    length = told = 0
    deadline = asyncio.get_running_loop().time() + SECONDS
    async with aclosing(model.stream(context, Options(), CancelScope())) as stream:
        while True:
            # One for each step: a time limit may not stay open over a yield.
            try:
                async with asyncio.timeout_at(deadline):
                    event = await anext(stream)
            except TimeoutError:
                yield Summary("", model.id, note=f"{model.id} took longer than {SECONDS:g} seconds")
                return
            if isinstance(event, TextDelta):
                pieces.append(event.delta)
                length += len(event.delta)
                if length - told >= PROGRESS_STEP:
                    told = length
                    yield length
            elif isinstance(event, Done | Failed):
                yield _finished(event, model.id, "".join(pieces).strip())
                return


def _finished(event: Done | Failed, model: str, text: str) -> Summary:
    usage = event.message.usage
    failure = event.message.failure
    if failure is not None:
        return Summary("", model, usage, note=f"{model} failed: {quotation(failure.message)}")
    if not text:
        return Summary("", model, usage, note=f"{model} said nothing")
    return Summary(text, model, usage)


def _task(request: SearchRequest, passages: Iterable[Passage], sources: Sources) -> str:
    of_source: dict[int, list[Passage]] = {}
    for passage in passages:
        of_source.setdefault(passage.number, []).append(passage)
    parts = [_material(number, found, sources) for number, found in of_source.items()]
    wanted = request.prompt if request.prompt == request.query else f"{request.prompt}\n(Searched: {request.query})"
    return "\n\n".join([*parts, f"Wanted: {wanted}"])


def _material(number: int, passages: list[Passage], sources: Sources) -> str:
    source, snapshot = sources.source(number), sources.snapshot(number)
    head = "" if source is None else f"{source.title} ({source.domain}, {source.published or 'no date'})"
    texts = [paged(passage, snapshot) for passage in passages]
    return f"Source [{number}]\n" + wrapped("\n…\n".join([head, *texts]))
