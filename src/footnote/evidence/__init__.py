"""Numbers of sources, footnoted sentences, and how each rests on what was read."""
