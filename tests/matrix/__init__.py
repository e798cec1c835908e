"""Every behaviour with every adapter: the two HTTP APIs over real sockets, and the double that ships."""
