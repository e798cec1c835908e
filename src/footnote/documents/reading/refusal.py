"""Why a file is not read at all."""

DECLARES = "declares entities, which can be made to expand without end"


class NotReadable(Exception):
    """`reason` goes on from the name of the file: half a sentence, such as "is damaged"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
