"""What a search hands up: the text for the model, the summary that is put together from quotations, the notes."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from footnote.protocol.receipts import Disagreement, DisagreementValue, Passage, ProviderTry
from footnote.protocol.sources import Citation, Quote, Snapshot, Source
from footnote.text.quotation import blockquote
from footnote.web_search.boundary import strip_quotes, wrap_web_text
from footnote.web_search.ranking import RankedPassages, RankedQuotes
from footnote.web_search.sources import SearchSources

MAX_EXCERPT_TOKENS = 1_000
"""How much the excerpts of all sources of a search may add to what a model reads of it."""
MAX_EXCERPT_BYTES = 400
BYTES_PER_TOKEN = 3
"""As the agent estimates: about right for Chinese, a little too many for English and Vietnamese."""


def search_content(
    summary: str, sources: Collection[Source], notes: Iterable[str], passages: Collection[Passage] = ()
) -> str:
    """The summary, a blank line, `Sources:` and a link per source with an excerpt of it, as web text; then what else is
    to be known, in no words but ours. `passages`: the best quotations, for a source of which the provider said
    nothing."""
    size = min(MAX_EXCERPT_BYTES, MAX_EXCERPT_TOKENS * BYTES_PER_TOKEN // max(len(sources), 1))
    listed = "\n".join(_source_line(source, passages, size) for source in sources)
    told = "".join(f"\nNote: {strip_quotes(note)}" for note in notes)
    return wrap_web_text(f"{summary}\n\nSources:\n{listed}") + told


def _source_line(source: Source, passages: Iterable[Passage], max_bytes: int) -> str:
    quoted = next((passage.text for passage in passages if passage.number == source.number), "")
    excerpt = _excerpt(source.snippet, max_bytes) or _excerpt(quoted, max_bytes)
    return f"[{source.number}] {_link(source)}" + (f"\n    {excerpt}" if excerpt else "")


def _excerpt(text: str, max_bytes: int) -> str:
    """One line of at most `size` bytes, cut at a word where there are any."""
    line = " ".join(text.split())
    raw = line.encode("utf-8", "replace")
    if len(raw) <= max_bytes:
        return line
    short = raw[: max_bytes - len("…".encode())].decode("utf-8", "ignore")
    at_word = short.rpartition(" ")[0]
    return f"{at_word if len(at_word) > len(short) // 2 else short}…"


def _link(source: Source) -> str:
    title = " ".join((source.title or source.domain or source.url).split())
    for bracket in "[]":
        title = title.replace(bracket, f"\\{bracket}")
    address = source.url.replace("(", "%28").replace(")", "%29").replace(" ", "%20")
    return f"[{title}]({address})"


def page_content(gathered: SearchSources, ranked: RankedPassages, notes: Iterable[str]) -> str:
    """One page as a model reads it: whole with its links if it fits, else its best passages in the page's order."""
    [(number, snapshot)] = gathered.snapshots.items()
    whole = ranked.section_count == len(ranked.passages)
    text = _text_with_links(snapshot) if whole else _join_passages(ranked.passages, snapshot)
    facts = (gathered.sources[number].title, snapshot.author, snapshot.published, snapshot.language)
    head = " · ".join(fact for fact in facts if fact)
    return search_content(f"{head}\n\n{text}", gathered.sources.values(), notes)


def _text_with_links(snapshot: Snapshot) -> str:
    pieces: list[str] = []
    position = 0
    for link in snapshot.links:
        if position <= link.start < link.end:
            pieces += [snapshot.text[position : link.start], f"[{snapshot.text[link.start : link.end]}]({link.url})"]
            position = link.end
    return "".join([*pieces, snapshot.text[position:]])


def _join_passages(passages: Iterable[Passage], snapshot: Snapshot) -> str:
    return "\n\n[…]\n\n".join(with_page_number(one, snapshot) for one in sorted(passages, key=lambda one: one.start))


def with_page_number(passage: Passage, snapshot: Snapshot | None) -> str:
    """A passage of a PDF says on which page it stands."""
    page = snapshot.page_at(passage.start) if snapshot else None
    return f"(page {page}) {passage.text}" if page else passage.text


def quote_passages(passages: Iterable[Passage]) -> str:
    """A summary made of nothing but quotations."""
    return "\n\n".join(blockquote(passage.text, passage.number) for passage in passages)


def disagreements(query: str, quotes: RankedQuotes, sources: Mapping[int, Source]) -> tuple[Disagreement, ...]:
    """The quotations that contradict each other, as sides of one disagreement."""
    sides = tuple(
        DisagreementValue(
            text=passage.text,
            number=passage.number,
            quote_start=passage.start,
            quote_end=passage.end,
            published=sources[passage.number].published,
        )
        for passage in (quotes.passages[at] for at in quotes.conflicts)
    )
    return (Disagreement(about=query, values=sides),) if len(sides) > 1 else ()


def disagreement_notes(found: Iterable[Disagreement]) -> list[str]:
    numbers = [sorted(value.number for value in one.values) for one in found]
    return [
        f"Sources {_join_numbers(one)} contradict each other. Give both sides, each with its source." for one in numbers
    ]


def _join_numbers(numbers: Sequence[int]) -> str:
    return f"{', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def fallback_notes(tries: Sequence[ProviderTry]) -> list[str]:
    """Which providers did not answer or found nothing, and which one found these results instead; and the options that
    it did not know."""
    if not tries:
        return []
    *others, answered = tries
    if answered.count or not others:
        said = [f"{_describe_tries(others)}. These results are from {answered.provider}."] if others else []
        return [*said, *(f"{answered.provider}: {note}" for note in answered.notes)]
    return [f"{_describe_tries(tries)}."]


def _describe_tries(tries: Sequence[ProviderTry]) -> str:
    return "; ".join(
        f"{one.provider} found nothing"
        if one.outcome == "empty"
        else f"{one.provider} did not answer ({one.reason or one.outcome})"
        for one in tries
    )


def quotes_of(source: Source, passages: Iterable[Passage], citations: Iterable[Citation]) -> tuple[Quote, ...]:
    """Every passage of a source's text that is quoted somewhere, once, in its order; none of what was read there
    before."""
    found = {(one.start, one.end): one.text for one in passages if one.number == source.number}
    cited = (one for one in citations if (one.number, one.snapshot_id) == (source.number, source.snapshot_id))
    for one in cited:
        if one.quote is not None and one.quote_start is not None and one.quote_end is not None:
            found[one.quote_start, one.quote_end] = one.quote
    return tuple(Quote(text, start, end) for (start, end), text in sorted(found.items()))
