"""The subjects of the benchmark, and what each imports to run the turn."""

from typing import NamedTuple


class Subject(NamedTuple):
    """`key` names the file under `peers/`, the requirements and the environment."""

    key: str
    title: str
    imports: tuple[str, ...]


# For Footnote the whole engine: loop, tools, HTTP client, both APIs, configuration. For a peer what the turn needs.
FOOTNOTE = Subject("footnote", "Footnote", ("footnote.app",))
HAND_WRITTEN = Subject("hand_written", "hand-written loop", ("asyncio", "json"))
PYDANTIC_AI = Subject("pydantic_ai", "pydantic-ai", ("pydantic_ai", "pydantic_ai.models.function"))
PEERS = (
    Subject("openai_agents", "openai-agents", ("agents",)),
    Subject("langgraph", "LangGraph", ("langgraph.prebuilt", "langchain_core.language_models")),
    Subject("deepagents", "deepagents", ("deepagents",)),
    PYDANTIC_AI,
)
