"""The server: HTTP for programs and for the page, over the same app that the command line uses."""
