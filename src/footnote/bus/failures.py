"""What can go wrong with a bus. Nobody above has to mind: without one things are slower, and never wrong."""

from footnote.protocol.errors import FootnoteError


class BusDown(FootnoteError):
    """It cannot be reached, or does not answer. The message names it without its password."""

    type = "bus_down"
    retryable = True
