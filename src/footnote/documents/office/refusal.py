"""Why a file is not read at all."""

DECLARES = "declares entities, which can be made to expand without end"


class NotReadable(Exception):
    """`reason` goes on from the name of the file: half a sentence, such as "is damaged". `is_hostile`: it is made to do
    harm to whoever reads it."""

    def __init__(self, reason: str, *, is_hostile: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_hostile = is_hostile
