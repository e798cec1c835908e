"""What the web of the research tests says about the Saltmouth tidal barrage, which does not exist: twelve facts in
three subjects, each on two pages of different hosts, and pages that say otherwise."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

SUBJECT = "Saltmouth"
"""The word by which a sentence about the barrage is recognised: no other page has it."""

QUESTION = "What is known about the Saltmouth tidal barrage?"

TrapKind: TypeAlias = Literal["false", "stale", "contradicting"]


@dataclass(frozen=True)
class Fact:
    """`value`: the part of the sentence that has to be right in a report."""

    value: str
    sentence: str


@dataclass(frozen=True)
class Trap:
    """A page that says otherwise. `value`: the words by which its sentence is recognised; `published`: ISO 8601."""

    kind: TrapKind
    value: str
    sentence: str
    published: str
    fact: Fact


@dataclass(frozen=True)
class Theme:
    """The subject of one item of the plan. `keyword`: the word of a search by which its pages are found."""

    keyword: str
    question: str
    facts: tuple[Fact, ...]
    trap: Trap | None = None


_COST = Fact("412 million", "The Saltmouth tidal barrage cost 412 million euros.")
_TURBINES = Fact("24 turbines", "The Saltmouth tidal barrage has 24 turbines.")
_OPERATOR = Fact("Nordhaven Energy", "The Saltmouth tidal barrage is operated by Nordhaven Energy.")

THEMES = (
    Theme(
        "construction",
        "When and at what cost was the construction of the Saltmouth tidal barrage completed?",
        (
            Fact("14 March 2009", "Construction of the Saltmouth tidal barrage began on 14 March 2009."),
            Fact("21 September 2014", "The Saltmouth tidal barrage was opened on 21 September 2014."),
            _COST,
            Fact("1,340 people", "At the peak of construction, 1,340 people worked on the Saltmouth tidal barrage."),
        ),
        Trap(
            "false",
            "514 million",
            "The Saltmouth tidal barrage cost 514 million euros.",
            "2024-02-11T08:00:00Z",
            _COST,
        ),
    ),
    Theme(
        "electricity",
        "How much electricity does the Saltmouth tidal barrage produce, and with what?",
        (
            _TURBINES,
            Fact("186 megawatts", "The Saltmouth tidal barrage has a capacity of 186 megawatts."),
            Fact(
                "530 gigawatt hours",
                "In 2022, the Saltmouth tidal barrage produced 530 gigawatt hours of electricity.",
            ),
            Fact("128,000 households", "The Saltmouth tidal barrage supplies 128,000 households with electricity."),
        ),
        Trap("stale", "18 turbines", "The Saltmouth tidal barrage has 18 turbines.", "2013-05-02T08:00:00Z", _TURBINES),
    ),
    Theme(
        "wildlife",
        "Who runs the Saltmouth tidal barrage, and what does it mean for wildlife?",
        (
            Fact("310 metres", "The fish pass of the Saltmouth tidal barrage is 310 metres long."),
            Fact("17 species", "In 2021, biologists counted 17 species of fish above the Saltmouth tidal barrage."),
            _OPERATOR,
            Fact(
                "Ingrid Solbakken", "Ingrid Solbakken has been the director of the Saltmouth tidal barrage since 2019."
            ),
        ),
        Trap(
            "contradicting",
            "not operated by",
            "The Saltmouth tidal barrage is not operated by Nordhaven Energy.",
            "2024-05-20T08:00:00Z",
            _OPERATOR,
        ),
    ),
    Theme("plans", "Which plans are there for an extension of the Saltmouth tidal barrage?", ()),
)

FACTS = tuple(fact for theme in THEMES for fact in theme.facts)
TRAPS = tuple(theme.trap for theme in THEMES if theme.trap is not None)
PLANS_SENTENCE = "The council of Saltmouth has not decided on an extension of the tidal barrage."
"""What the only page about plans says."""
ITEMS = tuple(theme.question for theme in THEMES)
"""The plan of the scripted model."""
