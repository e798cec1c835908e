"""Find, read, rank, summarise, verify: what the search tool does, and the receipt that it leaves."""
