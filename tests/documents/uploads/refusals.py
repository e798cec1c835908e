"""The refusal of an upload, as a value to compare with."""

from footnote.sandbox.jobs import JobRefused


def refusal(name: str, reason: str, *, is_hostile: bool = False) -> JobRefused:
    """The message, its code and its parameters."""
    params: dict[str, str | int] = {"name": name, "reason": reason}
    return JobRefused(f"{name} {reason}.", is_hostile=is_hostile, code="file_unreadable", params=params)
