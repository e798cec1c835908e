"""The tools that ship with Footnote, one file each. A file put here is a tool; nothing else has to know of it."""
