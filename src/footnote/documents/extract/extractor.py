"""Documents of the web are taken apart in the sandbox, one process each."""

from footnote.documents.extract.document import Extracted, Unreadable
from footnote.protocol.errors import LimitReached, Unworkable
from footnote.sandbox.jobs import Extraction, NotExtracted
from footnote.sandbox.pool import NoTurn, SandboxPool, TimedOut
from footnote.tracing import SLOW, Work

SECONDS = 10.0
"""For one document, once it is its turn: two that hang must not keep all others waiting until their deadline."""

EXTRACTIONS = Work("extraction", "Documents of the web that were taken apart.", span="extract", classes=SLOW)

_BROKEN = "it could not be taken apart"


class Extractor:
    def __init__(self, sandbox: SandboxPool) -> None:
        self._sandbox = sandbox

    async def extract(self, body: bytes, content_type: str, url: str, *, seconds: float, owner: str = "") -> Extracted:
        """The text of a document, as `extract` has it; raises `Unreadable`. `seconds` include the wait for a turn;
        `owner` is whoever takes turns with the others, such as one search."""
        with EXTRACTIONS():
            return await self._extract(Extraction(content=body, content_type=content_type, url=url), seconds, owner)

    async def _extract(self, job: Extraction, seconds: float, owner: str) -> Extracted:
        try:
            result = await self._sandbox.run(job, SECONDS, user=owner, within=seconds)
        except NoTurn:
            raise Unreadable("timeout", f"its turn to be taken apart did not come within {seconds:g} seconds") from None
        except TimedOut:
            raise Unreadable("timeout", f"{_BROKEN} within {min(seconds, SECONDS):.3g} seconds") from None
        except LimitReached:
            raise Unreadable("timeout", "too many documents are waiting to be taken apart") from None
        except Unworkable:
            raise Unreadable("unreadable", _BROKEN) from None
        if isinstance(result, NotExtracted):
            raise Unreadable(result.failure, result.reason)
        return result
