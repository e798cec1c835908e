"""Documents of the web are taken apart in the sandbox, one process each."""

from footnote.documents.extract.document import ExtractedPage, UnreadableDocument
from footnote.protocol.errors import LimitReached, UnprocessableFile
from footnote.sandbox.jobs import ExtractionFailed, ExtractPage
from footnote.sandbox.pool import QueueTimeout, SandboxPool, TimedOut
from footnote.tracing import SLOW_BUCKETS, Operation

TIMEOUT_SECONDS = 10.0
"""For one document, once it is its turn: two that hang must not keep all others waiting until their deadline."""

EXTRACTIONS = Operation(
    "extraction", "Documents of the web that were taken apart.", span="extract", buckets=SLOW_BUCKETS
)

_FAILED_REASON = "it could not be taken apart"


class Extractor:
    def __init__(self, sandbox: SandboxPool) -> None:
        self._sandbox = sandbox

    async def extract(
        self, body: bytes, content_type: str, url: str, *, seconds: float, owner: str = ""
    ) -> ExtractedPage:
        """The text of a document, as `extract` has it; raises `Unreadable`. `seconds` include the wait for a turn;
        `owner` is whoever takes turns with the others, such as one search."""
        with EXTRACTIONS():
            return await self._extract(ExtractPage(content=body, content_type=content_type, url=url), seconds, owner)

    async def _extract(self, job: ExtractPage, seconds: float, owner: str) -> ExtractedPage:
        try:
            result = await self._sandbox.run(job, TIMEOUT_SECONDS, user=owner, within=seconds)
        except QueueTimeout:
            raise UnreadableDocument(
                "timeout", f"its turn to be taken apart did not come within {seconds:g} seconds"
            ) from None
        except TimedOut:
            raise UnreadableDocument(
                "timeout", f"{_FAILED_REASON} within {min(seconds, TIMEOUT_SECONDS):.3g} seconds"
            ) from None
        except LimitReached:
            raise UnreadableDocument("timeout", "too many documents are waiting to be taken apart") from None
        except UnprocessableFile:
            raise UnreadableDocument("unreadable", _FAILED_REASON) from None
        if isinstance(result, ExtractionFailed):
            raise UnreadableDocument(result.failure, result.reason)
        return result
