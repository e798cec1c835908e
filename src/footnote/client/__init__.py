"""A client of the server's API, over `footnote.net`."""
