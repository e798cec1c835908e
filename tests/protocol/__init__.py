"""The words of the product: schemas, the SSE decoder, the tree of errors."""
