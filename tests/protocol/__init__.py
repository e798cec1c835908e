"""Values of the protocol: schemas, the SSE decoder, and the tree of errors."""
