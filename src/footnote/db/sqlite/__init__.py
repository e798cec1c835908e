"""The embedded driver: one file, any number of processes. In each of them one thread writes and several read."""
