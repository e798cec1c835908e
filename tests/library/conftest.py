from sessions.fixtures import clock, library

__all__ = ["clock", "library"]
