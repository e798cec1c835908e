"""Whether a statement speaks of what its passage speaks of: `the dam`, where that has `the first stage of the dam`, has
the words of the passage and another subject."""

from collections.abc import Collection, Sequence

from footnote.evidence.outline import Outline, WordGap
from footnote.evidence.tokens import Token

NAME_PARTS = frozenset(
    ("south", "north", "east", "west", "new", "southern", "northern", "eastern", "western", "upper", "lower", "san")
).union(("great", "saint"))
_GENITIVES = frozenset(("of", "của"))
_KINDS_OF_PLACE = frozenset(
    ("city", "town", "villag", "stat", "provinc", "kingdom", "republic", "island", "count", "municipal", "region")
)
"""Words, by their keys, before a name that mean the same as the name: `the city of Basel`."""
_PREPOSITIONS = frozenset(
    (
        "of",
        "about",
        "near",
        "with",
        "for",
        "from",
        "against",
        "under",
        "between",
        "among",
        "behind",
        "beside",
        "without",
    )
).union(("in", "at", "của", "về", "gần", "với"))
_CONTRAST = "unlik"
_ARTICLES = frozenset(("a", "an", "the", "his", "her", "its", "their", "some"))
_AUXILIARIES = frozenset(("is", "are", "was", "were", "be", "been", "being", "has", "have", "had"))
_PASSIVE_AUXILIARIES = frozenset(("is", "are", "was", "were", "be", "been", "being"))
_VERBS_WITHOUT_MEANING = frozenset(("named", "called", "made", "used", "known"))
_POSSESSIVES = ("'s", "’s", "s'", "s’")


def begins_within(claim: Outline, passage: Outline, place: int, moved: Collection[int]) -> bool:
    """Whether what the passage speaks of is more than its word that the statement begins with: `North Basel` for
    `Basel`, `the first stage of the dam` and `a book about the dam` for `the dam`."""
    gap, cut = passage.gaps[place], passage.words[place - 1]
    if gap.is_adjacent:
        is_name = cut.is_capitalized and claim.words[0].is_capitalized and cut.key in NAME_PARTS
        return is_name or cut.key == _CONTRAST
    is_part = not _PREPOSITIONS.isdisjoint(set(gap.function_words) - set(claim.gaps[0].function_words))
    if not is_part or claim.words[0].value or gap.is_break or gap.ends_sentence or cut.value or place - 1 in moved:
        return False
    return _GENITIVES.isdisjoint(gap.function_words) or (not gap.marks and cut.key not in _KINDS_OF_PLACE)


def loses_head(claim: Outline, at: int, passage: Outline, place: int) -> bool:
    """Whether a word of the statement only says whose something is in the passage: `the dam's first stage` for `the
    dam`, `市长的儿子` for `市长`."""
    if place + 1 >= len(passage.words):
        return False
    following = passage.gaps[place + 1]
    if following.is_break or following.ends_sentence:
        return False
    is_whose = passage.shown(place).casefold().endswith(_POSSESSIVES) and passage.language == "en"
    is_claimed = claim.shown(at).casefold().endswith(_POSSESSIVES)
    is_han = following.function_words[:1] == ("的",) and claim.gaps[at + 1].function_words[:1] != ("的",)
    return (is_whose and not is_claimed) or is_han


def loses_subject(claim: Outline, passage: Outline, before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Whether what is left out between two words, each with its places in both texts, is what the passage speaks of."""
    skipped = passage.words[before[1] + 1 : after[1]]
    gaps = passage.gaps[before[1] + 1 : after[1] + 1]
    is_owned = bool(skipped) and not (gaps[-1].is_break or _GENITIVES.isdisjoint(gaps[-1].function_words))
    is_other = is_owned and skipped[-1].key not in _KINDS_OF_PLACE and not passage.words[after[1]].value
    return (
        (is_other and _GENITIVES.isdisjoint(claim.gaps[after[0]].function_words))
        or loses_head(claim, before[0], passage, before[1])
        or _loses_other_name(skipped, gaps)
    )


def _loses_other_name(skipped: Sequence[Token], gaps: Sequence[WordGap]) -> bool:
    """Whether what is left out joins another name, of which the passage goes on to say something: `Anna, a painter, and
    her brother Per, a singer`."""
    is_apposition = gaps[-1].is_break and not _ARTICLES.isdisjoint(gaps[-1].function_words[:1])
    return (
        gaps[0].is_break
        and is_apposition
        and any(
            gap.joins and (word.is_capitalized or not _ARTICLES.isdisjoint(gap.function_words))
            for gap, word in zip(gaps, skipped, strict=False)
        )
    ) or (gaps[-1].joins and not _VERBS_WITHOUT_MEANING.isdisjoint(gaps[-1].function_words))


def is_other_subject(gaps: Sequence[WordGap], before_verb: WordGap) -> bool:
    """Whether what is left out begins with the subject of another clause: `the man, and the nurse was thanked`."""
    return (
        gaps[0].joins
        and not _ARTICLES.isdisjoint(gaps[0].function_words)
        and not _AUXILIARIES.isdisjoint(before_verb.function_words)
    )


def is_passive_of_active(claim: Outline, at: int, passage: Outline, place: int) -> bool:
    """Whether a statement has as a passive what its subject does in the passage: `the mayor was fined` for `the mayor
    fined the company`."""
    gap, following = passage.gaps[place], passage.gaps[place + 1]
    has_object = bool(following.function_words) and following.function_words[0] in _ARTICLES and not following.is_break
    is_active = gap.is_adjacent and place + 1 < len(passage.words) and has_object
    return at > 0 and is_active and not _PASSIVE_AUXILIARIES.isdisjoint(claim.gaps[at].function_words)
