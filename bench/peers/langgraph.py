"""LangGraph: its prebuilt ReAct agent."""

from langgraph.prebuilt import create_react_agent
from measure import print_peer
from scenario import SYSTEM

from peers.langchain_parts import streaming, web_search

if __name__ == "__main__":
    print_peer(streaming(lambda model: create_react_agent(model, [web_search], prompt=SYSTEM)))
