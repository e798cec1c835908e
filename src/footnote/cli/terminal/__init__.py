"""How a run looks in a terminal. Everything here is fed events and writes to the streams that it was given.

- `clean`     model text is data: no control sequence of it reaches the terminal
- `blocks`    cuts growing markdown into finished blocks and an unfinished tail
- `painting`  markdown and status lines as terminal lines (the only importer of rich)
- `screen`    permanent output above, a live region below that is redrawn
- `calls`     the tool calls of a run, as lines
- `cells`     text in the cells of a terminal; `layout` how lines of ours stand on stdout
- `footnotes` the sources that an answer cites, with passages and verdicts
- `receipt`   what a search found and did
- `summary`   what a run came to: the closing lines and the exit code
- `renderer`  events in, output out; `answer` and `thinking` are its parts
"""
