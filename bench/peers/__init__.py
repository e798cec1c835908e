"""Other agent libraries on the same turn, each in its own environment and process (`python -m peers.<name>`).

Each file is the shortest honest way to stream a turn with its library: the agent built once, the library's objects
made in the cheapest way that it allows, no tracing, no checkpoints, no console. What a library leaves to the
application, the frames for the client, costs it the same as the hand-written loop: both use `scenario.Page`.
"""
