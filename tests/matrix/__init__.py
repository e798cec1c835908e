"""Every behaviour with every adapter: the two HTTP APIs over real sockets, and the scripted model of the package."""
