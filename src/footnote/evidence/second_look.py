"""The second look: a model points at quotations for statements that comparing texts does not prove, and code decides.

Comparing texts cannot follow free paraphrase and translation. What the model says is never believed: a verdict rests on
a quotation that is on the cited page word for word, and on the rules of this module.
"""

from collections.abc import Sequence

from msgspec import Struct

from footnote.cancel import CancelScope
from footnote.evidence.sources import Sources
from footnote.models.base import Model
from footnote.protocol.messages import Usage
from footnote.protocol.sources import Citation


class SecondLookResult(Struct, frozen=True):
    """The citations, and what the requests used. `cost` is in US dollars, None if the price is not known."""

    citations: tuple[Citation, ...]
    usage: Usage = Usage()
    cost: float | None = 0.0


class SecondLook:
    """One per run."""

    def __init__(self, model: Model) -> None:
        self.model = model

    async def review(
        self,
        text: str,  # noqa: ARG002 - not read yet
        citations: Sequence[Citation],
        sources: Sources,  # noqa: ARG002 - not read yet
        cancel: CancelScope,  # noqa: ARG002 - not read yet
    ) -> SecondLookResult:
        """The citations of a text with the verdicts after a second look. Without one, or if the model fails, they stay
        as they are."""
        return SecondLookResult(tuple(citations))
