"""Web search: finds, reads and ranks pages, summarises them with citations, and reports each step in a receipt."""
