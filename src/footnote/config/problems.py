"""Everything that is wrong with a configuration, said at once."""

from collections.abc import Sequence

from msgspec import Struct

from footnote.protocol.errors import ConfigError


class Problem(Struct, frozen=True):
    """One thing to put right: in which file or variable (`source`), on which line, at which key."""

    source: str
    message: str
    line: int | None = None
    place: str = ""

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        place = f", {self.place}" if self.place else ""
        return f"{self.source}{line}{place}: {self.message}."


class InvalidConfiguration(ConfigError):
    """The settings cannot be used. `problems` are all of them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        if len(problems) == 1:
            super().__init__(str(problems[0]))
        else:
            lines = "".join(f"\n  {problem}" for problem in problems)
            super().__init__(f"The configuration has {len(problems)} problems:{lines}")
