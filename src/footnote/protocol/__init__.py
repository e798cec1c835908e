"""The words of the product: frozen values that every layer speaks, importing nothing of ours.

- `messages`  what was said: user, assistant and tool-result messages, and the blocks inside them
- `stream`    the twelve events of one model response
- `events`    what a client follows: the events of a whole turn
- `tools`     what a tool is to a model, what it reports, what it returns
- `sources`, `files`   what was found, what was written
- `history`   a session as it is shown after a reload
- `errors`    one tree, split by who must act
- `sse`, `schema`, `ids`   how the values travel, their JSON Schema, their names
"""
