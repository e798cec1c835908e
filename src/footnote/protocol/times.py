"""Moments as clients read them."""

from datetime import UTC, datetime


def format_time(seconds: float) -> str:
    """`2024-03-17T10:00:00Z`, from seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(moment: str) -> float:
    """Back from that to seconds since 1970."""
    return datetime.strptime(moment, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
