"""deepagents: `create_deep_agent` with its default middleware."""

from deepagents import create_deep_agent
from measure import print_peer
from scenario import SYSTEM

from peers.langchain_parts import streaming, web_search

if __name__ == "__main__":
    print_peer(streaming(lambda model: create_deep_agent(model=model, tools=[web_search], system_prompt=SYSTEM)))
