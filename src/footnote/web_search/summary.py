"""The summary of a search by the session's model."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

from msgspec import Struct

from footnote.cancel import CancelScope
from footnote.evidence.sources import Sources
from footnote.models.base import Context, Model, Options
from footnote.models.errors import ABORTED
from footnote.protocol.messages import Usage, user_message
from footnote.protocol.sources import Passage
from footnote.protocol.stream import Done, Failed, TextDelta
from footnote.text.boundary import NOTICE, quote_external, wrap_web_text
from footnote.web_search.result import with_page_number
from footnote.web_search.settings import SearchRequest

log = logging.getLogger(__name__)

TIMEOUT_SECONDS = 60.0
"""Unless the model may be silent for longer, as one on a slow machine may."""
PROGRESS_CHARACTERS = 200
"""The number of new characters after which the progress is reported."""

SYSTEM_PROMPT = f"""You summarise what a web search found, for a colleague who cannot see the pages.

- Answer what is wanted, from the passages alone. If they do not answer it, say what they do say and what is missing.
- After every statement put the number of the source that it rests on, such as [2]; use only the numbers given.
- Keep figures, dates, names and units exactly as the passages have them. Where passages disagree, give both.
- Write in the language in which the wanted thing is described. At most 250 words, no heading, no preface, and no list
  of sources at the end.
- {NOTICE}"""


class SearchSummary(Struct, frozen=True):
    """`by` is `PROVIDER/MODEL`, or `passages` for a summary of quotations. `note` says why the model failed."""

    text: str
    by: str
    usage: Usage | None = None
    note: str | None = None


async def summarise_with_model(
    model: Model, request: SearchRequest, passages: Iterable[Passage], sources: Sources, closing: CancelScope
) -> AsyncGenerator[int | SearchSummary, None]:
    """Yields the length of the summary while it is written, then the summary. Its text is empty if the model failed, or
    was stopped by `closing`."""
    context = Context(SYSTEM_PROMPT, (user_message(_user_prompt(request, passages, sources)),))
    pieces: list[str] = []
    length = reported = 0
    timeout_seconds = max(TIMEOUT_SECONDS, model.profile.timeout_seconds or 0)
    deadline = asyncio.get_running_loop().time() + timeout_seconds
    async with aclosing(model.stream(context, Options(), closing)) as stream:
        while True:
            # A new timeout for each step: `asyncio.timeout` may not stay open across a yield.
            try:
                async with asyncio.timeout_at(deadline):
                    event = await anext(stream)
            except TimeoutError:
                yield SearchSummary("", model.id, note=f"{model.id} took longer than {timeout_seconds:g} seconds")
                return
            if isinstance(event, TextDelta):
                pieces.append(event.delta)
                length += len(event.delta)
                if length - reported >= PROGRESS_CHARACTERS:
                    reported = length
                    yield length
            elif isinstance(event, Done | Failed):
                yield _to_summary(event, model.id, "".join(pieces).strip())
                return


def _to_summary(event: Done | Failed, model: str, text: str) -> SearchSummary:
    usage = event.message.usage
    failure = event.message.failure
    if failure == ABORTED:
        return SearchSummary("", model, usage, note=f"{model} was stopped, because the answer was due")
    if failure is not None:
        return SearchSummary("", model, usage, note=f"{model} failed: {quote_external(failure.message)}")
    if not text:
        return SearchSummary("", model, usage, note=f"{model} said nothing")
    return SearchSummary(text, model, usage)


def _user_prompt(request: SearchRequest, passages: Iterable[Passage], sources: Sources) -> str:
    by_source: dict[int, list[Passage]] = {}
    for passage in passages:
        by_source.setdefault(passage.number, []).append(passage)
    parts = [_source_prompt(number, found, sources) for number, found in by_source.items()]
    wanted = request.prompt if request.prompt == request.query else f"{request.prompt}\n(Searched: {request.query})"
    return "\n\n".join([*parts, f"Wanted: {wanted}"])


def _source_prompt(number: int, passages: list[Passage], sources: Sources) -> str:
    source, snapshot = sources.source(number), sources.snapshot(number)
    head = "" if source is None else f"{source.title} ({source.domain}, {source.published or 'no date'})"
    texts = [with_page_number(passage, snapshot) for passage in passages]
    return f"Source [{number}]\n" + wrap_web_text("\n…\n".join([head, *texts]))
