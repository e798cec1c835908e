"""The tools that ship with Footnote, one file each. A file in this folder is a tool; no other module refers to it."""
