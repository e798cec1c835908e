"""Other agent libraries on the same turn, each in its own environment and process (`python -m peers.<name>`).

Each file is the shortest fair implementation of a streamed turn with its library: the agent is built once, the
library's objects are made in the cheapest way it allows, without tracing, checkpoints or console. The frames for the
client, which a library leaves to the application, cost the same as in the hand-written loop: both use
`scenario.Page`.
"""
