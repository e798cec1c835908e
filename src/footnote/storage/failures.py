"""How a storage fails. The messages are for whoever runs the server."""

from footnote.protocol.errors import FootnoteError


class StorageFailed(FootnoteError):
    type = "storage_failed"
    retryable = True
    public = "The files of the server cannot be reached now. Try again later; who runs it finds out why in its log."


class StorageFull(StorageFailed):
    """No room is left."""

    type = "storage_full"
    public = "There is no room for more files on the server. Who runs it finds out more in its log."
