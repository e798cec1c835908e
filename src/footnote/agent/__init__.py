"""The loop: rounds of a model's response and the tool calls that it asks for. Start with `loop`."""
