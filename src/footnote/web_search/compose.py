"""What a search hands up: the text for the model, the summary that is put together from quotations, the notes."""

from collections.abc import Iterable, Sequence

from footnote.language.quotation import blockquote
from footnote.protocol.receipts import Passage, ProviderTry
from footnote.protocol.sources import Citation, Quote, Snapshot, Source
from footnote.web_search.boundary import in_our_words, wrapped
from footnote.web_search.gather import Gathered
from footnote.web_search.rank import Ranked


def content(summary: str, sources: Iterable[Source], notes: Iterable[str]) -> str:
    """The summary, a blank line, `Sources:` and a link per source, as web text; then what else is to be known, in no
    words but ours."""
    listed = "\n".join(f"[{source.number}] {_link(source)}" for source in sources)
    told = "".join(f"\nNote: {in_our_words(note)}" for note in notes)
    return wrapped(f"{summary}\n\nSources:\n{listed}") + told


def _link(source: Source) -> str:
    title = " ".join((source.title or source.domain or source.url).split())
    for bracket in "[]":
        title = title.replace(bracket, f"\\{bracket}")
    address = source.url.replace("(", "%28").replace(")", "%29").replace(" ", "%20")
    return f"[{title}]({address})"


def page_content(gathered: Gathered, ranked: Ranked, notes: Iterable[str]) -> str:
    """One page as a model reads it: whole with its links if it fits, else its best passages in the page's order."""
    [(number, snapshot)] = gathered.snapshots.items()
    whole = ranked.found == len(ranked.passages)
    text = _with_links(snapshot) if whole else _in_order(ranked.passages, snapshot)
    facts = (gathered.sources[number].title, snapshot.author, snapshot.published, snapshot.language)
    head = " · ".join(fact for fact in facts if fact)
    return content(f"{head}\n\n{text}", gathered.sources.values(), notes)


def _with_links(snapshot: Snapshot) -> str:
    pieces: list[str] = []
    position = 0
    for link in snapshot.links:
        if position <= link.start < link.end:
            pieces += [snapshot.text[position : link.start], f"[{snapshot.text[link.start : link.end]}]({link.url})"]
            position = link.end
    return "".join([*pieces, snapshot.text[position:]])


def _in_order(passages: Iterable[Passage], snapshot: Snapshot) -> str:
    return "\n\n[…]\n\n".join(paged(one, snapshot) for one in sorted(passages, key=lambda one: one.start))


def paged(passage: Passage, snapshot: Snapshot | None) -> str:
    """A passage of a PDF says on which page it stands."""
    page = snapshot.page_at(passage.start) if snapshot else None
    return f"(page {page}) {passage.text}" if page else passage.text


def quoted(passages: Iterable[Passage]) -> str:
    """A summary made of nothing but quotations."""
    return "\n\n".join(blockquote(passage.text, passage.number) for passage in passages)


def detours(tries: Sequence[ProviderTry]) -> list[str]:
    """Which providers did not answer, and which one did instead; and the options that it did not know."""
    if not tries:
        return []
    answered = tries[-1]
    failed = [f"{one.provider} did not answer ({one.reason or one.outcome})" for one in tries[:-1]]
    said = [f"{'; '.join(failed)}. These results are from {answered.provider}."] if failed else []
    return [*said, *(f"{answered.provider}: {note}" for note in answered.notes)]


def quotes_of(source: Source, passages: Iterable[Passage], citations: Iterable[Citation]) -> tuple[Quote, ...]:
    """Every passage of a source's text that is quoted somewhere, once, in its order; none of what was read there
    before."""
    found = {(one.start, one.end): one.text for one in passages if one.number == source.number}
    cited = (one for one in citations if (one.number, one.snapshot_id) == (source.number, source.snapshot_id))
    for one in cited:
        if one.quote is not None and one.quote_start is not None and one.quote_end is not None:
            found[one.quote_start, one.quote_end] = one.quote
    return tuple(Quote(text, start, end) for (start, end), text in sorted(found.items()))
