"""How a storage fails. The messages are for whoever runs the server."""

from footnote.protocol.errors import FootnoteError


class StorageFailed(FootnoteError):
    type = "storage_failed"
    retryable = True


class StorageFull(StorageFailed):
    """No room is left."""

    type = "storage_full"
