"""How a run looks in a terminal. Everything here is fed events and writes to the streams that it was given.

- `clean`     removes control sequences from the text of models and tools
- `lines`     Footnote's own lines: spans with a tone, cell widths, wrapping, tables
- `painting`  markdown and lines with colours (the only importer of rich)
- `screen`    permanent output above, a live region below that is redrawn
- `answer`    the streamed answer: finished blocks and an unfinished tail
- `status`    the lines about tool calls and thinking
- `disagreements` sources that contradict each other, as a small table
- `footnotes` the sources that an answer cites, with passages and verdicts
- `receipt`   what a search found and did
- `renderer`  events in, output out
"""
