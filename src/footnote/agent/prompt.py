"""The system prompt of a run: the agent's own words, then what only the run knows."""

from datetime import date

from footnote.protocol.tools import Locale

_LANGUAGES: dict[Locale, str] = {"en": "English", "vi": "Vietnamese", "zh": "Chinese"}


def system_prompt(agent_prompt: str, today: date, locale: Locale) -> str:
    """Facts stand last, so that the long part before them stays the same for the provider's cache."""
    return (
        f"{agent_prompt.strip()}\n\n"
        f"Today is {today:%A}, {today.isoformat()}. "
        f"The user's interface is in {_LANGUAGES[locale]}; answer in the language of the question."
    ).strip()
